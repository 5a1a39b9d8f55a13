defmodule McpServer.Connection.Outbox do
  @moduledoc false
  # Messages that wait to be written together: one write for whatever is ready is worth more than
  # anything else on a pipelined channel.

  defstruct messages: [], bytes: 0

  @type t :: %__MODULE__{messages: [iodata()], bytes: non_neg_integer()}

  # More than this is written at once: the peer should not wait for a long batch to be complete.
  @high_water_bytes 64 * 1024

  @doc "Adds a message."
  @spec put(t(), iodata()) :: t()
  def put(outbox, message) do
    %{outbox | messages: [message | outbox.messages], bytes: outbox.bytes + IO.iodata_length(message)}
  end

  @doc "Whether it should be written now, whatever else is going on."
  @spec full?(t()) :: boolean()
  def full?(outbox), do: outbox.bytes >= @high_water_bytes

  @doc "Whether there is nothing to write."
  @spec empty?(t()) :: boolean()
  def empty?(outbox), do: outbox.messages == []

  @doc "The messages in the order they were put, and an empty outbox."
  @spec take(t()) :: {[iodata()], t()}
  def take(outbox), do: {Enum.reverse(outbox.messages), %__MODULE__{}}
end
