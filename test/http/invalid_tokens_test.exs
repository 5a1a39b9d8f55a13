defmodule McpServer.HttpInvalidTokensTest do
  # The answers to invalid tokens wait while an endpoint gets more than `:max_invalid_tokens` of them in a second.
  use McpServer.HttpCase, async: true

  alias McpServer.DualResponse.Rest
  alias McpServer.{DualResponses, HttpRouter, HttpServer, RestServers}
  alias McpServer.Http.InvalidTokens

  @resource "http://localhost/mcp"
  @token String.duplicate("good", 8)
  @poor String.duplicate("poor", 8)

  def auth do
    tokens = %{@token => [subject: "ada", scopes: ["mcp:use"]], @poor => [subject: "ben", scopes: []]}
    [resource: @resource, tokens: tokens, scopes: ["mcp:use"]]
  end

  defp serve(kind, options \\ []) do
    options = Keyword.put_new(options, :http, max_invalid_tokens: 1)
    HttpServers.start(kind, [router: HttpRouter] ++ Keyword.put_new(options, :auth, {__MODULE__, :auth}))
  end

  defp with_token(request, token), do: with_headers(request, [{"authorization", "Bearer " <> token}])
  defp garbage, do: with_token(modern_call("granted"), "garbage")
  defp good, do: with_token(modern_call("granted"), @token)

  defp status(server, request) do
    {response, _messages} = HttpClient.exchange(server, request)
    response.status
  end

  # How many milliseconds two requests take, which must get the same answer. An upper limit would count on the machine.
  defp waiting(server, request) do
    began = System.monotonic_time(:millisecond)
    first = answer(server, request)
    assert first.status == 401
    assert answer(server, request) == first
    System.monotonic_time(:millisecond) - began
  end

  defp answer(server, request) do
    peer = HttpPeer.connect(server.port)
    response = HttpPeer.request(peer, request)
    HttpPeer.close(peer)
    %{response | headers: dateless(response)}
  end

  defp dateless(response),
    do: for({name, value} <- response.headers, String.downcase(name) != "date", do: {name, value})

  describe "a bucket" do
    test "lets the limit through at once; the next answers wait for their turn, at most a second" do
      bucket = InvalidTokens.new(200)
      :atomics.put(bucket.full_at, 1, 0)
      assert for(_ <- 1..200, uniq: true, do: InvalidTokens.delay(bucket, 0)) == [0]
      assert for(_ <- 1..200, do: InvalidTokens.delay(bucket, 0)) == Enum.map(1..200, &(&1 * 5))
      assert for(_ <- 1..3, do: InvalidTokens.delay(bucket, 0)) == [1_000, 1_000, 1_000]
    end

    test "is refilled evenly" do
      bucket = InvalidTokens.new(10)
      :atomics.put(bucket.full_at, 1, 0)
      for _ <- 1..10, do: InvalidTokens.delay(bucket, 0)
      assert for(now <- [99_000, 200_000, 300_000, 300_000], do: InvalidTokens.delay(bucket, now)) == [1, 0, 0, 100]
      # It never holds more than the limit.
      assert for(_ <- 1..11, do: InvalidTokens.delay(bucket, 60_000_000)) == List.duplicate(0, 10) ++ [100]
    end
  end

  @tag req: "T27"
  on_both "an invalid token beyond the limit waits, and gets the same answer", %{kind: kind} do
    assert waiting(serve(kind), garbage()) >= 990
  end

  on_both "so does what `identify:` refuses", %{kind: kind} do
    server = serve(kind, auth: nil, identify: fn _request -> {:error, :unauthorized} end)
    assert waiting(server, garbage()) >= 990
  end

  on_both "so does what a route for stored results refuses", %{kind: kind} do
    results = DualResponses.server()
    path = "/results/" <> DualResponses.create!(results, 5).resource_id
    server = serve(kind, routes: [{"/results", {Rest, server: results}}])
    headers = [{"authorization", "Bearer garbage"}]
    assert waiting(server, RestServers.request("GET", path, headers: headers)) >= 990
  end

  # Several requests: on a slow machine the second may come when there is room again.
  defp late(server) do
    peers = for _ <- 1..5, do: HttpClient.start(server, garbage())
    eventually(fn -> HttpServer.stats(server.pid).delayed > 0 end)
    peers
  end

  @tag req: "T27"
  test "who waits gets its answer, and valid tokens do not wait" do
    server = serve(:listener)
    late = late(server)

    for peer <- late do
      assert HttpPeer.response(peer).status == 401
      HttpPeer.close(peer)
    end

    delayed = HttpServer.stats(server.pid).delayed
    for _ <- 1..20, do: assert(status(server, good()) == 200)
    assert HttpServer.stats(server.pid).delayed == delayed
  end

  test "a client that leaves while it waits takes nothing with it" do
    server = serve(:listener)

    for leave <- [&HttpPeer.close/1, &HttpPeer.cut/1] do
      server |> late() |> Enum.each(leave)
      eventually(fn -> match?(%{connections: 0, body_bytes: 0}, HttpServer.stats(server.pid)) end)
    end
  end

  test "other refusals do not wait" do
    server = serve(:listener)
    malformed = with_headers(modern_call("granted"), [{"authorization", "Bearer"}])

    for {request, wanted} <- [
          {modern_call("granted"), 401},
          {with_token(modern_call("granted"), @poor), 403},
          {malformed, 400},
          {good(), 200}
        ],
        _ <- 1..5,
        do: assert(status(server, request) == wanted)

    assert HttpServer.stats(server.pid).delayed == 0
  end
end
