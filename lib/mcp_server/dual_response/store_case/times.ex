defmodule McpServer.DualResponse.StoreCase.Times do
  @moduledoc false
  # Tests of use and expiry.

  @spec accesses() :: Macro.t()
  def accesses do
    quote location: :keep do
      describe "an access" do
        @describetag req: "S1-43"
        test "is counted, and when it was", %{store: store, ref: ref, now: now} do
          resource = StoreCase.resource()
          {:ok, _id} = store.save(ref, resource, nil)

          for {time, count} <- [{~U[2025-01-15 10:31:00Z], 1}, {~U[2025-01-15 10:32:00Z], 2}] do
            assert store.touch(ref, {nil, resource.id}, %{last_accessed_at: time}, now) == :ok

            assert store.get(ref, {nil, resource.id}) ==
                     {:ok, %{resource | access_count: count, last_accessed_at: time}}
          end
        end

        test "of what is not there is :not_found", %{store: store, ref: ref, now: now} do
          changes = %{last_accessed_at: ~U[2025-01-15 10:31:00Z]}
          assert store.touch(ref, {nil, StoreCase.resource().id}, changes, now) == :not_found
        end

        @tag req: "R2"
        test "is counted before the deadline, and not at it", %{store: store, ref: ref, now: now} do
          changes = %{last_accessed_at: ~U[2025-01-15 10:31:00Z]}

          for {at, answer} <- [{59_999, :ok}, {60_000, :not_found}, {60_001, :not_found}] do
            {:ok, id} = store.save(ref, StoreCase.expiring(now + 60_000), nil)
            assert store.touch(ref, {nil, id}, changes, now + at) == answer
          end
        end

        test "may extend the time, but never of what is pinned", %{store: store, ref: ref, now: now} do
          [expiring, pinned] = [StoreCase.expiring(now + 60_000), StoreCase.resource()]
          later = ~U[2025-01-15 11:00:00Z]
          changes = %{last_accessed_at: ~U[2025-01-15 10:31:00Z], expires_at: later, deadline: now + 90_000}

          for resource <- [expiring, pinned] do
            {:ok, _id} = store.save(ref, resource, nil)
            assert store.touch(ref, {nil, resource.id}, changes, now) == :ok
          end

          assert {:ok, %{deadline: deadline, expires_at: ^later}} = store.get(ref, {nil, expiring.id})
          assert deadline == now + 90_000
          assert {:ok, %{deadline: nil, expires_at: nil, access_count: 1}} = store.get(ref, {nil, pinned.id})
        end

        test "of many at a time none is lost", %{store: store, ref: ref, now: now} do
          resource = StoreCase.resource()
          {:ok, _id} = store.save(ref, resource, nil)
          changes = %{last_accessed_at: ~U[2025-01-15 10:31:00Z]}

          StoreCase.at_once(@parallel, fn _n ->
            for _ <- 1..20, do: :ok = store.touch(ref, {nil, resource.id}, changes, now)
          end)

          assert {:ok, %{access_count: count}} = store.get(ref, {nil, resource.id})
          assert count == @parallel * 20
        end
      end
    end
  end

  @spec expiry() :: Macro.t()
  def expiry do
    quote location: :keep do
      describe "what has expired" do
        @describetag req: ["S1-40", "R2"]
        # A shared store may have resources of other tests.
        defp expired_ids(store, ref, at, own) do
          {:ok, keys} = store.find_expired(ref, at, 10_000)
          for {_tenant, id} <- keys, id in own, do: id
        end

        test "is found from its deadline on", %{store: store, ref: ref, now: now} do
          resource = StoreCase.expiring(now + 60_000, tenant: "acme")
          {:ok, id} = store.save(ref, resource, nil)
          assert expired_ids(store, ref, now + 59_999, [id]) == []
          assert expired_ids(store, ref, now + 60_000, [id]) == [id]
          assert expired_ids(store, ref, now + 60_001, [id]) == [id]
        end

        test "is found in the order it did", %{store: store, ref: ref, now: now} do
          ids =
            for after_now <- [30, 10, 20] do
              {:ok, id} = store.save(ref, StoreCase.expiring(now + after_now), nil)
              id
            end

          [third, first, second] = ids
          assert expired_ids(store, ref, now + 20, ids) == [first, second]
          assert expired_ids(store, ref, now + 60, ids) == [first, second, third]
        end

        test "is found no more than so many at a time", %{store: store, ref: ref, now: now} do
          for n <- 1..5, do: {:ok, _id} = store.save(ref, StoreCase.expiring(now - n), nil)
          assert {:ok, keys} = store.find_expired(ref, now, 3)
          assert length(keys) == 3
        end

        test "was not pinned", %{store: store, ref: ref, now: now} do
          resource = StoreCase.expiring(now + 60_000)
          {:ok, id} = store.save(ref, resource, nil)
          :ok = store.update(ref, {nil, id}, %{expires_at: nil, deadline: nil}, now)
          assert expired_ids(store, ref, now + 600_000, [id]) == []
        end

        test "was not extended", %{store: store, ref: ref, now: now} do
          {:ok, id} = store.save(ref, StoreCase.expiring(now + 10), nil)
          later = ~U[2025-01-15 11:00:00Z]
          changes = %{last_accessed_at: later, expires_at: later, deadline: now + 1_000}
          :ok = store.touch(ref, {nil, id}, changes, now)
          assert expired_ids(store, ref, now + 999, [id]) == []
          assert expired_ids(store, ref, now + 1_000, [id]) == [id]
        end

        test "can be deleted by the key it was found with", %{store: store, ref: ref, now: now} do
          {:ok, id} = store.save(ref, StoreCase.expiring(now - 1, tenant: "acme"), StoreCase.rows(3))
          {:ok, keys} = store.find_expired(ref, now, 10_000)
          assert [key] = for({_tenant, ^id} = key <- keys, do: key)
          assert store.delete(ref, key) == :ok
          assert expired_ids(store, ref, now, [id]) == []
        end

        test "is deleted by one of several, where the store does it itself", %{store: store, ref: ref, now: now} do
          if function_exported?(store, :delete_expired, 3) do
            ids = for _ <- 1..20, do: elem(store.save(ref, StoreCase.expiring(now - 1), nil), 1)
            {:ok, kept} = store.save(ref, StoreCase.expiring(now + 1), nil)

            deleted =
              StoreCase.at_once(4, fn _n ->
                {:ok, keys} = store.delete_expired(ref, now, 10_000)
                keys
              end)

            deleted = for keys <- deleted, {_tenant, id} <- keys, id in [kept | ids], do: id
            assert Enum.sort(deleted) == Enum.sort(ids)
            assert {:ok, _resource} = store.get(ref, {nil, kept})
          end
        end
      end
    end
  end
end
