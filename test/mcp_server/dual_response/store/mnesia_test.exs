defmodule McpServer.DualResponse.Store.MnesiaTest do
  # The store on one node; mnesia_cluster_test.exs has several. Not async: there is one Mnesia in a VM.
  use ExUnit.Case

  # Before the tests of StoreCase, so that they have the tags too.
  @moduletag McpServer.Installed.tags(:mnesia)
  @moduletag :capture_log

  use McpServer.DualResponse.StoreCase, store: McpServer.DualResponse.Store.Mnesia

  import McpServer.HttpCase, only: [eventually: 1]

  alias McpServer.DualResponse
  alias McpServer.DualResponse.{Error, Store}
  alias McpServer.DualResponse.Store.Mnesia.Records

  @now ~U[2025-01-15 10:31:00Z]

  setup_all do
    start_supervised!(Store.Mnesia)
    on_exit(fn -> McpServer.TestLog.capture_log(fn -> Application.stop(:mnesia) end) end)
  end

  defp save(store, ref, resource, rows \\ nil) do
    {:ok, id} = store.save(ref, resource, rows)
    {nil, id}
  end

  @tag req: "S1-43"
  test "64 writers lose no access", %{store: store, ref: ref, now: now} do
    key = save(store, ref, StoreCase.resource())
    StoreCase.at_once(64, fn _n -> for _ <- 1..25, do: :ok = store.touch(ref, key, %{last_accessed_at: @now}, now) end)
    assert {:ok, %{access_count: 1_600}} = store.get(ref, key)
  end

  test "more than one batch of what has expired is deleted", %{store: store, ref: ref, now: now} do
    ids = for n <- 1..250, do: ref |> store.save(StoreCase.expiring(now - n), StoreCase.rows(1)) |> elem(1)
    assert {:ok, first} = store.delete_expired(ref, now, 120)
    assert {:ok, rest} = store.delete_expired(ref, now, 1_000)
    assert length(first) == 120
    assert for({nil, id} <- first ++ rest, do: id) == Enum.reverse(ids)
    assert store.size(ref) == {:ok, %{resources: 0, bytes: 0}}
  end

  test "the tables hold nothing of what is gone", %{store: store, ref: ref, now: now} do
    before = records(ref)
    keys = for n <- 1..20, do: save(store, ref, StoreCase.expiring(now + n), StoreCase.rows(250))

    for key <- keys,
        do: :ok = store.touch(ref, key, %{last_accessed_at: @now, deadline: now + 50, expires_at: @now}, now)

    {:ok, _keys} = store.delete_expired(ref, now + 50, 100)
    assert records(ref) == before
  end

  # The member of each node forgets them.
  test "deletions are remembered for a day, and no more than fit", %{store: store, ref: ref, now: now} do
    {_nil, first} = key = save(store, ref, StoreCase.resource())
    :ok = store.delete(ref, key)
    assert [{_table, {^ref, ^first}, until}] = deletions(ref)
    :ok = Records.forget_deletions(now + :timer.hours(23))
    assert [_remembered] = deletions(ref)

    # Earlier, each deletion of a full store was remembered for a day.
    others = :ets.info(:mcp_dual_response_deleted, :size) - 1
    :mnesia.dirty_write({:mcp_dual_response_deleted, {ref, "later"}, until + :timer.hours(1)})
    :ok = Records.forget_deletions(now, others + 2)
    assert length(deletions(ref)) == 2
    :mnesia.dirty_write({:mcp_dual_response_deleted, {ref, "first"}, now + 1})
    :ok = Records.forget_deletions(now, others + 2)
    assert ref |> deletions() |> Enum.map(&elem(&1, 1)) |> Enum.sort() == Enum.sort([{ref, first}, {ref, "later"}])

    :ok = Records.forget_deletions(now + :timer.hours(26))
    assert deletions(ref) == []
  end

  test "the member forgets them by itself", %{store: store, ref: ref, now: now} do
    :mnesia.dirty_write({:mcp_dual_response_deleted, {ref, "old"}, now - 1})
    :ok = store.delete(ref, save(store, ref, StoreCase.resource()))
    send(Store.Mnesia.Member, :forget)
    :sys.get_state(Store.Mnesia.Member)
    assert [{_table, {^ref, id}, _until}] = deletions(ref)
    assert id != "old"
  end

  defp deletions(ref), do: :ets.match_object(:mcp_dual_response_deleted, {:_, {ref, :_}, :_})

  defp records(ref) do
    for {table, key} <- [
          {:mcp_dual_response, {ref, :_}},
          {:mcp_dual_response_use, {ref, :_}},
          {:mcp_dual_response_expiry, {ref, :_, :_}}
        ] do
      pattern = table |> :mnesia.table_info(:wild_pattern) |> put_elem(1, key)
      {table, length(:ets.match_object(table, pattern))}
    end
  end

  test "servers with other names see nothing of each other", %{store: store, ref: ref, now: now} do
    key = save(store, ref, StoreCase.expiring(now - 1), StoreCase.rows(1))
    {:ok, other} = store.init(server: :other_server_of_these_tables)
    assert store.get(other, key) == :not_found
    assert store.rows(other, key, 0, :all) == :not_found
    assert store.delete(other, key) == :not_found
    assert store.find_expired(other, now, 10) == {:ok, []}
    assert store.delete_expired(other, now, 10) == {:ok, []}
    assert store.least_used(other, 10) == {:ok, []}
    assert store.size(other) == {:ok, %{resources: 0, bytes: 0}}
    assert {:ok, _resource} = store.get(ref, key)
  end

  @tag req: "S1-44"
  test "a function is refused, by the store as well", %{store: store, ref: ref} do
    resource = StoreCase.resource(query: %{execute: fn _options -> [] end, count: {Kernel, :length, [[]]}})
    assert store.save(ref, resource, nil) == {:error, :function}
    assert store.get(ref, {nil, resource.id}) == :not_found
  end

  test "options are checked", %{store: store} do
    for options <- [[storage: :disc_only_copies], [wait: 0], [nodes: "a@b"], [table: :x]] do
      assert_raise ArgumentError, fn -> Store.Mnesia.start_link(options) end
    end

    assert_raise ArgumentError, fn -> store.init(server: :x, storage: :ram_copies) end
  end

  @tag req: "R8"
  test "the member that is killed under load takes nothing with it", %{store: store, ref: ref, now: now} do
    key = save(store, ref, StoreCase.resource(persist: :rows, query: nil, total_count: 300), StoreCase.rows(300))

    answers =
      StoreCase.at_once(20, fn
        1 ->
          Process.exit(Process.whereis(Store.Mnesia.Member), :kill)
          []

        _writer ->
          for _ <- 1..20, do: store.touch(ref, key, %{last_accessed_at: @now}, now)
      end)

    assert answers |> List.flatten() |> Enum.uniq() == [:ok]
    assert {:ok, %{access_count: 380}} = store.get(ref, key)
    assert store.rows(ref, key, 0, :all) == {:ok, StoreCase.rows(300)}
    eventually(fn -> Process.whereis(Store.Mnesia.Member) != nil end)
  end

  @tag req: ["S1-44", "R8"]
  test "Mnesia that ends is a storage error, and comes back" do
    server = :mnesia_store_that_ends
    options = [name: server, base_url: "http://127.0.0.1/resources", store: Store.Mnesia]
    start_supervised!({DualResponse, options})
    rows = [name: "Rows", columns: [%{name: "n"}], rows: [%{"n" => 1}]]
    {:ok, %{resource_id: id}} = DualResponse.create_response(server, rows)
    assert {:ok, %{data: [%{"n" => 1}]}} = DualResponse.fetch(server, id, %{offset: 0})

    eventually(fn -> Process.whereis(Store.Mnesia.Member) != nil end)
    [member, monitor] = [Process.whereis(Store.Mnesia.Member), Process.monitor(Store.Mnesia.Member)]
    :ok = :sys.suspend(member)
    :stopped = :mnesia.stop()
    assert {:error, %Error{code: :storage_error, message: "The store failed"}} = DualResponse.lookup(server, id)
    assert {:error, %Error{code: :storage_error}} = DualResponse.create_response(server, rows)
    assert {:error, %Error{code: :storage_error}} = DualResponse.fetch(server, id, %{offset: 0})
    :ok = :sys.resume(member)

    # The supervisor restarts the member, and the member starts Mnesia. No other node had a copy.
    assert_receive {:DOWN, ^monitor, :process, _pid, :mnesia_ended}
    eventually(fn -> match?({:ok, _response}, DualResponse.create_response(server, rows)) end)
    assert DualResponse.get_resource(server, id) == nil
  end

  test "what goes on for killed callers stays within the share of their owner" do
    server = :mnesia_store_of_killed_callers
    options = [name: server, base_url: "http://127.0.0.1/resources", store: Store.Mnesia, max_resources: 8]
    start_supervised!({DualResponse, options})
    rows = [name: "Rows", columns: [%{name: "n"}], rows: [%{"n" => 1}], subject: "eve"]
    lock = Task.async(fn -> :mnesia.transaction(&hold/0) end)
    eventually(fn -> :mnesia.system_info(:held_locks) != [] end)

    for n <- 1..6 do
      {pid, monitor} = spawn_monitor(fn -> DualResponse.create_response(server, rows) end)
      eventually(fn -> length(:mnesia.system_info(:transactions)) == n + 1 end)
      Process.exit(pid, :kill)
      assert_receive {:DOWN, ^monitor, :process, ^pid, :killed}, 30_000
    end

    send(lock.pid, :go)
    Task.await(lock, 30_000)
    eventually(fn -> :mnesia.system_info(:transactions) == [] and kept(server) <= 2 end)
  end

  # Reads do not wait for it.
  defp hold do
    :mnesia.write_lock_table(:mcp_dual_response)
    receive do: (:go -> :ok)
  end

  defp kept(server), do: Records.size(server).resources
end
