defmodule McpServer.Router.RecompilationTest do
  # A project of its own, compiled by mix as a user's is: a controller is no compile-time dependency
  # of a router, and yet the router notices what becomes of it.
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
    assert output =~ ~s(lib/router.ex:6: tool "price" names Shop.Controller.price/2, which is not a public function)
  end

  defp write(dir, path, text) do
    path = Path.join(dir, path)
    File.mkdir_p!(Path.dirname(path))
    File.write!(path, text)
  end

  # Mix compares times in seconds, and this test does not wait for the next one.
  defp change(dir, old, new) do
    path = Path.join(dir, "lib/controller.ex")
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
