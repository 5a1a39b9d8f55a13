defmodule McpServer.Http.Session.Replay do
  @moduledoc false
  # The last events of a stream, for a client that reconnects with `Last-Event-ID`. One replay is bounded in events and
  # bytes, and all replays of the node together in bytes. No client has more than its share of these bytes. When room is
  # short, the client that stores most loses its oldest events.

  alias McpServer.Quota
  alias McpServer.Quota.Client

  @enforce_keys [:account, :max_events, :max_bytes]
  defstruct [:account, :max_events, :max_bytes, events: :queue.new(), first: 0, next: 1, count: 0, bytes: 0]

  @typedoc """
  Whose the stored bytes are: `:quota` counts those of the node and of each client, and `:own` those of the session, which
  are given back when its process has ended. `:make_room` is called when the node has little room left.
  """
  @type account :: %{
          quota: Quota.t(),
          client: Client.t(),
          own: :atomics.atomics_ref(),
          make_room: (() -> term())
        }

  @typedoc """
  `:first` is the index of the event that opens the stream, `:next` that of the next event. The `:count` events before
  it are stored.
  """
  @type t :: %__MODULE__{
          account: account(),
          max_events: pos_integer(),
          max_bytes: pos_integer(),
          events: :queue.queue({iodata(), size :: non_neg_integer()}),
          first: non_neg_integer(),
          next: pos_integer(),
          count: non_neg_integer(),
          bytes: non_neg_integer()
        }

  @doc "Stores an event under the previous `:next` as its index."
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

  defp over?(%{quota: quota, client: client}), do: Quota.over?(quota, :event_bytes, client)

  # Other sessions free room before the last eighth is used. That eighth is a reserve until they have done so.
  defp scarce?(%{quota: quota}) do
    limit = Quota.limit(quota, :event_bytes)
    Quota.held(quota, :event_bytes) > limit - div(limit, 8)
  end

  defp drop(replay) do
    {{:value, {_event, size}}, events} = :queue.out(replay.events)
    charge(replay.account, -size)
    %{replay | events: events, count: replay.count - 1, bytes: replay.bytes - size}
  end

  @doc """
  The events after the one with `index`.

  `{:error, :gone}` if some of them are no longer stored, `{:error, :unknown}` if this stream had no such event.
  """
  @spec since(t(), non_neg_integer()) :: {:ok, [iodata()]} | {:error, :gone | :unknown}
  def since(%__MODULE__{first: first, next: next, count: count} = replay, index) do
    missed = next - 1 - index

    cond do
      missed < 0 or index < first -> {:error, :unknown}
      missed > count -> {:error, :gone}
      true -> {:ok, for({event, _size} <- last(replay.events, count - missed), do: event)}
    end
  end

  defp last(events, skipped), do: events |> :queue.to_list() |> Enum.drop(skipped)

  @doc """
  Drops the oldest events until at least `bytes` are freed or none is left. `left` is the number of bytes still to free.
  """
  @spec forget(t(), bytes :: integer()) :: {t(), left :: integer()}
  def forget(%__MODULE__{count: count} = replay, bytes) when count == 0 or bytes <= 0, do: {replay, bytes}

  def forget(replay, bytes) do
    smaller = drop(replay)
    forget(smaller, bytes - (replay.bytes - smaller.bytes))
  end

  @doc "Drops all events."
  @spec clear(t()) :: :ok
  def clear(%__MODULE__{account: account, bytes: bytes}) do
    charge(account, -bytes)
    :ok
  end

  # A session that is killed in between leaves a count that is too high, never too low.
  defp charge(%{quota: quota, client: client, own: own}, bytes) when bytes > 0 do
    :ok = Quota.take_anyway(quota, :event_bytes, client, bytes)
    :atomics.add(own, 1, bytes)
  end

  defp charge(%{quota: quota, client: client, own: own}, bytes) do
    :atomics.add(own, 1, bytes)
    Quota.give(quota, :event_bytes, client, -bytes)
  end
end
