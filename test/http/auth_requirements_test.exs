defmodule McpServer.HttpAuthRequirementsTest do
  # Requirements of MCP for a resource server beyond single tokens: the tags are the requirements. The other
  # requirements are in `auth_test.exs` and `auth_threats_test.exs`.
  use McpServer.HttpCase, async: true

  alias McpServer.Test.Issuer

  @metadata_path "/.well-known/oauth-protected-resource/mcp"

  defmodule Router do
    use McpServer.Router, name: "scoped", ttl: 60_000, cache_scope: :public, page_size: 1

    tool "read", "For all tokens", McpServer.Handlers, :echo
    tool "write", "With a scope", McpServer.Handlers, :echo, scopes: ["files:write"]
    tool "admin", "Hidden without a scope", McpServer.Handlers, :echo, scopes: ["admin"], listed: :granted
  end

  setup context do
    issuer = start_supervised!(Issuer)
    resource = context[:resource] || "http://localhost/mcp"
    auth = [resource: resource, issuer: Issuer.url(issuer), scopes: ["mcp:use", "files:read"]]
    server = if kind = context[:kind], do: HttpServers.start(kind, router: Router, auth: auth)
    {:ok, issuer: issuer, url: Issuer.url(issuer), server: server, auth: auth, resource: resource}
  end

  defp token(%{issuer: issuer, resource: resource}, options \\ []) do
    options = Keyword.merge([audience: resource, scopes: ["mcp:use", "files:read"]], options)
    [{"authorization", "Bearer " <> Issuer.token(issuer, options)}]
  end

  defp ask(server, request, headers) do
    {response, [message]} = HttpClient.exchange(server, with_headers(request, headers))
    {response.status, HttpResponse.header(response, "www-authenticate"), message}
  end

  defp error(message), do: %{"jsonrpc" => "2.0", "error" => %{"code" => -32600, "message" => message}}

  # A plug's metadata document is served by a second plug with the same options.
  defp document(%{server: %{kind: :listener} = server}) do
    response = HttpPeer.request(HttpPeer.connect(server.port), %{request("GET") | target: @metadata_path})
    HttpResponse.json(response)
  end

  defp document(%{auth: auth}), do: "the test" |> McpServer.Auth.Plan.new!(auth) |> McpServer.Auth.Plan.document()

  @tag req: ["R3", "R4", "R21"]
  on_both "every challenge and the document name the same scopes, and no more than the endpoint needs", context do
    %{server: server} = context
    tail = ~s(scope="mcp:use files:read", resource_metadata="http://localhost#{@metadata_path}")

    for request <- [modern_call("read"), modern("tools/list"), initialize()] do
      assert ask(server, request, []) == {401, "Bearer " <> tail, error("Unauthorized")}
      challenge = ~s(Bearer error="invalid_token", error_description="The access token has expired", ) <> tail
      assert ask(server, request, token(context, expires_in: -60)) == {401, challenge, error("Unauthorized")}
      challenge = ~s(Bearer error="insufficient_scope", ) <> tail
      assert ask(server, request, token(context, scopes: ["mcp:use"])) == {403, challenge, error("Forbidden")}
    end

    assert document(context)["scopes_supported"] == ["mcp:use", "files:read"]
  end

  @tag req: ["R12", "R21"]
  on_both "a token with fewer scopes goes on where these are enough, in both eras", %{server: server} = context do
    few = token(context)

    challenge =
      ~s(Bearer error="insufficient_scope", scope="mcp:use files:read files:write", ) <>
        ~s(resource_metadata="http://localhost#{@metadata_path}")

    session = HttpSession.open(server, "2025-11-25", headers: few)

    for call <- [&modern_call/1, &of_session(legacy_call(&1), session.id)] do
      assert {200, nil, _message} = ask(server, call.("read"), few)
      missing = error("Forbidden") |> put_in(["error", "data"], %{"requiredScopes" => ["files:write"]})
      assert ask(server, call.("write"), few) == {403, challenge, Map.put(missing, "id", 1)}
      wider = token(context, scopes: ["mcp:use", "files:read", "files:write"])
      assert {200, nil, _message} = ask(server, call.("write"), wider)
    end
  end

  @tag req: "R20"
  on_both "a list that is not the same for all is private on all of its pages, and hides nothing by that", context do
    %{server: server} = context

    page = fn cursor, token ->
      params = if cursor, do: %{"cursor" => cursor}, else: %{}
      {200, nil, %{"result" => result}} = ask(server, modern("tools/list", params), token)
      assert result["cacheScope"] == "private"
      {Enum.map(result["tools"], & &1["name"]), result["nextCursor"]}
    end

    few = token(context)
    admin = token(context, scopes: ["mcp:use", "files:read", "admin"])
    assert {["read"], cursor} = page.(nil, few)
    assert {["write"], nil} = page.(cursor, few)
    assert {["read"], first} = page.(nil, admin)
    assert {["write"], second} = page.(first, admin)
    assert {["admin"], nil} = page.(second, admin)
    # An entry of another client's list cannot be called.
    unknown = %{"code" => -32602, "message" => "Tool 'admin' not found"}
    assert ask(server, modern_call("admin"), few) == {200, nil, %{"jsonrpc" => "2.0", "id" => 1, "error" => unknown}}
    assert {200, nil, %{"result" => _echo}} = ask(server, modern_call("admin"), admin)
  end

  @tag req: "R16", resource: "HTTP://LOCALHOST/mcp"
  on_both "a resource in capital letters is the same for tokens, and stays as it is in the document", context do
    assert document(context)["resource"] == "HTTP://LOCALHOST/mcp"

    for audience <- ["HTTP://LOCALHOST/mcp", "http://localhost/mcp", "http://localhost:80/mcp/"] do
      assert {200, nil, _message} = ask(context.server, modern_call("read"), token(context, audience: audience))
    end

    other =
      ~s(Bearer error="invalid_token", error_description="The access token is for another resource", ) <>
        ~s(scope="mcp:use files:read", resource_metadata="HTTP://LOCALHOST#{@metadata_path}")

    assert ask(context.server, modern_call("read"), token(context, audience: "http://localhost/MCP")) ==
             {401, other, error("Unauthorized")}
  end

  @tag req: "R23"
  test "no server starts whose issuer or resource is asked without https, but on this machine", %{auth: auth} do
    for {changes, url} <- [
          {[issuer: "http://auth.example"], "http://auth.example"},
          {[resource: "http://mcp.example/mcp"], "http://mcp.example/mcp"},
          {[jwks_uri: "http://auth.example/keys"], "http://auth.example/keys"}
        ],
        auth = Keyword.merge(auth, changes),
        start <- [
          fn -> McpServer.HttpServer.start_link(router: Router, port: 0, auth: auth) end,
          fn -> McpServer.HttpPlug.init(router: Router, auth: auth) end,
          fn -> McpServer.HttpPlug.ResourceMetadata.init(auth: auth) end
        ] do
      error = assert_raise ArgumentError, start
      text = "auth: expected a URL with https, or http on loopback, without a fragment, got: #{inspect(url)}"
      assert Exception.message(error) == text
    end
  end
end
