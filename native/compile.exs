defmodule Mix.Tasks.Compile.McpNative do
  @moduledoc """
  Puts the native library where `McpServer.Native` loads it from: a precompiled one, or one that cargo builds.

  The library ends up in `priv/native` of the compiled application, below the build path: a `priv`
  folder in the source tree would be linked into every environment and shared between them. Cargo's
  own target folder lies below the build root, so `mix clean` and a removed `_build` remove it too.

  `McpServer.NativeBuild` in `native/build.exs` says where a library may come from.
  """
  use Mix.Task.Compiler

  alias McpServer.NativeBuild
  alias McpServer.NativeBuild.Stamp

  @compile {:no_warn_undefined, [NativeBuild, Stamp]}

  @root Path.dirname(__DIR__)

  @impl true
  def run(_args) do
    # Not earlier: Mix reads mix.exs at each start, and compiles the library only at some.
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
    %{root: @root, version: config[:version], source_url: config[:source_url], env: System.get_env(), folder: target()}
  end

  defp manifest, do: Path.join(Mix.Project.manifest_path(), "compile.mcp_native")
  defp library, do: Path.join(Mix.Project.app_path(), "priv/native/mcp_nif.so")
  defp origin, do: Path.join(Path.dirname(library()), "origin.txt")

  # One folder for all environments: the release build of the crates is the same in each.
  defp target do
    Mix.Project.build_path() |> Path.dirname() |> Path.join("mcp_native")
  end

  defp install(found) do
    put(library(), found.bytes)
    put(origin(), NativeBuild.describe(found))
    File.mkdir_p!(Path.dirname(manifest()))
    File.write!(manifest(), found.stamp)
  end

  # Renamed into place, because the old file may be loaded, here or in another node; left alone
  # when nothing changed.
  defp put(file, bytes) do
    unless File.read(file) == {:ok, bytes} do
      File.mkdir_p!(Path.dirname(file))
      fresh = "#{file}.#{System.pid()}"
      File.write!(fresh, bytes)
      File.rename!(fresh, file)
    end
  end
end
