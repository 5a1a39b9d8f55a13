defmodule McpServer.Bundle.Zip do
  @moduledoc false
  # Builds an archive with the Unix modes of its files, which OTP 25's `:zip` leaves out. The output is deterministic.

  @type entry :: {name :: String.t(), mode :: non_neg_integer(), content :: binary()}

  # ZIP version 2.0, created on Unix.
  @needed 20
  @made_by 0x0314
  @utf8_names 0x0800
  @deflated 8
  # The earliest date of the format.
  @date 0x0021
  @regular_file 0o100000
  @max_entries 0xFFFF
  @max_bytes 0xFFFFFFFF

  @doc "The archive. `{:error, text}` if it exceeds the limits of the format."
  @spec build([entry()]) :: {:ok, iodata()} | {:error, String.t()}
  def build(entries) do
    {files, directory, size} = Enum.reduce(entries, {[], [], 0}, &add/2)
    directory = Enum.reverse(directory)

    if length(entries) > @max_entries or size > @max_bytes,
      do: {:error, "an archive has at most #{@max_entries} files and 4 GiB"},
      else: {:ok, [Enum.reverse(files), directory, ending(length(entries), IO.iodata_length(directory), size)]}
  end

  defp add({name, mode, content}, {files, directory, offset}) do
    packed = deflate(content)

    common =
      <<@needed::little-16, @utf8_names::little-16, @deflated::little-16, 0::little-16, @date::little-16,
        :erlang.crc32(content)::little-32, byte_size(packed)::little-32, byte_size(content)::little-32,
        byte_size(name)::little-16, 0::little-16>>

    local = [<<0x04034B50::little-32>>, common, name, packed]
    attributes = Bitwise.bsl(Bitwise.bor(@regular_file, mode), 16)

    central =
      [<<0x02014B50::little-32, @made_by::little-16>>, common] ++
        [<<0::little-16, 0::little-16, 0::little-16, attributes::little-32, offset::little-32>>, name]

    {[local | files], [central | directory], offset + IO.iodata_length(local)}
  end

  # Raw deflate, without zlib's header and checksum.
  defp deflate(content) do
    zlib = :zlib.open()
    :ok = :zlib.deflateInit(zlib, :default, :deflated, -15, 8, :default)
    packed = zlib |> :zlib.deflate(content, :finish) |> IO.iodata_to_binary()
    :zlib.close(zlib)
    packed
  end

  defp ending(count, bytes, offset),
    do:
      <<0x06054B50::little-32, 0::little-16, 0::little-16, count::little-16, count::little-16, bytes::little-32,
        offset::little-32, 0::little-16>>
end
