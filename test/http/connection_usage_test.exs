defmodule McpServer.HttpConnectionUsageTest do
  # Resources that connections take from a server: all are released, however the connection ends.
  use McpServer.HttpCase, async: true

  alias McpServer.{HttpServer, JSON}

  defmodule Listed do
    @moduledoc false
    use McpServer.Router, name: "listed", lint: false
    tool "listed", String.duplicate("d", 400_000), McpServer.Handlers, :echo
  end

  @moduletag :capture_log
  @in_use [:body_bytes, :calls, :connections, :exchanges, :hooks, :streams]

  defp in_use(server), do: server.pid |> HttpServer.stats() |> Map.take(@in_use)
  defp using(server, taken), do: eventually(fn -> in_use(server) == Map.merge(Map.new(@in_use, &{&1, 0}), taken) end)
  defp unused(server), do: using(server, %{})
  defp perform(tag \\ "call"), do: modern_call("perform", HttpScript.arguments(tag))
  defp status(peer), do: HttpPeer.response(peer).status
  defp standing(response), do: {response.status, HttpResponse.header(response, "retry-after")}

  # Waits in `identify:` until the test continues it, and sends its pid to the test.
  def hold(request) do
    case List.keyfind(request.req_headers, "x-test", 0) do
      {"x-test", test} ->
        send(test |> String.to_charlist() |> :erlang.list_to_pid(), {:hook, self()})
        receive do: (:go_on -> {:ok, "someone"})

      nil ->
        {:ok, "someone"}
    end
  end

  def named(request) do
    {_name, "Bearer " <> principal} = List.keyfind(request.req_headers, "authorization", 0)
    {:ok, principal}
  end

  defp held(request), do: with_headers(request, [{"x-test", self() |> :erlang.pid_to_list() |> to_string()}])

  defp hook do
    assert_receive {:hook, pid}
    pid
  end

  # A request with this many bytes of white space behind its body.
  defp padded(request, bytes), do: %{request | body: [request.body, String.duplicate(" ", bytes)]}

  describe "a call" do
    test "is counted while it runs" do
      server = HttpServers.start(:listener)
      peer = HttpClient.start(server, perform())
      {call, _conn} = HttpScript.performing()
      using(server, %{connections: 1, calls: 1})
      HttpScript.tell(call, {:answer, "done"})
      assert status(peer) == 200
      using(server, %{connections: 1})
      HttpPeer.close(peer)
      unused(server)
    end

    for {whose, bytes} <- [{"short", 0}, {"long", 1_000_000}] do
      test "ends with its client, which closes, resets, or closes one side; its request was #{whose}" do
        server = HttpServers.start(:listener)

        for leave <- [&HttpPeer.close/1, &HttpPeer.cut/1, &HttpPeer.half_close/1] do
          peer = HttpClient.start(server, padded(perform(), unquote(bytes)))
          {call, _conn} = HttpScript.performing()
          leave.(peer)
          HttpScript.gone(call)
          unused(server)
        end
      end
    end

    test "ends with its client when it has a stream" do
      server = HttpServers.start(:listener)
      peer = HttpClient.start(server, modern_call("perform", HttpScript.arguments(), meta: %{"progressToken" => 1}))
      {call, _conn} = HttpScript.performing()
      HttpScript.tell(call, {:progress, 1})
      assert %{status: 200, body: :stream} = HttpPeer.response(peer)
      HttpPeer.close(peer)
      HttpScript.gone(call)
      unused(server)
    end

    test "ends with the connection's process, which is killed" do
      server = HttpServers.start(:listener)
      peer = HttpClient.start(server, padded(perform(), 100_000))
      {call, _conn} = HttpScript.performing()
      # A call also holds the room of its body, until it gets a stream after a second.
      eventually(fn -> match?(%{calls: 1, connections: 1}, in_use(server)) end)
      Process.exit(connection(server), :kill)
      HttpScript.gone(call)
      unused(server)
      assert HttpPeer.closed?(peer)
    end
  end

  describe "a listen stream" do
    test "ends with its client, and with its process" do
      server = HttpServers.start(:listener)
      listen = modern("subscriptions/listen", %{"notifications" => %{"toolsListChanged" => true}})

      for leave <- [&HttpPeer.close/1, fn _peer -> Process.exit(connection(server), :kill) end] do
        {peer, %{status: 200, body: :stream}} = HttpClient.open(server, listen)
        using(server, %{connections: 1, streams: 1})
        leave.(peer)
        unused(server)
      end
    end

    # Earlier, endless streams retained the bodies of their requests and the room for them.
    test "takes no room for bodies once it is open, and keeps nothing of its request's" do
      server = HttpServers.start(:listener)
      listen = modern("subscriptions/listen", %{"notifications" => %{"toolsListChanged" => true}})
      {peer, %{status: 200, body: :stream}} = HttpClient.open(server, padded(listen, 1_000_000))
      assert %{"method" => "notifications/subscriptions/acknowledged"} = HttpClient.message(peer)
      using(server, %{connections: 1, streams: 1})
      # It frees the request after it has sent the first message.
      connection = connection(server)
      eventually(fn -> binary_bytes(connection) < 65_536 end)
    end
  end

  defp binary_bytes(pid) do
    {:binary, binaries} = Process.info(pid, :binary)
    Enum.reduce(binaries, 0, fn {_id, bytes, _references}, sum -> sum + bytes end)
  end

  describe "an unfinished head" do
    @start "GET /mcp HTTP/1.1\r\nhost: localhost\r\nx-long: "
    @piece String.duplicate("x", 5_000)

    # Earlier, it counted nowhere, and a buffer of twice its size and older copies of it were kept.
    test "is counted with the bodies, and little more is kept than its bytes" do
      server = HttpServers.start(:listener, http: [head_timeout: 300_000])
      peer = HttpPeer.connect(server.port)
      HttpPeer.expect(peer, "GET")
      HttpPeer.write(peer, @start)

      for pieces <- 1..10 do
        HttpPeer.write(peer, @piece)
        using(server, %{connections: 1, body_bytes: byte_size(@start) + pieces * byte_size(@piece)})
      end

      connection = connection(server)
      eventually(fn -> binary_bytes(connection) < 60_000 end)
      HttpPeer.write(peer, "\r\n\r\n")
      assert status(peer) == 400
      using(server, %{connections: 1})
      HttpPeer.close(peer)
      unused(server)
    end

    test "and an unfinished body are kept with little more than their bytes" do
      server = HttpServers.start(:listener, http: [body_grace: 300_000, body_timeout: 300_000])
      peer = HttpPeer.connect(server.port)
      bytes = IO.iodata_to_binary(HttpPeer.bytes(peer, padded(modern("tools/list"), 32_000)))
      HttpPeer.expect(peer, "POST")
      <<first::binary-size(2_000), rest::binary>> = bytes
      HttpPeer.write(peer, first)
      using(server, %{connections: 1, body_bytes: 2_000})

      for pieces <- 1..5 do
        HttpPeer.write(peer, binary_part(rest, (pieces - 1) * 5_000, 5_000))
        using(server, %{connections: 1, body_bytes: 2_000 + pieces * 5_000})
      end

      connection = connection(server)
      eventually(fn -> binary_bytes(connection) < 32_000 end)
      HttpPeer.write(peer, binary_part(rest, 25_000, byte_size(rest) - 25_000))
      assert status(peer) == 200
      using(server, %{connections: 1})
    end

    test "that finds no room is refused with 503" do
      limits = [limits: [max_message_bytes: 10_000], http: [max_body_bytes_in_flight: 40_000]]
      server = HttpServers.start(:listener, limits)
      peer = HttpPeer.connect(server.port)
      HttpPeer.expect(peer, "GET")
      HttpPeer.write(peer, [@start, List.duplicate(@piece, 10)])
      response = HttpPeer.response(peer)
      assert standing(response) == {503, "1"}
      HttpPeer.close(peer)
      unused(server)
    end
  end

  describe "what comes ahead of an answer" do
    # Earlier, it counted for nobody: as long as a call or a stream lasted, its client kept 45 KB of the node's memory.
    test "is counted with the bodies, and is the beginning of the next request" do
      server = HttpServers.start(:listener)
      peer = HttpClient.start(server, perform())
      {call, _conn} = HttpScript.performing()
      next = IO.iodata_to_binary(HttpPeer.bytes(peer, padded(modern("tools/list"), 20_000)))
      HttpPeer.write(peer, binary_part(next, 0, 15_000))
      # The last 4 KiB may not be counted yet.
      eventually(fn -> in_use(server).body_bytes in 10_904..15_000 end)
      HttpScript.tell(call, {:answer, "done"})
      assert status(peer) == 200
      HttpPeer.expect(peer, "POST")
      using(server, %{connections: 1, body_bytes: 15_000})
      HttpPeer.write(peer, binary_part(next, 15_000, byte_size(next) - 15_000))
      assert status(peer) == 200
      using(server, %{connections: 1})
      HttpPeer.close(peer)
      unused(server)
    end

    test "is not counted up to 4 KiB, and is given back when the client leaves" do
      server = HttpServers.start(:listener)
      peer = HttpClient.start(server, perform())
      {_call, _conn} = HttpScript.performing()
      HttpPeer.write(peer, String.duplicate("x", 4_096))
      HttpPeer.write(peer, "x")
      using(server, %{connections: 1, calls: 1, body_bytes: 4_097})
      HttpPeer.close(peer)
      unused(server)
    end

    test "and finds no room is dropped: the connection ends with the answer" do
      http = [max_body_bytes_in_flight: 20_000, stream_after: 30_000]
      limits = [limits: [max_message_bytes: 10_000], http: http]
      server = HttpServers.start(:listener, limits)
      peer = HttpClient.start(server, perform())
      {call, _conn} = HttpScript.performing()
      connection = connection(server)
      # The process is held up until more has arrived than there is room for.
      :erlang.suspend_process(connection)
      HttpPeer.write(peer, String.duplicate("x", 40_000))
      eventually(fn -> arrived?(connection, 20_001) end)
      :erlang.resume_process(connection)
      eventually(fn -> Process.info(connection, :message_queue_len) == {:message_queue_len, 0} end)
      using(server, %{connections: 1, calls: 1})
      HttpScript.tell(call, {:answer, "done"})
      assert HttpClient.text(HttpResponse.json(HttpPeer.response(peer))) == "done"
      assert HttpPeer.closed?(peer)
      unused(server)
    end
  end

  describe "a body" do
    test "is counted while it comes" do
      server = HttpServers.start(:listener)
      peer = HttpPeer.connect(server.port)
      HttpPeer.write(peer, ["POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"])
      HttpPeer.write(peer, "accept: application/json, text/event-stream\r\ncontent-length: 100000\r\n\r\n")
      HttpPeer.write(peer, String.duplicate(" ", 50_000))
      eventually(fn -> in_use(server).body_bytes > 50_000 end)
      HttpPeer.close(peer)
      unused(server)
    end

    test "that finds no room is refused with 503, and the next one is served" do
      server = HttpServers.start(:listener, http: [max_body_bytes_in_flight: 100_000])
      peer = HttpClient.start(server, padded(modern("ping"), 200_000))
      response = HttpPeer.response(peer)
      assert standing(response) == {503, "1"}
      HttpPeer.close(peer)
      unused(server)

      assert {%{status: 200}, _answer} =
               HttpClient.exchange(server, padded(modern_call("echo", %{"text" => "x"}), 50_000))

      unused(server)
    end

    # Earlier, what an active socket had read with the head was not counted.
    test "that comes together with its head finds no room, too" do
      server = HttpServers.start(:listener, http: [max_body_bytes_in_flight: 34_000])
      peer = HttpPeer.connect(server.port)
      connection = connection(server)
      bytes = IO.iodata_to_binary(HttpPeer.bytes(peer, padded(modern("tools/list"), 36_000)))
      # The process is held up until all is in its mailbox, or as much as the socket reads by itself.
      :erlang.suspend_process(connection)
      HttpPeer.expect(peer, "POST")
      HttpPeer.write(peer, bytes)
      eventually(fn -> arrived?(connection, byte_size(bytes)) end)
      :erlang.resume_process(connection)
      response = HttpPeer.response(peer)
      assert standing(response) == {503, "1"}
      HttpPeer.close(peer)
      unused(server)
    end

    defp arrived?(pid, bytes) do
      {:messages, messages} = Process.info(pid, :messages)
      received = for({:tcp, _socket, data} <- messages, do: byte_size(data))
      Enum.sum(received) >= bytes or Enum.any?(messages, &match?({:tcp_passive, _socket}, &1))
    end

    # Earlier, the first bytes of the next request retained the previous body, which no longer counted.
    test "is not kept for the first bytes of the next request" do
      server = HttpServers.start(:listener)
      peer = HttpPeer.connect(server.port)
      bytes = IO.iodata_to_binary(HttpPeer.bytes(peer, padded(modern("tools/list"), 1_000_000)))
      HttpPeer.expect(peer, "POST")
      HttpPeer.write(peer, [bytes, "POST /mcp HTTP/1.1\r\nx-long: ", String.duplicate("x", 100)])
      assert status(peer) == 200
      using(server, %{connections: 1})
      connection = connection(server)

      eventually(fn ->
        :erlang.garbage_collect(connection)
        binary_bytes(connection) < 200_000
      end)
    end
  end

  describe "hooks" do
    @hooks [identify: &__MODULE__.hold/1]

    test "are counted, and end with their client" do
      server = HttpServers.start(:listener, @hooks)

      for leave <- [&HttpPeer.close/1, &HttpPeer.cut/1, &HttpPeer.half_close/1] do
        peer = HttpClient.start(server, held(perform()))
        hook = hook()
        using(server, %{connections: 1, hooks: 1})
        leave.(peer)
        HttpScript.gone(hook)
        unused(server)
      end
    end

    test "end with the connection's process, which is killed" do
      server = HttpServers.start(:listener, @hooks)
      _peer = HttpClient.start(server, held(perform()))
      hook = hook()
      using(server, %{connections: 1, hooks: 1})
      Process.exit(connection(server), :kill)
      HttpScript.gone(hook)
      unused(server)
    end

    test "beyond `max_hooks` are refused with 503 and Retry-After" do
      server = HttpServers.start(:listener, [http: [max_hooks: 1]] ++ @hooks)
      first = HttpClient.start(server, held(perform()))
      hook = hook()
      {response, _message} = HttpClient.exchange(server, perform("second"))
      assert standing(response) == {503, "1"}
      send(hook, :go_on)
      {call, _conn} = HttpScript.performing()
      HttpScript.tell(call, {:answer, "done"})
      assert status(first) == 200
      assert {%{status: 200}, _answer} = HttpClient.exchange(server, modern_call("echo", %{"text" => "x"}))
      HttpPeer.close(first)
      unused(server)
    end
  end

  describe "an exchange of a session" do
    test "is given back when its client goes, and the call goes on" do
      server = HttpServers.start(:listener)
      session = HttpSession.open(server)
      peer = HttpSession.start(session, legacy_call("perform", HttpScript.arguments()))
      {call, _conn} = HttpScript.performing()
      using(server, %{connections: 1, exchanges: 1, calls: 1})
      HttpPeer.close(peer)
      using(server, %{calls: 1})
      assert Process.alive?(call)
      HttpScript.tell(call, {:answer, "done"})
      HttpScript.gone(call)
      unused(server)
    end

    test "is given back when the connection's process is killed" do
      server = HttpServers.start(:listener)
      session = HttpSession.open(server)
      stream = HttpSession.get(session)
      using(server, %{connections: 1, exchanges: 1})
      Process.exit(connection(server), :kill)
      unused(server)
      HttpPeer.close(stream)
      # Another stream gets its place.
      HttpPeer.close(HttpSession.get(session))
      unused(server)
    end
  end

  describe "a client that does not read" do
    test "is cut after the stall timeout, and its call ends" do
      server = HttpServers.start(:listener, http: [stall_timeout: 300])
      request = modern_call("perform", HttpScript.arguments(), meta: %{"progressToken" => 1})
      request = log_request(request)
      peer = HttpClient.start(server, request, recbuf: 4_096)
      {call, _conn} = HttpScript.performing()
      for _ <- 1..200, do: HttpScript.tell(call, {:log, :error, String.duplicate("x", 100_000)})
      HttpScript.gone(call)
      unused(server)
      assert HttpServer.stats(server.pid).cut == 1
      HttpPeer.close(peer)
    end

    # Earlier, the 20 MB were copied into one binary.
    test "costs as much memory as the parts of its answer, which it shares with others" do
      server = HttpServers.start(:listener, router: Listed)
      session = HttpSession.open(server, "2025-03-26")
      batch = for id <- 1..50, do: message("tools/list", %{}, id: id)
      peer = HttpSession.start(session, in_session(JSON.encode!(batch)))
      eventually(fn -> HttpServer.stats(server.pid).answer_bytes > 20_000_000 end)
      eventually(fn -> in_use(server).connections == 1 end)
      connection = connection(server)
      eventually(fn -> blocked?(connection) end)
      assert own_bytes(connection) < 2_000_000
      HttpPeer.close(peer)
      unused(server)
    end
  end

  # It waits until the client reads.
  defp blocked?(pid),
    do: match?({:current_function, {:prim_inet, _function, _arity}}, Process.info(pid, :current_function))

  # Of binaries, of which it may have several parts.
  defp own_bytes(pid) do
    {:binary, binaries} = Process.info(pid, :binary)
    sizes = for {id, bytes, _references} <- binaries, uniq: true, do: {id, bytes}
    Enum.reduce(sizes, 0, fn {_id, bytes}, sum -> sum + bytes end)
  end

  defp log_request(request) do
    {:ok, message} = JSON.decode(request.body)
    level = "io.modelcontextprotocol/logLevel"
    %{request | body: JSON.encode!(put_in(message, ["params", "_meta", level], "debug"))}
  end

  describe "shares" do
    @shared [identify: &__MODULE__.named/1, http: [max_share: 50]]

    test "of calls: one principal has its share, another gets the rest" do
      most = System.schedulers_online()
      server = HttpServers.start(:listener, [http: [max_calls: 2]] ++ @shared)

      running =
        for n <- 1..most do
          peer = HttpClient.start(server, as(perform(n), "anna"))
          {peer, elem(HttpScript.performing(n), 0)}
        end

      {refused, [message]} = HttpClient.exchange(server, as(perform("more"), "anna"))
      assert {refused.status, message["error"]["code"]} == {503, -32603}
      assert message["error"]["message"] == "Too many requests are in progress"
      other = HttpClient.start(server, as(perform("other"), "ben"))
      {call, _conn} = HttpScript.performing("other")

      for {peer, call} <- [{other, call} | running] do
        HttpScript.tell(call, {:answer, "done"})
        assert status(peer) == 200
        HttpPeer.close(peer)
      end

      unused(server)
    end

    test "of listen streams: one principal has its share, another gets the rest" do
      most = System.schedulers_online()
      server = HttpServers.start(:listener, [http: [max_streams: 2]] ++ @shared)
      listen = modern("subscriptions/listen", %{"notifications" => %{"toolsListChanged" => true}})
      streams = for _ <- 1..most, do: HttpClient.open(server, as(listen, "anna"))
      assert for({_peer, %{status: status}} <- streams, do: status) == List.duplicate(200, most)
      {refused, [message]} = HttpClient.exchange(server, as(listen, "anna"))
      assert {refused.status, message["error"]["message"]} == {429, "Invalid request: too many streams"}
      {other, %{status: 200}} = HttpClient.open(server, as(listen, "ben"))
      for {peer, _response} <- [{other, nil} | streams], do: HttpPeer.close(peer)
      unused(server)
    end
  end

  describe "acceptors" do
    # Earlier, each refused connection left a frame on the acceptor's stack.
    test "are as small after they have turned connections away as before" do
      server = HttpServers.start(:listener, http: [max_connections: 1])
      peer = HttpPeer.connect(server.port)
      HttpPeer.expect(peer, "POST")
      HttpPeer.send_request(peer, modern("ping"))
      using(server, %{connections: 1})
      before = largest_stack(server)
      for _ <- 1..300, do: server.port |> HttpPeer.connect() |> HttpPeer.until_closed()
      eventually(fn -> largest_stack(server) <= before end, 100)
    end
  end

  defp largest_stack(server) do
    sizes = for pid <- :sys.get_state(server.pid).acceptors, {_, size} <- [Process.info(pid, :stack_size)], do: size
    Enum.max(sizes)
  end
end
