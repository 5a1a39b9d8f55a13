defmodule Mix.Tasks.Mcp.Native do
  @shortdoc "Prints the installed native library"

  @moduledoc """
  Prints the installed native library and its origin.

      mix mcp.native

  The output has four lines: the target, the origin, the file, and its checksum. The origin is a precompiled library of
  a release, cargo, or the cache of cargo's builds.

      mix mcp.native checksums FOLDER
      mix mcp.native checksums FILE… --output PATH

  For maintainers, in the repository of the library: writes the checksums of the archives in a folder, or of files, to
  `native/checksums.txt`. A package with this file installs precompiled libraries.
  """

  use Mix.Task

  alias McpServer.Native.Library
  alias McpServer.NativeBuild.Checksums

  # The library's mix.exs loads this module when the library is compiled from source.
  @compile {:no_warn_undefined, Checksums}

  @usage "usage: mix mcp.native, or mix mcp.native checksums FOLDER|FILE… [--output PATH]"

  @impl true
  def run(arguments) do
    case Mix.McpServer.options!(arguments, [output: :string], @usage) do
      {[], []} -> IO.puts(installed())
      {options, ["checksums" | places]} when places != [] -> IO.puts(write(archives(places), options))
      _other -> Mix.raise(@usage)
    end
  end

  defp installed do
    file = "#{Library.path()}.so"

    case {Library.origin(), File.read(file)} do
      {{:ok, origin}, {:ok, bytes}} ->
        "target   #{origin["target"]}\nfrom     #{from(origin, sum(bytes))}\nlibrary  #{file}\nsha256   #{sum(bytes)}"

      _missing ->
        Mix.raise("no native library is installed: compile it with `mix deps.compile mcp_server --force`")
    end
  end

  defp from(%{"sha256" => sum, "from" => from}, sum), do: from
  defp from(%{"from" => from}, _another), do: "another place: this file has replaced the one from #{from}"

  defp sum(bytes), do: Base.encode16(:crypto.hash(:sha256, bytes), case: :lower)

  defp archives(places) do
    case Enum.flat_map(places, &archives_of/1) do
      [] -> Mix.raise("there is no archive in #{Enum.join(places, ", ")}: their names end with .tar.gz")
      archives -> archives
    end
  end

  defp archives_of(place) do
    cond do
      File.dir?(place) -> Path.wildcard(Path.join(place, "*.tar.gz"))
      File.regular?(place) -> [place]
      true -> Mix.raise("there is no file and no folder #{place}")
    end
  end

  defp write(archives, options) do
    if Mix.Project.config()[:app] != :mcp_server, do: Mix.raise("checksums are written in the repository of mcp_server")
    path = options[:output] || Checksums.path(".")
    Checksums.write!(path, archives)
    File.read!(path) <> "written to #{path}"
  end
end
