defmodule McpServer.Connection.Replies do
  @moduledoc false
  # Where a message goes: to a lane, or, for the answer to a message of a JSON-RPC batch (2025-03-26), into
  # the one array that answers the batch.

  alias McpServer.Connection.{Channel, Outbox, State}

  @type target :: Channel.lane() | {:batch, reference()}
  @type batch :: %{lane: Channel.lane(), open: pos_integer(), replies: [iodata()]}

  @doc "Puts something that is not an answer on a lane."
  @spec put(State.t(), Channel.lane(), Channel.kind(), iodata()) :: State.t()
  def put(state, lane, kind, message), do: %{state | outbox: Outbox.put(state.outbox, {lane, kind, message})}

  @doc "Answers a message that arrived by `target`."
  @spec reply(State.t(), target(), iodata(), Channel.standing()) :: State.t()
  def reply(state, target, message, standing \\ :ok)
  def reply(state, {:batch, batch}, message, _standing), do: close(state, batch, [message])
  def reply(state, lane, message, standing), do: put(state, lane, {:answer, standing}, message)

  @doc "A message that arrived by `target` needs no answer, or gets none any more."
  @spec skip(State.t(), target(), :accepted | :dropped) :: State.t()
  def skip(state, {:batch, batch}, _kind), do: close(state, batch, [])
  def skip(state, lane, kind), do: put(state, lane, kind, [])

  @doc "The lane of a target, for what goes out before its answer."
  @spec lane(State.t(), target()) :: Channel.lane()
  def lane(state, {:batch, batch}), do: Map.fetch!(state.batches, batch).lane
  def lane(_state, lane), do: lane

  @doc "Opens a batch of `size` messages on a lane, each to be answered or skipped."
  @spec open_batch(State.t(), Channel.lane(), pos_integer()) :: {reference(), State.t()}
  def open_batch(state, lane, size) do
    batch = make_ref()
    {batch, %{state | batches: Map.put(state.batches, batch, %{lane: lane, open: size, replies: []})}}
  end

  defp close(state, reference, answer) do
    {batch, batches} = Map.pop!(state.batches, reference)

    case {batch.open, answer ++ batch.replies} do
      {1, []} -> skip(%{state | batches: batches}, batch.lane, :accepted)
      {1, replies} -> reply(%{state | batches: batches}, batch.lane, array(replies))
      {open, replies} -> %{state | batches: Map.put(batches, reference, %{batch | open: open - 1, replies: replies})}
    end
  end

  defp array(replies), do: [?[, replies |> Enum.reverse() |> Enum.intersperse(?,), ?]]
end
