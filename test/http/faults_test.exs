defmodule McpServer.HttpFaultsTest do
  # Faulty connections: slow, cut, with wrong lengths, never read, too many. The numbers fit two cores and take seconds;
  # `MCP_SCALE=20` makes them larger. Not async: counts processes and memory of the whole node.
  use McpServer.HttpCase, async: false

  import McpServer.HttpRequests

  alias McpServer.{DualResponses, RestServers}

  @moduletag :capture_log

  defp alive!(server), do: assert(HttpClient.text(HttpClient.call(server, "echo", %{"text" => "x"})) == "x")

  defp raw(server, bytes) do
    peer = HttpPeer.connect(server.port)
    HttpPeer.write(peer, bytes)
    peer
  end

  # The status of the response, `:closed` without one.
  defp status(peer) do
    answer = HttpPeer.until_closed(peer)
    HttpPeer.close(peer)

    case Regex.run(~r/\AHTTP\/1\.[01] (\d\d\d) /, answer) do
      [_, status] -> String.to_integer(status)
      nil when answer == "" -> :closed
    end
  end

  # This test is here because it counts the node's processes: no other test may run at the same time.
  @tag req: "S1-24"
  test "nothing is left of a listener of stored results that has stopped" do
    results = DualResponses.server()
    created = DualResponses.create!(results, 5)

    assert_nothing_left(fn ->
      http = RestServers.start(:listener, results)
      assert RestServers.ask(http, "GET", "/resources/" <> created.resource_id).status == 200
      HttpServers.stop(http)
    end)
  end

  describe "a body" do
    @describetag req: "H5"
    test "that is shorter than it was said to be is not answered as if it were whole" do
      server = HttpServers.start(:listener)
      request = modern_call("echo", %{"text" => "x"}, headers: [{"content-length", "5000"}])
      peer = HttpPeer.connect(server.port)
      HttpPeer.send_request(peer, request)
      HttpPeer.half_close(peer)
      assert status(peer) in [400, 408, :closed]
      alive!(server)
    end

    both "that is longer than it was said to be is not part of the message", %{server: server} do
      request = modern_call("echo", %{"text" => "x"})
      length = request.body |> IO.iodata_length() |> Integer.to_string()
      peer = HttpPeer.connect(server.port)
      # The rest is read as the start of another request, which is invalid.
      HttpPeer.send_request(
        peer,
        with_headers(%{request | body: [request.body, "GARBAGE\r\n\r\n"]}, [{"content-length", length}])
      )

      assert HttpPeer.response(peer).status == 200
      HttpPeer.half_close(peer)
      assert status(peer) in [400, :closed]
    end

    test "that is refused by its length is not read" do
      server = HttpServers.start(:listener)
      request = post("", [{"content-length", "1000000000"}, {"expect", "100-continue"}])
      {_peer, response} = HttpClient.open(server, request)
      assert response.status == 413
      assert HttpResponse.header(response, "connection") == "close"
    end

    test "is asked for with 100 where the client waits for that" do
      server = HttpServers.start(:listener)
      request = modern_call("echo", %{"text" => "x"})
      length = request.body |> IO.iodata_length() |> Integer.to_string()
      peer = HttpPeer.connect(server.port)
      waiting = with_headers(%{request | body: nil}, [{"content-length", length}, {"expect", "100-continue"}])
      assert HttpPeer.request(peer, waiting).status == 100
      HttpPeer.write(peer, request.body)
      assert HttpPeer.response(peer).status == 200
    end
  end

  describe "peers that take their time" do
    @describetag req: "H7"
    @tag slow: "slow peers, for seconds"
    test "with the head, with the body and with reading are cut off; others are served (60 of 1,000)" do
      server = HttpServers.start(:listener, http: [head_timeout: 500, stall_timeout: 500, keep_alive: 100])
      good = modern_call("echo", %{"text" => "x"})
      bytes = server |> bytes(with_headers(good, [{"content-length", "5000"}])) |> IO.iodata_to_binary()
      [head, _body] = :binary.split(bytes, "\r\n\r\n")

      heads = for _ <- 1..20, do: raw(server, binary_part(head, 0, 40))
      bodies = for _ <- 1..20, do: raw(server, bytes)
      readers = for n <- 1..20, do: reader(server, n)

      feeder = spawn_link(fn -> feed(heads ++ bodies) end)
      for _ <- 1..100, do: alive!(server)

      for peer <- heads, do: assert(status(peer) in [408, :closed])
      for peer <- bodies, do: assert(status(peer) in [408, :closed])
      for {peer, call} <- readers, do: HttpScript.gone(call) && HttpPeer.close(peer)
      send(feeder, :enough)
      alive!(server)
    end

    defp bytes(server, request), do: HttpPeer.bytes(%HttpPeer{socket: nil, port: server.port}, request)

    # Sends one byte to each peer, ten times a second.
    defp feed(peers) do
      for peer <- peers, do: :gen_tcp.send(peer.socket, "a")
      receive do: (:enough -> :ok), after: (100 -> feed(peers))
    end

    defp reader(server, n) do
      meta = %{"io.modelcontextprotocol/logLevel" => "info"}
      request = modern_call("perform", HttpScript.arguments("reader-#{n}"), meta: meta)
      peer = HttpClient.start(server, request, recbuf: 4_096)
      {call, _conn} = HttpScript.performing("reader-#{n}")
      for _ <- 1..128, do: HttpScript.tell(call, {:log, "info", String.duplicate("x", 65_536)})
      {peer, call}
    end
  end

  describe "a head" do
    @describetag req: "H8"
    @length "content-length: 2\r\n"

    test "that means two things, or nothing, is refused" do
      server = HttpServers.start(:listener)
      json = "content-type: application/json\r\naccept: application/json, text/event-stream\r\n"

      for {lines, statuses} <- [
            {[json, @length, "content-length: 3\r\n"], [400]},
            {[json, @length, "transfer-encoding: chunked\r\n"], [400]},
            {[json, "transfer-encoding: chunked, gzip\r\n"], [400, 501]},
            {[json, "transfer-encoding: gzip\r\n"], [400, 501]},
            {[json, "content-length: +2\r\n"], [400]},
            {[json, "content-length: 2, 3\r\n"], [400]},
            {[json, "content-length: x\r\n"], [400]},
            {[json, "content-length: 18446744073709551616\r\n"], [400, 413]},
            {[json, @length, "mcp-method : ping\r\n"], [400]},
            {[json, @length, "mcp method: ping\r\n"], [400]},
            {[json, @length, "mcp-method: a\rb\r\n"], [400]},
            {[json, @length, "mcp-method: a\0b\r\n"], [400]},
            {[json, @length, " folded: line\r\n"], [400]},
            {[json, @length, "mcp-session-id: a\x01b\r\n"], [400, 404]}
          ] do
        peer = raw(server, ["POST /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n", lines, "\r\n{}"])
        assert {lines, status(peer) in statuses} == {lines, true}
      end

      for line <- [
            "POST /mcp\r\n",
            "POST /mcp HTTP/9.9\r\n",
            "GET /mcp HTTP/1.1 x\r\n",
            "\0\0\0\r\n",
            "POST  /mcp HTTP/1.1\r\n"
          ] do
        peer = raw(server, [line, "host: localhost\r\n\r\n"])
        assert {line, status(peer) in [400, 505, :closed]} == {line, true}
      end

      for head <- ["POST /mcp HTTP/1.1\r\nconnection: close\r\n\r\n", "POST /mcp HTTP/1.0\r\n\r\n"],
          do: assert(status(raw(server, head)) == 400)

      alive!(server)
    end

    test "that is too large is refused" do
      server = HttpServers.start(:listener)
      head = ["POST /mcp HTTP/1.1\r\nhost: localhost\r\n", @length]
      assert status(raw(server, [head, "x-large: ", String.duplicate("x", 100_000), "\r\n\r\n{}"])) in [431, :closed]
      many = for n <- 1..1_000, do: "x-#{n}: 1\r\n"
      assert status(raw(server, [head, many, "\r\n{}"])) in [431, :closed]
      assert status(raw(server, ["POST /", String.duplicate("a", 100_000), " HTTP/1.1\r\n\r\n"])) in [414, :closed]
      # The server has read all of it, so the client gets the response.
      limit = 64 * 1024
      assert status(raw(server, ["POST /", String.duplicate("a", limit - 6)])) == 414
      fields = "POST /mcp HTTP/1.1\r\nx: "
      assert status(raw(server, [fields, String.duplicate("x", limit - byte_size(fields))])) == 431
      alive!(server)
    end
  end

  describe "ids of no session" do
    @describetag req: "H10"
    both "cost nothing that stays (2,000 requests of 100,000)", %{server: server} do
      peer = HttpPeer.connect(server.port)
      ask = fn n -> legacy("ping") |> of_session("none-#{n}-#{String.duplicate("x", rem(n, 90))}") end
      for n <- 1..100, do: assert(HttpPeer.request(peer, ask.(n)).status == 404)

      assert_nothing_left(fn ->
        before = memory()
        for n <- 1..scaled(2_000), do: assert(HttpPeer.request(peer, ask.(n)).status == 404)
        # Other processes may free their memory a moment later.
        eventually(fn -> memory() - before < 2_000_000 end)
      end)
    end

    defp memory do
      for pid <- Process.list(), do: :erlang.garbage_collect(pid)
      :erlang.memory(:total)
    end
  end
end
