defmodule McpServer.HttpAuthThreatsTest do
  # Attacks on a server with `auth:` beyond single bad tokens: on both servers, and in both eras where these differ. The
  # tags are the threats of authorization. Tests of single tokens are in auth_test.exs.
  use McpServer.HttpCase, async: true

  import McpServer.TestLog

  alias McpServer.{HttpRouter, JSON, ScriptedServer}
  alias McpServer.Test.Issuer

  @resource "http://localhost/mcp"
  @metadata_url "http://localhost/.well-known/oauth-protected-resource/mcp"
  @tail ~s(scope="mcp:use", resource_metadata="#{@metadata_url}")
  @invalid "Bearer error=\"invalid_token\", error_description="

  defp serve(kind, issuer, auth \\ [], options \\ []) do
    auth = Keyword.merge([resource: @resource, issuer: issuer, scopes: ["mcp:use"]], auth)
    HttpServers.start(kind, [router: HttpRouter, auth: auth] ++ options)
  end

  defp issued(%{kind: kind}, auth \\ [], options \\ []) do
    issuer = start_supervised!(Issuer)
    {serve(kind, Issuer.url(issuer), auth, options), issuer}
  end

  defp token(issuer, options \\ []),
    do: Issuer.token(issuer, Keyword.merge([audience: @resource, scopes: ["mcp:use"]], options))

  defp bearer(token), do: [{"authorization", "Bearer " <> token}]

  defp ask(server, headers, request \\ modern_call("granted")) do
    {response, messages} = HttpClient.exchange(server, with_headers(request, headers))
    {response.status, HttpResponse.header(response, "www-authenticate"), List.last(messages)}
  end

  defp error(code, message), do: %{"jsonrpc" => "2.0", "error" => %{"code" => code, "message" => message}}
  defp refused(text), do: {401, @invalid <> ~s("#{text}", #{@tail}), error(-32600, "Unauthorized")}
  defp no_session, do: {404, nil, error(-32600, "Session not found")}

  describe "a token" do
    @tag req: "T4"
    on_both "in a form is not looked at: the body must be JSON", context do
      {server, issuer} = issued(context)
      form = post("access_token=" <> token(issuer), [{"content-type", "application/x-www-form-urlencoded"}])

      assert ask(server, [], form) == {401, "Bearer " <> @tail, error(-32600, "Unauthorized")}
      assert Issuer.fetches(issuer) == 0
      assert {415, nil, %{"error" => error}} = ask(server, bearer(token(issuer)), form)
      assert error == %{"code" => -32600, "message" => "Content-Type must be application/json in UTF-8"}
    end

    @tag req: ["T21", "T39"]
    on_both "for one resource is worth nothing at another of the same issuer, verified or not", %{kind: kind} do
      issuer = start_supervised!(Issuer)
      other = "http://localhost/other"
      first = serve(kind, Issuer.url(issuer))
      second = serve(kind, Issuer.url(issuer), resource: other)
      token = token(issuer)

      for _time <- 1..2 do
        assert {200, nil, _message} = ask(first, bearer(token))

        challenge =
          @invalid <>
            ~s("The access token is for another resource", scope="mcp:use", ) <>
            ~s(resource_metadata="http://localhost/.well-known/oauth-protected-resource/other")

        assert ask(second, bearer(token)) == {401, challenge, error(-32600, "Unauthorized")}
      end

      assert {200, nil, _message} = ask(second, bearer(token(issuer, audience: other)))
    end

    @tag req: ["T22", "R14", "R15"]
    on_both "is not handed to the handler, in neither era", context do
      {server, issuer} = issued(context)
      token = token(issuer)
      session = HttpSession.open(server, "2025-11-25", headers: bearer(token))
      calls = [modern: modern_call("perform", HttpScript.arguments("modern"))]
      calls = calls ++ [legacy: HttpSession.of(session, legacy_call("perform", HttpScript.arguments("legacy")))]

      for {era, call} <- calls do
        peer = HttpClient.start(server, with_headers(call, bearer(token)))
        {pid, conn} = HttpScript.performing(Atom.to_string(era))
        assert conn.auth.claims["sub"] == "ada"
        bytes = :erlang.term_to_binary(conn)
        for part <- String.split(token, "."), do: assert(:binary.match(bytes, part) == :nomatch)
        HttpScript.tell(pid, {:answer, "done"})
        assert [message] = HttpClient.messages(peer, HttpPeer.response(peer))
        assert HttpClient.text(message) == "done"
      end
    end

    @tag req: "T35"
    on_both "makes no atoms of its claims, and one map of them for its request", context do
      {server, issuer} = issued(context)
      name = "claim-#{System.unique_integer([:positive])}-#{System.os_time()}"
      token = token(issuer, claims: %{name => %{name => name}})
      peer = HttpClient.start(server, with_headers(modern_call("perform", HttpScript.arguments()), bearer(token)))
      {pid, conn} = HttpScript.performing()
      assert %{^name => %{^name => ^name}} = conn.auth.claims
      assert_raise ArgumentError, fn -> String.to_existing_atom(name) end
      HttpScript.tell(pid, {:answer, "done"})
      HttpPeer.response(peer)
    end

    @tag req: "T39"
    on_both "that was verified is compared as a whole, and ends at its time", context do
      {server, issuer} = issued(context, leeway: 0)

      good =
        while_valid(fn seconds ->
          good = token(issuer, expires_in: seconds)
          assert {200, nil, _message} = ask(server, bearer(good))

          for {forged, text} <- [
                {token(issuer, expires_in: seconds, signature: :wrong), "The signature of the access token is wrong"},
                {String.replace_suffix(good, String.last(good), ""), "The access token is malformed"}
              ],
              do: assert(ask(server, bearer(forged)) == refused(text))

          good
        end)

      eventually(fn -> match?({401, _challenge, _message}, ask(server, bearer(good))) end)
      assert ask(server, bearer(good)) == refused("The access token has expired")
    end
  end

  describe "a token that expires" do
    @tag req: "T38"
    on_both "ends the streams that wait for news, and no call, in both eras", context do
      {server, issuer} = issued(context, leeway: 0)
      listen = modern("subscriptions/listen", %{"notifications" => %{"toolsListChanged" => true}})

      {token, peer, pid, stream, messages} =
        while_valid(fn seconds ->
          token = bearer(token(issuer, expires_in: seconds))
          session = HttpSession.open(server, "2025-11-25", headers: token)
          tag = "#{seconds} seconds"
          peer = HttpClient.start(server, with_headers(modern_call("perform", HttpScript.arguments(tag)), token))
          {pid, _conn} = HttpScript.performing(tag)
          {stream, %{status: 200}} = HttpClient.open(server, with_headers(of_session(get_stream(), session.id), token))
          {response, messages} = HttpClient.exchange(server, with_headers(listen, token))
          assert response.status == 200
          {token, peer, pid, stream, messages}
        end)

      assert Enum.map(messages, &(&1["method"] || &1["result"]["resultType"])) ==
               ["notifications/subscriptions/acknowledged", "notifications/cancelled", "complete"]

      assert HttpClient.message(stream) == :end
      assert ask(server, token) == refused("The access token has expired")
      HttpScript.tell(pid, {:answer, "done"})
      assert [message] = HttpClient.messages(peer, HttpPeer.response(peer))
      assert HttpClient.text(message) == "done"
    end
  end

  describe "a flood of garbage" do
    @tag req: "T27"
    on_both "starts no call, asks no issuer and leaves nothing", context do
      {server, issuer} = issued(context)
      good = token(issuer)
      perform = modern_call("perform", HttpScript.arguments())

      malformed = refused("The access token is malformed")
      unknown = refused("The issuer of the access token is not known")
      foreign = &token(issuer, claims: %{"iss" => "https://evil.example/#{&1}"})

      garbage =
        for n <- 1..33, one <- [{"garbage-#{n}", malformed}, {"a.b.#{n}", malformed}, {foreign.(n), unknown}], do: one

      in_parallel(garbage, fn {token, refused} ->
        assert {token, ask(server, bearer(token), perform)} == {token, refused}
      end)

      refute_received {:performing, _tag, _pid, _conn}
      assert Issuer.fetches(issuer) == 0
      assert {200, nil, _message} = ask(server, bearer(good))
    end

    @tag req: ["R9", "T27", "T36"]
    on_both "is judged by its claims before keys are fetched, although the issuer fails", %{kind: kind} do
      issuer = start_supervised!(Issuer)

      wrong = [
        {token(issuer, expires_in: -100), "The access token has expired"},
        {token(issuer, audience: "http://localhost/other"), "The access token is for another resource"},
        {token(issuer, header: %{"alg" => "HS256"}), "The algorithm of the access token is not allowed"}
      ]

      good = token(issuer)
      :ok = Issuer.fail(issuer)

      for auth <- [[], [dpop: :optional], [issuer: [], issuers: fn _known -> {:ok, []} end]] do
        metadata = %{authorization_servers: [Issuer.url(issuer)]}
        server = serve(kind, Issuer.url(issuer), auth ++ [metadata: metadata])

        for {token, text} <- wrong do
          assert {401, challenge, _message} = ask(server, bearer(token))
          assert challenge =~ ~s(error="invalid_token", error_description="#{text}")
        end
      end

      assert Issuer.fetches(issuer) == 0
      capture_log(fn -> assert {503, nil, _message} = ask(serve(kind, Issuer.url(issuer)), bearer(good)) end)
    end
  end

  describe "the issuer's metadata" do
    @tag req: ["T23", "R23"]
    on_both "names no file, no private address, no other port and no redirect", %{kind: kind} do
      secret = ScriptedServer.start(fn _request -> ScriptedServer.json(%{"keys" => []}) end, host: "localhost")
      [_scheme, port] = String.split(secret.url, "localhost:")

      for {uri, text} <- [
            {"file:///etc/passwd", "the issuer names what is no URL"},
            {secret.url <> "/keys", "the issuer names a URL without https"},
            {"http://192.168.0.1/keys", "the issuer names a URL without https"},
            {"https://10.0.0.1/keys", "10.0.0.1 cannot be reached: {:address, :public}"},
            {"https://169.254.169.254/latest", "169.254.169.254 cannot be reached: {:address, :public}"},
            {"https://127.0.0.1:#{port}/keys", "127.0.0.1 cannot be reached: {:address, :public}"},
            {"https://[::1]:#{port}/keys", "::1 cannot be reached: {:address, :public}"},
            {"https://user@localhost:#{port}/keys", "the issuer names what is no URL"},
            {"", "the issuer names what is no URL"}
          ] do
        assert {uri, unavailable(kind, &%{"issuer" => &1, "jwks_uri" => uri}) =~ text} == {uri, true}
      end

      redirect = fn _issuer -> ScriptedServer.response(302, [{"location", secret.url}], "") end
      assert unavailable(kind, redirect) =~ "answered 302"
      assert ScriptedServer.all_requested(secret) == []
    end

    # The log for an issuer that publishes this metadata.
    defp unavailable(kind, metadata) do
      {:ok, url} = Agent.start_link(fn -> nil end)

      issuer =
        ScriptedServer.start(
          fn _request ->
            case metadata.(Agent.get(url, & &1)) do
              %{} = document -> ScriptedServer.json(document)
              response -> response
            end
          end,
          host: "localhost"
        )

      # Forgets the keys of an earlier issuer that may have had the same port.
      named = "#{issuer.url}/#{System.unique_integer([:positive])}"
      Agent.update(url, fn nil -> named end)
      server = serve(kind, named)

      capture_log(fn ->
        {response, [message]} = HttpClient.exchange(server, as(modern_call("granted"), unsigned(named)))
        assert {response.status, HttpResponse.header(response, "retry-after")} == {503, "5"}
        assert HttpResponse.header(response, "www-authenticate") == nil
        assert message == error(-32603, "The token cannot be checked now")
      end)
    end

    # A token that is valid except for its key and its signature.
    defp unsigned(issuer) do
      claims = %{"iss" => issuer, "aud" => @resource, "sub" => "ada", "exp" => System.system_time(:second) + 3_600}
      segments = [JSON.encode!(%{"alg" => "ES256", "kid" => "k"}), JSON.encode!(claims), <<0::512>>]
      Enum.map_join(segments, ".", &Base.url_encode64(&1, padding: false))
    end
  end

  describe "who asks" do
    @tag req: ["T30", "T31", "R17"]
    on_both "in a session of another user, or by another client of the same user: 404", context do
      {server, issuer} = issued(context)
      session = HttpSession.open(server, "2025-11-25", headers: bearer(token(issuer)))

      requests = [legacy_call("granted"), legacy("ping"), get_stream(), delete(), in_session("{}")]

      for other <- [token(issuer, subject: "bob"), token(issuer, client_id: "other"), token(issuer, client_id: nil)],
          # Tokens that were verified before take another code path than new tokens.
          request <- requests ++ [modern_call("granted")] ++ requests do
        answer = ask(server, bearer(other), of_session(request, session.id))

        if request in requests,
          do: assert({request, answer} == {request, no_session()}),
          else: assert({200, nil, %{"result" => _granted}} = answer)
      end

      assert {200, nil, _message} = ask(server, bearer(token(issuer)), of_session(legacy_call("granted"), session.id))
    end

    @tag req: ["T30", "T31", "R18", "R19"]
    on_both "with the sealed state or the task of another user or client: refused", context do
      {server, issuer} = issued(context)
      mine = bearer(token(issuer))
      capable = [capabilities: %{"elicitation" => %{}, "extensions" => %{"io.modelcontextprotocol/tasks" => %{}}}]
      assert {200, nil, asked} = ask(server, mine, modern_call("ask", %{}, capable))
      assert %{"result" => %{"requestState" => state}} = asked
      assert {200, nil, created} = ask(server, mine, modern_call("sleep", %{"ms" => 60_000}, capable))
      assert %{"result" => %{"resultType" => "task", "taskId" => task}} = created
      responses = %{"name" => %{"action" => "accept", "content" => %{"name" => "Ada"}}}
      params = %{"name" => "ask", "arguments" => %{}, "inputResponses" => responses, "requestState" => state}
      requests = [modern("tools/call", params, capable)]
      requests = requests ++ for(verb <- ["get", "cancel"], do: modern("tasks/" <> verb, %{"taskId" => task}, capable))

      for other <- [token(issuer, subject: "bob"), token(issuer, client_id: "other")], request <- requests do
        text = if request == hd(requests), do: "Invalid request state", else: "Task not found"
        assert ask(server, bearer(other), request) == {200, nil, Map.put(error(-32602, text), "id", 1)}
      end

      # A newer token of the same client has the same principal.
      for request <- requests do
        assert {200, nil, %{"result" => %{}}} = ask(server, bearer(token(issuer, scopes: ["mcp:use", "more"])), request)
      end
    end

    @tag req: ["T30", "R19"]
    on_both "with the task of another user or client in a session: unknown", context do
      {server, issuer} = issued(context)
      mine = token(issuer)
      session = HttpSession.open(server, "2025-11-25", headers: bearer(mine))
      arguments = %{"name" => "sleep", "arguments" => %{"ms" => 60_000}, "task" => %{"ttl" => 60_000}}
      assert {200, nil, created} = ask(server, bearer(mine), of_session(legacy("tools/call", arguments), session.id))
      assert %{"result" => %{"task" => %{"taskId" => task}}} = created

      for other <- [token(issuer, subject: "bob"), token(issuer, client_id: "other")] do
        session = HttpSession.open(server, "2025-11-25", headers: bearer(other))

        for verb <- ["get", "result", "cancel"] do
          request = of_session(legacy("tasks/" <> verb, %{"taskId" => task}), session.id)
          assert ask(server, bearer(other), request) == {200, nil, Map.put(error(-32602, "Task not found"), "id", 1)}
        end

        assert {200, nil, %{"result" => listed}} =
                 ask(server, bearer(other), of_session(legacy("tasks/list"), session.id))

        assert listed == %{"tasks" => []}
      end

      again = HttpSession.open(server, "2025-11-25", headers: bearer(mine))
      assert {200, nil, %{"result" => listed}} = ask(server, bearer(mine), of_session(legacy("tasks/list"), again.id))
      assert Enum.map(listed["tasks"], & &1["taskId"]) == [task]
    end

    def anyone(request) do
      case List.keyfind(request.req_headers, "authorization", 0) do
        {_name, "Bearer " <> name} -> {:ok, name}
        nil -> {:ok, nil}
      end
    end

    @tag req: "T32"
    on_both "without a token in a session of a token, and back: 404", %{kind: kind} do
      server = HttpServers.start(kind, router: HttpRouter, identify: {__MODULE__, :anyone})
      ping = &of_session(legacy("ping"), &1.id)

      anonymous = HttpSession.open(server, "2025-11-25")
      assert {200, nil, _message} = ask(server, [], ping.(anonymous))
      assert ask(server, bearer("ada"), ping.(anonymous)) == no_session()

      named = HttpSession.open(server, "2025-11-25", headers: bearer("ada"))
      assert {200, nil, _message} = ask(server, bearer("ada"), ping.(named))
      assert ask(server, [], ping.(named)) == no_session()
    end
  end

  describe "a challenge" do
    @tag req: "T40"
    on_both "holds no header of a token's or a hook's making", context do
      {server, issuer} = issued(context)
      evil = "a\", error=\"x\r\nSet-Cookie: x=1"

      scope = {403, ~s(Bearer error="insufficient_scope", #{@tail})}

      for {options, expected} <- [
            {[scopes: [evil]], scope},
            {[subject: evil, scopes: []], scope},
            {[claims: %{"iss" => evil}],
             {401, @invalid <> ~s("The issuer of the access token is not known", #{@tail})}},
            {[header: %{"kid" => evil}], {401, @invalid <> ~s("The key of the access token is not known", #{@tail})}}
          ] do
        {response, _messages} =
          HttpClient.exchange(server, with_headers(modern_call("granted"), bearer(token(issuer, options))))

        assert {response.status, HttpResponse.header(response, "www-authenticate")} == expected
        assert HttpResponse.header(response, "set-cookie") == nil
      end

      hooked = HttpServers.start(context.kind, router: HttpRouter, identify: {__MODULE__, :inject})
      assert {403, challenge, _message} = ask(hooked, [])
      assert challenge == ~s(Bearer error="insufficient_scope", scope="good")
    end

    def inject(_request),
      do: {:error, {:insufficient_scope, ["good", "a\"b", "c\\d", "e\r\nSet-Cookie: x=1", "f g", ""]}}

    @tag req: ["T42", "R2"]
    on_both "names the configured resource, whatever host a request names", context do
      {server, _issuer} = issued(context, [], allowed_hosts: ["evil.example"])

      for headers <- [
            [],
            [{"host", "127.0.0.1"}],
            [{"host", "evil.example"}],
            [{"x-forwarded-host", "evil.example"}, {"x-forwarded-proto", "https"}, {"forwarded", "host=evil.example"}]
          ] do
        assert ask(server, headers) == {401, "Bearer " <> @tail, error(-32600, "Unauthorized")}
      end
    end
  end

  @tag req: "T41"
  on_both "nothing is redirected, and there is no page to log in", context do
    {server, _issuer} = issued(context)

    for path <- [
          "/",
          "/authorize",
          "/token",
          "/register",
          "/callback",
          "/.well-known/oauth-authorization-server"
        ],
        method <- ["GET", "POST"] do
      # A plug accepts every path.
      answers = [plug: {401, "Unauthorized"}, listener: {404, "Not found: no MCP endpoint has this path"}]
      {status, text} = answers[context.kind]
      target = path <> "?redirect_uri=https://evil.example&return_to=//evil.example"
      response = HttpPeer.request(HttpPeer.connect(server.port), %{request(method) | target: target})

      assert {method, path, response.status, HttpResponse.json(response)["error"]["message"]} ==
               {method, path, status, text}

      assert HttpResponse.header(response, "location") == nil
    end
  end
end
