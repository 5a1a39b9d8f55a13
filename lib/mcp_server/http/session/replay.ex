defmodule McpServer.Http.Session.Replay do
  @moduledoc false
  # The last events of a stream, for a client that comes back with `Last-Event-ID`: a value, bounded in
  # number and bytes, and with all others of the node in bytes. Of these no client has more than its share, and
  # when room is short the client that has most of them loses its oldest events.

  @enforce_keys [:account, :max_events, :max_bytes]
  defstruct [:account, :max_events, :max_bytes, events: :queue.new(), next: 1, count: 0, bytes: 0]

  @typedoc """
  Who pays for stored bytes: the node's counter, and the session's own, by which the node's is put right
  when the session's process is gone. `:holder` counts those of all sessions of one client, and `:make_room` is
  called when there is little left on the node.
  """
  @type account :: %{
          required(:node) => :atomics.atomics_ref(),
          required(:own) => :atomics.atomics_ref(),
          required(:max_bytes) => pos_integer(),
          optional(:holder) => %{counter: :atomics.atomics_ref(), max_bytes: pos_integer()},
          optional(:make_room) => (() -> term())
        }

  @typedoc "`:next` is the index of the next event; the stored ones are the `:count` before it."
  @type t :: %__MODULE__{
          account: account(),
          max_events: pos_integer(),
          max_bytes: pos_integer(),
          events: :queue.queue({iodata(), size :: non_neg_integer()}),
          next: pos_integer(),
          count: non_neg_integer(),
          bytes: non_neg_integer()
        }

  @doc "Stores an event; its index is the `:next` of before."
  @spec put(t(), iodata()) :: t()
  def put(replay, event) do
    size = IO.iodata_length(event)
    charge(replay.account, size)
    if scarce?(replay.account), do: replay.account.make_room.()

    trim(%{
      replay
      | events: :queue.in({event, size}, replay.events),
        next: replay.next + 1,
        count: replay.count + 1,
        bytes: replay.bytes + size
    })
  end

  defp trim(%{count: 0} = replay), do: replay

  defp trim(%{account: account} = replay) do
    if replay.count > replay.max_events or replay.bytes > replay.max_bytes or over?(account),
      do: replay |> drop() |> trim(),
      else: replay
  end

  defp over?(%{holder: %{counter: counter, max_bytes: max_bytes}} = account),
    do: :atomics.get(counter, 1) > max_bytes or over_node?(account)

  defp over?(account), do: over_node?(account)
  defp over_node?(account), do: :atomics.get(account.node, 1) > account.max_bytes

  # Others give way before the last eighth is used; what is left is for the time that takes.
  defp scarce?(%{make_room: _fun} = account),
    do: :atomics.get(account.node, 1) > account.max_bytes - div(account.max_bytes, 8)

  defp scarce?(_account), do: false

  defp drop(replay) do
    {{:value, {_event, size}}, events} = :queue.out(replay.events)
    charge(replay.account, -size)
    %{replay | events: events, count: replay.count - 1, bytes: replay.bytes - size}
  end

  @doc """
  The events after the one with `index`.

  `{:error, :gone}` where some of them are no longer stored, `{:error, :unknown}` where there never was such
  an event. Index 0 is the event that opens a stream.
  """
  @spec since(t(), non_neg_integer()) :: {:ok, [iodata()]} | {:error, :gone | :unknown}
  def since(%__MODULE__{next: next, count: count} = replay, index) do
    missed = next - 1 - index

    cond do
      missed < 0 -> {:error, :unknown}
      missed > count -> {:error, :gone}
      true -> {:ok, for({event, _size} <- last(replay.events, count - missed), do: event)}
    end
  end

  defp last(events, skipped), do: events |> :queue.to_list() |> Enum.drop(skipped)

  @doc "Forgets the oldest events, of so many bytes at least or all there are; how many bytes are still to go."
  @spec forget(t(), bytes :: integer()) :: {t(), left :: integer()}
  def forget(%__MODULE__{count: count} = replay, bytes) when count == 0 or bytes <= 0, do: {replay, bytes}

  def forget(replay, bytes) do
    smaller = drop(replay)
    forget(smaller, bytes - (replay.bytes - smaller.bytes))
  end

  @doc "Forgets every event."
  @spec clear(t()) :: :ok
  def clear(%__MODULE__{account: account, bytes: bytes}) do
    charge(account, -bytes)
    :ok
  end

  defp charge(account, bytes) do
    :atomics.add(account.node, 1, bytes)
    :atomics.add(account.own, 1, bytes)
    with %{holder: %{counter: counter}} <- account, do: :atomics.add(counter, 1, bytes)
  end
end
