defmodule McpServer.Protocol.HTTPNextTest do
  # The results of `next/3` for the bytes of a connection; rust_tests has a test for every rule.
  use ExUnit.Case, async: true

  import McpServer.HttpRequests

  alias McpServer.{Catalog, HttpPeer, HttpRouter, Protocol, Request}
  alias McpServer.Protocol.HTTP

  defp service(options \\ []) do
    {:ok, policy} = HTTP.policy(%{max_body_bytes: 1_000})
    limits = %{max_head_bytes: options[:max_head_bytes] || 4_096, max_headers: options[:max_headers] || 20}
    hooks = {options[:hooks?] || false, nil}
    HTTP.service(policy, Catalog.fetch(HttpRouter), Protocol.limits(%{}), hooks, [], limits)
  end

  defp bytes(request), do: IO.iodata_to_binary(HttpPeer.bytes(%HttpPeer{socket: nil, port: 4040}, request))
  defp head_bytes(bytes), do: bytes |> :binary.match("\r\n\r\n") |> elem(0) |> Kernel.+(4)
  defp older(bytes), do: String.replace(bytes, "HTTP/1.1\r\n", "HTTP/1.0\r\n", global: false)
  defp echo, do: modern_call("echo", %{"text" => "x"}, id: 7)

  # The verdict comes with the last byte: every shorter part needs more.
  defp at_every_cut(service, bytes, judged) do
    head = head_bytes(bytes)

    for length <- 0..(head - 1), scanned <- Enum.uniq([0, div(length, 2), length]) do
      assert {length, HTTP.next(service, binary_part(bytes, 0, length), scanned)} == {length, {:more, length}}
    end

    for length <- head..(byte_size(bytes) - 1)//1 do
      wanted = {:body, head, byte_size(bytes) - head, false}
      assert {length, HTTP.next(service, binary_part(bytes, 0, length), head - 1)} == {length, wanted}
    end

    for scanned <- [0, div(head, 2), head - 1],
        behind <- ["", "P", bytes],
        do: judged.(HTTP.next(service, bytes <> behind, scanned))
  end

  defp status(response), do: response |> IO.iodata_to_binary() |> String.split("\r\n") |> hd()

  test "`:reply`: a list, at every cut" do
    bytes = bytes(modern("tools/list", %{}, id: 7))
    size = byte_size(bytes)

    at_every_cut(service(), bytes, fn judged ->
      assert {:reply, response, ^size, :keep_alive} = judged
      assert status(response) == "HTTP/1.1 200 OK"
      [_head, body] = :binary.split(IO.iodata_to_binary(response), "\r\n\r\n")
      assert %{"id" => 7, "result" => %{"tools" => [_ | _]}} = McpServer.JSON.decode!(body)
    end)
  end

  test "`:request`: a call, at every cut" do
    bytes = bytes(echo())
    size = byte_size(bytes)

    at_every_cut(service(), bytes, fn judged ->
      assert {:request, fields, true, ^size, :keep_alive} = judged
      assert %Request{id: 7, method: "tools/call", arguments: %{"text" => "x"}} = HTTP.request(fields)
    end)
  end

  test "`:open`: initialize, at every cut" do
    bytes = bytes(initialize())
    size = byte_size(bytes)
    at_every_cut(service(), bytes, fn judged -> assert {:open, _opened, ^size, :keep_alive} = judged end)
  end

  test "`:reply` to a notification, which is accepted" do
    bytes = bytes(modern("notifications/cancelled", %{"requestId" => 1}, id: nil))
    size = byte_size(bytes)

    at_every_cut(service(), bytes, fn judged ->
      assert {:reply, response, ^size, :keep_alive} = judged
      assert status(response) == "HTTP/1.1 202 Accepted"
    end)
  end

  test "`:body` says whether the client waits to be asked" do
    bytes = bytes(with_headers(echo(), [{"expect", "100-continue"}]))
    head = head_bytes(bytes)
    assert HTTP.next(service(), binary_part(bytes, 0, head), 0) == {:body, head, byte_size(bytes) - head, true}
  end

  test "`:head`: of a session, in chunks, and everything where there are hooks" do
    session = with_headers(legacy("ping"), [{"mcp-session-id", "abc"}])
    chunks = with_headers(echo(), [{"transfer-encoding", "chunked"}])

    for {service, request, framing, session_id} <- [
          {service(), session, {:length, byte_size(session.body)}, "abc"},
          {service(), chunks, :chunked, nil},
          {service(hooks?: true), echo(), {:length, byte_size(echo().body)}, nil},
          {service(), with_headers(get_stream(), [{"mcp-session-id", "abc"}]), :empty, "abc"}
        ] do
      bytes = bytes(request)
      head = head_bytes(bytes)
      for length <- 0..(head - 1), do: assert(HTTP.next(service, binary_part(bytes, 0, length), 0) == {:more, length})

      for length <- head..byte_size(bytes) do
        assert {:head, _screened, facts, ^head, ^framing, false, :keep_alive} =
                 HTTP.next(service, binary_part(bytes, 0, length), 0)

        assert facts.session_id == session_id
      end
    end
  end

  test "`:refuse`: a head whose body is still to come; with its body it is a reply" do
    refused = %{echo() | target: "/other"}
    bytes = bytes(refused)
    {head, size} = {head_bytes(bytes), byte_size(bytes)}

    for length <- head..(size - 1) do
      assert {:refuse, response, ^head, {:length, _}, :close} = HTTP.next(service(), binary_part(bytes, 0, length), 0)
      assert status(response) == "HTTP/1.1 404 Not Found"
      assert response =~ "connection: close\r\n"
    end

    assert {:reply, response, ^size, :keep_alive} = HTTP.next(service(), bytes, 0)
    assert status(response) == "HTTP/1.1 404 Not Found"
  end

  test "`:refuse`: what is no head, with everything that came, at the first byte that says so" do
    for {bytes, first, line} <- [
          {<<22, 3, 1>>, 1, "HTTP/1.1 400 Bad Request"},
          {"GET /mcp HTTP/1.1\nhost: x\n\n", 18, "HTTP/1.1 400 Bad Request"},
          {"GET /mcp HTTP/2.0\r\n\r\n", 21, "HTTP/1.1 505 HTTP Version Not Supported"},
          {"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n", 86,
           "HTTP/1.1 400 Bad Request"},
          {"POST /mcp HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: gzip\r\n\r\n", 64,
           "HTTP/1.1 501 Not Implemented"}
        ] do
      for length <- 0..(first - 1),
          do: assert(HTTP.next(service(), binary_part(bytes, 0, length), 0) == {:more, length})

      for length <- first..byte_size(bytes) do
        assert {:refuse, response, ^length, :chunked, :close} = HTTP.next(service(), binary_part(bytes, 0, length), 0)
        assert {bytes, status(response)} == {bytes, line}
      end
    end
  end

  test "`:refuse`: a head at its limits and beyond them" do
    bytes = bytes(modern("tools/list"))
    head = head_bytes(bytes)
    fields = length(:binary.matches(binary_part(bytes, 0, head), "\r\n")) - 2

    assert {:reply, _response, _used, :keep_alive} =
             HTTP.next(service(max_head_bytes: head, max_headers: fields), bytes, 0)

    for limits <- [[max_head_bytes: head - 1], [max_headers: fields - 1]] do
      assert {:refuse, response, _used, :chunked, :close} = HTTP.next(service(limits), bytes, 0)
      assert status(response) == "HTTP/1.1 431 Request Header Fields Too Large"
    end

    [line, _fields] = :binary.split(bytes, "\r\n")

    for {limit, refused} <- [
          {byte_size(line) + 1, "HTTP/1.1 414 URI Too Long"},
          {byte_size(line) + 2, "HTTP/1.1 431 Request Header Fields Too Large"}
        ] do
      assert {:refuse, response, _used, :chunked, :close} = HTTP.next(service(max_head_bytes: limit), bytes, 0)
      assert {limit, status(response)} == {limit, refused}
    end
  end

  test "the connection ends with HTTP/1.0 and where the client says so" do
    bytes = bytes(echo())
    assert {:request, _fields, true, _used, :until_close} = HTTP.next(service(), older(bytes), 0)
    closing = bytes(with_headers(echo(), [{"connection", "foo, close"}]))
    assert {:request, _fields, true, _used, :close} = HTTP.next(service(), closing, 0)
  end
end
