for file <- ~w(http/request http/router), do: Code.require_file("#{file}.exs", __DIR__)

defmodule Bench.Refusals do
  @moduledoc """
  The time to refuse messages that are nested too deeply, from the received line to the answer:
  brackets 129, 100,000 and ten million deep, as the message and in the arguments of a call.

  Each answer is checked first. Times are microseconds of processor time, with wall time in brackets.
  """

  alias Bench.Http.Router
  alias Bench.Measure
  alias McpServer.{JSON, Protocol}

  @at_most_us 5_000
  @depths [129, 100_000, 10_000_000]
  @initialized %{transport: :stdio, revision: "2025-11-25", initialized: true}

  def run do
    catalog = McpServer.Catalog.fetch(Router)
    refusals = for {name, line} <- lines(), do: {name, fn -> Protocol.admit(catalog, @initialized, line) end}
    for {name, refusal} <- refusals, do: refused!(name, refusal.())

    times = for {name, refusal} <- refusals, do: {name, Measure.timings([{"ours", refusal}])["ours"]}
    rows = for {name, time} <- times, do: [name, Measure.both(time)]
    Measure.table("Refuse what is nested too deep, µs of processor time (and of the clock)", ["", "ours"], rows)

    for {name, time} <- times do
      {"#{name}: #{Measure.us(time.cpu)} µs, at most #{@at_most_us} µs", time.cpu <= @at_most_us}
    end
  end

  defp lines do
    for depth <- @depths, {where, line} <- [alone: &message/1, in_arguments: &arguments/1] do
      {"#{depth} levels, #{where}", line.(depth)}
    end
  end

  defp message(depth), do: String.duplicate("[", depth)

  # The arguments are the third level. Closing brackets are left out, so that ten million levels fit into a message.
  defp arguments(depth) do
    start = ~s({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":)
    start <> String.duplicate("[", depth - 3)
  end

  defp refused!(name, {:reply, reply}) do
    %{"error" => %{"code" => code}} = JSON.decode!(reply)
    code == -32_700 || raise "#{name}: answered with #{code}"
  end
end
