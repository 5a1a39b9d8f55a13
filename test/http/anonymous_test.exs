defmodule McpServer.HttpAnonymousTest do
  # `anonymous:` of `auth:`: access without a token, on both servers.
  use McpServer.HttpCase, async: true

  alias McpServer.Test.Issuer

  @resource "http://localhost/mcp"
  @challenge ~s(Bearer scope="mcp:use", resource_metadata="http://localhost/.well-known/oauth-protected-resource/mcp")

  defmodule Handlers do
    use McpServer.Controller

    def who(conn, _arguments), do: {:ok, [text(inspect({conn.principal, conn.auth && conn.auth.scopes}))]}
    def read(conn, _variables), do: {:ok, [content("a", "docs://manual", text: inspect(conn.principal))]}
    def nobody?(_conn), do: false
  end

  defmodule Router do
    use McpServer.Router, name: "partly-public", scopes: ["read"]

    tool "public", "For everybody", Handlers, :who, scopes: :public
    tool "token", "For every token", Handlers, :who, scopes: []
    tool "default", "With the router's scope", Handlers, :who
    tool "own", "With its own scope", Handlers, :who, scopes: ["write"]
    tool "unlisted", "Hidden without the router's scope", Handlers, :who, listed: :granted
    tool "hidden", "For nobody", Handlers, :who, scopes: :public, visible: {Handlers, :nobody?}

    resource "manual", "docs://manual", scopes: :public do
      read Handlers, :read
    end

    resource "secret", "docs://secret" do
      read Handlers, :read
    end
  end

  defmodule Outer do
    use McpServer.Router, name: "outer", scopes: ["outer"], lint: false

    include Router, prefix: "in_"
    include McpServer.HttpRouter, prefix: "http_"
  end

  defmodule Hiding do
    use McpServer.Router, name: "hiding", scopes: ["read"]

    tool "perform", "Does what the test says", McpServer.HttpRouter.Handlers, :perform,
      scopes: :public,
      input_schema: %{"type" => "object"}

    tool "hidden", "For nobody", Handlers, :who, scopes: :public, visible: {Handlers, :nobody?}
    tool "tokens", "For tokens", Handlers, :who

    resource "hidden", "docs://hidden", scopes: :public, visible: {Handlers, :nobody?} do
      read Handlers, :read
    end

    resource "tokens", "docs://tokens/{id}" do
      read Handlers, :read
    end
  end

  defmodule Adding do
    use McpServer.Router, name: "adding"

    tool "public", "For everybody", Handlers, :who, scopes: :public
    tool "hidden", "For nobody", Handlers, :who, scopes: :public, visible: {Handlers, :nobody?}
  end

  setup do
    issuer = start_supervised!(Issuer)
    {:ok, issuer: issuer, url: Issuer.url(issuer)}
  end

  defp serve(%{kind: kind, url: url}, anonymous, router \\ Router, options \\ []) do
    auth = [resource: @resource, issuer: url, scopes: ["mcp:use"], anonymous: anonymous]
    HttpServers.start(kind, [router: router, auth: auth] ++ options)
  end

  defp token(%{issuer: issuer}, scopes),
    do: [{"authorization", "Bearer " <> Issuer.token(issuer, audience: @resource, scopes: ["mcp:use" | scopes])}]

  defp ask(server, request, headers \\ []) do
    {response, messages} = HttpClient.exchange(server, with_headers(request, headers))
    {response.status, HttpResponse.header(response, "www-authenticate"), List.first(messages)}
  end

  defp session(server, request, headers \\ []) do
    session = HttpSession.open(server, "2025-11-25", headers: headers)
    ask(server, of_session(request, session.id), headers)
  end

  defp assert_token_needed({status, challenge, message}) do
    assert {status, challenge} == {401, @challenge}
    assert message == %{"jsonrpc" => "2.0", "error" => %{"code" => -32600, "message" => "Unauthorized"}}
  end

  defp names({200, nil, %{"result" => %{"tools" => tools}}}), do: Enum.map(tools, & &1["name"])

  # Some of these calls have begun: while they wait, they would keep places of `:max_calls`.
  test "answers to clients without a token do not wait", %{url: url} do
    auth = [resource: @resource, issuer: url, scopes: ["mcp:use"], anonymous: :all]
    server = HttpServers.start(:listener, router: Router, auth: auth, http: [max_invalid_tokens: 1])

    for name <- ["hidden", "absent", "token"], _ <- 1..3, do: assert_token_needed(ask(server, modern_call(name)))
    assert McpServer.HttpServer.stats(server.pid).delayed == 0
  end

  describe "anonymous: :discovery" do
    @tag req: ["R6", "R3"]
    on_both "opens sessions and lists, and nothing else", context do
      server = serve(context, :discovery)
      listed = ["public", "token", "default", "own"]

      assert {200, nil, %{"result" => %{"serverInfo" => _info}}} = ask(server, initialize())
      assert names(session(server, legacy("tools/list"))) == listed
      assert names(ask(server, modern("tools/list"))) == listed
      assert {200, nil, %{"result" => _found}} = ask(server, modern("server/discover"))
      assert {200, nil, %{"result" => %{"resources" => [_, _]}}} = ask(server, modern("resources/list"))
      assert {200, nil, %{"result" => %{}}} = session(server, legacy("ping"))

      for name <- ["public", "default", "hidden", "unknown"] do
        assert_token_needed(ask(server, modern_call(name)))
        assert_token_needed(session(server, legacy_call(name)))
      end

      assert_token_needed(ask(server, modern("resources/read", %{"uri" => "docs://manual"})))
      assert_token_needed(ask(server, modern("subscriptions/listen", %{"notifications" => %{}})))
    end
  end

  describe "anonymous: :all" do
    @tag req: ["R6", "R10"]
    on_both "also uses what is public", context do
      server = serve(context, :all)

      assert {200, nil, message} = ask(server, modern_call("public"))
      assert HttpClient.text(message) == "{nil, nil}"
      assert {200, nil, message} = session(server, legacy_call("public"))
      assert HttpClient.text(message) == "{nil, nil}"
      assert {200, nil, message} = ask(server, modern("resources/read", %{"uri" => "docs://manual"}))
      assert %{"result" => %{"contents" => [%{"text" => "nil"}]}} = message

      for name <- ["token", "default", "own", "unlisted", "hidden", "unknown"] do
        assert_token_needed(ask(server, modern_call(name, %{"undeclared" => 1})))
        assert_token_needed(session(server, legacy_call(name)))
      end

      assert_token_needed(ask(server, modern("resources/read", %{"uri" => "docs://secret"})))
      assert_token_needed(session(server, legacy("resources/subscribe", %{"uri" => "docs://manual"})))
    end

    # Earlier, a malformed request for a hidden entry got 400, and without a free place one got 503.
    on_both "asks for a token for every name that is not public, whatever else is wrong", context do
      tools = ["hidden", "absent", "tokens"]
      uris = ["docs://hidden", "docs://absent", "docs://tokens/1"]

      requests = fn tool, uri ->
        for params <- [
              %{},
              %{"arguments" => 1},
              %{"arguments" => %{"more" => 1}},
              %{"_meta" => %{"progressToken" => []}}
            ] do
          [
            {legacy("tools/call", Map.put(params, "name", tool)), tool},
            {legacy("resources/read", Map.put(params, "uri", uri)), uri},
            {modern("tools/call", Map.merge(%{"name" => tool}, Map.delete(params, "_meta"))), tool}
          ]
        end
      end

      asked = fn server ->
        session = HttpSession.open(server, "2025-11-25")

        for {tool, uri} <- Enum.zip(tools, uris) do
          for {request, _name} <- List.flatten(requests.(tool, uri)) do
            request =
              if request.headers |> List.keymember?("mcp-session-id", 0),
                do: of_session(request, session.id),
                else: request

            {status, challenge, _message} = ask(server, request)
            {status, challenge}
          end
        end
      end

      for statuses <- asked.(serve(context, :all, Hiding)), status <- statuses, do: assert(status == {401, @challenge})

      # All places are taken, so nothing can be asked. No earlier request keeps one for a moment.
      server = serve(context, :all, Hiding, http: [max_calls: 1])

      calls =
        for n <- 1..System.schedulers_online() do
          HttpClient.start(server, modern_call("perform", HttpScript.arguments(n)))
          n |> HttpScript.performing() |> elem(0)
        end

      [hidden, absent, tokens] = asked.(server)
      assert {hidden, hidden} == {absent, tokens}
      assert hidden |> Enum.map(&elem(&1, 0)) |> Enum.uniq() |> Enum.sort() == [429, 503]
      for call <- calls, do: HttpScript.tell(call, {:answer, "done"})
    end

    # Earlier, a public tool that is hidden opened all run-time tools to clients without a token.
    on_both "keeps the tools of the run time for tokens", context do
      for {name, options} <- [
            {"added", []},
            {"added public", [scopes: :public]},
            {"added task", [task_support: :optional]}
          ] do
        name = String.replace(name, " ", "_")
        :ok = McpServer.Tools.put(Adding, [name: name, description: "Added"] ++ options, {Handlers, :who})
      end

      server = serve(context, :all, Adding)

      for name <- ["added", "added_public", "added_task", "absent", "hidden"], params <- [%{}, %{"more" => 1}] do
        assert_token_needed(ask(server, modern_call(name, params)))
        assert_token_needed(session(server, legacy_call(name, params)))
      end

      assert {200, nil, message} = ask(server, modern_call("public"))
      assert HttpClient.text(message) == "{nil, nil}"
      assert {200, nil, message} = ask(server, modern_call("added"), token(context, []))
      assert HttpClient.text(message) =~ ~s(["mcp:use"])
    end

    @tag req: "R6"
    on_both "asks for a token if one message of a batch needs one", context do
      server = serve(context, :all)
      session = HttpSession.open(server, "2025-03-26")
      call = &message("tools/call", %{"name" => &1}, id: &2)

      batch = fn names ->
        names |> Enum.with_index(1) |> Enum.map(fn {name, id} -> call.(name, id) end) |> McpServer.JSON.encode!()
      end

      ask = fn names -> ask(server, names |> batch.() |> in_session() |> of_session(session.id)) end
      assert_token_needed(ask.(["public", "default"]))
      assert {200, nil, _answers} = ask.(["public", "public"])
    end

    @tag req: ["R9", "T32"]
    on_both "takes no bad token, and no session changes hands", context do
      server = serve(context, :all)
      good = token(context, ["read"])
      unauthorized = %{"jsonrpc" => "2.0", "error" => %{"code" => -32600, "message" => "Unauthorized"}}
      malformed = ~s(error="invalid_token", error_description="The access token is malformed", )
      challenge = String.replace(@challenge, "Bearer ", "Bearer " <> malformed)
      assert ask(server, modern_call("public"), bearer("bad")) == {401, challenge, unauthorized}

      call = legacy_call("public")
      anonymous = HttpSession.open(server, "2025-11-25")
      owned = HttpSession.open(server, "2025-11-25", headers: good)
      error = %{"jsonrpc" => "2.0", "error" => %{"code" => -32600, "message" => "Session not found"}}
      assert ask(server, of_session(call, anonymous.id), good) == {404, nil, error}
      assert ask(server, of_session(call, owned.id)) == {404, nil, error}
      assert {200, nil, _message} = ask(server, of_session(call, anonymous.id))
      assert {200, nil, _message} = ask(server, of_session(call, owned.id), good)
    end
  end

  describe "scopes of a router" do
    @tag req: ["R11", "R12"]
    on_both "are those of its entries that have none of their own", context do
      server = serve(context, false)
      metadata = ~s(, resource_metadata="http://localhost/.well-known/oauth-protected-resource/mcp")
      refused = fn scopes -> ~s(Bearer error="insufficient_scope", scope="#{scopes}") <> metadata end

      assert_token_needed(ask(server, modern_call("public")))

      for {name, scopes, needed} <- [
            {"public", [], nil},
            {"token", [], nil},
            {"default", [], "mcp:use read"},
            {"default", ["read"], nil},
            {"own", ["read"], "mcp:use write"},
            {"own", ["write"], nil},
            {"unlisted", ["read"], nil}
          ] do
        {status, challenge, message} = ask(server, modern_call(name), token(context, scopes))
        assert {name, status, challenge} == {name, if(needed, do: 403, else: 200), needed && refused.(needed)}
        missing = needed && [needed |> String.split() |> List.last()]
        forbidden = %{"code" => -32600, "message" => "Forbidden", "data" => %{"requiredScopes" => missing}}
        assert {name, message["error"]} == {name, needed && forbidden}
      end

      assert names(ask(server, modern("tools/list"), token(context, ["read"]))) ==
               ["public", "token", "default", "own", "unlisted"]
    end

    on_both "are those of what it includes, if that says nothing of scopes", context do
      server = serve(context, :all, Outer)
      assert {200, nil, _message} = ask(server, modern_call("in_public"))
      assert {200, nil, _message} = ask(server, modern_call("in_default"), token(context, ["read"]))
      assert {403, _challenge, _message} = ask(server, modern_call("in_default"), token(context, ["outer"]))
      assert {403, _challenge, _message} = ask(server, modern_call("http_whoami"), token(context, ["read"]))
      assert {200, nil, _message} = ask(server, modern_call("http_whoami"), token(context, ["outer"]))
    end

    test "are a list" do
      for {options, text} <- [
            {"scopes: :public",
             "scopes of `use McpServer.Router` must be a list of scopes without spaces and without \"offline_access\", got: :public"},
            {"scopes: []", "without spaces and without \"offline_access\", got: []"},
            {~S(scopes: ["offline_access"]), "without \"offline_access\", got: [\"offline_access\"]"}
          ] do
        code = "defmodule McpServer.NoScopesRouter do\n  use McpServer.Router, #{options}\nend"
        error = assert_raise CompileError, fn -> Code.compile_string(code) end
        assert Exception.message(error) =~ text
      end
    end

    test "leave it to the author which of them a tool that destroys needs" do
      defmodule Lint do
        use McpServer.Router

        tool "read", "Reads", Handlers, :who, scopes: ["read"], hints: [:read_only]
        tool "delete", "Deletes", Handlers, :who, hints: []
        tool "reset", "Resets", Handlers, :who, hints: [], scopes: :public
        tool "own", "Own", Handlers, :who, hints: [], authorize: {Handlers, :nobody?}
      end

      assert [%{code: :missing_scopes, name: "delete"}] = McpServer.Lint.run(Lint)
    end
  end

  defp bearer(token), do: [{"authorization", "Bearer " <> token}]
end
