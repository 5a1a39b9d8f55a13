defmodule McpServer.HttpSlowReaderTest do
  # The number of streams of stored results is limited. A client that reads too slowly loses its place.
  use McpServer.HttpCase, async: true

  import McpServer.DualResponses, only: [create!: 3, server: 0]
  import McpServer.RestServers, only: [rest: 3]

  alias McpServer.RestServers

  @moduletag :capture_log

  # More than the buffers of both sockets hold: 40 MB.
  @rows 4_000
  @row %{"text" => String.duplicate("r", 10_000)}
  @ndjson [headers: [{"accept", "application/x-ndjson"}]]

  defp result(results), do: "/resources/" <> create!(results, @rows, execute: &page/1).resource_id
  defp page(%{limit: limit}), do: List.duplicate(@row, min(limit, @rows))

  # Reads some bytes at a time, until the server closes the connection.
  defp sip(peer, bytes, pause, so_far \\ 0) do
    Process.sleep(pause)

    case :gen_tcp.recv(peer.socket, bytes, 30_000) do
      {:ok, taken} -> sip(peer, bytes, pause, so_far + byte_size(taken))
      {:error, reason} -> {reason, so_far}
    end
  end

  defp open(http, path) do
    peer = HttpPeer.connect(http.port, recbuf: 4_096)
    :ok = HttpPeer.send_request(peer, RestServers.request("POST", path, @ndjson))
    peer
  end

  @tag req: "H7"
  @tag slow: "a client that reads slowly for seconds"
  rest "a client that takes too little is cut off, and its place is free", %{kind: kind} do
    results = server()
    options = [max_requests: 1, stream_batch: 50, stream_min_rate: 1024 * 1024 * 1024, stream_grace: 3_000]
    http = RestServers.start(kind, results, options)
    path = result(results)
    peer = open(http, path)
    assert %{status: 200} = HttpPeer.head(peer)
    # The slow stream has the only place.
    assert RestServers.ask(http, "GET", path).status == 503
    {:closed, taken} = sip(peer, 1_000, 5)
    assert taken < @rows * 10_000
    eventually(fn -> RestServers.ask(http, "GET", path).status == 200 end)
  end

  # Earlier, 150 pages of 4 MB could wait unread, however few requests the endpoint had places for.
  # Not under every web server: some take a page at once.
  test "a client keeps its place until it has read a long page" do
    results = server()
    http = RestServers.start(:listener, results, max_requests: 1, max_limit: @rows)
    path = result(results)
    peer = HttpPeer.connect(http.port, recbuf: 4_096)
    page = RestServers.request("POST", path, body: ~s({"offset":0,"limit":#{@rows}}))
    :ok = HttpPeer.send_request(peer, page)
    assert %{status: 200} = HttpPeer.head(peer)
    assert RestServers.ask(http, "GET", path).status == 503
    HttpPeer.rest(peer)
    eventually(fn -> RestServers.ask(http, "GET", path).status == 200 end)
  end

  rest "a client that takes as little as it may gets all of it", %{kind: kind} do
    results = server()
    http = RestServers.start(kind, results, stream_batch: 50, stream_min_rate: 1, stream_grace: 60_000)
    peer = open(http, result(results))
    %{body: body} = HttpPeer.response(peer)
    assert length(RestServers.lines(body)) == @rows + 1
  end
end
