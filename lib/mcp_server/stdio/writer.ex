defmodule McpServer.Stdio.Writer do
  @moduledoc false
  # stdout, as the client opened it.
  #
  # A short text is written at once where the client has room for it: that is most answers, and one that goes
  # through the port is written by another thread, which costs it a quarter of its time. Everything else waits in the
  # port, and whatever comes while something waits there goes behind it.

  alias McpServer.Stdio.Reader

  @enforce_keys [:reader, :port]
  defstruct [:reader, :port, waiting?: false]

  @typedoc "`:waiting?` is whether the port was given something that it may not have written yet."
  @type t :: %__MODULE__{reader: Reader.t(), port: port(), waiting?: boolean()}

  # What a pipe takes in one piece.
  @short_bytes 4096

  @doc "Writes to the descriptor `output` from now on."
  @spec open(Reader.t(), non_neg_integer()) :: t()
  def open(reader, output) do
    # Not through `:user`: this port writes what it is given in one piece, blocks its owner while the
    # client does not read, and says so when the client is gone. Closing it leaves the descriptor open.
    %__MODULE__{reader: reader, port: Port.open({:fd, output, output}, [:out, :binary])}
  end

  @doc "Writes a text; may block while the client does not read."
  @spec write(t(), iodata()) :: {:ok, t()} | {:error, :closed}
  def write(writer, text) do
    if waits?(writer) or IO.iodata_length(text) > @short_bytes,
      do: wait(writer, text),
      else: write_now(%{writer | waiting?: false}, IO.iodata_to_binary(text))
  end

  defp waits?(%{waiting?: false}), do: false
  defp waits?(%{port: port}), do: Port.info(port, :queue_size) != {:queue_size, 0}

  defp write_now(writer, text) do
    case Reader.write_now(writer.reader, text) do
      :closed -> {:error, :closed}
      written when written == byte_size(text) -> {:ok, writer}
      written -> wait(writer, binary_part(text, written, byte_size(text) - written))
    end
  end

  defp wait(writer, text) do
    Port.command(writer.port, text)
    {:ok, %{writer | waiting?: true}}
  rescue
    ArgumentError -> {:error, :closed}
  end
end
