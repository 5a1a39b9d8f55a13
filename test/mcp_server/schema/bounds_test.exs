defmodule McpServer.Schema.BoundsTest do
  # Schemas and values that would crash a careless native validator, through the public functions. Not async: a check
  # occupies a dirty scheduler.
  use ExUnit.Case, async: false

  alias McpServer.Schema.{Error, Validator}

  defp compile!(schema, options \\ []) do
    {:ok, validator} = Validator.compile(schema, options)
    validator
  end

  defp kind(schema, options \\ []) do
    {:error, %Error{kind: :schema, problems: [%{keyword: kind}]}} = Validator.compile(schema, options)
    kind
  end

  defp nested(levels, keyword), do: Enum.reduce(2..levels, %{}, fn _level, inner -> wrap(keyword, inner) end)
  defp wrap("properties", inner), do: %{"properties" => %{"a" => inner}}
  defp wrap(keyword, inner) when keyword in ~w(allOf anyOf oneOf prefixItems), do: %{keyword => [inner]}
  defp wrap(keyword, inner), do: %{keyword => inner}

  @tag req: ["F1", "Y3"]
  test "schemas of 64 levels are compiled; of 65, 120 and 5,000 refused" do
    for keyword <- ~w(items not if propertyNames) do
      assert {:ok, _validator} = Validator.compile(nested(64, keyword))
      for levels <- [65, 120, 5_000], do: assert({keyword, kind(nested(levels, keyword))} == {keyword, "too_deep"})
    end
  end

  @tag req: ["F1", "Y3"]
  test "where a subschema takes two levels of JSON, 127 of those are the limit" do
    for keyword <- ~w(properties allOf anyOf oneOf prefixItems), options <- [[], [max_depth: 127]] do
      assert {:ok, _validator} = Validator.compile(nested(64, keyword), options)

      for levels <- [65, 66, 120, 5_000] do
        assert {:error, %Error{problems: [problem]}} = Validator.compile(nested(levels, keyword), options)

        assert {problem.pointer, problem.keyword, problem.message} ==
                 {"", "too_deep",
                  "the schema nests more than 127 arrays and objects; `properties` takes two for each subschema"}
      end
    end
  end

  test "limits of 127 levels" do
    assert {:ok, _validator} = Validator.compile(nested(127, "items"), max_depth: 127)
    assert kind(nested(128, "items"), max_depth: 127) == "too_deep"
    assert kind(nested(4, "items"), max_depth: 3) == "too_deep"
  end

  @tag req: "F1"
  test "10,000 flat $defs, and an enum of 100,000, are too much until asked for" do
    defs = Map.new(1..10_000, &{"d#{&1}", %{"type" => "integer"}})
    schema = %{"$defs" => defs, "$ref" => "#/$defs/d10000"}
    assert kind(schema) == "too_large"
    assert kind(schema, max_bytes: 1024 * 1024) == "too_many_subschemas"
    validator = compile!(schema, max_bytes: 1024 * 1024, max_subschemas: 10_001)
    assert Validator.validate(validator, 1) == :ok
    assert {:error, _error} = Validator.validate(validator, "x")

    words = %{"enum" => Enum.map(1..100_000, &"word #{&1}")}
    assert kind(words) == "too_large"
    validator = compile!(words, max_bytes: 4 * 1024 * 1024)
    assert Validator.validate(validator, "word 100000") == :ok
    {:error, error} = Validator.validate(validator, "word 0")
    assert byte_size(Exception.message(error)) <= 1_024
    assert Exception.message(error) =~ ~r/^\(root\): must be one of "word 1", .* or \d+ more \(enum\)$/
  end

  @tag req: "M16"
  test "1,000,000 wrong items: one short error, in a process of at most 64 MiB" do
    validator = compile!(%{"items" => %{"type" => "string"}})

    # The list alone takes 16 MB. The process is killed if its heap exceeds the limit.
    {_pid, reference} =
      :erlang.spawn_opt(
        fn -> exit({:checked, Validator.validate(validator, List.duplicate(0, 1_000_000))}) end,
        [:monitor, max_heap_size: %{size: div(64 * 1024 * 1024, 8), kill: true, error_logger: false}]
      )

    assert_receive {:DOWN, ^reference, :process, _pid, {:checked, {:error, error}}}, 60_000
    assert length(error.problems) in 1..20
    assert byte_size(Exception.message(error)) <= 20 * 1_024
    assert hd(error.problems).message == "/0: must be a string (type)"
  end

  @tag req: "Y3"
  test "lattices of references, in which the ways double at each level" do
    lattice = fn levels ->
      defs =
        for level <- 1..levels, into: %{"l0" => %{"type" => "string"}} do
          {"l#{level}", %{"anyOf" => List.duplicate(%{"$ref" => "#/$defs/l#{level - 1}"}, 2)}}
        end

      %{"$ref" => "#/$defs/l#{levels}", "$defs" => defs}
    end

    validator = compile!(lattice.(19))
    assert Validator.validate(validator, "x") == :ok
    {:error, error} = Validator.validate(validator, 1)
    assert Exception.message(error) =~ "must be"
    for levels <- [21, 22, 24, 60], do: assert(kind(lattice.(levels)) == "too_complex")
  end

  @tag req: "Y3"
  test "references in circles end" do
    for schema <- [
          %{"$dynamicRef" => "#a", "$dynamicAnchor" => "a"},
          %{"$dynamicAnchor" => "a", "properties" => %{"b" => %{"$dynamicRef" => "#a"}}},
          %{
            "$ref" => "#/$defs/a",
            "$defs" => %{"a" => %{"$dynamicRef" => "#/$defs/b"}, "b" => %{"$ref" => "#/$defs/a"}}
          },
          %{"$schema" => "https://json-schema.org/draft/2019-09/schema", "$recursiveRef" => "#"},
          %{"not" => %{"not" => %{"$ref" => "#"}}}
        ] do
      validator = compile!(schema)
      assert Validator.validate(validator, %{"b" => %{"b" => 1}}) == :ok
    end
  end

  @tag req: "Y3"
  test "expressions that take a gigabyte, refer back or look around are refused; others are linear" do
    for pattern <- ["(a{1000}){1000}", "(\\p{L}{100}){100}", "(a)\\1", "(?=a)b", "(?<!a)b"],
        do: assert({pattern, kind(%{"pattern" => pattern})} == {pattern, "pattern"})

    megabyte = String.duplicate("a", 1_000_000)
    validator = compile!(%{"pattern" => "^(a+)+$"})
    assert Validator.validate(validator, megabyte) == :ok
    {:error, error} = Validator.validate(validator, megabyte <> "!")
    assert Exception.message(error) == "(root): must be a string that matches the pattern ^(a+)+$ (pattern)"
  end

  @tag req: "Y3"
  test "100,000 objects, each other than the rest" do
    validator = compile!(%{"uniqueItems" => true})
    objects = for n <- 1..100_000, do: %{"n" => n}
    assert Validator.validate(validator, objects) == :ok
    {:error, error} = Validator.validate(validator, objects ++ [%{"n" => 1}])
    assert Exception.message(error) == "(root): must be an array without duplicates (uniqueItems)"
  end

  @tag req: "Y3"
  test "a check that takes more steps than it may is no pass" do
    validator = compile!(%{"items" => %{"type" => "integer"}}, max_steps: 1_000)
    assert Validator.validate(validator, Enum.to_list(1..100)) == :ok
    {:error, error} = Validator.validate(validator, Enum.to_list(1..10_000))

    assert Exception.message(error) ==
             "(root): must be a value simple enough to be checked against the schema (schema)"
  end

  @tag req: "Y3"
  test "100 processes that compile at once get their turns" do
    schema = %{"properties" => Map.new(1..100, &{"p#{&1}", %{"type" => "string", "pattern" => "^[a-z]+#{&1}$"}})}
    tasks = for _n <- 1..100, do: Task.async(fn -> match?({:ok, _validator}, Validator.compile(schema)) end)
    assert Enum.all?(Task.await_many(tasks, 120_000))
  end

  @tag req: "M2"
  test "a value of 100,000 levels is a problem" do
    deep = Enum.reduce(1..100_000, 0, fn _level, inner -> [inner] end)
    assert {:error, %Error{kind: :value, problems: [_problem]}} = Validator.validate(compile!(true), deep)
    assert {:error, %Error{kind: :value}} = Validator.repair(compile!(true), deep)
  end
end
