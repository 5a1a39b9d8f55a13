defmodule McpServer.Http.Channel do
  @moduledoc false
  # A session's HTTP requests as a connection's channel (session era): each is a lane, `:channel` is the session's own
  # stream. They all belong to one client, whose streams are kept for resumption.

  @behaviour McpServer.Connection.Channel

  alias McpServer.Connection.{InFlight, Timer}
  alias McpServer.Http.{Exchange, Lane, Lanes, Mount, Sessions}
  alias McpServer.Protocol.HTTP

  @enforce_keys [:mount, :lanes, :session]
  defstruct [:mount, :lanes, :session, :timer]

  @typedoc """
  * `:session` – what is fixed for a session; `:in_flight` also knows when the client last asked for something
  * `:timer` – when something is due, and the timer for it
  """
  @type t :: %__MODULE__{
          mount: Mount.t(),
          lanes: Lanes.t(),
          session: %{
            id: String.t(),
            revision: String.t(),
            account: McpServer.Http.Replay.account(),
            in_flight: InFlight.t()
          },
          timer: Timer.t()
        }

  # Streams can be resumed by event id from 2025-03-26 on; from 2025-11-25 on they begin with one.
  @primed_since "2025-11-25"

  @impl true
  def open(%{mount: mount, session: session}) do
    Process.send_after(self(), :mcp_http_lifetime, mount.session_lifetime)
    Process.send_after(self(), :mcp_http_idle, mount.idle_timeout)
    {:ok, %__MODULE__{mount: mount, lanes: Lanes.new(), session: session}}
  end

  @impl true
  def event(channel, {:mcp_http_request, exchange, outcome, origin}) do
    with_exchange(channel, exchange, fn channel, exchange ->
      {lane, channel} = add(channel, exchange, origin.events?, Lane.now())
      {[{:admitted, lane, outcome, origin}], channel}
    end)
  end

  def event(channel, {:mcp_http_listen, exchange, last_event}), do: listen(channel, exchange, last_event)

  def event(%{session: %{}} = channel, {:mcp_http_forget, bytes}),
    do: {[], %{channel | lanes: Lanes.make_room(channel.lanes, bytes)}}

  def event(channel, {:mcp_http_end, exchange}) do
    with_exchange(channel, exchange, fn channel, exchange ->
      end_session(channel)
      Exchange.reply(exchange, 204, [], [])
      {[:closed], channel}
    end)
  end

  def event(channel, {:mcp_exchange, ref, {:sent, bytes}}) do
    case Lanes.find(channel.lanes, ref) do
      {:ok, lane} -> sent(channel, lane, bytes)
      :error -> {[], channel}
    end
  end

  def event(channel, {:mcp_exchange, ref, :closed}), do: closed_by_peer(channel, ref)
  def event(channel, {{:mcp_exchange_down, ref}, _monitor, :process, _pid, _reason}), do: closed_by_peer(channel, ref)
  def event(channel, {:mcp_http_left, key}), do: left(channel, key)
  def event(channel, :mcp_http_tick), do: {[], tick(%{channel | timer: nil})}
  def event(channel, :mcp_http_drain), do: {[:eof], channel}
  def event(channel, :mcp_http_lifetime), do: {end_session(channel), channel}
  def event(channel, :mcp_http_idle), do: idle(channel)
  def event(_channel, _message), do: :unknown

  defp with_exchange(channel, exchange, fun) do
    InFlight.seen(channel.session.in_flight)
    fun.(channel, Exchange.own(exchange))
  end

  @impl true
  def adopt(channel, holder, entry), do: add(channel, Exchange.adopt(holder), entry.events?, entry.since)

  defp add(channel, exchange, events?, since) do
    {number, lanes} = Lanes.number(channel.lanes)
    lane = %{lane(channel, number, exchange, events?) | since: since}
    {number, arm(%{channel | lanes: Lanes.put(lanes, number, lane)}, Lane.due(lane, channel.mount))}
  end

  defp lane(channel, number, exchange, events?) do
    %Lane{
      number: number,
      exchange: exchange,
      events?: events?,
      since: Lane.now(),
      quiet_ms: channel.mount.keep_alive,
      max_queued: channel.mount.max_queued_bytes,
      replay: Lanes.replay(channel.mount, channel.session.account),
      primes?: primes?(channel)
    }
  end

  defp primes?(channel), do: channel.session.revision >= @primed_since

  # GET: the session's own stream, or the rest of one that was cut.
  defp listen(channel, exchange, last_event) do
    with_exchange(channel, exchange, fn channel, exchange ->
      case attach(channel, exchange, last_event) do
        {:ok, key, lane} -> {[], keep(channel, key, lane)}
        {:error, reason} -> refuse(channel, exchange, reason)
      end
    end)
  end

  defp attach(channel, exchange, nil) do
    case Lanes.fetch(channel.lanes, :channel) do
      {:ok, %{exchange: attached}} when attached != nil -> {:error, :taken}
      {:ok, lane} -> {:ok, :channel, Lane.open_anew(lane, exchange)}
      :error -> {:ok, :channel, Lane.open(lane(channel, 0, exchange, true))}
    end
  end

  defp attach(_channel, _exchange, :invalid), do: {:error, :unknown}

  defp attach(channel, exchange, {number, index}) do
    key = if number == 0, do: :channel, else: number

    with {:ok, lane} <- Lanes.fetch(channel.lanes, key),
         {:ok, lane} <- Lane.resume(lane, exchange, index) do
      {:ok, key, lane}
    else
      :error -> {:error, :unknown}
      {:error, reason} -> {:error, reason}
    end
  end

  @refusals %{taken: :stream_taken, gone: :resume_gone, unknown: :resume_unknown}

  defp refuse(channel, exchange, reason) do
    {status, headers, body} = HTTP.answer(Map.fetch!(@refusals, reason))
    Exchange.reply(exchange, status, headers, body)
    {[], channel}
  end

  defp sent(channel, {key, lane}, bytes) do
    after_it = Lane.sent(lane, bytes)
    writable? = Lane.congested?(lane) and not Lane.congested?(after_it)
    {if(writable?, do: [{:writable, key}], else: []), keep(channel, key, after_it)}
  end

  # The request goes on, and its client may come back.
  defp left(channel, key), do: {[{:writable, key}], channel}

  defp closed_by_peer(channel, ref) do
    case Lanes.find(channel.lanes, ref) do
      {:ok, {key, lane}} -> {[], keep(channel, key, Lane.away(lane))}
      :error -> {[], channel}
    end
  end

  defp keep(channel, key, lane) do
    if left?(channel, key, lane), do: send(self(), {:mcp_http_left, key})
    lanes = Lanes.put(channel.lanes, key, lane)
    arm(%{channel | lanes: lanes}, Lane.due(lane, channel.mount))
  end

  # The peer may have said so, or it was noticed while writing, or cut.
  defp left?(channel, key, %{phase: :away}), do: match?({:ok, %{exchange: %{}}}, Lanes.fetch(channel.lanes, key))
  defp left?(_channel, _key, _lane), do: false

  # A session ends when its client has nothing open and asks for nothing.
  defp idle(channel) do
    %{in_flight: in_flight} = channel.session
    left = InFlight.seen_at(in_flight) + channel.mount.idle_timeout - Lane.now()

    cond do
      Lanes.busy?(channel.lanes) or InFlight.busy?(in_flight) -> rearm_idle(channel, channel.mount.idle_timeout)
      left > 0 -> rearm_idle(channel, left)
      true -> {end_session(channel), channel}
    end
  end

  # Nobody finds it any more; who has found it already is told in `closed/2`.
  defp end_session(channel) do
    Sessions.forget(channel.session.id)
    [:closed]
  end

  defp rearm_idle(channel, milliseconds) do
    Process.send_after(self(), :mcp_http_idle, milliseconds)
    {[], channel}
  end

  # One timer for all lanes.
  defp arm(channel, nil), do: channel
  defp arm(channel, due), do: %{channel | timer: Timer.set(channel.timer, due, :mcp_http_tick)}

  defp tick(channel) do
    now = Lane.now()

    {changed, due} = Lanes.tick(channel.lanes, channel.mount, now)
    Enum.reduce(changed, arm(channel, due), fn {key, lane}, channel -> keep(channel, key, lane) end)
  end

  @impl true
  def credit(_channel, _wait_us), do: []

  @impl true
  def write(channel, entries) do
    {:ok, entries |> by_lane(channel) |> Enum.reduce(channel, &write_lane/2)}
  end

  defp by_lane([{lane, _kind, _message} = entry], channel), do: [{reroute(lane, entry, channel), [entry]}]

  defp by_lane(entries, channel) do
    entries
    |> Enum.group_by(fn {lane, _kind, _message} = entry -> reroute(lane, entry, channel) end)
    |> Enum.sort_by(fn {key, _entries} -> if key == :channel, do: 0, else: key end)
  end

  # A request to a client that took no stream for its own request goes by the session's stream.
  defp reroute(lane, {lane, :request, _message}, channel) do
    case Lanes.fetch(channel.lanes, lane) do
      {:ok, %{events?: true}} -> lane
      _no_stream -> :channel
    end
  end

  defp reroute(lane, _entry, _channel), do: lane

  defp write_lane({key, entries}, channel) do
    with {:ok, lane} <- Lanes.fetch(channel.lanes, key) do
      case Lane.write(lane, entries, channel.mount) do
        {:ok, lane} -> keep(channel, key, lane)
        :done -> %{channel | lanes: Lanes.drop(channel.lanes, key)}
      end
    else
      # Nobody listens.
      :error -> channel
    end
  end

  @impl true
  def congested?(channel, key) do
    case Lanes.fetch(channel.lanes, key) do
      {:ok, lane} -> Lane.congested?(lane)
      :error -> false
    end
  end

  @impl true
  def reachable?(channel, key) do
    Enum.any?([key, :channel], fn key ->
      match?({:ok, %{events?: true}}, Lanes.fetch(channel.lanes, key))
    end)
  end

  @impl true
  def key(_channel, _lane, id), do: id

  @impl true
  def idle?(channel), do: not Lanes.waiting?(channel.lanes)

  @impl true
  def closed(channel, reason) do
    {status, headers, body} = HTTP.answer(if reason == :closed, do: :session_not_found, else: :shutting_down)
    Lanes.each(channel.lanes, &Lane.close(&1, headers, status, body))
    refuse_late(status, headers, body)
  end

  # Requests that were on their way while the connection ended.
  defp refuse_late(status, headers, body) do
    receive do
      {:mcp_http_request, exchange, _outcome, _origin} -> refuse_late(exchange, status, headers, body)
      {:mcp_http_listen, exchange, _last_event} -> refuse_late(exchange, status, headers, body)
      {:mcp_http_end, exchange} -> refuse_late(exchange, status, headers, body)
    after
      0 -> :ok
    end
  end

  defp refuse_late(exchange, status, headers, body) do
    Exchange.reply(exchange, status, headers, body)
    refuse_late(status, headers, body)
  end

  @impl true
  def transport, do: :http
end
