defmodule McpServer.Auth.Verification do
  @moduledoc false
  # Finds the grants of a token. Each token has one source, so sources are not tried in turn: a fixed token is found by
  # its digest, a signed token belongs to the issuer that it names, and other tokens go to introspection or the
  # verifier.

  alias McpServer.Auth
  alias McpServer.Auth.{Cache, Introspector, Issuer, Plan, Possession, Refusal, Scopes, Signature, Tenants}
  alias McpServer.{JSON, Outline, Telemetry}
  alias McpServer.Protocol.Auth, as: Rules
  alias McpServer.Quota.Client

  @type verdict :: {:ok, Auth.t() | nil} | {:error, Refusal.t() | {:unavailable, pos_integer()}}

  @doc "The grants of a request's token. `{:ok, nil}` if the request has no token and needs none yet."
  @spec identify(Plan.t(), McpServer.Auth.Verifier.request(), Possession.place()) :: verdict()
  def identify(plan, request, place \\ :endpoint) do
    with {:error, refusal} <- judge(plan, request, place), do: {:error, refused(plan, refusal)}
  end

  @doc "The refusal of a request without a required token."
  @spec refuse_missing(Plan.t()) :: Refusal.t()
  def refuse_missing(plan), do: refused(plan, Refusal.missing(plan.scopes))

  defp judge(plan, request, place) do
    case credentials(plan, request) do
      nil ->
        if plan.anonymous, do: {:ok, nil}, else: {:error, Refusal.missing(plan.scopes)}

      :malformed ->
        {:error, Refusal.malformed(plan.scopes)}

      {scheme, token} ->
        with {:ok, auth} <- known(plan, token, request),
             :ok <- Possession.check(plan, {scheme, token}, auth, request, place),
             do: sufficient(plan, auth)
    end
  end

  # Without DPoP its scheme is unknown, like any other.
  defp credentials(%{dpop: %{mode: false}}, request) do
    with {:ok, token} <- Rules.bearer(target(request), request.req_headers), do: {:bearer, token}
  end

  defp credentials(_plan, request), do: Rules.credentials(target(request), request.req_headers)

  defp target(%{request_path: path, query_string: ""}), do: path
  defp target(%{request_path: path, query_string: query}), do: path <> "?" <> query

  defp known(plan, token, request) do
    digest = :crypto.hash(:sha256, token)
    now = System.system_time(:second)

    with :error <- Cache.fetch(plan, digest, now) do
      Cache.verifying(plan, digest, fn ->
        case plan.tokens.value do
          %{^digest => grant} -> fixed(plan, grant, digest, now)
          _others -> check(plan, token, digest, now, request)
        end
      end)
    end
  end

  # A `principal` function may return another result for the same token next time, so its result is not cached.
  defp fixed(%{principal: hook} = plan, grant, digest, now) do
    with {:ok, auth} when hook == nil or is_binary(hook) <- principal(plan, fixed_auth(plan, grant, digest)),
         do: remember(plan, digest, auth, now: now)
  end

  # Tokens that name nobody are different clients.
  defp fixed_auth(plan, grant, digest) do
    named? = grant[:subject] not in [nil, ""] or grant[:client_id] not in [nil, ""]

    %Auth{
      principal: {:token, if(named?, do: grant[:subject], else: {:sha256, digest}), grant[:client_id]},
      subject: grant[:subject],
      client_id: grant[:client_id],
      scopes: Scopes.expand(grant[:scopes] || [], plan.implies),
      claims: grant[:claims] || %{}
    }
  end

  defp remember(plan, digest, auth, options) do
    Cache.put(plan, digest, auth, [sufficient?: sufficient?(plan, auth)] ++ options)
    {:ok, auth}
  end

  defp check(plan, token, digest, now, request) do
    case Rules.issuer(token, plan.max_token_bytes) do
      {:ok, _issuer} when plan.introspection != nil and plan.introspection.always ->
        ask(plan, token, digest, now, request)

      {:ok, issuer} ->
        issued(plan, issuer, token, digest, now, request)

      :opaque when plan.introspection != nil ->
        ask(plan, token, digest, now, request)

      :opaque ->
        other(plan, token, request, :malformed, "The access token is malformed")

      {:error, :too_large, text} ->
        invalid(plan, :too_large, text)

      {:error, reason, text} ->
        other(plan, token, request, reason, text)
    end
  end

  defp issued(plan, issuer, token, digest, now, request) do
    case Tenants.fetch(plan, issuer, Client.of_peer(request.remote_ip)) do
      {:ok, known} -> signed(plan, known, token, digest, now)
      {:error, _unavailable} = refused -> refused
      :error -> other(plan, token, request, :issuer, "The issuer of the access token is not known")
    end
  end

  # A token that its claims refuse makes no request for keys.
  defp signed(plan, {policy, source}, token, digest, now) do
    with {:error, :key, _text} <- Rules.screen(token, policy, nil, now),
         {:ok, keys, generation} <- keys(plan, source),
         {:ok, proof, keys} <- screen(plan, source, token, {policy, keys, generation}, now),
         {:valid, true} <- {:valid, Signature.valid?(proof)},
         {:ok, auth} <- granted(plan, Rules.verified(proof)),
         :ok <- Tenants.verified(plan, auth.issuer) do
      seconds = min(seconds_left(source), Tenants.seconds_left(plan, auth.issuer))
      remember(plan, digest, auth, now: now, keys: keys, seconds: seconds)
    else
      {:valid, false} -> invalid(plan, :signature, "The signature of the access token is wrong")
      {:error, reason, text} -> invalid(plan, reason, text)
      {:error, _reason} = refused -> refused
    end
  end

  defp ask(%{introspection: introspection} = plan, token, digest, now, request) do
    client = Client.of_peer(request.remote_ip)

    with {:ok, grant} <- Introspector.grant(introspection, token, digest, client, plan.max_waiting),
         {:ok, auth} <- granted(plan, grant) do
      remember(plan, digest, auth, now: now, seconds: introspection.cache)
    else
      {:error, reason, text} -> invalid(plan, reason, text)
      {:error, _reason} = refused -> refused
    end
  end

  defp keys(_plan, {:fixed, keys}), do: {:ok, keys, 0}

  defp keys(plan, {:fetched, source}),
    do: with({:ok, {keys, generation}} <- Issuer.keys(source, plan.max_waiting), do: {:ok, keys, generation})

  # The remaining validity of the keys.
  defp seconds_left({:fixed, _keys}), do: :infinity
  defp seconds_left({:fetched, source}), do: Issuer.seconds_left(source)

  # A missing key may have been published meanwhile.
  defp screen(plan, source, token, {policy, keys, generation}, now) do
    case {Rules.screen(token, policy, keys, now), source} do
      {{:ok, proof}, _source} ->
        {:ok, proof, keys}

      {{:error, :key, _text} = unknown, {:fetched, source}} ->
        again(plan, token, policy, source, {generation, unknown}, now)

      {refused, _source} ->
        refused
    end
  end

  defp again(plan, token, policy, source, {generation, unknown}, now) do
    case Issuer.newer_keys(source, generation, plan.max_waiting) do
      {:ok, {_keys, ^generation}} -> unknown
      {:ok, {keys, _newer}} -> with {:ok, proof} <- Rules.screen(token, policy, keys, now), do: {:ok, proof, keys}
      {:error, _unavailable} = error -> error
    end
  end

  defp granted(plan, grant) do
    claims = JSON.decode!(grant.claims)

    auth = %Auth{
      principal: nil,
      issuer: grant.issuer,
      subject: grant.subject,
      client_id: grant.client_id,
      scopes: Scopes.expand(grant.scopes, plan.implies),
      expires_at: grant.expires_at,
      claims: claims
    }

    principal(plan, %{auth | principal: {auth.issuer, Auth.user(auth), auth.client_id}})
  end

  defp principal(%{principal: nil}, auth), do: {:ok, auth}

  defp principal(%{principal: claim} = plan, auth) when is_binary(claim) do
    case auth.claims do
      %{^claim => value} when (is_binary(value) and value != "") or is_integer(value) ->
        {:ok, %{auth | principal: {auth.issuer, value}}}

      _none ->
        invalid(plan, :claims, "The claims of the access token are not sufficient")
    end
  end

  defp principal(%{principal: hook}, auth) do
    case call(hook, auth) do
      {:ok, principal} ->
        {:ok, %{auth | principal: principal}}

      {:error, :forbidden} ->
        {:error, %Refusal{kind: :forbidden, reason: :forbidden}}

      other ->
        raise ArgumentError,
              "principal: returned #{Outline.of(other)}; it returns {:ok, principal} or {:error, :forbidden}"
    end
  end

  # An exception's text may contain a claim, so the log gets only its kind and place.
  defp call(hook, auth) do
    case hook do
      {module, function} -> apply(module, function, [auth])
      function -> function.(auth)
    end
  rescue
    exception -> :erlang.raise(:error, {:principal, exception}, __STACKTRACE__)
  end

  defp other(%{verifier: nil} = plan, _token, _request, reason, text), do: invalid(plan, reason, text)

  defp other(%{verifier: {module, options}} = plan, token, request, _reason, _text) do
    case module.verify(token, request, options) do
      {:ok, %Auth{} = auth} ->
        {:ok, %{auth | scopes: Scopes.expand(auth.scopes, plan.implies)}}

      {:error, :invalid_token} ->
        invalid(plan, :verifier, "The access token is not valid")

      {:error, {:unavailable, seconds} = unavailable} when is_integer(seconds) ->
        {:error, unavailable}

      other ->
        raise ArgumentError,
              "#{inspect(module)}.verify/3 returned #{Outline.of(other)}; it returns {:ok, %McpServer.Auth{}}, " <>
                "{:error, :invalid_token} or {:error, {:unavailable, seconds}}"
    end
  end

  defp invalid(plan, reason, text), do: {:error, Refusal.invalid(reason, text, plan.scopes)}

  defp sufficient(plan, auth) do
    if sufficient?(plan, auth), do: {:ok, auth}, else: {:error, Refusal.scope(plan.scopes)}
  end

  defp sufficient?(plan, auth), do: plan.scopes -- auth.scopes == []

  defp refused(plan, refusal) do
    Telemetry.execute([:auth, :refused], %{count: 1}, %{reason: reason(refusal)})
    with %Refusal{} <- refusal, do: %{refusal | dpop: plan.dpop.mode, nonce: refusal.nonce || Possession.nonce(plan)}
  end

  defp reason(%Refusal{reason: reason}), do: reason
  defp reason({:unavailable, _seconds}), do: :unavailable
end
