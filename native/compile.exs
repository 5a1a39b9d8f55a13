defmodule Mix.Tasks.Compile.McpNative do
  @moduledoc """
  Installs the native library, precompiled or built by cargo, where `McpServer.Native` loads it.

  The library is installed in `priv/native` of the compiled application, below the build path. A `priv`
  folder in the source tree would be linked into every environment, and so be shared between them. Cargo's
  target folder of users' builds is below the build root, so `mix clean` and the removal of `_build` remove it too.

  `McpServer.NativeBuild` in `native/build.exs` lists the sources of a library.
  """
  use Mix.Task.Compiler

  alias McpServer.NativeBuild
  alias McpServer.NativeBuild.{Cargo, Stamp}

  @compile {:no_warn_undefined, [NativeBuild, Cargo, Stamp]}

  @root Path.dirname(__DIR__)

  @impl true
  def run(_args) do
    # Loaded here and not earlier: Mix reads mix.exs at each start, but compiles the library only at some.
    Code.require_file("build/stamp.exs", __DIR__)
    options = options()

    if File.regular?(library()) and Stamp.current?(options, File.read(manifest())) do
      {:noop, []}
    else
      Code.require_file("build.exs", __DIR__)
      install(NativeBuild.library!(options))
      {:ok, []}
    end
  end

  @impl true
  def manifests, do: [manifest()]

  @impl true
  def clean do
    File.rm(manifest())
    File.rm_rf!(Path.dirname(library()))
    File.rm_rf!(target())
  end

  defp options do
    config = Mix.Project.config()
    env = System.get_env()

    %{
      root: @root,
      version: config[:version],
      source_url: config[:source_url],
      env: env,
      profile: Cargo.profile(env, Mix.env()),
      folder: target()
    }
  end

  defp manifest, do: Path.join(Mix.Project.manifest_path(), "compile.mcp_native")
  defp library, do: Path.join(Mix.Project.app_path(), "priv/native/mcp_nif.so")
  defp origin, do: Path.join(Path.dirname(library()), "origin.txt")

  # One folder for all environments, because the crates' release build is the same in each.
  defp target do
    Mix.Project.build_path() |> Path.dirname() |> Path.join("mcp_native")
  end

  defp install(found) do
    put(library(), found.bytes)
    put(origin(), NativeBuild.describe(found))
    File.mkdir_p!(Path.dirname(manifest()))
    File.write!(manifest(), found.stamp)
  end

  # The new file is renamed into place, because this or another node may have loaded the old file. An equal
  # file stays.
  defp put(file, bytes) do
    unless File.read(file) == {:ok, bytes} do
      File.mkdir_p!(Path.dirname(file))
      fresh = "#{file}.#{System.pid()}"
      File.write!(fresh, bytes)
      File.rename!(fresh, file)
    end
  end
end
