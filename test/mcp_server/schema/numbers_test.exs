defmodule McpServer.Schema.NumbersTest do
  # Integers are exact in every keyword that compares numbers, even beyond 64 bits.
  use ExUnit.Case, async: true

  alias McpServer.Schema.Validator

  @big 100_000_000_000_000_000_000

  defp validator!(schema) do
    {:ok, validator} = Validator.compile(schema)
    validator
  end

  defp valid?(schema, value), do: Validator.validate(validator!(schema), value) == :ok

  defp message(schema, value) do
    {:error, error} = Validator.validate(validator!(schema), value)
    Exception.message(error)
  end

  test "bounds that are floats" do
    for sign <- [1, -1], {below, at, above} = order(sign), float = sign * 1.0e20 do
      assert [valid?(%{"minimum" => float}, below), valid?(%{"minimum" => float}, at)] == [false, true]
      assert [valid?(%{"maximum" => float}, at), valid?(%{"maximum" => float}, above)] == [true, false]

      assert [valid?(%{"exclusiveMinimum" => float}, at), valid?(%{"exclusiveMinimum" => float}, above)] == [
               false,
               true
             ]

      assert [valid?(%{"exclusiveMaximum" => float}, below), valid?(%{"exclusiveMaximum" => float}, at)] == [
               true,
               false
             ]

      for keyword <- ["minimum", "maximum"], do: assert(valid?(%{keyword => float}, float))
      assert valid?(%{"minimum" => float}, 1) == (sign == -1)
      assert valid?(%{"minimum" => float}, "text")
    end

    assert message(%{"maximum" => 1.0e20}, @big + 1) == "(root): must be at most 1e+20 (maximum)"
    assert message(%{"minimum" => 1.0e20}, @big - 1) == "(root): must be at least 1e+20 (minimum)"
    assert message(%{"exclusiveMinimum" => 1.0e20}, 0.5) == "(root): must be more than 1e+20 (exclusiveMinimum)"
    assert message(%{"exclusiveMaximum" => 1.0e20}, @big) == "(root): must be less than 1e+20 (exclusiveMaximum)"
  end

  defp order(1), do: {@big - 1, @big, @big + 1}
  defp order(-1), do: {-@big - 1, -@big, -@big + 1}

  test "bounds that are floats of draft 4, which excludes them beside" do
    draft = %{"$schema" => "http://json-schema.org/draft-04/schema#", "maximum" => 1.0e20}
    assert valid?(draft, @big)
    refute valid?(Map.put(draft, "exclusiveMaximum", true), @big)
    assert valid?(Map.put(draft, "exclusiveMaximum", true), @big - 1)
    assert valid?(Map.put(draft, "exclusiveMaximum", false), @big)
  end

  test "const, enum and uniqueItems" do
    for schema <- [%{"const" => 1.0e20}, %{"enum" => [1.0e20]}, %{"enum" => ["x", 1.0e20]}, %{"enum" => [1, 2, 1.0e20]}] do
      assert valid?(schema, @big)
      assert valid?(schema, 1.0e20)
      refute valid?(schema, @big + 1)
      refute valid?(schema, -@big)
    end

    assert valid?(%{"const" => [%{"a" => 1.0e20}]}, [%{"a" => @big}])
    refute valid?(%{"const" => [%{"a" => 1.0e20}]}, [%{"a" => @big + 1}])
    assert message(%{"const" => 1.0e20}, @big + 1) == "(root): must be 1e+20 (const)"

    two_64 = 0x1_0000_0000_0000_0000
    unique = %{"uniqueItems" => true}
    assert valid?(unique, [two_64, two_64 + 1])
    assert valid?(unique, Enum.to_list(two_64..(two_64 + 50)))
    refute valid?(unique, [two_64, 1.8446744073709552e19])
    refute valid?(unique, Enum.to_list(1..20) ++ [1.0])
    refute valid?(unique, [0, -0.0])
    assert valid?(unique, [9_007_199_254_740_993, 9_007_199_254_740_992.0])
    refute valid?(unique, [%{"a" => 1, "b" => [two_64]}, %{"b" => [two_64], "a" => 1.0}])
    assert valid?(unique, [%{"a" => 1}, %{"b" => 1}, [], %{}, "", nil, false, 0])
  end

  test "multiples" do
    for {divisor, multiples, others} <- [
          {1.0e20, [0, @big, 3 * @big, 101 * @big, 1.0e20, -@big], [@big + 1, @big - 1, 1, 0.5]},
          {0.01, [@big + 1, 1, 19.99, 1_070_468.14, 0.0], [0.005, 1_070_468.145]},
          {0.3, [@big + 2, 3, 0.9], [@big + 1, 1]},
          {2.5, [@big, 10, 7.5], [@big + 1, 11]},
          {3, [@big + 2, 9], [@big + 1, 10]},
          {9_007_199_254_740_993, [9_007_199_254_740_993, 0], [9_007_199_254_740_994, 9_007_199_254_740_992]}
        ] do
      for value <- multiples,
          do: assert({divisor, value, valid?(%{"multipleOf" => divisor}, value)} == {divisor, value, true})

      for value <- others,
          do: assert({divisor, value, valid?(%{"multipleOf" => divisor}, value)} == {divisor, value, false})
    end

    assert message(%{"multipleOf" => 0.01}, 0.005) == "(root): must be a multiple of 0.01 (multipleOf)"
  end
end
