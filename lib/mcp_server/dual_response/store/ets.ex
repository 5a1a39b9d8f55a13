defmodule McpServer.DualResponse.Store.ETS do
  @moduledoc """
  Stores dual responses in the node's memory. This is the default store.

  Resources live as long as the application `:mcp_server` runs, or until the server is shut down. The tables belong to a
  process of the application, so a crash of the server's process loses no resources.

  Rows are stored in Erlang's external format, in chunks of a hundred. Functions are stored unchanged, so their captured
  data also stays in memory.

      iex> {:ok, store} = McpServer.DualResponse.Store.ETS.init(server: DocStore)
      iex> McpServer.DualResponse.Store.ETS.size(store)
      {:ok, %{resources: 0, bytes: 0}}
      iex> McpServer.DualResponse.Store.ETS.close(store)
      :ok
  """

  @behaviour McpServer.DualResponse.Store

  alias McpServer.DualResponse.Resource
  alias McpServer.DualResponse.Store.ETS.{Keeper, Order}

  # The changing parts of a resource are separate elements of its record, so that each can be changed alone. `deadline`
  # is `:never` for a pinned resource, because atoms are greater than all integers. The time of the last use is in
  # native units, because many resources are used in the same millisecond. The last elements are the record's times in
  # the indexes of expiry and of use, the number of stored rows, the size, the tenant, and its time in the index of its
  # holder's use.
  @deadline 3
  @accesses 5
  @last_access 6
  @used 7
  @row_count 10
  @bytes 11

  # A page of a hundred rows is one or two objects. The external format copies the rows out of larger terms, and saving
  # the binaries does not copy them again.
  @chunk 100

  @impl true
  def init(options), do: Keeper.open(Keyword.fetch!(options, :server))

  @impl true
  def clock, do: :monotonic

  @impl true
  def persists_closures?, do: true

  @impl true
  def ends_with_caller?(_tables), do: true

  @impl true
  def close(%{server: server}), do: Keeper.close(server)

  # The record and its rows become visible at once. The index entries are inserted before, so that a resource is never
  # without them. They are inserted again after, because a reader may have removed entries without a record.
  @impl true
  def save(%{records: records} = tables, %Resource{id: id} = resource, rows) do
    rows = List.wrap(rows)
    chunks = rows |> Enum.chunk_every(@chunk) |> Enum.map(&:erlang.term_to_binary/1) |> Enum.with_index()
    record = record(resource, System.monotonic_time(), length(rows))
    objects = [record | for({chunk, number} <- chunks, do: {{id, number}, chunk})]

    whole(fn ->
      count(tables, Resource.holder(resource), 1, resource.bytes)
      Order.insert(tables, record)
      :ets.insert(records, objects)
      Order.insert(tables, record)
      {:ok, id}
    end)
  end

  # A client can leave at any moment, and the process of its call is killed: between a count and its change, too. What
  # was counted then would count for ever. So both are made in a process that nobody kills. It is no child of the
  # caller, because `McpServer.Call.Reaper` ends those. The caller has packed the rows, so few bytes are copied.
  defp whole(change) do
    caller = self()
    tag = make_ref()
    spawn(fn -> spawn(fn -> send(caller, {tag, result(change)}) end) end)

    receive do
      {^tag, {:ok, result}} -> result
      {^tag, {kind, reason, stack}} -> :erlang.raise(kind, reason, stack)
    end
  end

  defp result(change) do
    {:ok, change.()}
  catch
    kind, reason -> {kind, reason, __STACKTRACE__}
  end

  defp record(resource, now, row_count) do
    deadline = resource.deadline || :never

    {resource.id, resource, deadline, resource.expires_at, resource.access_count, resource.last_accessed_at, now,
     deadline, now, row_count, resource.bytes, resource.tenant, now}
  end

  @impl true
  def get(%{records: records}, {_tenant, id}) do
    case :ets.lookup(records, id) do
      [record] -> {:ok, resource(record)}
      [] -> :not_found
    end
  end

  defp resource(record) do
    deadline = elem(record, 2)

    %{
      elem(record, 1)
      | deadline: if(deadline != :never, do: deadline),
        expires_at: elem(record, 3),
        access_count: elem(record, 4),
        last_accessed_at: elem(record, 5)
    }
  end

  @impl true
  def rows(%{records: records}, {_tenant, id}, offset, limit) do
    row_count = :ets.lookup_element(records, id, @row_count)
    last = if limit == :all, do: row_count, else: min(offset + limit, row_count)
    read(records, id, offset, last)
  rescue
    ArgumentError -> :not_found
  end

  defp read(_records, _id, offset, last) when offset >= last, do: {:ok, []}

  defp read(records, id, offset, last) do
    rows =
      for number <- div(offset, @chunk)..div(last - 1, @chunk),
          {_key, chunk} <- :ets.lookup(records, {id, number}),
          row <- :erlang.binary_to_term(chunk),
          do: row

    # Chunks are deleted before their record, so rows may be missing although the record still counts them.
    case Enum.slice(rows, rem(offset, @chunk), last - offset) do
      rows when length(rows) == last - offset -> {:ok, rows}
      _fewer -> :not_found
    end
  end

  @impl true
  def update(tables, key, changes, now), do: whole(fn -> change(tables, key, changes, now) end)

  defp change(%{records: records} = tables, {_tenant, id} = key, changes, now) do
    case :ets.lookup(records, id) do
      [record] when elem(record, @deadline - 1) > now and elem(record, 1).status != :deleted ->
        changed = struct!(resource(record), changes)
        if swap(records, record, changed), do: recount(tables, record, changed), else: change(tables, key, changes, now)

      _none_or_expired ->
        :not_found
    end
  end

  defp recount(tables, record, resource) do
    more = resource.bytes - elem(record, @bytes - 1)
    if more != 0, do: count(tables, Resource.holder(resource), 0, more)
    :ok
  end

  # Replaces the record only if it is unchanged. Concurrent accesses keep their counts.
  defp swap(records, record, resource) do
    {id, before, old_deadline, _, accesses, last_access, _, _, _, _, _, _, _} = record
    accesses = if resource.access_count == accesses, do: :"$3", else: resource.access_count
    last_access = if resource.last_accessed_at == last_access, do: :"$4", else: {:const, resource.last_accessed_at}
    guards = [{:"=:=", :"$1", {:const, before}}, {:"=:=", :"$2", old_deadline}]
    deadline = resource.deadline || :never
    body = [id, {:const, resource}, deadline, {:const, resource.expires_at}, accesses, last_access]
    replace(records, id, guards, body ++ rest(resource.bytes))
  end

  defp replace(records, id, guards, body) do
    head = List.to_tuple([id, :"$1", :"$2", :_, :"$3", :"$4" | rest(:"$9")])
    :ets.select_replace(records, [{head, guards, [{List.to_tuple(body)}]}]) == 1
  end

  # The last elements. A change touches only the size among them.
  defp rest(bytes), do: [:"$5", :"$6", :"$7", :"$8", bytes, :"$10", :"$11"]

  @impl true
  def touch(%{records: records} = tables, {_tenant, id}, changes, now) do
    if :ets.lookup_element(records, id, @deadline) > now do
      :ets.update_counter(records, id, {@accesses, 1})
      used = System.monotonic_time()
      :ets.update_element(records, id, [{@last_access, changes.last_accessed_at}, {@used, used}])
      extend(tables, id, changes, now)
    else
      :not_found
    end
  rescue
    # The record does not exist, or no longer exists.
    ArgumentError -> :not_found
  end

  # One atomic step with the check that the resource is neither pinned nor expired.
  defp extend(%{records: records}, id, %{deadline: deadline, expires_at: expires_at}, now) do
    guards = [{:is_integer, :"$2"}, {:>, :"$2", now}]
    _extended? = replace(records, id, guards, [id, :"$1", deadline, {:const, expires_at}, :"$3", :"$4" | rest(:"$9")])
    :ok
  end

  defp extend(_tables, _id, _changes, _now), do: :ok

  # The process that takes the record has deleted the resource. The chunks are deleted first, so that none remains if
  # the process ends halfway.
  @impl true
  def delete(%{records: records} = tables, {_tenant, id}) do
    row_count = :ets.lookup_element(records, id, @row_count)
    for number <- 0..div(row_count - 1, @chunk)//1, row_count > 0, do: :ets.delete(records, {id, number})
    whole(fn -> take(tables, id) end)
  rescue
    ArgumentError -> :not_found
  end

  defp take(%{records: records} = tables, id) do
    case :ets.take(records, id) do
      [record] ->
        count(tables, Resource.holder(elem(record, 1)), -1, -elem(record, @bytes - 1))
        Order.delete(tables, record)

      [] ->
        :not_found
    end
  end

  @impl true
  def find_expired(tables, now, limit), do: {:ok, Order.expired(tables, now, limit)}

  @impl true
  def least_used(tables, limit), do: {:ok, Order.least_used(tables, limit)}

  @impl true
  def size(%{records: records}) do
    [{:size, resources, bytes}] = :ets.lookup(records, :size)
    {:ok, %{resources: resources, bytes: bytes}}
  end

  @impl true
  def holders(%{holders: holders}) do
    {:ok,
     for({holder, resources, bytes} <- :ets.tab2list(holders), do: {holder, %{resources: resources, bytes: bytes}})}
  end

  @impl true
  def size_of(%{holders: holders}, holder) do
    case :ets.lookup(holders, holder) do
      [{_holder, resources, bytes}] -> {:ok, %{resources: resources, bytes: bytes}}
      [] -> {:ok, %{resources: 0, bytes: 0}}
    end
  end

  @impl true
  def least_used_of(tables, holder, limit), do: {:ok, Order.least_used_of(tables, holder, limit)}

  defp count(%{records: records, holders: holders}, holder, resources, bytes) do
    :ets.update_counter(records, :size, [{2, resources}, {3, bytes}])

    # A zero row is deleted, unless another process has counted in it meanwhile.
    with [0, 0] <- :ets.update_counter(holders, holder, [{2, resources}, {3, bytes}], {holder, 0, 0}),
         do: :ets.delete_object(holders, {holder, 0, 0})
  end
end
