defmodule McpServer.HttpRestCorsTest do
  # Requests for stored results that pages of an allowed origin may send, and responses they may read, on both servers.
  use McpServer.HttpCase, async: true

  import McpServer.DualResponses, only: [create!: 2, server: 0]
  import McpServer.RestServers, only: [rest: 3]

  alias McpServer.RestServers

  @page "https://app.example.com"
  @exposed %{
    "access-control-allow-origin" => @page,
    "vary" => "Origin",
    "access-control-expose-headers" => "WWW-Authenticate, Retry-After, X-Total-Count, DPoP-Nonce"
  }
  @preflight %{
    "access-control-allow-methods" => "GET, POST, PUT, DELETE",
    "access-control-allow-headers" =>
      "authorization, content-type, accept, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name, last-event-id, dpop",
    "access-control-max-age" => "600"
  }

  rest "a page of an allowed origin reads every answer", %{kind: kind} do
    results = server()
    http = RestServers.start(kind, results, allowed_origins: [@page])
    path = "/resources/" <> create!(results, 3).resource_id

    for {method, path, headers, status} <- [
          {"GET", path, [], 200},
          {"POST", path, [], 200},
          {"POST", path, [{"accept", "application/x-ndjson"}], 200},
          {"POST", path, [{"accept", "text/csv"}], 200},
          {"POST", path, [{"accept", "text/html"}], 406},
          {"PUT", path, [], 200},
          {"PATCH", path, [], 405},
          {"GET", "/resources/none", [], 404},
          {"DELETE", path, [], 204}
        ] do
      response = RestServers.ask(http, method, path, headers: [{"origin", @page} | headers])
      assert {method, headers, response.status, cors(response)} == {method, headers, status, @exposed}
    end
  end

  rest "a preflight tells what may be sent, and no id from another", %{kind: kind} do
    results = server()
    http = RestServers.start(kind, results, allowed_origins: [@page])
    ask = [{"access-control-request-method", "PUT"}]

    for path <- ["/resources/" <> create!(results, 3).resource_id, "/resources/none"] do
      response = RestServers.ask(http, "OPTIONS", path, headers: [{"origin", @page} | ask])
      assert {response.status, response.body, cors(response)} == {204, "", Map.merge(@exposed, @preflight)}
    end

    for {origin, status} <- [{"https://evil.example", 403}, {"http://localhost:3000", 405}] do
      response = RestServers.ask(http, "OPTIONS", "/resources/none", headers: [{"origin", origin} | ask])
      assert {origin, response.status, cors(response)} == {origin, status, %{}}
    end
  end
end
