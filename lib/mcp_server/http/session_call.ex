defmodule McpServer.Http.SessionCall do
  @moduledoc false
  # Serves a request of a session, from its admission to its answer, in the process that holds it. The session's process
  # takes no part if the call only sends its result.
  #
  # The session adopts the call, and the holder then executes the session's commands, when
  #
  #   * the call notifies, asks or pauses: these messages go to the session from the beginning
  #   * a stream is due, or the peer has disconnected: the holder tells the session
  #   * the client cancels, or the session ends
  #   * the holder has been killed: `McpServer.Call.Reaper` tells the session
  #
  # The call's result and an adoption race only for the request's row (`McpServer.Connection.InFlight`): the first one
  # there ends the call. If the session was first, the holder passes the call's messages to it.
  # `McpServer.Http.Sessions` tells the holder when the session's process ends.

  alias McpServer.{Call, Quota, Request}
  alias McpServer.Call.Trace
  alias McpServer.Connection.{Calls, InFlight, Report}
  alias McpServer.Dispatch.{Failure, Handler, RunTimeTool}
  alias McpServer.Http.{Exchange, HeldCall, Mount, Sessions, Sink, StatelessCall}
  alias McpServer.Protocol.HTTP

  @enforce_keys [:mount, :sink, :origin, :session, :session_id, :in_flight, :request]
  defstruct [
    :mount,
    :sink,
    :origin,
    :session,
    :session_id,
    :in_flight,
    :request,
    :pid,
    :monitor,
    :deadline,
    :timeout,
    :started_at,
    :stream_at,
    :logged,
    bytes: 0,
    passed_on?: false
  ]

  @typedoc "The session's id, its process and its shared context."
  @type session :: {String.t(), pid(), Sessions.context()}

  @typedoc """
  * `:session`, `:in_flight` – the session's process, and its shared table of requests
  * `:request` – without its arguments, of which the call has a copy
  * `:deadline` – when the call times out; `:stream_at` – when the session has to open a stream
  * `:logged` – the Logger metadata of its process at its end, if known
  * `:bytes` – what counts for its arguments
  * `:passed_on?` – the session has the call's result
  """
  @type t :: %__MODULE__{
          mount: Mount.t(),
          sink: Sink.t(),
          origin: StatelessCall.origin(),
          session: pid(),
          session_id: String.t(),
          in_flight: InFlight.t(),
          request: Request.t(),
          pid: pid() | nil,
          monitor: reference() | nil,
          deadline: integer() | nil,
          timeout: pos_integer() | nil,
          started_at: integer() | nil,
          stream_at: integer() | :infinity | nil,
          logged: map() | nil,
          bytes: non_neg_integer(),
          passed_on?: boolean()
        }

  @doc "Serves the request. `:other` means that the session is about to end and must answer it."
  @spec serve(Mount.t(), Request.t(), StatelessCall.origin(), session(), Sink.t()) :: Sink.t() | :other
  def serve(mount, request, origin, {id, session, %{in_flight: in_flight} = context}, sink) do
    %{catalog: catalog, base: base, events?: events?} = origin
    conn = %{base | session_id: id, log_level: InFlight.level(in_flight), router: mount.router}
    request = RunTimeTool.locate(catalog, complete(request, context), conn)
    timeout = Handler.timeout(catalog, request, mount.bounds.timeout)
    now = Sink.now()
    InFlight.seen(in_flight, now)

    call = %__MODULE__{
      mount: mount,
      sink: sink,
      origin: origin,
      session: session,
      session_id: id,
      in_flight: in_flight,
      request: Request.summary(request),
      timeout: timeout,
      deadline: now + timeout,
      started_at: Report.event_time(),
      stream_at: if(events?, do: HeldCall.stream_at(mount, catalog, request, now), else: :infinity),
      bytes: Sink.argument_bytes(sink)
    }

    case InFlight.claim(in_flight, session, entry(call, now)) do
      :ok -> claimed(call, request, conn, now)
      :duplicate -> HeldCall.reply(mount, sink, {:status, 400}, Calls.duplicate(request))
      :full -> HeldCall.reply(mount, sink, {:status, 429}, Calls.busy(request))
    end
  end

  defp complete(%{client_capabilities: nil} = request, context),
    do: %{request | client_info: context.client_info, client_capabilities: context.client_capabilities}

  defp complete(request, _facts), do: request

  defp entry(%{request: request, origin: origin} = call, now) do
    %{timeout: timeout, deadline: deadline, started_at: started_at} = call

    %{
      request: request,
      http_id: Trace.http_id(origin.base),
      timeout: timeout,
      deadline: deadline,
      started_at: started_at,
      since: now,
      events?: origin.events?,
      bytes: call.bytes
    }
  end

  # The check follows the claim: so either the ending session sees the claim, or this process sees the end.
  defp claimed(%{in_flight: in_flight} = call, request, conn, now) do
    if InFlight.closed?(in_flight) do
      InFlight.release(in_flight, call.session, request.id, call.bytes)
      :other
    else
      :ok = Quota.take_anyway(call.sink.account.quota, :exchanges, nil, 1)
      sink = call |> run(request, conn) |> await(now)
      :ok = Quota.give(sink.account.quota, :exchanges, nil, 1)
      sink
    end
  end

  defp run(%{mount: mount, origin: origin, session: session} = call, %{repairs: repairs} = request, conn) do
    {pid, monitor} =
      Call.start(
        origin.catalog,
        request,
        conn,
        mount.bounds,
        call.started_at != nil,
        session,
        InFlight.tool_shares(call.in_flight)
      )

    call = %{call | pid: pid, monitor: monitor, sink: call.sink |> Sink.forget() |> Sink.release()}
    HeldCall.started(call, repairs)
    # From here on the session can adopt the call. A session that began to end meanwhile has not seen the call.
    InFlight.put(session, call.request.id, pid)
    if InFlight.closed?(call.in_flight), do: hand_over(call), else: call
  end

  defp await(%{session: session} = call, now \\ Sink.now()) do
    case Sink.next(call.sink, min(call.deadline, call.stream_at), now) do
      {{:mcp_adopted, ^session, ref}, sink} -> adopted(%{call | sink: sink}, ref)
      {{:mcp_session_down, ^session}, sink} -> abandon(%{call | sink: sink})
      {:timeout, sink} -> due(%{call | sink: sink}, Sink.now())
      {:closed, sink} -> %{call | sink: sink} |> hand_over() |> await()
      {message, sink} -> event(message, %{call | sink: sink})
    end
  end

  defp event({:mcp_down, monitor, :process, _pid, reason} = message, %{monitor: monitor} = call) do
    with true <- first?(call),
         {:shutdown, {:mcp_done, outcome, reply, logged}} <- reason do
      answer(%{call | logged: logged}, outcome, reply)
    else
      false -> pass_on(call, message)
      reason -> fail(call, Failure.killed(reason))
    end
  end

  defp event({:mcp_ended, pid, {:mcp_done, outcome, reply, logged}} = message, %{pid: pid} = call) do
    Process.demonitor(call.monitor, [:flush])
    if first?(call), do: answer(%{call | logged: logged}, outcome, reply), else: pass_on(call, message)
  end

  defp event({:mcp_begun, pid}, %{pid: pid} = call), do: call |> HeldCall.begun() |> await()

  defp event(message, call) do
    Sink.discard(message)
    await(call)
  end

  defp first?(call), do: InFlight.end?(call.session, call.request.id)

  # The session has already adopted the call, and its message is on the way.
  defp pass_on(call, message) do
    send(call.session, message)
    await(%{call | passed_on?: true, deadline: :infinity, stream_at: :infinity})
  end

  defp due(%{deadline: deadline} = call, now) when now >= deadline do
    if first?(call) do
      call |> HeldCall.stop(:timeout) |> fail(Failure.timeout(call.timeout))
    else
      await(%{call | deadline: :infinity})
    end
  end

  defp due(%{stream_at: at} = call, now) when now >= at, do: call |> hand_over() |> await()
  defp due(call, _now), do: await(call)

  defp hand_over(call) do
    send(call.session, {:mcp_hand_over, call.request.id})
    %{call | stream_at: :infinity}
  end

  defp adopted(call, ref) do
    running = if call.passed_on?, do: nil, else: {call.pid, call.monitor}
    terms = Exchange.session_gone(call.session_id, client(call), call.request.id)
    Exchange.go_on(ref, call.sink, call.session, terms, running)
  end

  # The session's process has ended, so the call has no owner.
  defp abandon(call) do
    call |> HeldCall.stop(:cancelled) |> HeldCall.ended(:cancelled)
    {status, headers, body} = gone_answer(call)
    Sink.reply(call.sink, status, headers, body)
  end

  defp gone_answer(call), do: HTTP.answer_to(call.request.id, Sessions.gone_answer(call.session_id))

  defp answer(call, outcome, reply) do
    behind? = fn -> InFlight.behind?(call.in_flight) end
    {outcome, reply} = Calls.answerable(call.request, 429, {outcome, reply}, behind?)
    HeldCall.ended(call, outcome, reply)
    respond(call, HeldCall.standing(outcome), reply)
  end

  defp fail(call, failure), do: respond(call, :ok, HeldCall.failed(call, failure))

  # The request id is free before the client can receive the answer.
  defp respond(call, standing, reply) do
    InFlight.release(call.in_flight, call.session, call.request.id, call.bytes)
    # A session that is about to end waits for its last call.
    if InFlight.closed?(call.in_flight), do: hand_over(call)
    Sink.counted(call.sink, client(call), reply, &HeldCall.reply(call.mount, &1, standing, reply))
  end

  defp client(%{in_flight: %{client: client}}), do: client
end
