for file <- ~w(http/request stdio/client), do: Code.require_file("#{file}.exs", __DIR__)

defmodule Bench.Stdio do
  @moduledoc """
  The tool `echo` over stdio, against servers on the official SDKs: calls sent all at once, and one after the other.

  One client for all writes the same bytes from a file; what it reaches with `cat` in the place of a server is shown
  beside. rmcp has two ways to serve stdio, the one of its examples and one for pipes; both take part. `BENCH_ROUNDS`
  changes how often is measured.
  """

  alias Bench.Http.Request
  alias Bench.Measure
  alias Bench.Stdio.Client
  alias McpServer.JSON

  @root Path.expand("..", __DIR__)
  @folder "_build/yardsticks"

  @pipelined 50_000
  @sequential 5_000
  @ours "mcp_server"

  def run do
    case System.cmd(Path.join(@root, "bench/yardsticks/build"), ["stdio"], cd: @root) do
      {output, 0} -> measure(String.split(output, "\n", trim: true))
      {_output, _status} -> not_measured()
    end
  end

  defp not_measured do
    IO.puts("stdio is not measured: the yardsticks could not be built, see above")
    []
  end

  defp measure([node, rmcp, client]) do
    tools = write("tools.json", JSON.encode!(Request.tools()))

    contenders = [
      {@ours, [System.find_executable("mix"), "run", "--no-compile", "bench/stdio/serve.exs"]},
      {"rmcp", [rmcp, tools, "stdio"]},
      {"rmcp, pipes", [rmcp, tools, "pipes"]},
      {"typescript", [node, "--no-warnings", "bench/yardsticks/typescript/stdio.mjs", tools]},
      {"cat", [System.find_executable("cat")]}
    ]

    IO.puts("\nstdio: #{Request.echo(:session).name}, medians of #{rounds()} rounds")
    pipelined = medians(contenders, client, @pipelined, &Client.pipelined/1)
    Measure.table("#{@pipelined} calls at once", ["", "calls/s", "CPU µs"], rows(pipelined, &pipelined_row/1))
    sequential = medians(contenders, client, @sequential, &Client.sequential/1)
    header = ["", "p50 µs", "p99 µs", "CPU µs"]
    Measure.table("#{@sequential} calls, one after the other", header, rows(sequential, &sequential_row/1))
    targets(Map.new(pipelined), Map.new(sequential))
  end

  defp medians(contenders, client, count, measure) do
    lines = write("lines_#{count}", for(id <- 1..count, do: [call(id), ?\n]))
    opening = write("opening", [Request.initialize().body, ?\n, Request.initialized().body, ?\n])
    clients = for {name, command} <- contenders, do: Client.start(name, command, client, opening, lines)
    Enum.each(clients, &check!/1)
    # Warms the servers up.
    Enum.each(clients, measure)

    runs = for _round <- 1..rounds(), client <- clients, do: {client.name, measure.(client)}
    Enum.each(clients, &Client.stop/1)
    for {name, _command} <- contenders, do: {name, median(for {^name, figures} <- runs, do: figures)}
  end

  defp median([first | _] = runs) do
    Map.new(first, fn {key, _value} -> {key, Enum.at(Enum.sort(Enum.map(runs, & &1[key])), div(length(runs), 2))} end)
  end

  defp call(id), do: String.replace_prefix(Request.echo(:session).body, ~s({"id":1,), ~s({"id":#{id},))

  # Speed says nothing before the answers agree.
  defp check!(%{name: "cat"}), do: :ok

  defp check!(client) do
    answer = client |> Client.ask() |> JSON.decode!()

    with %{"id" => 1, "jsonrpc" => "2.0", "result" => result} <- answer,
         true <- plain(result) == Request.echo(:session).answer do
      :ok
    else
      _other -> raise "#{client.name} does not give the expected answer: #{inspect(answer)}"
    end
  end

  # What says nothing by being there.
  defp plain(%{"isError" => false} = result), do: Map.delete(result, "isError")
  defp plain(result), do: result

  defp write(name, text) do
    path = Path.join([@root, @folder, name])
    File.write!(path, text)
    path
  end

  defp rounds, do: String.to_integer(System.get_env("BENCH_ROUNDS", "5"))

  defp rows(medians, row), do: for({name, figures} <- medians, do: [name | row.(figures)])

  defp pipelined_row(figures), do: ["#{round(per_second(figures))}", Measure.us(figures.processor / @pipelined)]

  defp sequential_row(figures),
    do: [Measure.us(figures.p50 / 1000), Measure.us(figures.p99 / 1000), Measure.us(figures.processor / @sequential)]

  defp per_second(%{elapsed: elapsed}), do: @pipelined * 1_000_000 / elapsed

  defp targets(pipelined, sequential) do
    [
      at_least(pipelined, "rmcp", 5),
      at_least(pipelined, "rmcp, pipes", 5),
      at_least(pipelined, "typescript", 3),
      no_longer(sequential, "rmcp"),
      no_longer(sequential, "rmcp, pipes")
    ]
  end

  defp no_longer(medians, other) do
    ratio = medians[@ours].p50 / medians[other].p50
    {"stdio, round trip: #{Float.round(ratio, 2)}× the time of #{other}, at most 1×", ratio <= 1}
  end

  defp at_least(medians, other, least) do
    ratio = per_second(medians[@ours]) / per_second(medians[other])
    {"stdio, pipelined: #{Float.round(ratio, 2)}× #{other}, at least #{least}×", ratio >= least}
  end
end
