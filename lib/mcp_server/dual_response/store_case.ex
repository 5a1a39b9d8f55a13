defmodule McpServer.DualResponse.StoreCase do
  @moduledoc ~S'''
  The tests that every `McpServer.DualResponse.Store` has to pass.

      defmodule MyApp.RedisStoreTest do
        use McpServer.DualResponse.StoreCase, store: {MyApp.RedisStore, url: "redis://localhost"}
      end

  | option | default | meaning |
  |---|---|---|
  | `:store` | required | a module or `{module, options}`; evaluated in each test's setup, so it may call a function of the test module |
  | `:async` | `false` | whether the tests may run beside others |
  | `:parallel` | `20` | processes in the tests of what happens at the same time |

  Each test opens the store under a server's name of its own and closes it afterwards. What other tests or
  servers have in the same store does not matter to them.

  ExUnit is needed where this is used, and nowhere else.
  '''

  alias McpServer.DualResponse.Resource

  @doc false
  defmacro __using__(options) do
    {store, options} = Keyword.pop!(options, :store)
    {parallel, options} = Keyword.pop(options, :parallel, 20)

    quote do
      use ExUnit.Case, async: unquote(Keyword.get(options, :async, false))

      alias McpServer.DualResponse.{Resource, StoreCase}

      @parallel unquote(parallel)

      setup do
        {store, options} =
          case unquote(store) do
            {module, options} -> {module, options}
            module -> {module, []}
          end

        options = Keyword.put(options, :server, :"store_case_#{System.unique_integer([:positive])}")
        assert {:ok, ref} = store.init(options)
        on_exit(fn -> store.close(ref) end)
        {:ok, store: store, ref: ref, options: options, now: StoreCase.now(store)}
      end

      unquote(records())
      unquote(changes())
      unquote(accesses())
      unquote(expiry())
      unquote(kept_rows())
      unquote(bounds())
      unquote(together())
    end
  end

  @doc "A resource that a test saves; `fields` take the place of what it has."
  @spec resource(keyword) :: Resource.t()
  def resource(fields \\ []) do
    struct!(
      %Resource{
        id: Base.encode16(:crypto.strong_rand_bytes(16), case: :lower),
        name: "Institutions",
        query: %{execute: {Enum, :slice, [[%{"id" => 1}]]}, count: {Kernel, :length, [[]]}},
        columns: [%{:name => "id", "type" => "number", "unit" => nil}, %{name: "näme", type: "string"}],
        total_count: 847,
        sample_data: [%{"id" => 1, "näme" => "MIT", "big" => 123_456_789_012_345_678_901, "share" => 0.1, "x" => nil}],
        created_at: ~U[2025-01-15 10:30:00Z],
        metadata: %{:since => ~D[2025-01-01], "params" => %{"state" => ["NJ", nil, true]}}
      },
      fields
    )
  end

  @doc "A resource that expires at `deadline`."
  @spec expiring(integer, keyword) :: Resource.t()
  def expiring(deadline, fields \\ []),
    do: resource([deadline: deadline, expires_at: ~U[2025-01-15 10:45:00Z]] ++ fields)

  @doc "Now, by a store's clock."
  @spec now(module) :: integer
  def now(store) do
    case store.clock() do
      :monotonic -> System.monotonic_time(:millisecond)
      :wall -> System.system_time(:millisecond)
    end
  end

  @doc "Rows numbered from 0."
  @spec rows(non_neg_integer) :: [map]
  def rows(count), do: for(n <- 0..(count - 1)//1, do: %{"n" => n, "text" => "row #{n}"})

  @doc "What `fun` gives in each of so many processes at a time."
  @spec at_once(pos_integer, (pos_integer -> result)) :: [result] when result: term
  def at_once(count, fun) do
    1..count |> Enum.map(fn n -> Task.async(fn -> fun.(n) end) end) |> Task.await_many(60_000)
  end

  defp records do
    quote location: :keep do
      describe "S1-40, S1-42: a record" do
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

  defp changes do
    quote location: :keep do
      describe "S1-40: a partial update" do
        test "changes these fields and no other", %{store: store, ref: ref, now: now} do
          resource = StoreCase.resource()
          {:ok, _id} = store.save(ref, resource, nil)
          assert store.update(ref, {nil, resource.id}, %{name: "Other", metadata: %{"a" => 1}}, now) == :ok
          assert store.get(ref, {nil, resource.id}) == {:ok, %{resource | name: "Other", metadata: %{"a" => 1}}}
        end

        test "of what is not there is :not_found", %{store: store, ref: ref, now: now} do
          assert store.update(ref, {nil, StoreCase.resource().id}, %{name: "x"}, now) == :not_found
        end

        test "S1-22: pins, and pins again", %{store: store, ref: ref, now: now} do
          resource = StoreCase.expiring(now + 60_000)
          {:ok, _id} = store.save(ref, resource, nil)
          pinned = %{expires_at: nil, deadline: nil}
          assert store.update(ref, {nil, resource.id}, pinned, now) == :ok
          assert store.update(ref, {nil, resource.id}, pinned, now + 120_000) == :ok
          assert {:ok, %{expires_at: nil, deadline: nil}} = store.get(ref, {nil, resource.id})
        end

        test "R2: is made before the deadline, and not at it", %{store: store, ref: ref, now: now} do
          for {at, answer} <- [{59_999, :ok}, {60_000, :not_found}, {60_001, :not_found}] do
            {:ok, id} = store.save(ref, StoreCase.expiring(now + 60_000), nil)
            assert store.update(ref, {nil, id}, %{expires_at: nil, deadline: nil}, now + at) == answer
          end
        end
      end

      describe "S1-40: deleting" do
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

  defp accesses do
    quote location: :keep do
      describe "S1-43: an access" do
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

        test "R2: is counted before the deadline, and not at it", %{store: store, ref: ref, now: now} do
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

  defp expiry do
    quote location: :keep do
      describe "S1-40, R2: what has expired" do
        # What other tests have left in a shared store is none of ours.
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

  defp kept_rows do
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

        test "R4: do not keep in memory what they were read from", %{store: store, ref: ref} do
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

  defp bounds do
    quote location: :keep do
      describe "R4: what a store holds" do
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

  defp together do
    quote location: :keep do
      describe "at the same time" do
        test "S1-23: of those that delete one is told so", %{store: store, ref: ref} do
          for _ <- 1..10 do
            {:ok, id} = store.save(ref, StoreCase.resource(), StoreCase.rows(10))
            answers = StoreCase.at_once(@parallel, fn _n -> store.delete(ref, {nil, id}) end)
            assert Enum.frequencies(answers) == %{ok: 1, not_found: @parallel - 1}
          end
        end

        test "R5: who reads while it is deleted has all rows, or none", %{store: store, ref: ref} do
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

        test "R3: what a killed process was saving is there whole, or not at all", %{store: store, ref: ref} do
          rows = StoreCase.rows(2_000)

          for pause <- 0..9 do
            resource = StoreCase.resource(total_count: 2_000, persist: :rows, query: nil)

            {pid, monitor} = spawn_monitor(fn -> store.save(ref, resource, rows) end)
            # Anywhere between the first step and the last.
            for _ <- 1..(pause * 20_000)//1, do: :ok
            Process.exit(pid, :kill)
            assert_receive {:DOWN, ^monitor, :process, ^pid, _reason}, 10_000

            # A store that is a process of its own may finish what it was asked for after that.
            found = store.get(ref, {nil, resource.id})
            kept = store.rows(ref, {nil, resource.id}, 0, :all)
            assert kept == {:ok, rows} or (kept == :not_found and found == :not_found)
          end
        end
      end
    end
  end
end
