defmodule McpServer.HttpConnectionBodiesTest do
  # Timeouts of heads and bodies, and the framing of bodies.
  use McpServer.HttpCase, async: true

  alias McpServer.HttpServer

  @moduletag :capture_log
  @head "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n"

  def anyone(_request), do: {:ok, "someone"}

  defp echo(id \\ 1), do: modern_call("echo", %{"text" => "x"}, id: id)
  defp in_chunks(request), do: with_headers(request, [{"transfer-encoding", "chunked"}])
  defp bytes(peer, request), do: IO.iodata_to_binary(HttpPeer.bytes(peer, request))

  # The body in chunks of this size.
  defp chunks(body, size), do: chunks(IO.iodata_to_binary(body), size, [])

  defp chunks(body, size, chunks) when byte_size(body) > size do
    {chunk, body} = :erlang.split_binary(body, size)
    chunks(body, size, [chunks, Integer.to_string(size, 16), "\r\n", chunk, "\r\n"])
  end

  defp chunks(body, _size, chunks), do: [chunks, Integer.to_string(byte_size(body), 16), "\r\n", body, "\r\n0\r\n"]

  defp chunked(request, size \\ 100, trailers \\ ""),
    do: %{in_chunks(request) | body: IO.iodata_to_binary([chunks(request.body, size), trailers, "\r\n"])}

  defp answer(server, bytes, options \\ []) do
    peer = HttpPeer.connect(server.port)
    HttpPeer.expect(peer, "POST")
    for piece <- List.wrap(bytes), do: write(peer, piece, options)
    response = HttpPeer.response(peer)
    {peer, response}
  end

  defp write(peer, piece, options) do
    HttpPeer.write(peer, piece)
    if options[:apart], do: Process.sleep(1)
  end

  # Writes one byte each 25 ms until a response arrives. Returns its status and the number of bytes. About twenty bytes
  # fit the timeout of a head; a thousand would show that each byte extended it.
  defp drip(peer, sent \\ 0) do
    HttpPeer.write(peer, "x")

    case HttpPeer.raw(peer, 0, 25) do
      {:error, :timeout} when sent < 1_000 -> drip(peer, sent + 1)
      {:ok, answer} -> {answer |> String.split("\r\n") |> hd(), sent + 1}
    end
  end

  defp unused(server) do
    eventually(fn -> match?(%{connections: 0, body_bytes: 0, calls: 0}, HttpServer.stats(server.pid)) end)
  end

  describe "what drips" do
    test "as a head has 408 at the time of a head, which no byte puts off" do
      server = HttpServers.start(:listener, http: [head_timeout: 500])
      peer = HttpPeer.connect(server.port)
      HttpPeer.write(peer, "POST /mcp HTTP/1.1\r\nx: ")
      {line, sent} = drip(peer)
      assert line == "HTTP/1.1 408 Request Timeout"
      assert sent in 1..100
      HttpPeer.close(peer)
      unused(server)
    end

    test "as the head of a later request, too" do
      server = HttpServers.start(:listener, http: [head_timeout: 500])
      peer = HttpPeer.connect(server.port)
      assert HttpPeer.request(peer, echo()).status == 200
      HttpPeer.write(peer, "POST /mcp HTTP/1.1\r\nx: ")
      {line, sent} = drip(peer)
      assert {line, sent in 1..100} == {"HTTP/1.1 408 Request Timeout", true}
      HttpPeer.close(peer)
      unused(server)
    end

    @tag slow: "slow bodies, for seconds"
    test "as a body has 408 when its rate is too low, and at its time whatever its rate" do
      for limits <- [
            [http: [body_grace: 500, body_min_rate: 1_000_000]],
            [http: [body_timeout: 500, body_grace: 60_000, body_min_rate: 1]]
          ],
          framing <- ["content-length: 100000\r\n\r\n", "transfer-encoding: chunked\r\n\r\nfffff\r\n"] do
        server = HttpServers.start(:listener, limits)
        peer = HttpPeer.connect(server.port)
        HttpPeer.write(peer, [@head, framing])
        {line, sent} = drip(peer)
        assert {limits, framing, line, sent in 1..100} == {limits, framing, "HTTP/1.1 408 Request Timeout", true}
        HttpPeer.close(peer)
        unused(server)
      end
    end
  end

  describe "Content-Length beside Transfer-Encoding" do
    test "is 400, wherever it is cut, also behind another request" do
      server = HttpServers.start(:listener)
      bad = @head <> "content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n"
      {peer, _response} = answer(server, bytes(HttpPeer.connect(server.port), echo()))
      first = bytes(peer, echo())

      for {before, statuses} <- [{"", [400]}, {first, [200, 400]}],
          place <- byte_size(before)..(byte_size(before) + byte_size(bad) - 1) do
        {one, two} = :erlang.split_binary(before <> bad <> "0\r\n\r\n", place)
        peer = HttpPeer.connect(server.port)
        for _ <- statuses, do: HttpPeer.expect(peer, "POST")
        HttpPeer.write(peer, one)
        if rem(place, 4) == 0, do: Process.sleep(1)
        HttpPeer.write(peer, two)
        responses = for _ <- statuses, do: HttpPeer.response(peer)
        assert {place, for(response <- responses, do: response.status)} == {place, statuses}
        assert HttpResponse.header(List.last(responses), "connection") == "close"
        assert HttpPeer.closed?(peer)
        HttpPeer.close(peer)
      end
    end
  end

  describe "a body in chunks" do
    for {name, options} <- [{"", []}, {", behind a hook", [identify: &__MODULE__.anyone/1]}] do
      test "is read, wherever it is cut, and has trailers#{name}" do
        server = HttpServers.start(:listener, unquote(Macro.escape(options)))
        request = chunked(echo(), 100, "x-checksum: 1\r\n")
        all = bytes(HttpPeer.connect(server.port), request)
        start = byte_size(all) - byte_size(request.body)

        for place <- start..(byte_size(all) - 1) do
          {one, two} = :erlang.split_binary(all, place)
          {peer, response} = answer(server, [one, two], apart: true)
          assert {place, response.status, HttpResponse.json(response)["id"]} == {place, 200, 1}
          HttpPeer.close(peer)
        end
      end
    end

    test "is refused when it is malformed" do
      server = HttpServers.start(:listener)

      for body <- [
            "x\r\n",
            "\r\n",
            "-1\r\n",
            "0x1\r\n",
            "1\nx\n0\n\n",
            "1\r\nxx\r\n0\r\n\r\n",
            "1 \r\nx\r\n0\r\n\r\n",
            "11111111111111111\r\n",
            "1;" <> String.duplicate("a", 300) <> "\r\nx\r\n0\r\n\r\n",
            "0\r\ncontent-length: 1\r\n\r\n",
            "0\r\nx\r\n\r\n"
          ] do
        {peer, response} = answer(server, [@head, "transfer-encoding: chunked\r\n\r\n", body])
        assert {body, response.status, HttpResponse.header(response, "connection")} == {body, 400, "close"}
        HttpPeer.close(peer)
      end

      unused(server)
    end

    test "is refused when it is too large, by what it says or by what comes" do
      server = HttpServers.start(:listener, limits: [max_message_bytes: 10_000])

      for body <- ["2711\r\n", [chunks(String.duplicate(" ", 10_001), 1_000), "\r\n"]] do
        {peer, response} = answer(server, [@head, "transfer-encoding: chunked\r\n\r\n", body])
        assert {response.status, HttpResponse.header(response, "connection")} == {413, "close"}
        HttpPeer.close(peer)
      end

      echo = echo()
      {peer, response} = answer(server, bytes(peer(server), chunked(%{echo | body: pad(echo.body, 10_000)}, 1_000)))
      assert response.status == 200
      HttpPeer.close(peer)
      eventually(fn -> HttpServer.stats(server.pid).body_bytes == 0 end)
    end
  end

  defp peer(server), do: HttpPeer.connect(server.port)
  defp pad(body, bytes), do: body <> String.duplicate(" ", bytes - byte_size(body))

  describe "Expect: 100-continue" do
    defp asked(server, request) do
      peer = HttpPeer.connect(server.port)
      request = with_headers(request, [{"expect", "100-continue"}])
      all = bytes(peer, request)
      head = byte_size(all) - IO.iodata_length(request.body)
      HttpPeer.expect(peer, "POST")
      HttpPeer.write(peer, binary_part(all, 0, head))
      assert HttpPeer.response(peer).status == 100
      HttpPeer.write(peer, request.body)
      response = HttpPeer.response(peer)
      HttpPeer.close(peer)
      response
    end

    test "is answered with a length, in chunks, behind a hook and in a session" do
      for options <- [[], [identify: &__MODULE__.anyone/1]] do
        server = HttpServers.start(:listener, options)
        session = HttpSession.open(server)

        for request <- [echo(), HttpSession.of(session, legacy_call("echo", %{"text" => "x"}))],
            request <- [with_headers(request, [{"content-length", "#{byte_size(request.body)}"}]), chunked(request)] do
          response = asked(server, request)
          assert {response.status, HttpResponse.json(response)["id"]} == {200, 1}
        end

        unused(server)
      end
    end

    test "is not answered where the body comes at once, and not before a head that is refused" do
      server = HttpServers.start(:listener)
      {_peer, response} = answer(server, bytes(peer(server), with_headers(echo(), [{"expect", "100-continue"}])))
      assert response.status == 200
      {_peer, response} = answer(server, [@head, "expect: 100-continue\r\ncontent-length: 99999999999\r\n\r\n"])
      assert response.status == 413
      {_peer, response} = answer(server, [@head, "expect: something\r\ncontent-length: 2\r\n\r\n"])
      assert response.status == 417
    end
  end
end
