defmodule McpServer.DualResponse.StoreCase.Records do
  @moduledoc false
  # Tests of saving and changing resources.

  @spec records() :: Macro.t()
  def records do
    quote location: :keep do
      describe "a record" do
        @describetag req: ["S1-40", "S1-42"]
        test "is kept whole: save gives its id, get what was saved", %{store: store, ref: ref} do
          resource = StoreCase.resource(tenant: "acme", subject: {:user, 7}, bytes: 100)
          id = resource.id
          assert store.save(ref, resource, nil) == {:ok, id}
          assert store.get(ref, {"acme", id}) == {:ok, resource}
        end

        test "begins with no access", %{store: store, ref: ref} do
          resource = StoreCase.resource()
          {:ok, _id} = store.save(ref, resource, nil)
          assert {:ok, found} = store.get(ref, {nil, resource.id})
          assert %{access_count: 0, last_accessed_at: nil, expires_at: nil, deadline: nil, status: :ready} = found
        end

        test "keeps when it expires", %{store: store, ref: ref, now: now} do
          resource = StoreCase.expiring(now + 60_000)
          {:ok, _id} = store.save(ref, resource, nil)
          assert {:ok, found} = store.get(ref, {nil, resource.id})
          assert {found.deadline, found.expires_at} == {now + 60_000, ~U[2025-01-15 10:45:00Z]}
        end

        test "is not found under another id", %{store: store, ref: ref} do
          {:ok, _id} = store.save(ref, StoreCase.resource(), nil)
          assert store.get(ref, {nil, StoreCase.resource().id}) == :not_found
          assert store.get(ref, {nil, ""}) == :not_found
          assert store.get(ref, {nil, "../../etc/passwd\0"}) == :not_found
        end

        test "keeps functions, or says that the store does not", %{store: store, ref: ref} do
          if store.persists_closures?() do
            offset = 41
            query = %{execute: fn options -> [%{"n" => offset + options.limit}] end, count: fn -> offset end}
            resource = StoreCase.resource(query: query)
            {:ok, _id} = store.save(ref, resource, nil)
            {:ok, found} = store.get(ref, {nil, resource.id})
            assert found.query.execute.(%{limit: 1}) == [%{"n" => 42}]
            assert found.query.count.() == 41
          else
            refute store.persists_closures?()
          end
        end

        test "is there when the store is opened again", %{store: store, ref: ref, options: options} do
          resource = StoreCase.resource()
          {:ok, _id} = store.save(ref, resource, StoreCase.rows(3))
          assert {:ok, again} = store.init(options)
          assert store.get(again, {nil, resource.id}) == {:ok, resource}
          assert store.rows(again, {nil, resource.id}, 0, :all) == {:ok, StoreCase.rows(3)}
        end

        test "the clock is one of two", %{store: store} do
          assert store.clock() in [:monotonic, :wall]
        end
      end
    end
  end

  @spec changes() :: Macro.t()
  def changes do
    quote location: :keep do
      describe "a partial update" do
        @describetag req: "S1-40"
        test "changes these fields and no other", %{store: store, ref: ref, now: now} do
          resource = StoreCase.resource()
          {:ok, _id} = store.save(ref, resource, nil)
          assert store.update(ref, {nil, resource.id}, %{name: "Other", metadata: %{"a" => 1}}, now) == :ok
          assert store.get(ref, {nil, resource.id}) == {:ok, %{resource | name: "Other", metadata: %{"a" => 1}}}
        end

        test "of what is not there is :not_found", %{store: store, ref: ref, now: now} do
          assert store.update(ref, {nil, StoreCase.resource().id}, %{name: "x"}, now) == :not_found
        end

        @tag req: "S1-22"
        test "pins, and pins again", %{store: store, ref: ref, now: now} do
          resource = StoreCase.expiring(now + 60_000)
          {:ok, _id} = store.save(ref, resource, nil)
          pinned = %{expires_at: nil, deadline: nil}
          assert store.update(ref, {nil, resource.id}, pinned, now) == :ok
          assert store.update(ref, {nil, resource.id}, pinned, now + 120_000) == :ok
          assert {:ok, %{expires_at: nil, deadline: nil}} = store.get(ref, {nil, resource.id})
        end

        @tag req: "R2"
        test "is made before the deadline, and not at it", %{store: store, ref: ref, now: now} do
          for {at, answer} <- [{59_999, :ok}, {60_000, :not_found}, {60_001, :not_found}] do
            {:ok, id} = store.save(ref, StoreCase.expiring(now + 60_000), nil)
            assert store.update(ref, {nil, id}, %{expires_at: nil, deadline: nil}, now + at) == answer
          end
        end
      end

      describe "a tombstone" do
        # A pin that comes late would keep it for ever.
        test "is not changed", %{store: store, ref: ref, now: now} do
          stone = StoreCase.expiring(now + 60_000, status: :deleted)
          {:ok, id} = store.save(ref, stone, nil)
          assert store.update(ref, {nil, id}, %{expires_at: nil, deadline: nil}, now) == :not_found
          assert {:ok, %{status: :deleted, deadline: deadline}} = store.get(ref, {nil, id})
          assert deadline == now + 60_000
        end
      end

      describe "deleting" do
        @describetag req: "S1-40"
        test "is done once", %{store: store, ref: ref} do
          resource = StoreCase.resource()
          {:ok, _id} = store.save(ref, resource, StoreCase.rows(250))
          assert store.delete(ref, {nil, resource.id}) == :ok
          assert store.delete(ref, {nil, resource.id}) == :not_found
          assert store.get(ref, {nil, resource.id}) == :not_found
          assert store.rows(ref, {nil, resource.id}, 0, 10) == :not_found
        end

        test "leaves others alone", %{store: store, ref: ref} do
          [one, other] = [StoreCase.resource(), StoreCase.resource()]
          for resource <- [one, other], do: {:ok, _id} = store.save(ref, resource, nil)
          assert store.delete(ref, {nil, one.id}) == :ok
          assert {:ok, _resource} = store.get(ref, {nil, other.id})
        end
      end
    end
  end
end
