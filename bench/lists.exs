defmodule Bench.Lists do
  @moduledoc "Answering `tools/list` of 100 tools: from the line that came in to the bytes that go out, without the pipe."

  alias Bench.{Measure, Workloads}

  @at_most_us 1

  defmodule Router do
    use McpServer.Router

    for i <- 1..100 do
      tool "tool_#{i}", "Searches the collection number #{i}", Bench.Lists, :search, input_schema: Workloads.schema()
    end
  end

  def search(_conn, _args), do: {:ok, []}

  def run do
    catalog = McpServer.Catalog.fetch(Router)
    facts = %{transport: :stdio, revision: "2025-11-25", initialized: true}
    line = ~s({"jsonrpc":"2.0","id":1,"method":"tools/list"})
    {:reply, reply} = McpServer.Protocol.admit(catalog, facts, line)
    %{"result" => %{"tools" => tools}} = McpServer.JSON.decode!(IO.iodata_to_binary(reply))
    100 = length(tools)

    times = Measure.medians([{"ours", fn -> McpServer.Protocol.admit(catalog, facts, line) end}])
    bytes = IO.iodata_length(reply)
    Measure.table("Answer tools/list, µs", ["", "ours"], [["100 tools, #{bytes} bytes", Measure.us(times["ours"])]])
    [{"tools/list: #{Measure.us(times["ours"])} µs, at most #{@at_most_us} µs", times["ours"] <= @at_most_us}]
  end
end
