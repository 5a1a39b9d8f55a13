defmodule McpServer.HttpPeerTest do
  # All other HTTP tests rely on this client: it must read the exact bytes and detect errors.
  use ExUnit.Case, async: true

  alias McpServer.{HttpEvents, HttpPeer, HttpResponse}

  # Sends these bytes to the first connection, one at a time.
  defp serve(bytes) do
    {:ok, listener} = :gen_tcp.listen(0, [:binary, ip: {127, 0, 0, 1}, active: false, nodelay: true])
    {:ok, port} = :inet.port(listener)

    spawn_link(fn ->
      {:ok, socket} = :gen_tcp.accept(listener)
      for <<byte <- bytes>>, do: :ok = :gen_tcp.send(socket, <<byte>>)
      :gen_tcp.close(socket)
    end)

    HttpPeer.connect(port)
  end

  defp answer(bytes), do: bytes |> serve() |> HttpPeer.expect("POST") |> HttpPeer.response()

  test "a body of a length, one in chunks, and one up to the end of the connection" do
    for {headers, body} <- [
          {"content-length: 5\r\n", "12345"},
          {"transfer-encoding: chunked\r\n", "2\r\n12\r\n3\r\n345\r\n0\r\n\r\n"},
          {"", "12345"}
        ] do
      assert %{status: 200, body: "12345"} = answer("HTTP/1.1 200 OK\r\n#{headers}\r\n#{body}")
    end
  end

  test "several responses on one connection" do
    peer = serve("HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
    for _ <- 1..2, do: HttpPeer.expect(peer, "POST")
    assert [202, 200] = for(_ <- 1..2, do: HttpPeer.response(peer).status)
    assert HttpPeer.closed?(peer)
  end

  test "events, whatever chunks they come in" do
    events = ": hello\n\nid: 1-0\nretry: 500\ndata: \n\nid: 1-1\ndata: {}\n\n"
    chunks = for <<byte <- events>>, into: "", do: "1\r\n" <> <<byte>> <> "\r\n"
    head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    peer = serve(head <> chunks <> "0\r\n\r\n") |> HttpPeer.expect("POST")
    assert %{body: :stream} = HttpPeer.response(peer)

    assert [
             %{comments: ["hello"], data: nil, id: nil},
             %{id: "1-0", retry: 500, data: ""},
             %{id: "1-1", data: "{}"}
           ] = HttpPeer.events(peer)
  end

  test "a stream that ends inside an event is no end" do
    head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    peer = serve(head <> "6\r\ndata: \r\n0\r\n\r\n") |> HttpPeer.expect("POST")
    %{body: :stream} = HttpPeer.response(peer)
    assert_raise RuntimeError, ~r/inside an event/, fn -> HttpPeer.events(peer) end
  end

  test "what is wrong with a response is noticed" do
    for bytes <- [
          "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}",
          "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 2\r\n\r\n{}",
          "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n{}"
        ],
        do: assert_raise(RuntimeError, fn -> answer(bytes) end)

    for head <- ["HTTP/2 200\r\n\r\n", "HTTP/1.1 200 OK\r\nno header\r\n\r\n", "HTTP/1.1 200 OK\r\na: b\rc\r\n\r\n"],
        do: assert_raise(MatchError, fn -> HttpResponse.take(head) end)

    for line <- ["data", "id: 1\nid: 2", "x: y"],
        do: assert_raise(RuntimeError, fn -> HttpEvents.take(line <> "\n\n") end)
  end
end
