for file <- ~w(http/request), do: Code.require_file("#{file}.exs", __DIR__)

defmodule Bench.Lists do
  @moduledoc """
  Answers `tools/list` of 100 tools at every revision: from the received line to the bytes of the answer, without
  a pipe or socket.

  It takes turns with encoding the tools as maps for each answer with `McpServer.JSON`. The first answer
  of each revision is read back, and must contain the tools.
  Times are microseconds of processor time, with wall time in brackets.
  """

  alias Bench.Http.Request
  alias Bench.{Measure, Workloads}
  alias McpServer.{JSON, Protocol}

  @at_most_us 1
  @sessions ~w(2024-11-05 2025-03-26 2025-06-18 2025-11-25)
  @stateless "2026-07-28"
  @anew "written anew"

  defmodule Router do
    use McpServer.Router

    for i <- 1..100 do
      tool "tool_#{i}", "Searches the collection number #{i}", Bench.Lists, :search, input_schema: Workloads.schema()
    end
  end

  def search(_conn, _args), do: {:ok, []}

  def run do
    catalog = McpServer.Catalog.fetch(Router)
    lists = for {revision, line, facts} <- requests(), do: {revision, fn -> Protocol.admit(catalog, facts, line) end}
    replies = for {revision, list} <- lists, do: {revision, list!(revision, list)}

    {_newest, reply} = List.last(replies)
    tools = Map.take(JSON.decode!(reply)["result"], ["tools"])
    times = Measure.timings(lists ++ [{@anew, fn -> JSON.encode!(tools) end}])

    sizes =
      for({revision, reply} <- replies, do: {revision, byte_size(reply)}) ++ [{@anew, byte_size(JSON.encode!(tools))}]

    rows = for {name, bytes} <- sizes, do: [name, "#{bytes}", Measure.both(times[name])]

    Measure.table(
      "Answer tools/list of 100 tools, µs of processor time (and of the clock)",
      ["", "bytes", "ours"],
      rows
    )

    for {revision, _reply} <- replies, time = times[revision].cpu do
      {"tools/list, #{revision}: #{Measure.us(time)} µs, at most #{@at_most_us} µs", time <= @at_most_us}
    end
  end

  defp requests do
    line = ~s({"jsonrpc":"2.0","id":1,"method":"tools/list"})

    for(revision <- @sessions, do: {revision, line, %{transport: :stdio, revision: revision, initialized: true}}) ++
      [{@stateless, Request.list().body, %{transport: :stdio, revision: nil, initialized: false}}]
  end

  # Returns the answer if it is the list.
  defp list!(revision, list) do
    {:reply, reply} = list.()
    reply = IO.iodata_to_binary(reply)
    %{"result" => %{"tools" => [%{"name" => "tool_1", "inputSchema" => schema} | _] = tools}} = JSON.decode!(reply)
    (length(tools) == 100 and schema == Workloads.schema()) || raise "#{revision}: not the tools of the router"
    reply
  end
end
