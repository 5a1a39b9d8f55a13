defmodule Mix.McpServer.RefusedRouter do
  # A router that mix has compiled, and that cannot work. When that is known its compiler has done its work: an error
  # raised then would end the process of mix, and no editor would hear of it. So the errors become diagnostics of the
  # compiler, which fails with them.
  #
  # The compiler has kept the router, and would find nothing to do the next time. A file remembers that it was refused.
  @moduledoc false

  alias Mix.Task.Compiler.Diagnostic

  @type problem :: {McpServer.Router.Refusal.place(), message :: String.t()}

  @doc "Whether mix compiles the router for the project, and so asks for the diagnostics."
  @spec compiled_here?(module) :: boolean
  def compiled_here?(router) do
    List.keymember?(Application.started_applications(), :mix, 0) and Mix.Project.get() != nil and
      in_directory?(:code.which(router), Mix.Project.compile_path())
  end

  # What is not in a file has an atom for it, or an empty path.
  defp in_directory?(file, directory), do: is_list(file) and Path.dirname(List.to_string(file)) == directory

  @doc "Keeps what is wrong with the router, `[]` for nothing, and lets the compiler fail with it."
  @spec report(module, [problem]) :: :ok
  def report(router, []), do: router |> mark() |> File.rm() |> then(fn _result -> :ok end)

  def report(router, problems) do
    router |> mark() |> File.write!("")
    Mix.Task.Compiler.after_compiler(:elixir, &fail(&1, router, problems))
  end

  @doc "Whether the router was refused when it was last compiled."
  @spec refused?(module) :: boolean
  def refused?(router), do: router |> mark() |> File.exists?()

  defp mark(router), do: Path.join(Mix.Project.manifest_path(), "compile.mcp_server.#{inspect(router)}")

  defp fail({_status, diagnostics}, router, problems) do
    for {{file, line}, message} <- problems do
      Mix.shell().error("error: #{message}\n  #{file}:#{line}: #{inspect(router)} (module)\n")
    end

    {:error, diagnostics ++ Enum.map(problems, &diagnostic/1)}
  end

  defp diagnostic({{file, line}, message}) do
    %Diagnostic{
      compiler_name: "McpServer.Router",
      file: Path.absname(file),
      position: line,
      severity: :error,
      message: message
    }
  end
end
