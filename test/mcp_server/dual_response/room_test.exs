defmodule McpServer.DualResponse.RoomTest do
  use ExUnit.Case, async: true

  import McpServer.TestLog
  import McpServer.DualResponses

  alias McpServer.DualResponse
  alias McpServer.DualResponse.Error
  alias McpServer.DualResponse.Store
  alias McpServer.DualResponses.FailingStore

  defmodule CountingStore do
    @moduledoc false
    # `Store.ETS`, which tells the calling process when it is asked for the least used resources of a holder.
    @behaviour Store

    for {name, arity} <- Store.behaviour_info(:callbacks), {name, arity} in Store.ETS.__info__(:functions) do
      arguments = Macro.generate_arguments(arity, __MODULE__)

      @impl true
      def unquote(name)(unquote_splicing(arguments)) do
        tell(unquote(name))
        apply(Store.ETS, unquote(name), unquote(arguments))
      end
    end

    defp tell(:least_used_of), do: send(self(), :asked_of_one)
    defp tell(_callback), do: :ok
  end

  defp kept(name) do
    {:ok, %{store: store, ref: ref}} = DualResponse.settings(name)
    {:ok, size} = store.size(ref)
    size
  end

  defp ids(name, count, options \\ []) do
    for _ <- 1..count do
      id = create!(name, 3, options).resource_id
      # Times of last use have a resolution of a millisecond.
      Process.sleep(2)
      id
    end
  end

  defp there(name, ids), do: for(id <- ids, DualResponse.get_resource(name, id), do: id)

  describe "a share of the store" do
    test "is what one subject has: its own oldest go, and nobody else's" do
      name = server(max_resources: 8)
      ada = ids(name, 1, subject: "ada")
      eve = ids(name, 3, subject: "eve")
      assert there(name, ada) == []
      assert subjects(name, ada ++ eve) == [ada: 1, eve: 2]
      [first, second] = ids(name, 2, subject: "bob")
      [third] = ids(name, 1, subject: "bob", tenant: "another")
      assert subjects(name, ada ++ eve ++ [first, second, third]) == [ada: 1, bob: 3, eve: 2]
      assert kept(name).resources == 6
    end

    test "is of bytes, too, and one resource is never too many" do
      %{bytes: one} = kept(tap(server(), &ids(&1, 1, persist: :rows, subject: "eve")))
      name = server(max_bytes: 8 * one + 100, persist: :rows)
      ids(name, 3, subject: "eve")
      assert kept(name).resources == 2
      small = server(max_bytes: 2 * one, persist: :rows)
      assert [_id] = ids(small, 1, subject: "eve")
      assert [_id] = ids(small, 1, subject: "eve")
      assert kept(small).resources == 1
    end

    test "is as large as max_share says" do
      name = server(max_resources: 4, max_share: 100)
      eve = ids(name, 4, subject: "eve")
      assert subjects(name, eve) == [eve: 4]

      for share <- [0, 101, 0.25],
          do:
            assert_raise(ArgumentError, ~r/expected :max_share to be/, fn ->
              DualResponse.Options.new!(base_url: "https://a.example", max_share: share)
            end)
    end

    test "is not had by nobody, who makes room for others when the store is full" do
      name = server(max_resources: 4)
      nobody = ids(name, 4)
      assert there(name, nobody) == nobody
      ada = ids(name, 1, subject: "ada")
      assert there(name, nobody) == tl(nobody)
      # The anonymous owner has three, ada one. The least recently used one is ada's, and stays.
      {:ok, _page} = DualResponse.fetch(name, hd(tl(nobody)))
      eve = ids(name, 1, subject: "eve")
      assert subjects(name, ada ++ eve) == [ada: 1, eve: 1]
      assert there(name, nobody) == [Enum.at(nobody, 1), Enum.at(nobody, 3)]
    end

    test "of the largest holder gives way by the hundredth, so that a full store seldom compares all holders" do
      name = server(max_resources: 400, max_share: 100)
      for n <- 1..399, do: create!(name, 3, subject: if(n <= 300, do: "eve", else: "ada"))
      create!(name, 3, subject: "bob")
      assert sizes(name) == %{"ada" => 99, "bob" => 1, "eve" => 300}
      create!(name, 3, subject: "bob")
      assert sizes(name) == %{"ada" => 99, "bob" => 2, "eve" => 296}
      for _ <- 1..3, do: create!(name, 3, subject: "bob")
      assert sizes(name) == %{"ada" => 99, "bob" => 5, "eve" => 296}
    end

    test "is full when all of it is pinned" do
      name = server(max_resources: 8)
      eve = ids(name, 2, subject: "eve")
      for id <- eve, do: assert(DualResponse.pin_resource(name, id, %{subject: "eve"}))
      assert {:error, %Error{code: :storage_error}} = DualResponse.create_response(name, numbers(1, subject: "eve"))
      assert kept(name).resources == 2
      assert [_id] = ids(name, 1, subject: "ada")
    end

    test "of the next holder gives way when the largest has pinned its own" do
      name = server(max_resources: 8, max_share: 50)
      [bob] = ids(name, 1, subject: "bob")
      for id <- ids(name, 4, subject: "eve"), do: assert(DualResponse.pin_resource(name, id, %{subject: "eve"}))
      ada = ids(name, 3, subject: "ada")
      more = ids(name, 1, subject: "bob")
      assert subjects(name, [bob | ada] ++ more) == [ada: 2, bob: 2]
    end

    # Earlier, each creation in such a store asked about every holder.
    test "of whoever creates gives way when the largest have pinned all of theirs, and then the least recently used" do
      name = server(max_resources: 40, store: CountingStore)
      [old, _newer] = ids(name, 2, subject: "ada")
      ids(name, 2, subject: "bob")

      for n <- 1..12, _ <- 1..3 do
        id = create!(name, 3, subject: "pins #{n}").resource_id
        assert DualResponse.pin_resource(name, id, %{subject: "pins #{n}"})
      end

      refute_received :asked_of_one
      [first] = ids(name, 1, subject: "carl")
      # The eight largest, and carl.
      for _ <- 1..9, do: assert_received(:asked_of_one)
      refute_received :asked_of_one
      assert subjects(name, [old]) == []
      [second] = ids(name, 1, subject: "carl")
      assert subjects(name, [first, second]) == [carl: 1]
      assert sizes(name)["ada"] == 1
      assert kept(name).resources == 40
    end

    test "is counted at zero when all is deleted" do
      name = server()
      {:ok, %{store: store, ref: ref}} = DualResponse.settings(name)
      [id] = ids(name, 1, subject: "eve")
      assert {:ok, [{{nil, "eve"}, %{resources: 1}}]} = store.holders(ref)
      assert store.delete(ref, {nil, id}) == :ok
      assert store.holders(ref) == {:ok, []}
    end
  end

  # The number of stored resources of each subject.
  defp sizes(name) do
    {:ok, %{store: store, ref: ref}} = DualResponse.settings(name)
    {:ok, holders} = store.holders(ref)
    for {{_tenant, subject}, size} <- holders, into: %{}, do: {subject, size.resources}
  end

  # The number of existing resources of each subject.
  defp subjects(name, ids) do
    {:ok, %{store: store, ref: ref}} = DualResponse.settings(name)

    there = for id <- ids, {:ok, resource} <- [store.get(ref, {nil, id})], do: String.to_atom(resource.subject)
    there |> Enum.frequencies() |> Enum.sort()
  end

  describe "max_resources" do
    @describetag req: "R4"
    test "is kept: what was not used for longest goes" do
      name = server(max_resources: 3)
      [first, second, third] = ids = ids(name, 3)
      assert there(name, ids) == ids
      {:ok, _page} = DualResponse.fetch(name, first)
      [fourth] = ids(name, 1)
      assert there(name, [second | ids] ++ [fourth]) == [first, third, fourth]
      [fifth] = ids(name, 1)
      assert there(name, [first, third, fourth, fifth]) == [first, fourth, fifth]
      assert kept(name).resources == 3
    end

    test "is kept: what has expired goes before anything else" do
      {clock, pass} = clock()
      name = server(max_resources: 3, clock: clock)
      [old] = ids(name, 1)
      [short, other] = ids(name, 1, expiration: 10) ++ ids(name, 1)
      pass.(10)
      [new] = ids(name, 1)
      assert there(name, [old, short, other, new]) == [old, other, new]
      assert {:error, %Error{code: :resource_not_found}} = DualResponse.lookup(name, short)
    end

    test "is kept: what is pinned stays, and when there is nothing else, creating fails" do
      name = server(max_resources: 2)
      [first, second] = ids(name, 2)
      assert DualResponse.pin_resource(name, first)
      [third] = ids(name, 1)
      assert there(name, [first, second, third]) == [first, third]
      assert DualResponse.pin_resource(name, third)

      assert {:error, %Error{code: :storage_error, message: "The store is full"}} =
               DualResponse.create_response(name, numbers(3))

      assert there(name, [first, third]) == [first, third]
      assert kept(name).resources == 2
      assert DualResponse.delete_resource(name, first)
      assert create!(name, 3)
    end

    test "is kept by many that create at a time" do
      name = server(max_resources: 50)
      1..500 |> Task.async_stream(fn _ -> create!(name, 3, persist: :rows) end) |> Stream.run()
      # Two creations may evict the same resource, but each evicts one.
      assert kept(name).resources in 40..50
    end
  end

  describe "max_bytes" do
    @describetag req: "R4"
    test "is kept" do
      name = server(max_bytes: 200_000)
      [first, second, third] = for _ <- 1..3, do: create!(name, 2_000, persist: :rows).resource_id
      size = DualResponse.get_resource(name, third).bytes
      assert size in 60_000..90_000
      assert there(name, [first, second, third]) == [second, third]
      assert kept(name) == %{resources: 2, bytes: 2 * size}
    end

    test "refuses at once what is larger than all of it, and deletes nothing for it" do
      name = server(max_bytes: 200_000)
      [kept] = ids(name, 1)

      assert {:error, %Error{code: :storage_error, message: "The result is too large to be kept"}} =
               DualResponse.create_response(name, numbers(10_000, persist: :rows))

      assert there(name, [kept]) == [kept]
    end

    @tag req: "S1-44"
    test "a store that fails meanwhile is a storage error" do
      for callback <- [:find_expired, :least_used] do
        name = server(max_resources: 1, store: FailingStore)
        create!(name, 3, persist: :rows)
        FailingStore.fail(name, callback, fn -> {:error, :down} end)

        capture_log(fn ->
          assert {:error, %Error{code: :storage_error}} = DualResponse.create_response(name, numbers(3, persist: :rows))
        end)

        FailingStore.heal(name, callback)
        assert kept(name).resources == 1
      end
    end

    # Earlier, this evicted the same resource in an endless loop.
    @tag req: "S1-44"
    test "a store that cannot delete is a storage error" do
      name = server(max_resources: 1, store: FailingStore)
      create!(name, 3, persist: :rows)
      FailingStore.fail(name, :delete, fn -> {:error, :readonly} end)

      capture_log(fn ->
        assert {:error, %Error{code: :storage_error}} = DualResponse.create_response(name, numbers(3, persist: :rows))
      end)
    end
  end
end
