defmodule McpServer.HttpDpopTest do
  # `dpop:` of `auth:` (RFC 9449): tokens that are bound to a client's key, on both servers. Names with `sep-1932` are
  # those of the checks in MCP's conformance suite.
  use McpServer.HttpCase, async: true

  import McpServer.DualResponses, only: [create!: 3, server: 0]

  alias McpServer.{HttpRouter, Quota, RestServers}
  alias McpServer.Quota.Client
  alias McpServer.Test.{Issuer, Proof}

  @resource "http://localhost/mcp"
  @metadata_url "http://localhost/.well-known/oauth-protected-resource/mcp"
  @algs ~s(algs="ES256 ES384 ES512 EdDSA Ed25519 PS256 PS384 PS512 RS256 RS384 RS512")
  @tail ~s(scope="mcp:use", resource_metadata="#{@metadata_url}")

  setup do
    issuer = start_supervised!(Issuer)
    {:ok, issuer: issuer, url: Issuer.url(issuer), key: Proof.key()}
  end

  defp serve(%{kind: kind, url: url}, auth, options \\ []) do
    auth = Keyword.merge([resource: @resource, issuer: url, scopes: ["mcp:use"]], auth)
    HttpServers.start(kind, [router: HttpRouter, auth: HttpServers.secret_auth(kind, auth)] ++ options)
  end

  defp token(%{issuer: issuer}, options),
    do: Issuer.token(issuer, Keyword.merge([audience: @resource, scopes: ["mcp:use"]], options))

  defp proof(key, token, options \\ []) do
    {method, options} = Keyword.pop(options, :method, "POST")
    Proof.new(key, method, @resource, token, options)
  end

  defp bearer(token), do: [{"authorization", "Bearer " <> token}]
  defp dpop(token, proofs), do: [{"authorization", "DPoP " <> token} | Enum.map(List.wrap(proofs), &{"DPoP", &1})]

  defp ask(server, headers, request \\ modern_call("granted")) do
    {response, messages} = HttpClient.exchange(server, with_headers(request, headers))
    {response.status, HttpResponse.header(response, "www-authenticate"), List.last(messages)}
  end

  defp wrong_proof(text), do: ~s(DPoP error="invalid_dpop_proof", error_description="#{text}", #{@algs}, #{@tail})
  defp wrong_token(text), do: ~s(DPoP error="invalid_token", error_description="#{text}", #{@algs}, #{@tail})

  describe "sep-1932-server-validate-proof" do
    @tag req: "T20"
    on_both "a bound token with a proof of each algorithm, in both eras", context do
      server = serve(context, dpop: :required)

      for alg <- ["ES256", "EdDSA", "RS256", "PS256"] do
        key = Proof.key(alg)
        token = token(context, key: key)
        assert {200, nil, message} = ask(server, dpop(token, proof(key, token)))
        assert HttpClient.text(message) == inspect({{context.url, "ada", "client"}, "ada", ["mcp:use"]})
      end

      token = token(context, key: context.key)

      {opened, [_message]} =
        HttpClient.exchange(server, with_headers(initialize(), dpop(token, proof(context.key, token))))

      assert opened.status == 200
      id = HttpResponse.header(opened, "mcp-session-id")
      again = fn -> dpop(token, proof(context.key, token)) end

      assert {202, nil, _none} =
               ask(server, again.(), of_session(legacy("notifications/initialized", %{}, id: nil), id))

      assert {200, nil, _message} = ask(server, again.(), of_session(legacy_call("granted"), id))
      assert {401, challenge, _message} = ask(server, dpop(token, []), of_session(legacy_call("granted"), id))
      assert challenge == wrong_proof("The access token needs a proof in the header DPoP")
      deleting = dpop(token, proof(context.key, token, method: "DELETE"))
      assert {204, nil, _none} = ask(server, deleting, of_session(delete(), id))
    end

    @tag req: "T20"
    on_both "everything else is 401, with the reason", %{key: key} = context do
      server = serve(context, dpop: :required)
      token = token(context, key: key)
      other = token(context, key: key, subject: "bob")
      public = jwk(key)
      claims = "The claims of the proof are not sufficient"
      jwk = "The proof brings no public key of its algorithm"

      for {options, text} <- [
            {[signature: :wrong], "The signature of the proof is wrong"},
            {[header: %{"typ" => "jwt"}], "The proof is not of the type dpop+jwt"},
            {[header: %{"typ" => nil}], "The proof is not of the type dpop+jwt"},
            {[header: %{"jwk" => nil}], jwk},
            {[header: %{"jwk" => Map.put(public, "d", "AQ")}], jwk},
            {[header: %{"jwk" => Map.put(public, "x", "AQ")}], jwk},
            {[header: %{"jwk" => %{"kty" => "oct", "k" => "AQ"}}], jwk},
            {[header: %{"jwk" => jwk(Proof.key())}], "The access token is bound to another key"},
            {[header: %{"crit" => ["x"]}], "The header of the proof is not allowed"},
            {[claims: %{"jti" => nil}], claims},
            {[claims: %{"jti" => ""}], claims},
            {[claims: %{"jti" => String.duplicate("a", 257)}], claims},
            {[claims: %{"htm" => nil}], claims},
            {[claims: %{"htu" => nil}], claims},
            {[claims: %{"iat" => nil}], claims},
            {[claims: %{"iat" => "now"}], claims},
            {[claims: %{"ath" => nil}], claims},
            {[claims: %{"nonce" => 1}], claims},
            {[claims: %{"htm" => "GET"}], "The proof is for another method"},
            {[claims: %{"htm" => "post"}], "The proof is for another method"},
            {[claims: %{"htu" => "https://wrong.example.com/mcp"}], "The proof is for another URL"},
            {[claims: %{"htu" => "http://localhost/other"}], "The proof is for another URL"},
            {[claims: %{"ath" => "not-the-right-hash"}], "The proof is for another access token"}
          ] do
        assert {options, ask_proof(server, key, token, options)} == {options, {401, wrong_proof(text)}}
      end

      for {proofs, text} <- [
            {[], "The access token needs a proof in the header DPoP"},
            {[proof(key, token), proof(key, token)], "A request has one proof, in the header DPoP"},
            {["this-is-not-a-jwt"], "The proof is malformed"},
            {[proof(key, token) <> ", " <> proof(key, token)], "The proof is malformed"},
            {[proof(key, other)], "The proof is for another access token"},
            {[proof(Proof.key(), token)], "The access token is bound to another key"}
          ] do
        assert {401, challenge, message} = ask(server, dpop(token, proofs))
        assert challenge == wrong_proof(text)
        assert message["error"] == %{"code" => -32600, "message" => "Unauthorized"}
      end

      assert {200, nil, _message} = ask(server, dpop(token, proof(key, token)))
    end

    on_both "a proof is worth something once, on whatever listener of the resource", %{key: key} = context do
      servers = for _ <- 1..2, do: serve(context, dpop: :required)
      token = token(context, key: key)
      used = proof(key, token)
      assert {200, nil, _message} = ask(hd(servers), dpop(token, used))

      for server <- servers do
        assert {401, challenge, _message} = ask(server, dpop(token, used))
        assert challenge == wrong_proof("The proof was used before")
      end

      # Proofs are identified by key and id: another key may use the same id.
      other = Proof.key()
      of_other = token(context, key: other)
      assert {200, nil, _message} = ask(hd(servers), dpop(of_other, proof(other, of_other, claims: %{"jti" => "a"})))
      assert {200, nil, _message} = ask(hd(servers), dpop(token, proof(key, token, claims: %{"jti" => "a"})))
      iat = System.system_time(:second) - 5
      again = proof(key, token, claims: %{"jti" => "a", "iat" => iat})
      assert {401, challenge, _message} = ask(hd(servers), dpop(token, again))
      assert challenge == wrong_proof("The proof was used before")
    end

    @tag req: "T42"
    on_both "the URL is the configured one, whatever host a request names", %{key: key} = context do
      server = serve(context, [dpop: :required], allowed_hosts: ["evil.example"])
      token = token(context, key: key)

      for host <- ["127.0.0.1", "evil.example"] do
        evil = proof(key, token, claims: %{"htu" => "http://#{host}/mcp"})
        assert {401, challenge, _message} = ask(server, dpop(token, evil) ++ [{"host", host}])
        assert challenge == wrong_proof("The proof is for another URL")
        assert {200, nil, _message} = ask(server, dpop(token, proof(key, token)) ++ [{"host", host}])
      end

      for same <- ["HTTP://LOCALHOST:80/mcp", "http://localhost/mcp?a=b#c", "http://localhost/%6dcp"] do
        assert {200, nil, _message} = ask(server, dpop(token, proof(key, token, claims: %{"htu" => same})))
      end
    end
  end

  describe "sep-1932-server-iat-window" do
    on_both "five minutes to either side, or less", %{key: key} = context do
      token = token(context, key: key)
      wrong = {401, wrong_proof("The time of the proof is too far from now")}

      for {auth, near, far} <- [{[], 290, 310}, {[dpop_window: 60], 50, 70}], sign <- [1, -1] do
        server = serve(context, [dpop: :required] ++ auth)
        assert {200, nil} = ask_in_time(server, key, token, "iat", sign * near)
        assert ask_in_time(server, key, token, "iat", sign * far) == wrong
      end

      server = serve(context, dpop: :required)
      assert ask_in_time(server, key, token, "exp", -1) == wrong
    end

    # The claim is so many seconds from now. Asks again if ten of them have passed before the answer.
    defp ask_in_time(server, key, token, claim, seconds) do
      now = System.system_time(:second)
      answer = ask_proof(server, key, token, claims: %{claim => now + seconds})

      if System.system_time(:second) - now < 10,
        do: answer,
        else: ask_in_time(server, key, token, claim, seconds)
    end
  end

  describe "sep-1932-asymmetric-alg-only" do
    on_both "neither none nor a shared secret", %{key: key} = context do
      server = serve(context, dpop: :required)
      token = token(context, key: key)

      for alg <- ["none", "HS256", "HS512", "ES256K", "es256", nil] do
        assert {alg, ask_proof(server, key, token, header: %{"alg" => alg})} ==
                 {alg, {401, wrong_proof("The algorithm of the proof is not allowed")}}
      end

      text = "The proof brings no public key of its algorithm"
      assert ask_proof(server, key, token, header: %{"alg" => "ES384"}) == {401, wrong_proof(text)}
    end
  end

  describe "sep-1932-server-audience-validation" do
    @tag req: ["R8", "T21"]
    on_both "a token for another resource, badly signed or expired is refused with a good proof", context do
      %{key: key} = context
      server = serve(context, dpop: :required)

      for {options, text} <- [
            {[audience: "https://not-this-server.example.com/mcp"], "The access token is for another resource"},
            {[signature: :wrong], "The signature of the access token is wrong"},
            {[expires_in: -31], "The access token has expired"}
          ] do
        token = token(context, [key: key] ++ options)
        assert {401, challenge, _message} = ask(server, dpop(token, proof(key, token)))
        assert challenge == wrong_token(text)
      end

      narrow = token(context, key: key, scopes: [])
      assert {403, challenge, _message} = ask(server, dpop(narrow, proof(key, narrow)))
      assert challenge == ~s(DPoP error="insufficient_scope", #{@algs}, #{@tail})
    end
  end

  describe "sep-1932-server-nonce" do
    test "a proof without the nonce belongs to the protocol, so its 401 is not delayed", %{key: key} = context do
      auth = [dpop: :required, dpop_nonce: 3_600]
      server = serve(Map.put(context, :kind, :listener), auth, http: [max_invalid_tokens: 1])
      token = token(context, key: key)
      for _ <- 1..5, do: assert({401, "DPoP error=\"use_dpop_nonce" <> _} = ask_proof(server, key, token, []))
      assert McpServer.HttpServer.stats(server.pid).delayed == 0
    end

    on_both "a proof needs the server's nonce, which every 401 brings", %{key: key} = context do
      # The nonce's time does not end during this test.
      server = serve(context, dpop: :required, dpop_nonce: 3_600)
      token = token(context, key: key)
      wanted = "The proof needs the nonce of the header DPoP-Nonce"
      challenge = ~s(DPoP error="use_dpop_nonce", error_description="#{wanted}", #{@algs}, #{@tail})

      for nonce <- [nil, "definitely-not-the-server-nonce", String.duplicate("A", 43)] do
        {response, _messages} = exchange(server, dpop(token, proof(key, token, nonce: nonce)))
        assert {response.status, HttpResponse.header(response, "www-authenticate")} == {401, challenge}
      end

      nonces =
        for headers <- [[], bearer(token), dpop(token, proof(key, token)), dpop(token, "x")] do
          {response, _messages} = exchange(server, headers)
          assert response.status == 401
          HttpResponse.header(response, "dpop-nonce")
        end

      assert [nonce] = Enum.uniq(nonces)
      assert byte_size(nonce) == 43
      {response, _messages} = exchange(server, dpop(token, proof(key, token, nonce: nonce)))
      assert {response.status, HttpResponse.header(response, "dpop-nonce")} == {200, nil}
      # Any server with the same secret and resource accepts it.
      same = serve(context, dpop: :required, dpop_nonce: 3_600)
      assert {200, nil} = ask_proof(same, key, token, nonce: nonce)
    end

    test "changes with its time, and the one before is good as long again", context do
      auth = [resource: @resource, issuer: context.url, dpop: :required, dpop_nonce: 1]
      plan = McpServer.Auth.Plan.new!("the test", auth)
      token = token(context, key: context.key)

      identify = fn nonce ->
        headers = [{"authorization", "DPoP " <> token}, {"dpop", proof(context.key, token, nonce: nonce)}]
        request = %McpServer.HttpRequest{method: "POST", request_path: "/mcp", req_headers: headers}
        McpServer.Auth.Verification.identify(plan, request)
      end

      assert {:error, %{error: "use_dpop_nonce", nonce: first}} = identify.(nil)
      assert {:ok, _auth} = identify.(first)
      eventually(fn -> match?({:error, %{error: "use_dpop_nonce"}}, identify.(first)) end)
      assert {:error, %{nonce: second}} = identify.(first)
      assert second != first
      assert {:ok, _auth} = identify.(second)
    end
  end

  describe "sep-1932-server-reject-401" do
    @tag req: ["T1", "T20"]
    on_both "required: no bearer token, and a challenge for proofs alone", %{key: key} = context do
      server = serve(context, dpop: :required)
      plain = token(context, [])
      bound = token(context, key: key)
      assert {401, "DPoP " <> @algs <> ", " <> @tail, _message} = ask(server, [])
      assert {401, "DPoP " <> @algs <> ", " <> @tail, _message} = ask(server, [{"authorization", "Basic YTpi"}])

      for {headers, text} <- [
            {bearer(plain), "The access token must be bound to a key"},
            {bearer(bound), "The access token is bound to a key"},
            {bearer(bound) ++ [{"DPoP", proof(key, bound)}], "The access token is bound to a key"},
            {dpop(plain, proof(key, plain)), "The access token is not bound to a key"}
          ] do
        assert {401, challenge, _message} = ask(server, headers)
        assert challenge == wrong_token(text)
      end

      malformed =
        ~s(error="invalid_request", error_description="A request has one access token, in the header Authorization")

      for headers <- [
            [{"authorization", "DPoP a b"}],
            [{"authorization", "DPoP"}],
            dpop(bound, proof(key, bound)) ++ bearer(plain)
          ] do
        assert {400, challenge, _message} = ask(server, headers)
        assert challenge == "DPoP #{malformed}, #{@algs}, #{@tail}"
      end
    end

    @tag req: ["T1", "T20"]
    on_both "optional: both kinds of tokens, each in its own way", %{key: key} = context do
      server = serve(context, dpop: :optional)
      plain = token(context, [])
      bound = token(context, key: key)
      assert {200, nil, _message} = ask(server, bearer(plain))
      assert {200, nil, _message} = ask(server, dpop(bound, proof(key, bound)))
      assert {401, challenge, _message} = ask(server, [])
      assert challenge == "DPoP #{@algs}, #{@tail}, Bearer #{@tail}"

      # The result is the same after the token was verified.
      for {headers, text} <- [
            {bearer(bound), "The access token is bound to a key"},
            {bearer(bound) ++ [{"DPoP", proof(key, bound)}], "The access token is bound to a key"},
            {dpop(plain, proof(key, plain)), "The access token is not bound to a key"}
          ] do
        said = ~s(error="invalid_token", error_description="#{text}")
        assert {401, challenge, _message} = ask(server, headers)
        assert challenge == "DPoP #{said}, #{@algs}, #{@tail}, Bearer #{said}, #{@tail}"
      end

      assert {401, challenge, _message} = ask(server, dpop(bound, []))
      assert challenge == wrong_proof("The access token needs a proof in the header DPoP") <> ", Bearer " <> @tail
      # Some clients read only the first challenge, so it must name the scopes.
      assert {403, challenge, _message} = ask(server, bearer(token(context, scopes: [])))

      assert challenge ==
               ~s(Bearer error="insufficient_scope", #{@tail}, DPoP error="insufficient_scope", #{@algs}, #{@tail})
    end

    @tag req: ["T1", "T20"]
    on_both "off: a bound token is worth nothing, and the scheme is not known", %{key: key} = context do
      server = serve(context, [])
      bound = token(context, key: key)
      assert {401, "Bearer " <> @tail, _message} = ask(server, dpop(bound, proof(key, bound)))
      assert {401, "Bearer " <> @tail, _message} = ask(server, [{"authorization", "DPoP a b"}])
      assert {401, challenge, _message} = ask(server, bearer(bound))

      assert challenge ==
               ~s(Bearer error="invalid_token", error_description="The access token is bound to a key", #{@tail})
    end

    @tag req: "T20"
    on_both "a token that is bound to something else is refused in each way", %{key: key} = context do
      server = serve(context, dpop: :optional)
      thumbprint = Proof.thumbprint(key)

      for cnf <- [%{}, "x", %{"jkt" => 1}, %{"x5t#S256" => "x"}, %{"jkt" => thumbprint, "x5t#S256" => "x"}] do
        token = token(context, claims: %{"cnf" => cnf})

        for headers <- [bearer(token), dpop(token, proof(key, token))] do
          assert {401, ~s(DPoP error="invalid_token", error_description="The access token is bound to a key") <> _, _} =
                   ask(server, headers)
        end
      end
    end
  end

  describe "sources of tokens" do
    on_both "opaque ones are bound if their issuer says so", %{key: key} = context do
      server = serve(context, dpop: :optional, introspection: [client_id: "mcp", client_secret: "secret"])
      opaque = &Issuer.opaque_token(context.issuer, [audience: @resource, scopes: ["mcp:use"]] ++ &1)
      bound = opaque.(key: key)
      assert {200, nil, _message} = ask(server, dpop(bound, proof(key, bound)))
      assert {200, nil, _message} = ask(server, bearer(opaque.([])))

      assert {401, ~s(DPoP error="invalid_token", error_description="The access token is bound to a key") <> _, _} =
               ask(server, bearer(bound))

      # The introspection response contains the token type but no key.
      typed = opaque.(claims: %{"token_type" => "DPoP"})

      for headers <- [bearer(typed), dpop(typed, proof(key, typed))] do
        assert {401, ~s(DPoP error="invalid_token", error_description="The token is not an access token") <> _, _} =
                 ask(server, headers)
      end
    end

    on_both "fixed ones are bound if their claims say so", %{key: key} = context do
      [free, bound] = for _ <- 1..2, do: Base.encode16(:crypto.strong_rand_bytes(32))
      cnf = %{"cnf" => %{"jkt" => Proof.thumbprint(key)}}
      tokens = %{free => [scopes: ["mcp:use"]], bound => [scopes: ["mcp:use"], claims: cnf]}

      for {mode, expected} <- [optional: {200, 401, 200}, required: {401, 401, 200}] do
        server = serve(context, dpop: mode, tokens: tokens)
        requests = [bearer(free), bearer(bound), dpop(bound, proof(key, bound))]
        statuses = for headers <- requests, do: elem(ask(server, headers), 0)
        assert {mode, List.to_tuple(statuses)} == {mode, expected}
      end

      other = %{free => [scopes: ["mcp:use"], claims: %{"cnf" => %{"x5t#S256" => "x"}}]}
      server = serve(context, dpop: :optional, tokens: other)

      for headers <- [bearer(free), dpop(free, proof(key, free))] do
        assert {401, challenge, _message} = ask(server, headers)
        assert challenge =~ ~s(DPoP error="invalid_token", error_description="The access token is bound in a way that)
      end

      error = assert_raise ArgumentError, fn -> McpServer.Auth.Plan.new!("x", resource: @resource, tokens: tokens) end
      assert Exception.message(error) =~ "`cnf` binds it to a key, which needs dpop: :optional or :required"
    end

    on_both "clients without a token may do what anonymous: says", context do
      server = serve(context, dpop: :required, anonymous: :discovery)
      assert {200, nil, _message} = ask(server, [], modern("tools/list"))
      assert {401, "DPoP " <> @algs <> ", " <> @tail, _message} = ask(server, [])
      assert {401, _challenge, _message} = ask(server, bearer(token(context, [])), modern("tools/list"))
    end

    def tenant(_issuer), do: {:ok, audience: [@resource]}

    on_both "tenants are asked for as all issuers are", %{key: key} = context do
      metadata = %{authorization_servers: [context.url]}
      server = serve(context, dpop: :required, issuer: [], issuers: {__MODULE__, :tenant}, metadata: metadata)
      bound = token(context, key: key)
      assert {200, nil, _message} = ask(server, dpop(bound, proof(key, bound)))
      assert {401, challenge, _message} = ask(server, bearer(token(context, [])))
      assert challenge == wrong_token("The access token must be bound to a key")
    end
  end

  describe "elsewhere" do
    @tag req: "T20"
    on_both "stored results take a proof for their own URL", %{kind: kind, key: key} = context do
      results = server()
      path = "/results/" <> create!(results, 5, subject: {context.url, "ada", "client"}).resource_id
      routes = [{"/results", {McpServer.DualResponse.Rest, server: results}}]
      server = serve(%{context | kind: kind}, [dpop: :required, dpop_nonce: 3_600], routes: routes)
      token = token(context, key: key)

      ask = fn headers ->
        response = RestServers.ask(server, "GET", path, headers: headers)
        [challenge, nonce] = for name <- ["www-authenticate", "dpop-nonce"], do: HttpResponse.header(response, name)
        {response.status, challenge, nonce}
      end

      assert {401, "DPoP " <> @algs <> ", " <> @tail, nonce} = ask.([])
      prove = &dpop(token, Proof.new(key, "GET", &1, token, nonce: nonce))
      proved = prove.("http://localhost" <> path)
      assert ask.(proved) == {200, nil, nil}
      # Another spelling of the path is the same request.
      for same <- [path, path <> "/"] do
        response = RestServers.ask(server, "GET", same, headers: proved)
        challenge = HttpResponse.header(response, "www-authenticate")
        assert {same, response.status, challenge} == {same, 401, wrong_proof("The proof was used before")}
      end

      assert ask.(prove.(@resource)) == {401, wrong_proof("The proof is for another URL"), nonce}
      assert ask.(bearer(token)) == {401, wrong_token("The access token is bound to a key"), nonce}
    end

    test "the metadata says what is needed", context do
      for {mode, required} <- [optional: false, required: true] do
        server = serve(Map.put(context, :kind, :listener), dpop: mode)
        request = %{request("GET") | target: "/.well-known/oauth-protected-resource/mcp"}
        response = HttpPeer.request(HttpPeer.connect(server.port), request)
        document = McpServer.JSON.decode!(response.body)
        assert document["dpop_bound_access_tokens_required"] == required
        assert ~s(algs="#{Enum.join(document["dpop_signing_alg_values_supported"], " ")}") == @algs
      end
    end

    on_both "a stream takes a proof as any request does, and ends with its token", %{key: key} = context do
      server = serve(context, dpop: :required)
      token = token(context, key: key)
      {opened, _messages} = HttpClient.exchange(server, with_headers(initialize(), dpop(token, proof(key, token))))
      id = HttpResponse.header(opened, "mcp-session-id")
      stream = of_session(get_stream(), id)
      assert {401, _challenge, _message} = ask(server, dpop(token, proof(key, token)), stream)
      {peer, response} = open_briefly(server, context, stream, 1)
      assert HttpClient.messages(peer, response) == []
    end

    on_both "a client without a subject has its own share", %{key: key, url: url} = context do
      server = serve(context, dpop: :optional, principal: "client_id")
      token = token(context, key: key, claims: %{"sub" => nil, "client_id" => "client-#{context.kind}"})
      assert {200, nil, _message} = ask(server, dpop(token, proof(key, token)))
      assert Quota.held(Quota.of_node(), :proofs, Client.new({url, "client-#{context.kind}"}, nil)) == 1
    end

    # Earlier, all users of a client were one.
    on_both "users whom only their names tell apart have shares of their own", %{key: key, url: url} = context do
      server = serve(context, dpop: :optional, principal: "username")

      for name <- ["ada-#{context.kind}", "bob-#{context.kind}"] do
        token = token(context, key: key, claims: %{"sub" => nil, "client_id" => "app", "username" => name})
        assert {200, nil, _message} = ask(server, dpop(token, proof(key, token)))
        assert Quota.held(Quota.of_node(), :proofs, Client.new({url, {:username, name}}, nil)) == 1
      end
    end

    # A stream whose token is accepted for that many seconds more, or longer if the machine is too busy for that.
    defp open_briefly(server, %{key: key} = context, stream, seconds) do
      short = token(context, key: key, expires_in: seconds - 30)

      case HttpClient.open(server, with_headers(stream, dpop(short, proof(key, short, method: "GET")))) do
        {peer, %{status: 200, body: :stream} = response} -> {peer, response}
        {_peer, %{status: 401}} when seconds < 30 -> open_briefly(server, context, stream, 2 * seconds)
      end
    end
  end

  # The key and the thumbprint of RFC 9449, section 6.1, and the proof of section 7.1.
  @rfc_proof "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19.eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9yZy9wcm90ZWN0ZWRyZXNvdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05yV0JiMHhXWG9hTnk1OUlpS0NBcWtzbVFFbyJ9.2oW9RP35yRqzhrtNP86L-Ey71EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA"

  test "RFC 9449's own example is verified, and no byte of it may change" do
    token = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU"
    hash = Base.url_encode64(:crypto.hash(:sha256, token), padding: false)
    assert hash == "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo"
    url = "https://resource.example.org/protectedresource"
    facts = %{method: "GET", url: url, token_hash: hash, now: 1_562_262_618, window: 300}
    judged = &McpServer.Protocol.Auth.proof([{"dpop", &1}], facts)
    assert {:ok, proof} = judged.(@rfc_proof)
    assert McpServer.Auth.Signature.valid?(proof)
    thumbprint = Base.url_encode64(:crypto.hash(:sha256, proof.thumbprint_text), padding: false)
    assert thumbprint == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"

    assert McpServer.Protocol.Auth.proof_verified(proof) ==
             %{id: "e1j3V_bKic8-LAEB", nonce: nil, issued_at: 1_562_262_618}

    for place <- 0..(byte_size(@rfc_proof) - 1), letter <- ["A", "B"], binary_part(@rfc_proof, place, 1) != letter do
      {before, <<_byte, rest::binary>>} = String.split_at(@rfc_proof, place)

      with {:ok, changed} <- judged.(before <> letter <> rest),
           do: assert({place, McpServer.Auth.Signature.valid?(changed)} == {place, false})
    end
  end

  defp jwk(key) do
    [header | _others] = String.split(proof(key, "t"), ".")
    header |> Base.url_decode64!(padding: false) |> McpServer.JSON.decode!() |> Map.fetch!("jwk")
  end

  defp exchange(server, headers), do: HttpClient.exchange(server, with_headers(modern_call("granted"), headers))

  defp ask_proof(server, key, token, options) do
    {status, challenge, _message} = ask(server, dpop(token, proof(key, token, options)))
    {status, challenge}
  end
end
