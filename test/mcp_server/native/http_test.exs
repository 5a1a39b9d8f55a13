defmodule McpServer.Native.HttpTest do
  # The native listener as its owner and its workers see it, with the test as both.
  use ExUnit.Case, async: true

  alias McpServer.{Catalog, HttpRouter, Native}
  alias McpServer.Protocol.HTTP

  @receive_ms 10_000

  defp listen(options \\ []) do
    {raw?, options} = Keyword.pop(options, :raw?, false)
    {workers, options} = Keyword.pop(options, :workers, {self()})
    {owner, options} = Keyword.pop(options, :owner, self())
    {:ok, policy} = HTTP.policy(%{})
    %Catalog{ref: catalog} = Catalog.fetch(HttpRouter)
    {:ok, listener, port} = Native.http_listen(owner, workers, catalog, policy, raw?, Map.new(options))
    on_exit(fn -> Native.http_stop(listener) end)
    %{listener: listener, port: port}
  end

  defp connect(%{port: port}) do
    {:ok, socket} = :gen_tcp.connect({127, 0, 0, 1}, port, [:binary, active: false, nodelay: true])
    socket
  end

  defp post(socket, method, params, headers) do
    meta = %{
      "io.modelcontextprotocol/protocolVersion" => "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities" => %{}
    }

    body = McpServer.JSON.encode!(%{jsonrpc: "2.0", id: 1, method: method, params: Map.put(params, "_meta", meta)})

    send_post(socket, body, [{"mcp-protocol-version", "2026-07-28"}, {"mcp-method", method} | headers])
  end

  defp send_post(socket, body, headers \\ []) do
    lines = for {name, value} <- headers, do: [name, ": ", value, "\r\n"]

    :ok =
      :gen_tcp.send(socket, [
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n",
        "Accept: application/json, text/event-stream\r\nContent-Length: #{IO.iodata_length(body)}\r\n",
        [lines, "\r\n", body]
      ])
  end

  defp echo(socket, text \\ "hi"),
    do: post(socket, "tools/call", %{"name" => "echo", "arguments" => %{"text" => text}}, [{"mcp-name", "echo"}])

  # What comes until `ending` has come, or the connection was closed.
  defp read(socket, ending, read \\ "") do
    if String.ends_with?(read, ending) and read != "" do
      read
    else
      case :gen_tcp.recv(socket, 0, @receive_ms) do
        {:ok, more} -> read(socket, ending, read <> more)
        {:error, :closed} -> read
      end
    end
  end

  defp closed?(socket), do: match?({:error, reason} when reason != :timeout, :gen_tcp.recv(socket, 0, @receive_ms))

  defp taken(server) do
    socket = connect(server)
    echo(socket)
    assert_receive {:mcp_http, exchange, {:request, _fields, true}}, @receive_ms
    {socket, exchange}
  end

  # A process that takes part until it is killed.
  defp actor do
    pid = spawn(fn -> act() end)
    on_exit(fn -> Process.exit(pid, :kill) end)
    pid
  end

  defp act do
    receive do
      {from, fun} ->
        send(from, {self(), fun.()})
        act()
    end
  end

  defp run(actor, fun) do
    send(actor, {self(), fun})
    assert_receive {^actor, result}, @receive_ms
    result
  end

  describe "a worker" do
    test "gets the fields of a request, and whether its client takes events" do
      {_socket, _exchange} = taken(server = listen())
      socket = connect(server)
      echo(socket, "text")
      assert_receive {:mcp_http, exchange, {:request, fields, true}}, @receive_ms
      assert is_reference(exchange)
      assert {1, "tools/call", "2026-07-28", :tool, _index, "echo", %{"text" => "text"}, nil, _, _, nil, []} = fields
    end

    test "hears nothing of what needs none" do
      server = listen()
      socket = connect(server)
      post(socket, "tools/list", %{}, [])
      assert read(socket, "}") =~ ~s("name":"echo")
      send_post(socket, "{")
      assert read(socket, "}") =~ "HTTP/1.1 400"
      echo(socket, 5)
      assert read(socket, "}") =~ ~s("isError":true)
      refute_received {:mcp_http, _exchange, _request}
      refute_received {:mcp_http, _exchange, _head, _body}
    end

    test "opens sessions" do
      socket = connect(listen())
      client = ~s({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}})
      send_post(socket, ~s({"jsonrpc":"2.0","id":7,"method":"initialize","params":#{client}}))
      assert_receive {:mcp_http, _exchange, {:open, reply, opening}}, @receive_ms
      assert reply =~ ~s("id":7)
      assert {7, "2025-11-25", %{"name" => "c"}, %{}} = opening
    end

    test "gets the head and the body of what names a session" do
      socket = connect(listen())
      send_post(socket, "{}", [{"mcp-session-id", "some"}, {"x-twice", "a"}, {"x-twice", "b"}])
      assert_receive {:mcp_http, _exchange, {:head, screened, %{session_id: "some"}, head}, "{}"}, @receive_ms
      assert is_reference(screened)
      assert %{method: "POST", target: "/mcp", authority: nil, peer: {{127, 0, 0, 1}, _port}} = head
      assert for({"x-twice", value} <- head.headers, do: value) == ["a", "b"]
    end

    test "that is dead is passed over, and the others take turns" do
      dead = spawn(fn -> :ok end)
      server = listen(workers: {dead, self(), dead})
      for _ <- 1..6, do: taken(server)
    end

    test "is missed with 503" do
      dead = spawn(fn -> :ok end)

      for workers <- [{}, {dead}] do
        socket = connect(server = listen(workers: workers))
        echo(socket)
        assert read(socket, "}") =~ "HTTP/1.1 503"
        :ok = Native.http_set_workers(server.listener, {self()})
        echo(socket)
        assert_receive {:mcp_http, _exchange, {:request, _fields, _events?}}, @receive_ms
      end
    end
  end

  describe "a hook" do
    test "sees a request before its body, and has it read" do
      socket = connect(listen(raw?: true))
      send_post(socket, "the body")
      assert_receive {:mcp_http, exchange, {:head, _screened, _facts, _head}, :unread}, @receive_ms
      :ok = Native.http_read_body(exchange)
      assert_receive {:mcp_http_body, ^exchange, {:ok, "the body"}}, @receive_ms
      assert Native.http_reply(exchange, 200, [], "read") == :ok
      assert read(socket, "read") =~ "HTTP/1.1 200"
    end

    test "is told when there will be no body" do
      socket = connect(listen(raw?: true, body_grace: 50))
      :ok = :gen_tcp.send(socket, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n")
      :ok = :gen_tcp.send(socket, "Content-Length: 9\r\n\r\nhalf")
      assert_receive {:mcp_http, exchange, {:head, _screened, _facts, _head}, :unread}, @receive_ms
      :ok = Native.http_read_body(exchange)
      assert_receive {:mcp_http_body, ^exchange, {:error, 408}}, @receive_ms
      assert read(socket, "}") =~ "HTTP/1.1 408"
      :ok = Native.http_read_body(exchange)
      assert_receive {:mcp_http_body, ^exchange, {:error, 408}}, @receive_ms
    end

    test "sees no request that the policy refuses" do
      socket = connect(listen(raw?: true))
      send_post(socket, "{}", [{"origin", "https://evil.example"}])
      assert read(socket, "}") =~ "HTTP/1.1 403"
      refute_received {:mcp_http, _exchange, _head, _body}
    end
  end

  describe "an exchange" do
    test "is answered with whatever iodata there is" do
      server = listen()

      for {body, text} <- [
            {"binary", "binary"},
            {["a", "list"], "alist"},
            {["deep", [?e, ["r" | "!"]]], "deeper!"},
            {[], ""}
          ] do
        {socket, exchange} = taken(server)
        assert Native.http_reply(exchange, 201, [{"x-header", "value"}], body) == :ok
        response = read(socket, "\r\n\r\n" <> text)
        assert response =~ "HTTP/1.1 201 Created\r\nx-header: value\r\ncontent-length: #{byte_size(text)}\r\n"
        assert Native.http_reply(exchange, 200, [], "again") == :closed
      end
    end

    test "writes no header that could begin another" do
      {_socket, exchange} = taken(listen())

      for header <- [{"x", "a\r\nb: c"}, {"x", "a\nb"}, {"x", <<"a", 0>>}, {"x y", "a"}, {"x:", "a"}] do
        assert_raise ArgumentError, fn -> Native.http_reply(exchange, 200, [header], "") end
      end

      assert_raise ArgumentError, fn -> Native.http_reply(exchange, 99, [], "") end
      assert Native.http_reply(exchange, 200, [], "") == :ok
    end

    test "tells its owner what has left" do
      {socket, exchange} = taken(listen())
      assert Native.http_own(exchange) == :ok
      assert Native.http_stream(exchange, 200, [], "first") == :ok
      assert_receive {:mcp_exchange, ^exchange, {:sent, 5}}, @receive_ms
      assert Native.http_chunk(exchange, "second") == :ok
      assert_receive {:mcp_exchange, ^exchange, {:sent, 6}}, @receive_ms
      assert Native.http_finish(exchange) == :ok
      assert read(socket, "\r\n0\r\n\r\n") =~ "5\r\nfirst\r\n6\r\nsecond\r\n0"
      assert Native.http_chunk(exchange, "late") == :closed
      refute_received {:mcp_exchange, _exchange, _what}
    end

    test "tells its owner that the peer is gone" do
      server = listen()

      for answer <- [fn _exchange -> :ok end, &Native.http_stream(&1, 200, [], "first")] do
        {socket, exchange} = taken(server)
        assert Native.http_own(exchange) == :ok
        assert answer.(exchange) == :ok
        :gen_tcp.close(socket)
        assert_receive {:mcp_exchange, ^exchange, :closed}, @receive_ms
        assert Native.http_own(exchange) == :closed
        assert Native.http_reply(exchange, 200, [], "late") == :closed
      end
    end

    test "is its worker's from the start, and fails with it" do
      worker = actor()
      server = listen(workers: {worker})
      waiting = connect(server)
      echo(waiting)
      # It takes no message of this kind, and with it dies what waits in its mailbox.
      eventually(fn -> Process.info(worker, :message_queue_len) == {:message_queue_len, 1} end)
      Process.exit(worker, :kill)
      assert read(waiting, "}") =~ "HTTP/1.1 500"

      # So does what the worker knows, and nothing that others have.
      worker = actor()
      :ok = Native.http_set_workers(server.listener, {worker})
      socket = connect(server)
      echo(socket)
      eventually(fn -> Process.info(worker, :message_queue_len) == {:message_queue_len, 1} end)
      {:messages, [{:mcp_http, exchange, {:request, _fields, true}}]} = Process.info(worker, :messages)
      assert Native.http_own(exchange) == :ok
      monitor = Process.monitor(worker)
      Process.exit(worker, :kill)
      assert_receive {:DOWN, ^monitor, :process, ^worker, :killed}, @receive_ms
      assert Native.http_reply(exchange, 200, [], "mine") == :ok
      assert read(socket, "mine") =~ "HTTP/1.1 200"
    end

    test "that nobody wants is answered 500" do
      worker = actor()
      socket = connect(listen(raw?: true, workers: {worker}))
      echo(socket)
      eventually(fn -> Process.info(worker, :message_queue_len) == {:message_queue_len, 1} end)
      Process.exit(worker, :kill)
      assert read(socket, "}") =~ "HTTP/1.1 500"
    end

    test "whose owner dies is answered 500, or breaks off" do
      server = listen()
      {socket, exchange} = taken(server)
      owner = actor()
      assert run(owner, fn -> Native.http_own(exchange) end) == :ok
      Process.exit(owner, :kill)
      assert read(socket, "}") =~ "HTTP/1.1 500"

      {socket, exchange} = taken(server)
      owner = actor()
      assert run(owner, fn -> Native.http_own(exchange) end) == :ok
      assert run(owner, fn -> Native.http_stream(exchange, 200, [], "first") end) == :ok
      Process.exit(owner, :kill)
      refute read(socket, "\r\n0\r\n\r\n") =~ "0\r\n\r\n"
    end

    test "that was handed over does not miss its first owner" do
      {socket, exchange} = taken(listen())
      first = actor()
      assert run(first, fn -> Native.http_own(exchange) end) == :ok
      assert Native.http_own(exchange) == :ok
      monitor = Process.monitor(first)
      Process.exit(first, :kill)
      assert_receive {:DOWN, ^monitor, :process, ^first, :killed}, @receive_ms
      assert Native.http_reply(exchange, 200, [], "mine") == :ok
      assert read(socket, "mine") =~ "HTTP/1.1 200"
    end

    test "that is aborted has its connection cut" do
      {socket, exchange} = taken(listen())
      assert Native.http_own(exchange) == :ok
      assert Native.http_abort(exchange) == :ok
      assert closed?(socket)
      assert_receive {:mcp_exchange, ^exchange, :closed}, @receive_ms
    end
  end

  describe "a listener" do
    test "ends with its owner, and its port is free" do
      owner = actor()
      server = listen(owner: owner)
      {socket, exchange} = taken(server)
      assert Native.http_own(exchange) == :ok
      Process.exit(owner, :kill)
      assert closed?(socket)
      assert_receive {:mcp_exchange, ^exchange, :closed}, @receive_ms
      assert %{port: port} = listen(port: server.port)
      assert port == server.port
    end

    test "is not started for an owner that is dead" do
      assert_raise MatchError, ~r/:noproc/, fn -> listen(owner: spawn(fn -> :ok end) |> wait()) end
    end

    test "says why it cannot listen" do
      server = listen()
      assert_raise MatchError, ~r/:eaddrinuse/, fn -> listen(port: server.port) end
      assert_raise MatchError, ~r/:eaddrnotavail/, fn -> listen(ip: "192.0.2.1") end
      assert_raise ArgumentError, fn -> listen(nonsense: 1) end
      assert_raise ArgumentError, fn -> listen(ip: "localhost") end
    end

    test "serves another catalogue from then on" do
      server = listen()
      socket = connect(server)
      %Catalog{ref: catalog} = Catalog.fetch(McpServer.HttpRouter)
      assert Native.http_set_catalog(server.listener, catalog) == :ok
      post(socket, "tools/list", %{}, [])
      assert read(socket, "}") =~ ~s("name":"echo")
    end

    test "drains: running calls are answered, and streams end" do
      server = listen()
      {calling, call} = taken(server)
      {streaming, stream} = taken(server)
      assert Native.http_own(stream) == :ok
      assert Native.http_stream(stream, 200, [], "first") == :ok
      assert Native.http_drain(server.listener, 300) == :ok
      assert Native.http_reply(call, 200, [], "done") == :ok
      response = read(calling, "done")
      assert response =~ "HTTP/1.1 200"
      assert closed?(calling)
      assert read(streaming, "\r\n0\r\n\r\n") =~ "first\r\n0\r\n\r\n"
      assert_receive {:mcp_exchange, ^stream, :closed}, @receive_ms
    end

    test "counts" do
      server = listen()
      {_socket, exchange} = taken(server)
      assert Native.http_stream(exchange, 200, [], "first") == :ok
      # The thread that read the body gives its bytes back after it has handed the exchange over.
      eventually(fn -> Native.http_stats(server.listener).body_bytes == 0 end)
      stats = Native.http_stats(server.listener)
      assert %{connections: 1, accepted: 1, requests: 1, refused: 0, cut: 0, panics: 0} = stats
    end
  end

  defp eventually(condition) do
    if not condition.() do
      Process.sleep(5)
      eventually(condition)
    end
  end

  defp wait(pid) do
    monitor = Process.monitor(pid)
    assert_receive {:DOWN, ^monitor, :process, ^pid, _reason}, @receive_ms
    pid
  end
end
