defmodule McpServer.NativeBuild.Checksums do
  @moduledoc """
  The file in a released package that lists its precompiled libraries: one line each with the name, a space and
  `sha256:` with 64 hexadecimal digits. It is plain data, so reading it runs no code.
  """

  @doc "The file's path in the package at `root`."
  @spec path(Path.t()) :: Path.t()
  def path(root), do: Path.join(root, "native/checksums.txt")

  @doc "Reads it: checksums by file name; `:none` without the file, an error for a line of another form."
  @spec read(Path.t()) :: {:ok, %{String.t() => String.t()}} | :none | {:error, String.t()}
  def read(root) do
    case File.read(path(root)) do
      {:ok, text} -> parse(String.split(text, "\n", trim: true), %{}, path(root))
      {:error, _reason} -> :none
    end
  end

  defp parse([], sums, _path), do: {:ok, sums}

  defp parse([line | lines], sums, path) do
    case Regex.run(~r/\A(\S+) (sha256:[0-9a-f]{64})\z/, line) do
      [_all, file, sum] -> parse(lines, Map.put(sums, file, sum), path)
      nil -> {:error, "#{path} has a line that is not a file name and its sha256"}
    end
  end

  @doc "The checksum of bytes, in the format of the file."
  @spec of(iodata) :: String.t()
  def of(bytes), do: "sha256:" <> Base.encode16(:crypto.hash(:sha256, bytes), case: :lower)

  @doc "Writes the file for archives, sorted by name."
  @spec write!(Path.t(), [Path.t(), ...]) :: :ok
  def write!(path, archives) do
    lines = for archive <- Enum.sort_by(archives, &Path.basename/1), do: line(archive)
    File.write!(path, lines)
  end

  defp line(archive), do: "#{Path.basename(archive)} #{of(File.read!(archive))}\n"
end
