defmodule McpServer.Auth.Plan do
  @moduledoc false
  # A mount's plan for token checks: the checked options, and values built from them once. It has no printable secrets.

  alias McpServer.Auth.{Discovery, Introspection, Issuer, Options, Scopes, Secret}
  alias McpServer.JSON
  alias McpServer.Protocol.Auth

  @enforce_keys [:id, :resource]
  defstruct [
    :id,
    :guard,
    :resource,
    :scopes,
    :implies,
    :issuers,
    :tenants,
    :tokens,
    :principal,
    :verifier,
    :introspection,
    :anonymous,
    :dpop,
    :leeway,
    :max_token_bytes,
    :cache,
    :document,
    max_waiting: :any
  ]

  @typedoc "The source of an issuer's keys: fixed keys, or `McpServer.Auth.Issuer`."
  @type keys :: {:fixed, Auth.keys()} | {:fetched, Issuer.source()}

  @typedoc """
  * `:issuers` – the policy and the keys of each issuer
  * `:tenants` – the function that knows other issuers, and the options for these
  * `:tokens` – the grants of fixed tokens, by their SHA-256 digests
  * `:guard` – the core's guard, which checks request heads and knows the verified tokens
  * `:dpop` – whether tokens may be bound to keys, and the rules for proofs
  * `:document` – the protected resource metadata
  * `:max_waiting` – how many checks may wait for one of several issuers
  """
  @type t :: %__MODULE__{
          id: reference(),
          guard: Auth.guard(),
          resource: String.t(),
          scopes: [String.t()],
          implies: %{String.t() => [String.t()]},
          issuers: %{String.t() => {Auth.policy(), keys()}},
          tenants: Secret.t() | nil,
          tokens: Secret.t(),
          principal: term(),
          verifier: {module(), term()} | nil,
          introspection: Introspection.t() | nil,
          anonymous: false | :discovery | :all,
          dpop: %{mode: false | :optional | :required, window: pos_integer(), nonce: pos_integer() | false},
          leeway: non_neg_integer(),
          max_token_bytes: pos_integer(),
          cache: pos_integer() | false,
          document: map() | nil,
          max_waiting: Issuer.most()
        }

  # Of a server's hooks, for one of several issuers.
  @most_waiting_percent 25

  @doc "The plan of the options `auth:`, which a `{module, function}` may return. Raises `ArgumentError`."
  @spec new!(String.t(), keyword() | {module(), atom()}) :: t()
  def new!(owner, {module, function}), do: new!(owner, apply(module, function, []))

  def new!(owner, given) do
    options = Options.check!(owner, given)
    keys = fixed_keys!(options)

    with_guard(%__MODULE__{
      id: make_ref(),
      resource: options.resource,
      scopes: options.scopes,
      implies: Scopes.closure!(options.implies),
      issuers: Map.new(options.issuer, &{&1, issuer(options, keys, &1)}),
      tenants: tenants(options, given),
      tokens: %Secret{value: Map.new(options.tokens, &token/1)},
      principal: options.principal,
      verifier: verifier(options.verifier),
      introspection: introspection(options),
      anonymous: options.anonymous,
      dpop: %{mode: options.dpop, window: options.dpop_window, nonce: options.dpop_nonce},
      leeway: options.leeway,
      max_token_bytes: options.max_token_bytes,
      cache: options.cache,
      document: metadata(options)
    })
  end

  @doc """
  The plan for a server with so many hooks at once. A check that waits for an issuer is one of them. So that an
  issuer that hangs leaves hooks to the tokens of others, it gets at most a quarter of them.
  """
  @spec for_hooks(t(), max_hooks :: pos_integer()) :: t()
  def for_hooks(%{tenants: nil, issuers: issuers} = plan, _max_hooks) when map_size(issuers) <= 1, do: plan

  def for_hooks(plan, max_hooks),
    do: %{plan | max_waiting: max_hooks |> Kernel.*(@most_waiting_percent) |> div(100) |> max(1)}

  defp issuer(options, keys, issuer), do: {policy!(options, issuer), keys || {:fetched, source(options, issuer)}}

  defp tenants(%{issuers: nil}, _given), do: nil

  defp tenants(%{issuers: hook}, given),
    do: %Secret{value: {hook, Keyword.drop(given, [:issuer, :issuers, :introspection, :tokens, :verifier])}}

  @doc "The token policy and the keys of an issuer with its own options. Raises `ArgumentError`."
  @spec issuer!(keyword(), String.t()) :: {Auth.policy(), keys()}
  def issuer!(options, issuer) do
    options = Options.check!("issuers:", Keyword.put(options, :issuer, issuer))
    issuer(options, fixed_keys!(options), issuer)
  end

  defp with_guard(plan) do
    options = %{
      # If every token is introspected, the issuer's answer decides, not these policies.
      policies: if(always?(plan), do: [], else: for({_issuer, {policy, _keys}} <- plan.issuers, do: policy)),
      fixed: Map.keys(plan.tokens.value),
      others: plan.verifier != nil or plan.introspection != nil,
      tenants: plan.tenants != nil,
      anonymous: plan.anonymous != false,
      max_token_bytes: plan.max_token_bytes,
      scopes: plan.scopes,
      most: plan.cache || 0
    }

    %{plan | guard: Auth.guard(options)}
  end

  defp always?(%{introspection: introspection}), do: introspection != nil and introspection.always

  # All configured keys must be usable.
  defp fixed_keys!(%{secret: secret}) when is_binary(secret) do
    {:ok, keys, _materials, 0} = Auth.secret(secret)
    {:fixed, keys}
  end

  defp fixed_keys!(%{keys: [_ | _] = jwks}) do
    case Discovery.read(JSON.encode!(%{"keys" => jwks})) do
      {:ok, %{keys: keys, skipped: 0}} -> {:fixed, keys}
      {:ok, %{skipped: skipped}} -> raise ArgumentError, "auth: keys: #{skipped} of the keys cannot verify tokens"
      {:error, text} -> raise ArgumentError, "auth: keys: #{text}"
    end
  end

  defp fixed_keys!(_options), do: nil

  defp introspection(%{introspection: nil}), do: nil

  defp introspection(%{introspection: given, issuer: [issuer]} = options) do
    audience = if options.audience == :introspection, do: [], else: options.audience
    policy = policy!(%{options | audience: audience, exp: :optional}, issuer, true)
    client = {Keyword.get(given, :auth, :basic), given[:client_id], given[:client_secret]}

    %Introspection{
      policy: policy,
      source: options |> source(issuer) |> Map.merge(%{endpoint: given[:endpoint], client: %Secret{value: client}}),
      always: Keyword.get(given, :always, false),
      cache: given |> Keyword.get(:cache, 30_000) |> div(1_000)
    }
  end

  defp policy!(options, issuer, introspected? \\ false) do
    {claim, audience} =
      case options.audience do
        {:claim, claim, audience} -> {claim, audience}
        :introspection -> {"aud", [options.resource]}
        audience -> {"aud", audience}
      end

    {:ok, policy} =
      Auth.policy(%{
        introspected: introspected?,
        bound: options.dpop != false,
        issuer: issuer,
        audience: audience,
        audience_claim: claim,
        algorithms: options.algorithms,
        leeway: options.leeway,
        expires: options.exp == :required,
        strict_type: options.typ == :at_jwt,
        subject: options.principal == nil,
        scope_claims: Enum.map(options.scope_claims, &path/1),
        claims: Map.to_list(options.claims),
        max_token_bytes: options.max_token_bytes
      })

    policy
  end

  defp path(path) when is_tuple(path), do: Tuple.to_list(path)
  defp path(claim), do: [claim]

  @source [:jwks_uri, :fetch_hosts, :timeout, :wait, :max_bytes, :tls, :refresh, :min_refresh, :max_stale]

  defp source(%{tls: tls} = options, issuer),
    do: options |> Map.take(@source) |> Map.merge(%{issuer: issuer, tls: %Secret{value: tls}})

  defp token({{:sha256, hex}, grant}), do: {Base.decode16!(hex, case: :mixed), grant}
  defp token({token, grant}), do: {:crypto.hash(:sha256, token), grant}

  defp verifier(nil), do: nil
  defp verifier({module, options}), do: {module, options}
  defp verifier(module), do: {module, []}

  # Without an issuer there is no authorization server for clients, only fixed tokens or a verifier.
  defp metadata(%{issuer: [], issuers: nil}), do: nil

  defp metadata(options) do
    scopes = if options.scopes == [], do: %{}, else: %{"scopes_supported" => options.scopes}

    own = %{"resource" => options.resource, "bearer_methods_supported" => ["header"]}
    # Clients start at these servers. A tenant's server is known only from its tokens.
    servers = if options.issuer == [], do: %{}, else: %{"authorization_servers" => options.issuer}
    further = Map.new(options.metadata, fn {name, value} -> {to_string(name), value} end)
    further |> Map.merge(own) |> Map.merge(servers) |> Map.merge(scopes) |> Map.merge(proofs(options.dpop))
  end

  defp proofs(false), do: %{}

  defp proofs(mode) do
    %{
      "dpop_signing_alg_values_supported" => Auth.proof_algorithms(),
      "dpop_bound_access_tokens_required" => mode == :required
    }
  end

  @doc "The protected resource metadata (RFC 9728), `nil` without an authorization server."
  @spec document(t()) :: map() | nil
  def document(plan), do: plan.document

  @doc """
  Raises `ArgumentError` for secrets in a plug's options, because a Phoenix router would store them in compiled code.
  """
  @spec without_secret!(module(), keyword()) :: :ok
  def without_secret!(plug, options) do
    if secret?(options) do
      raise ArgumentError,
            "auth: of #{inspect(plug)} has a secret in it, which a Phoenix router would keep in compiled code. " <>
              "Write auth: {MyApp.Auth, :options}, a function that returns these options"
    end

    :ok
  end

  @tls_secrets [:password, :key, :certs_keys]

  defp secret?(options) do
    options[:secret] != nil or options[:introspection] != nil or
      Enum.any?(Map.keys(options[:tokens] || %{}), &is_binary/1) or
      Enum.any?(@tls_secrets, &Keyword.has_key?(options[:tls] || [], &1))
  end
end
