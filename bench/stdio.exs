for file <- ~w(http/request stdio/client), do: Code.require_file("#{file}.exs", __DIR__)

defmodule Bench.Stdio do
  @moduledoc """
  The tool `echo` over stdio, compared with servers on the official SDKs: calls sent all at once and one after the
  other, with requests of 2025-11-25 and of 2026-07-28.

  The same client sends the same bytes from a file to each server. Its figures with `cat` instead of a server are shown
  too. rmcp can serve stdio in two ways, as in its examples and for pipes; both take part. `BENCH_ROUNDS` sets the
  number of measurements.
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

    for era <- [:session, :stateless], target <- measure(contenders, client, Request.echo(era)), do: target
  end

  defp measure(contenders, client, request) do
    IO.puts("\nstdio: #{request.name}, medians of #{rounds()} rounds")
    pipelined = medians(contenders, client, request, @pipelined, &Client.pipelined/1)
    Measure.table("#{@pipelined} calls at once", ["", "calls/s", "CPU µs"], rows(pipelined, &pipelined_row/1))
    sequential = medians(contenders, client, request, @sequential, &Client.sequential/1)
    header = ["", "p50 µs", "p99 µs", "CPU µs"]
    Measure.table("#{@sequential} calls, one after the other", header, rows(sequential, &sequential_row/1))
    for {text, met?} <- targets(Map.new(pipelined), Map.new(sequential)), do: {"stdio, #{request.era}, #{text}", met?}
  end

  defp medians(contenders, client, request, count, measure) do
    lines = write("lines_#{count}", for(id <- 1..count, do: [call(request, id), ?\n]))
    opening = write("opening", [Request.initialize().body, ?\n, Request.initialized().body, ?\n])
    clients = for {name, command} <- contenders, do: Client.start(name, command, client, opening, lines)
    Enum.each(clients, &check!(&1, request))
    # Warms the servers up.
    Enum.each(clients, measure)

    runs = for _round <- 1..rounds(), client <- clients, do: {client.name, measure.(client)}
    Enum.each(clients, &Client.stop/1)
    for {name, _command} <- contenders, do: {name, median(for {^name, figures} <- runs, do: figures)}
  end

  defp median([first | _] = runs) do
    Map.new(first, fn {key, _value} -> {key, Enum.at(Enum.sort(Enum.map(runs, & &1[key])), div(length(runs), 2))} end)
  end

  defp call(request, id), do: String.replace_prefix(request.body, ~s({"id":1,), ~s({"id":#{id},))

  # Only equal answers can be compared.
  defp check!(%{name: "cat"}, _request), do: :ok

  defp check!(client, request) do
    answer = client |> Client.ask() |> JSON.decode!()

    with %{"id" => 1, "jsonrpc" => "2.0", "result" => result} <- answer,
         true <- plain(result) == request.answer do
      :ok
    else
      _other -> raise "#{client.name} does not give the expected answer: #{inspect(answer)}"
    end
  end

  # Drops the members that only some revisions have, and members without meaning.
  defp plain(result) do
    result = Map.drop(result, ~w(_meta resultType))
    if result["isError"] == false, do: Map.delete(result, "isError"), else: result
  end

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
      at_least(pipelined, "rmcp, pipes", 1.0),
      at_least(pipelined, "typescript", 2.2),
      at_most_processor(pipelined, 10),
      no_longer(sequential, "rmcp, pipes", 1.3)
    ]
  end

  defp no_longer(medians, other, most) do
    ratio = medians[@ours].p50 / medians[other].p50
    {"one after the other: #{Float.round(ratio, 2)}× the time of #{other}, at most #{most}×", ratio <= most}
  end

  defp at_least(medians, other, least) do
    ratio = per_second(medians[@ours]) / per_second(medians[other])
    {"all at once: #{Float.round(ratio, 2)}× #{other}, at least #{least}×", ratio >= least}
  end

  defp at_most_processor(medians, most) do
    time = medians[@ours].processor / @pipelined
    {"all at once: #{Measure.us(time)} µs of processor time a call, at most #{most}", time <= most}
  end
end
