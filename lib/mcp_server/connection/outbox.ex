defmodule McpServer.Connection.Outbox do
  @moduledoc false
  # Messages that wait to be written together. On a pipelined transport, one write for all ready messages is the most
  # effective optimization.

  alias McpServer.Connection.Transport

  defstruct entries: [], bytes: 0

  @type t :: %__MODULE__{entries: [Transport.entry()], bytes: non_neg_integer()}

  # A larger outbox is written at once, so that the peer need not wait for a long batch.
  @high_water_bytes 64 * 1024

  @doc "Adds a message."
  @spec put(t(), Transport.entry()) :: t()
  def put(%{entries: entries, bytes: bytes} = outbox, {_stream, _kind, message} = entry),
    do: %{outbox | entries: [entry | entries], bytes: bytes + IO.iodata_length(message)}

  @doc "Whether it must be written now."
  @spec full?(t()) :: boolean()
  def full?(outbox), do: outbox.bytes >= @high_water_bytes

  @doc "Whether it has no messages."
  @spec empty?(t()) :: boolean()
  def empty?(outbox), do: outbox.entries == []

  @doc "The messages in order of arrival, and an empty outbox."
  @spec take(t()) :: {[Transport.entry()], t()}
  def take(outbox), do: {Enum.reverse(outbox.entries), %__MODULE__{}}
end
