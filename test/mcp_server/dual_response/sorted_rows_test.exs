defmodule McpServer.DualResponse.SortedRowsTest do
  # Stored rows that are sorted in batches of 5,000, because all of them may not fit into the memory of a request.
  use ExUnit.Case, async: true

  import McpServer.DualResponses, only: [server: 0, server: 1]

  alias McpServer.{DualResponse, JSON, RestServers}

  @columns [%{name: "n", type: "number"}, %{name: "group", type: "number"}, %{name: "text", type: "string"}]

  # The rows in another order than that of `n`.
  defp rows(count) do
    for i <- 0..(count - 1) do
      n = rem(i * 7_919, count)
      text = if rem(n, 10) == 0, do: nil, else: "#{rem(n, 100)}"
      %{"n" => n, "group" => div(n, 1_000), "text" => text}
    end
  end

  defp store(count, options \\ []) do
    results = server([max_limit: 20_000] ++ options)
    rows = rows(count)
    {:ok, response} = DualResponse.create_response(results, name: "Rows", rows: rows, columns: @columns)
    {results, response.resource_id, rows}
  end

  defp orders do
    [
      {%{field: "n", order: :desc}, &Enum.sort_by(&1, fn row -> -row["n"] end)},
      # Stable: rows of one group stay in their order.
      {%{field: "group", order: :asc}, &Enum.sort_by(&1, fn row -> row["group"] end)},
      # What is missing comes last.
      {[%{field: "text", order: :asc}, %{field: "n", order: :asc}],
       &Enum.sort_by(&1, fn row -> {row["text"] == nil, row["text"], row["n"]} end)}
    ]
  end

  # The place for a sort is given back then. The client may take its time for what is read.
  test "a stream tells when it has read the last of its rows, and when it is left" do
    {results, id, _rows} = store(10_000)
    test = self()

    query = %{
      sort: %{field: "n", order: :asc},
      batch: 2_500,
      sorted: fn ->
        send(test, :sorted)
        :ok
      end
    }

    {:ok, 10_000, pages} = DualResponse.stream(results, id, query)
    assert Enum.flat_map(pages, &(told() ++ [length(&1)])) == [2_500, 2_500, :sorted, 2_500, 2_500]
    # At the end again.
    assert told() == [:sorted]

    assert [[_first | _others]] = Enum.take(pages, 1)
    assert told() == [:sorted]
    {:ok, 10_000, none} = DualResponse.stream(results, id, Map.put(query, :offset, 10_000))
    assert Enum.to_list(none) == []
    assert told() == [:sorted]
  end

  defp told do
    receive do
      :sorted -> [:sorted | told()]
    after
      0 -> []
    end
  end

  for count <- [4_999, 5_000, 5_001, 10_000, 12_345] do
    test "#{count} rows have the same pages as if they were sorted at once" do
      count = unquote(count)
      {results, id, rows} = store(count)

      for {sort, expected} <- orders(), expected = expected.(rows), offset <- [0, 4_990, count - 5, count, count + 1] do
        {:ok, page} = DualResponse.fetch(results, id, %{offset: offset, limit: 20, sort: sort})
        assert {sort, offset, page.data} == {sort, offset, Enum.slice(expected, offset, 20)}
      end
    end

    test "#{count} rows have the same stream" do
      {results, id, rows} = store(unquote(count))

      for {sort, expected} <- orders(), offset <- [0, 4_995] do
        {:ok, _count, pages} = DualResponse.stream(results, id, %{offset: offset, sort: sort, batch: 700})
        pages = Enum.to_list(pages)
        assert Enum.all?(pages, &(length(&1) <= 700))
        assert Enum.concat(pages) == Enum.drop(expected.(rows), offset)
      end
    end
  end

  test "a page and a stream of a resource that was deleted are not found" do
    {results, id, _rows} = store(12_000)
    {:ok, _count, pages} = DualResponse.stream(results, id, %{sort: %{field: "n", order: :asc}})
    :ok = DualResponse.delete(results, id)
    assert_raise DualResponse.Error, "Resource not found or expired", fn -> Enum.to_list(pages) end
    assert {:error, %{code: :resource_not_found}} = DualResponse.fetch(results, id, %{sort: %{field: "n", order: :asc}})
  end

  # Earlier, a page of more than about 60,000 rows was answered with 500: all rows were in the memory of the request.
  test "of as many rows as can be stored fit into the memory of a request" do
    count = 100_000
    results = server()
    long = String.duplicate("x", 50)
    rows = for row <- rows(count), do: Map.merge(row, %{"a" => long, "b" => long, "c" => %{"d" => [1, 2, 3]}})
    {:ok, response} = DualResponse.create_response(results, name: "Rows", rows: rows, columns: @columns)
    # Three quarters of the default: the memory depends on the times of garbage collections.
    server = RestServers.start(:listener, results, timeout: 120_000, max_heap_bytes: 48 * 1024 * 1024)
    body = %{offset: 99_000, limit: 3, sort: [%{field: "text", order: "desc"}, %{field: "n", order: "asc"}]}
    answer = RestServers.ask(server, "POST", "/resources/" <> response.resource_id, body: body)
    assert answer.status == 200
    {:ok, page} = JSON.decode(answer.body)
    assert for(row <- page["data"], do: row["n"]) == [90_000, 90_010, 90_020]
  end
end
