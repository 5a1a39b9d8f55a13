defmodule Mix.Tasks.Compile.McpNative do
  @moduledoc """
  Builds the native library with cargo and puts it where `McpServer.Native` loads it from.

  The library ends up in `priv/native` of the compiled application, below the build path: a `priv`
  folder in the source tree would be linked into every environment and shared between them. Cargo's
  own target folder lies below the build root, so `mix clean` and a removed `_build` remove it too.
  """
  use Mix.Task.Compiler

  @root Path.dirname(__DIR__)
  @sources ["Cargo.toml", "Cargo.lock", "native/*/Cargo.toml", "native/*/build.rs", "native/*/src/**/*.rs"]
  # What changes cargo's output though no file changed.
  @environment ~w(CARGO_BUILD_TARGET CARGO_ENCODED_RUSTFLAGS RUSTFLAGS RUSTC RUSTUP_TOOLCHAIN)

  @impl true
  def run(_args) do
    fingerprint = fingerprint()

    if File.regular?(library()) and File.read(manifest()) == {:ok, fingerprint} do
      {:noop, []}
    else
      install(build())
      File.mkdir_p!(Path.dirname(manifest()))
      File.write!(manifest(), fingerprint)
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

  defp manifest, do: Path.join(Mix.Project.manifest_path(), "compile.mcp_native")
  defp library, do: Path.join(Mix.Project.app_path(), "priv/native/mcp_nif.so")

  # One folder for all environments: the release build of the crates is the same in each.
  defp target do
    Mix.Project.build_path() |> Path.dirname() |> Path.join("mcp_native")
  end

  defp fingerprint do
    files = @sources |> Enum.flat_map(&Path.wildcard(Path.join(@root, &1))) |> Enum.sort()
    contents = for file <- files, do: [Path.relative_to(file, @root), 0, File.read!(file), 0]
    environment = for name <- @environment, do: [name, 0, System.get_env(name, ""), 0]
    machine = :erlang.system_info(:system_architecture)
    Base.encode16(:erlang.md5([contents, environment, machine]), case: :lower)
  end

  # Cargo tells people things on stderr and machines on stdout: only the second is taken, so that
  # nothing of a build ever reaches our own stdout.
  defp build do
    arguments = ~w(build --release --locked -p mcp_nif --message-format=json-render-diagnostics)
    options = [cd: @root, env: [{"CARGO_TARGET_DIR", target()}]]

    case System.cmd(cargo(), arguments, options) do
      {messages, 0} ->
        built_library(messages)

      {_messages, status} ->
        Mix.raise(
          "cargo could not build the native library of mcp_server (exit status #{status}); see its messages above"
        )
    end
  end

  defp cargo do
    System.find_executable("cargo") ||
      Mix.raise(
        "mcp_server needs Rust to build its native library: install cargo (https://rustup.rs) and run mix again"
      )
  end

  defp built_library(messages) do
    artifact = ~r/"reason":"compiler-artifact".*"name":"mcp_nif".*"filenames":\["((?:[^"\\]|\\.)+)"/

    messages
    |> String.split("\n")
    |> Enum.find_value(fn line -> with [_, path] <- Regex.run(artifact, line), do: path end)
    |> case do
      nil -> Mix.raise("cargo did not say where it put the native library of mcp_server")
      path -> String.replace(path, ~r/\\(.)/, "\\1")
    end
  end

  # Renamed into place, because the old file may be loaded, here or in another node; left alone
  # when nothing changed.
  defp install(built) do
    bytes = File.read!(built)

    unless File.read(library()) == {:ok, bytes} do
      File.mkdir_p!(Path.dirname(library()))
      fresh = "#{library()}.#{System.pid()}"
      File.write!(fresh, bytes)
      File.rename!(fresh, library())
    end
  end
end
