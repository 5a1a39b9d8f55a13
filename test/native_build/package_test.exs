Code.require_file("../../native/build.exs", __DIR__)

defmodule McpServer.NativeBuild.PackageTest do
  # A new user's machine without Rust: a project that depends on the package with its checksums, and a release on a
  # host. Mix starts the server at once, so the first response comes after the compilation.
  use ExUnit.Case, async: true

  @moduletag slow: "compiles the package for a new project"

  import McpServer.StdioPeer

  alias McpServer.Native.Library
  alias McpServer.NativeBuild.{Checksums, Target}
  alias McpServer.{PackageCopy, ReleaseHost}

  @moduletag :tmp_dir

  @version Mix.Project.config()[:version]

  # The archives of `bin/release try`. Otherwise the library of this build replaces one that `bin/release build` makes.
  defp release(folder, package) do
    archives = System.get_env("RELEASE_ARCHIVES") || packed(folder)
    bin_release(["checksums", archives, Checksums.path(package)])
    ReleaseHost.start(ReleaseHost.folder(archives))
  end

  defp packed(folder) do
    bin_release(["pack", Target.host(), "#{Library.path()}.so", folder])
    folder
  end

  defp bin_release(arguments) do
    options = [env: [{"MIX_ENV", "test"}], stderr_to_stdout: true]
    assert {_output, 0} = System.cmd(Path.expand("bin/release"), arguments, options)
  end

  defp project(folder, package) do
    File.mkdir_p!(Path.join(folder, "lib"))

    File.write!(Path.join(folder, "mix.exs"), """
    defmodule Calculator.MixProject do
      use Mix.Project

      def project do
        [app: :calculator, version: "0.1.0", elixir: "~> 1.14", deps: [{:mcp_server, path: #{inspect(package)}}]]
      end

      def application, do: [extra_applications: [:logger]]
    end
    """)

    File.write!(Path.join(folder, "lib/calculator.ex"), """
    defmodule Calculator.MCP do
      use McpServer.Router, name: "calculator", version: "1.0.0"

      tool "add", "Adds two numbers", Calculator, :add do
        input_field "a", "First number", :number, required: true
        input_field "b", "Second number", :number, required: true
      end
    end

    defmodule Calculator do
      def add(_conn, %{"a" => a, "b" => b}), do: {:ok, %{sum: a + b}}
    end
    """)

    folder
  end

  test "a new project without Rust answers its first tool call with the released library", context do
    package = PackageCopy.create(Path.join(context.tmp_dir, "package"))
    address = release(Path.join(context.tmp_dir, "released"), package)
    project = project(Path.join(context.tmp_dir, "calculator"), package)
    env = Map.put(PackageCopy.environment(context.tmp_dir), "MCP_SERVER_NIF_URL", address)
    assert {_which, 1} = System.cmd("which", ["cargo"], env: env, stderr_to_stdout: true)

    peer = start("mix mcp.stdio Calculator.MCP", cd: project, env: env, tmp_dir: context.tmp_dir)
    write(peer, [call(1, "add", %{"a" => 2, "b" => 40})])
    assert %{"id" => 1, "result" => %{"structuredContent" => %{"sum" => 42}}} = read(peer, 240_000)
    eof(peer)
    assert exit_status(peer) == 0

    assert {report, 0} = PackageCopy.mix(project, ["mcp.native"], env)
    assert report =~ "target   #{Target.host()}\nfrom     precompiled libmcp_nif-v#{@version}-nif-2.15-#{Target.host()}"
  end
end
