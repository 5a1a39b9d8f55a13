defmodule McpServer.Http.StatelessCall do
  @moduledoc false
  # Serves a request of the stateless era, from its admission to its answer, in the process that holds it.
  #
  # The call runs in a new monitored process, and its result is the exit reason. The holder waits in one receive for the
  # result, notifications, the peer's end and the next due time. The answer is JSON if it is the first message. A
  # notification before the answer, or `stream_after` without one, opens a stream of events. The time counts from the
  # beginning of the handler if a check of access comes before it: a refusal has its own status.

  alias McpServer.{Call, Catalog, Conn, Protocol, Quota, Request}
  alias McpServer.Connection.{Calls, Report}
  alias McpServer.Dispatch.{Failure, Handler, RunTimeTool, Subscribing, ToolPlaces}
  alias McpServer.Http.{HeldCall, ListenStream, Mount, Sink}
  alias McpServer.Protocol.HTTP
  alias McpServer.Quota.Client

  @enforce_keys [:mount, :sink, :origin, :request]
  defstruct [
    :mount,
    :sink,
    :origin,
    :request,
    :client,
    :pid,
    :monitor,
    :deadline,
    :timeout,
    :started_at,
    :progress,
    :stream_at,
    :ends_at,
    :logged,
    phase: :waiting
  ]

  @typedoc "The origin of a request: the data of its admission, and the initial conn of its handler."
  @type origin :: %{
          :catalog => Catalog.t(),
          :base => Conn.t(),
          :events? => boolean(),
          :principal => term(),
          optional(:listen_until) => integer() | :infinity,
          optional(atom()) => term()
        }

  @typedoc """
  * `:request` – without its arguments, of which the call has a copy
  * `:client` – who the call counts for
  * `:deadline` – when the call times out; `:stream_at` – when a stream is opened, or sends a keep-alive
  * `:ends_at` – when the server ends, once it drains
  * `:logged` – the Logger metadata of its process at its end, if known
  * `:phase` – `:streaming` once the response has begun
  """
  @type t :: %__MODULE__{
          mount: Mount.t(),
          sink: Sink.t(),
          origin: origin(),
          request: Request.t(),
          client: Client.t(),
          pid: pid() | nil,
          monitor: reference() | nil,
          deadline: integer() | nil,
          timeout: pos_integer() | nil,
          started_at: integer() | nil,
          progress: number() | nil,
          stream_at: integer() | :infinity | nil,
          ends_at: integer() | nil,
          logged: map() | nil,
          phase: :waiting | :streaming
        }

  @doc "Serves the request. Returns when its response is complete, or its peer has disconnected."
  @spec serve(Mount.t(), Request.t(), origin(), Sink.t()) :: Sink.t()
  def serve(mount, %Request{kind: :listen} = request, origin, sink) do
    # If the router guards subscriptions, a call checks them first.
    if Subscribing.guarded?(origin.catalog, request),
      do: call(mount, request, origin, sink),
      else: ListenStream.serve(mount, request, origin, sink)
  end

  def serve(mount, request, origin, sink), do: call(mount, request, origin, sink)

  defp call(mount, request, origin, sink) do
    client = Sink.client(sink, origin.principal)
    quota = sink.account.quota
    bytes = Sink.argument_bytes(sink)

    case take(quota, client, bytes) do
      :ok ->
        shares = ToolPlaces.shares(quota, client, mount.usage.tool_bounds)
        answered = run(mount, request, origin, {sink, client}, shares)
        :ok = Quota.give(quota, :argument_bytes, client, bytes)
        :ok = Quota.give(quota, :calls, client, 1)
        go_on(answered, mount, request, origin)

      :full ->
        HeldCall.reply(mount, sink, {:status, 503}, Calls.busy(request))
    end
  end

  defp take(quota, client, bytes) do
    with false <- Quota.behind?(quota, :answer_bytes, client),
         :ok <- Quota.take(quota, :calls, client, 1),
         :full <- Quota.take(quota, :argument_bytes, client, bytes) do
      :ok = Quota.give(quota, :calls, client, 1)
      :full
    else
      true -> :full
      taken -> taken
    end
  end

  defp go_on({:listen, filter, sink}, mount, request, origin),
    do: ListenStream.serve(mount, %{request | arguments: filter}, origin, sink)

  defp go_on(sink, _mount, _request, _origin), do: sink

  defp run(mount, request, origin, {sink, client}, shares) do
    %{catalog: catalog, base: base, events?: events?} = origin
    %{router: router, bounds: bounds} = mount
    conn = %{base | log_level: request.log_level, router: router}
    request = RunTimeTool.locate(catalog, request, conn)
    started_at = Report.event_time()
    {pid, monitor} = Call.start(catalog, request, conn, bounds, started_at != nil, self(), shares)
    timeout = Handler.timeout(catalog, request, bounds.timeout)
    now = Sink.now()

    call = %__MODULE__{
      mount: mount,
      client: client,
      sink: sink |> Sink.forget() |> Sink.release(),
      origin: origin,
      request: Request.summary(request),
      pid: pid,
      monitor: monitor,
      timeout: timeout,
      deadline: now + timeout,
      started_at: started_at,
      stream_at:
        if(events? and request.kind != :listen, do: HeldCall.stream_at(mount, catalog, request, now), else: :infinity)
    }

    HeldCall.started(call, request.repairs)
    call |> ending(Sink.ends_at(sink)) |> await(now)
  end

  defp await(%{sink: sink, deadline: deadline, stream_at: stream_at} = call, now \\ Sink.now()) do
    case Sink.next(sink, min(deadline, stream_at), now) do
      {:timeout, sink} -> due(%{call | sink: sink}, Sink.now())
      {:closed, sink} -> cancel(%{call | sink: sink})
      {message, sink} -> event(message, %{call | sink: sink})
    end
  end

  defp event(
         {:mcp_down, monitor, :process, _pid, {:shutdown, {:mcp_done, outcome, reply, logged}}},
         %{monitor: monitor} = call
       ),
       do: answer(%{call | logged: logged}, outcome, reply)

  defp event({:mcp_ended, pid, {:mcp_done, outcome, reply, logged}}, %{pid: pid} = call) do
    Process.demonitor(call.monitor, [:flush])
    answer(%{call | logged: logged}, outcome, reply)
  end

  defp event({:mcp_down, monitor, :process, _pid, reason}, %{monitor: monitor} = call),
    do: fail(call, Failure.killed(reason))

  defp event({:mcp_notify, tag, pid, condition, message}, %{pid: pid} = call), do: notify(call, tag, condition, message)

  defp event({:mcp_begun, pid}, %{pid: pid} = call), do: call |> HeldCall.begun() |> await()
  defp event({:drain, until}, call), do: call |> ending(until) |> await()

  defp event(message, call) do
    Sink.discard(message)
    await(call)
  end

  defp ending(call, nil), do: call
  defp ending(call, until), do: %{call | deadline: min(call.deadline, until), ends_at: until}

  defp due(%{ends_at: ends_at} = call, now) when is_integer(ends_at) and now >= ends_at do
    call |> HeldCall.stop(:cancelled) |> HeldCall.ended(:cancelled)
    %{id: id, revision: revision} = call.request
    respond(call, {:status, 503}, Protocol.error(id, revision, :internal_error, "The server is shutting down"))
  end

  defp due(%{deadline: deadline} = call, now) when now >= deadline do
    call |> HeldCall.stop(:timeout) |> fail(Failure.timeout(call.timeout))
  end

  defp due(%{stream_at: at} = call, now) when now < at, do: await(call)
  defp due(%{phase: :waiting} = call, _now), do: call |> open([]) |> written()

  defp due(call, _now) do
    {written, sink} = Sink.keep_alive(call.sink, HTTP.keep_alive())
    written({written, quiet(%{call | sink: sink})})
  end

  defp written({:ok, call}), do: await(call)
  defp written({:closed, call}), do: cancel(call)

  defp open(call, events) do
    {written, sink} = Sink.stream(call.sink, 200, HTTP.event_stream_headers(), [HTTP.keep_alive(), events])
    {written, quiet(%{call | sink: sink, phase: :streaming})}
  end

  # Only a write tells a plug that its client has disconnected, so it writes more often.
  defp quiet(%{sink: %{socket: nil}, mount: mount} = call),
    do: %{call | stream_at: Sink.now() + min(mount.disconnect_check, mount.keep_alive)}

  defp quiet(call), do: %{call | stream_at: Sink.now() + call.mount.keep_alive}

  # The handler continues when the operating system has taken the message.
  defp notify(call, tag, condition, message) do
    case pass(call, condition) do
      {:ok, call} ->
        {written, call} = put(call, message)
        Call.reply(tag, :ok)
        written({written, call})

      {:discard, what} ->
        Call.reply(tag, :ok)
        Report.discarded(HeldCall.source(call), what)
        await(call)
    end
  end

  defp pass(%{progress: before}, {:progress, value}) when before != nil and value <= before,
    do: {:discard, :stale_progress}

  defp pass(call, {:progress, value}), do: {:ok, %{call | progress: value}}
  # The call has already checked the log level of the request.
  defp pass(call, _gate), do: {:ok, call}

  # A client that accepts no stream gets only the answer.
  defp put(%{phase: :waiting, origin: %{events?: false}} = call, _message), do: {:ok, call}
  defp put(%{phase: :waiting} = call, message), do: open(call, HTTP.event(nil, message))

  defp put(call, message) do
    {written, sink} = Sink.chunk(call.sink, HTTP.event(nil, message))
    {written, quiet(%{call | sink: sink})}
  end

  defp answer(call, {:listen, filter}, _reply) do
    HeldCall.ended(call, :ok)
    {:listen, filter, call.sink}
  end

  defp answer(call, outcome, reply) do
    behind? = fn -> Sink.behind?(call.sink, call.client) end
    {outcome, reply} = Calls.answerable(call.request, 503, {outcome, reply}, behind?)
    HeldCall.ended(call, outcome, reply)
    respond(call, HeldCall.standing(outcome), reply)
  end

  defp respond(%{phase: :waiting} = call, standing, reply),
    do: Sink.counted(call.sink, call.client, reply, &HeldCall.reply(call.mount, &1, standing, reply))

  defp respond(call, _standing, reply) do
    event = HTTP.event(nil, reply)
    {_written, sink} = Sink.counted(call.sink, call.client, event, &Sink.chunk(&1, event))
    Sink.finish(sink)
  end

  defp fail(call, failure), do: respond(call, :ok, HeldCall.failed(call, failure))

  # A client of the stateless era cancels by disconnecting.
  defp cancel(call) do
    call |> HeldCall.stop(:cancelled) |> HeldCall.ended(:cancelled)
    call.sink
  end
end
