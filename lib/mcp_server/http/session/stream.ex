defmodule McpServer.Http.Session.Stream do
  @moduledoc false
  # The response to one HTTP request of a session, as a value: nothing sent yet, a stream of events, or a stream whose
  # client has disconnected and may reconnect for the events it missed.
  #
  # The response is JSON if the answer is its first message. Otherwise it is a stream.

  alias McpServer.Http.{Exchange, Mount}
  alias McpServer.Http.Session.Replay
  alias McpServer.Protocol.HTTP

  @enforce_keys [:number, :exchange, :events?, :since, :quiet_ms]
  defstruct [
    :number,
    :exchange,
    :events?,
    :since,
    :quiet_ms,
    :replay,
    :asked,
    phase: :waiting,
    primes?: false,
    queued: 0,
    max_queued: 1024 * 1024,
    moved_at: nil
  ]

  @typedoc """
  * `:number` – the stream's number in event ids
  * `:exchange` – `nil` while the client is away
  * `:events?` – whether the response may be a stream: the client accepts one, and has sent a request
  * `:asked` – the ids of the requests that it answers, `nil` for the session's own stream
  * `:replay` – the stored events, once there is a stream
  * `:phase` – `:ended` is a stream whose answer was sent or stored
  * `:primes?` – whether a stream begins with an event that tells the client where to resume (2025-11-25)
  * `:since`, `:moved_at` – when its call began, and when bytes were last queued or sent (`now/0`). `:infinity` until the
    application has decided whether the call may begin: a refusal has its own status.
  * `:quiet_ms` – how long an open stream may be quiet
  * `:queued` – bytes not yet reported as sent; `:max_queued` – their maximum
  """
  @type t :: %__MODULE__{
          number: non_neg_integer(),
          exchange: Exchange.t() | nil,
          events?: boolean(),
          asked: HTTP.asked(),
          replay: Replay.t() | nil,
          phase: :waiting | :streaming | :away | :ended,
          primes?: boolean(),
          queued: non_neg_integer(),
          max_queued: pos_integer(),
          since: integer() | :infinity,
          quiet_ms: pos_integer(),
          moved_at: integer() | nil
        }

  @typedoc "The stream, or `:done` if it is over and stores nothing."
  @type rest :: {:ok, t()} | :done

  # How long a client waits before it reconnects to a stopped server, in milliseconds. The official clients try two or
  # three times, and a release takes some seconds to start.
  @come_back_ms 3_000

  # A handler waits while this many bytes are unsent.
  @congested_bytes 64 * 1024

  @doc "The monotonic time in milliseconds."
  @spec now() :: integer()
  def now, do: System.monotonic_time(:millisecond)

  @doc "Whether so many bytes are unsent that handlers should wait."
  @spec congested?(t()) :: boolean()
  def congested?(stream), do: stream.queued >= @congested_bytes

  @doc "Writes messages in order."
  @spec write(t(), [McpServer.Connection.Transport.entry()], Mount.t()) :: rest()
  def write(%{phase: :waiting} = stream, [{_stream, {:answer, standing}, message}], mount) do
    {status, headers} = Mount.standing(mount, standing)
    Exchange.reply(stream.exchange, status, headers, message)
    :done
  end

  def write(%{phase: :waiting} = stream, [{_stream, :accepted, []}], _mount) do
    Exchange.reply(stream.exchange, 202, [], [])
    :done
  end

  def write(%{phase: :waiting, events?: false} = stream, entries, mount) do
    case Enum.filter(entries, fn {_stream, kind, _message} -> ends?(kind) end) do
      [] -> {:ok, stream}
      [{number, :dropped, []}] -> write(stream, [{number, :accepted, []}], mount)
      [answer] -> write(stream, [answer], mount)
    end
  end

  def write(%{phase: phase} = stream, entries, _mount) do
    opening = if phase == :waiting, do: opening(stream), else: []
    {bytes, stream} = Enum.map_reduce(entries, stream, &line/2)
    end? = Enum.any?(entries, fn {_stream, kind, _message} -> ends?(kind) end)
    pause? = Enum.any?(entries, &match?({_stream, {:pause, _ms}, _message}, &1))

    if phase == :waiting,
      do: stream |> start([opening, bytes]) |> settle(end?, pause?),
      else: stream |> send_bytes(bytes) |> settle(end?, pause?)
  end

  defp ends?({:answer, _standing}), do: true
  defp ends?(kind), do: kind in [:dropped, :accepted]

  # The event that tells how long to wait also tells where to resume.
  defp line({_stream, {:pause, retry_ms}, []}, %{primes?: true, replay: %{}} = stream) do
    stream = put_empty(stream)
    {HTTP.priming_event(last_id(stream), retry_ms), stream}
  end

  defp line({_stream, _kind, []}, stream), do: {[], stream}
  defp line({_stream, _kind, message}, %{replay: nil} = stream), do: {HTTP.event(nil, message), stream}

  defp line({_stream, _kind, message}, stream) do
    event = HTTP.event({stream.number, stream.replay.next}, message)
    {event, %{stream | replay: Replay.put(stream.replay, event)}}
  end

  # On a pause the response ends, but the call continues.
  defp settle(stream, false, true), do: if(stream.primes?, do: {:ok, leave(stream)}, else: {:ok, stream})
  defp settle(stream, false, false), do: {:ok, stream}
  defp settle(%{replay: nil} = stream, true, _pause?), do: finish(stream)

  defp settle(stream, true, _pause?) do
    _done = finish(stream)
    {:ok, %{stream | exchange: nil, phase: :ended, queued: 0}}
  end

  defp finish(%{exchange: nil}), do: :done

  defp finish(stream) do
    Exchange.finish(stream.exchange)
    :done
  end

  @doc "The application decides whether the call of the stream may begin."
  @spec undecided(t()) :: t()
  def undecided(stream), do: %{stream | since: :infinity}

  @doc "The call of the stream begins."
  @spec decided(t()) :: t()
  def decided(stream), do: %{stream | since: now()}

  @doc "Opens the stream of a slow request, or of a session."
  @spec open(t()) :: t()
  def open(stream), do: start(stream, opening(stream))

  @doc "Opens the stream again for a client that does not ask for missed events."
  @spec open_anew(t(), Exchange.t()) :: t()
  def open_anew(stream, exchange) do
    open(%{put_empty(stream) | exchange: exchange, phase: :waiting})
  end

  defp start(%{phase: :waiting} = stream, first, send \\ &Exchange.stream/4) do
    :ok = send.(stream.exchange, 200, HTTP.event_stream_headers(), first)
    %{stream | phase: :streaming, queued: IO.iodata_length(first), moved_at: now()}
  end

  # A first event tells the client where to resume; without one, a comment shows that the stream is open.
  defp opening(%{primes?: true} = stream), do: HTTP.priming_event(last_id(stream))
  defp opening(_stream), do: HTTP.keep_alive()

  # Each event without data is an event of its own, so that no event id is used twice.
  defp put_empty(stream), do: %{stream | replay: Replay.put(stream.replay, [])}
  defp last_id(stream), do: {stream.number, stream.replay.next - 1}

  defp send_bytes(%{phase: :streaming, queued: queued, max_queued: most} = stream, bytes) when queued < most do
    :ok = Exchange.chunk(stream.exchange, bytes)
    count(stream, IO.iodata_length(bytes))
  end

  # A client that leaves too many bytes unread is disconnected.
  defp send_bytes(%{phase: :streaming} = stream, _bytes), do: cut(stream)

  # The events are stored for a client that reconnects.
  defp send_bytes(stream, _bytes), do: stream

  defp count(%{queued: 0} = stream, bytes), do: %{stream | queued: bytes, moved_at: now()}
  defp count(stream, bytes), do: %{stream | queued: stream.queued + bytes}

  @doc "Bytes have reached the socket."
  @spec sent(t(), non_neg_integer()) :: t()
  def sent(stream, bytes), do: %{stream | queued: max(stream.queued - bytes, 0), moved_at: now()}

  # Ends the exchange but keeps the stream.
  defp leave(%{exchange: nil} = stream), do: stream

  defp leave(stream) do
    Exchange.finish(stream.exchange)
    away(stream)
  end

  @doc "Marks the client as disconnected. It may reconnect."
  @spec away(t()) :: t()
  def away(%{phase: :ended} = stream), do: %{stream | exchange: nil}
  # A client that has seen no event has no event id to resume from.
  def away(%{phase: :waiting} = stream), do: %{stream | exchange: nil, phase: :away, replay: nil}
  def away(stream), do: %{stream | exchange: nil, phase: :away, queued: 0}

  @doc "Resumes the stream for a client that asks for the events after `index`."
  @spec resume(t(), Exchange.t(), non_neg_integer()) :: {:ok, t()} | {:error, :gone | :unknown | :taken}
  def resume(%{exchange: exchange}, _new, _index) when exchange != nil, do: {:error, :taken}
  def resume(%{replay: nil}, _exchange, _index), do: {:error, :unknown}

  def resume(stream, exchange, index) do
    ended? = stream.phase == :ended

    # The events have ids, so no first event has to tell where to resume.
    with {:ok, events} <- Replay.since(stream.replay, index) do
      back = start(%{stream | exchange: exchange, phase: :waiting}, [HTTP.keep_alive(), events], &Exchange.replay/4)
      if ended?, do: settle(back, true, false), else: {:ok, back}
    end
  end

  @doc "Does what is due: opens a stream for a slow request, sends a keep-alive, or ends a stalled stream."
  @spec tick(t(), Mount.t(), integer()) :: t()
  def tick(%{phase: :waiting, events?: true, since: since} = stream, mount, now) when since != :infinity do
    if now - stream.since >= mount.stream_after, do: open(stream), else: stream
  end

  def tick(%{phase: :streaming, queued: 0} = stream, _mount, now) do
    if now - stream.moved_at >= stream.quiet_ms, do: send_bytes(stream, HTTP.keep_alive()), else: stream
  end

  def tick(%{phase: :streaming} = stream, mount, now) do
    if now - stream.moved_at >= mount.stall_timeout, do: cut(stream), else: stream
  end

  def tick(stream, _mount, _now), do: stream

  defp cut(stream) do
    Exchange.abort(stream.exchange)
    away(stream)
  end

  @doc "When `tick/3` is due next."
  @spec due(t(), Mount.t()) :: integer() | nil
  def due(%{phase: :waiting, events?: true, since: since}, mount) when since != :infinity,
    do: since + mount.stream_after

  def due(%{phase: :streaming, queued: 0} = stream, _mount), do: stream.moved_at + stream.quiet_ms
  def due(%{phase: :streaming} = stream, mount), do: stream.moved_at + mount.stall_timeout
  def due(_stream, _mount), do: nil

  @doc """
  Ends the response because the session ends here: a waiting client gets the status and body, and one that reads a stream
  gets the body as the last event. Without it, clients would wait for the answer.

  With `come_back?` the session continues on another node. From 2025-11-25 on the end of the session's stream tells
  where to resume, and after how long.
  """
  @spec close(t(), HTTP.answer(), come_back? :: boolean()) :: :ok
  def close(%{exchange: nil}, _answer, _come_back?), do: :ok

  def close(%{phase: :waiting, asked: asked} = stream, answer, _come_back?) do
    {status, headers, body} = HTTP.answer_to(asked, answer)
    Exchange.reply(stream.exchange, status, headers, body)
    :ok
  end

  def close(%{number: 0, primes?: true, replay: %{}} = stream, _answer, true) do
    Exchange.chunk(stream.exchange, HTTP.priming_event({0, stream.replay.next}, @come_back_ms))
    Exchange.finish(stream.exchange)
  end

  def close(%{asked: nil} = stream, _answer, _come_back?), do: Exchange.finish(stream.exchange)

  def close(%{asked: asked} = stream, answer, _come_back?) do
    {_status, _headers, body} = HTTP.answer_to(asked, answer)
    Exchange.chunk(stream.exchange, HTTP.event(nil, body))
    Exchange.finish(stream.exchange)
  end
end
