defmodule McpServer.NativeBuild.Archive do
  @moduledoc """
  Extracts the library from a released archive, a `tar.gz` with exactly one file.

  The archive is unpacked in memory up to a size limit, so its paths, links and owners have no effect.
  """

  @doc "The most unpacked bytes: 128 MiB, ten times the size of a library."
  @spec max_bytes() :: pos_integer
  def max_bytes, do: 128 * 1024 * 1024

  @doc "The bytes of the only file, which must have this name."
  @spec library(binary, String.t(), pos_integer) :: {:ok, binary} | {:error, String.t()}
  def library(archive, name, max_bytes \\ max_bytes()) do
    with {:ok, tar} <- unzip(archive, max_bytes), :ok <- one_file(tar, name) do
      case :erl_tar.extract({:binary, tar}, [:memory]) do
        {:ok, [{_name, bytes}]} -> {:ok, bytes}
        _cut_short -> {:error, "is not a whole tar.gz archive"}
      end
    end
  end

  defp unzip(archive, max_bytes) do
    zlib = :zlib.open()

    try do
      # 16 selects the gzip format, and 15 the largest window.
      :ok = :zlib.inflateInit(zlib, 16 + 15)
      inflate(zlib, :zlib.safeInflate(zlib, archive), [], 0, max_bytes)
    rescue
      _wrong_bytes in ErlangError -> {:error, "is not a whole tar.gz archive"}
    after
      :zlib.close(zlib)
    end
  end

  defp inflate(zlib, {state, bytes}, before, size, max_bytes) do
    size = size + IO.iodata_length(bytes)

    cond do
      size > max_bytes -> {:error, "unpacks to more than #{max_bytes} bytes"}
      state == :finished -> :zlib.inflateEnd(zlib) && {:ok, IO.iodata_to_binary([before, bytes])}
      true -> inflate(zlib, :zlib.safeInflate(zlib, []), [before, bytes], size, max_bytes)
    end
  end

  defp one_file(tar, name) do
    wanted = to_charlist(name)

    case :erl_tar.table({:binary, tar}, [:verbose]) do
      {:ok, [{^wanted, :regular, _size, _time, _mode, _user, _group}]} -> :ok
      {:ok, _entries} -> {:error, "holds something else than the one file #{name}"}
      {:error, _reason} -> {:error, "is not a whole tar.gz archive"}
    end
  end
end
