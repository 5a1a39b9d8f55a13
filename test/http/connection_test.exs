defmodule McpServer.HttpConnectionTest do
  # One connection of the listener: successive requests, split anywhere, of every version and form.
  use McpServer.HttpCase, async: true

  alias McpServer.{HttpServer, JSON}

  @moduletag :capture_log

  defp bytes(peer, request), do: IO.iodata_to_binary(HttpPeer.bytes(peer, request))
  defp echo(id, headers \\ []), do: modern_call("echo", %{"text" => "t#{id}"}, id: id, headers: headers)
  defp list(id), do: modern("tools/list", %{}, id: id)
  defp ping(id), do: post(~s({"jsonrpc":"2.0","id":#{id},"method":"ping"}))
  defp responses(peer, n), do: for(_ <- 1..n, do: HttpPeer.response(peer))
  defp ids(responses), do: for(response <- responses, do: HttpResponse.json(response)["id"])
  defp unused(server), do: eventually(fn -> HttpServer.stats(server.pid).connections == 0 end)

  # Writes the bytes in two separate pieces.
  defp cut(peer, bytes, place) do
    {first, last} = :erlang.split_binary(bytes, place)
    HttpPeer.write(peer, first)
    Process.sleep(1)
    HttpPeer.write(peer, last)
  end

  # The positions that split the bytes into two nonempty pieces; all of them with `MCP_SCALE`, otherwise a sample.
  defp places(bytes), do: Enum.take_every(1..(byte_size(bytes) - 1), max(div(4, scaled(1)), 1))

  describe "requests behind each other" do
    test "are answered in their order" do
      server = HttpServers.start(:listener)
      peer = HttpPeer.connect(server.port)
      requests = for n <- 1..30, do: Enum.at([ping(n), echo(n), list(n)], rem(n, 3))
      for _ <- requests, do: HttpPeer.expect(peer, "POST")
      HttpPeer.write(peer, for(request <- requests, do: bytes(peer, request)))
      responses = responses(peer, 30)
      assert for(%{status: status} <- responses, do: status) == List.duplicate(200, 30)
      assert ids(responses) == Enum.to_list(1..30)
      # Nothing else comes before the next request's response.
      assert HttpResponse.json(HttpPeer.request(peer, ping(31)))["id"] == 31
    end

    test "are, wherever they are cut" do
      server = HttpServers.start(:listener)
      peer = HttpPeer.connect(server.port)
      burst = IO.iodata_to_binary(for request <- [ping(1), echo(2), list(3)], do: bytes(peer, request))

      for place <- places(burst) do
        for _ <- 1..3, do: HttpPeer.expect(peer, "POST")
        cut(peer, burst, place)
        assert {place, ids(responses(peer, 3))} == {place, [1, 2, 3]}
      end
    end

    test "end with the one that says so" do
      server = HttpServers.start(:listener)
      peer = HttpPeer.connect(server.port)
      HttpPeer.expect(peer, "POST")
      HttpPeer.write(peer, [bytes(peer, echo(1, [{"connection", "close"}])), bytes(peer, echo(2))])
      response = HttpPeer.response(peer)
      assert {HttpResponse.header(response, "connection"), ids([response])} == {"close", [1]}
      assert HttpPeer.closed?(peer)
    end
  end

  describe "a client that closes its side" do
    test "behind complete requests that need no call is answered" do
      server = HttpServers.start(:listener)
      peer = HttpPeer.connect(server.port)
      for _ <- 1..2, do: HttpPeer.expect(peer, "POST")
      HttpPeer.write(peer, [bytes(peer, ping(1)), bytes(peer, list(2))])
      HttpPeer.half_close(peer)
      assert ids(responses(peer, 2)) == [1, 2]
      assert HttpPeer.closed?(peer)
      unused(server)
    end

    test "in a head or a body is not answered, and its connection is closed" do
      server = HttpServers.start(:listener)
      peer = HttpPeer.connect(server.port)
      request = bytes(peer, echo(1))
      HttpPeer.close(peer)

      for place <- [0, 1, 20, byte_size(request) - 30, byte_size(request) - 1] do
        peer = HttpPeer.connect(server.port)
        HttpPeer.write(peer, binary_part(request, 0, place))
        HttpPeer.half_close(peer)
        assert {place, HttpPeer.closed?(peer)} == {place, true}
        HttpPeer.close(peer)
      end

      unused(server)
    end
  end

  describe "a client that sends more before its answer" do
    # The server stops reading after some packets, so that the end of the stream is behind unread bytes.
    test "and disconnects cancels its call" do
      server = HttpServers.start(:listener)
      peer = HttpClient.start(server, modern_call("perform", HttpScript.arguments()))
      {call, _conn} = HttpScript.performing()
      # More than 32 reads of the server.
      :ok = HttpPeer.write(peer, String.duplicate("x", 64 * 1_024))
      HttpPeer.close(peer)
      HttpScript.gone(call)
    end

    test "and stays has its answer" do
      server = HttpServers.start(:listener, http: [stream_after: 60_000])
      peer = HttpClient.start(server, modern_call("perform", HttpScript.arguments()))
      {call, _conn} = HttpScript.performing()
      :ok = HttpPeer.write(peer, String.duplicate("x", 256 * 1_024))
      # Longer than the pause between two looks at the connection.
      Process.send_after(self(), :later, 2_500)
      assert_receive :later, 30_000
      HttpScript.tell(call, {:answer, "done"})
      assert HttpClient.text(HttpResponse.json(HttpPeer.response(peer))) == "done"
    end
  end

  describe "HTTP/1.0" do
    defp older(peer, request), do: String.replace(bytes(peer, request), "HTTP/1.1\r\n", "HTTP/1.0\r\n", global: false)

    test "has a whole answer, and the connection ends" do
      server = HttpServers.start(:listener)
      peer = HttpPeer.connect(server.port)
      HttpPeer.expect(peer, "POST")
      HttpPeer.write(peer, older(peer, echo(1, [{"connection", "keep-alive"}])))
      response = HttpPeer.response(peer)
      assert {response.status, HttpResponse.header(response, "connection")} == {200, "close"}
      assert HttpResponse.header(response, "content-length") == Integer.to_string(byte_size(response.body))
      assert ids([response]) == [1]
      assert HttpPeer.closed?(peer)
    end

    test "has a stream without chunks, which ends with the connection" do
      server = HttpServers.start(:listener)
      peer = HttpPeer.connect(server.port)
      HttpPeer.expect(peer, "POST")
      request = modern_call("perform", HttpScript.arguments(), id: 1, meta: %{"progressToken" => 1})
      HttpPeer.write(peer, older(peer, request))
      {call, _conn} = HttpScript.performing()
      HttpScript.tell(call, {:progress, 1})
      response = HttpPeer.response(peer)
      assert {response.status, response.body} == {200, :stream}
      assert HttpResponse.header(response, "transfer-encoding") == nil
      assert HttpResponse.header(response, "connection") == "close"
      HttpScript.tell(call, {:answer, "done"})
      events = for %{data: data} when data not in [nil, ""] <- HttpPeer.events(peer), do: JSON.decode!(data)
      assert [%{"method" => "notifications/progress"}, %{"id" => 1, "result" => _}] = events
      unused(server)
    end
  end

  describe "the request line" do
    test "HEAD is answered without a body, and the connection goes on" do
      server = HttpServers.start(:listener)
      peer = HttpPeer.connect(server.port)
      response = HttpPeer.request(peer, request("HEAD"))
      assert {response.status, response.body, HttpResponse.header(response, "allow")} == {405, "", "POST, GET, DELETE"}
      assert HttpPeer.request(peer, echo(1)).status == 200
    end

    test "a target may be absolute; its authority has to be one that is served" do
      server = HttpServers.start(:listener)

      for {target, status} <- [
            {"http://localhost:#{server.port}/mcp", 200},
            {"http://127.0.0.1:#{server.port}/mcp?a=b", 200},
            {"http://localhost:#{server.port}/other", 404},
            {"http://evil.example.com/mcp", 403},
            {"http://evil.example.com@localhost/mcp", 400},
            {"ftp://localhost/mcp", 400},
            {"localhost:80", 400}
          ] do
        peer = HttpPeer.connect(server.port)
        assert {target, HttpPeer.request(peer, %{echo(1) | target: target}).status} == {target, status}
        HttpPeer.close(peer)
      end
    end
  end

  describe "a router that is compiled again" do
    test "is served by connections that were open before, also by those that had sent nothing" do
      router = :"Elixir.McpServer.HttpConnectionTest.Reloaded#{System.unique_integer([:positive])}"
      compile(router, "first")
      server = HttpServers.start(:listener, router: router)
      [used, fresh] = for _ <- 1..2, do: HttpPeer.connect(server.port)
      assert tools(used) == ["first"]
      eventually(fn -> HttpServer.stats(server.pid).connections == 2 end)
      compile(router, "second")
      send(server.pid, :refresh)
      assert HttpServer.stats(server.pid).connections == 2
      assert {tools(used), tools(fresh)} == {["second"], ["second"]}
    end
  end

  defp tools(peer) do
    response = HttpPeer.request(peer, list(1))
    for tool <- HttpResponse.json(response)["result"]["tools"], do: tool["name"]
  end

  defp compile(router, tool) do
    Code.compiler_options(ignore_module_conflict: true)

    Code.compile_string("""
    defmodule #{inspect(router)} do
      use McpServer.Router, name: "reloaded"
      tool "#{tool}", "A tool", McpServer.HttpRouter.Handlers, :whoami
    end
    """)
  after
    Code.compiler_options(ignore_module_conflict: false)
  end
end
