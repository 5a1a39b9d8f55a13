defmodule McpServer.SchemaValuesTest do
  # A value is traversed once, and its schema checks the results. An integer beyond 64 bits elsewhere in the value,
  # whose digits are stored separately, changes no verdict.
  use ExUnit.Case, async: true

  alias McpServer.Schema.Validator

  @big 0x1_0000_0000_0000_0000

  defp validator!(schema) do
    {:ok, validator} = Validator.compile(%{"properties" => %{"v" => schema}})
    validator
  end

  defp assert_same(schema, value, valid?) do
    validator = validator!(schema)
    once = Validator.validate(validator, %{"v" => value})
    beside_big = Validator.validate(validator, %{"v" => value, "z" => @big})
    assert once == :ok == valid?, "#{inspect(schema)} and #{inspect(value, limit: 5)}"
    assert once == beside_big
  end

  test "values of every type, and what asks for them" do
    assert_same(%{"type" => "null"}, nil, true)
    assert_same(%{"type" => "boolean"}, false, true)
    assert_same(%{"type" => "string"}, :atom, true)
    assert_same(%{"type" => "string"}, nil, false)
    assert_same(%{"type" => "integer"}, 1.0, true)
    assert_same(%{"type" => "integer"}, 1.5, false)
    assert_same(%{"maximum" => 18_446_744_073_709_551_614}, 18_446_744_073_709_551_615, false)
    assert_same(%{"minimum" => 9_223_372_036_854_775_808}, 9_223_372_036_854_775_808, true)
    assert_same(%{"minimum" => -9_223_372_036_854_775_808}, -9_223_372_036_854_775_808, true)
    assert_same(%{"maxLength" => 4}, "größe", false)
    assert_same(%{"const" => %{"a" => [1, %{"b" => nil}]}}, %{"a" => [1, %{"b" => nil}]}, true)
    assert_same(%{"enum" => [[1], %{"a" => 2}]}, %{"a" => 2.0}, true)
    assert_same(%{"uniqueItems" => true}, [[1], %{"a" => 1}, [1.0]], false)
    assert_same(%{"propertyNames" => %{"maxLength" => 1}}, %{"a" => 1, "bc" => 2}, false)
    assert_same(%{"prefixItems" => [%{"type" => "array"}]}, [[[]], 1], true)
  end

  test "members of objects on both sides of what the VM keeps sorted" do
    for size <- [1, 2, 31, 32, 33, 34, 200] do
      names = for i <- 1..size, do: "key #{i}"
      object = Map.new(names, &{&1, %{"x" => &1}})
      assert_same(%{"required" => names}, object, true)
      assert_same(%{"required" => ["key 0" | names]}, object, false)
      assert_same(%{"required" => ["key #{size}", "key #{div(size, 2)}z"]}, object, false)

      last = %{
        "properties" => %{"key #{size}" => %{"required" => ["x"], "properties" => %{"x" => %{"type" => "null"}}}}
      }

      assert_same(last, object, false)
      assert_same(%{"additionalProperties" => %{"required" => ["x"]}}, object, true)
    end
  end

  test "keys that are atoms, texts, or both" do
    schema = %{"required" => ["limit"], "properties" => %{"limit" => %{"type" => "integer"}}}
    assert_same(schema, %{limit: 1}, true)
    assert_same(schema, %{limit: "1"}, false)
    assert_same(schema, %{"limit" => 1, other: 2}, true)
    assert {:error, %{problems: [_same_text]}} = Validator.validate(validator!(schema), %{"v" => %{"a" => 1, a: 2}})
  end

  test "the same references and the same depth" do
    node = %{"$ref" => "#/$defs/node"}
    tree = %{"type" => "object", "properties" => %{"left" => node, "right" => node, "n" => %{"type" => "integer"}}}
    {:ok, validator} = Validator.compile(Map.merge(node, %{"$defs" => %{"node" => tree}}))
    leaf = %{"n" => 1}
    value = Enum.reduce(1..20, leaf, fn n, node -> %{"left" => node, "right" => leaf, "n" => n} end)
    assert Validator.validate(validator, value) == :ok
    assert {:error, _problems} = Validator.validate(validator, put_in(value, ["left", "left", "n"], "2"))

    {:ok, anything} = Validator.compile(true)
    assert Validator.validate(anything, nested(128)) == :ok
    assert {:error, %{problems: [%{keyword: "type"}]}} = Validator.validate(anything, nested(129))
  end

  test "what is no JSON is refused, also where the schema does not look" do
    {:ok, validator} = Validator.compile(%{"required" => ["a"]})

    for value <- [<<0xFF>>, [1 | 2], {1}, self(), <<1::1>>, %{1.5 => 1}] do
      assert {:error, %{problems: [_problem]}} = Validator.validate(validator, %{"a" => 1, "b" => value})
    end
  end

  test "many values, one after the other and in one" do
    {:ok, validator} = Validator.compile(%{"items" => %{"required" => ["id"]}})

    for count <- [0, 1, 1_022, 1_023, 1_024, 1_025, 2_000, 120_000, 10] do
      rows = for id <- 1..count//1, do: %{"id" => id}
      assert Validator.validate(validator, rows) == :ok
      assert {:error, _problems} = Validator.validate(validator, rows ++ [%{}])
    end
  end

  defp nested(depth), do: Enum.reduce(2..depth, [], fn _level, inner -> [inner] end)
end
