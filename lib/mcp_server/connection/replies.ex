defmodule McpServer.Connection.Replies do
  @moduledoc false
  # Sends messages to a stream. An answer to a message of a JSON-RPC batch (2025-03-26) goes into the array that answers
  # the batch.

  alias McpServer.Connection.{InFlight, Outbox, State, Transport}
  alias McpServer.Quota

  @type target :: Transport.stream() | {:batch, reference()}
  @typedoc """
  `:kind` is the answer to a batch without replies: `:dropped` if it had a request, which was cancelled. `:places` are
  those of its ended calls, `:bytes` those of the batch, and `:answers` those of its replies.
  """
  @type batch :: %{
          stream: Transport.stream(),
          open: pos_integer(),
          replies: [iodata()],
          kind: :accepted | :dropped,
          places: non_neg_integer(),
          bytes: non_neg_integer(),
          answers: non_neg_integer()
        }

  @doc "Puts a message other than an answer on a stream."
  @spec put(State.t(), Transport.stream(), Transport.kind(), iodata()) :: State.t()
  def put(state, stream, kind, message), do: %{state | outbox: Outbox.put(state.outbox, {stream, kind, message})}

  @doc "Answers a message that arrived by `target`."
  @spec reply(State.t(), target(), iodata(), Transport.standing()) :: State.t()
  def reply(state, target, message, standing \\ :ok)
  def reply(state, {:batch, batch}, message, _standing), do: close(state, batch, [message], :accepted)

  def reply(state, stream, message, standing),
    do: state |> count_unwritten(message) |> put(stream, {:answer, standing}, message)

  # Answers are written when the mailbox is empty, and many sessions of a client may have theirs before that.
  defp count_unwritten(%{in_flight: nil} = state, _message), do: state

  defp count_unwritten(state, message) do
    bytes = IO.iodata_length(message)

    if Quota.long?(bytes) do
      :ok = InFlight.keep_answer(state.in_flight, bytes)
      %{state | unwritten: state.unwritten + bytes}
    else
      state
    end
  end

  @doc "Closes a message that arrived by `target` without an answer."
  @spec skip(State.t(), target(), :accepted | :dropped) :: State.t()
  def skip(state, {:batch, batch}, kind), do: close(state, batch, [], kind)
  def skip(state, stream, kind), do: put(state, stream, kind, [])

  @doc "The stream of a target, for messages before its answer."
  @spec stream(State.t(), target()) :: Transport.stream()
  def stream(state, {:batch, batch}), do: Map.fetch!(state.batches, batch).stream
  def stream(_state, stream), do: stream

  @doc """
  Opens a batch of `size` messages on a stream, with the bytes that were taken for it. Each must be answered or skipped.
  """
  @spec open_batch(State.t(), Transport.stream(), pos_integer(), bytes :: non_neg_integer()) :: {reference(), State.t()}
  def open_batch(state, stream, size, bytes) do
    batch = make_ref()
    opened = %{stream: stream, open: size, replies: [], kind: :accepted, places: 0, bytes: bytes, answers: 0}
    {batch, %{state | batches: Map.put(state.batches, batch, opened)}}
  end

  @doc "Keeps place and bytes of an ended call until its batch is answered."
  @spec keep(State.t(), reference(), non_neg_integer()) :: State.t()
  def keep(state, reference, bytes) do
    keep = &%{&1 | places: &1.places + 1, bytes: &1.bytes + bytes}
    %{state | batches: Map.update!(state.batches, reference, keep)}
  end

  defp close(state, reference, answer, kind) do
    {batch, batches} = Map.pop!(state.batches, reference)
    kind = if kind == :dropped, do: kind, else: batch.kind

    case {batch.open, answer ++ batch.replies} do
      {1, []} ->
        skip(leave(state, batch, batches), batch.stream, kind)

      {1, replies} ->
        # The whole counts before its parts are given back.
        state |> reply(batch.stream, array(replies), :ok) |> leave(batch, batches)

      {open, replies} ->
        kept = IO.iodata_length(answer)
        if kept > 0, do: InFlight.keep_answer(state.in_flight, kept)
        batch = %{batch | open: open - 1, replies: replies, kind: kind, answers: batch.answers + kept}
        %{state | batches: Map.put(batches, reference, batch)}
    end
  end

  defp leave(state, batch, batches) do
    :ok = InFlight.leave_batch(state.in_flight, batch)
    %{state | batches: batches}
  end

  defp array(replies), do: [?[, replies |> Enum.reverse() |> Enum.intersperse(?,), ?]]
end
