defmodule McpServer.Auth.Options do
  @moduledoc false
  # The option `auth:` of a server. One table defines its checks and its documentation.

  alias McpServer.Auth.Scopes
  alias McpServer.{Fetch, Options}
  alias McpServer.Fetch.{Address, TLS}

  @algorithms ~w(RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519)
  @secret_algorithms ~w(HS256 HS384 HS512)
  @day 86_400

  @doc "The options."
  @spec table() :: Options.table()
  def table do
    [
      resource: [:string, required: true, doc: "the URL that clients connect to; https, or http on loopback"],
      issuer: [
        {"a URL, or a list of URLs", &(texts?(&1) or is_binary(&1))},
        default: [],
        doc: "the authorization servers whose tokens are accepted"
      ],
      issuers: [
        {:or, [nil], {"a function of one argument or {module, function}", &hook?/1}},
        doc:
          "a function for authorization servers that are not listed, such as those of tenants: gets `iss`, returns `{:ok, options}` with options for this server, or `:error`; the results are cached for 300 seconds, of at most 100 issuers whose tokens were verified and 100 that tokens only name"
      ],
      audience: [
        {"a list of strings, {:claim, name, strings} or :introspection", &audience?/1},
        shown: "the resource",
        doc:
          "the audience of tokens: one of these in `aud`, or in another claim: `{:claim, \"client_id\", [\"my-app\"]}`; `:introspection` if the issuer answers only about tokens for this server"
      ],
      scopes: [{"a list of scopes", &scopes?/1}, default: [], doc: "scopes that every request needs"],
      implies: [
        {"a map from a scope to a list of scopes", &implies?/1},
        default: %{},
        doc: "scopes that imply others: `%{\"files:write\" => [\"files:read\"]}`"
      ],
      scope_claims: [
        {"a list of claims, each a string or a tuple of strings", &claims_paths?/1},
        default: ["scope", "scp"],
        doc:
          "claims with the scopes of a token, texts or lists; the first existing claim counts; `{\"realm_access\", \"roles\"}` is nested"
      ],
      principal: [
        {:or, [nil], {"the name of a claim, a function of one argument or {module, function}", &principal?/1}},
        shown: "issuer, subject and client",
        doc:
          "`conn.principal`: a claim, or the term of a function of the `McpServer.Auth` that returns `{:ok, term}`; `{:error, :forbidden}` refuses the request"
      ],
      algorithms: [
        {"a list of #{Enum.join(@algorithms ++ @secret_algorithms, ", ")}", &algorithms?/1},
        shown: "RS, PS, ES with 256, 384, 512, EdDSA; HS only with `secret:`",
        doc: "algorithms of signatures; the key decides, not the token"
      ],
      keys: [
        {:or, [nil], {"a list of JWK maps", &maps?/1}},
        shown: "discovery",
        doc: "the public keys, if they do not change"
      ],
      jwks_uri: [
        {:or, [nil], :string},
        shown: "discovery",
        doc: "the URL of the keys, if the issuer's metadata does not have it"
      ],
      secret: [
        {:or, [nil], {"a string of at least 32 bytes", &secret?/1}},
        secret: true,
        doc: "the secret of HMAC signatures, in place of keys"
      ],
      tokens: [
        {"a map from a secret of at least 32 bytes, or {:sha256, hex}, to a keyword list", &tokens?/1},
        default: %{},
        secret: true,
        shown: "none",
        doc: "fixed tokens: `%{secret => [subject: \"ci\", scopes: [\"deploy\"]]}`; a shorter secret needs `weak: true`"
      ],
      introspection: [
        {:or, [nil], {"a keyword list with client_id: and client_secret:", &introspection?/1}},
        secret: true,
        doc:
          "asks the issuer about unsigned tokens (RFC 7662): `[client_id: \"mcp\", client_secret: secret]`, optionally `endpoint:` (from the metadata), `auth: :post` (`:basic`), `always: true` for signed tokens too, `cache:` (30_000 milliseconds)"
      ],
      verifier: [
        {:or, [nil], {"a module or {module, options}", &verifier?/1}},
        doc: "a `McpServer.Auth.Verifier`, for tokens without a known issuer"
      ],
      anonymous: [
        {:in, [false, :discovery, :all]},
        default: false,
        doc:
          "rights of clients without a token: `:discovery` to discover the server, open a session and read the lists; `:all` also to use entries with `scopes: :public`"
      ],
      dpop: [
        {:in, [false, :optional, :required]},
        default: false,
        doc:
          "tokens that are bound to a key of the client (RFC 9449): `:optional` accepts them and others, `:required` accepts only them; `false` refuses them"
      ],
      dpop_window: [
        {:count, 300},
        default: 300,
        doc: "seconds that the time of a proof may differ from now"
      ],
      dpop_nonce: [
        {:or, [false], {:count, 3_600}},
        default: false,
        doc: "seconds after which the nonce of proofs changes; `false`: no nonce"
      ],
      leeway: [{"an integer from 0 to 300", &(&1 in 0..300)}, default: 30, doc: "seconds that clocks may differ"],
      exp: [{:in, [:required, :optional]}, default: :required, doc: "whether a token must expire"],
      typ: [{:in, [:lenient, :at_jwt]}, default: :lenient, doc: "`:at_jwt` accepts only tokens with the `typ` `at+jwt`"],
      claims: [
        {"a map from claims to strings", &texts_map?/1},
        default: %{},
        doc: "required claims: `%{\"token_use\" => \"access\"}`"
      ],
      max_token_bytes: [{:bytes, 64 * 1024}, default: 8 * 1024, doc: "a token", beyond: "401"],
      cache: [
        {:or, [false], {:count, 1_000_000}},
        default: 10_000,
        doc:
          "cached tokens with verified signatures, at most an eighth for one subject, each for at most 300 seconds; `false`: no cache"
      ],
      refresh: [
        {:count, @day},
        default: 3_600,
        doc: "seconds after which keys are fetched again; `Cache-Control` takes precedence"
      ],
      min_refresh: [{:count, @day}, default: 30, doc: "seconds between two fetches for tokens with unknown keys"],
      max_stale: [
        {:count, 30 * @day},
        default: @day,
        doc: "how many seconds keys are used while the issuer does not answer",
        beyond: "503"
      ],
      timeout: [{:milliseconds, 60_000}, default: 5_000, doc: "milliseconds to fetch metadata and keys together"],
      wait: [
        {:milliseconds, 60_000},
        default: 2_000,
        doc: "milliseconds that a request waits for keys that are being fetched",
        beyond: "503"
      ],
      max_bytes: [{:bytes, 128 * 1024}, default: 128 * 1024, doc: "a fetched document"],
      fetch_hosts: [
        {"a list of host names or addresses", &hosts?/1},
        default: [],
        doc: "private hosts, other than the issuer's, that may serve keys"
      ],
      tls: [
        {"a list of the options #{Enum.map_join(TLS.allowed(), ", ", &"#{&1}:")} of :ssl", &tls?/1},
        default: [],
        secret: true,
        doc: "options of `:ssl` for fetches, such as `cacertfile:`"
      ],
      metadata: [
        {"a map, without \"offline_access\" in scopes_supported", &metadata?/1},
        default: %{},
        doc: "further members of the document of RFC 9728"
      ]
    ]
  end

  @doc "The checked options of `owner`. Raises `ArgumentError` for invalid ones."
  @spec check!(String.t(), term()) :: %{atom() => term()}
  def check!(owner, options) do
    checked = Options.check!("auth: of #{owner}", table(), options)
    checked = %{checked | issuer: List.wrap(checked.issuer), audience: checked.audience || [checked.resource]}

    checked = %{
      checked
      | algorithms: checked.algorithms || if(checked.secret, do: @secret_algorithms, else: @algorithms)
    }

    cond do
      checked.issuers != nil and checked.issuer == [] and not servers?(checked.metadata) ->
        raise ArgumentError,
              "auth: issuers: needs issuer:, or metadata: %{authorization_servers: [\"https://…\"]}: where clients log in"

      checked.issuers == nil and checked.issuer == [] and checked.tokens == %{} and checked.verifier == nil ->
        raise ArgumentError,
              "auth: needs issuer: \"https://…\", issuers:, tokens: or verifier:, or nobody can be let in"

      checked.introspection != nil and length(checked.issuer) != 1 ->
        raise ArgumentError, "auth: introspection: needs one issuer:, which is asked"

      checked.audience == :introspection and checked.introspection == nil ->
        raise ArgumentError, "auth: audience: :introspection needs introspection:"

      Enum.count([checked.keys, checked.jwks_uri, checked.secret], & &1) > 1 ->
        raise ArgumentError, "auth: takes one of keys:, jwks_uri: and secret:"

      checked.dpop == false and Enum.any?(checked.tokens, &bound?/1) ->
        raise ArgumentError,
              "auth: tokens: has a token whose `cnf` binds it to a key, which needs dpop: :optional or :required"

      checked.secret == nil and Enum.any?(checked.algorithms, &(&1 in @secret_algorithms)) ->
        raise ArgumentError, "auth: algorithms: has #{Enum.join(@secret_algorithms, ", ")} only with secret:"

      true ->
        asked = List.wrap(checked.jwks_uri) ++ List.wrap(checked.introspection[:endpoint])
        Enum.each([checked.resource | checked.issuer] ++ asked, &url!/1)
        checked
    end
  end

  defp url!(url) do
    unless url?(url) do
      raise ArgumentError,
            "auth: expected a URL with https, or http on loopback, without a fragment, got: #{inspect(url)}"
    end
  end

  @doc "Whether a text is a URL with https, or http on loopback, without a fragment."
  @spec url?(String.t()) :: boolean()
  def url?(text) do
    uri = URI.parse(text)
    loopback? = is_binary(uri.host) and Address.loopback_host?(String.downcase(uri.host))

    Fetch.visible?(text) and uri.host not in [nil, ""] and uri.fragment == nil and uri.userinfo == nil and
      (uri.scheme == "https" or (uri.scheme == "http" and loopback?))
  end

  defp servers?(metadata) do
    servers = metadata[:authorization_servers] || metadata["authorization_servers"]
    texts?(servers) and servers != []
  end

  defp texts?(value), do: is_list(value) and Enum.all?(value, &is_binary/1)
  defp audience?({:claim, name, values}), do: is_binary(name) and texts?(values) and values != []
  defp audience?(:introspection), do: true
  defp audience?(values), do: values == nil or (texts?(values) and values != [])

  defp scopes?(scopes), do: Scopes.valid?(scopes) and Scopes.offline() not in scopes

  defp metadata?(metadata) do
    is_map(metadata) and
      Enum.all?([:scopes_supported, "scopes_supported"], &(Scopes.offline() not in List.wrap(metadata[&1])))
  end

  defp tls?(given), do: Keyword.keyword?(given) and Keyword.keys(given) -- TLS.allowed() == []
  defp hosts?(hosts), do: texts?(hosts) and Enum.all?(hosts, &(&1 =~ ~r/\A[\w.:-]+\z/))

  defp implies?(map),
    do: is_map(map) and Enum.all?(map, fn {scope, implied} -> is_binary(scope) and texts?(implied) end)

  defp claims_paths?(paths), do: is_list(paths) and paths != [] and Enum.all?(paths, &(path?(&1) or is_binary(&1)))
  defp path?(path), do: is_tuple(path) and tuple_size(path) in 1..3 and texts?(Tuple.to_list(path))

  defp principal?(value), do: is_binary(value) or hook?(value)
  defp hook?({module, function}), do: is_atom(module) and is_atom(function)
  defp hook?(value), do: is_function(value, 1)

  defp algorithms?(nil), do: true
  defp algorithms?(names), do: is_list(names) and names != [] and names -- (@algorithms ++ @secret_algorithms) == []

  defp maps?(value), do: is_list(value) and value != [] and Enum.all?(value, &is_map/1)
  defp secret?(value), do: is_binary(value) and byte_size(value) >= 32

  defp tokens?(tokens), do: is_map(tokens) and Enum.all?(tokens, &token?/1)

  defp token?({{:sha256, hex}, grant}), do: is_binary(hex) and hex =~ ~r/\A[0-9a-fA-F]{64}\z/ and grant?(grant)

  defp token?({token, grant}) do
    is_binary(token) and bearer?(token) and grant?(grant) and
      (byte_size(token) >= 32 or Keyword.get(grant, :weak, false) == true)
  end

  # The characters of a bearer token (RFC 6750).
  defp bearer?(token), do: token =~ ~r/\A[A-Za-z0-9._~+\/-]+=*\z/

  defp grant?(grant) do
    Keyword.keyword?(grant) and Keyword.keys(grant) -- [:subject, :client_id, :scopes, :claims, :weak] == [] and
      Scopes.valid?(grant[:scopes] || []) and claims?(grant[:claims] || %{}) and
      Enum.all?([grant[:subject], grant[:client_id]], &(&1 == nil or is_binary(&1)))
  end

  # An atom would hide a claim such as `cnf` from the checks.
  defp claims?(claims), do: is_map(claims) and Enum.all?(Map.keys(claims), &is_binary/1)

  defp bound?({_token, grant}), do: match?(%{"cnf" => _key}, grant[:claims])

  @introspection [:endpoint, :client_id, :client_secret, :auth, :always, :cache]

  defp introspection?(given) do
    Keyword.keyword?(given) and Keyword.keys(given) -- @introspection == [] and texts?([given[:client_id]]) and
      texts?([given[:client_secret]]) and (given[:endpoint] == nil or is_binary(given[:endpoint])) and
      Keyword.get(given, :auth, :basic) in [:basic, :post] and is_boolean(Keyword.get(given, :always, false)) and
      Keyword.get(given, :cache, 0) in 0..300_000
  end

  defp verifier?({module, _options}), do: is_atom(module)
  defp verifier?(module), do: is_atom(module) and module not in [true, false]

  defp texts_map?(map), do: is_map(map) and Enum.all?(map, fn {name, value} -> is_binary(name) and is_binary(value) end)
end
