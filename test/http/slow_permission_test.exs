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
    vm = fn name -> HttpVm.start(lazy: true, name: name, router: SlowRouter, serve: [http: [stream_after: 1]]) end
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

    # The handler takes as long as the check. From its beginning on the answer comes in a stream.
    assert {%{status: 200, body: :stream}, [%{"result" => %{"content" => [%{"text" => "done"}]}}]} = call.("allowed")
  end
end
