defmodule McpServer.DualResponse.SortingTest do
  use ExUnit.Case, async: true

  import McpServer.DualResponses

  alias McpServer.DualResponse
  alias McpServer.DualResponse.Error

  @columns [
    %{name: "name", type: "string"},
    %{"name" => "size", "type" => "number"},
    %{name: :state, type: "string"},
    %{name: "secret", sortable: false},
    %{"name" => "hidden", "sortable" => false}
  ]

  defp asc(field), do: %{field: field, order: :asc}
  defp desc(field), do: %{field: field, order: :desc}

  describe "a sorted page" do
    @describetag req: ["S1-58", "Q2", "RES-20"]
    test "is the query's work: execute is called again, with the sort" do
      name = server()
      test = self()

      execute = fn options ->
        send(test, {options.offset, options.sort, options.tie_break})
        []
      end

      id = create!(name, 30, columns: @columns, execute: execute, tie_break: "size").resource_id
      assert_received {0, nil, "size"}
      {:ok, _page} = DualResponse.fetch(name, id, %{offset: 10, sort: desc("name")})
      assert_received {10, %{field: "name", order: :desc}, "size"}
      {:ok, _page} = DualResponse.fetch(name, id, %{sort: [asc("state"), desc("name")]})
      assert_received {0, [%{field: "state", order: :asc}, %{field: "name", order: :desc}], "size"}
      {:ok, _page} = DualResponse.fetch(name, id, %{sort: []})
      assert_received {0, nil, "size"}
    end

    test "goes by the server's tie-break unless the response has its own" do
      name = server(tie_break: "name")
      test = self()

      create!(name, 1,
        execute: fn options ->
          send(test, options.tie_break)
          []
        end
      )

      assert_received "name"
    end

    test "runs the query of a snapshot only where that was asked for" do
      name = server()
      test = self()

      execute = fn o ->
        send(test, {:sort, o.sort})
        Enum.slice(rows(3), o.offset, o.limit)
      end

      options = [columns: [%{name: "n"}], execute: execute, persist: :rows, sort_mode: :execute]
      id = create!(name, 3, options).resource_id
      assert_received {:sort, nil}
      {:ok, _page} = DualResponse.fetch(name, id, %{})
      refute_received {:sort, _sort}
      {:ok, _page} = DualResponse.fetch(name, id, %{sort: asc("n")})
      assert_received {:sort, %{field: "n"}}
    end

    for sort <- [
          %{field: "unknown", order: :asc},
          %{field: "secret", order: :asc},
          %{field: "hidden", order: :asc},
          %{field: "name; DROP TABLE", order: :asc},
          %{field: :name, order: :asc},
          %{field: <<255>>, order: :asc},
          %{field: "name", order: "asc"},
          %{field: "name", order: :up},
          %{field: "name"},
          "name",
          [%{field: "name", order: :asc}, "size"]
        ] do
      test "by #{inspect(sort)} is refused" do
        name = server()
        id = create!(name, 3, columns: @columns).resource_id
        sort = unquote(Macro.escape(sort))
        assert {:error, %Error{code: :invalid_sort} = error} = DualResponse.fetch(name, id, %{sort: sort})
        assert {Error.code(error), Exception.message(error)} == {"INVALID_SORT", "sort names no sortable column"}
      end
    end
  end

  describe "kept rows" do
    @describetag req: "Q2"
    defp sorted(rows, sort, options \\ []) do
      name = server()
      options = [name: "x", rows: rows, columns: [%{name: "v"}, %{name: "w"}, %{name: "i"}]] ++ options
      {:ok, response} = DualResponse.create_response(name, options)
      {:ok, page} = DualResponse.fetch(name, response.resource_id, %{sort: sort, limit: 1_000})
      {:ok, _total, pages} = DualResponse.stream(name, response.resource_id, %{sort: sort, batch: 2})
      assert Enum.concat(pages) == page.data
      page.data
    end

    defp values(rows, field \\ "v"), do: Enum.map(rows, & &1[field])

    test "numbers before strings before booleans; nil and missing last, in both orders" do
      rows = for v <- [true, "b", nil, 2, "a", false, 1.5], do: %{"v" => v}
      rows = [%{"w" => 1} | rows]
      assert rows |> sorted(asc("v")) |> values() == [1.5, 2, "a", "b", false, true, nil, nil]
      assert rows |> sorted(desc("v")) |> values() == [true, false, "b", "a", 2, 1.5, nil, nil]
      # Sorting is stable.
      assert rows |> sorted(desc("v")) |> List.last() == %{"v" => nil}
    end

    test "integers and floats as the numbers they are" do
      rows = for v <- [10, 9.5, 123_456_789_012_345_678_901, -1, 0.0], do: %{"v" => v}
      assert rows |> sorted(asc("v")) |> values() == [-1, 0.0, 9.5, 10, 123_456_789_012_345_678_901]
    end

    test "dates as their text; keys that are atoms as the column's name" do
      rows = for v <- [~D[2025-03-01], ~D[2024-12-31], ~D[2025-02-01]], do: %{v: v}
      assert Enum.map(sorted(rows, asc("v")), & &1.v) == [~D[2024-12-31], ~D[2025-02-01], ~D[2025-03-01]]
      rows = for v <- [:b, "c", :a], do: %{"v" => v}
      assert rows |> sorted(asc("v")) |> values() == [:a, :b, "c"]
    end

    test "stably, in both orders" do
      rows = for i <- 0..99, do: %{"v" => rem(i, 3), "i" => i}
      assert rows |> sorted(asc("v")) |> values("i") == Enum.sort_by(0..99, &rem(&1, 3))
      assert rows |> sorted(desc("v")) |> values("i") == Enum.sort_by(0..99, &(-rem(&1, 3)))
    end

    test "by several keys, the first of which counts most, and by the tie-break where all are equal" do
      rows = for {v, w, i} <- [{1, "a", 3}, {0, "b", 2}, {1, "b", 1}, {0, "b", 0}], do: %{"v" => v, "w" => w, "i" => i}
      assert rows |> sorted([asc("v"), desc("w")]) |> values("i") == [2, 0, 1, 3]
      assert rows |> sorted([desc("v"), asc("w")]) |> values("i") == [3, 1, 2, 0]
      assert rows |> sorted(asc("v"), tie_break: "i") |> values("i") == [0, 2, 1, 3]
    end

    test "a page is cut out after sorting" do
      name = server()
      {:ok, response} = DualResponse.create_response(name, name: "x", rows: rows(250), columns: [%{name: "n"}])
      {:ok, page} = DualResponse.fetch(name, response.resource_id, %{offset: 240, limit: 20, sort: desc("n")})
      assert values(page.data, "n") == Enum.to_list(9..0//-1)
      {:ok, 250, pages} = DualResponse.stream(name, response.resource_id, %{offset: 248, sort: desc("n")})
      assert pages |> Enum.concat() |> values("n") == [1, 0]
    end
  end
end
