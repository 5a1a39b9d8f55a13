defmodule Bench.Startup do
  @moduledoc """
  The time from the start of a command to the answer of its first call, in a compiled project that depends on this
  repository by `git:`. Uncommitted changes are not measured. It also measures Mix in a project without dependencies.

  The processor time is of the whole command, until its end. `BENCH_ROUNDS` sets the number of measurements.
  """

  alias Bench.Measure
  alias McpServer.JSON

  @root Path.expand("..", __DIR__)

  @meta %{
    "io.modelcontextprotocol/protocolVersion" => "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities" => %{}
  }

  @request JSON.encode!(%{
             jsonrpc: "2.0",
             id: 1,
             method: "tools/call",
             params: %{name: "add", arguments: %{a: 1, b: 2}, _meta: @meta}
           })

  @server """
  defmodule Served.MCP do
    use McpServer.Router

    tool "add", "Adds two numbers", Served.Tools, :add do
      input_field "a", "The first", :integer, required: true
      input_field "b", "The second", :integer, required: true
    end
  end

  defmodule Served.Tools do
    use McpServer.Controller

    def add(_conn, %{"a" => a, "b" => b}), do: {:ok, [text("\#{a + b}")]}
  end
  """

  # The answer, then bash's times of the command: user and system seconds.
  @script ~S({ TIMEFORMAT='time %U %S'; time printf '%s\n' "$REQUEST" | "$@" 2>/dev/null; } 2>&1)

  def run do
    parent = Path.join(System.tmp_dir!(), "mcp_server_startup_#{System.pid()}")
    System.at_exit(fn _status -> File.rm_rf!(parent) end)
    empty = project(parent, "empty", "[]", "defmodule Empty do\nend\n")
    served = project(parent, "served", "[{:mcp_server, git: #{inspect(@root)}}]", @server)
    mix!(served, ["release"], "prod")
    measure(commands(empty, served))
    []
  end

  defp commands(empty, served) do
    release = Path.join(served, "_build/prod/rel/served/bin/served")

    [
      {"mix run, no dependencies", empty, ~w(mix run -e 0), nil},
      {"mix mcp.stdio", served, ~w(mix mcp.stdio Served.MCP), "3"},
      {"mix mcp.stdio --no-compile", served, ~w(mix mcp.stdio Served.MCP --no-compile), "3"},
      {"release, eval", served, [release, "eval", "McpServer.Stdio.run(Served.MCP, app: :served)"], "3"}
    ]
  end

  defp project(parent, name, dependencies, code) do
    folder = Path.join(parent, name)
    File.mkdir_p!(Path.join(folder, "lib"))
    File.write!(Path.join(folder, "lib/#{name}.ex"), code)

    File.write!(Path.join(folder, "mix.exs"), """
    defmodule #{Macro.camelize(name)}.MixProject do
      use Mix.Project
      def project, do: [app: :#{name}, version: "1.0.0", deps: #{dependencies}]
      def application, do: [extra_applications: [:logger]]
    end
    """)

    mix!(folder, ["do", "deps.get", "+", "compile"], "dev")
    folder
  end

  defp mix!(folder, arguments, env) do
    case System.cmd("mix", arguments, cd: folder, env: [{"MIX_ENV", env}], stderr_to_stdout: true) do
      {_output, 0} -> :ok
      {output, status} -> raise "mix #{Enum.join(arguments, " ")} ended with exit status #{status}:\n#{output}"
    end
  end

  defp measure(commands) do
    samples = for _round <- 1..rounds(), command <- commands, do: {elem(command, 0), sample(command)}
    times = Enum.group_by(samples, &elem(&1, 0), &elem(&1, 1))
    [{least, _folder, _words, _answer} | _others] = commands
    own = median(times[least], :cpu)

    rows =
      for {name, _folder, _words, _answer} <- commands do
        [wall, cpu] = for figure <- [:wall, :cpu], do: median(times[name], figure)
        [name, "#{round(wall)}", "#{round(cpu)}", Measure.ratio(cpu, own)]
      end

    Measure.table("startup, medians of #{rounds()} rounds", ["", "first answer ms", "CPU ms", "CPU ratio"], rows)
  end

  defp rounds, do: String.to_integer(System.get_env("BENCH_ROUNDS", "11"))
  defp median(samples, figure), do: samples |> Enum.map(& &1[figure]) |> Enum.sort() |> Enum.at(div(length(samples), 2))

  defp sample({name, folder, words, answer}) do
    env = for {key, value} <- [{"REQUEST", @request}, {"MIX_ENV", "dev"}], do: {to_charlist(key), to_charlist(value)}
    options = [:binary, :exit_status, line: 100_000, cd: folder, env: env, args: ["-c", @script, "bash" | words]]
    began = System.monotonic_time(:microsecond)
    port = Port.open({:spawn_executable, System.find_executable("bash")}, options)
    first = line(port, name)
    wall = (System.monotonic_time(:microsecond) - began) / 1000
    if answer, do: check!(name, first, answer)
    "time " <> times = if answer, do: line(port, name), else: first
    %{wall: wall, cpu: times |> String.split() |> Enum.map(&String.to_float/1) |> Enum.sum() |> Kernel.*(1000)}
  end

  defp check!(name, line, answer) do
    %{"result" => %{"content" => [%{"text" => text}]}} = JSON.decode!(line)
    text == answer || raise "#{name} answered #{text}, not #{answer}"
  end

  defp line(port, name) do
    receive do
      {^port, {:data, {:eol, line}}} -> line
      {^port, {:exit_status, status}} -> raise "#{name} ended with exit status #{status}"
    after
      60_000 -> raise "#{name} has not answered for a minute"
    end
  end
end
