defmodule McpServer.Connection.Outbox do
  @moduledoc false
  # Messages that wait to be written together: one write for whatever is ready is worth more than
  # anything else on a pipelined transport.

  alias McpServer.Connection.Transport

  defstruct entries: [], bytes: 0

  @type t :: %__MODULE__{entries: [Transport.entry()], bytes: non_neg_integer()}

  # More than this is written at once: the peer should not wait for a long batch to be complete.
  @high_water_bytes 64 * 1024

  @doc "Adds a message."
  @spec put(t(), Transport.entry()) :: t()
  def put(outbox, {_stream, _kind, message} = entry),
    do: %{outbox | entries: [entry | outbox.entries], bytes: outbox.bytes + IO.iodata_length(message)}

  @doc "Whether it should be written now, whatever else is going on."
  @spec full?(t()) :: boolean()
  def full?(outbox), do: outbox.bytes >= @high_water_bytes

  @doc "Whether there is nothing to write."
  @spec empty?(t()) :: boolean()
  def empty?(outbox), do: outbox.entries == []

  @doc "The messages in the order they were put, and an empty outbox."
  @spec take(t()) :: {[Transport.entry()], t()}
  def take(outbox), do: {Enum.reverse(outbox.entries), %__MODULE__{}}
end
