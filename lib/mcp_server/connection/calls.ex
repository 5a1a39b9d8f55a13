defmodule McpServer.Connection.Calls do
  @moduledoc false
  # The calls of a connection: which wait, which run, until when, and how each of them ends. Every call
  # that was admitted ends exactly once: answered, failed or cancelled.

  alias McpServer.{Call, Catalog, Protocol, Request}
  alias McpServer.Call.Trace
  alias McpServer.Protocol.Revision

  alias McpServer.Connection.{
    InFlight,
    Input,
    Replies,
    Report,
    Session,
    State,
    Subscriptions,
    Timer,
    Transport,
    Waiting
  }

  alias McpServer.Dispatch.{Answer, Failure, Handler, RunTimeTool}

  @typedoc """
  * `:deadline` – in `State.now/0` time; a call that waits for the client has another one
  * `:request_id` – under which the log knows the call
  * `:holder` – who has started a call that was adopted
  """
  @type call :: %{
          pid: pid(),
          monitor: reference(),
          key: Session.key(),
          request: Request.t(),
          request_id: String.t() | nil,
          target: Replies.target(),
          timeout: pos_integer(),
          deadline: integer(),
          started_at: integer(),
          progress: number() | nil,
          awaiting: Input.t() | nil,
          holder: pid() | nil
        }

  @doc "Takes a request in: it runs as soon as there is a place."
  @spec admit(State.t(), Request.t(), Replies.target()) :: State.t()
  def admit(state, request, target) do
    key = State.key(state, Replies.stream(state, target), request.id)

    entry = %{
      key: key,
      request: request,
      target: target,
      base: state.base,
      bytes: state.line_bytes,
      since: System.monotonic_time()
    }

    case claim(state, key) do
      :ok -> start(state, entry)
      :duplicate -> refuse_duplicate(state, request, target)
      :full -> overload(state, entry, state.options.overload)
    end
  end

  defp claim(%{in_flight: nil} = state, key) do
    cond do
      Session.in_flight?(state.session, key) -> :duplicate
      free?(state) -> :ok
      true -> :full
    end
  end

  defp claim(%{in_flight: in_flight}, key), do: InFlight.claim(in_flight, self(), key)

  # Behind a pipe the next requests wait in it; an HTTP client has to be told.
  defp overload(state, entry, :wait), do: wait(state, entry)

  defp overload(state, %{request: request, target: target}, {:refuse, status}),
    do: Replies.reply(state, target, busy(request), {:status, status})

  @doc "The error for a request that finds no place."
  @spec busy(Request.t()) :: Protocol.message()
  def busy(%{id: id, revision: revision}),
    do: Protocol.error(id, revision, :internal_error, "Too many requests are in progress")

  defp wait(state, entry) do
    session = Session.place(state.session, entry.key, :waiting)
    %{state | session: session, waiting: Waiting.put(state.waiting, entry)}
  end

  @doc "Whether a request would run at once: there is a place, and nobody waits for it."
  @spec free?(State.t()) :: boolean()
  def free?(state), do: state.waiting.count == 0 and place?(state)

  # Calls that wait for the client take no place.
  defp place?(state), do: map_size(state.calls) - state.awaiting_input < state.options.max_calls

  @doc "The answer to a request whose id is still in flight; the first one is left alone."
  @spec refuse_duplicate(State.t(), Request.t(), Replies.target()) :: State.t()
  def refuse_duplicate(state, request, target), do: Replies.reply(state, target, duplicate(request), {:status, 400})

  @doc "The error for a request whose id is still in flight."
  @spec duplicate(Request.t()) :: Protocol.message()
  def duplicate(%{id: id, revision: revision}) do
    Protocol.error(id, revision, :invalid_request, {:because, "a request with this id is still in flight"})
  end

  @doc "Starts what waits while there are places."
  @spec start_waiting(State.t()) :: State.t()
  def start_waiting(%{waiting: %{count: 0}} = state), do: state

  def start_waiting(state) do
    if place?(state) do
      {entry, waiting} = Waiting.take(state.waiting)
      start_waiting(start(%{state | waiting: waiting}, entry))
    else
      state
    end
  end

  @doc "Whether nothing runs or waits."
  @spec idle?(State.t()) :: boolean()
  def idle?(state), do: state.calls == %{} and state.waiting.count == 0 and not InFlight.busy?(state.in_flight)

  defp start(state, entry) do
    request = Session.complete(state.session, entry.request)

    conn = conn(state, request, entry.base)
    request = RunTimeTool.locate(state.catalog, request, conn)
    {pid, monitor} = Call.start(state.catalog, request, conn, state.options)

    timeout = Handler.timeout(state.catalog, request, state.options.timeout)

    call = %{
      pid: pid,
      monitor: monitor,
      key: entry.key,
      # The call has its own copy of the rest.
      request: Request.summary(request),
      request_id: Trace.request_id(entry.base, request.id),
      target: entry.target,
      timeout: timeout,
      deadline: State.now() + timeout,
      started_at: System.monotonic_time(),
      progress: nil,
      awaiting: nil,
      holder: nil
    }

    Report.started(state, call, entry.request.repairs, entry.since)
    session = Session.place(state.session, entry.key, {:running, pid})
    arm(%{state | session: session, calls: Map.put(state.calls, pid, call)}, call.deadline)
  end

  defp conn(state, request, base) do
    if Revision.stateless?(request.revision),
      do: %{base | session_id: nil, log_level: request.log_level, router: state.router},
      else: %{base | session_id: state.session.id, log_level: state.session.log_level, router: state.router}
  end

  @doc "Takes over the call of the request from the process that has started it, if such a one runs."
  @spec adopt(State.t(), Session.key()) :: State.t()
  def adopt(%{in_flight: nil} = state, _key), do: state

  def adopt(state, key) do
    case InFlight.adopt(self(), key) do
      {:ok, holder, pid, entry} -> adopted(state, key, holder, pid, entry)
      :none -> state
    end
  end

  defp adopted(%{transport: {module, transport}} = state, key, holder, pid, entry) do
    {stream, transport} = module.adopt(transport, holder, entry)
    InFlight.told(self(), key)

    call = %{
      # Its holder hears of its end as well, and passes that on: the process may have ended already.
      pid: pid,
      monitor: :erlang.monitor(:process, pid, tag: :mcp_adopted_down),
      key: key,
      request: entry.request,
      request_id: entry.request_id,
      target: stream,
      timeout: entry.timeout,
      deadline: entry.deadline,
      started_at: entry.started_at,
      progress: nil,
      awaiting: nil,
      holder: holder
    }

    session = Session.place(state.session, key, {:running, pid})
    state = %{state | transport: {module, transport}, session: session, catalog: Catalog.fetch(state.router)}
    arm(%{state | calls: Map.put(state.calls, pid, call)}, call.deadline)
  end

  @doc "The same for who held the request; one that was killed may have left nothing to take over."
  @spec hand_over(State.t(), Session.key()) :: State.t()
  def hand_over(state, key) do
    state = adopt(state, key)
    unless Session.in_flight?(state.session, key), do: InFlight.clean_up(state.in_flight, self(), key)
    state
  end

  @doc "Takes over the call that is the process, which has something to say; `:unknown_yet` where one is being started."
  @spec adopt_process(State.t(), pid()) :: State.t() | :unknown_yet
  def adopt_process(%{in_flight: nil} = state, _pid), do: state
  def adopt_process(%{calls: calls} = state, pid) when is_map_key(calls, pid), do: state

  def adopt_process(state, pid) do
    # Asked first: between the two the call may come to be known.
    starting? = InFlight.starting?(self())

    case InFlight.ids(self(), pid) do
      [] -> if starting? and Process.alive?(pid), do: :unknown_yet, else: state
      ids -> Enum.reduce(ids, state, &adopt(&2, &1))
    end
  end

  @doc "Takes over every call: the connection is about to end."
  @spec adopt_all(State.t()) :: State.t()
  def adopt_all(%{in_flight: nil} = state), do: state

  def adopt_all(state) do
    InFlight.close(state.in_flight)
    Enum.reduce(InFlight.ids(self()), state, &adopt(&2, &1))
  end

  @doc "A call has come to its end, and maybe has answered."
  @spec done(State.t(), pid(), Call.result()) :: State.t()
  def done(state, pid, result) do
    case Map.pop(state.calls, pid) do
      {nil, _calls} -> state
      {call, calls} -> answer(leave(%{state | calls: calls}, call, elem(result, 1), elem(result, 2)), call, result)
    end
  end

  defp answer(state, call, {:mcp_done, {:refused, standing}, reply}),
    do: Replies.reply(state, call.target, reply, standing)

  defp answer(state, call, {:mcp_done, {:subscribe, uri}, _reply}),
    do: Subscriptions.subscribed(state, call.request, call.target, uri)

  defp answer(state, call, {:mcp_done, {:unsubscribe, uri}, _reply}),
    do: Subscriptions.unsubscribed(state, call.request, call.target, uri)

  defp answer(state, call, {:mcp_done, {:listen, filter}, _reply}),
    do: Subscriptions.open(state, call.key, call.request, call.target, filter)

  defp answer(state, call, {:mcp_done, _outcome, reply}), do: Replies.reply(state, call.target, reply)

  @doc "A call's process has ended without an answer."
  @spec down(State.t(), pid(), term()) :: State.t()
  def down(state, pid, reason) do
    case Map.pop(state.calls, pid) do
      {nil, _calls} -> state
      {call, calls} -> fail(Input.abandon(%{state | calls: calls}, pid, call), call, Failure.killed(reason))
    end
  end

  # How long a holder has to pass the result of a call on before it is looked for: milliseconds.
  @lost_after 1_000

  @doc "An adopted call has ended, and its result is still to be heard of from the process that has started it."
  @spec await_result(State.t(), pid()) :: State.t()
  def await_result(%{calls: calls} = state, pid) when is_map_key(calls, pid) do
    Process.send_after(self(), {:mcp_lost, pid}, @lost_after)
    state
  end

  def await_result(state, _pid), do: state

  @doc "The result is not there yet: it never will be where nobody is left to pass it on."
  @spec lost(State.t(), pid()) :: State.t()
  def lost(%{calls: calls} = state, pid) when is_map_key(calls, pid) do
    # One that lives may be slow; the call's deadline ends the wait.
    if Process.alive?(calls[pid].holder), do: await_result(state, pid), else: cancel_running(state, pid)
  end

  def lost(state, _pid), do: state

  @doc "The client wants the answer to the request with this key no longer."
  @spec cancel(State.t(), Session.key()) :: State.t()
  def cancel(state, key) do
    case Session.whereabouts(state.session, key) do
      {:running, pid} -> cancel_running(state, pid)
      :waiting -> cancel_waiting(state, key)
      _not_a_call -> state
    end
  end

  defp cancel_running(state, pid) do
    {call, state} = stop(state, pid, :cancelled)
    state |> leave(call, :cancelled) |> Replies.skip(call.target, :dropped)
  end

  defp cancel_waiting(state, key) do
    {entry, waiting} = Waiting.take(state.waiting, key)
    Replies.skip(%{state | session: Session.finish(state.session, key), waiting: waiting}, entry.target, :dropped)
  end

  @doc "Nobody waits at the stream any more: what runs or waits for it ends."
  @spec gone(State.t(), Transport.stream()) :: State.t()
  def gone(state, stream) do
    keys = for {_pid, %{target: ^stream, key: key}} <- state.calls, do: key
    Enum.reduce(keys, %{state | held: Map.delete(state.held, stream)}, &cancel(&2, &1))
  end

  # The process is gone or about to go, its monitor with it, and whatever it has sent is dropped.
  defp kill(state, pid), do: stop(state, pid, 0, :cancelled)

  defp stop(state, pid, why), do: stop(state, pid, Handler.grace(state.catalog, state.calls[pid].request), why)

  defp stop(state, pid, grace, why) do
    {call, calls} = Map.pop!(state.calls, pid)
    Call.stop(pid, grace, why)
    Process.demonitor(call.monitor, [:flush])
    {call, Input.abandon(%{state | calls: calls}, pid, call)}
  end

  @doc "Ends every call, those that wait included, and tells the client why."
  @spec shut_down(State.t()) :: State.t()
  def shut_down(state) do
    state = Enum.reduce(Map.keys(state.calls), state, &shut_down/2)
    Enum.reduce(Waiting.to_list(state.waiting), %{state | waiting: %Waiting{}}, &refuse_shutting_down(&2, &1))
  end

  defp shut_down(pid, state) do
    {call, state} = kill(state, pid)
    state |> leave(call, :cancelled) |> refuse_shutting_down(call)
  end

  defp refuse_shutting_down(state, %{request: request, target: target}) do
    {_outcome, reply} = Answer.refusal(state.catalog, request, "The server is shutting down")
    Replies.reply(state, target, reply)
  end

  @doc "Ends every call without an answer."
  @spec stop_all(State.t()) :: State.t()
  def stop_all(state) do
    state = Enum.reduce(Map.keys(state.calls), state, fn pid, state -> elem(kill(state, pid), 1) end)
    %{state | waiting: %Waiting{}}
  end

  @doc "Ends the calls whose time is up."
  @spec sweep(State.t()) :: State.t()
  def sweep(state) do
    now = State.now()
    due = for {pid, call} <- state.calls, call.deadline <= now, do: {pid, call}
    state = Enum.reduce(due, %{state | deadline_timer: nil}, &expire/2)

    case Enum.min_by(Map.values(state.calls), & &1.deadline, fn -> nil end) do
      nil -> state
      next -> arm(state, next.deadline)
    end
  end

  defp expire({pid, %{awaiting: nil} = call}, state) do
    {_call, state} = stop(state, pid, :timeout)
    fail(state, call, Failure.timeout(call.timeout))
  end

  defp expire({pid, _call}, state), do: Input.expire(state, pid)

  # One timer for all calls, set to the earliest deadline: a timer per call would cost every call two
  # timer operations for a deadline that is hardly ever reached.
  @doc "Makes sure that `deadline` will be noticed."
  @spec arm(State.t(), integer()) :: State.t()
  def arm(state, deadline) do
    %{state | deadline_timer: Timer.set(state.deadline_timer, deadline, :mcp_deadline)}
  end

  defp fail(state, call, failure) do
    Report.log(state, call, failure)
    reply = Answer.failure_reply(state.catalog, call.request, failure)
    state |> leave(call, {:exception, failure.kind, failure.id}, reply) |> Replies.reply(call.target, reply)
  end

  defp leave(state, call, outcome, reply \\ nil) do
    Report.ended(state, call, outcome, reply)
    if state.in_flight, do: InFlight.release(state.in_flight, self(), call.key)
    %{state | session: Session.finish(state.session, call.key)}
  end
end
