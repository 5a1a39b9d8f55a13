defmodule McpServer.AuthTest do
  # `scopes:` of a router's entries: the required scopes, and the responses to clients without them.
  use McpServer.HttpCase, async: true

  alias McpServer.Test.Issuer

  doctest McpServer.Auth
  doctest McpServer.Auth.Discovery
  doctest McpServer.Auth.Scopes

  defmodule Handlers do
    use McpServer.Controller

    def run(_conn, _arguments), do: {:ok, "done"}
    def get(_conn, _arguments), do: [McpServer.Controller.message("user", "Hello")]
    def read(_conn, _variables), do: content("r", "scoped://r", text: "r")
    def never(_conn, _arguments), do: {:error, :forbidden}
  end

  defmodule Router do
    use McpServer.Router, name: "scoped"

    tool "open", "For all", Handlers, :run
    tool "write", "For writers", Handlers, :run, scopes: ["files:write", "files:read"]
    tool "hidden", "Only shown to admins", Handlers, :run, scopes: ["admin"], listed: :granted
    tool "both", "For no writer", Handlers, :run, scopes: ["files:write"], authorize: &Handlers.never/2

    prompt "write", "For writers", scopes: ["files:write"] do
      get Handlers, :get
    end

    resource "write", "scoped://r", scopes: ["files:write"] do
      read Handlers, :read
    end

    resource "template", "scoped://t/{id}", scopes: ["files:write"] do
      read Handlers, :read
    end
  end

  use McpServer.Test, router: Router

  @resource "http://localhost/mcp"
  @metadata_url "http://localhost/.well-known/oauth-protected-resource/mcp"

  defp serve(kind) do
    issuer = start_supervised!(Issuer)

    auth = [
      resource: @resource,
      issuer: Issuer.url(issuer),
      scopes: ["mcp:use"],
      implies: %{"files:write" => ["files:read"]}
    ]

    {HttpServers.start(kind, router: Router, auth: auth),
     &Issuer.token(issuer, audience: @resource, scopes: ["mcp:use" | &1])}
  end

  defp needing do
    [
      modern_call("write"),
      modern("prompts/get", %{"name" => "write"}),
      modern("resources/read", %{"uri" => "scoped://r"}),
      modern("resources/read", %{"uri" => "scoped://t/1"})
    ]
  end

  @tag req: ["R11", "R12", "R13"]
  on_both "without a scope: 403 with all scopes of endpoint and entry, before anything else", %{kind: kind} do
    {server, token} = serve(kind)

    for request <- needing() do
      {response, [message]} = HttpClient.exchange(server, as(request, token.(["files:read"])))
      own = message["error"]["data"]["requiredScopes"]
      assert "files:write" in own
      assert response.status == 403
      assert message["id"] == 1

      assert HttpResponse.header(response, "www-authenticate") ==
               ~s(Bearer error="insufficient_scope", scope="#{Enum.join(["mcp:use" | own], " ")}", resource_metadata="#{@metadata_url}")

      {response, [_message]} = HttpClient.exchange(server, as(request, token.(["files:write"])))
      assert response.status == 200
    end
  end

  @tag req: ["R11", "G5"]
  on_both "a wider token goes on in the same session", %{kind: kind} do
    {server, token} = serve(kind)
    session = HttpSession.open(server, "2025-11-25", headers: [{"authorization", "Bearer " <> token.([])}])
    call = "write" |> legacy_call() |> of_session(session.id)
    assert {%{status: 403}, _messages} = HttpClient.exchange(server, as(call, token.([])))
    assert {%{status: 200}, [message]} = HttpClient.exchange(server, as(call, token.(["files:write"])))
    assert HttpClient.text(message) == "done"
  end

  @tag req: "T43"
  on_both "what is hidden is not listed, and as unknown as what does not exist", %{kind: kind} do
    {server, token} = serve(kind)

    names = fn scopes ->
      {_response, [message]} = HttpClient.exchange(server, as(modern("tools/list"), token.(scopes)))
      for tool <- message["result"]["tools"], do: tool["name"]
    end

    assert names.([]) == ["open", "write", "both"]
    assert names.(["admin"]) == ["open", "write", "hidden", "both"]

    [hidden, unknown] =
      for name <- ["hidden", "nothere"] do
        {response, [message]} = HttpClient.exchange(server, as(modern_call(name), token.([])))
        {response.status, message["error"]["code"], String.replace(message["error"]["message"], name, "it")}
      end

    assert hidden == unknown
    assert {%{status: 200}, _messages} = HttpClient.exchange(server, as(modern_call("hidden"), token.(["admin"])))
  end

  test "a hook that returns no grant grants nothing" do
    server = HttpServers.start(:listener, router: Router, identify: fn _request -> {:ok, "ada"} end)
    assert {%{status: 403}, _messages} = HttpClient.exchange(server, modern_call("write"))
    assert {%{status: 200}, _messages} = HttpClient.exchange(server, modern_call("open"))
  end

  test "a server that takes no tokens does not start" do
    text = ~r/McpServer.AuthTest.Router has `scopes:`, which only a token grants/
    # `init:` cannot grant scopes.
    for options <- [[], [init: fn _request -> %McpServer.Conn{} end]] do
      assert_raise ArgumentError, text, fn -> McpServer.HttpServer.start_link([router: Router, port: 0] ++ options) end
    end

    assert_raise ArgumentError, text, fn ->
      McpServer.Http.Mount.ensure(make_ref(), fn ->
        McpServer.Options.check!("the test", McpServer.ServerOptions.http_plug(), router: Router)
      end)
    end
  end

  test "scopes are asked before authorize" do
    assert {:error, %{"data" => %{"requiredScopes" => ["files:write"]}}} = call_tool("both", %{}, auth: [scopes: []])
    assert {:error, %{"message" => "Forbidden"} = error} = call_tool("both", %{}, auth: [scopes: ["files:write"]])
    refute is_map_key(error, "data")
  end

  @tag req: "R22"
  test "over stdio there are no tokens, and nothing is asked" do
    assert {:ok, %{"content" => [%{"text" => "done"}]}} = call_tool("write")

    assert {:error, %{"data" => %{"requiredScopes" => ["files:write", "files:read"]}}} =
             call_tool("write", %{}, auth: [subject: "ada"])
  end

  test "scopes that are none are compile errors" do
    for scopes <- ["files:write", [], ["two words"], [:write], [""]] do
      text = "scopes: #{inspect(scopes)}"

      assert_raise CompileError, ~r/must be a list of scopes without spaces/, fn ->
        Code.compile_string("""
        defmodule McpServer.AuthTest.Wrong#{System.unique_integer([:positive])} do
          use McpServer.Router
          tool "run", "Runs", McpServer.AuthTest.Handlers, :run, #{text}
        end
        """)
      end
    end
  end
end
