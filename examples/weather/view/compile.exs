defmodule Mix.Tasks.Compile.WeatherView do
  @moduledoc """
  Builds the view: `view/forecast.html` with `view/forecast.mjs` and the official client of MCP Apps bundled into it.

  The document ends up in `priv` of the compiled application. It is built again when something in `view` has changed.
  """
  use Mix.Task.Compiler

  @folder __DIR__
  @sources ~w(build.mjs forecast.css forecast.html forecast.mjs package-lock.json)

  @impl true
  def run(_arguments) do
    if Mix.Utils.stale?(Enum.map(@sources, &Path.join(@folder, &1)), [document()]) do
      if not File.dir?(Path.join(@folder, "node_modules")),
        do: command!("npm", ~w(ci --ignore-scripts --no-audit --no-fund))

      File.mkdir_p!(Path.dirname(document()))
      command!("node", ["build.mjs", document()])
      {:ok, []}
    else
      {:noop, []}
    end
  end

  @impl true
  def clean, do: File.rm(document())

  defp document, do: Path.join(Mix.Project.app_path(), "priv/forecast.html")

  # stdout may belong to a client of `mix mcp.stdio`, so what these print goes to stderr.
  defp command!(name, arguments) do
    program = System.find_executable(name) || Mix.raise("the view is built with Node.js 20 or later: install #{name}")

    case System.cmd(program, arguments, cd: @folder, stderr_to_stdout: true) do
      {_output, 0} -> :ok
      {output, status} -> Mix.raise("#{name} #{hd(arguments)} failed with status #{status}:\n#{output}")
    end
  end
end
