defmodule McpServer.Auth.Tenants do
  @moduledoc false
  # The issuers whose tokens a plan accepts: the issuers of its options, and those that a function knows. The function
  # is called before anything is fetched, and again after a while. An unknown issuer costs only this call, and a known one
  # a look into a table. `McpServer.Auth.Tenants.Places` decides which issuers have a row there.

  alias McpServer.Auth.{Issuer, Options, Plan, Processes, Secret}
  alias McpServer.Auth.Tenants.Places
  alias McpServer.{Outline, Quota}

  @table __MODULE__
  @seconds 300
  # Microseconds. A proven tenant is marked as used at most once in this time.
  @marks 60_000_000

  @type known :: Places.known()

  @doc "Makes the table. The calling process owns it."
  @spec create_table() :: :ok
  def create_table do
    :ets.new(@table, [:named_table, :public, read_concurrency: true])
    :ok
  end

  @doc "The token policy of an issuer, and its keys. The client has sent a token that names the issuer."
  @spec fetch(Plan.t(), issuer :: String.t(), Quota.Client.t()) :: {:ok, known()} | :error | Processes.unavailable()
  def fetch(plan, issuer, client) do
    with :error <- Map.fetch(plan.issuers, issuer), do: tenant(plan, issuer, client)
  end

  defp tenant(%{tenants: nil}, _issuer, _client), do: :error
  defp tenant(plan, issuer, client), do: if(Options.url?(issuer), do: known(plan, issuer, client), else: :error)

  defp known(plan, issuer, client) do
    key = {plan.id, issuer}

    with [{_key, known, until, place}] <- :ets.lookup(@table, key),
         true <- now() < until,
         true <- Places.held?(place, client) or Places.keep(key, {:named, client}) == :ok do
      {:ok, known}
    else
      _none_or_old -> ask(plan, issuer, {:named, client})
    end
  end

  @doc "Remembers that a token of the issuer has been verified: no tenant displaces it that is only named."
  @spec verified(Plan.t(), issuer :: String.t()) :: :ok
  def verified(%{tenants: tenants, issuers: issuers}, issuer) when tenants == nil or is_map_key(issuers, issuer),
    do: :ok

  def verified(plan, issuer) do
    key = {plan.id, issuer}

    # A tenant that was displaced meanwhile comes back, with keys that are not withdrawn.
    with false <- used_lately?(:ets.lookup(@table, key)),
         :gone <- Places.keep(key, :proven),
         do: ask(plan, issuer, :proven)

    :ok
  end

  defp used_lately?([{_, _, _, {:proven, used}}]), do: System.monotonic_time(:microsecond) - used < @marks
  defp used_lately?(_named_or_none), do: false

  defp ask(%{tenants: %Secret{value: {hook, options}}} = plan, issuer, as) do
    key = {plan.id, issuer}

    case call(hook, issuer) do
      {:ok, own} ->
        {policy, keys} = Plan.issuer!(options |> Keyword.merge(own) |> Keyword.put(:dpop, plan.dpop.mode), issuer)
        Places.put(key, {policy, own(keys, key)}, now() + @seconds, as)

      :error ->
        if :ets.member(@table, key), do: Places.drop(key)
        :error

      other ->
        raise ArgumentError, "issuers: returned #{Outline.of(other)}; it returns {:ok, options} or :error"
    end
  end

  # The keys go with the tenant's row. So no other mount, and none that lists this issuer, has the same ones.
  defp own({:fixed, keys}, _key), do: {:fixed, keys}
  defp own({:fetched, source}, key), do: {:fetched, Map.put(source, :tenant, key)}

  @doc "Whether the keys of a source are wanted: a tenant's are, as long as it has its row."
  @spec wanted?(Issuer.source()) :: boolean()
  def wanted?(%{tenant: key} = source), do: match?([{_, {_, {:fetched, ^source}}, _, _}], :ets.lookup(@table, key))
  def wanted?(_listed), do: true

  @doc "For how many seconds the function's answer is valid, `:infinity` for an issuer of the options."
  @spec seconds_left(Plan.t(), issuer :: String.t()) :: non_neg_integer() | :infinity
  def seconds_left(%{issuers: issuers}, issuer) when is_map_key(issuers, issuer), do: :infinity

  def seconds_left(plan, issuer) do
    case :ets.lookup(@table, {plan.id, issuer}) do
      [{_key, _known, until, _place}] -> max(until - now(), 0)
      [] -> 0
    end
  end

  defp call({module, function}, issuer), do: apply(module, function, [issuer])
  defp call(hook, issuer), do: hook.(issuer)

  defp now, do: System.monotonic_time(:second)

  @doc "Drops all issuers of a plan."
  @spec clear(Plan.t()) :: :ok
  def clear(plan) do
    Places.clear(plan.id)
    :ok
  end
end
