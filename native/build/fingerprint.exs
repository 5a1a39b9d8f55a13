defmodule McpServer.NativeBuild.Fingerprint do
  @moduledoc "Identifies what cargo would build: the sources, the compiler, and the settings that change its output."

  alias McpServer.NativeBuild.Target

  @sources ["Cargo.toml", "Cargo.lock", "native/*/Cargo.toml", "native/*/build.rs", "native/*/src/**/*.rs"]
  @variables ~w(RUSTFLAGS RUSTC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTUP_TOOLCHAIN CARGO_ENCODED_RUSTFLAGS
                CARGO_INCREMENTAL)
  @prefixes ~w(CARGO_PROFILE_ CARGO_BUILD_ CARGO_TARGET_ CARGO_UNSTABLE_)
  # These settings change only where cargo writes and how fast it is.
  @harmless ~w(CARGO_TARGET_DIR CARGO_BUILD_TARGET_DIR CARGO_BUILD_BUILD_DIR CARGO_BUILD_JOBS)

  @doc "The fingerprint, 64 hexadecimal digits."
  @spec of(map) :: String.t()
  def of(%{root: root, env: env, profile: profile}) do
    files = Enum.map(sources(root), &[Path.relative_to(&1, root), 0, File.read!(&1), 0])
    variables = for {name, value} <- Enum.sort(env), significant?(name), do: [name, 0, value, 0]
    digest([profile, files, variables, configurations(root, env), rustc(root, env), Target.host(), Target.triple(env)])
  end

  @doc """
  The fingerprint of a library that the user's other projects may load. It includes the C library, because machines
  and containers with different C libraries may share a user's home.
  """
  @spec shared(String.t()) :: String.t()
  def shared(fingerprint), do: digest([fingerprint, output("getconf", ["GNU_LIBC_VERSION"], [])])

  @doc "The version text of cargo's compiler; empty without a compiler."
  @spec rustc(Path.t(), %{String.t() => String.t()}) :: String.t()
  def rustc(root, env), do: output(env["RUSTC"] || "rustc", ["-vV"], cd: root)

  defp sources(root), do: @sources |> Enum.flat_map(&Path.wildcard(Path.join(root, &1))) |> Enum.sort()

  defp significant?(name) do
    name in @variables or (String.starts_with?(name, @prefixes) and name not in @harmless)
  end

  # The files that cargo reads: in its working folder, in each folder above, and in its home.
  defp configurations(root, env) do
    home = env["CARGO_HOME"] || Path.join(System.user_home() || "/", ".cargo")

    for folder <- Enum.map(upwards(root), &Path.join(&1, ".cargo")) ++ [home],
        name <- ["config.toml", "config"],
        {:ok, text} <- [File.read(Path.join(folder, name))],
        uniq: true,
        do: [text, 0]
  end

  defp upwards(folder) do
    case Path.dirname(folder) do
      ^folder -> [folder]
      above -> [folder | upwards(above)]
    end
  end

  defp output(command, arguments, options) do
    with path when path != nil <- System.find_executable(command),
         {text, 0} <- System.cmd(path, arguments, [stderr_to_stdout: true] ++ options) do
      text
    else
      _missing -> ""
    end
  end

  defp digest(data), do: Base.encode16(:crypto.hash(:sha256, data), case: :lower)
end
