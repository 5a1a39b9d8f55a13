defmodule McpServer.DualResponse.PagingTest do
  use ExUnit.Case, async: true
  use McpServer.Properties

  import McpServer.TestLog
  import McpServer.DualResponses
  import McpServer.HttpCase, only: [eventually: 1]

  alias McpServer.DualResponse
  alias McpServer.DualResponse.{Error, Page}
  alias McpServer.DualResponses.FailingStore

  defp fetch!(name, id, query) do
    {:ok, page} = DualResponse.fetch(name, id, query)
    page
  end

  # Like a client that only uses has_next and next_offset.
  defp walk(name, id, limit, offset \\ 0) do
    page = fetch!(name, id, %{offset: offset, limit: limit})
    assert page.returned_count == length(page.data)
    assert page.offset == offset
    assert page.has_next == offset + page.returned_count < page.total_count
    assert page.next_offset == if(page.has_next, do: offset + page.returned_count)
    page.data ++ if(page.has_next, do: walk(name, id, limit, page.next_offset), else: [])
  end

  test "a query and its owner in one keyword list" do
    name = server()
    id = create!(name, 15, subject: 1).resource_id
    all = rows(15)

    assert {:ok, %Page{data: data}} = DualResponse.fetch(name, id, offset: 10, limit: 2, subject: 1)
    assert data == Enum.slice(all, 10, 2)
    assert {:ok, 15, pages} = DualResponse.stream(name, id, batch: 4, offset: 3, subject: 1)
    assert Enum.map(pages, &length/1) == [4, 4, 4]
    assert {:ok, 15, pages} = DualResponse.stream(name, id, subject: 1)
    assert Enum.concat(pages) == all
    assert {:ok, %Page{returned_count: 15}} = DualResponse.fetch(name, id, [], subject: 1)
    assert {:ok, %{id: ^id}} = DualResponse.lookup(name, id, subject: 1)
    assert DualResponse.pin(name, id, subject: 1) == :ok

    for nobody <- [[], [subject: 2], [tenant: 1]] do
      assert {:error, %Error{code: :resource_not_found}} = DualResponse.fetch(name, id, nobody)
      assert {:error, %Error{code: :resource_not_found}} = DualResponse.stream(name, id, nobody)
      assert {:error, %Error{code: :resource_not_found}} = DualResponse.delete(name, id, nobody)
    end

    for mistaken <- [
          fn -> DualResponse.fetch(name, id, subjcet: 1) end,
          fn -> DualResponse.fetch(name, id, batch: 1) end,
          fn -> DualResponse.stream(name, id, limit: 1) end,
          fn -> DualResponse.lookup(name, id, limit: 1) end,
          fn -> DualResponse.pin(name, id, subjcet: 1) end,
          fn -> DualResponse.delete(name, id, subjcet: 1) end
        ] do
      assert_raise ArgumentError, ~r/unknown keys/, mistaken
    end

    assert DualResponse.delete(name, id, subject: 1) == :ok
  end

  for persist <- [:query, :rows] do
    describe "persist: #{persist}" do
      @tag req: ["S1-52", "S1-53"]
      test "a page, before, at and after the end" do
        name = server()
        id = create!(name, 847, persist: unquote(persist)).resource_id

        for {offset, returned, next} <- [
              {0, 100, 100},
              {700, 100, 800},
              {746, 100, 846},
              {747, 100, nil},
              {748, 99, nil},
              {800, 47, nil},
              {846, 1, nil},
              {847, 0, nil},
              {9_999, 0, nil}
            ] do
          page = fetch!(name, id, %{offset: offset, limit: 100})
          assert page.data == Enum.slice(rows(847), offset, 100)
          assert {page.total_count, page.returned_count, page.offset} == {847, returned, offset}
          assert {page.has_next, page.next_offset} == {next != nil, next}
        end
      end

      @tag req: "S1-53"
      test "pages of every size concatenate to the whole" do
        name = server()

        for count <- [0, 1, 2, 99, 100, 101, 200] do
          id = create!(name, count, persist: unquote(persist)).resource_id
          for limit <- [1, 2, 99, 100, 101, 1_000], do: assert(walk(name, id, limit) == rows(count))
        end
      end

      @tag req: "Q4"
      test "a stream is the whole, from any offset, in batches of any size" do
        name = server()

        for count <- [0, 1, 99, 100, 101, 250] do
          id = create!(name, count, persist: unquote(persist)).resource_id

          for batch <- [1, 100, 250], offset <- [0, 1, 99, 100, 250, 300] do
            {:ok, ^count, pages} = DualResponse.stream(name, id, %{batch: batch, offset: offset})
            pages = Enum.to_list(pages)
            assert Enum.concat(pages) == Enum.drop(rows(count), offset)
            for page <- Enum.drop(pages, -1), do: assert(length(page) == batch)
          end
        end
      end
    end
  end

  if McpServer.Installed.here?(:proper) do
    @tag req: "S1-53"
    @tag McpServer.Installed.tags(:proper)
    test "pages concatenate to the whole, for any count, any limits and any persistence" do
      name = server(max_limit: 50)

      type =
        {:proper_types.choose(0, 400), :proper_types.non_empty(:proper_types.list(:proper_types.choose(1, 70))),
         :proper_types.oneof([:query, :rows])}

      property =
        forall(type, fn {count, limits, persist} ->
          id = create!(name, count, persist: persist).resource_id

          pages =
            Stream.unfold({0, Stream.cycle(limits)}, fn
              {nil, _limits} ->
                nil

              {offset, limits} ->
                [limit] = Enum.take(limits, 1)
                page = fetch!(name, id, %{offset: offset, limit: limit})
                {page.data, {page.next_offset, Stream.drop(limits, 1)}}
            end)

          Enum.concat(pages) == rows(count) and DualResponse.delete_resource(name, id)
        end)

      holds(property, 150, 10)
    end
  end

  describe "what is asked for" do
    @describetag req: "RES-19"
    test "is 100 rows from the first on, unless it says otherwise" do
      name = server()
      id = create!(name, 300).resource_id
      assert %Page{offset: 0, returned_count: 100} = fetch!(name, id, %{})
      assert %Page{offset: 0, returned_count: 100} = fetch!(name, id, %{offset: nil, limit: nil, sort: nil})
    end

    test "is no more than max_limit" do
      name = server(max_limit: 120)
      test = self()

      execute = fn options ->
        send(test, options.limit)
        rows(options.limit)
      end

      id = create!(name, 300, execute: execute, sample_size: 500).resource_id
      assert_received 120
      assert %Page{returned_count: 120} = fetch!(name, id, %{limit: 121})
      assert_received 120
      assert %Page{returned_count: 119} = fetch!(name, id, %{limit: 119})
      assert_received 119
    end

    test "has integers for offset and limit" do
      name = server()
      id = create!(name, 3).resource_id

      for query <- [%{offset: -1}, %{offset: 1.0}, %{offset: "0"}, %{limit: 0}, %{limit: -1}, %{limit: "9"}] do
        assert {:error, %Error{code: :invalid_request}} = DualResponse.fetch(name, id, query)
      end
    end

    test "has rows cut to it" do
      name = server()
      id = create!(name, 300, execute: fn _ -> rows(300) end).resource_id
      assert fetch!(name, id, %{limit: 7}).data == rows(7)
    end
  end

  describe "an access" do
    @describetag req: "S1-43"
    test "is counted with every page, and not with a look at the resource" do
      name = server()
      id = create!(name, 3).resource_id
      for _ <- 1..3, do: fetch!(name, id, %{})
      {:ok, 3, _pages} = DualResponse.stream(name, id)
      before = DateTime.utc_now() |> DateTime.truncate(:second) |> DateTime.add(-60)
      assert %{access_count: 4, last_accessed_at: %DateTime{} = at} = DualResponse.get_resource(name, id)
      assert DateTime.compare(at, before) == :gt
      assert %{access_count: 4} = DualResponse.get_resource(name, id)
    end

    test "of many at a time none is lost" do
      name = server()
      id = create!(name, 3).resource_id
      1..50 |> Task.async_stream(fn _ -> for _ <- 1..20, do: fetch!(name, id, %{}) end) |> Stream.run()
      assert DualResponse.get_resource(name, id).access_count == 1_000
    end

    test "is not counted when the query fails" do
      name = server()
      execute = fn %{limit: limit} -> if limit == 15, do: [], else: raise("no") end
      id = create!(name, 3, execute: execute).resource_id

      capture_log(fn ->
        assert {:error, %Error{code: :query_execution_failed}} = DualResponse.fetch(name, id)
      end)

      assert DualResponse.get_resource(name, id).access_count == 0
    end
  end

  test "a page may be asked of a resource that was looked up" do
    name = server()
    {:ok, resource} = DualResponse.lookup(name, create!(name, 3).resource_id)
    assert {:ok, %Page{returned_count: 3}} = DualResponse.fetch(name, resource)
    DualResponse.delete_resource(name, resource.id)
    assert {:error, %Error{code: :resource_not_found}} = DualResponse.fetch(name, resource)
    assert {:error, %Error{code: :resource_not_found}} = DualResponse.stream(name, resource)
  end

  test "a query may be given its own time; in the calling process without one" do
    name = server(query_timeout: 500)
    test = self()

    # The query ends only in the process that finds `:go` in its mailbox.
    execute = fn
      %{limit: 15} ->
        []

      _later ->
        send(test, self())
        receive do: (:go -> [])
    end

    # The query of the creation has the same time, which a busy machine can exceed.
    id = eventually(fn -> created(DualResponse.create_response(name, numbers(3, execute: execute))) end)

    capture_log(fn ->
      assert {:error, %Error{code: :query_execution_failed, cause: :timeout}} = DualResponse.fetch(name, id)
    end)

    assert_received other when is_pid(other) and other != test
    send(test, :go)
    assert {:ok, _page} = DualResponse.fetch(name, id, %{timeout: :infinity})
    assert_received ^test
  end

  defp created({:ok, %{resource_id: id}}), do: id
  defp created({:error, %Error{code: :query_execution_failed, cause: :timeout}}), do: nil

  describe "data that shrinks" do
    @describetag req: "RES-21"
    test "gives an empty page and not an error; a stream ends" do
      name = server()
      execute = fn %{offset: offset, limit: limit} -> Enum.slice(rows(120), offset, limit) end
      id = create!(name, 300, execute: execute).resource_id
      assert %Page{data: [], has_next: true, next_offset: 200} = fetch!(name, id, %{offset: 200})
      {:ok, 300, pages} = DualResponse.stream(name, id, %{batch: 50})
      assert Enum.map(pages, &length/1) == [50, 50, 20]
    end
  end

  describe "a stream" do
    test "reads as it is asked for" do
      name = server()
      test = self()

      execute = fn %{offset: offset, limit: limit} ->
        send(test, offset)
        Enum.slice(rows(300), offset, limit)
      end

      id = create!(name, 300, execute: execute).resource_id
      assert_received 0
      {:ok, 300, pages} = DualResponse.stream(name, id, %{batch: 100})
      refute_received _offset
      assert Enum.take(pages, 1) == [rows(100)]
      assert_received 0
      refute_received _offset
    end

    test "raises where reading fails" do
      name = server()
      execute = fn %{offset: offset} -> if offset == 0, do: rows(10), else: raise("no") end
      id = create!(name, 300, execute: execute).resource_id
      {:ok, 300, pages} = DualResponse.stream(name, id, %{batch: 10})

      capture_log(fn ->
        assert %Error{code: :query_execution_failed} =
                 assert_raise(Error, "The query failed", fn -> Stream.run(pages) end)
      end)
    end

    @tag req: "R5"
    test "of kept rows that are deleted meanwhile raises, too" do
      name = server()
      id = create!(name, 300, persist: :rows).resource_id
      {:ok, 300, pages} = DualResponse.stream(name, id, %{batch: 100})

      assert_raise Error, "Resource not found or expired", fn ->
        Enum.each(pages, fn _page -> DualResponse.delete_resource(name, id) end)
      end
    end

    test "is refused for the same reasons as a page" do
      name = server()
      id = create!(name, 3).resource_id
      assert {:error, %Error{code: :resource_not_found}} = DualResponse.stream(name, "unknown")
      assert {:error, %Error{code: :invalid_request}} = DualResponse.stream(name, id, %{offset: -1})
      assert {:error, %Error{code: :invalid_sort}} = DualResponse.stream(name, id, %{sort: %{field: "x", order: :asc}})
    end
  end

  describe "persist: :rows" do
    test "keeps what the query gave then: it is read in batches, and never again" do
      name = server(stream_batch: 100)
      test = self()

      execute = fn options ->
        send(test, {options.offset, options.limit})
        Enum.slice(rows(250), options.offset, options.limit)
      end

      response = create!(name, 250, execute: execute, persist: :rows)
      for page <- [{0, 100}, {100, 100}, {200, 50}], do: assert_received(^page)
      assert response.sample == rows(15)
      assert {:ok, %Page{data: data}} = DualResponse.fetch(name, response.resource_id, %{limit: 1_000})
      assert data == rows(250)
      refute_received _page
      assert DualResponse.get_resource(name, response.resource_id).query == nil
    end

    test "takes the rows themselves, too" do
      name = server()
      {:ok, response} = DualResponse.create_response(name, name: "x", rows: rows(30), columns: [%{name: "n"}])
      assert {response.total_count, response.sample} == {30, rows(15)}
      assert fetch!(name, response.resource_id, %{offset: 29}).data == [%{"n" => 29, "text" => "row 29"}]
    end

    test "refuses what contradicts it" do
      name = server()
      rows = [name: "x", rows: rows(1), columns: []]

      for {options, message} <- [
            {[execute: fn _ -> [] end] ++ rows, ~r/rows: takes the place of execute:/},
            {[persist: :query] ++ rows, ~r/persist: cannot be :query/},
            {[sort_mode: :execute] ++ rows, ~r/rows: has none/},
            {numbers(1, sort_mode: :memory), ~r/it needs persist: :rows/},
            {[rows: [1]] ++ Keyword.delete(rows, :rows), ~r/expected :rows to be a list of maps/}
          ] do
        assert_raise ArgumentError, message, fn -> DualResponse.create_response(name, options) end
      end
    end

    @tag req: "R4"
    test "has a bound, on both sides of it" do
      name = server(max_rows: 10)
      assert create!(name, 10, persist: :rows).total_count == 10

      assert {:error, %Error{code: :storage_error, message: "The result has too many rows to be kept"}} =
               DualResponse.create_response(name, numbers(11, persist: :rows))

      # Given rows are limited by their bytes only.
      assert {:ok, _response} = DualResponse.create_response(name, name: "x", rows: rows(11), columns: [])
    end

    test "counts what there is when the query gives fewer than were counted" do
      response = create!(server(), 300, execute: fn o -> Enum.slice(rows(120), o.offset, o.limit) end, persist: :rows)
      assert response.total_count == 120
    end

    @tag req: "S1-44"
    test "a store that fails to give them is a storage error" do
      name = server(store: FailingStore)
      id = create!(name, 3, persist: :rows).resource_id
      FailingStore.fail(name, :rows, fn -> {:error, :gone} end)

      capture_log(fn ->
        for query <- [%{}, %{sort: %{field: "n", order: :asc}}],
            do: assert({:error, %Error{code: :storage_error}} = DualResponse.fetch(name, id, query))
      end)

      FailingStore.heal(name, :rows)
    end

    @tag req: "R4"
    test "rows that are parts of something large do not keep it in memory" do
      name = server()
      large = :binary.copy("x", 10_000_000)
      rows = for n <- 0..9, do: %{"text" => binary_part(large, n * 100, 100)}
      {:ok, response} = DualResponse.create_response(name, name: "x", rows: rows, columns: [%{name: "text"}])
      page = fetch!(name, response.resource_id, %{})
      assert page.data == rows
      for row <- page.data ++ response.sample, do: assert(:binary.referenced_byte_size(row["text"]) < 100_000)
    end
  end
end
