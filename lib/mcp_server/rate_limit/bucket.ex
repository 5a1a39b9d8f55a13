defmodule McpServer.RateLimit.Bucket do
  @moduledoc false
  # Token buckets in a table. A row has the key, the time at which the bucket is full again, and the client that it counts
  # for. So no process must fill buckets, and a row whose time has passed can be deleted.

  alias McpServer.Quota
  alias McpServer.Quota.Client

  @type key :: {statement :: term(), holder :: term()}
  @type rule :: %{:interval => pos_integer(), :burst => pos_integer(), optional(atom()) => term()}

  # The minimum time between two sweeps of the table, in microseconds.
  @sweep_us 1_000_000

  @doc """
  Takes a token of the key's bucket at the time `now`, or returns the time until there is one. All times are in
  microseconds.

  A client that has its share of buckets has one more for each statement, in place of further ones. Where there is no room
  for any, clients without a bucket share one.
  """
  @spec take(:ets.table(), key(), Client.t(), rule(), now :: integer(), Quota.t()) :: :ok | {:wait, pos_integer()}
  def take(table, key, client, rule, now, quota) do
    case :ets.lookup(table, key) do
      [row] -> spend(table, row, rule, now, fn -> take(table, key, client, rule, now, quota) end)
      [] -> first(table, key, client, rule, now, quota)
    end
  end

  defp spend(table, {key, full_at, client} = row, rule, now, again) do
    next = max(full_at, now) + rule.interval

    case next - (now + rule.burst * rule.interval) do
      # A parallel call may have taken its token later than `now`.
      wait when wait > 0 -> {:wait, min(wait, rule.interval)}
      _enough -> replace(table, row, {key, next, client}, again)
    end
  end

  # Tries again if a parallel call has changed the row.
  defp replace(table, former, row, again) do
    case :ets.select_replace(table, [{former, [], [{:const, row}]}]) do
      1 -> :ok
      0 -> again.()
    end
  end

  defp first(table, {statement, _holder} = key, client, rule, now, quota) do
    cond do
      not room?(table, client, now, quota) ->
        shared(table, {statement, {:others, sharer(quota, client)}}, rule, now)

      :ets.insert_new(table, {key, now + rule.interval, client}) ->
        :ok

      true ->
        give_back(quota, client)
        take(table, key, client, rule, now, quota)
    end
  end

  defp sharer(quota, client),
    do: if(client != nil and Quota.held(quota, :rate_limit_buckets, client) > 0, do: client, else: :nobody)

  # These do not count: there are fewer of them than clients with a bucket.
  defp shared(table, key, rule, now) do
    again = fn -> shared(table, key, rule, now) end

    case :ets.lookup(table, key) do
      [row] -> spend(table, row, rule, now, again)
      [] -> if :ets.insert_new(table, {key, now + rule.interval, :shared}), do: :ok, else: again.()
    end
  end

  # Whether the client has room for another row, after rows whose time has passed are deleted.
  defp room?(table, client, now, quota) do
    taken = fn -> Quota.take(quota, :rate_limit_buckets, client, 1) == :ok end
    taken.() or (sweep(table, now, quota) and taken.())
  end

  defp sweep(table, now, quota) do
    with [{:swept, at}] when now - at < @sweep_us <- :ets.lookup(table, :swept) do
      false
    else
      _long_ago ->
        :ets.insert(table, {:swept, now})
        full = :ets.select(table, [{{:"$1", :"$2", :_}, [{:"=<", :"$2", now}], [:"$1"]}])
        for key <- full, row <- :ets.take(table, key), do: drop(table, row, now, quota)
        full != []
    end
  end

  # A parallel call may have taken a token meanwhile.
  defp drop(table, {_key, full_at, client} = row, now, quota) do
    if full_at <= now or not :ets.insert_new(table, row), do: give_back(quota, client)
  end

  defp give_back(_quota, :shared), do: :ok
  defp give_back(quota, client), do: Quota.give(quota, :rate_limit_buckets, client, 1)
end
