defmodule McpServer.NativeBuild.Precompiled do
  @moduledoc """
  The libraries of a release: their names, where they are, and how one of them is checked.

  A released package has the checksums of its libraries. Only an archive with the right one is unpacked.
  """

  alias McpServer.NativeBuild.{Archive, Cache, Checksums, Download, Target}

  # `native/build.exs` reads them before a library is asked for.
  @compile {:no_warn_undefined, [Archive, Cache, Download]}

  # The version of the NIF interface that the crate's rustler has the feature of; every Erlang since OTP 22 has it.
  @nif "2.15"

  @doc "The name of a library in its archive."
  @spec name(String.t(), String.t()) :: String.t()
  def name(version, target), do: "libmcp_nif-v#{version}-nif-#{@nif}-#{target}.so"

  @doc "The name of the archive of the wish."
  @spec archive(map) :: String.t()
  def archive(wish), do: name(wish.version, Target.triple(wish.env)) <> ".tar.gz"

  @doc "What identifies the library of the wish once it is installed; `nil` if the wish is for a build."
  @spec stamp(map) :: String.t() | nil
  def stamp(wish) do
    case wanted(wish) do
      {:ok, sum} -> "precompiled #{sum}"
      _build -> nil
    end
  end

  @doc "Gives the library; `:build` where none is wanted, or a sentence that says why there is none."
  @spec library(map) :: {:ok, map} | :build | {:error, String.t()}
  def library(wish) do
    with {:ok, sum} <- wanted(wish),
         {:ok, bytes, from} <- archived(wish, sum),
         {:ok, library} <- unpacked(wish, bytes) do
      origin = "precompiled #{archive(wish)} from #{from}, #{sum}"
      {:ok, %{bytes: library, target: Target.triple(wish.env), origin: origin, stamp: "precompiled #{sum}"}}
    end
  end

  @doc "The address of the wish's archive, without user and password."
  @spec address(map) :: String.t()
  def address(wish) do
    case url(wish) do
      nil -> archive(wish)
      url -> Download.shown(url)
    end
  end

  @doc "The folder that people can put the archive into."
  @spec place(map) :: String.t()
  def place(wish) do
    case Cache.path(wish.env, "precompiled", archive(wish)) do
      nil -> "the folder precompiled below one that MCP_SERVER_NIF_CACHE names"
      path -> Path.dirname(path)
    end
  end

  defp wanted(wish) do
    if forced?(wish.env) or Version.parse!(wish.version).pre != [], do: :build, else: listed(wish)
  end

  defp forced?(env), do: env["MCP_SERVER_BUILD"] in ["1", "true"]

  defp listed(wish) do
    case Checksums.read(wish.root) do
      {:ok, %{} = sums} -> with :error <- Map.fetch(sums, archive(wish)), do: {:error, unlisted(wish)}
      :none -> :build
      {:error, reason} -> {:error, reason}
    end
  end

  defp unlisted(wish), do: "none is released for #{Target.triple(wish.env)}"

  defp archived(wish, sum) do
    case Cache.read(wish.env, "precompiled", archive(wish)) do
      {:ok, bytes} -> if Checksums.of(bytes) == sum, do: {:ok, bytes, "the cache"}, else: replaced(wish, sum, bytes)
      :error -> download(wish, sum)
    end
  end

  # Another file of that name: one put there by hand, or one whose end was lost.
  defp replaced(wish, sum, bytes) do
    path = Cache.path(wish.env, "precompiled", archive(wish))
    with {:error, reason} <- download(wish, sum), do: {:error, "#{foreign(path, bytes)}, and #{reason}"}
  end

  defp download(wish, sum) do
    with url when url != nil <- url(wish), {:ok, bytes} <- Download.get(url, wish.env) do
      keep(wish, sum, bytes, Download.shown(url))
    else
      nil -> {:error, "this version has no address of releases (MCP_SERVER_NIF_URL can name one)"}
      {:error, reason} -> {:error, reason}
    end
  end

  defp keep(wish, sum, bytes, from) do
    if Checksums.of(bytes) == sum do
      Cache.store(wish.env, "precompiled", archive(wish), bytes)
      {:ok, bytes, from}
    else
      {:error, foreign(from, bytes)}
    end
  end

  defp foreign(from, bytes), do: "#{from} is not the released file: it has #{Checksums.of(bytes)}"

  defp unpacked(wish, bytes) do
    library = name(wish.version, Target.triple(wish.env))
    with {:error, problem} <- Archive.library(bytes, library), do: {:error, "#{archive(wish)} #{problem}"}
  end

  # A mirror has the files in one folder.
  defp url(%{env: %{"MCP_SERVER_NIF_URL" => mirror}} = wish) when mirror != "", do: "#{mirror}/#{archive(wish)}"
  defp url(%{source_url: nil}), do: nil
  defp url(wish), do: "#{wish.source_url}/releases/download/v#{wish.version}/#{archive(wish)}"
end
