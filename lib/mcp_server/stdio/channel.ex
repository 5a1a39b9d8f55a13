defmodule McpServer.Stdio.Channel do
  @moduledoc false
  # stdin and stdout as a connection's channel.

  use McpServer.Connection.OneLane

  alias McpServer.Connection.Channel
  alias McpServer.Stdio.{Exit, Reader, Takeover}

  @enforce_keys [:reader, :port, :on_eof]
  defstruct [:reader, :port, :on_eof]

  @impl true
  def open(options) do
    with {:ok, reader, output} <- Takeover.ensure(),
         :ok <- Reader.start(reader, options.max_line_bytes) do
      # Not through `:user`: this port writes what it is given in one piece, blocks its owner while the
      # client does not read, and says so when the client is gone. Closing it leaves the descriptor open.
      port = Port.open({:fd, output, output}, [:out, :binary])
      {:ok, %__MODULE__{reader: reader, port: port, on_eof: options.on_eof}}
    end
  end

  @impl true
  def event(%{reader: reader} = channel, {:mcp_stdin, reader, event}), do: {events(event), channel}
  def event(%{port: port} = channel, {:EXIT, port, _reason}), do: {[:closed], channel}
  def event(_channel, _message), do: :unknown

  defp events({:lines, _lines} = lines), do: [lines]
  defp events(:too_long), do: [:too_long]
  defp events(:eof), do: [:eof]
  # A descriptor that cannot be read will bring nothing more.
  defp events({:error, _reason}), do: [:eof]

  @impl true
  def credit(channel), do: Reader.credit(channel.reader)

  @impl true
  def write(channel, entries) do
    case Channel.messages(entries) do
      [] -> :ok
      messages -> Port.command(channel.port, Enum.map(messages, &[&1, ?\n]))
    end

    {:ok, channel}
  rescue
    ArgumentError -> {:error, :closed}
  end

  @impl true
  def closed(channel, reason) do
    Reader.close(channel.reader)
    if reason != :shutdown, do: Exit.run(channel.on_eof), else: :ok
  end

  @impl true
  def transport, do: :stdio
end
