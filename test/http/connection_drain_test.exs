defmodule McpServer.HttpConnectionDrainTest do
  # Responses to clients when the server stops.
  use McpServer.HttpCase, async: true

  alias McpServer.HttpServer

  @moduletag :capture_log
  @last_word %{"code" => -32603, "message" => "The server is shutting down"}

  # Waits in `identify:` until the test continues it.
  def hold(request) do
    {"x-test", test} = List.keyfind(request.req_headers, "x-test", 0)
    send(test |> String.to_charlist() |> :erlang.list_to_pid(), {:hook, self()})
    receive do: (:go_on -> {:ok, "someone"})
  end

  defp me, do: self() |> :erlang.pid_to_list() |> to_string()
  defp perform(options \\ []), do: modern_call("perform", HttpScript.arguments(), options)

  defp serve(options) do
    server = HttpServers.start(:listener, options)
    HttpServers.unhurried(server.pid)
    server
  end

  defp stopping(server) do
    stop = Task.async(fn -> GenServer.stop(server.pid, :shutdown) end)
    eventually(fn -> match?({:error, _}, :gen_tcp.connect({127, 0, 0, 1}, server.port, [], 100)) end)
    stop
  end

  defp last_word(peer) do
    response = HttpPeer.response(peer)
    {response.status, HttpResponse.header(response, "connection"), HttpResponse.json(response)}
  end

  test "a call that takes too long is answered with its final error, and ends" do
    server = serve(drain: 300)
    peer = HttpClient.start(server, perform(id: 7))
    {call, _conn} = HttpScript.performing()
    HttpServers.stop(server)
    assert {503, "close", %{"id" => 7, "error" => @last_word}} = last_word(peer)
    assert HttpPeer.closed?(peer)
    HttpScript.gone(call)
  end

  test "a call that has a stream gets it as the stream's last event" do
    server = serve(drain: 300)
    peer = HttpClient.start(server, perform(id: 7, meta: %{"progressToken" => 1}))
    {call, _conn} = HttpScript.performing()
    HttpScript.tell(call, {:progress, 1})
    assert %{status: 200, body: :stream} = response = HttpPeer.response(peer)
    HttpServers.stop(server)

    assert [%{"method" => "notifications/progress"}, %{"id" => 7, "error" => @last_word}] =
             HttpClient.messages(peer, response)

    HttpScript.gone(call)
  end

  test "a call that ends in time is answered, and its connection is closed" do
    server = HttpServers.start(:listener, drain: 60_000)
    peer = HttpClient.start(server, perform())
    {call, _conn} = HttpScript.performing()
    stop = stopping_with_connection(server)
    HttpScript.tell(call, {:answer, "done"})
    assert {200, "close", %{"result" => %{"content" => [%{"text" => "done"}]}}} = last_word(peer)
    assert HttpPeer.closed?(peer)
    assert Task.await(stop, 30_000) == :ok
  end

  # Earlier, the call did not learn of the shutdown, and was cut without a response.
  test "a call that begins behind its hook while the server ends is answered with its final error" do
    server = serve(drain: 3_000, identify: &__MODULE__.hold/1)
    peer = HttpClient.start(server, with_headers(perform(id: 7), [{"x-test", me()}]))
    assert_receive {:hook, hook}
    stop = stopping_with_connection(server)
    send(hook, :go_on)
    {call, _conn} = HttpScript.performing()
    assert {503, "close", %{"id" => 7, "error" => @last_word}} = last_word(peer)
    HttpScript.gone(call)
    assert Task.await(stop, 30_000) == :ok
  end

  test "a call whose body comes while the server ends is answered with its final error" do
    server = serve(drain: 3_000)
    peer = HttpPeer.connect(server.port)
    bytes = IO.iodata_to_binary(HttpPeer.bytes(peer, perform(id: 7)))
    {first, last} = cut_at(bytes, byte_size(bytes) - 1)
    HttpPeer.expect(peer, "POST")
    HttpPeer.write(peer, first)
    eventually(fn -> HttpServer.stats(server.pid).body_bytes > 0 end)
    stop = stopping_with_connection(server)
    HttpPeer.write(peer, last)
    {call, _conn} = HttpScript.performing()
    assert {503, "close", %{"id" => 7, "error" => @last_word}} = last_word(peer)
    HttpScript.gone(call)
    assert Task.await(stop, 30_000) == :ok
  end

  test "a listen stream that opens while the server ends has its last word at once" do
    server = HttpServers.start(:listener, drain: 60_000, identify: &__MODULE__.hold/1)
    listen = modern("subscriptions/listen", %{"notifications" => %{"toolsListChanged" => true}}, id: 7)
    peer = HttpClient.start(server, with_headers(listen, [{"x-test", me()}]))
    assert_receive {:hook, hook}
    stop = stopping_with_connection(server)
    send(hook, :go_on)
    assert ["notifications/subscriptions/acknowledged", "notifications/cancelled", 7] = listened(peer)
    assert Task.await(stop, 30_000) == :ok
  end

  test "a connection that is heard of after all others were told is told as well" do
    server = HttpServers.start(:listener, drain: 60_000)
    peer = HttpClient.start(server, perform(id: 7))
    {call, _conn} = HttpScript.performing()
    stop = stopping_with_connection(server)
    test = self()
    late = spawn(fn -> receive(do: (message -> send(test, {:late, message}))) end)
    send(server.pid, {:mcp_accepted, late})
    assert_receive {:late, {:mcp_http_drain, _until}}
    HttpScript.tell(call, {:answer, "done"})
    assert {200, "close", %{"id" => 7}} = last_word(peer)
    assert Task.await(stop, 30_000) == :ok
  end

  test "listen streams end with their last word" do
    server = HttpServers.start(:listener)
    listen = modern("subscriptions/listen", %{"notifications" => %{"toolsListChanged" => true}}, id: 7)
    peer = HttpClient.start(server, listen)
    eventually(fn -> HttpServer.stats(server.pid).streams == 1 end)
    HttpServers.stop(server)
    assert ["notifications/subscriptions/acknowledged", "notifications/cancelled", 7] = listened(peer)
    assert HttpPeer.closed?(peer)
  end

  defp listened(peer) do
    for message <- HttpClient.messages(peer, HttpPeer.response(peer)), do: message["method"] || message["id"]
  end

  defp cut_at(bytes, place) do
    {first, last} = :erlang.split_binary(bytes, place)
    {first, last}
  end

  # Stops the server, and waits until its only connection got the drain message.
  defp stopping_with_connection(server) do
    connection = connection(server)
    :erlang.trace(connection, true, [:receive])
    stop = stopping(server)
    assert_receive {:trace, ^connection, :receive, {:mcp_http_drain, _until}}
    :erlang.trace(connection, false, [:receive])
    stop
  end

  # How many bytes each connection has received, into its mailbox at least.
  defp received(server) do
    for pid <- :sys.get_state(server.pid).connections,
        {:links, links} <- [Process.info(pid, :links)],
        port <- links,
        is_port(port),
        {:ok, recv_oct: bytes} <- [:inet.getstat(port, [:recv_oct])],
        do: bytes
  end

  test "connections without a request are closed, those that have begun one may finish it" do
    server = HttpServers.start(:listener, drain: 60_000)
    [fresh, used, begun] = for _ <- 1..3, do: HttpPeer.connect(server.port)
    assert HttpPeer.request(used, modern("tools/list")).status == 200
    bytes = IO.iodata_to_binary(HttpPeer.bytes(begun, modern_call("echo", %{"text" => "x"}, id: 3)))
    {first, last} = cut_at(bytes, 10)
    HttpPeer.expect(begun, "POST")
    HttpPeer.write(begun, first)
    eventually(fn -> HttpServer.stats(server.pid).connections == 3 and 10 in received(server) end)
    stop = stopping(server)
    assert HttpPeer.closed?(fresh)
    assert HttpPeer.closed?(used)
    HttpPeer.write(begun, last)
    assert {200, "close", %{"id" => 3, "result" => _}} = last_word(begun)
    assert HttpPeer.closed?(begun)
    assert Task.await(stop, 30_000) == :ok
  end

  @tag req: "S4"
  test "the stream of a session ends with the event that says when to come back, from 2025-11-25 on" do
    for {revision, last} <- [{"2025-11-25", [{"0-0", nil}, {"0-1", 3_000}]}, {"2025-06-18", []}] do
      server = HttpServers.start(:listener)
      stream = HttpSession.get(HttpSession.open(server, revision))
      HttpServers.stop(server)

      assert {revision, for(%{id: id, retry: retry} when id != nil <- events(stream), do: {id, retry})} ==
               {revision, last}
    end
  end

  # The events of a stream until its end.
  defp events(stream) do
    case HttpPeer.event(stream) do
      :end -> []
      event -> [event | events(stream)]
    end
  end

  @tag req: "S4"
  test "a session that its client ends says no such thing" do
    session = HttpSession.open(HttpServers.start(:listener))
    stream = HttpSession.get(session)
    assert %{id: "0-0"} = HttpPeer.event(stream)
    assert HttpSession.delete(session).status == 204
    assert HttpPeer.event(stream) == :end
  end

  test "a call of a session that takes too long is answered with its final error" do
    # The limit of other transports does not apply.
    server = serve(drain: 300)
    session = HttpSession.open(server)
    peer = HttpSession.start(session, legacy_call("perform", HttpScript.arguments(), id: 7))
    {call, _conn} = HttpScript.performing()
    HttpServers.stop(server)
    assert [%{"id" => 7, "result" => result}] = HttpClient.messages(peer, HttpPeer.response(peer))
    assert result == %{"content" => [%{"type" => "text", "text" => "The server is shutting down"}], "isError" => true}
    HttpScript.gone(call)
  end
end
