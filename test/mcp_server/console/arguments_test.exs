defmodule McpServer.Console.ArgumentsTest do
  use ExUnit.Case, async: true

  alias McpServer.Console.Arguments

  @schema %{
    "type" => "object",
    "$defs" => %{"size" => %{"type" => "integer"}, "round" => %{"$ref" => "#/$defs/round"}},
    "properties" => %{
      "count" => %{"type" => "integer"},
      "price" => %{"type" => "number"},
      "sure" => %{"type" => "boolean"},
      "name" => %{"type" => "string"},
      "tags" => %{"type" => "array", "items" => %{"type" => "string"}},
      "sizes" => %{"type" => "array", "items" => %{"$ref" => "#/$defs/size"}},
      "place" => %{"type" => "object"},
      "maybe" => %{"type" => ["string", "null", "integer"]},
      "decimal" => %{"type" => ["string", "number", "null"], "pattern" => "^[0-9.]+$"},
      "either" => %{"anyOf" => [%{"type" => "boolean"}, %{"$ref" => "#/$defs/size"}]},
      "open" => %{"anyOf" => [%{"type" => "boolean"}, %{}]},
      "level" => %{"enum" => [1, 2, "high"]},
      "free" => %{},
      "round" => %{"$ref" => "#/$defs/round"}
    }
  }

  defp parse(words), do: Arguments.parse(words, @schema, "the tool t")

  test "a value has the type that the schema says" do
    for {word, value} <- [
          {"count=1", 1},
          {"count=123456789012345678901234567890", 123_456_789_012_345_678_901_234_567_890},
          {"price=1.5", 1.5},
          {"price=2", 2},
          {"sure=true", true},
          {"name=1", "1"},
          {"name=a=b", "a=b"},
          {"name=", ""},
          {"tags=x", ["x"]},
          {"tags=[\"x\",\"y\"]", ["x", "y"]},
          {"sizes=3", [3]},
          {"place={\"zone\": 1}", %{"zone" => 1}},
          {"maybe=null", nil},
          {"maybe=7", 7},
          {"maybe=x", "x"},
          # A number would lose the last digit.
          {"decimal=12.50", "12.50"},
          {"decimal=null", nil},
          {"either=true", true},
          {"either=7", 7},
          {"open=x", "x"},
          {"level=2", 2},
          {"level=high", "high"},
          {"free=1", 1},
          {"free=[1]", [1]},
          {"free=x", "x"},
          {"round=1", 1}
        ] do
      [name, _text] = String.split(word, "=", parts: 2)
      assert parse([word]) == {:ok, %{name => value}}
    end
  end

  test "a list element by element" do
    assert parse(["tags=x", "count=1", "tags=y", "sizes=1", "sizes=2"]) ==
             {:ok, %{"tags" => ["x", "y"], "count" => 1, "sizes" => [1, 2]}}
  end

  test "what does not fit is said with what was expected" do
    for {word, sentence} <- [
          {"count=1.5", "expected count to be an integer, got: 1.5"},
          {"count=", "expected count to be an integer, got: "},
          {"price=x", "expected price to be a number, got: x"},
          {"sure=yes", "expected sure to be true or false, got: yes"},
          {"sizes=x", "expected sizes to be an integer, got: x"},
          {"place=1", "expected place to be an object as JSON, got: 1"},
          {"either=x", "expected either to be true or false or an integer, got: x"},
          {"cuont=1", "the tool t has no argument cuont, did you mean count?"},
          {"count", "expected arguments as name=value, got: count"},
          {"=1", "expected arguments as name=value, got: =1"}
        ],
        do: assert(parse([word]) == {:error, sentence})

    assert Arguments.parse(["a=1"], %{}, "the tool t") == {:error, "the tool t has no argument a: it has none"}

    assert Arguments.parse(["zzz=1"], Map.take(@schema, ["properties"]), "the tool t") ==
             {:error,
              "the tool t has no argument zzz. It has: count, decimal, either, free, level, maybe, name, open, place, price, " <>
                "round, sizes, sure, tags"}
  end

  test "an argument that the schema leaves open" do
    assert Arguments.parse(["a=1", "b=x"], %{"additionalProperties" => true}, "t") == {:ok, %{"a" => 1, "b" => "x"}}
    assert {:error, _none} = Arguments.parse(["a=1"], %{"additionalProperties" => false}, "t")
  end
end
