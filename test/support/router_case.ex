defmodule McpServer.RouterCase do
  @moduledoc false
  # Compiles routers from text, and reports the line and text of a refusal.

  use ExUnit.CaseTemplate

  import ExUnit.Assertions

  using do
    quote do
      import McpServer.RouterCase

      # The compiler's processes log the reason of their exit.
      @moduletag :capture_log
    end
  end

  @doc "Compiles a router, and returns its module. The statements start on line 3. `options` are those of `use`."
  def router!(statements, options \\ "") do
    case compile(statements, options) do
      {:ok, module} -> module
      {:refused, error} -> flunk("the router was refused: #{Exception.message(error)}")
    end
  end

  @doc "Asserts that a router is refused at that line. The text must be equal to `message`, or match a regex."
  def assert_refused(line, message, statements, options \\ "") do
    compiled = compile(statements, options)
    assert {:refused, %CompileError{file: "router.ex", line: ^line, description: description}} = compiled

    if is_binary(message),
      do: assert(description == message),
      else: assert(description =~ message)
  end

  # A check that runs after the compilation refuses a router by ending the compiling process. So a separate process
  # compiles it.
  defp compile(statements, options) do
    name = "RouterCase#{System.unique_integer([:positive])}"
    source = "defmodule #{name} do\nuse McpServer.Router#{options}\n#{statements}\nend\n"
    {pid, ref} = spawn_monitor(fn -> exit(compile_here(source, Module.concat([name]))) end)

    receive do
      {:DOWN, ^ref, :process, ^pid, {:compiled, outcome}} -> outcome
      {:DOWN, ^ref, :process, ^pid, {%CompileError{} = error, _stacktrace}} -> {:refused, error}
      {:DOWN, ^ref, :process, ^pid, reason} -> flunk("compiling ended with #{inspect(reason)}")
    end
  end

  defp compile_here(source, module) do
    Code.compile_string(source, "router.ex")
    {:compiled, {:ok, module}}
  rescue
    error in CompileError -> {:compiled, {:refused, error}}
  end
end
