defmodule McpServer.Connection.Replies do
  @moduledoc false
  # Where a message goes: to the outbox, or, for the answer to a message of a JSON-RPC batch
  # (2025-03-26), into the one array that answers the batch.

  alias McpServer.Connection.{Outbox, State}

  @type target :: :channel | {:batch, reference()}
  @type batch :: %{open: pos_integer(), replies: [iodata()]}

  @doc "Puts a message into the outbox."
  @spec put(State.t(), iodata()) :: State.t()
  def put(state, message), do: %{state | outbox: Outbox.put(state.outbox, message)}

  @doc "Answers a message that arrived by `target`."
  @spec reply(State.t(), target(), iodata()) :: State.t()
  def reply(state, :channel, message), do: put(state, message)
  def reply(state, {:batch, batch}, message), do: close(state, batch, [message])

  @doc "A message that arrived by `target` will not be answered."
  @spec skip(State.t(), target()) :: State.t()
  def skip(state, :channel), do: state
  def skip(state, {:batch, batch}), do: close(state, batch, [])

  @doc "Opens a batch of `size` messages, each to be answered or skipped."
  @spec open_batch(State.t(), pos_integer()) :: {reference(), State.t()}
  def open_batch(state, size) do
    batch = make_ref()
    {batch, %{state | batches: Map.put(state.batches, batch, %{open: size, replies: []})}}
  end

  defp close(state, reference, answer) do
    {%{open: open, replies: replies}, batches} = Map.pop!(state.batches, reference)
    replies = answer ++ replies

    case {open, replies} do
      {1, []} -> %{state | batches: batches}
      {1, replies} -> put(%{state | batches: batches}, array(replies))
      _still_open -> %{state | batches: Map.put(batches, reference, %{open: open - 1, replies: replies})}
    end
  end

  defp array(replies), do: [?[, replies |> Enum.reverse() |> Enum.intersperse(?,), ?]]
end
