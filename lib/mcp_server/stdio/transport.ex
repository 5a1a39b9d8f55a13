defmodule McpServer.Stdio.Transport do
  @moduledoc false
  # The transport over stdin and stdout.

  use McpServer.Connection.OneStream

  alias McpServer.Connection.Transport
  alias McpServer.Stdio.{Exit, Reader, Takeover, Writer}

  @enforce_keys [:reader, :writer, :on_eof]
  defstruct [:reader, :writer, :on_eof]

  # 363 KiB. With the VM's 233 words a call took 1.1 times as long.
  @heap_words 46_422

  @impl true
  def open(options) do
    widen_heap()

    with {:ok, reader, output} <- Takeover.ensure(),
         :ok <- Reader.start(reader, options.max_line_bytes) do
      {:ok, %__MODULE__{reader: reader, writer: Writer.open(reader, output), on_eof: options.on_eof}}
    end
  end

  # All messages pass through this process and become garbage soon. A larger heap saves collections.
  defp widen_heap do
    {:max_heap_size, %{size: most}} = Process.info(self(), :max_heap_size)
    Process.flag(:min_heap_size, min(@heap_words, div(most, 8)))
  end

  @impl true
  def event(%{reader: reader} = transport, {:mcp_stdin, reader, event}), do: {events(event), transport}
  def event(%{writer: %{port: port}} = transport, {:EXIT, port, _reason}), do: {[:closed], transport}
  def event(_transport, _message), do: :unknown

  defp events({:lines, _lines} = lines), do: [lines]
  defp events(:too_long), do: [:too_long]
  defp events(:eof), do: [:eof]
  # An unreadable descriptor delivers no more lines.
  defp events({:error, _reason}), do: [:eof]

  @impl true
  def credit(transport, wait_us) do
    case Reader.take(transport.reader, wait_us) do
      :none ->
        Reader.credit(transport.reader)
        []

      event ->
        events(event)
    end
  end

  @impl true
  def write(transport, entries) do
    case Transport.messages(entries) do
      [] -> {:ok, transport}
      messages -> put(transport, Enum.map(messages, &[&1, ?\n]))
    end
  end

  defp put(transport, text) do
    with {:ok, writer} <- Writer.write(transport.writer, text), do: {:ok, %{transport | writer: writer}}
  end

  @impl true
  def closed(transport, reason) do
    Reader.close(transport.reader)
    if reason != :shutdown, do: Exit.run(transport.on_eof), else: :ok
  end

  @impl true
  def name, do: :stdio
end
