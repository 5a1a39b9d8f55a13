defmodule McpServer.DualResponse.Store.ETSTest do
  use McpServer.DualResponse.StoreCase, store: McpServer.DualResponse.Store.ETS, async: true

  alias McpServer.DualResponse.Store.ETS

  doctest McpServer.DualResponse.Store.ETS

  describe "the indexes" do
    test "hold nothing of what was deleted, however its times had changed", %{ref: ref, now: now} do
      later = ~U[2025-01-15 11:00:00Z]

      for _ <- 1..50 do
        {:ok, id} = ETS.save(ref, StoreCase.expiring(now + 10), nil)
        :ok = ETS.touch(ref, {nil, id}, %{last_accessed_at: later, expires_at: later, deadline: now + 50}, now)
        {:ok, _keys} = ETS.find_expired(ref, now + 20, 1)
        {:ok, _keys} = ETS.least_used(ref, 1)
        :ok = ETS.delete(ref, {nil, id})
      end

      assert {:ok, []} = ETS.find_expired(ref, now + 100, 100)
      assert {:ok, []} = ETS.least_used(ref, 100)
      assert {:ets.info(ref.expiry, :size), :ets.info(ref.usage, :size)} == {0, 0}
      # The number of all records.
      assert :ets.info(ref.records, :size) == 1
    end

    test "forget what was pinned", %{ref: ref, now: now} do
      {:ok, id} = ETS.save(ref, StoreCase.expiring(now + 10), nil)
      :ok = ETS.update(ref, {nil, id}, %{expires_at: nil, deadline: nil}, now)
      assert {:ok, []} = ETS.find_expired(ref, now + 20, 1)
      assert {:ok, []} = ETS.least_used(ref, 1)
      assert {:ok, []} = ETS.least_used_of(ref, {nil, nil}, 1)
      assert {:ets.info(ref.expiry, :size), :ets.info(ref.usage, :size)} == {0, 0}
    end
  end

  # Earlier, a process that was killed between a count and its change left a count that was too high for ever. In the
  # end the store was full with nothing in it.
  test "what is counted is there, whenever the caller is killed", %{ref: ref, now: now} do
    resource = StoreCase.expiring(now + 10)
    key = {nil, resource.id}

    for {change, resources} <- [
          {fn -> ETS.save(ref, resource, StoreCase.rows(10)) end, 1},
          {fn -> ETS.update(ref, key, %{bytes: 5}, now) end, 1},
          {fn -> ETS.delete(ref, key) end, 0}
        ] do
      {caller, changing} = killed_while_counting(change)
      assert changing != caller
      monitor = Process.monitor(changing)
      assert_receive {:DOWN, ^monitor, :process, ^changing, _reason}
      records = for record when tuple_size(record) > 3 <- :ets.tab2list(ref.records), do: record

      assert ETS.size(ref) ==
               {:ok, %{resources: resources, bytes: Enum.sum(for record <- records, do: elem(record, 10))}}
    end
  end

  # The process that makes a change, and the one that wants it, which is killed when the first one counts.
  defp killed_while_counting(change) do
    caller = spawn(fn -> receive(do: (:go -> change.())) end)
    :erlang.trace_pattern({:ets, :update_counter, 3}, true, [])
    :erlang.trace(caller, true, [:call, :set_on_spawn])
    send(caller, :go)
    assert_receive {:trace, changing, :call, {:ets, :update_counter, _arguments}}
    Process.exit(caller, :kill)
    :erlang.trace_pattern({:ets, :update_counter, 3}, false, [])
    {caller, changing}
  end

  test "updates of many processes at a time are all made, and no access between them is lost", %{ref: ref, now: now} do
    resource = StoreCase.resource()
    {:ok, id} = ETS.save(ref, resource, nil)

    StoreCase.at_once(20, fn n ->
      :ok = ETS.update(ref, {nil, id}, %{metadata: %{n => true}}, now)
      :ok = ETS.touch(ref, {nil, id}, %{last_accessed_at: ~U[2025-01-15 11:00:00Z]}, now)
    end)

    assert {:ok, %{access_count: 20, metadata: metadata}} = ETS.get(ref, {nil, id})
    assert map_size(metadata) == 1
  end
end
