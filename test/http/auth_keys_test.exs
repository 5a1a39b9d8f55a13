defmodule McpServer.HttpAuthKeysTest do
  # Issuers that publish keys which must not verify tokens: their tokens are refused, and the good keys beside them
  # work. The tags are the threats of authorization.
  use McpServer.HttpCase, async: true

  import McpServer.TestLog

  alias McpServer.{HttpRouter, ScriptedServer}
  alias McpServer.Test.Key

  @resource "http://localhost/mcp"
  @tail ~s(scope="mcp:use", resource_metadata="http://localhost/.well-known/oauth-protected-resource/mcp")
  @primes [11, 13, 17, 19, 37, 53, 61, 71, 73, 79, 97, 103, 107, 109, 127, 151, 157]

  # A server whose issuer publishes these keys, the issuer's URL, and the log after the keys were fetched.
  defp serve(%{kind: kind}, jwks, good, options \\ []) do
    issuer = issuing(ScriptedServer.json(%{"keys" => jwks}))
    server = start(kind, issuer, options)
    log = capture_log(fn -> assert let_in?(server, token(good, issuer.url)) end)
    {server, issuer.url, log}
  end

  # An issuer that answers so to a request for its keys.
  defp issuing(keys) do
    script = fn
      %{target: "/keys"} -> keys
      %{headers: headers} -> ScriptedServer.json(metadata("http://" <> host(headers)))
    end

    ScriptedServer.start(script, host: "localhost")
  end

  defp start(kind, issuer, options) do
    auth = [resource: @resource, issuer: issuer.url, scopes: ["mcp:use"]] ++ options
    HttpServers.start(kind, router: HttpRouter, auth: auth)
  end

  # How often the keys were requested since the last question.
  defp fetches(fetched \\ 0) do
    receive do
      {:requested, _issuer, %{target: "/keys"}} -> fetches(fetched + 1)
    after
      0 -> fetched
    end
  end

  defp host(headers), do: Enum.find_value(headers, fn {name, value} -> String.downcase(name) == "host" && value end)
  defp metadata(url), do: %{"issuer" => url, "jwks_uri" => url <> "/keys"}

  defp key(algorithm, kid, members \\ %{}), do: Key.new(algorithm, Map.put(members, "kid", kid))

  defp token(key, issuer, header \\ %{}) do
    now = System.system_time(:second)
    claims = %{"iss" => issuer, "aud" => @resource, "sub" => "ada", "scope" => "mcp:use", "exp" => now + 300}
    Key.sign(key, %{"alg" => key.algorithm, "kid" => key.jwk["kid"]}, claims, header: header)
  end

  defp ask(server, token) do
    {response, [message]} = HttpClient.exchange(server, as(modern_call("granted"), token))
    {response.status, HttpResponse.header(response, "www-authenticate"), message}
  end

  defp let_in?(server, token), do: match?({200, nil, %{"result" => _granted}}, ask(server, token))

  defp refused(text) do
    challenge = ~s(Bearer error="invalid_token", error_description="#{text}", #{@tail})
    {401, challenge, %{"jsonrpc" => "2.0", "error" => %{"code" => -32600, "message" => "Unauthorized"}}}
  end

  # The JWK of this RSA key.
  defp rsa(kid, modulus, exponent) do
    [n, e] = for number <- [modulus, exponent], do: Key.encode(:binary.encode_unsigned(number))
    %{"kty" => "RSA", "kid" => kid, "n" => n, "e" => e}
  end

  defp modulus(bits), do: Integer.pow(2, bits - 1) + 12_345

  # A modulus in the form of CVE-2017-15361.
  defp roca do
    product = Enum.product(@primes)
    power = :binary.decode_unsigned(:crypto.mod_pow(65_537, 3, product))
    start = div(Integer.pow(2, 2047), product) + 1
    Enum.find_value(start..(start + 1), &if(rem(&1 * product + power, 2) == 1, do: &1 * product + power))
  end

  @tag req: "T28"
  on_both "weak keys are none: whatever they have signed is refused, and one warning says that they are there",
          context do
    good = key("ES256", "good")
    {[e, n], private} = :crypto.generate_key(:rsa, {1024, 65_537})

    short = %Key{
      algorithm: "RS256",
      private: private,
      jwk: rsa("short", :binary.decode_unsigned(n), :binary.decode_unsigned(e))
    }

    off_curve = key("ES256", "off the curve")
    off_curve = put_in(off_curve.jwk["x"], off_curve.jwk["y"])

    unsigned = [
      rsa("2047", modulus(2047), 65_537),
      rsa("8193", modulus(8193), 65_537),
      rsa("even", modulus(2048) + 1, 65_537),
      rsa("one", modulus(2048), 1),
      rsa("even exponent", modulus(2048), 65_536),
      rsa("large exponent", modulus(2048), Integer.pow(2, 64) + 1),
      rsa("roca", roca(), 65_537)
    ]

    jwks = [short.jwk, off_curve.jwk, good.jwk | unsigned]
    {server, issuer, log} = serve(context, jwks, good)
    assert log =~ "#{issuer}: 9 keys cannot verify tokens, and are not used"
    unknown = refused("The key of the access token is not known")

    for weak <- [short, off_curve | Enum.map(unsigned, &%{short | jwk: &1})] do
      assert {weak.jwk["kid"], ask(server, token(weak, issuer))} == {weak.jwk["kid"], unknown}
      # If a token names no key, the good key of its algorithm is tried.
      nameless = if weak == off_curve, do: refused("The signature of the access token is wrong"), else: unknown
      assert {weak.jwk["kid"], ask(server, token(weak, issuer, %{"kid" => nil}))} == {weak.jwk["kid"], nameless}
    end

    assert let_in?(server, token(good, issuer))
  end

  @tag req: "T29"
  on_both "keys that are private, symmetric or of one id are none", context do
    good = key("ES256", "good")
    private = key("ES256", "private")
    private = put_in(private.jwk["d"], Key.encode(private.private))
    secret = String.duplicate("s", 32)
    symmetric = %{"kty" => "oct", "kid" => "secret", "k" => Key.encode(secret)}
    twins = for _ <- 1..2, do: key("ES256", "twin")
    others = for {name, value} <- [{"use", "enc"}, {"alg", "ES384"}], do: key("ES256", name, %{name => value})

    jwks = [symmetric, good.jwk] ++ for(key <- [private | twins ++ others], do: key.jwk)
    {server, issuer, log} = serve(context, jwks, good)
    assert log =~ "#{issuer}: 6 keys cannot verify tokens, and are not used"

    for key <- [private | twins ++ others] do
      unknown = refused("The key of the access token is not known")
      assert {key.jwk, ask(server, token(key, issuer))} == {key.jwk, unknown}
    end

    # The published secret verifies no token, neither as HMAC nor under another algorithm's name.
    [_header, claims, _signature] = good |> token(issuer) |> String.split(".")

    for {algorithm, text} <- [
          {"HS256", "The algorithm of the access token is not allowed"},
          {"ES256", "The key of the access token is not known"}
        ] do
      input = Key.encode(~s({"alg":"#{algorithm}","kid":"secret"})) <> "." <> claims
      forged = input <> "." <> Key.encode(:crypto.mac(:hmac, :sha256, secret, input))
      assert {algorithm, ask(server, forged)} == {algorithm, refused(text)}
    end

    assert let_in?(server, token(good, issuer))
  end

  # RFC 7517 section 4.5: the kid is one for both, and the algorithm chooses.
  @tag req: "T29"
  on_both "keys of different types may have one id", context do
    keys = for algorithm <- ["ES256", "EdDSA", "RS256"], do: key(algorithm, "one")
    {server, issuer, log} = serve(context, for(key <- keys, do: key.jwk), hd(keys))
    refute log =~ ~r/#{Regex.escape(issuer)}: \d+ keys cannot verify tokens/
    for key <- keys, do: assert(let_in?(server, token(key, issuer)))
    # Two of one type are ambiguous, the others are not.
    {server, issuer, _log} = serve(context, [key("ES256", "one").jwk | for(key <- keys, do: key.jwk)], List.last(keys))
    assert ask(server, token(hd(keys), issuer)) == refused("The key of the access token is not known")
  end

  @tag req: "T29"
  on_both "a key that is published twice is one key", context do
    good = key("ES256", "good")
    edwards = key("EdDSA", "edwards")

    jwks =
      [good.jwk, Map.put(good.jwk, "use", "sig")] ++
        for(name <- ["EdDSA", "Ed25519"], do: Map.put(edwards.jwk, "alg", name))

    {server, issuer, _log} = serve(context, jwks, good)
    assert let_in?(server, token(edwards, issuer))
    assert let_in?(server, token(good, issuer, %{"kid" => nil}))
    # Another key of that id makes it ambiguous.
    {server, issuer, _log} = serve(context, [key("ES256", "good").jwk | jwks] ++ [key("ES256", "other").jwk], edwards)
    assert ask(server, token(good, issuer)) == refused("The key of the access token is not known")
  end

  @tag req: ["T26", "T39"]
  on_both "keys that were fetched again unchanged keep the tokens that they have verified", context do
    good = key("ES256", "good")
    {server, issuer, _log} = serve(context, [good.jwk], good, min_refresh: 1)
    assert let_in?(server, token(good, issuer))
    # The verified tokens belong to the keys, so they stay if these are the same.
    source_of = fn ->
      for {%{issuer: ^issuer} = source, {keys, n}, _at} <- :ets.tab2list(McpServer.Auth.Issuer), do: {source, keys, n}
    end

    assert [{source, keys, 1}] = source_of.()
    assert fetches() == 1
    Process.sleep(2_000)
    assert {:ok, {^keys, 1}} = McpServer.Auth.Issuer.newer_keys(source, 1)
    assert [{^source, ^keys, 1}] = source_of.()
    assert fetches() == 1
  end

  @tag req: "T26"
  on_both "keys that come later than a request waits: 503, and the fetch goes on", context do
    test = self()
    good = key("ES256", "good")

    late = fn connection ->
      send(test, {:asked, self()})
      receive do: (:answer -> ScriptedServer.push(connection, ScriptedServer.json(%{"keys" => [good.jwk]})))
    end

    issuer = issuing(late)
    server = start(context.kind, issuer, wait: 1)
    token = token(good, issuer.url)
    assert {503, nil, %{"error" => %{"message" => "The token cannot be checked now"}}} = ask(server, token)
    assert_receive {:asked, waiting}
    send(waiting, :answer)
    eventually(fn -> let_in?(server, token) end)
    refute_received {:asked, _again}
  end
end
