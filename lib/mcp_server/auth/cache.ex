defmodule McpServer.Auth.Cache do
  @moduledoc false
  # What tokens grant whose signatures were verified, by the SHA-256 digest of the whole token. Never the token itself,
  # and never a refusal. An entry ends with its token, after five minutes, and when the keys of its issuer change.

  alias McpServer.Auth
  alias McpServer.Auth.{Issuer, Plan, Tenants}

  @table __MODULE__
  @most_seconds 300

  @doc "Makes the table; the calling process owns it."
  @spec create_table() :: :ok
  def create_table do
    :ets.new(@table, [:named_table, :public, read_concurrency: true, write_concurrency: true])
    :ok
  end

  @doc "What the token of a digest grants."
  @spec fetch(Plan.t(), digest :: binary(), now :: integer()) :: {:ok, Auth.t()} | :error
  def fetch(%{cache: false}, _digest, _now), do: :error

  def fetch(plan, digest, now) do
    case :ets.lookup(@table, {plan.id, digest}) do
      [{_key, auth, until, generation}] when now < until ->
        if current?(plan, auth, generation), do: {:ok, auth}, else: :error

      _none_or_old ->
        :error
    end
  end

  # A key that was withdrawn takes its tokens along. What the issuer was asked about has no key.
  defp current?(_plan, _auth, :introspected), do: true

  defp current?(plan, auth, generation) do
    case Tenants.fetch(plan, auth.issuer) do
      :error -> false
      {:ok, {_policy, {:fixed, _keys}}} -> true
      {:ok, {_policy, {:fetched, source}}} -> match?({:ok, {_keys, ^generation}}, Issuer.keys(source))
    end
  end

  @doc "Remembers what a token grants for `seconds`, as long as there is room."
  @spec put(Plan.t(), digest :: binary(), generation, Auth.t(), now :: integer(), seconds :: non_neg_integer()) :: :ok
        when generation: non_neg_integer() | :introspected
  def put(plan, digest, generation, auth, now, seconds \\ @most_seconds)
  def put(%{cache: false}, _digest, _generation, _auth, _now, _seconds), do: :ok

  def put(plan, digest, generation, auth, now, seconds) do
    counter = {plan.id, :count}
    # A table that is full begins anew: that costs each token one verification.
    if :ets.update_counter(@table, counter, 1, {counter, 0}) > plan.cache, do: clear(plan)
    until = min((auth.expires_at || now + seconds) + plan.leeway, now + seconds)
    :ets.insert(@table, {{plan.id, digest}, auth, until, generation})
    :ok
  end

  @doc "The endpoint that an issuer's metadata has named not long ago."
  @spec fetch_endpoint(term(), now :: integer()) :: {:ok, String.t()} | :error
  def fetch_endpoint(source, now) do
    case :ets.lookup(@table, {:endpoint, source}) do
      [{_key, endpoint, until}] when now < until -> {:ok, endpoint}
      _none_or_old -> :error
    end
  end

  @doc "Remembers it."
  @spec put_endpoint(term(), String.t(), until :: integer()) :: :ok
  def put_endpoint(source, endpoint, until) do
    :ets.insert(@table, {{:endpoint, source}, endpoint, until})
    :ok
  end

  @doc "Forgets everything of a plan."
  @spec clear(Plan.t()) :: :ok
  def clear(plan) do
    :ets.match_delete(@table, {{plan.id, :_}, :_, :_, :_})
    :ets.insert(@table, {{plan.id, :count}, 0})
    :ok
  end
end
