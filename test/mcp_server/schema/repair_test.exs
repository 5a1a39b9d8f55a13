defmodule McpServer.Schema.RepairTest do
  use ExUnit.Case, async: true
  use McpServer.Properties

  alias McpServer.Schema.{Error, Validator}

  @order %{
    "type" => "object",
    "properties" => %{
      "count" => %{"type" => "integer"},
      "price" => %{"type" => "number"},
      "express" => %{"type" => "boolean"},
      "note" => %{"type" => "string"},
      "tags" => %{"type" => "array", "items" => %{"type" => "string"}},
      "any" => %{"type" => "array"},
      "rows" => %{"type" => "array", "items" => %{"$ref" => "#/$defs/row"}},
      "either" => %{"anyOf" => [%{"type" => "integer"}, %{"type" => "boolean"}]}
    },
    "$defs" => %{"row" => %{"type" => "object", "properties" => %{"n" => %{"type" => "integer"}}}}
  }

  defp compile!(schema) do
    {:ok, validator} = Validator.compile(schema)
    validator
  end

  defp repaired(value, schema \\ @order) do
    validator = compile!(schema)

    with {:ok, after_repair, _kinds} = result <- Validator.repair(validator, value) do
      assert Validator.validate(validator, after_repair) == :ok
      assert Validator.repair(validator, after_repair) == {:ok, after_repair, []}
      result
    end
  end

  test "numbers, booleans, JSON and lists of one" do
    assert repaired(%{"count" => "42"}) == {:ok, %{"count" => 42}, [:number]}
    assert repaired(%{"price" => "1.5"}) == {:ok, %{"price" => 1.5}, [:number]}
    assert repaired(%{"price" => "2"}) == {:ok, %{"price" => 2}, [:number]}
    assert repaired(%{"express" => "true"}) == {:ok, %{"express" => true}, [:boolean]}
    assert repaired(%{"tags" => "red"}) == {:ok, %{"tags" => ["red"]}, [:list]}
    assert repaired(%{"tags" => ~s(["red"])}) == {:ok, %{"tags" => ["red"]}, [:json]}
    assert repaired(%{"rows" => ~s([{"n": "1"}])}) == {:ok, %{"rows" => [%{"n" => 1}]}, [:json, :number]}
    assert repaired(~s({"count": "1"})) == {:ok, %{"count" => 1}, [:json, :number]}
  end

  test "integers of any size are exact" do
    huge = String.duplicate("9", 1_024)
    assert repaired(%{"count" => huge}) == {:ok, %{"count" => String.to_integer(huge)}, [:number]}
    assert {:error, _error} = repaired(%{"count" => huge <> "9"})
  end

  test "several places at once, and what is beside them stays" do
    value = %{"count" => "1", "rows" => [%{"n" => 1}, %{"n" => "2"}, %{"n" => "3", "m" => "4"}], "note" => "5"}

    assert repaired(value) ==
             {:ok, %{"count" => 1, "rows" => [%{"n" => 1}, %{"n" => 2}, %{"n" => 3, "m" => "4"}], "note" => "5"},
              [:number, :number, :number]}
  end

  test "maps with atoms for keys, and large maps" do
    assert repaired(%{count: "1", rows: [%{n: "2"}]}) == {:ok, %{count: 1, rows: [%{n: 2}]}, [:number, :number]}
    many = Map.new(1..100, &{"k#{&1}", &1})
    assert repaired(Map.put(many, "count", "1")) == {:ok, Map.put(many, "count", 1), [:number]}
  end

  test "a valid value comes back as it is, structs too" do
    for value <- [%{"count" => 1}, %{"note" => "42"}, %{at: ~D[2026-01-31]}, %{"tags" => []}],
        do: assert(repaired(value) == {:ok, value, []})
  end

  test "what leaves a doubt is refused with the problems of the value as it was" do
    for {value, message} <- [
          {%{"either" => "1"}, "/either: must be a boolean or an integer (anyOf)"},
          {%{"count" => "1.0"}, "/count: must be an integer (type)"},
          {%{"count" => "one"}, "/count: must be an integer (type)"},
          {%{"note" => 5}, "/note: must be a string (type)"},
          {%{"count" => "1", "note" => 5}, "/count: must be an integer (type)\n/note: must be a string (type)"},
          {%{"tags" => "[\"red\", \"gr"}, "/tags: must be an array (type)"},
          {%{"tags" => ""}, "/tags: must be an array (type)"},
          {%{"tags" => 5}, "/tags: must be an array (type)"},
          {%{"any" => ~s({"a": 1})}, "/any: must be an array (type)"}
        ] do
      assert {:error, %Error{kind: :value} = error} = repaired(value)
      assert Exception.message(error) == message
    end
  end

  test "items and prefixItems mean what they do in the draft" do
    list = %{"type" => "array", "prefixItems" => [%{"type" => "integer"}]}
    schema = %{"properties" => %{"n" => %{"type" => "integer"}, "list" => list}}
    value = %{"n" => "1", "list" => ["2"]}
    assert repaired(value, schema) == {:ok, %{"n" => 1, "list" => [2]}, [:number, :number]}
    older = Map.put(schema, "$schema", "http://json-schema.org/draft-07/schema#")
    assert repaired(value, older) == {:ok, %{"n" => 1, "list" => ["2"]}, [:number]}
  end

  @tag req: "M2"
  test "at most 256 changes, 256 KiB of JSON in strings, 128 levels" do
    list = %{"type" => "array", "items" => %{"type" => "integer"}}
    assert {:ok, _list, kinds} = repaired(List.duplicate("1", 256), list)
    assert length(kinds) == 256
    assert {:error, _error} = repaired(List.duplicate("1", 257), list)
    any = %{"type" => "array"}
    text = fn bytes -> "[" <> String.duplicate(" ", bytes - 2) <> "]" end
    assert repaired(text.(256 * 1024), any) == {:ok, [], [:json]}
    assert {:error, _error} = repaired(text.(256 * 1024 + 1), any)
    nested = fn levels -> String.duplicate("[", levels) <> String.duplicate("]", levels) end
    assert {:ok, _list, [:json]} = repaired(nested.(128), any)
    assert {:error, _error} = repaired(nested.(129), any)
    assert {:error, _error} = repaired(nested.(100_000), any)
  end

  if McpServer.Installed.here?(:proper) do
    defp scalar do
      words = ["1", "-7", "2.5", "true", "word", "", "[1]", ~s({"a": "1"}), ~s(["true", 2]), "[", "{"]
      :proper_types.oneof([nil, true, 1, 2.5, :proper_types.elements(words), :proper_types.integer()])
    end

    defp value(size) when size < 2, do: scalar()

    defp value(size) do
      inner = :proper_types.resize(div(size, 3), :proper_types.lazy(fn -> value(div(size, 3)) end))
      members = :proper_types.list({:proper_types.elements(["a", "b"]), inner})
      :proper_types.oneof([scalar(), :proper_types.list(inner), :proper_types.bind(members, &Map.new/1, false)])
    end

    defp type, do: :proper_types.elements(~w(integer number boolean string array object null))

    defp schema(size) when size < 2, do: :proper_types.bind(type(), &%{"type" => &1}, false)

    defp schema(size) do
      inner = :proper_types.resize(div(size, 3), :proper_types.lazy(fn -> schema(div(size, 3)) end))
      properties = :proper_types.list({:proper_types.elements(["a", "b"]), inner})

      :proper_types.oneof([
        :proper_types.bind(type(), &%{"type" => &1}, false),
        :proper_types.bind(inner, &%{"type" => "array", "items" => &1}, false),
        :proper_types.bind(properties, &%{"type" => "object", "properties" => Map.new(&1)}, false),
        :proper_types.bind({inner, inner}, fn {one, other} -> %{"anyOf" => [one, other]} end, false)
      ])
    end

    @tag McpServer.Installed.tags(:proper)
    @tag slow: "hundreds of generated schemas"
    test "what is repaired is valid, what is valid is untouched, and twice is once" do
      type = {:proper_types.sized(&schema/1), :proper_types.sized(&value/1)}

      holds(
        forall(type, fn {schema, value} ->
          validator = compile!(schema)

          case {Validator.validate(validator, value), Validator.repair(validator, value)} do
            {:ok, repaired} ->
              repaired === {:ok, value, []}

            {{:error, error}, {:error, same}} ->
              error == same

            {{:error, _error}, {:ok, repaired, [_ | _]}} ->
              Validator.repair(validator, repaired) === {:ok, repaired, []}
          end
        end),
        200
      )
    end
  end
end
