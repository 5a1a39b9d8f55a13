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
