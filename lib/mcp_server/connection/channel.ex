defmodule McpServer.Connection.Channel do
  @moduledoc false
  # The bytes under a connection. A channel lives in the connection's process: what it receives are
  # that process' messages, and it is the connection that writes.

  @typedoc "What a message to the process means: lines of the peer, or that no more will come."
  @type event :: {:lines, [binary()]} | :too_long | :eof | :closed

  @doc "Opens the channel. Lines may arrive from now on, as many as there is credit for."
  @callback open(options :: term()) :: {:ok, channel :: struct()} | {:error, term()}

  @doc "What a message of the process means to the channel; `:unknown` when it is not the channel's."
  @callback event(channel :: struct(), message :: term()) :: {[event()], struct()} | :unknown

  @doc "Lets the peer send one more batch of lines."
  @callback credit(channel :: struct()) :: :ok

  @doc "Writes messages, each of them one line. Blocks while the peer does not read."
  @callback write(channel :: struct(), [iodata()]) :: :ok | {:error, :closed}

  @doc "The connection has ended: everything was written that could be."
  @callback closed(channel :: struct(), reason :: :eof | :closed | :shutdown) :: :ok

  @doc "What the channel is called in telemetry."
  @callback transport() :: atom()
end
