defmodule McpServer.Stdio.Writer do
  @moduledoc false
  # Writes to the stdout that the client opened.
  #
  # A short text is written directly if the client's pipe has room, which is so for most answers. The port would write
  # it in another thread, which costs a quarter of a call's time. Other texts go through the port, and so do all texts
  # that follow while the port still has bytes.

  alias McpServer.Stdio.Reader

  @enforce_keys [:reader, :port]
  defstruct [:reader, :port, waiting?: false]

  @typedoc "`:waiting?` tells whether the port may still have unwritten bytes."
  @type t :: %__MODULE__{reader: Reader.t(), port: port(), waiting?: boolean()}

  # A pipe takes a write up to this size atomically.
  @short_bytes 4096

  @doc "Makes a writer to the descriptor `output`."
  @spec open(Reader.t(), non_neg_integer()) :: t()
  def open(reader, output) do
    # A port instead of `:user`: it writes a text in one piece, blocks its owner while the client does not read, and
    # reports that the client has gone. Closing it leaves the descriptor open.
    %__MODULE__{reader: reader, port: Port.open({:fd, output, output}, [:out, :binary])}
  end

  @doc "Writes a text. May block while the client does not read."
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
