defmodule McpServer.Router.DecimalTest do
  # Fields of the type `:decimal`.
  use ExUnit.Case, async: true

  alias McpServer.Test

  Code.require_file("test/support/decimal_stand_in.exs")

  defmodule Handlers do
    def price(_conn, %{"price" => price}), do: inspect(Map.from_struct(price))
  end

  defmodule Shop do
    use McpServer.Router

    tool "price", "Says the price", Handlers, :price do
      input_field "price", "The price", :decimal, default: "1e3"
    end
  end

  defp price(arguments, revision) do
    {:ok, %{"content" => [%{"text" => text}]}} = Test.call_tool(Shop, "price", arguments, revision: revision)
    text
  end

  test "they keep the digits that were sent" do
    for revision <- ["2025-11-25", "2026-07-28"] do
      for {text, sign, coef, exp} <- [
            {"12.50", 1, 1250, -2},
            {"-0.10", -1, 10, -2},
            {"+7", 1, 7, 0},
            {"1.5e-3", 1, 15, -4},
            {"2E2", 1, 2, 2}
          ],
          do: assert(price(%{"price" => text}, revision) == inspect(%{sign: sign, coef: coef, exp: exp}))

      assert price(%{}, revision) == inspect(%{sign: 1, coef: 1, exp: 3})
    end
  end

  test "they may be numbers" do
    for revision <- ["2025-11-25", "2026-07-28"] do
      for {number, sign, coef, exp} <- [
            {12.5, 1, 125, -1},
            {-0.1, -1, 1, -1},
            {7, 1, 7, 0},
            {0, 1, 0, 0},
            {1.0e-7, 1, 1, -7},
            {100.0, 1, 100, 0},
            {123_456_789_012_345_678_901_234_567_890, 1, 123_456_789_012_345_678_901_234_567_890, 0}
          ],
          do: assert(price(%{"price" => number}, revision) == inspect(%{sign: sign, coef: coef, exp: exp}))
    end

    {:ok, [%{"inputSchema" => %{"properties" => %{"price" => published}}}]} = Test.list_tools(Shop)
    assert %{"type" => ["string", "number"], "pattern" => "^" <> _} = published
    assert price(%{"price" => true}, "2026-07-28") =~ "- /price: must be a number or a string (type)"
  end

  test "the linter finds no fault with their two types, but with null beside them" do
    defmodule Nullable do
      use McpServer.Router, lint: false

      tool "price", "Says the price", Handlers, :price, hints: [:read_only] do
        input_field "net", "The net price", :decimal
        input_field "gross", "The gross price", [:decimal, :null]
      end
    end

    assert for(found <- McpServer.Lint.run(Nullable), do: {found.code, found.pointer, found.message}) ==
             [{:type_union, "/inputSchema/properties/gross", "the type is a list: string, number, null"}]
  end

  test "a number with more digits, or written out as more, is refused" do
    for text <- [String.duplicate("9", 1_001), "1e1001", "1e-1001"] do
      assert price(%{"price" => text}, "2026-07-28") ==
               "Invalid arguments for tool 'price':\n" <>
                 "- /price: must be a decimal number of at most 1000 digits such as 12.50 (format)"
    end

    assert price(%{"price" => "1,5"}, "2026-07-28") =~ "- /price: must be a string that matches the pattern "
  end
end
