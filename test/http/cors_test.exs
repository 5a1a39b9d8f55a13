defmodule McpServer.Http.CorsTest do
  # Requests that pages of an allowed origin may send, and responses they may read: on both servers, in both eras.
  use McpServer.HttpCase, async: true

  @page "https://app.example.com"
  @origins [allowed_origins: [@page]]
  @exposed %{
    "access-control-allow-origin" => @page,
    "vary" => "Origin",
    "access-control-expose-headers" => "WWW-Authenticate, Mcp-Session-Id, Retry-After, DPoP-Nonce"
  }
  @preflight %{
    "access-control-allow-methods" => "POST, GET, DELETE",
    "access-control-allow-headers" =>
      "authorization, content-type, accept, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name, last-event-id, dpop",
    "access-control-max-age" => "600"
  }

  @doc false
  def nobody(_request), do: {:error, :unauthorized}

  defp from(request, origin), do: with_headers(request, [{"origin", origin}])
  defp exchange(server, request, origin), do: elem(HttpClient.exchange(server, from(request, origin)), 0)

  defp preflight(target \\ "/mcp", method \\ "POST"),
    do: %{request("OPTIONS", [{"access-control-request-method", method}]) | target: target}

  both "a preflight of an allowed origin", @origins, %{server: server} do
    for method <- ["POST", "GET", "DELETE"] do
      response = exchange(server, preflight("/mcp", method), @page)
      assert {response.status, response.body, cors(response)} == {204, "", Map.merge(@exposed, @preflight)}
    end
  end

  both "a preflight that names headers of a tool's arguments", @origins, %{server: server} do
    requested = "content-type,Mcp-Param-Region,mcp-param-zone,x-other,mcp-param-,mcp-param-a b"
    preflight = with_headers(preflight(), [{"access-control-request-headers", requested}])
    response = exchange(server, preflight, @page)
    names = @preflight["access-control-allow-headers"] <> ", mcp-param-region, mcp-param-zone"
    allowed = %{@preflight | "access-control-allow-headers" => names}
    assert {response.status, response.body, cors(response)} == {204, "", Map.merge(@exposed, allowed)}

    # The page then sends what was allowed.
    call = modern_call("route", %{"region" => "eu"}, headers: [{"mcp-param-region", "eu"}])
    assert {200, @exposed} == (fn response -> {response.status, cors(response)} end).(exchange(server, call, @page))
  end

  both "everybody else's: refused, or without a word about origins", @origins, %{server: server} do
    # Loopback and the host itself may send requests, but `allowed_origins:` does not name them.
    for {origin, status} <- [{"https://evil.example", 403}, {"http://localhost:3000", 405}, {"null", 403}] do
      response = exchange(server, preflight(), origin)
      assert {origin, response.status, cors(response)} == {origin, status, %{}}
    end

    {response, _messages} = HttpClient.exchange(server, preflight())
    assert {response.status, cors(response)} == {405, %{}}
    response = exchange(server, request("OPTIONS"), @page)
    assert {response.status, cors(response)} == {405, @exposed}
  end

  both "every answer can be read: results, streams, refusals", @origins, %{server: server} do
    {opened, [_message]} = HttpClient.exchange(server, from(initialize(), @page))
    assert {opened.status, cors(opened)} == {200, @exposed}
    id = HttpResponse.header(opened, "mcp-session-id")
    initialized = legacy("notifications/initialized", %{}, id: nil)

    for {request, status} <- [
          {of_session(initialized, id), 202},
          {of_session(legacy("tools/list"), id), 200},
          {of_session(legacy_call("echo", %{"text" => "a"}), id), 200},
          {modern("tools/list"), 200},
          {modern("server/discover"), 200},
          {modern_call("echo", %{"text" => "a"}), 200},
          {modern_call("none"), 200},
          {of_session(legacy("tools/list"), "none"), 404},
          {post("{}", [{"content-type", "text/plain"}]), 415},
          {post("{}", [{"accept", "text/html"}]), 406},
          {request("PUT"), 405},
          {of_session(delete(), id), 204}
        ] do
      response = exchange(server, request, @page)

      assert {request.method, request.body, response.status, cors(response)} ==
               {request.method, request.body, status, @exposed}
    end
  end

  both "a stream, too", [http: [stream_after: 20]] ++ @origins, %{server: server} do
    {peer, %{status: 200, body: :stream} = response} =
      HttpClient.open(server, from(modern_call("perform", HttpScript.arguments()), @page))

    assert cors(response) == @exposed
    {call, _conn} = HttpScript.performing()
    HttpScript.tell(call, {:answer, "done"})
    assert [_message] = HttpClient.messages(peer, response)
  end

  both "a challenge, and the metadata it names",
       [
         identify: &__MODULE__.nobody/1,
         resource_metadata: %{
           resource: "https://mcp.example.com/mcp",
           authorization_servers: ["https://login.example.com"]
         },
         allowed_origins: [@page]
       ],
       %{server: server} do
    response = exchange(server, modern("tools/list"), @page)
    assert {response.status, cors(response)} == {401, @exposed}

    assert HttpResponse.header(response, "www-authenticate") ==
             ~s(Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp")

    well_known = %{request("GET") | target: "/.well-known/oauth-protected-resource/mcp"}

    if server.kind == :listener do
      # The document is public: any page may read it.
      public = %{"access-control-allow-origin" => "*"}
      preflight = Map.put(@preflight, "access-control-allow-methods", "GET")

      for page <- [@page, "https://other.example.com"] do
        {_peer, response} = HttpClient.open(server, from(well_known, page))
        assert {response.status, cors(response)} == {200, public}
        response = exchange(server, preflight(well_known.target, "GET"), page)
        assert {response.status, cors(response)} == {204, Map.merge(public, preflight)}
      end
    end
  end

  test "on a connection that goes on, the next request is judged by its own origin" do
    server = HttpServers.start(:listener, [router: McpServer.HttpRouter] ++ @origins)
    peer = HttpPeer.connect(server.port)

    for {origin, expected} <- [{@page, @exposed}, {nil, %{}}, {@page, @exposed}, {"http://localhost:1", %{}}],
        request <- [modern_call("echo", %{"text" => "a"}), modern("tools/list")] do
      request = if origin, do: from(request, origin), else: request
      :ok = HttpPeer.send_request(peer, request)
      response = HttpPeer.response(peer)
      assert {origin, response.status, cors(response)} == {origin, 200, expected}
    end
  end

  test "without allowed_origins there is nothing to read" do
    for kind <- [:listener, :plug] do
      response = kind |> HttpServers.start() |> exchange(modern("tools/list"), "http://localhost:3000")
      assert {response.status, cors(response)} == {200, %{}}
    end
  end
end
