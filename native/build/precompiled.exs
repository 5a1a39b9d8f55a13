defmodule McpServer.NativeBuild.Precompiled do
  @moduledoc """
  The libraries of a release: their names, their addresses, and their verification.

  A released package has the checksums of its libraries. Only an archive with the right checksum is unpacked.
  """

  alias McpServer.NativeBuild.{Archive, Cache, Checksums, Download, Target}

  # `native/build.exs` loads them before it calls a function here.
  @compile {:no_warn_undefined, [Archive, Cache, Download]}

  # The NIF version of the crate's rustler feature; Erlang has it since OTP 22.
  @nif "2.15"

  @doc "The name of a library in its archive."
  @spec name(String.t(), String.t()) :: String.t()
  def name(version, target), do: "libmcp_nif-v#{version}-nif-#{@nif}-#{target}.so"

  @doc "The name of the archive for these options."
  @spec archive(map) :: String.t()
  def archive(options), do: name(options.version, Target.triple(options.env)) <> ".tar.gz"

  @doc "The identity of the installed library for these options; `nil` if cargo must build it."
  @spec stamp(map) :: String.t() | nil
  def stamp(options) do
    case wanted(options) do
      {:ok, sum} -> "precompiled #{sum}"
      _build -> nil
    end
  end

  @doc "Returns the library, `:build` if cargo must build it, or an error sentence."
  @spec library(map) :: {:ok, map} | :build | {:error, String.t()}
  def library(options) do
    with {:ok, sum} <- wanted(options),
         {:ok, bytes, from} <- archived(options, sum),
         {:ok, library} <- unpacked(options, bytes) do
      origin = "precompiled #{archive(options)} from #{from}, #{sum}"
      {:ok, %{bytes: library, target: Target.triple(options.env), origin: origin, stamp: "precompiled #{sum}"}}
    end
  end

  @doc "The archive's address, without user and password."
  @spec address(map) :: String.t()
  def address(options) do
    case url(options) do
      nil -> archive(options)
      url -> Download.shown(url)
    end
  end

  @doc "The folder for archives that a user downloads by hand."
  @spec place(map) :: String.t()
  def place(options) do
    case Cache.path(options.env, "precompiled", archive(options)) do
      nil -> "the folder precompiled below one that MCP_SERVER_NIF_CACHE names"
      path -> Path.dirname(path)
    end
  end

  defp wanted(options) do
    if forced?(options.env) or Version.parse!(options.version).pre != [], do: :build, else: listed(options)
  end

  defp forced?(env), do: env["MCP_SERVER_BUILD"] in ["1", "true"]

  defp listed(options) do
    case Checksums.read(options.root) do
      {:ok, %{} = sums} -> with :error <- Map.fetch(sums, archive(options)), do: {:error, unlisted(options)}
      :none -> :build
      {:error, reason} -> {:error, reason}
    end
  end

  defp unlisted(options), do: "none is released for #{Target.triple(options.env)}"

  defp archived(options, sum) do
    case Cache.read(options.env, "precompiled", archive(options)) do
      {:ok, bytes} -> if Checksums.of(bytes) == sum, do: {:ok, bytes, "the cache"}, else: replaced(options, sum, bytes)
      :error -> download(options, sum)
    end
  end

  # A file with a wrong checksum: a user put it there, or it is truncated.
  defp replaced(options, sum, bytes) do
    path = Cache.path(options.env, "precompiled", archive(options))
    with {:error, reason} <- download(options, sum), do: {:error, "#{foreign(path, bytes)}, and #{reason}"}
  end

  defp download(options, sum) do
    with url when url != nil <- url(options), {:ok, bytes} <- Download.get(url, options.env) do
      keep(options, sum, bytes, Download.shown(url))
    else
      nil -> {:error, "this version has no address of releases (MCP_SERVER_NIF_URL can name one)"}
      {:error, reason} -> {:error, reason}
    end
  end

  defp keep(options, sum, bytes, from) do
    if Checksums.of(bytes) == sum do
      Cache.store(options.env, "precompiled", archive(options), bytes)
      {:ok, bytes, from}
    else
      {:error, foreign(from, bytes)}
    end
  end

  defp foreign(from, bytes), do: "#{from} is not the released file: it has #{Checksums.of(bytes)}"

  defp unpacked(options, bytes) do
    library = name(options.version, Target.triple(options.env))
    with {:error, problem} <- Archive.library(bytes, library), do: {:error, "#{archive(options)} #{problem}"}
  end

  # A mirror has all files in one folder.
  defp url(%{env: %{"MCP_SERVER_NIF_URL" => mirror}} = options) when mirror != "", do: "#{mirror}/#{archive(options)}"
  defp url(%{source_url: nil}), do: nil
  defp url(options), do: "#{options.source_url}/releases/download/v#{options.version}/#{archive(options)}"
end
