defmodule McpServer.DualResponse.Store.ETS.Order do
  @moduledoc false
  # The order of expiry and the order of use: two ordered tables of `{group, time, id}`. The order of use has each record
  # in two groups: that of all records, and that of its holder.
  #
  # An access changes both times of a record, but not the tables. A walk corrects outdated entries when it meets them.
  # Times only grow, so no entry is met too late.

  alias McpServer.DualResponse.{Resource, Store}

  # Elements of a record: the current times, and the times of its index entries.
  @resource 2
  @deadline 3
  @used 7
  @indexed_deadline 8
  @indexed_used 9
  @tenant 12
  @indexed_of_holder 13

  # Smaller than every time.
  @before -0xFFFF_FFFF_FFFF_FFFF

  @type tables :: Store.ETS.Keeper.tables()

  @doc "Adds a record to both tables. A pinned record is in neither."
  @spec insert(tables, tuple) :: true
  def insert(_tables, record) when elem(record, @deadline - 1) == :never, do: true

  def insert(tables, record) do
    for {table, _element, indexed, group} <- indexes(tables, record),
        do: :ets.insert(table, {{group, elem(record, indexed - 1), elem(record, 0)}})

    true
  end

  @doc "Removes a record from both tables."
  @spec delete(tables, tuple) :: :ok
  def delete(tables, record) do
    for {table, _element, indexed, group} <- indexes(tables, record),
        do: :ets.delete(table, {group, elem(record, indexed - 1), elem(record, 0)})

    :ok
  end

  # The table, the element with the current time, the element with the time of the entry, and the group.
  defp indexes(tables, record) do
    holder = record |> elem(@resource - 1) |> Resource.holder()
    [by_expiry(tables), by_use(tables), by_use_of(tables, holder)]
  end

  defp by_expiry(tables), do: {tables.expiry, @deadline, @indexed_deadline, :all}
  defp by_use(tables), do: {tables.usage, @used, @indexed_used, :all}
  defp by_use_of(tables, holder), do: {tables.usage, @used, @indexed_of_holder, {:of, holder}}

  @doc "At most `limit` records that have expired at `now`, in the order of their expiry."
  @spec expired(tables, integer, pos_integer) :: [Store.key()]
  def expired(tables, now, limit), do: walk(tables.records, by_expiry(tables), now, limit)

  # Every integer is less than an atom.
  @doc "At most `limit` unpinned records, the least recently used first."
  @spec least_used(tables, pos_integer) :: [Store.key()]
  def least_used(tables, limit), do: walk(tables.records, by_use(tables), :end_of_time, limit)

  @doc "Like `least_used/2`, for one holder."
  @spec least_used_of(tables, {tenant :: term, subject :: term}, pos_integer) :: [Store.key()]
  def least_used_of(tables, holder, limit), do: walk(tables.records, by_use_of(tables, holder), :end_of_time, limit)

  defp walk(records, {table, _element, _indexed, group} = index, until, limit),
    do: walk(records, index, :ets.next(table, {group, @before, ""}), until, limit)

  defp walk(records, {table, element, _indexed, group} = index, {group, time, id} = entry, until, limit)
       when time <= until and limit > 0 do
    case actual(records, id, element) do
      ^time ->
        next = :ets.next(table, entry)
        [{tenant(records, id), id} | walk(records, index, next, until, limit - 1)]

      :never ->
        :ets.delete(table, entry)
        walk(records, index, :ets.next(table, entry), until, limit)

      later ->
        move(records, index, entry, later)
        walk(records, index, :ets.next(table, entry), until, limit)
    end
  end

  # The end of the table, another group, or a later time.
  defp walk(_records, _index, _entry, _until, _limit), do: []

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
  defp move(records, {table, _element, indexed, group}, {group, _time, id} = entry, later) do
    if :ets.take(table, entry) != [] do
      moved = {group, later, id}
      :ets.insert(table, {moved})
      :ets.update_element(records, id, {indexed, later}) || :ets.delete(table, moved)
    end
  end
end
