defmodule McpServer.HttpRoutesTest do
  # The option `routes:` beside the MCP endpoint, on both servers.
  use McpServer.HttpCase, async: true

  import McpServer.DualResponses, only: [create!: 2, create!: 3, server: 0]

  alias McpServer.DualResponse.Rest
  alias McpServer.Http.Sink
  alias McpServer.RestServers
  alias McpServer.Test.Issuer

  defmodule Echo do
    # A route that needs no process. `child_spec/1` must name one nevertheless.
    @behaviour McpServer.Http.Route

    @impl true
    def init(word, site), do: {word, site.path}

    @impl true
    def child_spec(_state), do: %{id: :echo, start: {Agent, :start_link, [fn -> nil end]}}

    @impl true
    def call(sink, {word, path}) do
      head = Sink.head(sink)
      Sink.reply(sink, 200, [{"content-type", "text/plain"}], "#{word} #{path} #{head.method} #{head.target}")
    end
  end

  @routes [{"/echo", {Echo, "a"}}, {"/echo2", {Echo, "b"}}]

  both "each path has its module, and the rest is MCP's", [routes: @routes], %{server: server} do
    assert %{status: 200, body: "a /echo GET /echo/x?y=1"} = RestServers.ask(server, "GET", "/echo/x?y=1")
    assert %{status: 200, body: "b /echo2 POST /echo2"} = RestServers.ask(server, "POST", "/echo2", body: "x")
    assert RestServers.ask(server, "GET", "/echoes").status != 200
    assert HttpClient.text(HttpClient.call(server, "echo", %{"text" => "x"})) == "x"
  end

  test "stored results below a plug" do
    results = server()
    created = create!(results, 5)
    server = HttpServers.start(:plug, routes: [{"/results", {Rest, server: results}}])
    assert RestServers.ask(server, "POST", "/results/" <> created.resource_id).status == 200
    assert RestServers.ask(server, "GET", "/results/none").status == 404
  end

  @resource "http://localhost/mcp"
  @tail ~s(scope="mcp:use", resource_metadata="http://localhost/.well-known/oauth-protected-resource/mcp")

  @tag req: ["R7", "R9", "R10", "R11"]
  on_both "who may not call a tool may not fetch its results, and is told why", %{kind: kind} do
    issuer = start_supervised!(Issuer)
    auth = [resource: @resource, issuer: Issuer.url(issuer), scopes: ["mcp:use"]]
    results = server()
    ada = {Issuer.url(issuer), "ada", "client"}
    path = "/results/" <> create!(results, 5, subject: ada).resource_id
    server = HttpServers.start(kind, routes: [{"/results", {Rest, server: results}}], auth: auth)
    token = &Issuer.token(issuer, Keyword.merge([audience: @resource, scopes: ["mcp:use"]], &1))

    ask = fn headers ->
      response = RestServers.ask(server, "GET", path, headers: headers)
      {response.status, HttpResponse.header(response, "www-authenticate")}
    end

    bearer = &[{"authorization", "Bearer " <> &1}]
    assert ask.(bearer.(token.([]))) == {200, nil}
    assert ask.(bearer.(token.(subject: "bob"))) == {404, nil}
    assert ask.([]) == {401, "Bearer " <> @tail}

    assert ask.(bearer.(token.(audience: "http://localhost/other"))) ==
             {401,
              ~s(Bearer error="invalid_token", error_description="The access token is for another resource", ) <> @tail}

    assert ask.(bearer.(token.(scopes: []))) == {403, ~s(Bearer error="insufficient_scope", ) <> @tail}
    malformed = "A request has one access token, in the header Authorization"

    assert ask.(bearer.("a b")) ==
             {400, ~s(Bearer error="invalid_request", error_description="#{malformed}", ) <> @tail}
  end

  # Earlier, a result without an owner was open to clients without a token, also to delete it.
  on_both "anonymous: opens messages, and no stored results", %{kind: kind} do
    issuer = start_supervised!(Issuer)
    results = server()
    token = Issuer.token(issuer, audience: @resource, scopes: ["mcp:use"])

    for anonymous <- [:discovery, :all] do
      auth = [resource: @resource, issuer: Issuer.url(issuer), scopes: ["mcp:use"], anonymous: anonymous]
      server = HttpServers.start(kind, routes: [{"/results", {Rest, server: results}}], auth: auth)
      path = "/results/" <> create!(results, 5).resource_id

      for method <- ["GET", "POST", "PUT", "DELETE"] do
        response = RestServers.ask(server, method, path)
        assert {response.status, HttpResponse.header(response, "www-authenticate")} == {401, "Bearer " <> @tail}
        assert RestServers.ask(server, method, "/results/none").status == 401
      end

      assert RestServers.ask(server, "GET", path, headers: [{"authorization", "Bearer " <> token}]).status == 200
    end
  end
end
