defmodule McpServer.HttpAuthHostileTest do
  # Hostile input: handmade tokens, misused headers and connections, and issuers whose responses contain no keys. The
  # tags are the threats of authorization.
  use McpServer.HttpCase, async: true

  import McpServer.TestLog

  alias McpServer.{HttpRouter, JSON, ScriptedServer}
  alias McpServer.Test.Issuer

  @resource "http://localhost/mcp"
  @tail ~s(scope="mcp:use", resource_metadata="http://localhost/.well-known/oauth-protected-resource/mcp")
  @malformed "The access token is malformed"
  @claims "The claims of the access token are not sufficient"

  defp serve(%{kind: kind}, issuer, auth) do
    auth = Keyword.merge([resource: @resource, issuer: issuer, scopes: ["mcp:use"]], auth)
    HttpServers.start(kind, router: HttpRouter, auth: auth)
  end

  defp issued(context, auth \\ []) do
    issuer = start_supervised!(Issuer)
    {serve(context, Issuer.url(issuer), auth), issuer}
  end

  defp token(issuer, options \\ []),
    do: Issuer.token(issuer, Keyword.merge([audience: @resource, scopes: ["mcp:use"]], options))

  defp bearer(token), do: [{"authorization", "Bearer " <> token}]

  defp ask(server, headers, request \\ modern_call("granted")) do
    {response, messages} = HttpClient.exchange(server, %{request | headers: request.headers ++ headers})
    {response.status, HttpResponse.header(response, "www-authenticate"), List.last(messages)}
  end

  defp refused(status, error, text),
    do: {status, ~s(Bearer error="#{error}", error_description="#{text}", #{@tail}), refusal(status)}

  defp refusal(400), do: refusal("The request breaks the rules for sending a token")
  defp refusal(401), do: refusal("Unauthorized")
  defp refusal(text), do: %{"jsonrpc" => "2.0", "error" => %{"code" => -32600, "message" => text}}

  defp assert_invalid(server, token, text),
    do: assert({token, ask(server, bearer(token))} == {token, refused(401, "invalid_token", text)})

  defp encode(text), do: Base.url_encode64(text, padding: false)

  # A token with this header and these claims, and a signature of the right length.
  defp made(header, claims), do: Enum.map_join([header, claims, <<1::512>>], ".", &encode/1)

  defp header(issuer) do
    [header | _rest] = issuer |> token() |> String.split(".")
    Base.url_decode64!(header, padding: false)
  end

  # The claims of a valid token as text, preceded by more members.
  defp claims(issuer, members) do
    [_header, claims, _signature] = issuer |> token() |> String.split(".")
    "{" <> members <> "," <> String.trim_leading(Base.url_decode64!(claims, padding: false), "{")
  end

  describe "a token made by hand" do
    @tag req: ["T5", "T11", "T12", "T14"]
    on_both "has claims that are none", context do
      {server, issuer} = issued(context)
      header = header(issuer)
      many = Enum.map_join(1..100, ",", &~s("c#{&1}":1))
      now = System.system_time(:second)

      for {members, text} <- [
            {many, "The access token is too large"},
            {~s("deep":) <> String.duplicate("[", 8) <> String.duplicate("]", 8), @malformed},
            {~s("digits":123456789012345678901), @malformed},
            {~s("sub":"eve"), @malformed},
            {~s("\\u0073ub":"eve"), @malformed},
            {~s("x":{"a":1,"a":2}), @malformed},
            {~s("x":"#{<<255>>}"), @malformed},
            {~s("nbf":null), @claims},
            {~s("nbf":"#{now}"), @claims},
            {~s("nbf":true), @claims}
          ] do
        assert_invalid(server, made(header, claims(issuer, members)), text)
      end

      # The same tokens with only a wrong signature: the tokens above are refused for their claims.
      wrong = "The signature of the access token is wrong"
      assert_invalid(server, made(header, claims(issuer, ~s("x":[[[[[[[1]]]]]]]))), wrong)
      assert_invalid(server, made(header, claims(issuer, ~s("digits":12345678901234567890))), wrong)

      for {exp, text} <- [{"null", @claims}, {"true", @claims}, {"[#{now + 60}]", @claims}, {"#{now + 60}.5", wrong}] do
        claims = ~s({"iss":"#{Issuer.url(issuer)}","aud":"#{@resource}","sub":"ada","exp":#{exp}})
        assert_invalid(server, made(header, claims), text)
      end
    end

    @tag req: ["T5", "T6", "T8", "T9", "T10", "T11", "T13"]
    on_both "has a header that nobody understands, and nothing is fetched for it", context do
      {server, issuer} = issued(context)
      trap = ScriptedServer.start(fn _request -> ScriptedServer.json(%{"keys" => []}) end, host: "localhost")
      kid = issuer |> header() |> JSON.decode!() |> Map.fetch!("kid")
      not_allowed = "The header of the access token is not allowed"
      algorithm = "The algorithm of the access token is not allowed"
      unknown = "The key of the access token is not known"

      for {members, text} <- [
            {~s("alg":"ES256","jku":"#{trap.url}/keys"), not_allowed},
            {~s("alg":"ES256","x5u":"#{trap.url}/keys"), not_allowed},
            {~s("alg":"ES256","crit":["b64"],"b64":false), not_allowed},
            {~s("alg":"ES256","crit":["exp","exp"]), not_allowed},
            {~s("alg":"ES256","crit":null), not_allowed},
            {~s("alg":"ES256","cty":"jwt"), not_allowed},
            {~s("alg":"ES256","alg":"ES256"), @malformed},
            {~s("alg":"NONE"), algorithm},
            {~s("alg":"none"), algorithm},
            {~s("alg":"es256"), algorithm},
            {~s("alg":"ES256","typ":"refresh+jwt"), "The token is not an access token"},
            {~s("alg":"ES256","typ":"logout+jwt"), "The token is not an access token"}
          ] do
        header = ~s({"kid":"#{kid}",#{members}})
        assert_invalid(server, made(header, claims(issuer, ~s("x":1))), text)
      end

      for name <- ["#{trap.url}/keys", "file:///etc/passwd", "' OR 1=1 --", "../../../dev/null"] do
        assert_invalid(server, made(~s({"alg":"ES256","kid":"#{name}"}), claims(issuer, ~s("x":1))), unknown)
      end

      long = String.duplicate("k", 10_240)
      too_large = made(~s({"alg":"ES256","kid":"#{long}"}), claims(issuer, ~s("x":1)))
      assert_invalid(server, too_large, "The access token is too large")
      [_header, payload, _signature] = String.split(token(issuer), ".")
      assert_invalid(server, encode(~s({"alg":"none"})) <> "." <> payload <> ".", algorithm)
      assert ScriptedServer.all_requested(trap) == []
    end

    @tag req: "T7"
    on_both "is signed with the issuer's public key as a secret, or in another way than its key's", context do
      {server, issuer} = issued(context)
      rsa = token(issuer, alg: "RS256")
      {200, set} = Issuer.answer(issuer, "/keys")

      for %{"kid" => kid} = jwk <- JSON.decode!(set)["keys"],
          secret <- [JSON.encode!(jwk), jwk["n"] || jwk["x"], Base.url_decode64!(jwk["n"] || jwk["x"], padding: false)] do
        input = encode(~s({"alg":"HS256","kid":"#{kid}"})) <> "." <> encode(claims(issuer, ~s("x":1)))
        forged = input <> "." <> encode(:crypto.mac(:hmac, :sha256, secret, input))
        assert_invalid(server, forged, "The algorithm of the access token is not allowed")
      end

      assert {200, nil, _message} = ask(server, bearer(rsa))
      %{"kid" => kid} = Enum.find(JSON.decode!(set)["keys"], &(&1["kty"] == "RSA"))

      for alg <- ["PS256", "RS384", "ES256", "EdDSA"] do
        other = made(~s({"alg":"#{alg}","kid":"#{kid}"}), claims(issuer, ~s("x":1)))
        assert_invalid(server, other, "The key of the access token is not known")
      end
    end

    @tag req: ["T2", "T12"]
    on_both "is written in letters that no token has", context do
      {server, issuer} = issued(context)
      good = token(issuer)
      text = "A request has one access token, in the header Authorization"

      for token <- [
            ~s({"payload":"x","signatures":[]}),
            String.replace(good, ".", ". ", global: false),
            good <> ",",
            "=" <> good,
            good <> ", Bearer " <> good,
            good <> "\xC3\xA4"
          ] do
        assert {token, ask(server, bearer(token))} == {token, refused(400, "invalid_request", text)}
      end

      [header, claims, signature] = String.split(good, ".")

      for other <- [header <> "+", header <> "/", "~" <> header],
          do: assert_invalid(server, Enum.join([other, claims, signature], "."), @malformed)
    end

    @tag req: "T18"
    on_both "is another token, where the options say how access tokens look", context do
      {server, issuer} = issued(context, typ: :at_jwt, claims: %{"token_use" => "access"})
      access = %{"token_use" => "access"}
      assert {200, nil, _message} = ask(server, bearer(token(issuer, claims: access)))
      plain = token(issuer, claims: access, header: %{"typ" => "JWT"})
      assert_invalid(server, plain, "The token is not an access token")
      assert_invalid(server, token(issuer, claims: access, header: %{"typ" => nil}), "The token is not an access token")
      assert_invalid(server, token(issuer, claims: %{"token_use" => "id"}), @claims)
      assert_invalid(server, token(issuer), @claims)
    end
  end

  describe "a client" do
    @tag req: ["T2", "R10"]
    on_both "that sends two headers, of whatever schemes, is told so", context do
      {server, issuer} = issued(context)
      good = bearer(token(issuer))
      expected = refused(400, "invalid_request", "A request has one access token, in the header Authorization")
      # The result is the same whether or not the token was verified before.
      assert ask(server, good ++ good) == expected
      assert {200, nil, _message} = ask(server, good)
      for first <- [good, bearer("x")], do: assert(ask(server, first ++ good) == expected)
      # A proxy may join two schemes in one line: the request is refused in both forms.
      for pair <- [[{"authorization", "Basic YTpi"} | good], good ++ [{"authorization", "Basic YTpi"}]] do
        assert {status, challenge, message} = ask(server, pair)
        assert {status, challenge, message} in [expected, {401, "Bearer " <> @tail, refusal(401)}]
      end
    end

    @tag req: "T5"
    on_both "that sends a giant token is refused, and the next one served", context do
      {server, issuer} = issued(context)
      assert_invalid(server, String.duplicate("a", 8_193), "The access token is too large")
      peer = HttpPeer.connect(server.port)
      request = with_headers(modern_call("granted"), bearer(String.duplicate("a", 200_000)))
      _closed = HttpPeer.send_request(peer, request)
      assert HttpPeer.until_closed(peer) =~ ~r"\A(HTTP/1.1 (400|401|431) |\z)"
      assert {200, nil, _message} = ask(server, bearer(token(issuer)))
    end

    @tag req: ["R6", "T39"]
    on_both "that uses one connection for many tokens is each time who its token says", context do
      {server, issuer} = issued(context)

      tokens = [
        {"ada", []},
        {"bob", [subject: "bob"]},
        {nil, [expires_in: -60]},
        {"ada", []},
        {nil, nil},
        {"bob", [subject: "bob"]}
      ]

      pipelined(server, issuer, tokens)
    end

    # Sends all requests before it reads the first response. A refusal that comes before all of its request has arrived
    # closes the connection: the rest is sent again on another (RFC 9112, 9.3.2).
    defp pipelined(_server, _issuer, []), do: :ok

    defp pipelined(server, issuer, tokens) do
      peer = HttpPeer.connect(server.port)

      for {_name, options} <- tokens do
        headers = if options, do: bearer(token(issuer, options)), else: []
        HttpPeer.send_request(peer, with_headers(modern_call("granted"), headers))
      end

      answered = Enum.find_index(tokens, fn {name, _options} -> closes?(answered_as(peer, issuer, name)) end)
      pipelined(server, issuer, if(answered, do: Enum.drop(tokens, answered + 1), else: []))
    end

    defp answered_as(peer, _issuer, nil) do
      assert %{status: 401} = HttpPeer.response(peer)
    end

    defp answered_as(peer, issuer, name) do
      assert %{status: 200} = response = HttpPeer.response(peer)

      assert HttpClient.text(HttpResponse.json(response)) ==
               inspect({{Issuer.url(issuer), name, "client"}, name, ["mcp:use"]})

      response
    end

    defp closes?(response), do: HttpResponse.header(response, "connection") == "close"

    @tag req: ["R6", "R17"]
    on_both "that has a session and no token is nobody", context do
      {server, issuer} = issued(context)
      session = HttpSession.open(server, "2025-11-25", headers: bearer(token(issuer)))

      for request <- [legacy_call("granted"), legacy("ping"), get_stream(), delete(), in_session("{}")] do
        request = of_session(request, session.id)
        assert ask(server, [], request) == {401, "Bearer " <> @tail, refusal(401)}
        expired = refused(401, "invalid_token", "The access token has expired")
        assert ask(server, bearer(token(issuer, expires_in: -60)), request) == expired
      end

      assert {200, nil, _message} = ask(server, bearer(token(issuer)), of_session(legacy_call("granted"), session.id))
    end

    @tag req: "T30"
    on_both "that resumes the stream of another principal, or another client, finds no session", context do
      {server, issuer} = issued(context)
      mine = bearer(token(issuer))
      session = HttpSession.open(server, "2025-11-25", headers: mine)
      {peer, %{status: 200}} = HttpClient.open(server, with_headers(of_session(get_stream(), session.id), mine))
      %{id: event} = HttpPeer.event(peer)
      resume = of_session(get_stream([{"last-event-id", event}]), session.id)

      for other <- [[subject: "bob"], [client_id: "other"]] do
        assert ask(server, bearer(token(issuer, other)), resume) == {404, nil, refusal("Session not found")}
      end

      # The id of an event does not open the stream in another client's session either.
      bob = bearer(token(issuer, subject: "bob"))
      own = HttpSession.open(server, "2025-11-25", headers: bob)
      stolen = of_session(get_stream([{"last-event-id", event}]), own.id)
      assert ask(server, bob, stolen) == {400, nil, refusal("Last-Event-ID names no event of this session")}

      # For its own client the stream exists, and is open.
      conflict = "Conflict: the session's stream is already open"
      assert ask(server, mine, resume) == {409, nil, refusal(conflict)}
      HttpPeer.close(peer)
    end
  end

  describe "an issuer" do
    @tag req: ["T24", "T36"]
    on_both "that answers with anything but keys: 503 without a challenge", context do
      for {answer, said} <- [
            {ScriptedServer.response(200, [{"content-type", "text/html"}], "<html>"), "is not JSON"},
            {ScriptedServer.response(304, [], ""), "answered 304"},
            {ScriptedServer.response(200, [{"content-encoding", "gzip"}], :zlib.gzip("{}")), "is not JSON"},
            {ScriptedServer.response(200, [], String.duplicate(" ", 131_073)), "cannot be reached"},
            {&ScriptedServer.flood(&1, "HTTP/1.1 200 OK\r\nx: y\r\n"), "cannot be reached"},
            {&ScriptedServer.wait/1, "cannot be reached: :timeout"}
          ] do
        {:ok, url} = Agent.start_link(fn -> nil end)

        keys = fn
          %{target: "/keys"} ->
            answer

          _metadata ->
            ScriptedServer.json(%{"issuer" => Agent.get(url, & &1), "jwks_uri" => Agent.get(url, & &1) <> "/keys"})
        end

        scripted = ScriptedServer.start(keys, host: "localhost")
        Agent.update(url, fn nil -> scripted.url end)
        # The silent issuer gets a short timeout. The others get a long one, for busy machines.
        server = serve(context, scripted.url, timeout: if(said =~ "timeout", do: 100, else: 5_000))
        now = System.system_time(:second)
        claims = ~s({"iss":"#{scripted.url}","aud":"#{@resource}","sub":"ada","exp":#{now + 3_600}})
        token = made(~s({"alg":"ES256","kid":"k"}), claims)

        log =
          capture_log(fn ->
            error = %{"code" => -32603, "message" => "The token cannot be checked now"}
            assert ask(server, bearer(token)) == {503, nil, %{"jsonrpc" => "2.0", "error" => error}}
          end)

        assert {said, log =~ said} == {said, true}, log
      end
    end

    @tag req: "T36"
    on_both "that is gone for longer than its keys may be used: 503, and then they are fetched anew", context do
      {server, issuer} = issued(context, max_stale: 1, cache: false)
      good = bearer(token(issuer))
      # On a busy machine new keys can be too old before they are used.
      eventually(fn -> match?({200, nil, _message}, ask(server, good)) end)
      Issuer.fail(issuer)
      capture_log(fn -> eventually(fn -> match?({503, nil, _message}, ask(server, good)) end) end)
      Issuer.recover(issuer)
      eventually(fn -> match?({200, nil, _message}, ask(server, good)) end)
    end
  end
end
