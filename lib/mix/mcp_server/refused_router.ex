defmodule Mix.McpServer.RefusedRouter do
  # A router that mix has compiled, but that is invalid. The errors are found after the compilation of the module. An
  # exception would then end the process of mix, and editors would not get it. So the errors become diagnostics of the
  # compiler, which then fails.
  #
  # The module is compiled, so the next run would not compile it again. A file marks it as refused.
  @moduledoc false

  alias Mix.Task.Compiler.Diagnostic

  @type problem :: {McpServer.Router.Refusal.place(), message :: String.t()}

  @doc "Whether mix compiles the router for the project, and so needs the diagnostics."
  @spec compiled_here?(module) :: boolean
  def compiled_here?(router) do
    List.keymember?(Application.started_applications(), :mix, 0) and Mix.Project.get() != nil and
      in_directory?(:code.which(router), Mix.Project.compile_path())
  end

  # The file of a module without one is an atom or an empty path.
  defp in_directory?(file, directory), do: is_list(file) and Path.dirname(List.to_string(file)) == directory

  @doc "Reports the problems of the router to the compiler, which then fails. `[]` removes the mark."
  @spec report(module, [problem]) :: :ok
  def report(router, []), do: router |> mark() |> File.rm() |> then(fn _result -> :ok end)

  def report(router, problems) do
    router |> mark() |> File.write!("")
    Mix.Task.Compiler.after_compiler(:elixir, &fail(&1, router, problems))
  end

  @doc "Whether the last compilation refused the router."
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
