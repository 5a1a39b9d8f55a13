defmodule McpServer.DualResponse.StoreCase.Contents do
  @moduledoc false
  # Tests of rows and of sizes.

  @spec kept_rows() :: Macro.t()
  def kept_rows do
    quote location: :keep do
      describe "kept rows" do
        test "pages are the whole, wherever they begin and end", %{store: store, ref: ref} do
          for count <- [0, 1, 99, 100, 101, 250] do
            rows = StoreCase.rows(count)
            resource = StoreCase.resource(persist: :rows, query: nil, total_count: count)
            {:ok, id} = store.save(ref, resource, rows)
            assert store.rows(ref, {nil, id}, 0, :all) == {:ok, rows}
            assert store.rows(ref, {nil, id}, 1, :all) == {:ok, Enum.drop(rows, 1)}
            assert store.rows(ref, {nil, id}, 0, 0) == {:ok, []}

            for limit <- [1, 7, 100, 249, 250, 251], offset <- [0, 1, 98, 99, 100, 101, 249, 250, 251] do
              assert {count, offset, limit, store.rows(ref, {nil, id}, offset, limit)} ==
                       {count, offset, limit, {:ok, Enum.slice(rows, offset, limit)}}
            end
          end
        end

        test "of what is not there are :not_found", %{store: store, ref: ref} do
          assert store.rows(ref, {nil, StoreCase.resource().id}, 0, 1) == :not_found
        end

        @tag req: "R4"
        test "do not keep in memory what they were read from", %{store: store, ref: ref} do
          large = :binary.copy("x", 1_000_000)
          rows = for n <- 0..9, do: %{"text" => binary_part(large, n * 100, 100)}
          {:ok, id} = store.save(ref, StoreCase.resource(persist: :rows, query: nil, total_count: 10), rows)
          {:ok, kept} = store.rows(ref, {nil, id}, 0, :all)
          assert kept == rows
          for row <- kept, do: assert(:binary.referenced_byte_size(row["text"]) < 100_000)
        end

        test "keep their values", %{store: store, ref: ref} do
          rows = [%{"a" => [nil, true, 1.5, %{"b" => "é"}], "c" => 123_456_789_012_345_678_901_234}]
          {:ok, id} = store.save(ref, StoreCase.resource(persist: :rows, query: nil, total_count: 1), rows)
          assert store.rows(ref, {nil, id}, 0, :all) == {:ok, rows}
        end
      end
    end
  end

  @spec bounds() :: Macro.t()
  def bounds do
    quote location: :keep do
      describe "what a store holds" do
        @describetag req: "R4"
        test "is counted", %{store: store, ref: ref} do
          {:ok, before} = store.size(ref)
          {:ok, id} = store.save(ref, StoreCase.resource(bytes: 1_000), StoreCase.rows(150))
          {:ok, _id} = store.save(ref, StoreCase.resource(bytes: 20), nil)
          {:ok, full} = store.size(ref)
          assert {full.resources - before.resources, full.bytes - before.bytes} == {2, 1_020}
          :ok = store.delete(ref, {nil, id})
          {:ok, less} = store.size(ref)
          assert {less.resources - before.resources, less.bytes - before.bytes} == {1, 20}
        end

        test "is counted again when its size changes", %{store: store, ref: ref, now: now} do
          {:ok, before} = store.size(ref)
          {:ok, id} = store.save(ref, StoreCase.expiring(now + 60_000, bytes: 1_000, subject: "ada"), nil)

          for bytes <- [3_000, 20] do
            assert store.update(ref, {nil, id}, %{bytes: bytes}, now) == :ok
            assert {:ok, %{bytes: ^bytes}} = store.get(ref, {nil, id})
            {:ok, size} = store.size(ref)
            assert {size.resources - before.resources, size.bytes - before.bytes} == {1, bytes}

            if function_exported?(store, :holders, 1),
              do: assert(store.size_of(ref, {nil, "ada"}) == {:ok, %{resources: 1, bytes: bytes}})
          end

          :ok = store.delete(ref, {nil, id})
          assert store.size(ref) == {:ok, before}
        end

        test "is not found or counted under the name of another server", %{store: store, ref: ref, options: options} do
          {:ok, before} = store.size(ref)
          other_options = Keyword.update!(options, :server, &:"#{&1}_other")
          {:ok, other} = store.init(other_options)
          {:ok, id} = store.save(other, StoreCase.resource(bytes: 1_000), nil)
          assert store.size(ref) == {:ok, before}
          assert store.get(ref, {nil, id}) == :not_found
          assert store.delete(ref, {nil, id}) == :not_found
          assert store.delete(other, {nil, id}) == :ok
          store.close(other)
        end

        test "is counted by whose it is, if the store can tell", %{store: store, ref: ref, now: now} do
          if function_exported?(store, :holders, 1) do
            ids =
              for {tenant, subject} = holder <- [{"a", "ada"}, {"a", "eve"}, {nil, "ada"}, {"a", "ada"}] do
                resource = %{StoreCase.expiring(now + 60_000) | tenant: tenant, subject: subject, bytes: 10}
                {:ok, id} = store.save(ref, resource, nil)
                Process.sleep(3)
                {id, holder}
              end

            {:ok, holders} = store.holders(ref)
            assert List.keyfind(holders, {"a", "ada"}, 0) == {{"a", "ada"}, %{resources: 2, bytes: 20}}
            assert List.keyfind(holders, {nil, "ada"}, 0) == {{nil, "ada"}, %{resources: 1, bytes: 10}}
            assert store.size_of(ref, {"a", "ada"}) == {:ok, %{resources: 2, bytes: 20}}
            assert store.size_of(ref, {nil, "ada"}) == {:ok, %{resources: 1, bytes: 10}}
            assert store.size_of(ref, {nil, "eve"}) == {:ok, %{resources: 0, bytes: 0}}

            [{first, _a}, _eves, _nobodys, {last, _b}] = ids
            assert store.least_used_of(ref, {"a", "ada"}, 10) == {:ok, [{"a", first}, {"a", last}]}
            assert store.least_used_of(ref, {"a", "ada"}, 1) == {:ok, [{"a", first}]}
            for {id, {tenant, _subject}} <- ids, do: :ok = store.delete(ref, {tenant, id})
            {:ok, holders} = store.holders(ref)
            assert List.keyfind(holders, {"a", "ada"}, 0) == nil
            assert store.size_of(ref, {"a", "ada"}) == {:ok, %{resources: 0, bytes: 0}}
          end
        end

        test "goes by its last use, and pinned resources stay", %{store: store, ref: ref, now: now} do
          ids =
            for _ <- 1..4 do
              {:ok, id} = store.save(ref, StoreCase.expiring(now + 60_000), nil)
              Process.sleep(3)
              id
            end

          [first, second, third, fourth] = ids
          :ok = store.touch(ref, {nil, first}, %{last_accessed_at: DateTime.utc_now()}, StoreCase.now(store))
          :ok = store.update(ref, {nil, second}, %{expires_at: nil, deadline: nil}, now)
          {:ok, keys} = store.least_used(ref, 10_000)
          assert for({_tenant, id} <- keys, id in ids, do: id) == [third, fourth, first]
          assert {:ok, [_one]} = store.least_used(ref, 1)
        end
      end
    end
  end
end
