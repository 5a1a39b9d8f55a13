defmodule Bench.Schema do
  @moduledoc "Checking a tool's arguments: six fields, all of them given."

  alias Bench.{Measure, Workloads}
  alias McpServer.Schema.Validator

  @at_most_us 0.5

  def run do
    {:ok, validator} = Validator.compile(Workloads.schema())
    arguments = Workloads.arguments()
    :ok = Validator.validate(validator, arguments)
    {:error, %{problems: [_problem]}} = Validator.validate(validator, %{arguments | "limit" => 101})

    %{"ours" => time} = Measure.medians([{"ours", fn -> Validator.validate(validator, arguments) end}])
    Measure.table("Validate arguments, µs", ["", "ours"], [["6 fields", Measure.us(time)]])
    [{"validate 6 fields: #{Measure.us(time)} µs, at most #{@at_most_us} µs", time <= @at_most_us}]
  end
end
