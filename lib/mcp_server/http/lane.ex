defmodule McpServer.Http.Lane do
  @moduledoc false
  # One HTTP request on its way to an answer, as a value: nothing sent yet, a stream of events, or, in the
  # session era, a stream whose client is away and may come back for what it missed.
  #
  # A request is answered with JSON if its answer is the first thing there is to say, and else with a stream.

  alias McpServer.Http.{Exchange, Mount, Replay, Sink}
  alias McpServer.Protocol.HTTP

  @enforce_keys [:number, :exchange, :events?, :since, :quiet_ms]
  defstruct [
    :number,
    :exchange,
    :events?,
    :since,
    :quiet_ms,
    :replay,
    phase: :waiting,
    primes?: false,
    queued: 0,
    max_queued: 1024 * 1024,
    moved_at: nil
  ]

  @typedoc """
  * `:number` – the stream's number in event ids
  * `:exchange` – `nil` while the client is away
  * `:events?` – whether the client takes a stream
  * `:replay` – the session era's stored events, once there is a stream
  * `:phase` – `:ended` is a stream whose answer was sent or stored
  * `:primes?` – whether a stream begins with an event that says where to resume (2025-11-25)
  * `:since`, `:moved_at` – when it began, and when bytes last went out or were taken (`now/0`)
  * `:quiet_ms` – how long an open stream may be quiet
  * `:queued` – bytes that were not reported as sent; `:max_queued` – how many they may be
  """
  @type t :: %__MODULE__{
          number: non_neg_integer(),
          exchange: Exchange.t() | nil,
          events?: boolean(),
          replay: Replay.t() | nil,
          phase: :waiting | :streaming | :away | :ended,
          primes?: boolean(),
          queued: non_neg_integer(),
          max_queued: pos_integer(),
          since: integer(),
          quiet_ms: pos_integer(),
          moved_at: integer() | nil
        }

  @typedoc "What is left of a lane: it goes on, or nothing more will be sent or kept."
  @type rest :: {:ok, t()} | :done

  # A handler waits when this much is not sent.
  @congested_bytes 64 * 1024

  @doc "Milliseconds that only go forward."
  @spec now() :: integer()
  def now, do: System.monotonic_time(:millisecond)

  @doc "Whether it has enough to send for now."
  @spec congested?(t()) :: boolean()
  def congested?(lane), do: lane.queued >= @congested_bytes

  @doc "Writes what there is to say, in order."
  @spec write(t(), [McpServer.Connection.Channel.entry()], Mount.t()) :: rest()
  def write(%{phase: :waiting} = lane, [{_lane, {:answer, standing}, message}], mount) do
    {status, headers} = Mount.standing(mount, standing)
    Exchange.reply(lane.exchange, status, headers, message)
    :done
  end

  def write(%{phase: :waiting} = lane, [{_lane, :accepted, []}], _mount) do
    Exchange.reply(lane.exchange, 202, [], [])
    :done
  end

  def write(%{phase: :waiting, events?: false} = lane, entries, mount) do
    case Enum.filter(entries, fn {_lane, kind, _message} -> ends?(kind) end) do
      [] -> {:ok, lane}
      [{number, :dropped, []}] -> write(lane, [{number, :accepted, []}], mount)
      [answer] -> write(lane, [answer], mount)
    end
  end

  def write(%{phase: phase} = lane, entries, _mount) do
    opening = if phase == :waiting, do: opening(lane), else: []
    {bytes, lane} = Enum.map_reduce(entries, lane, &line/2)
    end? = Enum.any?(entries, fn {_lane, kind, _message} -> ends?(kind) end)
    pause? = Enum.any?(entries, &match?({_lane, {:pause, _ms}, _message}, &1))

    if phase == :waiting,
      do: lane |> start([opening, bytes]) |> settle(end?, pause?),
      else: lane |> send_bytes(bytes) |> settle(end?, pause?)
  end

  defp ends?({:answer, _standing}), do: true
  defp ends?(kind), do: kind in [:dropped, :accepted]

  # What says how long to wait says once more where to resume.
  defp line({_lane, {:pause, retry_ms}, []}, %{primes?: true, replay: %{}} = lane),
    do: {HTTP.priming_event({lane.number, lane.replay.next - 1}, retry_ms), lane}

  defp line({_lane, _kind, []}, lane), do: {[], lane}
  defp line({_lane, _kind, message}, %{replay: nil} = lane), do: {HTTP.event(nil, message), lane}

  defp line({_lane, _kind, message}, lane) do
    event = HTTP.event({lane.number, lane.replay.next}, message)
    {event, %{lane | replay: Replay.put(lane.replay, event)}}
  end

  # The client is told, but what goes on is not over.
  defp settle(lane, false, true), do: if(lane.primes?, do: {:ok, leave(lane)}, else: {:ok, lane})
  defp settle(lane, false, false), do: {:ok, lane}
  defp settle(%{replay: nil} = lane, true, _pause?), do: finish(lane)

  defp settle(lane, true, _pause?) do
    _done = finish(lane)
    {:ok, %{lane | exchange: nil, phase: :ended, queued: 0}}
  end

  defp finish(%{exchange: nil}), do: :done

  defp finish(lane) do
    Exchange.finish(lane.exchange)
    :done
  end

  @doc "Opens the stream of a request that takes its time, or of a session."
  @spec open(t()) :: t()
  def open(lane), do: start(lane, opening(lane))

  @doc "The client opens a stream anew and wants nothing of what it missed."
  @spec open_anew(t(), Exchange.t()) :: t()
  def open_anew(lane, exchange) do
    # It begins with an event of its own: no id is given out twice.
    open(%{lane | exchange: exchange, phase: :waiting, replay: Replay.put(lane.replay, [])})
  end

  defp start(%{phase: :waiting} = lane, first) do
    streaming = %{lane | phase: :streaming, queued: IO.iodata_length(first), moved_at: now()}

    :ok = Exchange.stream(lane.exchange, 200, HTTP.event_stream_headers(), first)
    streaming
  end

  # A first event tells the client where to resume; without one, a comment shows that the stream is open.
  defp opening(%{primes?: true} = lane), do: HTTP.priming_event({lane.number, lane.replay.next - 1})
  defp opening(_lane), do: HTTP.keep_alive()

  defp send_bytes(%{phase: :streaming, queued: queued, max_queued: most} = lane, bytes) when queued < most do
    :ok = Exchange.chunk(lane.exchange, bytes)
    count(lane, IO.iodata_length(bytes))
  end

  # A client that leaves that much lying is cut off.
  defp send_bytes(%{phase: :streaming} = lane, _bytes), do: cut(lane)

  # Stored for a client that comes back.
  defp send_bytes(lane, _bytes), do: lane

  defp count(%{queued: 0} = lane, bytes), do: %{lane | queued: bytes, moved_at: now()}
  defp count(lane, bytes), do: %{lane | queued: lane.queued + bytes}

  @doc "Bytes have reached the socket."
  @spec sent(t(), non_neg_integer()) :: t()
  def sent(lane, bytes), do: %{lane | queued: max(lane.queued - bytes, 0), moved_at: now()}

  # Ends the exchange, keeps the lane.
  defp leave(%{exchange: nil} = lane), do: lane

  defp leave(lane) do
    Exchange.finish(lane.exchange)
    away(lane)
  end

  @doc "The client is gone; in the session era it may come back."
  @spec away(t()) :: t()
  def away(%{phase: :ended} = lane), do: %{lane | exchange: nil}
  # A client that has seen no event cannot say which stream it lost.
  def away(%{phase: :waiting} = lane), do: %{lane | exchange: nil, phase: :away, replay: nil}
  def away(lane), do: %{lane | exchange: nil, phase: :away, queued: 0}

  @doc "The client is back and wants what came after event `index`."
  @spec resume(t(), Exchange.t(), non_neg_integer()) :: {:ok, t()} | {:error, :gone | :unknown | :taken}
  def resume(%{exchange: exchange}, _new, _index) when exchange != nil, do: {:error, :taken}
  def resume(%{replay: nil}, _exchange, _index), do: {:error, :unknown}

  def resume(lane, exchange, index) do
    # Its events say themselves where to resume.
    with {:ok, events} <- Replay.since(lane.replay, index) do
      back = start(%{lane | exchange: exchange, phase: :waiting}, [HTTP.keep_alive(), events])
      if lane.phase == :ended, do: settle(back, true, false), else: {:ok, back}
    end
  end

  @doc "What is due now: a stream for a request that takes its time, a sign of life, or the end of a stalled one."
  @spec tick(t(), Mount.t(), integer()) :: t()
  def tick(%{phase: :waiting, events?: true} = lane, mount, now) do
    if now - lane.since >= mount.stream_after, do: open(lane), else: lane
  end

  def tick(%{phase: :streaming, queued: 0} = lane, _mount, now) do
    if now - lane.moved_at >= lane.quiet_ms, do: send_bytes(lane, HTTP.keep_alive()), else: lane
  end

  def tick(%{phase: :streaming} = lane, mount, now) do
    if now - lane.moved_at >= mount.stall_timeout, do: cut(lane), else: lane
  end

  def tick(lane, _mount, _now), do: lane

  defp cut(lane) do
    Exchange.abort(lane.exchange)
    away(lane)
  end

  @doc "When `tick/3` has something to do next."
  @spec due(t(), Mount.t()) :: integer() | nil
  def due(%{phase: :waiting, events?: true} = lane, mount), do: lane.since + mount.stream_after
  def due(%{phase: :streaming, queued: 0} = lane, _mount), do: lane.moved_at + lane.quiet_ms
  def due(%{phase: :streaming} = lane, mount), do: lane.moved_at + mount.stall_timeout
  def due(_lane, _mount), do: nil

  @doc "The connection ends: whoever waits is told so."
  @spec close(t(), Sink.headers(), pos_integer(), iodata()) :: :ok
  def close(%{exchange: nil}, _headers, _status, _body), do: :ok

  def close(%{phase: :waiting} = lane, headers, status, body) do
    Exchange.reply(lane.exchange, status, headers, body)
    :ok
  end

  def close(lane, _headers, _status, _body), do: Exchange.finish(lane.exchange)
end
