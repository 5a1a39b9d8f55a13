if McpServer.Installed.here?(:proper) do
  defmodule McpServer.Schema.TermsPropertyTest do
    # F2: the native validator's verdict on a term equals that of a simple implementation of the keywords in Elixir, and
    # the verdict on the value after a round trip through JSON.
    use ExUnit.Case, async: true
    use McpServer.Properties

    alias McpServer.JSON
    alias McpServer.Schema.Validator

    @patterns ["^a+$", "b.{0,20}c", "^[a-z]{1,8}$", "é", "^$", "[0-9]{3}$"]
    @edges [0x8000_0000_0000_0000, 0x1_0000_0000_0000_0000, 100_000_000_000_000_000_000, -100_000_000_000_000_000_000]
    @names ["a", "b", "c", "name"]

    @moduletag McpServer.Installed.tags(:proper)

    defp scalar do
      :proper_types.oneof([
        :proper_types.integer(),
        :proper_types.largeint(),
        # Integers around the bounds of 64 bits and of exact floats.
        :proper_types.bind({:proper_types.oneof(@edges), :proper_types.integer(-2, 2)}, &Tuple.sum/1, false),
        :proper_types.oneof([1.0, 0.5, 1.0e20, -1.0e20, 1.8446744073709552e19, 0.0]),
        :proper_types.boolean(),
        nil,
        string()
      ])
    end

    defp string do
      long =
        :proper_types.bind({:proper_types.oneof(~w(a b é ab12)), :proper_types.integer(0, 16_000)}, &repeated/1, false)

      :proper_types.frequency([{9, short()}, {1, long}])
    end

    defp short, do: :proper_types.bind(:proper_types.list(:proper_types.oneof(~w(a b c é 1))), &Enum.join/1, false)

    defp repeated({piece, times}), do: String.duplicate(piece, times)

    defp value, do: :proper_types.sized(&value/1)
    defp value(size) when size < 2, do: scalar()

    defp value(size) do
      inner = :proper_types.lazy(fn -> value(div(size, 3)) end)
      members = :proper_types.list({:proper_types.oneof(@names), inner})

      :proper_types.frequency([
        {4, scalar()},
        {3, :proper_types.list(inner)},
        {3, :proper_types.bind(members, &Map.new/1, false)},
        {1, :proper_types.bind({short(), :proper_types.integer(0, 2_000)}, &copies/1, false)}
      ])
    end

    defp copies({value, count}), do: List.duplicate(value, count)

    defp schema, do: :proper_types.sized(&schema/1)

    defp schema(size) do
      keyword = :proper_types.lazy(fn -> keyword(size) end)
      :proper_types.bind(:proper_types.resize(3, :proper_types.list(keyword)), &Map.new/1, false)
    end

    defp keyword(size) do
      inner = :proper_types.lazy(fn -> schema(div(size, 3)) end)
      number = :proper_types.oneof([0, 1, 0.5, 1.0e20, -1.0e20, 0xFFFF_FFFF_FFFF_FFFF, -0x8000_0000_0000_0000])

      flat = [
        {"type", :proper_types.oneof(~w(null boolean integer number string array object))},
        {"const", :proper_types.oneof([number, string(), [], [1], %{}, %{"a" => 1}])},
        {"enum",
         :proper_types.bind({number, number, string()}, fn {n, m, s} -> [n, [m], %{"a" => m}, s, nil] end, false)},
        {"minimum", number},
        {"maximum", number},
        {"exclusiveMinimum", number},
        {"exclusiveMaximum", number},
        {"multipleOf", :proper_types.oneof([1, 3, 0.5, 1.0e20, 0x1_0000_0001])},
        {"minLength", :proper_types.integer(0, 5)},
        {"maxLength", :proper_types.integer(0, 20_000)},
        {"pattern", :proper_types.oneof(@patterns)},
        {"maxItems", :proper_types.integer(0, 5)},
        {"uniqueItems", true},
        {"required", [:proper_types.oneof(@names)]}
      ]

      nested = [
        {"items", inner},
        {"contains", inner},
        {"additionalProperties", inner},
        {"properties", :proper_types.bind({inner, inner}, fn {a, b} -> %{"a" => a, "name" => b} end, false)},
        {"not", inner},
        {"anyOf", [inner, inner]}
      ]

      :proper_types.oneof(if size < 2, do: flat, else: flat ++ nested)
    end

    @tag req: "F2"
    @tag slow: "hundreds of generated schemas"
    test "schemas and terms, against a plain reading of the keywords and against JSON" do
      property =
        forall({schema(), value()}, fn {schema, value} ->
          # Schemas cannot contain integers beyond 64 bits.
          case Validator.compile(schema) do
            {:ok, validator} -> same?(validator, schema, value)
            {:error, _error} -> true
          end
        end)

      holds(property, 500)
    end

    defp same?(validator, schema, value) do
      verdict = Validator.validate(validator, value)
      {:ok, read} = value |> JSON.encode!() |> JSON.decode()
      verdict == Validator.validate(validator, read) and verdict == :ok == fits?(schema, value)
    end

    defp fits?(schema, value), do: Enum.all?(schema, fn {keyword, asked} -> fits?(keyword, asked, value, schema) end)

    defp fits?("type", "integer", value, _), do: is_integer(value) or (is_float(value) and trunc(value) == value)
    defp fits?("type", type, value, _), do: type(value) == type
    defp fits?("const", asked, value, _), do: equal?(asked, value)
    defp fits?("enum", asked, value, _), do: Enum.any?(asked, &equal?(&1, value))
    defp fits?("not", asked, value, _), do: not fits?(asked, value)
    defp fits?("anyOf", asked, value, _), do: Enum.any?(asked, &fits?(&1, value))
    defp fits?("minimum", asked, value, _) when is_number(value), do: value >= asked
    defp fits?("maximum", asked, value, _) when is_number(value), do: value <= asked
    defp fits?("exclusiveMinimum", asked, value, _) when is_number(value), do: value > asked
    defp fits?("exclusiveMaximum", asked, value, _) when is_number(value), do: value < asked

    # All divisors and all floats here are multiples of one half.
    defp fits?("multipleOf", asked, value, _) when is_number(value), do: rem(halves(value), halves(asked)) == 0
    defp fits?("minLength", asked, value, _) when is_binary(value), do: length(String.to_charlist(value)) >= asked
    defp fits?("maxLength", asked, value, _) when is_binary(value), do: length(String.to_charlist(value)) <= asked

    # In JSON Schema `$` matches only the end. In Erlang it also matches before a final line break.
    defp fits?("pattern", asked, value, _) when is_binary(value),
      do: Regex.match?(Regex.compile!(String.replace(asked, "$", "\\z"), "u"), value)

    defp fits?("maxItems", asked, value, _) when is_list(value), do: length(value) <= asked
    defp fits?("items", asked, value, _) when is_list(value), do: Enum.all?(value, &fits?(asked, &1))
    defp fits?("contains", asked, value, _) when is_list(value), do: Enum.any?(value, &fits?(asked, &1))

    defp fits?("uniqueItems", true, value, _) when is_list(value),
      do: length(Enum.uniq_by(value, &exact/1)) == length(value)

    defp fits?("required", names, value, _) when is_map(value), do: Enum.all?(names, &is_map_key(value, &1))

    defp fits?("properties", asked, value, _) when is_map(value),
      do: Enum.all?(asked, fn {name, schema} -> not is_map_key(value, name) or fits?(schema, value[name]) end)

    defp fits?("additionalProperties", asked, value, schema) when is_map(value) do
      declared = Map.keys(Map.get(schema, "properties", %{}))
      value |> Map.drop(declared) |> Map.values() |> Enum.all?(&fits?(asked, &1))
    end

    defp fits?(_keyword, _asked, _value, _schema), do: true

    defp type(nil), do: "null"
    defp type(value) when is_boolean(value), do: "boolean"
    defp type(value) when is_number(value), do: "number"
    defp type(value) when is_binary(value), do: "string"
    defp type(value) when is_list(value), do: "array"
    defp type(value) when is_map(value), do: "object"

    defp equal?(one, other), do: exact(one) === exact(other)

    # A float with an integer value equals that integer.
    defp exact(value) when is_float(value), do: if(trunc(value) == value, do: trunc(value), else: value)
    defp exact(value) when is_list(value), do: Enum.map(value, &exact/1)
    defp exact(value) when is_map(value), do: Map.new(value, fn {name, value} -> {name, exact(value)} end)
    defp exact(value), do: value

    defp halves(value) when is_integer(value), do: value * 2
    defp halves(value), do: trunc(value * 2)
  end
end
