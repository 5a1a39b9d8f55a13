defmodule McpServer.Schema.StepsTest do
  # The step count of checks whose schema makes single values expensive.
  use ExUnit.Case, async: true

  alias McpServer.{JSON, Native}
  alias McpServer.Schema.Validator

  defp compile!(schema, options \\ []) do
    {:ok, validator} = Validator.compile(schema, options)
    validator
  end

  # `:over_budget` means that the check must run on a dirty scheduler.
  defp inline(schema, value, options \\ []) do
    case Native.schema_validate(compile!(schema, options).ref, value) do
      {:error, _problems} -> :error
      other -> other
    end
  end

  defp message(schema, value, options \\ []) do
    {:error, error} = Validator.validate(compile!(schema, options), value)
    Exception.message(error)
  end

  @too_much "(root): must be a value simple enough to be checked against the schema (schema)"

  defp pattern(text), do: %{"pattern" => text}

  describe "patterns" do
    @tag req: "Y3"
    test "common ones leave the scheduler with no string of 64 KB" do
      for {text, string} <- [
            {"^[a-z0-9-]+$", String.duplicate("a-1", 20_000)},
            {"^\\d{4}-\\d{2}-\\d{2}$", "2026-11-21"},
            {"^[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\\.[a-zA-Z]{2,}$", String.duplicate("a", 60_000) <> "@b.org"},
            {"^[^\\s@]{1,64}@[^\\s@]{1,255}$", String.duplicate("a", 64) <> "@" <> String.duplicate("b", 255)},
            {"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==)?$", String.duplicate("aB1/", 16_000)},
            {"^.{1,255}$", String.duplicate("é", 255)}
          ],
          do: assert({text, inline(pattern(text), string)} == {text, :ok})
    end

    @tag req: "Y3"
    test "one that remembers every place is counted by its size" do
      # Producing the error takes twice the steps of the check.
      for {text, fitting, too_long} <- [{"a.{0,1000}b", 2, 5}, {"a.{0,50}b", 43, 89}] do
        assert {text, inline(pattern(text), String.duplicate("a", fitting))} == {text, :error}
        assert {text, inline(pattern(text), String.duplicate("a", too_long))} == {text, :over_budget}
      end

      assert inline(pattern("^.*a.{0,100}$"), String.duplicate("a", 43)) == :ok
      assert inline(pattern("^.*a.{0,100}$"), String.duplicate("a", 45)) == :over_budget
    end

    @tag req: "Y3"
    test "and refused beyond the steps of a check" do
      string = for n <- 1..6_000, into: "", do: if(rem(n * n, 7) > 2, do: "a", else: "c")

      assert message(pattern("a.{0,50}b"), string) ==
               "(root): must be a string that matches the pattern a.{0,50}b (pattern)"

      assert message(pattern("a.{0,1000}b"), string) == @too_much
      assert message(pattern("a.{0,50}b"), string, max_steps: 1_000_000) == @too_much
    end

    @tag req: "Y3"
    test "names are counted as what they are matched against" do
      name = String.duplicate("a", 400)
      heavy = %{"a.{0,50}b" => true}
      assert inline(%{"patternProperties" => %{"^a+$" => true}}, %{name => 1}) == :ok
      assert inline(%{"patternProperties" => heavy}, %{name => 1}) == :over_budget
      assert inline(%{"propertyNames" => pattern("^a+$")}, %{name => 1}) == :ok
      assert inline(%{"propertyNames" => pattern("a.{0,50}b")}, %{name => 1}) == :over_budget

      behind = %{"$ref" => "#/$defs/name", "$defs" => %{"name" => pattern("a.{0,50}b")}}

      assert inline(%{"propertyNames" => %{"anyOf" => [behind, true]}} |> Map.merge(Map.take(behind, ["$defs"])), %{
               name => 1
             }) == :over_budget

      nested = %{"allOf" => [%{"patternProperties" => heavy}], "unevaluatedProperties" => false}
      assert inline(nested, %{name => 1}) == :over_budget
    end
  end

  describe "whole values" do
    @tag req: "Y3"
    test "an enum of 1,000 arrays against one of 190,000 takes a look at each" do
      schema = %{"enum" => for(n <- 1..1_000, do: [n])}
      zeros = List.duplicate(0, 190_000)
      assert message(schema, zeros, max_steps: 2_000) =~ ~r/^\(root\): must be one of \[1\], \[2\]/
      assert message(schema, zeros, max_steps: 1_000) == @too_much
      assert inline(schema, List.duplicate(0, 10_000)) == :error
    end

    @tag req: "Y3"
    test "a const is compared up to the first difference, and counted" do
      constant = for n <- 1..1_000, do: %{"n" => n}
      assert message(%{"const" => constant}, [1 | tl(constant)], max_steps: 20) =~ "(const)"
      assert message(%{"const" => constant}, constant, max_steps: 1_000) == @too_much
      assert Validator.validate(compile!(%{"const" => constant}, max_steps: 10_000), constant) == :ok
    end

    @tag req: "Y3"
    test "uniqueItems is counted by what is compared, not by the number of items" do
      long = for n <- 1..12, do: Enum.to_list(1..800) ++ [n]
      schema = %{"uniqueItems" => true}
      assert inline(schema, Enum.take(long, 2)) == :ok
      assert inline(schema, long) == :over_budget
      assert Validator.validate(compile!(schema), long) == :ok
      assert message(schema, long ++ [hd(long)]) == "(root): must be an array without duplicates (uniqueItems)"
      assert message(schema, long, max_steps: 10_000) == @too_much
    end
  end

  describe "long integers" do
    defp digits(count), do: Integer.pow(10, count) - 1

    @tag req: "Y3"
    test "are counted by their digits, in each keyword that reads them" do
      long = digits(1_600)

      for {keyword, value} <- [
            {"minimum", 0},
            {"minimum", -1.0e300},
            {"exclusiveMinimum", 1.7976931348623157e308},
            {"multipleOf", 9},
            {"multipleOf", 0.01},
            {"const", 1.0e300},
            {"enum", [1, 1.0e300]}
          ] do
        schema = %{"anyOf" => [%{keyword => value}, true]}
        # Four digits are a step; the keyword may read them twice.
        assert {keyword, message(schema, long, max_steps: 400)} == {keyword, @too_much}
        assert {keyword, Validator.validate(compile!(schema, max_steps: 1_300), long)} == {keyword, :ok}
        assert {keyword, Validator.validate(compile!(schema, max_steps: 20), 1)} == {keyword, :ok}
        assert {keyword, Validator.validate(compile!(schema, max_steps: 20), 0.5)} == {keyword, :ok}
      end
    end

    @tag req: "Y3"
    test "are compared in uniqueItems only if they are equal" do
      schema = %{"uniqueItems" => true}

      # Integers in a row have one nearest float, which beyond 1.8e308 is none.
      for {first, count, steps} <- [
            {1_800_000_000_000_000_000, 20_000, 100_000},
            {digits(26), 2_000, 30_000},
            {digits(300), 1_000, 100_000},
            {digits(400), 1_000, 130_000}
          ] do
        integers = Enum.to_list(first..(first + count - 1))
        validator = compile!(schema, max_steps: steps)
        assert {first, Validator.validate(validator, integers)} == {first, :ok}
        assert {:error, error} = Validator.validate(validator, [first + count - 1 | integers])
        assert Exception.message(error) == "(root): must be an array without duplicates (uniqueItems)"
      end
    end
  end

  describe "a call" do
    defp catalog!(schema) do
      tool = %{name: "t", description: "d", inputSchema: %{type: "object", properties: %{x: schema}}}
      definition = %{server: %{info: %{name: "s", version: "1"}}, tools: [tool], toolRules: [%{}]}
      {:ok, catalog} = Native.catalog_new(JSON.encode!(definition), [], {%{}, %{}}, nil)
      catalog
    end

    defp call(id, arguments) do
      JSON.encode!(%{jsonrpc: "2.0", id: id, method: "tools/call", params: %{name: "t", arguments: arguments}})
    end

    @tag req: "Y3"
    test "the messages of a batch share what one may take on a normal scheduler" do
      catalog = catalog!(%{items: %{anyOf: for(n <- 1..50, do: %{const: "k#{n}"}) ++ [%{type: "integer"}]}})
      batch = fn count -> "[" <> Enum.map_join(1..count, ",", &call(&1, %{x: List.duplicate(0, 30)})) <> "]" end
      assert {:batch, calls} = Native.admit(catalog, nil, "2025-03-26", batch.(4))
      assert length(calls) == 4
      assert Native.admit(catalog, nil, "2025-03-26", batch.(50)) == :over_budget
      assert {:batch, calls} = Native.Dirty.call(fn -> Native.admit_dirty(catalog, nil, "2025-03-26", batch.(50)) end)
      assert length(calls) == 50
    end

    @tag req: "Y3"
    test "arguments that do not fit take of it, too" do
      catalog = catalog!(%{type: "string"})
      batch = fn count -> "[" <> Enum.map_join(1..count, ",", &call(&1, %{x: 1})) <> "]" end
      assert {:batch, [{:reply, _answer} | _answers]} = Native.admit(catalog, nil, "2025-03-26", batch.(3))
      assert Native.admit(catalog, nil, "2025-03-26", batch.(50)) == :over_budget
    end

    @tag req: "Y3"
    test "looking for properties makes no terms" do
      alternatives = for n <- 1..40, do: %{required: ["k#{n}"], properties: %{"k#{n}" => %{type: "string"}}}
      catalog = catalog!(%{items: %{anyOf: alternatives ++ [%{}]}})
      message = call(1, %{x: List.duplicate(%{a: 1}, 20_000)})

      memory =
        Task.async(fn ->
          :erlang.garbage_collect()
          {:memory, before} = Process.info(self(), :memory)
          admit = fn -> Native.admit_dirty(catalog, nil, "2025-11-25", message) end
          assert {:request, _fields} = Native.Dirty.call(admit)
          {:memory, later} = Process.info(self(), :memory)
          later - before
        end)
        |> Task.await(:infinity)

      # The arguments take 64 bytes an object. Earlier, a term for each visit took 24 more for each of 40.
      assert memory < 8_000_000
    end
  end
end
