defmodule McpServer.NativeBuild.Cargo do
  @moduledoc """
  Builds the library with cargo, in one of two profiles of `Cargo.toml`.

  The profile `release` is for users: one build for all projects of a user that need the same library. The profile
  `dev` is for the library's own project. It builds faster, and `cargo test` shares it.
  """

  alias McpServer.NativeBuild.{Cache, Fingerprint, Target}

  # `native/build.exs` loads it before it calls a function here.
  @compile {:no_warn_undefined, Cache}

  @doc """
  The profile: that of `MCP_SERVER_PROFILE`, or the default for the environment of Mix. Mix compiles dependencies in
  the environment `:prod`.
  """
  @spec profile(%{String.t() => String.t()}, atom) :: String.t()
  def profile(%{"MCP_SERVER_PROFILE" => profile}, _mix_env) when profile in ["dev", "release"], do: profile

  def profile(%{"MCP_SERVER_PROFILE" => profile}, _mix_env) when profile != "",
    do: Mix.raise("MCP_SERVER_PROFILE must be dev or release, not #{inspect(profile)}")

  def profile(_env, mix_env) when mix_env in [:dev, :test], do: "dev"
  def profile(_env, _mix_env), do: "release"

  @doc "Whether cargo is installed, or has built the same library for another project."
  @spec available?(map) :: boolean
  def available?(options),
    do: executable() != nil or match?({:ok, _bytes}, kept(options, key(Fingerprint.of(options))))

  @doc "The identity of the library that cargo would build now."
  @spec stamp(map) :: String.t()
  def stamp(options), do: stamped(Fingerprint.of(options))

  @doc "Returns the library from the cache or from cargo; raises `Mix.Error` if both fail."
  @spec library!(map) :: map
  def library!(options) do
    fingerprint = Fingerprint.of(options)
    {bytes, from} = cached_or_built(options, key(fingerprint))
    origin = from <> compiler(Fingerprint.rustc(options.root, options.env))
    %{bytes: bytes, target: Target.triple(options.env), origin: origin, stamp: stamped(fingerprint)}
  end

  defp compiler(""), do: ""
  defp compiler(text), do: " (#{text |> String.split("\n") |> hd()})"

  defp stamped(fingerprint), do: "cargo #{fingerprint}"
  defp key(fingerprint), do: Fingerprint.shared(fingerprint) <> ".bin"

  defp cached_or_built(options, key) do
    case kept(options, key) do
      {:ok, bytes} ->
        {bytes, "the cache of cargo's builds"}

      :error ->
        bytes = File.read!(build(options))
        keep(options, key, bytes)
        {bytes, "cargo"}
    end
  end

  # Each edit of a developer is another library: the cache would soon hold no other.
  defp keep(%{profile: "dev"}, _key, _bytes), do: :ok
  defp keep(options, key, bytes), do: Cache.store(options.env, "built", key, [:crypto.hash(:sha256, bytes), bytes])

  defp kept(%{profile: "dev"}, _key), do: :error

  # The checksum is verified first, because the VM crashes when it loads a damaged library. Code of another user would
  # run in this VM.
  defp kept(options, key) do
    with {:ok, <<sum::32-bytes, bytes::binary>>} <- Cache.read(options.env, "built", key),
         true <- Cache.private?(options.env, "built", key) or foreign(options, key),
         ^sum <- :crypto.hash(:sha256, bytes) do
      {:ok, bytes}
    else
      _missing_or_damaged -> :error
    end
  end

  defp foreign(options, key) do
    Mix.shell().info(
      "mcp_server: the library in #{Path.dirname(Cache.path(options.env, "built", key))} is not used, because others can " <>
        "write there: `chmod go-w` this folder and the one above, or name a folder of your own in MCP_SERVER_NIF_CACHE"
    )

    false
  end

  # Cargo writes messages for people to stderr and messages for programs to stdout. Only stdout is captured, so
  # that no output of a build reaches our stdout.
  defp build(options) do
    arguments = ~w(build --profile #{options.profile} --locked -p mcp_nif --message-format=json-render-diagnostics)
    arguments = arguments ++ musl(options.env)
    environment = [{"CARGO_BUILD_TARGET", Target.cross(options.env)} | target_folder(options)]

    case System.cmd(executable!(), arguments, cd: options.root, env: environment) do
      {messages, 0} ->
        built_library(messages)

      {_messages, status} ->
        Mix.raise(
          "cargo could not build the native library of mcp_server (exit status #{status}); see its messages above"
        )
    end
  end

  # The developer's own `cargo test` has built the same crates in cargo's folder.
  defp target_folder(%{profile: "dev"}), do: []
  defp target_folder(options), do: [{"CARGO_TARGET_DIR", options.folder}]

  # On musl Rust links the C library statically by default, but the VM has loaded it already.
  defp musl(env) do
    if String.ends_with?(Target.triple(env), "-musl"),
      do: ["--config", ~S|target.'cfg(target_env = "musl")'.rustflags=["-C","target-feature=-crt-static"]|],
      else: []
  end

  defp executable, do: System.find_executable("cargo")

  defp executable! do
    executable() ||
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
end
