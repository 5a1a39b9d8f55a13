defmodule McpServer.Schema.ValidatorTest do
  use ExUnit.Case, async: true

  alias McpServer.{JSON, Schema}
  alias McpServer.Schema.{Error, Validator}

  doctest McpServer.Schema.Validator

  @search %{
    "type" => "object",
    "properties" => %{
      "query" => %{"type" => "string", "minLength" => 1},
      "limit" => %{"type" => "integer", "minimum" => 1, "maximum" => 100},
      "sort" => %{"enum" => ["name", "date"]},
      "tags" => %{"type" => "array", "items" => %{"type" => "string"}, "uniqueItems" => true}
    },
    "required" => ["query"],
    "additionalProperties" => false
  }

  defp compile!(schema) do
    {:ok, validator} = Validator.compile(schema)
    validator
  end

  defp problems(schema, value) do
    assert {:error, %Error{kind: :value, problems: problems} = error} = Validator.validate(schema, value)
    assert Exception.message(error) == Enum.map_join(problems, "\n", & &1.message)
    Enum.map(problems, &{&1.pointer, &1.keyword})
  end

  describe "values" do
    test "maps with string keys, with atom keys, and atoms for strings" do
      validator = compile!(@search)
      assert Validator.validate(validator, %{"query" => "a", "limit" => 5, "sort" => "date", "tags" => ["x"]}) == :ok
      assert Validator.validate(validator, %{query: "a", limit: 5, sort: :date, tags: [:x]}) == :ok
      assert problems(validator, %{query: "a", sort: :size}) == [{"/sort", "enum"}]
      assert problems(validator, %{"limit" => 101}) |> Enum.sort() == [{"", "required"}, {"/limit", "maximum"}]
    end

    test "the schema may be a struct, a map in either kind of keys, or a boolean" do
      for schema <- [
            %Schema{type: "object", required: ["a"], properties: %{a: %Schema{type: "integer"}}},
            %{type: :object, required: [:a], properties: %{a: %{type: "integer"}}}
          ] do
        assert Validator.validate(schema, %{a: 1}) == :ok
        assert problems(schema, %{a: "1"}) == [{"/a", "type"}]
      end

      assert Validator.validate(true, self_made()) == :ok
      assert {:error, %Error{}} = Validator.validate(false, 1)
    end

    defp self_made, do: %{"any" => [1, nil, 2.5]}

    test "each JSON type" do
      values = %{
        "null" => [nil],
        "boolean" => [true, false],
        "integer" => [0, -1, 1.0, 2 ** 70, -(2 ** 70)],
        "number" => [1.5, 1.0e-300],
        "string" => ["", "a", :atom],
        "array" => [[], [1]],
        "object" => [%{}, %{a: 1}, %{"a" => 1}]
      }

      for {type, accepted} <- values, schema = compile!(%{"type" => type}), {other, terms} <- values, term <- terms do
        fits = term in accepted or (type == "number" and other == "integer")
        assert {type, term, Validator.validate(schema, term) == :ok} == {type, term, fits}
      end
    end

    test "large integers are not rounded by bounds" do
      validator = compile!(%{"maximum" => 2 ** 63 - 1})
      assert Validator.validate(validator, 2 ** 63 - 1) == :ok
      assert problems(validator, 2 ** 63) == [{"", "maximum"}]
      assert problems(validator, 2 ** 200) == [{"", "maximum"}]
    end

    test "enum and const compare values of every kind" do
      validator = compile!(%{"enum" => [1, 2.5, "a", nil, [1, %{"b" => true}]]})
      for value <- [1, 1.0, 2.5, :a, "a", nil, [1, %{b: true}]], do: assert(Validator.validate(validator, value) == :ok)
      for value <- [2, "b", [1], [1, %{b: false}], %{}], do: assert(problems(validator, value) == [{"", "enum"}])
    end

    test "uniqueItems, propertyNames, patternProperties, large objects" do
      assert problems(%{"uniqueItems" => true}, [1, "a", 1.0]) == [{"", "uniqueItems"}]
      names = %{"propertyNames" => %{"maxLength" => 3}}
      assert Validator.validate(names, %{abc: 1}) == :ok
      assert [{_pointer, _keyword}] = problems(names, %{abcd: 1})
      assert problems(%{"patternProperties" => %{"^a" => %{"type" => "string"}}}, %{ab: 1}) == [{"/ab", "type"}]
      many = Map.new(1..100, &{"k#{&1}", &1})
      assert Validator.validate(%{"required" => ["k1", "k99"], "minProperties" => 100}, many) == :ok
      assert problems(%{"properties" => %{"k77" => %{"type" => "string"}}}, many) == [{"/k77", "type"}]
      assert problems(%{"required" => ["k101"]}, many) == [{"", "required"}]
    end

    test "a key whose atom came to be after the schema was compiled" do
      name = "late_#{System.unique_integer([:positive])}"
      validator = compile!(%{"required" => [name]})
      assert problems(validator, %{other: 1}) == [{"", "required"}]
      assert Validator.validate(validator, %{String.to_atom(name) => 1}) == :ok
    end

    test "self references end, on scalars too" do
      validator = compile!(%{"$ref" => "#/$defs/node", "$defs" => %{"node" => tree()}})
      assert Validator.validate(validator, %{value: 1, children: [%{value: 2, children: []}]}) == :ok
      assert problems(validator, %{value: 1, children: [%{value: "2"}]}) == [{"/children/0/value", "type"}]

      for value <- [1, "a", nil, [], %{}, [[1], [1]]] do
        assert Validator.validate(%{"$ref" => "#"}, value) == :ok
      end
    end

    defp tree do
      children = %{"type" => "array", "items" => %{"$ref" => "#/$defs/node"}}
      %{"type" => "object", "properties" => %{"value" => %{"type" => "integer"}, "children" => children}}
    end

    test "structs are checked as what they are written as" do
      validator = compile!(%{"properties" => %{"at" => %{"type" => "string", "pattern" => "^2026-07-28$"}}})
      assert Validator.validate(validator, %{at: ~D[2026-07-28]}) == :ok
      assert problems(validator, %{at: ~D[2026-07-29]}) == [{"/at", "pattern"}]
      tool = compile!(%{"required" => ["inputSchema"]})
      assert Validator.validate(tool, %McpServer.Tool{name: "t", inputSchema: %{}}) == :ok
    end

    test "keys of both kinds in one map, and integer keys" do
      validator = compile!(%{"required" => ["a", "1"], "additionalProperties" => %{"type" => "integer"}})
      assert Validator.validate(validator, %{:a => 1, 1 => 2, "b" => 3}) == :ok
      assert problems(validator, %{:a => 1, "1" => "x"}) == [{"/1", "type"}]
    end

    test "a term that is no JSON is a problem, with its place" do
      validator = compile!(true)
      assert problems(validator, %{"a/b" => [self()]}) == [{"/a~1b/0", "type"}]
      assert problems(validator, [1 | 2]) == [{"", "type"}]
      assert problems(validator, [<<255>>]) == [{"/0", "type"}]
      assert problems(validator, %{:a => 1, "a" => 2}) == [{"/a", "type"}]
      assert problems(validator, Enum.reduce(1..200, 0, fn _level, inner -> [inner] end)) |> length() == 1
    end

    test "large values are checked on a dirty scheduler" do
      rows = for n <- 1..10_000, do: %{"id" => n, "name" => "row #{n}", "ok" => true}
      row = %{"type" => "object", "required" => ["id", "name"], "properties" => %{"id" => %{"type" => "integer"}}}
      validator = compile!(%{"type" => "array", "items" => row})
      assert Validator.validate(validator, rows) == :ok
      assert problems(validator, rows ++ [%{"id" => "x", "name" => ""}]) == [{"/10000/id", "type"}]
    end

    test "received values are not in the problems" do
      {:error, error} = Validator.validate(@search, %{"query" => 12_345_678, "sort" => "s3cr3t"})
      refute inspect(error) =~ "s3cr3t"
      refute inspect(error) =~ "12345678"
    end

    test "problems help a model: what is allowed, and the nearest name" do
      {:error, error} = Validator.validate(@search, %{"query" => "a", "sort" => "nam", "limt" => 1})
      problems = Map.new(error.problems, &{&1.keyword, &1})
      assert problems["enum"].allowed == [~s("name"), ~s("date")]
      assert problems["additionalProperties"].nearest == "limit"
      assert Enum.all?(error.problems, &(is_binary(&1.message) and byte_size(&1.message) <= 1_024))
    end

    test "at most 20 problems" do
      {:error, error} = Validator.validate(%{"items" => %{"type" => "string"}}, Enum.to_list(1..1_000))
      assert length(error.problems) == 20
    end
  end

  describe "schemas" do
    test "that are none are refused" do
      for schema <- [%{"type" => "strin"}, %{"minimum" => "1"}, %{"properties" => []}, %{"pattern" => "("}] do
        assert {:error, %Error{kind: :schema, problems: [_problem]}} = Validator.compile(schema)
      end

      assert {:error, %Error{kind: :schema, problems: [%{pointer: "/a"}]}} = Validator.compile(%{a: self()})
    end

    test "nothing is fetched" do
      for ref <- ["https://example.com/s.json", "file:///etc/passwd", "other.json"] do
        assert {:error, %Error{kind: :schema}} = Validator.compile(%{"$ref" => ref})
      end
    end

    test "64 levels are compiled, deeper ones refused without harm" do
      deep = fn levels -> Enum.reduce(2..levels, %{}, fn _level, inner -> %{"items" => inner} end) end
      assert {:ok, _validator} = Validator.compile(deep.(64))
      assert {:error, %Error{kind: :schema}} = Validator.compile(deep.(65))

      for depth <- [120, 400] do
        assert {:error, %Error{kind: :schema}} = Validator.compile(deep.(depth))
      end

      assert {:error, %Error{kind: :schema}} = Validator.compile(deep.(5_000))
    end

    test "limits can be given, none can be misspelled or infinite" do
      deep = fn levels -> Enum.reduce(2..levels, %{}, fn _level, inner -> %{"items" => inner} end) end
      assert {:ok, _validator} = Validator.compile(deep.(8), max_depth: 8)
      assert {:error, %Error{kind: :schema}} = Validator.compile(deep.(9), max_depth: 8)

      message =
        ~r/\Athere is no option :max_dept, did you mean max_depth\? The options are: formats, documents, max_bytes,/

      assert_raise ArgumentError, message, fn -> Validator.compile(%{}, max_dept: 8) end

      for limit <- [nil, 0, :infinity, -1, 1.5, "8"] do
        message = "expected :max_depth to be an integer from 1 to 127, got: #{inspect(limit)}"
        assert_raise ArgumentError, message, fn -> Validator.compile(%{}, max_depth: limit) end
      end

      message = "expected :max_problems to be an integer from 1 to 20, got: 21"
      assert_raise ArgumentError, message, fn -> Validator.compile(%{}, max_problems: 21) end
    end

    test "a compiled schema outlives its maker and is shared" do
      validator = Task.await(Task.async(fn -> compile!(@search) end))
      :erlang.garbage_collect()
      results = Task.async_stream(1..100, fn n -> Validator.validate(validator, %{"query" => "q#{n}"}) end)
      assert Enum.all?(results, &(&1 == {:ok, :ok}))
    end
  end

  test "what was decoded is checked as it is" do
    text = ~s({"query":"a","limit":1e0,"tags":["é","😀"]})
    assert Validator.validate(@search, JSON.decode!(text)) == :ok
  end
end
