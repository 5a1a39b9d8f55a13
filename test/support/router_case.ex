defmodule McpServer.RouterCase do
  @moduledoc false
  # Compiles routers from text, and says where and why one was refused.

  use ExUnit.CaseTemplate

  import ExUnit.Assertions

  using do
    quote do
      import McpServer.RouterCase

      # The compiler's processes report what they die of.
      @moduletag :capture_log
    end
  end

  @doc "Compiles a router whose first statement is on line 3 of `router.ex`, and returns its module. `options` are those of `use`."
  def router!(statements, options \\ "") do
    case compile(statements, options) do
      {:ok, module} -> module
      {:refused, error} -> flunk("the router was refused: #{Exception.message(error)}")
    end
  end

  @doc "Asserts that a router is refused at that line, with exactly that text or one that matches."
  def assert_refused(line, message, statements, options \\ "") do
    compiled = compile(statements, options)
    assert {:refused, %CompileError{file: "router.ex", line: ^line, description: description}} = compiled

    if is_binary(message),
      do: assert(description == message),
      else: assert(description =~ message)
  end

  # What is checked after everything has been compiled is refused by ending the process that compiles,
  # so that process is none of ours.
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
