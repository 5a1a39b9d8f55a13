defmodule McpServer.HttpSlowPermissionTest do
  # The status of a refusal that is decided slowly.
  use McpServer.HttpCase, async: true

  import McpServer.HttpRequests

  alias McpServer.{Epmd, HttpVm, SlowRouter}

  @forbidden %{"jsonrpc" => "2.0", "id" => 1, "error" => %{"code" => -32600, "message" => "Forbidden"}}

  # Earlier, the response was a stream already, with status 200 and no challenge.
  on_both "is its own, in both eras", %{kind: kind} do
    server = HttpServers.start(kind, router: SlowRouter, http: [stream_after: 1])
    session = HttpSession.open(server)
    assert_own_status(&HttpClient.exchange(server, modern_call(&1)))
    assert_own_status(&HttpSession.exchange(session, legacy_call(&1)))
  end

  @tag McpServer.Installed.tags(:epmd)
  test "is its own if the session is on another node" do
    Epmd.start()
    vm = fn name -> HttpVm.start(lazy: true, name: name, serve: [router: SlowRouter, http: [stream_after: 1]]) end
    [home, front] = Enum.map(["home", "front"], vm)
    HttpVm.connect(home, front)
    session = %{HttpSession.open(home.server) | server: front.server}
    eventually(fn -> HttpSession.status(session, legacy("ping")) == 200 end)
    assert_own_status(&HttpSession.exchange(session, legacy_call(&1)))
  end

  defp assert_own_status(call) do
    assert {%{status: 403}, [@forbidden]} = call.("refused")
    # A hidden name and an absent one have the same answer, and it is no stream.
    for name <- ["hidden", "absent"] do
      assert {%{status: status, body: body}, [%{"error" => %{"code" => -32602}}]} = call.(name)
      assert status == 200 or status == 400
      assert is_binary(body)
    end
  end

  on_both "is not waited for any longer when the handler begins", %{kind: kind} do
    server = HttpServers.start(kind, router: SlowRouter, http: [stream_after: 1])
    session = HttpSession.open(server)

    for {id, start} <- [
          {1, &HttpClient.start(server, modern_call("allowed", &1, id: &2))},
          {2, &HttpSession.start(session, legacy_call("allowed", &1, id: &2))}
        ] do
      peer = start.(HttpScript.arguments(id), id)
      {call, _conn} = HttpScript.performing(id)
      assert %{status: 200, body: :stream} = HttpPeer.response(peer)
      HttpScript.tell(call, {:answer, "done"})
      assert %{"result" => %{"content" => [%{"text" => "done"}]}} = HttpClient.message(peer)
    end
  end
end
