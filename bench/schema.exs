defmodule Bench.Schema do
  @moduledoc """
  Validation of a tool's arguments, six fields that are all present, and of a tool's output, 10,000 rows of five fields.

  It takes turns with the `jsonschema` crate on an existing `serde_json::Value`: native Rust, without the time
  for building a tree from terms. Ours is the whole call, `McpServer.Schema.Validator.validate/2`.
  Times are microseconds of processor time, with wall time in brackets.
  """

  alias Bench.{Measure, Native, Workloads}
  alias McpServer.JSON
  alias McpServer.Schema.Validator

  @at_most_us 0.5

  def run do
    cases = [{"6 fields", Workloads.schema(), Workloads.arguments()}, {"10,000 rows", rows_schema(), rows()}]
    native = Native.start(for {name, schema, value} <- cases, do: {name, [JSON.encode!(schema), JSON.encode!(value)]})
    results = for {name, schema, value} <- cases, do: {name, measure(name, schema, value, native)}
    if native, do: Native.stop(native)

    names = for name <- ~w(ours Value), is_map_key(elem(hd(results), 1), name), do: name
    rows = for {name, times} <- results, do: [name | Enum.map(names, &Measure.both(times[&1]))]
    Measure.table("Validate, µs of processor time (and of the clock)", ["" | names], rows)

    {"6 fields", %{"ours" => %{cpu: time}}} = hd(results)
    [{"validate 6 fields: #{Measure.us(time)} µs, at most #{@at_most_us} µs", time <= @at_most_us}]
  end

  defp measure(name, schema, value, native) do
    {:ok, validator} = Validator.compile(schema)
    :ok = Validator.validate(validator, value)
    {:error, %{problems: [_problem]}} = Validator.validate(validator, spoilt(value))
    native = if native, do: [{"Value", Native.task(native, "validate #{name}")}], else: []
    Measure.timings([{"ours", fn -> Validator.validate(validator, value) end} | native])
  end

  # One invalid value, at the end of the checked values.
  defp spoilt(%{"limit" => _limit} = arguments), do: %{arguments | "limit" => 101}
  defp spoilt(%{"rows" => rows} = output), do: %{output | "rows" => rows ++ [%{hd(rows) | "id" => "1"}]}

  defp rows_schema do
    properties = %{
      "id" => %{"type" => "integer"},
      "name" => %{"type" => "string"},
      "email" => %{"type" => "string"},
      "balance" => %{"type" => "number"},
      "active" => %{"type" => "boolean"}
    }

    row = %{"type" => "object", "properties" => properties, "required" => ["id", "name", "email"]}
    %{"type" => "object", "properties" => %{"rows" => %{"type" => "array", "items" => row}}, "required" => ["rows"]}
  end

  defp rows do
    {"W4", output, output} = List.keyfind(Workloads.all(), "W4", 0)
    output["structuredContent"]
  end
end
