defmodule McpServer.Http.RetentionTest do
  # Memory that a server retains for the largest requests of clients. Earlier, only the body's limit bounded `_meta` and
  # the client's data: 24 streams ended the processes that all clients share, and 100 sessions took 800 MB. Not async:
  # all tests share the memory.
  use McpServer.HttpCase, async: false

  @moduletag slow: "streams of 70 MB, to VMs of their own"

  alias McpServer.{Http.Sessions, JSON}

  @moduletag timeout: 300_000
  @large 2_900_000
  @most 16 * 1024

  # About this many bytes of JSON, with nearly as many values as a message may have.
  defp many(bytes), do: List.duplicate(String.duplicate("x", div(bytes, 190_000) - 3), 190_000)

  # Exactly this many bytes.
  defp text(object, bytes) do
    room = bytes - byte_size(JSON.encode!(Map.put(object, "x", "")))
    Map.put(object, "x", String.duplicate("x", room))
  end

  defp memory do
    for pid <- Process.list(), do: :erlang.garbage_collect(pid)
    :erlang.memory(:processes) + :erlang.memory(:binary)
  end

  defp listen(id, meta, params \\ %{}) do
    params = Map.merge(%{"notifications" => %{"toolsListChanged" => true}}, params)
    modern("subscriptions/listen", params, id: id, meta: meta)
  end

  both "24 streams of 2.9 MB are refused, and no other client's call is hurt", %{server: server} do
    call = HttpClient.start(server, modern_call("perform", HttpScript.arguments("held")))
    {held, _conn} = HttpScript.performing("held")

    for id <- 1..24 do
      {response, [answer]} = HttpClient.exchange(server, listen(id, %{"x" => many(@large)}))
      assert response.status == 400
      message = "Invalid params: _meta is longer than 16384 bytes"
      assert %{"id" => ^id, "error" => %{"code" => -32602, "message" => ^message}} = answer
    end

    HttpScript.tell(held, {:answer, "still there"})
    answers = HttpClient.messages(call, HttpPeer.response(call))
    assert HttpClient.text(List.last(answers)) == "still there"
  end

  both "24 streams of 2.9 MB elsewhere keep nothing of it", %{server: server} do
    before = memory()

    peers =
      for id <- 1..24 do
        {peer, %{status: 200, body: :stream}} = HttpClient.open(server, listen(id, %{}, %{"x" => many(@large)}))
        assert %{"method" => "notifications/subscriptions/acknowledged"} = HttpClient.message(peer)
        peer
      end

    eventually(fn -> memory() - before < 8 * 1024 * 1024 end)
    Enum.each(peers, &HttpPeer.close/1)
  end

  # The second form since Erlang/OTP 28.
  defp hibernates?(pid) do
    Process.info(pid, :current_function) in [
      current_function: {:erlang, :hibernate, 3},
      current_function: {:gen_server, :loop_hibernate, 4}
    ]
  end

  both "a session with as much client data as there may be keeps its text, and little else", %{server: server} do
    info = text(%{"name" => "peer", "version" => "1"}, @most)
    capabilities = text(%{"roots" => %{}}, @most)
    session = HttpSession.open(server, "2025-11-25", info: info, capabilities: capabilities)
    assert HttpClient.text(HttpSession.call(session, "whoami")) =~ ~s("peer")
    pid = :ets.lookup_element(Sessions, session.id, 2)
    eventually(fn -> hibernates?(pid) end)
    {:memory, heap} = Process.info(pid, :memory)
    {:binary, binaries} = Process.info(pid, :binary)
    texts = for({id, bytes, _count} <- binaries, uniq: true, do: {id, bytes}) |> Enum.map(&elem(&1, 1))
    assert heap <= 10 * 1024
    assert Enum.sort(texts, :desc) |> Enum.take(2) == [@most, @most]
    assert Enum.sum(texts) <= 2 * @most + 1_024
  end

  both "a session with more client data is not opened", %{server: server} do
    HttpSession.end_all()

    for {member, options} <- [
          {"clientInfo", [info: text(%{"name" => "peer", "version" => "1"}, @most + 1)]},
          {"capabilities", [capabilities: text(%{}, @most + 1)]},
          {"capabilities", [capabilities: %{"x" => many(@large)}]}
        ] do
      {response, [answer]} = HttpClient.exchange(server, initialize("2025-11-25", options))
      message = "Invalid params: #{member} is longer than 16384 bytes"
      assert {response.status, answer["error"]["code"], answer["error"]["message"]} == {400, -32602, message}
      assert HttpResponse.header(response, "mcp-session-id") == nil
    end

    assert Sessions.count() == 0
  end
end
