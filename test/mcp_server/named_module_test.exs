defmodule McpServer.NamedModuleTest do
  # Modules that a router reads while it is compiled, as the compiler of a project meets them: side by side.
  use ExUnit.Case, async: true

  import ExUnit.CaptureIO

  @moduletag :tmp_dir

  # The files with errors.
  defp errors(%{tmp_dir: tmp_dir}, sources) do
    files =
      for {name, source} <- sources do
        file = Path.join(tmp_dir, name)
        File.write!(file, source)
        file
      end

    test = self()
    compile = fn -> send(test, {:compiled, Kernel.ParallelCompiler.compile(files)}) end
    # Elixir 1.14 prints to stdout, later versions to stderr.
    capture_io(fn -> capture_io(:stderr, compile) end)
    assert_receive {:compiled, {:error, errors, _warnings}}
    errors |> Enum.map(fn {file, _position, _text} -> Path.basename(file) end) |> Enum.uniq()
  end

  for {what, statement, other} <- [
        {"a schema of Ecto",
         ~s(tool "t", "T", McpServer.Handlers, :echo, input_schema: {McpServer.Ecto, NamedModuleTest.Other}),
         "use NamedModuleTest.Missing"},
        {"an included router", "include NamedModuleTest.Other", "use NamedModuleTest.Missing"}
      ] do
    @statement statement
    @other other

    test "#{what} that does not compile tells its own error", context do
      router = "defmodule NamedModuleTest.Router do\nuse McpServer.Router\n#{@statement}\nend\n"
      other = "defmodule NamedModuleTest.Other do\n#{@other}\nend\n"
      assert errors(context, [{"router.ex", router}, {"other.ex", other}]) == ["other.ex"]
    end
  end
end
