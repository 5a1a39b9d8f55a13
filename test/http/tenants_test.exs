defmodule McpServer.HttpTenantsTest do
  # `issuers:` of `auth:`: a function returns the issuers of tenants, on both servers.
  use McpServer.HttpCase, async: true

  alias McpServer.Auth.Issuer, as: Keys
  alias McpServer.HttpRouter
  alias McpServer.Test.Issuer

  @resource "http://localhost/mcp"
  @tail ~s(scope="mcp:use", resource_metadata="http://localhost/.well-known/oauth-protected-resource/mcp")

  setup context do
    issuers = for name <- [:own, :one, :two], into: %{}, do: {name, start_supervised!(Issuer, id: name)}
    urls = Map.new(issuers, fn {name, issuer} -> {name, Issuer.url(issuer)} end)
    test = self()
    one = urls.one

    tenants = fn issuer ->
      send(test, {:asked, issuer})
      if issuer == one, do: {:ok, scope_claims: ["roles"]}, else: :error
    end

    server = if kind = context[:kind], do: serve(kind, issuer: urls.own, issuers: tenants)
    {:ok, issuers: issuers, urls: urls, server: server, tenants: tenants}
  end

  defp serve(kind, auth) do
    HttpServers.start(kind, router: HttpRouter, auth: [resource: @resource, scopes: ["mcp:use"]] ++ auth)
  end

  defp ask(server, token) do
    {response, [message]} =
      HttpClient.exchange(server, with_headers(modern_call("granted"), [{"authorization", "Bearer " <> token}]))

    {response.status, HttpResponse.header(response, "www-authenticate"), message}
  end

  defp token(issuer, options \\ []),
    do: Issuer.token(issuer, Keyword.merge([audience: @resource, scopes: ["mcp:use"]], options))

  defp refused(text), do: ~s(Bearer error="invalid_token", error_description="#{text}", #{@tail})

  @tag req: ["R8", "T17"]
  on_both "a token chooses by its issuer, and none is asked that nobody knows", %{issuers: issuers} = context do
    %{server: server, urls: urls} = context
    assert {200, nil, message} = ask(server, token(issuers.own))
    assert HttpClient.text(message) == inspect({{urls.own, "ada", "client"}, "ada", ["mcp:use"]})
    refute_received {:asked, _issuer}

    # This tenant's scopes are in another claim.
    roles = %{"roles" => ["mcp:use", "admin"]}
    assert {200, nil, message} = ask(server, token(issuers.one, claims: roles))
    assert HttpClient.text(message) == inspect({{urls.one, "ada", "client"}, "ada", ["mcp:use", "admin"]})
    forbidden = %{"jsonrpc" => "2.0", "error" => %{"code" => -32600, "message" => "Forbidden"}}
    assert ask(server, token(issuers.one)) == {403, ~s(Bearer error="insufficient_scope", #{@tail}), forbidden}
    assert_received {:asked, asked}
    assert asked == urls.one
    refute_received {:asked, _issuer}

    unauthorized = %{"jsonrpc" => "2.0", "error" => %{"code" => -32600, "message" => "Unauthorized"}}
    unknown = refused("The issuer of the access token is not known")
    assert ask(server, token(issuers.two)) == {401, unknown, unauthorized}
    assert Issuer.fetches(issuers.two) == 0

    # An issuer cannot sign for another issuer, even if their keys have the same ids.
    wrong = refused("The signature of the access token is wrong")
    assert ask(server, token(issuers.one, claims: %{"iss" => urls.own})) == {401, wrong, unauthorized}
  end

  # Earlier, an issuer that hung could hold all hooks of the server, and no token was checked.
  on_both "that hangs holds at most a quarter of the hooks", %{kind: kind, urls: urls, issuers: issuers} do
    hanging = urls.one
    auth = [resource: @resource, scopes: ["mcp:use"], issuer: [urls.own, hanging], timeout: 60_000, wait: 60_000]
    server = HttpServers.start(kind, router: HttpRouter, auth: auth, http: [max_hooks: 8])
    :ok = Issuer.stall(issuers.one)
    token = token(issuers.one)
    for _waiting <- 1..2, do: start_supervised!({Task, fn -> ask(server, token) end}, id: make_ref())

    eventually(fn ->
      keys = Registry.select(McpServer.Http.Registry, [{{{Keys, hanging, :_}, :"$1", :_}, [], [:"$1"]}])
      for(process <- keys, do: length(:sys.get_state(process).waiting)) == [2]
    end)

    unavailable = %{"jsonrpc" => "2.0", "error" => %{"code" => -32603, "message" => "The token cannot be checked now"}}
    assert ask(server, token) == {503, nil, unavailable}
    assert {200, nil, _message} = ask(server, token(issuers.own))
    :ok = Keys.forget_url(hanging)
  end

  @tag req: ["T17", "T40"]
  on_both "what is no URL is unknown, whatever the function would say", %{kind: kind, urls: urls, issuers: issuers} do
    me = self()

    hook = fn issuer ->
      send(me, {:asked, issuer})
      {:ok, []}
    end

    server = serve(kind, issuer: urls.own, issuers: hook)
    unauthorized = %{"jsonrpc" => "2.0", "error" => %{"code" => -32600, "message" => "Unauthorized"}}
    unknown = refused("The issuer of the access token is not known")

    for issuer <- [
          "file:///etc/passwd",
          urls.one <> "/t HTTP/1.1\r\nX-Injected: 1\r\nX: ",
          urls.one <> "/a b",
          urls.one <> "/é",
          "https://user@login.example",
          "https://login.example/#fragment"
        ] do
      assert {issuer, ask(server, token(issuers.one, claims: %{"iss" => issuer}))} ==
               {issuer, {401, unknown, unauthorized}}
    end

    assert Issuer.fetches(issuers.one) == 0
    refute_received {:asked, _issuer}
  end

  test "at most 100 are kept, and of a plan that has gone none" do
    keys = [%{"kty" => "OKP", "crv" => "Ed25519", "x" => "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]
    known = fn _issuer -> {:ok, keys: keys} end
    auth = [resource: @resource, issuers: known, metadata: %{authorization_servers: ["https://login.example"]}]
    plan = McpServer.Auth.Plan.new!("the test", auth)
    assert McpServer.Auth.Plan.document(plan)["authorization_servers"] == ["https://login.example"]
    mine = fn -> Enum.count(:ets.tab2list(McpServer.Auth.Tenants), &match?({{id, _}, _, _} when id == plan.id, &1)) end

    for n <- 1..101,
        do: assert({:ok, {_policy, {:fixed, _keys}}} = McpServer.Auth.Tenants.fetch(plan, "https://#{n}.example"))

    assert mine.() == 100
    McpServer.Auth.Tenants.clear(plan)
    assert mine.() == 0
  end

  test "the options are checked" do
    known = fn _issuer -> :error end

    for {auth, text} <- [
          {[issuers: known], "auth: issuers: needs issuer:, or metadata:"},
          {[issuers: :nobody, issuer: "https://auth.example"], "a function of one argument or {module, function}"}
        ] do
      error = assert_raise ArgumentError, fn -> McpServer.Auth.Plan.new!("the test", [resource: @resource] ++ auth) end

      assert Exception.message(error) =~ text
    end
  end
end
