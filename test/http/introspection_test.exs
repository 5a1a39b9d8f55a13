defmodule McpServer.HttpIntrospectionTest do
  # `introspection:` of `auth:` (RFC 7662): tokens that only their issuer can read, on both servers.
  use McpServer.HttpCase, async: true

  import McpServer.TestLog

  alias McpServer.Auth.Introspector
  alias McpServer.HttpRouter
  alias McpServer.Test.Issuer

  @resource "http://localhost/mcp"
  @tail ~s(scope="mcp:use", resource_metadata="http://localhost/.well-known/oauth-protected-resource/mcp")
  # What a token grants is remembered for the whole test, however slow the machine.
  @client [client_id: "mcp", client_secret: "secret", cache: 300_000]

  setup do
    issuer = start_supervised!(Issuer)
    {:ok, issuer: issuer, url: Issuer.url(issuer)}
  end

  defp serve(%{kind: kind, url: url}, introspection \\ [], auth \\ []) do
    auth =
      [resource: @resource, issuer: url, scopes: ["mcp:use"], introspection: Keyword.merge(@client, introspection)] ++
        auth

    HttpServers.start(kind, router: HttpRouter, auth: HttpServers.secret_auth(kind, auth))
  end

  defp token(%{issuer: issuer}, options \\ []),
    do: Issuer.opaque_token(issuer, Keyword.merge([audience: @resource, scopes: ["mcp:use"]], options))

  defp ask(server, token, request \\ modern_call("granted")) do
    {response, [message]} = HttpClient.exchange(server, with_headers(request, [{"authorization", "Bearer " <> token}]))

    {response.status, HttpResponse.header(response, "www-authenticate"), message}
  end

  defp assert_invalid(server, token, text) do
    assert {401, challenge, message} = ask(server, token)
    assert challenge == ~s(Bearer error="invalid_token", error_description="#{text}", #{@tail})
    assert message["error"] == %{"code" => -32600, "message" => "Unauthorized"}
  end

  @tag req: ["R7", "R8"]
  on_both "an opaque token grants what its issuer says, in both eras", context do
    for auth <- [:basic, :post] do
      server = serve(context, auth: auth)
      token = token(context)
      assert {200, nil, message} = ask(server, token)
      assert HttpClient.text(message) == inspect({{context.url, "ada", "client"}, "ada", ["mcp:use"]})

      session = HttpSession.open(server, "2025-11-25", headers: [{"authorization", "Bearer " <> token}])
      assert HttpClient.text(HttpSession.call(session, "granted")) =~ ~s(["mcp:use"])
      # Signed tokens are verified without introspection.
      signed = Issuer.token(context.issuer, audience: @resource, scopes: ["mcp:use"])
      before = Issuer.introspections(context.issuer)
      assert {200, nil, _message} = ask(server, signed)
      assert Issuer.introspections(context.issuer) == before
    end
  end

  @doc false
  def tenant(_issuer), do: {:ok, []}

  # Earlier, checks of one token could hold all hooks while its issuer hung.
  on_both "of several issuers, one that hangs holds at most a quarter of the hooks",
          %{kind: kind, url: url} = context do
    other = start_supervised!(Issuer, id: :other)
    auth = [resource: @resource, issuer: url, issuers: &__MODULE__.tenant/1, scopes: ["mcp:use"], timeout: 60_000]
    auth = HttpServers.secret_auth(kind, auth ++ [introspection: @client])
    server = HttpServers.start(kind, router: HttpRouter, auth: auth, http: [max_hooks: 8])
    :ok = Issuer.stall(context.issuer)
    for _waiting <- 1..2, do: start_supervised!({Task, fn -> ask(server, "opaque") end}, id: make_ref())

    eventually(fn ->
      found = Registry.select(McpServer.Http.Registry, [{{{Introspector, url, :_}, :"$1", :_}, [], [:"$1"]}])

      for(process <- found, {_key, request} <- :sys.get_state(process).requests, do: length(request.waiting)) == [2]
    end)

    assert {503, nil, _message} = ask(server, "opaque")
    signed = Issuer.token(other, audience: @resource, scopes: ["mcp:use"])
    assert {200, nil, _message} = ask(server, signed)
    :ok = Introspector.forget_url(url)
  end

  @tag req: "T39"
  on_both "an answer is kept for a while, and no refusal is", context do
    server = serve(context)
    token = token(context)
    for _ <- 1..3, do: assert({200, nil, _message} = ask(server, token))
    assert Issuer.introspections(context.issuer) == 1
    for _ <- 1..2, do: assert_invalid(server, "unknown", "The access token is not active")
    assert Issuer.introspections(context.issuer) == 3

    always_asked = serve(context, cache: 0)
    assert {200, nil, _message} = ask(always_asked, token)
    Issuer.revoke(context.issuer, token)
    assert_invalid(always_asked, token, "The access token is not active")
    # The other server has cached its response.
    assert {200, nil, _message} = ask(server, token)
  end

  @tag req: ["T37", "T14", "T15", "T16", "T19", "T20", "R9"]
  on_both "what the issuer says is judged like the claims of a signed token", context do
    server = serve(context)
    now = System.system_time(:second)
    claims = "The claims of the access token are not sufficient"
    resource = "The access token is for another resource"

    for {changes, text} <- [
          {%{"active" => "true"}, "The access token is not active"},
          {%{"active" => nil}, "The access token is not active"},
          {%{"aud" => nil}, resource},
          {%{"aud" => "http://localhost/other"}, resource},
          {%{"iss" => "https://evil.example"}, "The issuer of the access token is not known"},
          {%{"exp" => now - 31}, "The access token has expired"},
          {%{"exp" => "#{now + 60}"}, claims},
          {%{"nbf" => now + 120}, "The access token is not valid yet"},
          {%{"sub" => nil, "client_id" => nil}, claims},
          {%{"sub" => "", "client_id" => "", "azp" => "", "cid" => ""}, claims},
          {%{"scope" => 1}, claims},
          {%{"token_type" => "refresh_token"}, "The token is not an access token"},
          {%{"cnf" => %{"jkt" => "x"}}, "The access token is bound to a key"}
        ] do
      assert_invalid(server, token(context, claims: changes), text)
    end

    few = %{"iss" => nil, "exp" => nil, "sub" => nil, "token_type" => nil}
    assert {200, nil, message} = ask(server, token(context, claims: few))
    assert HttpClient.text(message) == inspect({{context.url, nil, "client"}, nil, ["mcp:use"]})

    # Users without a subject are not one client.
    for name <- ["ada", "eve"] do
      assert {200, nil, message} = ask(server, token(context, claims: Map.put(few, "username", name)))
      assert HttpClient.text(message) == inspect({{context.url, {:username, name}, "client"}, nil, ["mcp:use"]})
    end

    forbidden = %{"jsonrpc" => "2.0", "error" => %{"code" => -32600, "message" => "Forbidden"}}
    challenge = ~s(Bearer error="insufficient_scope", #{@tail})
    assert ask(server, token(context, scopes: [])) == {403, challenge, forbidden}
  end

  @tag req: "T37"
  on_both "an issuer that answers only about tokens for this server need not name it", context do
    server = serve(context, [], audience: :introspection)
    assert {200, nil, _message} = ask(server, token(context, claims: %{"aud" => nil}))
    signed = Issuer.token(context.issuer, audience: "http://localhost/other", scopes: ["mcp:use"])
    assert_invalid(server, signed, "The access token is for another resource")
  end

  @tag req: "R7"
  on_both "always: signed tokens are asked about too", context do
    server = serve(context, always: true)
    signed = Issuer.token(context.issuer, audience: @resource, scopes: ["mcp:use"])
    assert_invalid(server, signed, "The access token is not active")
    assert Issuer.fetches(context.issuer) == 0
  end

  @tag req: ["T36", "T34"]
  on_both "an issuer that cannot be asked: 503 without a challenge, and what was heard goes on", context do
    server = serve(context)
    heard = token(context)
    assert {200, nil, _message} = ask(server, heard)
    new = token(context)

    for {break, said} <- [
          {fn -> Issuer.fail(context.issuer) end, "localhost answered 500"},
          {fn -> stop_supervised!(Issuer) end, "localhost cannot be reached"}
        ] do
      break.()

      log =
        capture_log(fn ->
          request = with_headers(modern_call("granted"), [{"authorization", "Bearer " <> new}])
          {response, [message]} = HttpClient.exchange(server, request)
          assert {response.status, HttpResponse.header(response, "retry-after")} == {503, "5"}
          assert HttpResponse.header(response, "www-authenticate") == nil
          assert message["error"] == %{"code" => -32603, "message" => "The token cannot be checked now"}
        end)

      assert log =~ "#{context.url} cannot be asked about tokens: #{said}"
      refute log =~ new
      refute log =~ Base.encode64("mcp:secret")
      # Other tests log meanwhile.
      for line <- String.split(log, "\n"), line =~ context.url, do: refute(line =~ "secret")
      assert {200, nil, _message} = ask(server, heard)
    end
  end

  @tag req: ["T36", "T37"]
  on_both "an issuer that answers with anything but JSON: 503, and no token is let in", context do
    for body <- ["<html>", "", "[]", "true", ~s({"active":true}{}), ~s({"active":true,"active":true})] do
      scripted = McpServer.ScriptedServer.start(fn _request -> McpServer.ScriptedServer.response(200, [], body) end)
      server = serve(context, endpoint: scripted.url)

      log = capture_log(fn -> assert {503, nil, _message} = ask(server, token(context)) end)
      assert log =~ "#{context.url} cannot be asked about tokens: the answer about a token is none"
    end
  end

  @tag req: "T36"
  on_both "a client that the issuer does not know: 503", context do
    server = serve(context, client_secret: "other")
    assert capture_log(fn -> assert {503, nil, _message} = ask(server, token(context)) end) =~ "localhost answered 401"
  end

  @tag req: "T5"
  on_both "nothing that could not be a token is asked about", context do
    server = serve(context)
    assert_invalid(server, String.duplicate("a", 8_193), "The access token is too large")
    foreign = Issuer.token(context.issuer, claims: %{"iss" => "https://evil.example"})
    assert_invalid(server, foreign, "The issuer of the access token is not known")
    assert Issuer.introspections(context.issuer) == 0
  end

  @tag req: "T34"
  test "the options are checked, and not printed", context do
    good = [resource: @resource, issuer: context.url, introspection: @client]
    plan = McpServer.Auth.Plan.new!("the test", good)
    refute inspect(plan, limit: :infinity, structs: true) =~ ~s("secret")

    for {changes, text} <- [
          {[issuer: [], verifier: McpServer.HttpRouter], "introspection: needs one issuer:"},
          {[issuer: [context.url, "https://other.example"]], "introspection: needs one issuer:"},
          {[introspection: [client_id: "mcp"]], "a keyword list with client_id: and client_secret:"},
          {[introspection: @client ++ [auth: :jwt]], "a keyword list with client_id: and client_secret:"},
          {[introspection: @client ++ [endpoint: "http://auth.example/introspect"]], "https, or http on loopback"},
          {[introspection: nil, audience: :introspection], "audience: :introspection needs introspection:"}
        ] do
      error = assert_raise ArgumentError, fn -> McpServer.Auth.Plan.new!("the test", Keyword.merge(good, changes)) end

      assert Exception.message(error) =~ text
    end

    assert_raise ArgumentError, ~r/Write auth: {MyApp.Auth, :options}/, fn ->
      McpServer.HttpPlug.init(router: HttpRouter, auth: good)
    end
  end
end
