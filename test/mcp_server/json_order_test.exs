defmodule McpServer.JSON.OrderTest do
  # Keys in a declared order.
  use ExUnit.Case, async: true

  alias McpServer.JSON

  defp keys(text), do: Regex.scan(~r/"(\w+)":/, text, capture: :all_but_first) |> List.flatten()

  test "the keys named come first, the others follow, sorted" do
    assert JSON.encode!(%{"a" => 1, "b" => 2, "c" => 3, "d" => 4}, order: ["c", "x", "a"]) ==
             ~s({"c":3,"a":1,"b":2,"d":4})

    assert JSON.encode!(%{a: 1, b: 2}, order: ["b"]) == ~s({"b":2,"a":1})
    assert JSON.encode!(%{}, order: ["b"]) == "{}"
    assert JSON.encode!(%{1 => 1, "a" => 2}, order: ["a"]) == ~s({"a":2,"1":1})
  end

  test "at each level its own, and that of a list for each element" do
    order = ["z", {"rows", ["t", {"in", ["y"]}]}]
    row = %{"a" => 1, "t" => 2, "in" => %{"x" => 1, "y" => 2}}
    text = JSON.encode!(%{"a" => row, "rows" => [row, [row], Map.delete(row, "t"), 1], "z" => 0}, order: order)

    assert text ==
             ~s({"z":0,"rows":[{"t":2,"in":{"y":2,"x":1},"a":1},[{"t":2,"in":{"y":2,"x":1},"a":1}],) <>
               ~s({"in":{"y":2,"x":1},"a":1},1],"a":{"a":1,"in":{"x":1,"y":2},"t":2}})
  end

  # The key order of one map is cached for the next map with the same keys.
  test "maps of a list may have other keys, and as many" do
    maps = [%{"a" => 1, "b" => 2}, %{"a" => 1, "c" => 2}, %{"b" => 1, "c" => 2}, %{"a" => 1}, %{"a" => 3, "b" => 4}]

    assert JSON.encode!(maps, order: ["c", "b"]) ==
             ~s([{"b":2,"a":1},{"c":2,"a":1},{"c":2,"b":1},{"a":1},{"b":4,"a":3}])
  end

  test "maps of any size" do
    map = for n <- 100..999, into: %{}, do: {"k#{n}", n}
    assert ["k500", "k100", "k101" | _rest] = keys(JSON.encode!(map, order: ["k500"]))
    assert map |> JSON.encode!(order: ["k500"]) |> JSON.decode!() == map
  end

  test "structs and scalars have none" do
    tool = %McpServer.Tool{name: "t", description: "d", inputSchema: %{}}
    assert JSON.encode!([tool, 1, "a"], order: ["description"]) == JSON.encode!([tool, 1, "a"])
  end

  test "errors say where, as without an order" do
    assert {:error, %{path: ["rows", 1, "a"]}} =
             JSON.encode(%{"rows" => [%{"a" => 1}, %{"a" => self()}]}, order: [{"rows", ["a"]}])

    assert {:error, %{kind: :key_collision}} = JSON.encode(%{:a => 1, "a" => 2}, order: ["a"])
  end

  test "what is no order is refused" do
    for order <- [[:a], [{"a"}], [{"a", "b"}], ["a" | "b"], "a", [{:a, []}]] do
      message = "expected :order to be a list of strings and {string, order}, got: #{inspect(order)}"
      assert_raise ArgumentError, message, fn -> JSON.encode(%{"a" => 1}, order: order) end
    end

    message = "expected :pretty to be a boolean, got: nil"
    assert_raise ArgumentError, message, fn -> JSON.encode(%{"a" => 1}, pretty: nil) end

    deep = Enum.reduce(1..200, [], fn _, inner -> [{"a", inner}] end)
    assert {:error, %{kind: :unsupported}} = JSON.encode(%{"a" => 1}, order: deep)
  end

  test "pretty, as deep as it may be" do
    for depth <- [1, 14, 15, 16, 17, 127] do
      term = Enum.reduce(1..depth, "a \"b\" \n", fn _, inner -> [inner] end)
      open = for level <- 0..(depth - 1), do: String.duplicate("  ", level) <> "["
      close = for level <- (depth - 1)..0//-1, do: String.duplicate("  ", level) <> "]"
      expected = Enum.join(open ++ [String.duplicate("  ", depth) <> ~S("a \"b\" \n")] ++ close, "\n")
      assert JSON.encode!(term, pretty: true) == expected
    end

    scalars = %{"a" => [-1.5, 123_456_789_012_345_678_901_234_567_890_123_456_789, true, nil], "b" => %{}, "c" => [[]]}
    text = JSON.encode!(scalars, pretty: true)
    assert JSON.decode!(text) == scalars
    assert text =~ "    123456789012345678901234567890123456789,\n    true,\n    null\n  ],\n  \"b\": {},"
  end

  test "pretty, and large enough for another scheduler" do
    rows = for n <- 1..5_000, do: %{"a" => n, "b" => "text #{n}"}
    text = JSON.encode!(rows, order: ["b"], pretty: true)
    assert String.starts_with?(text, ~s([\n  {\n    "b": "text 1",\n    "a": 1\n  },\n))
    assert JSON.decode!(text) == rows
  end

  test "a key that an order names twice is written once" do
    assert McpServer.JSON.encode!(%{"a" => 1, "b" => 2}, order: ["b", "b", "a", "b"]) == ~s({"b":2,"a":1})
  end
end
