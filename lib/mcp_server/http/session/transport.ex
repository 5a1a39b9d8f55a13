defmodule McpServer.Http.Session.Transport do
  @moduledoc false
  # The transport of a session over HTTP. Each request is a stream; the key `:session` is the session's own stream.
  # All streams belong to one client, which may resume them.

  @behaviour McpServer.Connection.Transport

  alias McpServer.Call.Reaper
  alias McpServer.{Conn, Quota, Session}
  alias McpServer.Connection.{InFlight, Timer}
  alias McpServer.Http.{Exchange, Mount, Sessions}
  alias McpServer.Http.Session.{Stream, StreamCollection, Tombstones}
  alias McpServer.Protocol.{HTTP, Revision}
  alias McpServer.Tools.Server

  # The streams of a sealed session are numbered from a random number up to this one, and the events of its own stream.
  @numbers 1_000_000_000_000_000

  # A store that has not deleted the values of an ended session within this time keeps them until they expire.
  @forget_ms 60_000

  @enforce_keys [:mount, :streams, :session]
  defstruct [:mount, :streams, :session, :timer, unsent: %{}]

  @typedoc """
  * `:session` – the session's constant data; its `:in_flight` also knows the time of the client's last request
  * `:timer` – the time of the next due work, and its timer
  * `:unsent` – long answers that do not count for their client yet, by exchange: see `count_unsent/3`
  """
  @type t :: %__MODULE__{
          mount: Mount.t(),
          streams: StreamCollection.t(),
          session: %{
            id: String.t(),
            principal: term(),
            client: McpServer.Quota.Client.t(),
            revision: String.t(),
            account: McpServer.Http.Session.Replay.account(),
            in_flight: InFlight.t(),
            lifetime: non_neg_integer(),
            sealed?: boolean(),
            changed: [McpServer.Changes.change()]
          },
          timer: Timer.t(),
          unsent: %{reference() => {bytes :: pos_integer(), monitor :: reference()}}
        }

  @impl true
  def open(%{mount: mount, session: session}) do
    Process.send_after(self(), :mcp_http_lifetime, session.lifetime)
    arm_idle(mount, Stream.now())
    session = Map.put(session, :expires_at, System.system_time(:millisecond) + session.lifetime)
    {:ok, %__MODULE__{mount: mount, streams: streams(session), session: session}}
  end

  # Several nodes may number the streams of a sealed session, one after the other. A client must not resume a stream of
  # one node on another stream with the same number.
  defp streams(%{sealed?: true}), do: StreamCollection.new(:rand.uniform(@numbers))
  defp streams(_session), do: StreamCollection.new()

  @impl true
  def event(transport, {:mcp_http_request, exchange, outcome, origin}) do
    with_exchange(transport, exchange, fn transport, exchange ->
      about = {HTTP.asked(outcome), origin.events? and request?(outcome), Stream.now()}
      {stream, transport} = add(transport, exchange, about)
      {[{:admitted, stream, outcome, origin}], transport}
    end)
  end

  def event(transport, {:mcp_http_listen, exchange, last_event}), do: listen(transport, exchange, last_event)

  def event(%{session: %{}} = transport, {:mcp_http_forget, bytes}),
    do: {[], %{transport | streams: StreamCollection.make_room(transport.streams, bytes)}}

  def event(transport, {:mcp_http_end, exchange}) do
    with_exchange(transport, exchange, fn transport, exchange ->
      transport = end_for_good(transport)
      Exchange.reply(exchange, 204, [], [])
      {[:closed], transport}
    end)
  end

  def event(transport, :mcp_http_disconnect), do: {[:closed], end_for_good(transport)}
  def event(transport, :mcp_http_ended), do: {[:closed], ended(transport)}

  # A shorter chunk is no answer, but what the answer waits for.
  def event(transport, {:mcp_exchange, ref, {:counted, bytes}}) do
    case transport.unsent do
      %{^ref => {answer, _monitor}} when answer <= bytes -> {[], forget_unsent(transport, ref)}
      _shorter_or_none -> {[], transport}
    end
  end

  def event(transport, {:mcp_exchange, ref, {:sent, bytes}}) do
    case StreamCollection.find(transport.streams, ref) do
      {:ok, stream} -> sent(transport, stream, bytes)
      :error -> {[], transport}
    end
  end

  def event(transport, {:mcp_exchange, ref, :closed}), do: transport |> forget_unsent(ref) |> closed_by_peer(ref)

  def event(transport, {{:mcp_unsent_down, ref}, _monitor, :process, _pid, _reason}),
    do: {[], forget_unsent(transport, ref)}

  def event(transport, {{:mcp_exchange_down, ref}, _monitor, :process, _pid, _reason}),
    do: closed_by_peer(transport, ref)

  def event(transport, {:mcp_undecided, key}), do: change(transport, key, &Stream.undecided/1)
  def event(transport, {:mcp_decided, key}), do: change(transport, key, &Stream.decided/1)
  def event(transport, {:mcp_http_left, key}), do: left(transport, key)
  def event(transport, :mcp_http_tick), do: {[], tick(%{transport | timer: nil})}

  def event(transport, :mcp_http_drain) do
    # Another process can continue a sealed session while calls finish here.
    if transport.session.sealed?, do: Sessions.retire(transport.session.id)
    {[:eof], transport}
  end

  def event(transport, :mcp_http_lifetime), do: {end_session(transport), transport}
  def event(transport, {:mcp_http_idle, now}), do: idle(transport, now)
  def event(_transport, _message), do: :unknown

  # Only the response to a request may be a stream. Notifications and responses get 202 without a body, however late the
  # session is.
  defp request?({:request, _request}), do: true
  defp request?({:batch, outcomes}), do: Enum.any?(outcomes, &request?/1)
  defp request?(_outcome), do: false

  # No node opens the session again.
  defp end_for_good(transport) do
    # The tombstone must exist before another node can look for the session.
    session = transport.session
    if session.sealed?, do: Tombstones.put(session.id, session.expires_at, session.client)
    ended(transport)
  end

  # Its client ended the session, here or on another node.
  defp ended(transport) do
    forget_values(transport)
    transport = put_in(transport.session.expires_at, 0)
    end_session(transport)
    transport
  end

  defp with_exchange(transport, exchange, fun) do
    InFlight.seen(transport.session.in_flight)
    fun.(transport, Exchange.own(exchange))
  end

  @impl true
  def adopt(transport, holder, entry),
    do: add(transport, Exchange.adopt(holder), {entry.request.id, entry.events?, entry.since})

  defp add(transport, exchange, {asked, events?, since}) do
    {number, streams} = StreamCollection.number(transport.streams)
    stream = %{stream(transport, number, exchange, events?) | asked: asked, since: since}

    {number,
     arm(%{transport | streams: StreamCollection.put(streams, number, stream)}, Stream.due(stream, transport.mount))}
  end

  defp stream(transport, number, exchange, events?) do
    %Stream{
      number: number,
      exchange: exchange,
      events?: events?,
      since: Stream.now(),
      quiet_ms: transport.mount.keep_alive,
      max_queued: transport.mount.max_queued_bytes,
      replay: StreamCollection.replay(transport.mount, transport.session.account),
      primes?: primes?(transport)
    }
  end

  # Streams can be resumed by event id from 2025-03-26 on; from 2025-11-25 on they begin with one.
  defp primes?(transport), do: transport.session.revision >= Revision.last_of_sessions()

  # GET opens the session's own stream, or resumes a stream that was cut.
  defp listen(transport, exchange, last_event) do
    with_exchange(transport, exchange, fn transport, exchange ->
      case attach(transport, exchange, last_event) do
        {:ok, key, stream} -> {[], tell_changed(put(transport, key, stream), key)}
        {:error, reason} -> refuse(transport, exchange, reason)
      end
    end)
  end

  # The lists of a session that another release reopens may differ from those that its client has read.
  defp tell_changed(%{session: session} = transport, :session) do
    for list <- session.changed, do: send(self(), {:mcp_change, list})
    %{transport | session: %{session | changed: []}}
  end

  defp tell_changed(transport, _call), do: transport

  defp attach(transport, exchange, nil) do
    case StreamCollection.fetch(transport.streams, :session) do
      {:ok, %{exchange: attached}} when attached != nil -> {:error, :taken}
      {:ok, stream} -> {:ok, :session, Stream.open_anew(stream, exchange)}
      :error -> {:ok, :session, transport |> stream(0, exchange, true) |> counted(transport) |> Stream.open()}
    end
  end

  defp attach(_transport, _exchange, :invalid), do: {:error, :unknown}

  defp attach(transport, exchange, {number, index}) do
    key = if number == 0, do: :session, else: number

    with {:ok, stream} <- StreamCollection.fetch(transport.streams, key),
         {:ok, stream} <- Stream.resume(stream, exchange, index) do
      {:ok, key, stream}
    else
      {:error, reason} when reason != :unknown -> {:error, reason}
      _unknown -> attach_anew(transport, exchange, key)
    end
  end

  # Another process of the same session sent the event. The session's own stream continues without the missed events.
  # A call's stream ended with its call.
  defp attach_anew(%{session: %{sealed?: true}} = transport, exchange, :session), do: attach(transport, exchange, nil)
  defp attach_anew(_transport, _exchange, _key), do: {:error, :unknown}

  # The own stream of a session has the same number on every node. So its events have other indexes on each: otherwise a
  # client that comes from another node would skip events, or get some twice.
  defp counted(stream, %{session: %{sealed?: true} = session, mount: mount}),
    do: %{stream | replay: StreamCollection.replay(mount, session.account, :rand.uniform(@numbers))}

  defp counted(stream, _transport), do: stream

  @refusals %{taken: :stream_taken, gone: :resume_gone, unknown: :resume_unknown}

  defp refuse(transport, exchange, reason) do
    {status, headers, body} = HTTP.answer(Map.fetch!(@refusals, reason))
    Exchange.reply(exchange, status, headers, body)
    {[], transport}
  end

  defp sent(transport, {key, stream}, bytes) do
    after_it = Stream.sent(stream, bytes)
    writable? = Stream.congested?(stream) and not Stream.congested?(after_it)
    {if(writable?, do: [{:writable, key}], else: []), put(transport, key, after_it)}
  end

  defp change(transport, key, fun) do
    case StreamCollection.fetch(transport.streams, key) do
      {:ok, stream} -> {[], put(transport, key, fun.(stream))}
      :error -> {[], transport}
    end
  end

  # The request continues, and its client may reconnect.
  defp left(transport, key), do: {[{:writable, key}], transport}

  defp closed_by_peer(transport, ref) do
    case StreamCollection.find(transport.streams, ref) do
      {:ok, {key, stream}} -> {[], put(transport, key, Stream.away(stream))}
      :error -> {[], transport}
    end
  end

  defp put(transport, key, stream) do
    if left?(transport, key, stream), do: send(self(), {:mcp_http_left, key})
    streams = StreamCollection.put(transport.streams, key, stream)
    arm(%{transport | streams: streams}, Stream.due(stream, transport.mount))
  end

  # The stream lost its client: the peer closed, a write failed, or the stream was cut.
  defp left?(transport, key, %{phase: :away}),
    do: match?({:ok, %{exchange: %{}}}, StreamCollection.fetch(transport.streams, key))

  defp left?(_transport, _key, _stream), do: false

  # A session ends when its client has no open stream and sends no requests. `now` is the time at which the timer was due.
  defp idle(transport, now) do
    %{mount: mount, session: %{in_flight: in_flight}} = transport
    seen_at = InFlight.seen_at(in_flight)

    cond do
      StreamCollection.busy?(transport.streams) or InFlight.busy?(in_flight) ->
        arm_idle(mount, Stream.now())
        {[], transport}

      now - seen_at < mount.idle_timeout ->
        arm_idle(mount, seen_at)
        {[], transport}

      true ->
        {end_session(transport), transport}
    end
  end

  defp arm_idle(mount, since) do
    due = since + mount.idle_timeout
    Process.send_after(self(), {:mcp_http_idle, due}, due, abs: true)
  end

  # New requests do not find the session any more. `closed/2` answers the requests that already found it.
  defp end_session(transport) do
    Sessions.forget(transport.session.id)
    [:closed]
  end

  # In another process, because the store may be slow. The session keeps its place, and waits, where too many processes of
  # its client clean up.
  defp forget_values(%{mount: mount, session: %{id: id, principal: principal, client: client}}) do
    conn = %Conn{session_id: id, principal: principal, router: mount.router, mount: mount.name}
    {pid, monitor} = spawn_monitor(Session, :forget, [conn, client])

    case Reaper.kill_after(pid, @forget_ms, client) do
      :ok -> Process.demonitor(monitor, [:flush])
      :full -> receive do: ({:DOWN, ^monitor, :process, ^pid, _reason} -> true)
    end
  end

  # One timer for all streams.
  defp arm(transport, nil), do: transport
  defp arm(transport, due), do: %{transport | timer: Timer.set(transport.timer, due, :mcp_http_tick)}

  defp tick(transport) do
    now = Stream.now()

    {changed, due} = StreamCollection.tick(transport.streams, transport.mount, now)
    Enum.reduce(changed, arm(transport, due), fn {key, stream}, transport -> put(transport, key, stream) end)
  end

  @impl true
  def credit(_transport, _wait_us), do: []

  @impl true
  def write(transport, entries) do
    {:ok, entries |> by_stream(transport) |> Enum.reduce(transport, &write_stream/2)}
  end

  defp by_stream([{stream, _kind, _message} = entry], transport), do: [{reroute(stream, entry, transport), [entry]}]

  defp by_stream(entries, transport) do
    entries
    |> Enum.group_by(fn {stream, _kind, _message} = entry -> reroute(stream, entry, transport) end)
    |> Enum.sort_by(fn {key, _entries} -> if key == :session, do: 0, else: key end)
  end

  # A request to a client goes to the session's stream if the client accepts no stream for its own request.
  defp reroute(stream, {stream, :request, _message}, transport) do
    case StreamCollection.fetch(transport.streams, stream) do
      {:ok, %{events?: true}} -> stream
      _no_stream -> :session
    end
  end

  defp reroute(stream, _entry, _transport), do: stream

  defp write_stream({key, entries}, transport) do
    with {:ok, stream} <- StreamCollection.fetch(transport.streams, key) do
      transport = count_unsent(transport, stream, entries)

      case Stream.write(stream, entries, transport.mount) do
        {:ok, stream} -> put(transport, key, stream)
        :done -> %{transport | streams: StreamCollection.drop(transport.streams, key)}
      end
    else
      # The client has not opened this stream.
      :error -> transport
    end
  end

  # The process of a request counts an answer when it writes it. Until then the answer counts here: it may wait behind
  # other bytes, and many sessions of a client may answer before one of those processes runs.
  defp count_unsent(transport, %{exchange: %{ref: ref, pid: pid}}, entries) do
    case for({_stream, {:answer, _standing}, message} <- entries, do: IO.iodata_length(message)) do
      [bytes] when not is_map_key(transport.unsent, ref) ->
        if Quota.long?(bytes), do: keep_unsent(transport, {ref, pid}, bytes), else: transport

      _none_or_counted ->
        transport
    end
  end

  defp count_unsent(transport, _stream, _entries), do: transport

  defp keep_unsent(transport, {ref, pid}, bytes) do
    :ok = Quota.take_anyway(account(transport), :answer_bytes, transport.session.client, bytes)
    monitor = :erlang.monitor(:process, pid, tag: {:mcp_unsent_down, ref})
    %{transport | unsent: Map.put(transport.unsent, ref, {bytes, monitor})}
  end

  defp forget_unsent(transport, ref) do
    case Map.pop(transport.unsent, ref) do
      {nil, _unsent} ->
        transport

      {{bytes, monitor}, unsent} ->
        Process.demonitor(monitor, [:flush])
        :ok = Quota.give(account(transport), :answer_bytes, transport.session.client, bytes)
        %{transport | unsent: unsent}
    end
  end

  defp account(%{session: %{in_flight: %{quota: quota}}}), do: Quota.own(quota)

  @impl true
  def congested?(transport, key) do
    case StreamCollection.fetch(transport.streams, key) do
      {:ok, stream} -> Stream.congested?(stream)
      :error -> false
    end
  end

  @impl true
  def reachable?(transport, key) do
    Enum.any?([key, :session], fn key ->
      match?({:ok, %{events?: true}}, StreamCollection.fetch(transport.streams, key))
    end)
  end

  @impl true
  def key(_transport, _stream, id), do: id

  @impl true
  def idle?(transport), do: not StreamCollection.waiting?(transport.streams)

  @impl true
  def closed(%{mount: mount, session: session} = transport, reason) do
    # Any node can reopen a sealed session: it is over when it expires.
    Server.session_over(mount.router, session.id, if(session.sealed?, do: session.expires_at, else: 0))
    if session.sealed?, do: Tombstones.unwatch(session.id, self())
    answer = parting(transport.session, reason)
    StreamCollection.each(transport.streams, &Stream.close(&1, answer, reason != :closed))
    refuse_late(answer)
  end

  defp parting(session, :closed), do: Sessions.gone_answer(session.id)
  defp parting(_session, _reason), do: HTTP.answer(:shutting_down)

  # Answers requests that arrived while the session ended.
  defp refuse_late(answer) do
    receive do
      {:mcp_http_request, exchange, outcome, _origin} -> refuse_late(exchange, HTTP.asked(outcome), answer)
      {:mcp_http_listen, exchange, _last_event} -> refuse_late(exchange, nil, answer)
      {:mcp_http_end, exchange} -> refuse_late(exchange, nil, answer)
    after
      0 -> :ok
    end
  end

  defp refuse_late(exchange, asked, answer) do
    {status, headers, body} = HTTP.answer_to(asked, answer)
    Exchange.reply(exchange, status, headers, body)
    refuse_late(answer)
  end

  @impl true
  def name, do: :http
end
