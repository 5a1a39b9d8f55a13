defmodule McpServer.Router.RecompilationTest do
  # A separate project, compiled by Mix like a user's: a router has no compile-time dependency on its controllers, but
  # it notices their changes.
  use ExUnit.Case, async: true

  @moduletag :tmp_dir

  @files %{
    "mix.exs" => """
    defmodule Shop.MixProject do
      use Mix.Project
      def project, do: [app: :shop, version: "0.1.0"]
      def application, do: [extra_applications: [:mcp_server]]
    end
    """,
    "lib/router.ex" => """
    defmodule Shop.Router do
      use McpServer.Router

      alias Shop.Controller

      tool "price", "Tells a price", Controller, :price
    end
    """,
    "lib/controller.ex" => """
    defmodule Shop.Controller do
      def price(_conn, _arguments), do: {:ok, []}
    end
    """
  }

  @tag req: "S4-75"
  @tag slow: "each test starts Mix"
  test "a changed controller does not recompile the router, a missing function stops the build", %{tmp_dir: dir} do
    for {path, text} <- @files, do: write(dir, path, text)
    assert {_output, 0} = mix(dir, ["compile"])

    change(dir, "{:ok, []}", "{:ok, [:changed]}")
    assert {output, 0} = mix(dir, ["do", "compile", "--verbose", "+", "xref", "graph", "--label", "compile"])
    assert output =~ "Compiled lib/controller.ex"
    refute output =~ "Compiled lib/router.ex"
    refute output =~ "lib/controller.ex (compile)"

    change(dir, "def price(", "def cost(")
    assert {output, status} = mix(dir, ["compile"])
    assert status != 0
    assert output =~ ~s(error: tool "price" names Shop.Controller.price/2, which is not a public function)
    assert output =~ "  lib/router.ex:6: Shop.Router (module)"
  end

  @tag req: "S4-81"
  @tag slow: "each test starts Mix"
  test "all missing functions are diagnostics of the compiler, which fails until they are there", %{tmp_dir: dir} do
    for {path, text} <- @files, do: write(dir, path, text)
    change(dir, "lib/router.ex", "end\n", ~s(\n  tool "stock", "Tells a stock", Shop.Stock, :count\nend\n))
    change(dir, "price(", "cost(")

    write(dir, "diagnostics.exs", """
    {:error, diagnostics} = Mix.Task.run("compile", ["--return-errors"])
    for one <- diagnostics, do: IO.puts("\#{one.severity} \#{Path.relative_to_cwd(one.file)}:\#{one.position} \#{one.message}")
    """)

    for _attempt <- 1..2 do
      assert {output, 0} = mix(dir, ["run", "--no-compile", "--no-start", "diagnostics.exs"])

      assert output =~
               ~s(\nerror lib/router.ex:6 tool "price" names Shop.Controller.price/2, which is not a public function\n)

      assert output =~
               ~s(\nerror lib/router.ex:8 tool "stock" names Shop.Stock.count/2, but there is no module Shop.Stock\n)
    end

    assert {output, 1} = mix(dir, ["compile"])
    refute output =~ "EXIT"
    write(dir, "lib/stock.ex", "defmodule Shop.Stock do\n  def count(_conn, _arguments), do: {:ok, []}\nend")
    change(dir, "cost(", "price(")
    assert {_output, 0} = mix(dir, ["compile"])
    assert {"", 0} = mix(dir, ["compile"])
  end

  @tag slow: "each test starts Mix"
  test "a changed schema of Ecto recompiles the router, wherever the router names it", %{tmp_dir: dir} do
    for {path, text} <- @files, do: write(dir, path, text)

    change(dir, "lib/router.ex", "  alias Shop.Controller\n", "  alias Shop.{Controller, Line, Note, Page}\n")

    change(dir, "lib/router.ex", "end\n", """
      tool "a", "A", Controller, :price, input_schema: {McpServer.Ecto, Note}

      tool "b", "B", Controller, :price do
        output lines: {[{McpServer.Ecto, Line}], "The lines"}
        input page: {{McpServer.Ecto, Page, only: [:text]}, "The page"}
      end
    end
    """)

    for name <- ["Line", "Note", "Page"] do
      write(dir, "lib/#{name}.ex", """
      defmodule Shop.#{name} do
        def __schema__(:fields), do: [:text]
        def __schema__(:autogenerate_id), do: nil
        def __schema__(_none), do: []
        def __schema__(:embed, :text), do: nil
        def __schema__(:type, :text), do: :string
      end
      """)
    end

    assert {_output, 0} = mix(dir, ["compile"])

    for name <- ["Line", "Note", "Page"] do
      change(dir, "lib/#{name}.ex", "do: :string", "do: :integer")
      assert {output, 0} = mix(dir, ["compile", "--verbose"])
      assert {name, output =~ "Compiled lib/router.ex"} == {name, true}
    end
  end

  defp write(dir, path, text) do
    path = Path.join(dir, path)
    File.mkdir_p!(Path.dirname(path))
    File.write!(path, text)
  end

  # Mix compares times in seconds, and this test does not wait a second.
  defp change(dir, file \\ "lib/controller.ex", old, new) do
    path = Path.join(dir, file)
    File.write!(path, path |> File.read!() |> String.replace(old, new))
    File.touch!(path, System.os_time(:second) + System.unique_integer([:positive, :monotonic]))
  end

  defp mix(dir, arguments) do
    ebin = :mcp_server |> :code.lib_dir() |> Path.join("ebin")

    System.cmd("elixir", ["-pa", ebin, "-S", "mix" | arguments],
      cd: dir,
      stderr_to_stdout: true,
      env: [{"MIX_ENV", "dev"}]
    )
  end
end
