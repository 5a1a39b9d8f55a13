defmodule McpServer.DualResponse.Store.ETS.Order do
  @moduledoc false
  # The order of expiry and the order of use: two ordered tables of `{time, id}`.
  #
  # An access changes both times of a record, but not the tables. A walk corrects outdated entries when it meets them.
  # Times only grow, so no entry is met too late.

  # Elements of a record: the current times, and the times of its index entries.
  @deadline 3
  @used 7
  @indexed_deadline 8
  @indexed_used 9
  @tenant 12

  @type tables :: McpServer.DualResponse.Store.ETS.Keeper.tables()

  @doc "Adds a record to both tables. A pinned record is in neither."
  @spec insert(tables, tuple) :: true
  def insert(_tables, record) when elem(record, @deadline - 1) == :never, do: true

  def insert(tables, record) do
    :ets.insert(tables.expiry, {{elem(record, @indexed_deadline - 1), elem(record, 0)}})
    :ets.insert(tables.usage, {{elem(record, @indexed_used - 1), elem(record, 0)}})
  end

  @doc "Removes a record from both tables."
  @spec delete(tables, tuple) :: :ok
  def delete(tables, record) do
    :ets.delete(tables.expiry, {elem(record, @indexed_deadline - 1), elem(record, 0)})
    :ets.delete(tables.usage, {elem(record, @indexed_used - 1), elem(record, 0)})
    :ok
  end

  @doc "At most `limit` records that have expired at `now`, in the order of their expiry."
  @spec expired(tables, integer, pos_integer) :: [McpServer.DualResponse.Store.key()]
  def expired(tables, now, limit) do
    walk({tables.records, tables.expiry, @deadline, @indexed_deadline}, :ets.first(tables.expiry), now, limit)
  end

  @doc "At most `limit` unpinned records, the least recently used first."
  @spec least_used(tables, pos_integer) :: [McpServer.DualResponse.Store.key()]
  def least_used(tables, limit) do
    # Every integer is less than an atom.
    walk({tables.records, tables.usage, @used, @indexed_used}, :ets.first(tables.usage), :end_of_time, limit)
  end

  @doc "Like `least_used/2`, for the keys for which `mine?` returns true."
  @spec least_used_of(tables, (McpServer.DualResponse.Store.key() -> boolean), pos_integer) ::
          [McpServer.DualResponse.Store.key()]
  def least_used_of(tables, mine?, limit) do
    index = {tables.records, tables.usage, @used, @indexed_used}
    walk(index, :ets.first(tables.usage), :end_of_time, limit, mine?)
  end

  defp walk(index, entry, until, limit, wanted? \\ fn _key -> true end)
  defp walk(_index, :"$end_of_table", _until, _limit, _wanted?), do: []
  defp walk(_index, {time, _id}, until, limit, _wanted?) when time > until or limit == 0, do: []

  defp walk({records, table, element, _indexed} = index, {time, id} = entry, until, limit, wanted?) do
    case actual(records, id, element) do
      ^time ->
        key = {tenant(records, id), id}
        next = :ets.next(table, entry)

        if wanted?.(key),
          do: [key | walk(index, next, until, limit - 1, wanted?)],
          else: walk(index, next, until, limit, wanted?)

      :never ->
        :ets.delete(table, entry)
        walk(index, :ets.next(table, entry), until, limit, wanted?)

      later ->
        move(index, entry, later)
        walk(index, :ets.next(table, entry), until, limit, wanted?)
    end
  end

  # `:never` also for a missing record and for one that was pinned meanwhile.
  defp actual(records, id, element) do
    case :ets.lookup_element(records, id, @deadline) do
      :never -> :never
      _deadline -> :ets.lookup_element(records, id, element)
    end
  rescue
    ArgumentError -> :never
  end

  defp tenant(records, id) do
    :ets.lookup_element(records, id, @tenant)
  rescue
    ArgumentError -> nil
  end

  # Only the walk that takes the entry moves it. If the record was deleted meanwhile, the new entry is deleted too.
  defp move({records, table, _element, indexed}, {_time, id} = entry, later) do
    if :ets.take(table, entry) != [] do
      :ets.insert(table, {{later, id}})
      :ets.update_element(records, id, {indexed, later}) || :ets.delete(table, {later, id})
    end
  end
end
