defmodule McpServer.HttpAuthTest do
  # `auth:`: the library checks access tokens, on both servers. The tags are the requirements, gaps and threats of
  # authorization.
  use McpServer.HttpCase, async: true

  import McpServer.TestLog

  alias McpServer.Auth.Issuer, as: Keys
  alias McpServer.HttpRouter
  alias McpServer.Protocol.HTTP
  alias McpServer.Test.Issuer

  @resource "http://localhost/mcp"
  @metadata_url "http://localhost/.well-known/oauth-protected-resource/mcp"
  @tail ~s(scope="mcp:use", resource_metadata="#{@metadata_url}")

  setup do
    issuer = start_supervised!(Issuer)
    {:ok, issuer: issuer, url: Issuer.url(issuer)}
  end

  defp serve(%{kind: kind, url: url}, auth \\ []) do
    auth = Keyword.merge([resource: @resource, issuer: url, scopes: ["mcp:use"]], auth)
    HttpServers.start(kind, router: HttpRouter, auth: auth)
  end

  defp token(%{issuer: issuer}, options \\ []),
    do: Issuer.token(issuer, Keyword.merge([audience: @resource, scopes: ["mcp:use"]], options))

  defp ask(server, headers, request \\ modern_call("granted")) do
    {response, [message]} = HttpClient.exchange(server, with_headers(request, headers))
    {response.status, HttpResponse.header(response, "www-authenticate"), message}
  end

  defp bearer(token), do: [{"authorization", "Bearer " <> token}]

  defp refused(error, text), do: ~s(Bearer error="#{error}", error_description="#{text}", #{@tail})

  defp assert_invalid(server, token, text) do
    assert {401, challenge, message} = ask(server, bearer(token))
    assert challenge == refused("invalid_token", text)
    assert message["error"] == %{"code" => -32600, "message" => "Unauthorized"}
    refute is_map_key(message, "id")
  end

  defp segment(term), do: Base.url_encode64(McpServer.JSON.encode!(term), padding: false)

  describe "a good token" do
    @tag req: ["R7", "G5"]
    on_both "is let in in both eras, with any algorithm, and says who asks", context do
      server = serve(context)

      for alg <- ["ES256", "EdDSA", "RS256", "PS256"] do
        # A key that was created after the last fetch is found like a rotated key.
        Issuer.token(context.issuer, alg: alg)
      end

      for alg <- ["ES256", "EdDSA", "RS256", "PS256"], typ <- [nil, "JWT", "application/at+JWT"] do
        token = token(context, alg: alg, header: %{"typ" => typ})
        assert {200, nil, message} = ask(server, bearer(token))
        assert HttpClient.text(message) == inspect({{context.url, "ada", "client"}, "ada", ["mcp:use"]})
      end

      session = HttpSession.open(server, "2025-11-25", headers: bearer(token(context)))
      assert HttpClient.text(HttpSession.call(session, "granted")) =~ ~s(["mcp:use"])
    end

    @tag req: "T16"
    on_both "may name the resource in a list and in another spelling", context do
      server = serve(context)

      for audience <- [["https://other.example", "HTTP://LOCALHOST:80/mcp/"], "http://localhost/mcp/"] do
        assert {200, nil, _message} = ask(server, bearer(token(context, claims: %{"aud" => audience})))
      end
    end

    @tag req: "T31"
    on_both "names its client by client_id, azp or cid", context do
      server = serve(context)

      for claim <- ["client_id", "azp", "cid"] do
        token = token(context, client_id: nil, claims: %{claim => "app"})
        assert {200, nil, message} = ask(server, bearer(token))
        assert HttpClient.text(message) == inspect({{context.url, "ada", "app"}, "ada", ["mcp:use"]})
      end
    end

    @tag req: "R13"
    on_both "may say a scope shorter than clients ask for it", context do
      server = serve(context, scopes: ["api://app/use"], implies: %{"use" => ["api://app/use"]})
      assert {200, nil, _message} = ask(server, bearer(token(context, claims: %{"scope" => nil, "scp" => "use"})))
      assert {401, challenge, _message} = ask(server, [])
      assert challenge == ~s(Bearer scope="api://app/use", resource_metadata="#{@metadata_url}")
    end

    @tag req: "R13"
    on_both "grants what its scopes imply", context do
      server = serve(context, implies: %{"admin" => ["mcp:use", "files:read"]})
      assert {200, nil, message} = ask(server, bearer(token(context, scopes: ["admin"])))
      assert HttpClient.text(message) =~ ~s(["admin", "files:read", "mcp:use"])
    end

    @tag req: "R7"
    on_both "may say its scopes and its audience in other claims", context do
      server =
        serve(context,
          audience: {:claim, "client_id", ["app"]},
          scope_claims: [{"realm_access", "roles"}],
          principal: "email"
        )

      claims = %{"realm_access" => %{"roles" => ["mcp:use"]}, "email" => "ada@example.com", "sub" => nil}
      assert {200, nil, message} = ask(server, bearer(token(context, client_id: "app", claims: claims)))
      assert HttpClient.text(message) == inspect({{context.url, "ada@example.com"}, nil, ["mcp:use"]})
      assert_invalid(server, token(context, claims: claims), "The access token is for another resource")
      # Earlier, all users without an address were one.
      nobody = token(context, client_id: "app", claims: %{claims | "email" => ""})
      assert_invalid(server, nobody, "The claims of the access token are not sufficient")
    end
  end

  describe "credentials" do
    @tag req: ["T1", "R3", "G1"]
    on_both "that are missing or of another scheme: a challenge without an error", context do
      server = serve(context)

      for headers <- [[], [{"authorization", "Basic YTpi"}], [{"authorization", "DPoP abc"}]],
          request <- [
            modern_call("granted"),
            modern("tools/list"),
            initialize(),
            legacy("ping"),
            get_stream(),
            delete()
          ] do
        request = of_session(request, "none")
        {response, [message]} = HttpClient.exchange(server, with_headers(request, headers))
        assert {response.status, HttpResponse.header(response, "www-authenticate")} == {401, "Bearer " <> @tail}
        assert HttpResponse.header(response, "cache-control") == "no-store"
        assert message == %{"jsonrpc" => "2.0", "error" => %{"code" => -32600, "message" => "Unauthorized"}}
      end
    end

    # RFC 6750 section 3: clients probe with a GET, and a wrong request must tell them where to log in.
    on_both "that are missing: the challenge comes before all else that is wrong", context do
      server = serve(context)
      granted = bearer(token(context))

      for {request, status} <- [
            {request("PUT"), 405},
            {request("GET"), 400},
            {request("GET", [{"accept", "text/html"}]), 406},
            {request("DELETE"), 400},
            {post("{", [{"content-type", "text/plain"}]), 415},
            {post("{", [{"content-encoding", "gzip"}]), 415},
            {post("{", [{"accept", "text/html"}]), 406},
            {post("{", [{"content-length", "9999999"}]), 413},
            {post("{"), 400}
          ] do
        assert {401, "Bearer " <> @tail, _message} = ask(server, [], request)
        assert {^status, nil, _message} = ask(server, granted, request)
      end
    end

    @tag req: ["T2", "R10"]
    on_both "that are malformed: 400", context do
      server = serve(context)
      good = token(context)
      expected = refused("invalid_request", "A request has one access token, in the header Authorization")

      for headers <- [
            bearer(good) ++ bearer(good),
            [{"authorization", "Bearer"}],
            bearer(good <> " x"),
            bearer("\"x\""),
            bearer("=")
          ] do
        error = %{"code" => -32600, "message" => "The request breaks the rules for sending a token"}
        assert ask(server, headers) == {400, expected, %{"jsonrpc" => "2.0", "error" => error}}
      end

      assert {200, nil, _message} = ask(server, [{"authorization", "bEARER   " <> good}])
    end

    @tag req: ["T3", "R6"]
    on_both "in the query are refused, beside good ones too", context do
      server = serve(context)
      good = token(context)
      expected = refused("invalid_request", "A request has one access token, in the header Authorization")

      queries = ["access_token=#{good}", "a=1&ACCESS%5Ftoken=x", "access%5ftoken", "a;access_token=x", "access_token"]

      for query <- queries, headers <- [[], bearer(good)] do
        request = %{modern_call("granted") | target: "/mcp?" <> query}
        log = capture_log(fn -> assert {400, ^expected, _message} = ask(server, headers, request) end)
        refute log =~ query
      end

      # A query that is no text may hide one.
      request = %{modern_call("granted") | target: "/mcp?access_token=x&y=\xFF"}
      assert {400, _challenge, _message} = ask(server, bearer(good), request)
      # Parameters with other names are allowed.
      request = %{modern_call("granted") | target: "/mcp?x_access_token=1&access=token"}
      assert {200, nil, _message} = ask(server, bearer(good), request)
      # A token that was verified before is refused too.
      request = %{modern_call("granted") | target: "/mcp?access_token=#{good}"}
      assert {400, ^expected, _message} = ask(server, bearer(good), request)
    end
  end

  describe "a bad token" do
    @tag req: ["T5", "T6", "T8", "T9", "T10", "T13"]
    on_both "by its header", context do
      server = serve(context)
      header = "The header of the access token is not allowed"
      algorithm = "The algorithm of the access token is not allowed"

      for {changes, text} <- [
            {%{"alg" => "none"}, algorithm},
            {%{"alg" => "None"}, algorithm},
            {%{"alg" => "HS256"}, algorithm},
            {%{"alg" => nil}, algorithm},
            {%{"alg" => 1}, "The access token is malformed"},
            {%{"alg" => "RS256"}, "The key of the access token is not known"},
            {%{"kid" => "../../key"}, "The key of the access token is not known"},
            {%{"kid" => 7}, "The access token is malformed"},
            {%{"kid" => String.duplicate("k", 257)}, "The key of the access token is not known"},
            {%{"jwk" => %{}}, header},
            {%{"jku" => "https://evil.example"}, header},
            {%{"x5u" => "https://evil.example"}, header},
            {%{"crit" => ["exp"]}, header},
            {%{"crit" => []}, header},
            {%{"b64" => false}, header},
            {%{"zip" => "DEF"}, header},
            {%{"cty" => "JWT"}, header},
            {%{"typ" => "dpop+jwt"}, "The token is not an access token"},
            {%{"typ" => "oauth-id-jag+jwt"}, "The token is not an access token"},
            {%{"pad" => String.duplicate("p", 1_400)}, "The access token is too large"}
          ] do
        assert_invalid(server, token(context, header: changes), text)
      end

      assert_invalid(
        server,
        token(context, claims: %{"x" => String.duplicate("x", 8_192)}),
        "The access token is too large"
      )

      # Members of Entra's token headers are ignored.
      assert {200, nil, _message} = ask(server, bearer(token(context, header: %{"x5t" => "abc", "x5c" => ["abc"]})))
    end

    @tag req: ["T14", "T15", "T16", "T17", "T18", "T19", "T20", "R8", "R9"]
    on_both "by its claims", context do
      server = serve(context)
      now = System.system_time(:second)
      claims = "The claims of the access token are not sufficient"
      resource = "The access token is for another resource"

      for {changes, text} <- [
            {%{"exp" => nil}, claims},
            {%{"exp" => "#{now + 60}"}, claims},
            {%{"exp" => -1}, claims},
            {%{"exp" => 9_007_199_254_740_994}, claims},
            {%{"nbf" => "now"}, claims},
            {%{"iat" => [now]}, claims},
            {%{"exp" => now - 31}, "The access token has expired"},
            {%{"nbf" => now + 3_600}, "The access token is not valid yet"},
            {%{"iat" => now + 3_600}, "The access token is not valid yet"},
            {%{"aud" => nil}, resource},
            {%{"aud" => 1}, resource},
            {%{"aud" => %{}}, resource},
            {%{"aud" => []}, resource},
            {%{"aud" => [@resource, 1]}, resource},
            {%{"aud" => "http://localhost/mcp2"}, resource},
            {%{"aud" => "http://localhost"}, resource},
            {%{"iss" => "https://evil.example"}, "The issuer of the access token is not known"},
            {%{"iss" => context.url <> "/"}, "The issuer of the access token is not known"},
            {%{"iss" => nil}, "The issuer of the access token is not known"},
            {%{"nonce" => "n", "scope" => nil, "client_id" => nil}, "The token is not an access token"},
            {%{"sub" => nil}, claims},
            {%{"sub" => String.duplicate("s", 257)}, claims},
            {%{"scope" => 1}, claims},
            {%{"cnf" => %{"jkt" => "x"}}, "The access token is bound to a key"}
          ] do
        assert_invalid(server, token(context, claims: changes), text)
      end

      assert {200, nil, _message} = ask(server, bearer(token(context, claims: %{"exp" => now - 5, "nbf" => now + 5})))
      assert {200, nil, _message} = ask(server, bearer(token(context, claims: %{"exp" => now + 60.5})))
    end

    @tag req: ["T6", "T7", "T11", "T12"]
    on_both "by its form and its signature", context do
      server = serve(context)
      good = token(context)
      [header, payload, signature] = String.split(good, ".")
      malformed = "The access token is malformed"
      wrong = "The signature of the access token is wrong"
      duplicate = Base.url_encode64(~s({"alg":"ES256","\\u0061lg":"none"}), padding: false)

      for {token, text} <- [
            {"abc", malformed},
            {"a.b.c", malformed},
            {good <> ".x", malformed},
            {Enum.join([header, payload, signature, "", ""], "."), malformed},
            {good <> "==", malformed},
            # Unused bits must be zero.
            {Enum.join([header, payload, String.slice(signature, 0, 85) <> "B"], "."), malformed},
            {Enum.join([header, payload, signature <> "A"], "."), wrong},
            {Enum.join([duplicate, payload, signature], "."), malformed},
            {Enum.join([header, segment("text"), signature], "."), malformed},
            {Enum.join([header, payload, ""], "."), wrong},
            {Enum.join([header, payload, String.slice(signature, 0, 84)], "."), wrong},
            {token(context, signature: :wrong), wrong}
          ] do
        error = %{"code" => -32600, "message" => "Unauthorized"}
        answer = {401, refused("invalid_token", text), %{"jsonrpc" => "2.0", "error" => error}}
        assert {token, ask(server, bearer(token))} == {token, answer}
      end
    end

    @tag req: "T12"
    on_both "is any that differs from a good one in a byte", context do
      server = serve(context)
      good = token(context)
      assert {200, nil, _message} = ask(server, bearer(good))

      # A sample of bytes from all three segments.
      for at <- 0..(byte_size(good) - 1)//7 do
        {before, <<byte, rest::binary>>} = String.split_at(good, at)
        other = if byte == ?A, do: ?B, else: ?A

        changed = <<before::binary, other, rest::binary>>
        assert {401, challenge, _message} = ask(server, bearer(changed))
        # The violated rule depends on the byte.
        assert challenge =~ ~r/\ABearer error="invalid_token", error_description="The [a-zA-Z ]+", #{@tail}\z/
      end
    end

    @tag req: ["R11", "R12", "R10"]
    on_both "with too small a scope: 403 that names all of the endpoint's", context do
      server = serve(context, scopes: ["mcp:use", "files:read"])

      assert {403, challenge, message} = ask(server, bearer(token(context)))

      assert challenge ==
               ~s(Bearer error="insufficient_scope", scope="mcp:use files:read", resource_metadata="#{@metadata_url}")

      assert message["error"] == %{"code" => -32600, "message" => "Forbidden"}
    end
  end

  describe "the issuer" do
    @tag req: ["T25", "R7"]
    on_both "that rotates its keys is followed, and the old ones go", context do
      server = serve(context, min_refresh: 1)
      old = token(context)
      assert {200, nil, _message} = ask(server, bearer(old))
      Issuer.rotate(context.issuer)
      new = token(context)
      eventually(fn -> match?({200, nil, _message}, ask(server, bearer(new))) end)
      # The verified tokens of a key are dropped with the key.
      assert_invalid(server, old, "The key of the access token is not known")
    end

    on_both "is forgotten when a test's issuer takes its port", context do
      server = serve(context, min_refresh: 600)
      assert {200, nil, _message} = ask(server, bearer(token(context)))
      # Simulates the next issuer on that port, which has other keys.
      Issuer.rotate(context.issuer)
      fetches = Issuer.fetches(context.issuer)
      :ok = McpServer.Auth.Issuer.forget_url(context.url)
      assert {200, nil, _message} = ask(server, bearer(token(context)))
      assert Issuer.fetches(context.issuer) > fetches
    end

    @tag :capture_log
    @tag req: "T25"
    on_both "is followed by another process when the one that fetches has died", context do
      server = serve(context, min_refresh: 600)
      old = token(context)
      assert {200, nil, _message} = ask(server, bearer(old))

      for {_, pid, _, [McpServer.Auth.Issuer]} <- DynamicSupervisor.which_children(McpServer.Http.RouteSupervisor),
          :sys.get_state(pid).source.issuer == context.url do
        monitor = Process.monitor(pid)
        Process.exit(pid, :kill)
        assert_receive {:DOWN, ^monitor, :process, ^pid, :killed}
      end

      # Tokens with known keys stay valid.
      assert {200, nil, _message} = ask(server, bearer(token(context)))
      Issuer.rotate(context.issuer)
      assert {200, nil, _message} = ask(server, bearer(token(context)))
      assert_invalid(server, old, "The key of the access token is not known")
    end

    @tag req: "T26"
    on_both "is asked once, whatever keys tokens name", context do
      server = serve(context)
      good = token(context)
      in_parallel(1..50, fn _n -> assert {200, nil, _message} = ask(server, bearer(good)) end)

      in_parallel(1..50, fn n ->
        assert_invalid(
          server,
          token(context, header: %{"kid" => "bogus-#{n}"}),
          "The key of the access token is not known"
        )
      end)

      assert Issuer.fetches(context.issuer) == 1
    end

    @tag req: "T26"
    test "lets 250 requests wait for unknown keys, and answers others at once", context do
      server = serve(Map.put(context, :kind, :listener), min_refresh: 1, timeout: 60_000)
      assert {200, nil, _message} = ask(server, bearer(token(context)))
      url = context.url
      [{source, keys}] = for {%{issuer: ^url} = source, keys, _until} <- :ets.tab2list(Keys), do: {source, keys}
      [process] = Registry.select(McpServer.Http.Registry, [{{{Keys, url, :_}, :"$1", :_}, [], [:"$1"]}])
      # The next fetch may begin a second after this one.
      Process.sleep(2_000)
      :ok = Issuer.stall(context.issuer)
      for _waiting <- 1..250, do: start_supervised!({Task, fn -> Keys.newer_keys(source, 1) end}, id: make_ref())
      assert eventually(fn -> length(:sys.get_state(process).waiting) == 250 end)
      assert Keys.newer_keys(source, 1) == {:error, {:unavailable, 5}}
      assert Keys.keys(source) == {:ok, keys}
      assert %{fetch: fetch, waiting: waiting} = :sys.get_state(process)
      assert {is_pid(fetch), length(waiting)} == {true, 250}
      :ok = Keys.forget(source)
    end

    @tag req: ["T36", "G6"]
    on_both "that does not answer: 503 without a challenge, until it does", context do
      server = serve(context)
      Issuer.fail(context.issuer)
      good = token(context)

      log =
        capture_log(fn ->
          {response, [message]} = HttpClient.exchange(server, with_headers(modern_call("granted"), bearer(good)))
          assert {response.status, HttpResponse.header(response, "retry-after")} == {503, "5"}
          assert HttpResponse.header(response, "www-authenticate") == nil
          assert message["error"] == %{"code" => -32603, "message" => "The token cannot be checked now"}
        end)

      assert log =~ "The keys of #{context.url} cannot be fetched: localhost answered 500"
      Issuer.recover(context.issuer)
      eventually(fn -> match?({200, nil, _message}, ask(server, bearer(good))) end)
      # Known keys stay valid.
      Issuer.fail(context.issuer)
      assert {200, nil, _message} = ask(server, bearer(token(context, subject: "bob")))
    end

    # Earlier, such a token got 401, and its client dropped it and could not log in again.
    on_both "that does not tell its new keys: 503 for tokens of these keys, until it does", context do
      for hide <- [&Issuer.fail/1, &Issuer.stall/1] do
        server = serve(context, min_refresh: 1, wait: 100)
        before = token(context)
        assert {200, nil, _message} = ask(server, bearer(before))
        # Until `min_refresh` has passed, the keys count as those that the issuer has.
        asked = System.monotonic_time(:second)
        eventually(fn -> System.monotonic_time(:second) > asked end)
        :ok = Issuer.rotate(context.issuer)
        rotated = token(context)
        hide.(context.issuer)

        for _time <- 1..2 do
          assert {503, nil, message} = ask(server, bearer(rotated))
          assert message["error"] == %{"code" => -32603, "message" => "The token cannot be checked now"}
        end

        assert {200, nil, _message} = ask(server, bearer(before))
        # A fetch that hangs ends with its process.
        Keys.forget_url(context.url)
        Issuer.recover(context.issuer)
        eventually(fn -> match?({200, nil, _message}, ask(server, bearer(rotated))) end)
      end
    end
  end

  describe "a token that was verified" do
    # The verdict on a request's bytes, before any process receives the request.
    defp judged(server, headers) do
      %{method: method, headers: own, body: body} = with_headers(modern_call("granted"), headers)

      lines =
        for {name, value} <- [{"host", "localhost"}, {"content-length", byte_size(body)} | own],
            do: "#{name}: #{value}\r\n"

      HTTP.next(:sys.get_state(server.pid).mount.service, "#{method} /mcp HTTP/1.1\r\n#{lines}\r\n#{body}", 0)
    end

    @tag req: ["T27", "T39"]
    test "lets requests in while they are read, and rules refuse them there", context do
      server = serve(Map.put(context, :kind, :listener))
      [good, expired] = [token(context), token(context, expires_in: -60)]
      assert {:head, _accepted, _context, _used, _framing, _continue?, _flow} = judged(server, bearer(good))
      assert {200, nil, _message} = ask(server, bearer(good))
      digest = :crypto.hash(:sha256, good)

      assert {:known, ^digest, {_head_bytes, used}, {:request, _fields, _events?, used, :keep_alive}} =
               judged(server, bearer(good))

      assert {:denied, :missing, {:reply, "HTTP/1.1 401" <> _response, _used, :keep_alive}} = judged(server, [])

      assert {:denied, :expired, {:reply, "HTTP/1.1 401" <> _response, _used, :keep_alive}} =
               judged(server, bearer(expired))

      assert {:denied, :malformed, {:reply, "HTTP/1.1 401" <> _response, _used, :keep_alive}} =
               judged(server, bearer("abc"))
    end

    @tag req: ["T39", "R10"]
    test "but grants too little is refused while its requests are read", context do
      server = serve(Map.put(context, :kind, :listener), scopes: ["mcp:use", "more"])
      poor = token(context)
      assert {403, challenge, message} = ask(server, bearer(poor))
      assert {:denied, :scope, {:reply, _response, _used, :keep_alive}} = judged(server, bearer(poor))
      assert {403, ^challenge, ^message} = ask(server, bearer(poor))
    end

    @tag req: "T39"
    test "does not count any more with its keys, with its time, and with its mount", context do
      server = serve(Map.put(context, :kind, :listener), min_refresh: 1, leeway: 0)
      good = token(context)
      assert {200, nil, _message} = ask(server, bearer(good))

      short =
        while_valid(fn seconds ->
          short = token(context, expires_in: seconds)
          assert {200, nil, _message} = ask(server, bearer(short))
          short
        end)

      eventually(fn -> match?({:denied, :expired, _reply}, judged(server, bearer(short))) end)
      assert {:known, _digest, _ends, _request} = judged(server, bearer(good))
      Issuer.rotate(context.issuer)
      new = token(context)
      eventually(fn -> match?({200, nil, _message}, ask(server, bearer(new))) end)
      assert {:head, _accepted, _context, _used, _framing, _continue?, _flow} = judged(server, bearer(good))
      other = serve(Map.put(context, :kind, :listener))
      assert {:head, _accepted, _context, _used, _framing, _continue?, _flow} = judged(other, bearer(new))
    end

    @tag req: "T39"
    test "and forgotten since is verified once more, in both eras", context do
      server = serve(Map.put(context, :kind, :listener))
      headers = bearer(token(context))
      session = HttpSession.open(server, "2025-11-25", headers: headers)
      call = "granted" |> legacy_call() |> of_session(session.id)

      for request <- [modern_call("granted"), call, initialize(), %{call | method: "DELETE", body: nil}] do
        assert {:known, _digest, _ends, _request} = judged(server, headers)
        # Other tests have entries, too.
        :ets.match_delete(McpServer.Auth.Cache, {{:sys.get_state(server.pid).mount.auth.id, :_}, :_})
        {response, _messages} = HttpClient.exchange(server, with_headers(request, headers))
        assert {request.method, response.status} in [{"POST", 200}, {"DELETE", 204}]
      end
    end

    @tag req: "T39"
    on_both "makes room for others where there is none", context do
      server = serve(context, cache: 2)
      tokens = for subject <- ~w(a b c d), do: token(context, subject: subject)

      for _round <- 1..2, token <- tokens do
        assert {200, nil, _message} = ask(server, bearer(token))
      end
    end
  end

  describe "sessions" do
    @tag req: ["T30", "T31", "G5"]
    on_both "belong to issuer, subject and client, whatever the token grants", context do
      server = serve(context)
      session = HttpSession.open(server, "2025-11-25", headers: bearer(token(context)))
      call = "granted" |> legacy_call() |> of_session(session.id)

      assert {200, nil, message} = ask(server, bearer(token(context, scopes: ["mcp:use", "more"])), call)
      assert HttpClient.text(message) =~ ~s(["mcp:use", "more"])
      not_found = %{"jsonrpc" => "2.0", "error" => %{"code" => -32600, "message" => "Session not found"}}

      for other <- [[subject: "bob"], [client_id: "other"]],
          do: assert(ask(server, bearer(token(context, other)), call) == {404, nil, not_found})
    end
  end

  describe "the metadata" do
    @tag req: ["R1", "R2"]
    test "follows from the options", context do
      server = serve(Map.put(context, :kind, :listener), metadata: %{resource_name: "Files"})

      for path <- ["/mcp", ""] do
        request = %{request("GET") | target: "/.well-known/oauth-protected-resource" <> path}
        response = HttpPeer.request(HttpPeer.connect(server.port), request)
        assert HttpResponse.header(response, "cache-control") == "public, max-age=3600"

        assert HttpResponse.json(response) == %{
                 "resource" => @resource,
                 "authorization_servers" => [context.url],
                 "scopes_supported" => ["mcp:use"],
                 "bearer_methods_supported" => ["header"],
                 "resource_name" => "Files"
               }
      end
    end

    @tag req: "R2"
    test "of a plug is served by a plug of the same options", context do
      auth = [resource: @resource, issuer: context.url]
      options = McpServer.HttpPlug.ResourceMetadata.init(auth: auth)
      conn = %{path_info: [".well-known", "other"], request_path: "/.well-known/other"}
      assert McpServer.HttpPlug.ResourceMetadata.call(conn, options) == conn
    end
  end

  describe "other tokens" do
    @secret String.duplicate("s", 32)

    @tag req: "T33"
    on_both "that are fixed are found by their digest", context do
      digest = Base.encode16(:crypto.hash(:sha256, @secret))
      tokens = %{{:sha256, digest} => [subject: "ci", scopes: ["mcp:use"]]}
      server = serve(context, tokens: tokens)
      assert {200, nil, message} = ask(server, bearer(@secret))
      assert HttpClient.text(message) == inspect({{:token, "ci", nil}, "ci", ["mcp:use"]})
      assert_invalid(server, @secret <> "x", "The access token is malformed")
      assert {200, nil, _message} = ask(server, bearer(token(context)))
    end

    # Earlier, they were one client: each had the sessions and tasks of the others.
    on_both "that are fixed and name nobody are different clients", context do
      other = String.duplicate("o", 32)
      digest = fn token -> {:sha256, Base.encode16(:crypto.hash(:sha256, token))} end

      server =
        for subject <- [[], [subject: ""], [subject: "", client_id: ""]] do
          grant = [scopes: ["mcp:use"]] ++ subject
          server = serve(context, tokens: Map.new([@secret, other], &{digest.(&1), grant}))

          said =
            for token <- [@secret, @secret, other], do: server |> ask(bearer(token)) |> elem(2) |> HttpClient.text()

          assert [one, one, another] = said
          assert one != another
          principal = {:token, {:sha256, :crypto.hash(:sha256, @secret)}, subject[:client_id]}
          assert one == inspect({principal, subject[:subject], ["mcp:use"]})
          server
        end
        |> hd()

      session = HttpSession.open(server, "2025-11-25", headers: bearer(@secret))
      request = of_session(legacy("ping"), session.id)
      assert {%{status: 200}, _messages} = HttpClient.exchange(server, with_headers(request, bearer(@secret)))
      assert {%{status: 404}, _messages} = HttpClient.exchange(server, with_headers(request, bearer(other)))
    end

    on_both "that are fixed have the principal that the options say", context do
      tokens = %{@secret => [subject: "ci", scopes: ["mcp:use"], claims: %{"team" => "blue"}]}
      users = %{"ci" => {:ok, {:user, 7}}}
      principal = fn auth -> Map.get(users, auth.subject, {:error, :forbidden}) end

      for {principal, expected} <- [{"team", {nil, "blue"}}, {principal, {:user, 7}}] do
        # A plug's options must not contain a secret.
        digest = {:sha256, Base.encode16(:crypto.hash(:sha256, @secret))}
        server = serve(context, tokens: %{digest => tokens[@secret]}, principal: principal)
        assert {200, nil, message} = ask(server, bearer(@secret))
        assert HttpClient.text(message) == inspect({expected, "ci", ["mcp:use"]})
      end

      digest = {:sha256, Base.encode16(:crypto.hash(:sha256, @secret))}
      computed = [subject: "other", scopes: ["mcp:use"], client_id: nil, claims: nil]
      server = serve(context, tokens: %{digest => computed}, principal: principal)
      assert {403, _challenge, _message} = ask(server, bearer(@secret))
    end

    test "that are signed with a secret", context do
      server = serve(Map.put(context, :kind, :listener), secret: @secret)
      now = System.system_time(:second)
      claims = %{"iss" => context.url, "sub" => "ada", "aud" => @resource, "exp" => now + 3_600, "scope" => "mcp:use"}
      input = segment(%{"alg" => "HS256"}) <> "." <> segment(claims)
      signed = &(input <> "." <> Base.url_encode64(:crypto.mac(:hmac, :sha256, &1, input), padding: false))
      assert {200, nil, _message} = ask(server, bearer(signed.(@secret)))
      assert_invalid(server, signed.(@secret <> "x"), "The signature of the access token is wrong")
      assert_invalid(server, token(context), "The algorithm of the access token is not allowed")
    end

    defmodule Tokens do
      @behaviour McpServer.Auth.Verifier

      @impl true
      def verify("good", _request, scopes), do: {:ok, %McpServer.Auth{principal: "ada", subject: "ada", scopes: scopes}}
      def verify("later", _request, _scopes), do: {:error, {:unavailable, 7}}

      def verify("bound", _request, scopes),
        do: {:ok, %McpServer.Auth{principal: "ada", scopes: scopes, claims: %{"cnf" => %{"x5t#S256" => "x"}}}}

      # A token of 8 KiB reaches the verifier, a longer one does not.
      def verify("a" <> _long = token, _request, scopes) when byte_size(token) <= 8_192,
        do: {:ok, %McpServer.Auth{principal: "ada", scopes: scopes}}

      def verify(_token, _request, _scopes), do: {:error, :invalid_token}
    end

    @tag req: ["T5", "T20"]
    on_both "are the verifier's", context do
      server = serve(context, verifier: {Tokens, ["mcp:use"]})
      assert {200, nil, _message} = ask(server, bearer(String.duplicate("a", 8_192)))
      assert_invalid(server, String.duplicate("a", 8_193), "The access token is too large")
      assert_invalid(server, "bound", "The access token is bound in a way that this server cannot check")
      assert {200, nil, message} = ask(server, bearer("good"))
      assert HttpClient.text(message) == ~s({"ada", "ada", ["mcp:use"]})
      assert_invalid(server, "bad", "The access token is not valid")
      assert {503, nil, _message} = ask(server, bearer("later"))
      assert {200, nil, _message} = ask(server, bearer(token(context)))
    end
  end

  describe "options" do
    @tag req: ["R5", "T28"]
    test "that are wrong say what is allowed", %{url: url} do
      good = [resource: @resource, issuer: url]

      for {auth, text} <- [
            {[issuer: url], "needs resource:"},
            {[resource: @resource], "or nobody can be let in"},
            {[resource: "http://mcp.example/mcp", issuer: url], "https, or http on loopback"},
            {[resource: "https://mcp.example/mcp#x", issuer: url], "without a fragment"},
            {[resource: @resource, issuer: "http://auth.example"], "https, or http on loopback"},
            {good ++ [scopes: ["offline_access"]], "a list of scopes"},
            {good ++ [scopes: ["two words"]], "a list of scopes"},
            {good ++ [algorithms: ["HS256"]], "only with secret:"},
            {good ++ [algorithms: ["none"]], "a list of RS256"},
            {good ++ [secret: "short"], "a string of at least 32 bytes"},
            {good ++ [tokens: %{"short" => [subject: "ci"]}], "a secret of at least 32 bytes"},
            {good ++ [implies: %{"a" => ["b"], "b" => ["a"]}], "implies itself"},
            {good ++ [keys: [%{"kty" => "oct", "k" => "abc"}]], "1 of the keys cannot verify tokens"},
            {good ++ [audience: []], "a list of strings"},
            {good ++ [leeway: 301], "from 0 to 300"},
            {[resource: @resource, issuer: "https://auth.example/a b"], "https, or http on loopback"},
            {[resource: @resource, issuer: "https://auth.example/\r\nX: 1"], "https, or http on loopback"},
            {good ++ [metadata: %{scopes_supported: ["mcp:use", "offline_access"]}], "without \"offline_access\""},
            {good ++ [metadata: %{"scopes_supported" => ["offline_access"]}], "without \"offline_access\""},
            {good ++ [tls: [verify: :verify_none]], "a list of the options cacerts:, cacertfile:, cert:"},
            {good ++ [fetch_hosts: ["http://10.0.0.1/"]], "a list of host names or addresses"},
            {good ++ [tokens: %{String.duplicate("a b", 12) => [subject: "ci"]}], "a secret of at least 32 bytes"},
            {good ++ [tokens: %{@secret => [scopes: "mcp:use"]}], "to a keyword list"},
            {good ++ [tokens: %{@secret => [subject: 1]}], "to a keyword list"},
            {good ++ [tokens: %{@secret => [claims: %{cnf: %{jkt: "x"}}]}], "to a keyword list"},
            {good ++ [isuer: url], "did you mean issuer?"}
          ] do
        error =
          assert_raise ArgumentError, fn -> McpServer.HttpServer.start_link(router: HttpRouter, port: 0, auth: auth) end

        assert Exception.message(error) =~ text
        refute Exception.message(error) =~ "short"
      end

      assert_raise ArgumentError, ~r/takes the place of identify:/, fn ->
        McpServer.HttpServer.start_link(router: HttpRouter, port: 0, auth: good, identify: fn _request -> {:ok, 1} end)
      end

      assert_raise ArgumentError, ~r/Write auth: {MyApp.Auth, :options}/, fn ->
        McpServer.HttpPlug.init(router: HttpRouter, auth: good ++ [secret: String.duplicate("s", 32)])
      end
    end

    def auth_options, do: [resource: @resource, issuer: "https://auth.example", tokens: %{@secret => [subject: "ci"]}]

    test "may come from a function, once the plug serves", _context do
      server = HttpServers.start(:plug, router: HttpRouter, auth: {__MODULE__, :auth_options})
      assert {200, nil, message} = ask(server, bearer(@secret))
      assert HttpClient.text(message) == ~s({{:token, "ci", nil}, "ci", []})
    end

    @tag req: "T34"
    test "with secrets are not printed" do
      plan = McpServer.Auth.Plan.new!("the test", auth_options())
      refute inspect(plan, limit: :infinity, structs: true) =~ @secret
      refute inspect(plan) =~ Base.encode16(:crypto.hash(:sha256, @secret))
    end
  end
end
