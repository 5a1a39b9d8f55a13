defmodule McpServer.DualResponse.Client.PagesTest do
  use ExUnit.Case, async: true

  import McpServer.Fixtures
  import McpServer.ScriptedResource
  import McpServer.ScriptedServer

  alias McpServer.DualResponse.Client.{FetchResult, Parsed}
  alias McpServer.DualResponse.Error
  alias McpServer.JSON

  describe "a page" do
    @describetag req: "S1-65"
    @tag req: "S1-65"
    test "the document's question and answer" do
      server = start_with([json(page(1..100, 0, 847, 100))])
      sort = %{field: "enrollment", order: :desc}

      assert {:ok, %FetchResult{} = result} = Parsed.fetch(parsed(server), offset: 0, limit: 100, sort: sort)
      assert ids(result.data) == Enum.to_list(1..100)

      assert %{result | data: []} == %FetchResult{
               data: [],
               total_count: 847,
               returned_count: 100,
               offset: 0,
               has_next: true,
               has_previous: false,
               next_offset: 100
             }

      request = requested(server)
      assert {request.method, request.target} == {"POST", "/resources/abc123"}
      assert header(request, "content-type") == ["application/json"]
      assert header(request, "accept") == ["application/json"]
      assert header(request, "accept-encoding") == ["identity"]

      assert JSON.decode!(request.body) == JSON.decode!(read("s1-07-rest-post-request.json"))
    end

    @tag req: "S1-65"
    test "has_previous is computed, on the last page too" do
      server = start_with([json(page([847], 846, 847))])

      assert {:ok, %FetchResult{has_previous: true, has_next: false, next_offset: nil, offset: 846}} =
               Parsed.fetch(parsed(server), offset: 846)
    end

    @tag req: "S1-65"
    test "by default the first hundred, unsorted; several sort keys go as they are" do
      server = start(fn _request -> json(page([1], 0, 1)) end)
      parsed = parsed(server)
      assert {:ok, _page} = Parsed.fetch(parsed)
      assert JSON.decode!(requested(server).body) == %{"offset" => 0, "limit" => 100, "sort" => nil}

      assert {:ok, _page} = Parsed.fetch(parsed, sort: [%{field: "state"}, %{field: "name", order: :desc}])

      assert JSON.decode!(requested(server).body)["sort"] == [
               %{"field" => "state", "order" => "asc"},
               %{"field" => "name", "order" => "desc"}
             ]
    end

    @tag req: "S1-65"
    test "options that are none raise before anything is sent" do
      server = start_with([])

      for options <- [
            [offset: -1],
            [limit: 0],
            [limit: "1"],
            [timeout: 0],
            [sort: "name"],
            [sort: []],
            [sort: %{field: :name}],
            [sort: %{field: "name", order: :up}],
            [page: 1]
          ] do
        assert_raise ArgumentError, fn -> Parsed.fetch(parsed(server), options) end
      end

      assert all_requested(server) == []
    end

    @tag req: "S1-65"
    test "rows come back as they were sent" do
      rows = [%{"n" => 123_456_789_012_345_678_901, "nil" => nil, "nested" => %{"é" => [1.5, true]}}]
      server = start_with([json(%{page([1], 0, 1) | "data" => rows})])
      assert {:ok, %{data: ^rows}} = Parsed.fetch(parsed(server))
    end
  end

  describe "all rows" do
    @describetag req: "S1-66"
    @tag req: "S1-66"
    test "in order, in batches of 500, with progress after each, the last of which is the total" do
      server = numbers(1_250)
      me = self()
      progress = fn fetched, total -> send(me, {:progress, fetched, total}) end

      assert {:ok, rows} = Parsed.fetch_all(parsed(server), on_progress: progress)
      assert ids(rows) == Enum.to_list(1..1_250)
      for fetched <- [500, 1_000, 1_250], do: assert_received({:progress, ^fetched, 1_250})
      refute_received {:progress, _fetched, _total}
      assert for(request <- all_requested(server), do: JSON.decode!(request.body)["offset"]) == [0, 500, 1_000]
    end

    @tag req: "S1-66"
    test "every boundary: the pages concatenate to the whole" do
      for total <- [0, 1, 2, 3, 4, 6, 7], size <- [1, 2, 3, 10] do
        server = numbers(total)
        assert {:ok, rows} = Parsed.fetch_all(parsed(server), batch_size: size)
        assert ids(rows) == Enum.to_list(1..total//1)
        assert length(all_requested(server)) == max(1, ceil(total / size))
      end
    end

    @tag req: "S1-66"
    test "a server that sends fewer rows than asked for is asked again" do
      server = start_with([json(page([1, 2], 0, 3, 2)), json(page([3], 2, 3))])
      assert {:ok, rows} = Parsed.fetch_all(parsed(server), batch_size: 5_000)
      assert ids(rows) == [1, 2, 3]
    end

    @tag req: "S1-66"
    test "max_rows is a bound, and known to be passed after the first page" do
      assert {:ok, rows} = Parsed.fetch_all(parsed(numbers(10)), batch_size: 5, max_rows: 10)
      assert length(rows) == 10

      server = numbers(11)

      assert {:error, %Error{code: :fetch_error, message: message}} =
               Parsed.fetch_all(parsed(server), batch_size: 5, max_rows: 10)

      assert message =~ "max_rows"
      assert length(all_requested(server)) == 1
    end

    @tag req: "S1-66"
    test "a page that fails ends it with that error" do
      server = start_with([json(page([1], 0, 2, 1)), json(500, %{"error" => "query_failed"})])
      assert {:error, %Error{code: :fetch_error, status: 500}} = Parsed.fetch_all(parsed(server), batch_size: 1)
    end
  end

  describe "a stream" do
    @describetag req: "S1-67"
    @tag req: "S1-67"
    test "taking one batch is exactly one request, and none is made before" do
      server = numbers(1_000)
      stream = Parsed.fetch_stream(parsed(server), batch_size: 100)
      assert all_requested(server) == []
      assert [batch] = Enum.take(stream, 1)
      assert ids(batch) == Enum.to_list(1..100)
      assert length(all_requested(server)) == 1
    end

    @tag req: "S1-67"
    test "batches are lists of rows, and an empty resource has none" do
      assert Enum.map(Parsed.fetch_stream(parsed(numbers(5)), batch_size: 2), &ids/1) == [[1, 2], [3, 4], [5]]
      assert Enum.to_list(Parsed.fetch_stream(parsed(numbers(0)))) == []
    end

    @tag req: "S1-67"
    test "what goes wrong is raised where it happens" do
      server = start_with([json(page([1], 0, 2, 1)), json(404, %{"error" => "not_found"})])
      stream = Parsed.fetch_stream(parsed(server), batch_size: 1)
      assert [[%{"id" => 1}]] = Enum.take(stream, 1)

      server = start_with([json(page([1], 0, 2, 1)), json(404, %{"error" => "not_found"})])
      stream = Parsed.fetch_stream(parsed(server), batch_size: 1)
      assert %Error{code: :resource_not_found} = catch_error(Enum.to_list(stream))
    end

    @tag req: "RES-21"
    test "an empty page ends it, whatever the total says" do
      server = start_with([json(page([1, 2], 0, 6, 2)), json(page([], 2, 6, 4))])
      assert {:ok, rows} = Parsed.fetch_all(parsed(server), batch_size: 2)
      assert ids(rows) == [1, 2]
      assert length(all_requested(server)) == 2
    end

    @tag req: "RES-21"
    # Earlier, the client took this page for the last one.
    test "a next_offset that is not where the page ends is an error" do
      for other <- [0, 1, 2, 3, 5] do
        server = start_with([json(page([1, 2], 0, 6, 2)), json(page([3, 4], 2, 6, other))])

        assert {:error, %Error{code: :fetch_error, message: message}} = Parsed.fetch_all(parsed(server), batch_size: 2)

        assert message == "The server says that the 2 rows at offset 2 are followed by offset #{other}"
      end
    end

    @tag req: "RES-21"
    test "a total that shrinks on the way is no loop, and one that grows is followed" do
      shrinking = [json(page([1, 2], 0, 6, 2)), json(page([3], 2, 3))]
      assert {:ok, rows} = Parsed.fetch_all(parsed(start_with(shrinking)), batch_size: 2)
      assert ids(rows) == [1, 2, 3]

      growing = [json(page([1, 2], 0, 3, 2)), json(page([3, 4], 2, 5, 4)), json(page([5], 4, 5))]
      assert {:ok, rows} = Parsed.fetch_all(parsed(start_with(growing)), batch_size: 2)
      assert ids(rows) == [1, 2, 3, 4, 5]
    end
  end
end
