defmodule McpServer.HttpAuthHiddenTest do
  # Hidden entries: for a token without its scopes, and for a token that a function refuses, an entry does not exist.
  # The whole response equals that of a server without the entry, in both eras.
  use McpServer.HttpCase, async: true

  alias McpServer.Test.Issuer

  @resource "http://localhost/mcp"

  defmodule Handlers do
    use McpServer.Controller

    def run(_conn, _arguments), do: {:ok, "done"}
    def get(_conn, _arguments), do: [McpServer.Controller.message("user", "Hello")]
    def read(_conn, _variables), do: content("r", "hidden://r", text: "r")
    def complete(_conn, _name, _prefix), do: []
    def staff?(conn), do: conn.auth != nil and conn.auth.subject == "staff"
    def staff_with?(conn, _arguments), do: staff?(conn)
  end

  defmodule Inner do
    use McpServer.Router, name: "inner"

    tool "included", "Needs a scope around its own rule", Handlers, :run, visible: {Handlers, :staff?}
  end

  defmodule Router do
    use McpServer.Router, name: "hidden"

    tool "open", "For all", Handlers, :run
    tool "granted", "Hidden without its scope", Handlers, :run, scopes: ["admin"], listed: :granted
    tool "visible", "For staff", Handlers, :run, visible: {Handlers, :staff?}

    tool "scoped", "For staff with a scope", Handlers, :run,
      scopes: ["write"],
      visible: &Handlers.staff?/1,
      listed: :always

    tool "authorized", "For staff with a scope", Handlers, :run, scopes: ["write"], authorize: &Handlers.staff?/1

    tool "both", "For staff with a scope that hides", Handlers, :run,
      scopes: ["admin"],
      listed: :granted,
      authorize: {Handlers, :staff?}

    include Inner, prefix: "in_", scopes: ["write"]

    prompt "prompt", "For staff with a scope", scopes: ["write"], visible: &Handlers.staff?/1 do
      argument "name", "Whom"
      get Handlers, :get
      complete Handlers, :complete
    end

    resource "resource", "hidden://r", scopes: ["write"], visible: &Handlers.staff?/1 do
      read Handlers, :read
    end

    resource "template", "hidden://t/{id}", scopes: ["write"], visible: &Handlers.staff?/1 do
      read Handlers, :read
      complete Handlers, :complete
    end
  end

  defmodule Bare do
    # The entries that a token without scopes sees. The functions make its capabilities equal those of the full router.
    use McpServer.Router, name: "hidden"

    tool "open", "For all", Handlers, :run

    def list_prompts(_conn), do: {:ok, []}
    def list_resources(_conn), do: {:ok, []}
    def list_resource_templates(_conn), do: {:ok, []}
  end

  defmodule Public do
    # "public" is hidden in lists. "used" is listed, and hidden when it is called.
    use McpServer.Router, name: "hidden"

    tool "open", "For all", Handlers, :run, scopes: :public
    tool "public", "For staff", Handlers, :run, scopes: :public, visible: &Handlers.staff?/1
    tool "used", "For staff", Handlers, :run, scopes: :public, visible: &Handlers.staff_with?/2

    tool "asked", "For staff with a scope", Handlers, :run,
      scopes: ["write"],
      listed: :always,
      visible: &Handlers.staff?/1
  end

  defp requests do
    tools = ["granted", "visible", "scoped", "authorized", "both", "in_included", "absent"]
    calls = for name <- tools, arguments <- [%{}, %{"undeclared" => 1}], do: {"tools/call", call(name, arguments)}
    lists = for list <- ["tools", "prompts", "resources", "resources/templates"], do: {list <> "/list", %{}}

    calls ++
      lists ++
      [
        {"prompts/get", %{"name" => "prompt"}},
        {"resources/read", %{"uri" => "hidden://r"}},
        {"resources/read", %{"uri" => "hidden://t/1"}}
      ]
  end

  defp call(name, arguments), do: %{"name" => name, "arguments" => arguments}

  defp serve(kind, router, issuer, anonymous \\ false) do
    auth = [resource: @resource, issuer: Issuer.url(issuer), scopes: ["mcp:use"], anonymous: anonymous]
    HttpServers.start(kind, router: router, auth: auth)
  end

  # The whole response without its date.
  defp said({%{status: status, headers: headers, body: body}, _messages}),
    do: {status, List.keydelete(headers, "date", 0), body}

  @tag req: "T43"
  on_both "to a token that does not show it, what is hidden does not exist, byte for byte, in both eras", %{kind: kind} do
    issuer = start_supervised!(Issuer)
    servers = for router <- [Router, Bare], do: serve(kind, router, issuer)
    token = Issuer.token(issuer, audience: @resource, scopes: ["mcp:use"])
    headers = [{"authorization", "Bearer " <> token}]
    sessions = for server <- servers, do: HttpSession.open(server, "2025-11-25", headers: headers)

    for {method, params} <- requests() do
      [whole, bare] = for server <- servers, do: said(HttpClient.exchange(server, as(modern(method, params), token)))
      assert {method, params, whole} == {method, params, bare}

      [whole, bare] =
        for session <- sessions, do: said(HttpSession.exchange(session, as(legacy(method, params), token)))

      assert {method, params, whole} == {method, params, bare}
    end
  end

  @tag req: "T43"
  on_both "with or without a token, what a function hides is answered as what does not exist", %{kind: kind} do
    issuer = start_supervised!(Issuer)
    server = serve(kind, Public, issuer, :all)
    mint = &[{"authorization", "Bearer " <> Issuer.token(issuer, [audience: @resource, scopes: ["mcp:use"]] ++ &1)}]
    said = fn exchange, name -> said(exchange) |> put_elem(2, String.replace(elem(exchange, 0).body, name, "it")) end

    for headers <- [[], mint.([])] do
      session = HttpSession.open(server, "2025-11-25", headers: headers)
      modern = &said.(HttpClient.exchange(server, with_headers(modern_call(&1, %{"x" => 1}), headers)), &1)
      legacy = &said.(HttpSession.exchange(session, with_headers(legacy_call(&1, %{"x" => 1}), headers)), &1)

      for ask <- [modern, legacy], name <- ["public", "used", "asked"] do
        {status, answered, body} = ask.(name)
        {^status, unknown, ^body} = ask.("nothing")

        assert Enum.sort(List.keydelete(answered, "content-length", 0)) ==
                 Enum.sort(List.keydelete(unknown, "content-length", 0))
      end
    end

    assert {%{status: 401, body: body} = refused, _messages} = HttpClient.exchange(server, modern_call("public"))
    assert body == ~s({"jsonrpc":"2.0","error":{"code":-32600,"message":"Unauthorized"}})

    assert HttpResponse.header(refused, "www-authenticate") ==
             ~s(Bearer scope="mcp:use", resource_metadata="http://localhost/.well-known/oauth-protected-resource/mcp")

    for {name, status} <- [{"public", 200}, {"used", 200}, {"asked", 403}, {"open", 200}] do
      staff = with_headers(modern_call(name), mint.(subject: "staff"))
      assert {%{status: ^status}, [_answer]} = HttpClient.exchange(server, staff)
    end
  end

  @tag req: ["T43", "R6"]
  on_both "in a batch, what a function may hide needs a token as what does not exist, and nothing of it runs", %{
    kind: kind
  } do
    issuer = start_supervised!(Issuer)
    server = serve(kind, Public, issuer, :all)
    ada = [{"authorization", "Bearer " <> Issuer.token(issuer, audience: @resource, scopes: ["mcp:use"])}]
    [anonymous, named] = for headers <- [[], ada], do: HttpSession.open(server, "2025-03-26", headers: headers)

    batch = fn names ->
      calls = for {name, id} <- Enum.with_index(names, 1), do: message("tools/call", call(name, %{}), id: id)
      in_session(McpServer.JSON.encode!(calls))
    end

    # Without a token.
    unknown = said(HttpSession.exchange(anonymous, batch.(["open", "nothing"])))

    for names <- [["open", "public"], ["public", "open"], ["used"], ["open", "used"], ["public", "nothing"]],
        do: assert({names, said(HttpSession.exchange(anonymous, batch.(names)))} == {names, unknown})

    assert {401, headers, ~s({"jsonrpc":"2.0","error":{"code":-32600,"message":"Unauthorized"}})} = unknown

    assert List.keyfind(headers, "www-authenticate", 0) ==
             {"www-authenticate",
              ~s(Bearer scope="mcp:use", resource_metadata="http://localhost/.well-known/oauth-protected-resource/mcp")}

    assert {%{status: 200}, [[%{"id" => 1, "result" => _done}]]} = HttpSession.exchange(anonymous, batch.(["open"]))

    # With a token that sees neither entry.
    for name <- ["public", "used"] do
      assert {%{status: 200}, [answers]} = HttpSession.exchange(named, batch.(["open", name, "nothing"]))
      [open, hidden, unknown] = Enum.sort_by(answers, & &1["id"])
      assert open["result"]["content"] == [%{"type" => "text", "text" => "done"}]
      assert hidden["error"] == %{"code" => -32602, "message" => "Tool '#{name}' not found"}
      assert unknown["error"] == %{"code" => -32602, "message" => "Tool 'nothing' not found"}
    end
  end
end
