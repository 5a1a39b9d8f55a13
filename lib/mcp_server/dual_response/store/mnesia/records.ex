defmodule McpServer.DualResponse.Store.Mnesia.Records do
  # The records of a resource in the tables, and their changes. Functions that change records run in a transaction.
  # Reads are dirty reads of this node's copy.
  #
  # The values that change with each access are in a separate record, so that an access does not copy the sample to
  # every node. The rows are in the same record as their resource, so that neither is visible without the other while a
  # transaction is applied. The rows are stored in chunks, and a read copies only the wanted chunks out of the table.
  @moduledoc false

  require Record

  alias McpServer.DualResponse.Resource
  alias McpServer.DualResponse.Store.Mnesia.Tables

  @compile {:no_warn_undefined, :mnesia}

  @resources Tables.resources()
  @uses Tables.uses()
  @expiry Tables.expiry()
  @deleted Tables.deleted()

  Record.defrecordp(:stored, @resources, [:key, :resource, :chunks, :rows])

  Record.defrecordp(
    :usage,
    @uses,
    [:key, :holder, :deadline, :expires_at, :access_count, :last_accessed_at, :used, :bytes]
  )

  Record.defrecordp(:deletion, @deleted, [:key, :until])

  @type server :: atom
  @type id :: String.t()

  # A page of the usual 100 rows touches one or two chunks.
  @chunk 100

  # Smaller than every deadline.
  @before -0xFFFF_FFFF_FFFF_FFFF

  # A network may be split for this long before deleted resources can return.
  @remembered :timer.hours(24)
  @most_remembered 100_000

  # Fields of the usage record. The resource itself keeps their first values.
  @used [:deadline, :expires_at, :access_count, :last_accessed_at]

  @doc """
  Stored rows: binaries, each with some rows in Erlang's external format. Reads and messages do not copy the binaries.
  The binaries do not keep the terms alive that the rows were parts of.
  """
  @spec chunks([map] | nil) :: {tuple, non_neg_integer}
  def chunks(nil), do: {{}, 0}

  def chunks(rows) do
    {rows |> Enum.chunk_every(@chunk) |> Enum.map(&:erlang.term_to_binary/1) |> List.to_tuple(), length(rows)}
  end

  @doc "Writes a resource with its rows, and returns its id."
  @spec insert(server, Resource.t(), {tuple, non_neg_integer}) :: id
  def insert(server, resource, {chunks, rows}) do
    key = {server, resource.id}
    :ok = :mnesia.write(stored(key: key, resource: resource, chunks: chunks, rows: rows))
    :ok = put_usage(nil, usage_of(key, resource, now()))
    resource.id
  end

  defp now, do: System.system_time(:microsecond)

  # The name of the server makes the holder unique in the table's index.
  defp usage_of({server, _id} = key, resource, used) do
    usage(
      key: key,
      holder: {server, resource.tenant, resource.subject},
      deadline: resource.deadline,
      expires_at: resource.expires_at,
      access_count: resource.access_count,
      last_accessed_at: resource.last_accessed_at,
      used: used,
      bytes: resource.bytes
    )
  end

  # Updates the index of deadlines too.
  defp put_usage(before, usage(key: {server, id}, deadline: deadline, holder: {server, tenant, _subject}) = now) do
    unless before == nil or usage(before, :deadline) == deadline, do: remove_deadline(before)
    if deadline, do: :ok = :mnesia.write({@expiry, {server, deadline, id}, tenant})
    :mnesia.write(now)
  end

  defp remove_deadline(usage(deadline: nil)), do: :ok

  defp remove_deadline(usage(key: {server, id}, deadline: deadline)),
    do: :mnesia.delete({@expiry, {server, deadline, id}})

  @doc "The resource from this node's copy."
  @spec read(server, id) :: {:ok, Resource.t()} | :not_found
  def read(server, id) do
    with [resource] <- pick(server, id, [:"$1"]),
         [usage] <- :mnesia.dirty_read(@uses, {server, id}) do
      {:ok, with_usage(resource, usage)}
    else
      [] -> :not_found
    end
  end

  # Copies only the wanted part out of the table.
  defp pick(server, id, part) do
    :mnesia.dirty_select(@resources, [
      {stored(key: {server, id}, resource: :"$1", chunks: :"$2", rows: :"$3"), [], part}
    ])
  end

  defp with_usage(resource, usage(deadline: deadline, expires_at: expires_at) = usage) do
    %{
      resource
      | deadline: deadline,
        expires_at: expires_at,
        access_count: usage(usage, :access_count),
        last_accessed_at: usage(usage, :last_accessed_at)
    }
  end

  @doc "Stored rows from this node's copy."
  @spec rows(server, id, non_neg_integer, non_neg_integer | :all) :: {:ok, [map]} | :not_found
  def rows(server, id, offset, limit) do
    with [count] <- pick(server, id, [:"$3"]),
         limit = if(limit == :all, do: count, else: limit),
         last = min(offset + limit, count),
         [chunks] <- between(server, id, offset, last) do
      {:ok,
       chunks |> Enum.flat_map(&:erlang.binary_to_term/1) |> Enum.slice(rem(offset, @chunk), max(last - offset, 0))}
    else
      [] -> :not_found
    end
  end

  defp between(_server, _id, offset, last) when offset >= last, do: [[]]

  defp between(server, id, offset, last) do
    chunks = for n <- div(offset, @chunk)..div(last - 1, @chunk), do: {:element, n + 1, :"$2"}
    pick(server, id, [chunks])
  end

  @doc "Changes a resource that has not expired."
  @spec change(server, id, integer, (Resource.t() -> Resource.t())) :: :ok | :not_found
  def change(server, id, now, change) do
    with [usage] <- live(server, id, now),
         [stored(resource: %{status: :ready} = resource) = stored] <- :mnesia.wread({@resources, {server, id}}) do
      changed = resource |> with_usage(usage) |> change.()
      :ok = put_usage(usage, usage_of({server, id}, changed, usage(usage, :used)))

      if Map.drop(changed, @used) != Map.drop(resource, @used),
        do: :ok = :mnesia.write(stored(stored, resource: changed))

      :ok
    else
      _none_or_deleted -> :not_found
    end
  end

  @doc "Counts an access to a resource that has not expired."
  @spec count_access(server, id, integer, map) :: :ok | :not_found
  def count_access(server, id, now, changes) do
    case live(server, id, now) do
      [] ->
        :not_found

      [usage] ->
        counted =
          usage(usage,
            access_count: usage(usage, :access_count) + 1,
            last_accessed_at: changes[:last_accessed_at],
            used: now()
          )

        put_usage(usage, extended(counted, changes))
    end
  end

  defp extended(usage(deadline: deadline) = usage, %{deadline: later, expires_at: expires_at}) when deadline != nil,
    do: usage(usage, deadline: later, expires_at: expires_at)

  defp extended(usage, _changes), do: usage

  defp live(server, id, now) do
    case :mnesia.wread({@uses, {server, id}}) do
      [usage(deadline: deadline)] when deadline != nil and deadline <= now -> []
      found -> found
    end
  end

  @doc "Deletes a resource, and remembers the deletion for the end of a network split."
  @spec delete(server, id, integer) :: :ok | :not_found
  def delete(server, id, now) do
    case :mnesia.wread({@uses, {server, id}}) do
      [usage] ->
        remove(usage)
        :mnesia.write(deletion(key: {server, id}, until: now + @remembered))

      [] ->
        :not_found
    end
  end

  @doc "Deletes a resource if it has expired, and returns whether it did."
  @spec delete_expired(server, id, integer) :: boolean
  def delete_expired(server, id, now) do
    case :mnesia.wread({@uses, {server, id}}) do
      [usage(deadline: deadline) = usage] when deadline != nil and deadline <= now -> remove(usage)
      _gone_or_extended -> false
    end
  end

  defp remove(usage(key: key) = usage) do
    remove_deadline(usage)
    :mnesia.delete({@uses, key})
    :mnesia.delete({@resources, key})
    true
  end

  @doc "Forgets deletions whose time is over, and the oldest of more than `most`: what a full store drops counts, too."
  @spec forget_deletions(integer, pos_integer) :: :ok
  def forget_deletions(now, most \\ @most_remembered) do
    all = :mnesia.dirty_select(@deleted, [{deletion(key: :"$1", until: :"$2"), [], [{{:"$2", :"$1"}}]}])
    {old, kept} = Enum.split_with(all, fn {until, _key} -> until <= now end)
    surplus = kept |> Enum.sort() |> Enum.take(max(length(kept) - most, 0))
    for {_until, key} <- old ++ surplus, do: :ok = :mnesia.dirty_delete(@deleted, key)
    :ok
  end

  @doc "The keys of expired resources, the oldest expiry first."
  @spec expired(server, integer, pos_integer) :: [{tenant :: term, id}]
  def expired(server, now, limit), do: expired({server, @before, ""}, server, now, limit)

  # Walks the index, which is sorted by server, deadline and id.
  defp expired(_after, _server, _now, 0), do: []

  defp expired(key, server, now, limit) do
    case :mnesia.dirty_next(@expiry, key) do
      {^server, deadline, id} = next when deadline <= now ->
        for(read <- :mnesia.dirty_read(@expiry, next), do: {elem(read, 2), id}) ++ expired(next, server, now, limit - 1)

      _later_or_none ->
        []
    end
  end

  @doc "The number of a server's resources, and the sum of their recorded sizes in bytes."
  @spec size(server) :: %{resources: non_neg_integer, bytes: non_neg_integer}
  def size(server) do
    sizes = :mnesia.dirty_select(@uses, [{usage(pattern(), key: {server, :_}, bytes: :"$1"), [], [:"$1"]}])
    %{resources: length(sizes), bytes: Enum.sum(sizes)}
  end

  @doc "The keys of unpinned resources, the least recently used first."
  @spec least_used(server, pos_integer) :: [{tenant :: term, id}]
  def least_used(server, limit) do
    head = usage(pattern(), key: {server, :"$1"}, holder: {:_, :"$2", :_}, deadline: :"$3", used: :"$4")

    @uses
    |> :mnesia.dirty_select([{head, [{:"=/=", :"$3", nil}], [{{:"$4", :"$1", :"$2"}}]}])
    |> first_used(limit)
  end

  @doc "Like `least_used/2`, for one tenant and subject."
  @spec least_used_of(server, {tenant :: term, subject :: term}, pos_integer) :: [{tenant :: term, id}]
  def least_used_of(server, {tenant, _subject} = holder, limit) do
    unpinned =
      for usage(key: {_server, id}, deadline: deadline, used: used) when deadline != nil <- of_holder(server, holder),
          do: {used, id, tenant}

    first_used(unpinned, limit)
  end

  defp first_used(used, limit) do
    used |> Enum.sort() |> Enum.take(limit) |> Enum.map(fn {_used, id, tenant} -> {tenant, id} end)
  end

  @doc "`size/1` of one tenant and subject."
  @spec size_of(server, {tenant :: term, subject :: term}) :: %{
          resources: non_neg_integer,
          bytes: non_neg_integer
        }
  def size_of(server, holder) do
    sizes = for usage(bytes: bytes) <- of_holder(server, holder), do: bytes
    %{resources: length(sizes), bytes: Enum.sum(sizes)}
  end

  defp of_holder(server, {tenant, subject}), do: :mnesia.dirty_index_read(@uses, {server, tenant, subject}, :holder)

  @doc "The number of resources of each tenant and subject, and the sum of their recorded sizes in bytes."
  @spec holders(server) :: [
          {{tenant :: term, subject :: term}, %{resources: pos_integer, bytes: non_neg_integer}}
        ]
  def holders(server) do
    head = usage(pattern(), key: {server, :_}, holder: {:_, :"$1", :"$2"}, bytes: :"$3")

    @uses
    |> :mnesia.dirty_select([{head, [], [{{{{:"$1", :"$2"}}, :"$3"}}]}])
    |> Enum.group_by(&elem(&1, 0), &elem(&1, 1))
    |> Enum.map(fn {holder, sizes} -> {holder, %{resources: length(sizes), bytes: Enum.sum(sizes)}} end)
  end

  defp pattern do
    usage(
      key: :_,
      holder: :_,
      deadline: :_,
      expires_at: :_,
      access_count: :_,
      last_accessed_at: :_,
      used: :_,
      bytes: :_
    )
  end

  @doc "All records of this node. Locks the tables, so no other transaction runs meanwhile."
  @spec all() :: [tuple]
  def all do
    Enum.each(Tables.all(), &:mnesia.write_lock_table/1)
    for table <- Tables.all(), record <- :ets.tab2list(table), do: record
  end

  @doc "The transactions that merge all records of the other side of a split. Each may run twice."
  @spec merges([tuple]) :: [(() -> :ok)]
  def merges(records) do
    usages = for usage(key: key) = usage <- records, into: %{}, do: {key, usage}
    deletions = for deletion() = deletion <- records, do: fn -> merge_deletion(deletion) end

    resources =
      for stored(key: key) = stored <- records, usage = usages[key], do: fn -> merge_resource(stored, usage) end

    deletions ++ resources
  end

  defp merge_deletion(deletion(key: key) = deletion) do
    for usage <- :mnesia.wread({@uses, key}), do: remove(usage)
    :mnesia.write(deletion)
  end

  defp merge_resource(stored, usage(key: key) = usage) do
    case {:mnesia.read(@deleted, key), :mnesia.wread({@uses, key})} do
      {[_deletion], _none} ->
        :ok

      {[], [known]} ->
        put_usage(known, merged(known, usage))

      {[], []} ->
        :ok = :mnesia.write(stored)
        put_usage(nil, usage)
    end
  end

  defp merged(one, other) do
    last = if usage(one, :access_count) >= usage(other, :access_count), do: one, else: other
    longest = Enum.max_by([one, other], &usage(&1, :deadline))
    usage(last, deadline: usage(longest, :deadline), expires_at: usage(longest, :expires_at))
  end
end
