defmodule McpServer.Http.Lanes do
  @moduledoc false
  # The lanes of a connection, found by key and by exchange, and of a session's ended streams the last few.

  alias McpServer.Http.{Lane, Mount, Replay}

  defstruct lanes: %{}, keys: %{}, next: 1, ended: :queue.new(), ended_count: 0

  @type key :: :channel | pos_integer()

  @typedoc "`:keys` finds a lane by its exchange, `:ended` are the keys of streams kept for clients that come back."
  @type t :: %__MODULE__{
          lanes: %{key() => Lane.t()},
          keys: %{reference() => key()},
          next: pos_integer(),
          ended: :queue.queue(key()),
          ended_count: non_neg_integer()
        }

  # A client resumes the stream it lost, not one of an hour ago.
  @max_ended 16

  @spec new() :: t()
  def new, do: %__MODULE__{}

  @doc "A number for the next lane."
  @spec number(t()) :: {pos_integer(), t()}
  def number(lanes), do: {lanes.next, %{lanes | next: lanes.next + 1}}

  @doc "An empty event store for a session's stream."
  @spec replay(Mount.t(), Replay.account()) :: Replay.t()
  def replay(mount, account),
    do: %Replay{account: account, max_events: mount.max_events, max_bytes: mount.max_event_bytes}

  @spec fetch(t(), key()) :: {:ok, Lane.t()} | :error
  def fetch(%__MODULE__{lanes: lanes}, key), do: Map.fetch(lanes, key)

  @doc "The lane of an exchange."
  @spec find(t(), reference()) :: {:ok, {key(), Lane.t()}} | :error
  def find(%__MODULE__{keys: keys, lanes: lanes}, ref) do
    with {:ok, key} <- Map.fetch(keys, ref), do: {:ok, {key, Map.fetch!(lanes, key)}}
  end

  @doc "Puts a lane in place of what was there."
  @spec put(t(), key(), Lane.t()) :: t()
  def put(%__MODULE__{} = all, key, lane) do
    before = Map.get(all.lanes, key)
    keys = all.keys |> forget(before) |> remember(key, lane)
    all = %{all | lanes: Map.put(all.lanes, key, lane), keys: keys}
    if lane.phase == :ended and (before == nil or before.phase != :ended), do: ended(all, key), else: all
  end

  defp forget(keys, %{exchange: %{ref: ref}}), do: Map.delete(keys, ref)
  defp forget(keys, _no_exchange), do: keys

  defp remember(keys, key, %{exchange: %{ref: ref}}), do: Map.put(keys, ref, key)
  defp remember(keys, _key, _no_exchange), do: keys

  defp ended(all, key) do
    all = %{all | ended: :queue.in(key, all.ended), ended_count: all.ended_count + 1}

    if all.ended_count > @max_ended do
      {{:value, oldest}, ended} = :queue.out(all.ended)
      drop(%{all | ended: ended, ended_count: all.ended_count - 1}, oldest)
    else
      all
    end
  end

  @doc "Forgets a lane and what it stored."
  @spec drop(t(), key()) :: t()
  def drop(%__MODULE__{} = all, key) do
    case Map.pop(all.lanes, key) do
      {nil, _lanes} ->
        all

      {lane, lanes} ->
        if lane.replay, do: Replay.clear(lane.replay)
        %{all | lanes: lanes, keys: forget(all.keys, lane)}
    end
  end

  @doc "Forgets stored events of so many bytes, those of the oldest streams first."
  @spec make_room(t(), bytes :: pos_integer()) :: t()
  def make_room(%__MODULE__{} = all, bytes) do
    # A session's own stream is as old as the session, and its events as new as any.
    keys = all.lanes |> Map.keys() |> Enum.sort_by(&{&1 == :channel, &1})

    {lanes, _left} =
      Enum.reduce(keys, {all.lanes, bytes}, fn key, {lanes, left} ->
        case lanes do
          %{^key => %{replay: %Replay{} = replay} = lane} when left > 0 ->
            {replay, left} = Replay.forget(replay, left)
            {%{lanes | key => %{lane | replay: replay}}, left}

          _nothing_stored ->
            {lanes, left}
        end
      end)

    %{all | lanes: lanes}
  end

  @doc "Whether a client waits or listens."
  @spec busy?(t()) :: boolean()
  def busy?(%__MODULE__{lanes: lanes}), do: Enum.any?(lanes, fn {_key, lane} -> lane.exchange != nil end)

  @doc "Whether a request has not been answered at all yet."
  @spec waiting?(t()) :: boolean()
  def waiting?(%__MODULE__{lanes: lanes}), do: Enum.any?(lanes, fn {_key, lane} -> lane.phase == :waiting end)

  @doc "Does what is due on each lane: those that changed, and when the next is due."
  @spec tick(t(), Mount.t(), integer()) :: {[{key(), Lane.t()}], integer() | nil}
  def tick(%__MODULE__{lanes: lanes}, mount, now) do
    Enum.reduce(lanes, {[], nil}, fn {key, lane}, {changed, due} ->
      case Lane.tick(lane, mount, now) do
        ^lane -> {changed, earlier(due, Lane.due(lane, mount))}
        lane -> {[{key, lane} | changed], earlier(due, Lane.due(lane, mount))}
      end
    end)
  end

  defp earlier(nil, due), do: due
  defp earlier(due, nil), do: due
  defp earlier(one, other), do: min(one, other)

  @spec each(t(), (Lane.t() -> term())) :: :ok
  def each(%__MODULE__{lanes: lanes}, fun), do: Enum.each(lanes, fn {_key, lane} -> fun.(lane) end)
end
