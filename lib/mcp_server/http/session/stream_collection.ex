defmodule McpServer.Http.Session.StreamCollection do
  @moduledoc false
  # The streams of a session, by key and by exchange, including the last few ended ones.

  alias McpServer.Http.Mount
  alias McpServer.Http.Session.{Replay, Stream}

  defstruct streams: %{}, keys: %{}, next: 1, ended: :queue.new(), ended_count: 0

  @type key :: :session | pos_integer()

  @typedoc "`:keys` maps exchanges to keys. `:ended` are the keys of ended streams that a client may still resume."
  @type t :: %__MODULE__{
          streams: %{key() => Stream.t()},
          keys: %{reference() => key()},
          next: pos_integer(),
          ended: :queue.queue(key()),
          ended_count: non_neg_integer()
        }

  # A client resumes a stream soon after it lost it, so a few ended ones suffice.
  @max_ended 16

  @doc "An empty collection. Its first stream will have the number `first`."
  @spec new(pos_integer()) :: t()
  def new(first \\ 1), do: %__MODULE__{next: first}

  @doc "A number for the next stream."
  @spec number(t()) :: {pos_integer(), t()}
  def number(streams), do: {streams.next, %{streams | next: streams.next + 1}}

  @doc "An empty event store for a stream whose events are counted from `first`."
  @spec replay(Mount.t(), Replay.account(), first :: non_neg_integer()) :: Replay.t()
  def replay(mount, account, first \\ 0) do
    %Replay{
      account: account,
      max_events: mount.max_events,
      max_bytes: mount.max_event_bytes,
      first: first,
      next: first + 1
    }
  end

  @spec fetch(t(), key()) :: {:ok, Stream.t()} | :error
  def fetch(%__MODULE__{streams: streams}, key), do: Map.fetch(streams, key)

  @doc "The stream of an exchange."
  @spec find(t(), reference()) :: {:ok, {key(), Stream.t()}} | :error
  def find(%__MODULE__{keys: keys, streams: streams}, ref) do
    with {:ok, key} <- Map.fetch(keys, ref), do: {:ok, {key, Map.fetch!(streams, key)}}
  end

  @doc "Stores a stream under its key."
  @spec put(t(), key(), Stream.t()) :: t()
  def put(%__MODULE__{} = all, key, stream) do
    before = Map.get(all.streams, key)
    keys = all.keys |> forget(before) |> remember(key, stream)
    all = %{all | streams: Map.put(all.streams, key, stream), keys: keys}
    if stream.phase == :ended and (before == nil or before.phase != :ended), do: ended(all, key), else: all
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

  @doc "Drops a stream and its stored events."
  @spec drop(t(), key()) :: t()
  def drop(%__MODULE__{} = all, key) do
    case Map.pop(all.streams, key) do
      {nil, _streams} ->
        all

      {stream, streams} ->
        if stream.replay, do: Replay.clear(stream.replay)
        %{all | streams: streams, keys: forget(all.keys, stream)}
    end
  end

  @doc "Drops stored events of so many bytes, those of the oldest streams first."
  @spec make_room(t(), bytes :: pos_integer()) :: t()
  def make_room(%__MODULE__{} = all, bytes) do
    # The session's stream comes last: it is the oldest, but its events may be recent.
    keys = all.streams |> Map.keys() |> Enum.sort_by(&{&1 == :session, &1})

    {streams, _left} =
      Enum.reduce(keys, {all.streams, bytes}, fn key, {streams, left} ->
        case streams do
          %{^key => %{replay: %Replay{} = replay} = stream} when left > 0 ->
            {replay, left} = Replay.forget(replay, left)
            {%{streams | key => %{stream | replay: replay}}, left}

          _nothing_stored ->
            {streams, left}
        end
      end)

    %{all | streams: streams}
  end

  @doc "Whether any stream has a connected client."
  @spec busy?(t()) :: boolean()
  def busy?(%__MODULE__{streams: streams}), do: Enum.any?(streams, fn {_key, stream} -> stream.exchange != nil end)

  @doc "Whether any request has no response yet."
  @spec waiting?(t()) :: boolean()
  def waiting?(%__MODULE__{streams: streams}), do: Enum.any?(streams, fn {_key, stream} -> stream.phase == :waiting end)

  @doc "Does what is due on each stream. Returns the changed streams, and when the next one is due."
  @spec tick(t(), Mount.t(), integer()) :: {[{key(), Stream.t()}], integer() | nil}
  def tick(%__MODULE__{streams: streams}, mount, now) do
    Enum.reduce(streams, {[], nil}, fn {key, stream}, {changed, due} ->
      case Stream.tick(stream, mount, now) do
        ^stream -> {changed, earlier(due, Stream.due(stream, mount))}
        stream -> {[{key, stream} | changed], earlier(due, Stream.due(stream, mount))}
      end
    end)
  end

  defp earlier(nil, due), do: due
  defp earlier(due, nil), do: due
  defp earlier(one, other), do: min(one, other)

  @spec each(t(), (Stream.t() -> term())) :: :ok
  def each(%__MODULE__{streams: streams}, fun), do: Enum.each(streams, fn {_key, stream} -> fun.(stream) end)
end
