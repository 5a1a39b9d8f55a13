defmodule McpServer.Auth.Tenants do
  @moduledoc false
  # The issuers whose tokens a plan accepts: the issuers of its options, and those that a function knows. The function
  # is called before anything is fetched, and again after a while. An unknown issuer costs only this call.

  alias McpServer.Auth.{Issuer, Options, Plan, Secret}
  alias McpServer.{Outline, Protocol}

  @table __MODULE__
  @most 100
  @seconds 300

  @type known :: {Protocol.Auth.policy(), Plan.keys()}

  @doc "Makes the table. The calling process owns it."
  @spec create_table() :: :ok
  def create_table do
    :ets.new(@table, [:named_table, :public, read_concurrency: true])
    :ok
  end

  @doc "The token policy of an issuer, and its keys."
  @spec fetch(Plan.t(), issuer :: String.t()) :: {:ok, known()} | :error
  def fetch(plan, issuer) do
    with :error <- Map.fetch(plan.issuers, issuer), do: tenant(plan, issuer)
  end

  defp tenant(%{tenants: nil}, _issuer), do: :error
  defp tenant(plan, issuer), do: if(Options.url?(issuer), do: known(plan, issuer), else: :error)

  defp known(plan, issuer) do
    now = System.monotonic_time(:second)

    case :ets.lookup(@table, {plan.id, issuer}) do
      [{_key, known, until}] when now < until -> {:ok, known}
      _none_or_old -> ask(plan, issuer, now)
    end
  end

  defp ask(%{tenants: %Secret{value: {hook, options}}} = plan, issuer, now) do
    case call(hook, issuer) do
      {:ok, own} ->
        known = Plan.issuer!(options |> Keyword.merge(own) |> Keyword.put(:dpop, plan.dpop.mode), issuer)
        make_room(plan, issuer)
        :ets.insert(@table, {{plan.id, issuer}, known, now + @seconds})
        {:ok, known}

      :error ->
        forget(:ets.lookup(@table, {plan.id, issuer}))
        :error

      other ->
        raise ArgumentError, "issuers: returned #{Outline.of(other)}; it returns {:ok, options} or :error"
    end
  end

  @doc "For how many seconds the function's answer is valid, `:infinity` for an issuer of the options."
  @spec seconds_left(Plan.t(), issuer :: String.t()) :: non_neg_integer() | :infinity
  def seconds_left(%{issuers: issuers}, issuer) when is_map_key(issuers, issuer), do: :infinity

  def seconds_left(plan, issuer) do
    case :ets.lookup(@table, {plan.id, issuer}) do
      [{_key, _known, until}] -> max(until - System.monotonic_time(:second), 0)
      [] -> 0
    end
  end

  defp call({module, function}, issuer), do: apply(module, function, [issuer])
  defp call(hook, issuer), do: hook.(issuer)

  # Drops the oldest issuer. Its next token brings it back.
  defp make_room(plan, issuer) do
    others = Enum.reject(rows(plan), &match?({{_plan, ^issuer}, _known, _until}, &1))
    if length(others) >= @most, do: forget([Enum.min_by(others, &elem(&1, 2))])
  end

  defp rows(plan), do: :ets.match_object(@table, {{plan.id, :_}, :_, :_})

  defp forget(rows) do
    for {key, {_policy, keys}, _until} <- rows do
      :ets.delete(@table, key)
      withdraw(keys)
    end

    :ok
  end

  # Invalidates all tokens that these keys have verified.
  defp withdraw({:fixed, keys}), do: Protocol.Auth.withdraw(keys)
  defp withdraw({:fetched, source}), do: Issuer.forget(source)

  @doc "Drops all issuers of a plan."
  @spec clear(Plan.t()) :: :ok
  def clear(plan), do: forget(rows(plan))
end
