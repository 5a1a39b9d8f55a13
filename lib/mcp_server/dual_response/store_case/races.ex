defmodule McpServer.DualResponse.StoreCase.Races do
  @moduledoc false
  # Tests of concurrent calls.

  @spec together() :: Macro.t()
  def together do
    quote location: :keep do
      describe "at the same time" do
        @tag req: "S1-23"
        test "of those that delete one is told so", %{store: store, ref: ref} do
          for _ <- 1..10 do
            {:ok, id} = store.save(ref, StoreCase.resource(), StoreCase.rows(10))
            answers = StoreCase.at_once(@parallel, fn _n -> store.delete(ref, {nil, id}) end)
            assert Enum.frequencies(answers) == %{ok: 1, not_found: @parallel - 1}
          end
        end

        @tag req: "R5"
        test "who reads while it is deleted has all rows, or none", %{store: store, ref: ref} do
          rows = StoreCase.rows(350)

          for _ <- 1..5 do
            {:ok, id} = store.save(ref, StoreCase.resource(total_count: 350, persist: :rows, query: nil), rows)

            answers =
              StoreCase.at_once(@parallel, fn
                1 -> store.delete(ref, {nil, id})
                _reader -> for _ <- 1..10, do: store.rows(ref, {nil, id}, 0, :all)
              end)

            for answer <- List.flatten([answers]), do: assert(answer in [:ok, :not_found, {:ok, rows}])
          end
        end

        @tag req: "R5"
        test "who reads what is pinned, deleted and expires has all rows, or none",
             %{store: store, ref: ref, now: now} do
          rows = StoreCase.rows(700)
          resource = StoreCase.expiring(now + 5, persist: :rows, query: nil, total_count: 700)
          {:ok, id} = store.save(ref, resource, rows)

          answers =
            StoreCase.at_once(60, fn
              1 -> store.update(ref, {nil, id}, %{deadline: nil, expires_at: nil}, now)
              2 -> if function_exported?(store, :delete_expired, 3), do: store.delete_expired(ref, now + 5, 10)
              3 -> store.delete(ref, {nil, id})
              _reader -> store.rows(ref, {nil, id}, 0, :all)
            end)

          for answer <- Enum.drop(answers, 3), do: assert(answer in [{:ok, rows}, :not_found])
          assert store.get(ref, {nil, id}) == :not_found
        end

        @tag req: "R2"
        test "what is pinned in time never expires, what is late never comes back",
             %{store: store, ref: ref, now: now} do
          if function_exported?(store, :delete_expired, 3) do
            for _ <- 1..50 do
              {:ok, id} = store.save(ref, StoreCase.expiring(now), StoreCase.rows(1))
              key = {nil, id}

              [pinned, deleted] =
                StoreCase.at_once(2, fn
                  1 -> store.update(ref, key, %{deadline: nil, expires_at: nil}, now - 1)
                  2 -> store.delete_expired(ref, now, 10)
                end)

              case pinned do
                :ok -> assert {{:ok, []}, {:ok, %{deadline: nil}}} = {deleted, store.get(ref, key)}
                :not_found -> assert {{:ok, [^key]}, :not_found} = {deleted, store.get(ref, key)}
              end
            end
          end
        end

        @tag req: "R3"
        test "what a killed process was saving is there whole, or not at all", %{store: store, ref: ref} do
          rows = StoreCase.rows(2_000)

          for pause <- 0..9 do
            resource = StoreCase.resource(total_count: 2_000, persist: :rows, query: nil)

            {pid, monitor} = spawn_monitor(fn -> store.save(ref, resource, rows) end)
            # The kill happens anywhere between the first and the last step.
            for _ <- 1..(pause * 20_000)//1, do: :ok
            Process.exit(pid, :kill)
            assert_receive {:DOWN, ^monitor, :process, ^pid, _reason}, 10_000

            # A store with a separate process may finish the save after the kill.
            found = store.get(ref, {nil, resource.id})
            kept = store.rows(ref, {nil, resource.id}, 0, :all)
            assert kept == {:ok, rows} or (kept == :not_found and found == :not_found)
          end
        end
      end
    end
  end
end
