defmodule McpServer.RateLimit.Bucket do
  @moduledoc false
  # Token buckets in a table. A row has the key and the time at which the bucket is full again. So no process must fill
  # buckets, and a row whose time has passed can be deleted.

  @type key :: {statement :: term(), holder :: term()}
  @type rule :: %{:interval => pos_integer(), :burst => pos_integer(), optional(atom()) => term()}

  # The minimum time between two sweeps of the table, in microseconds.
  @sweep_us 1_000_000

  @doc """
  Takes a token of the key's bucket at the time `now`, or returns the time until there is one. All times are in
  microseconds. In a table with `max` rows, new keys of a statement share one bucket.
  """
  @spec take(:ets.table(), key(), rule(), now :: integer(), max :: pos_integer()) :: :ok | {:wait, pos_integer()}
  def take(table, key, rule, now, max) do
    case :ets.lookup(table, key) do
      [{^key, full_at}] -> spend(table, key, {rule, full_at}, now, max)
      [] -> first(table, key, rule, now, max)
    end
  end

  defp spend(table, key, {rule, full_at}, now, max) do
    next = max(full_at, now) + rule.interval

    case next - (now + rule.burst * rule.interval) do
      # A parallel call may have taken its token later than `now`.
      wait when wait > 0 -> {:wait, min(wait, rule.interval)}
      _enough -> replace(table, {key, full_at}, {key, next}, fn -> take(table, key, rule, now, max) end)
    end
  end

  # Tries again if a parallel call has changed the row.
  defp replace(table, former, row, again) do
    case :ets.select_replace(table, [{former, [], [{:const, row}]}]) do
      1 -> :ok
      0 -> again.()
    end
  end

  defp first(table, {statement, _holder} = key, rule, now, max) do
    cond do
      not room?(table, now, max) and key != {statement, :others} -> take(table, {statement, :others}, rule, now, max)
      :ets.insert_new(table, {key, now + rule.interval}) -> :ok
      true -> take(table, key, rule, now, max)
    end
  end

  # Whether the table has room for another row, after rows whose time has passed are deleted.
  defp room?(table, now, max), do: :ets.info(table, :size) < max or (sweep(table, now) and room?(table, now, max))

  defp sweep(table, now) do
    with [{:swept, at, :all}] when now - at < @sweep_us <- :ets.lookup(table, :swept) do
      false
    else
      _long_ago ->
        :ets.insert(table, {:swept, now, :all})
        :ets.select_delete(table, [{{:_, :"$1"}, [{:"=<", :"$1", now}], [true]}]) > 0
    end
  end
end
