defmodule McpServer.Connection.Calls do
  @moduledoc false
  # The calls of a connection: waiting and running calls, their deadlines and their ends. Every admitted call ends
  # exactly once: answered, failed or cancelled.

  alias McpServer.{Call, Catalog, Dispatch, Protocol, Quota, Request}
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

  alias McpServer.Dispatch.{Answer, Failure, Handler, Permission, RunTimeTool}

  @typedoc """
  * `:deadline` – in `State.now/0` time; a call that waits for the client has a separate one
  * `:http_id` – the id of the HTTP request in the log, if it has one
  * `:started_at` – in native time, `nil` if no events are sent about it
  * `:holder` – the process that started an adopted call
  * `:bytes` – what counts for its arguments
  * `:logged` – the Logger metadata of its process at its end, if known
  """
  @type call :: %{
          pid: pid(),
          monitor: reference(),
          key: Session.key(),
          request: Request.t(),
          http_id: String.t() | nil,
          target: Replies.target(),
          timeout: pos_integer(),
          deadline: integer(),
          started_at: integer() | nil,
          progress: number() | nil,
          awaiting: Input.t() | nil,
          holder: pid() | nil,
          bytes: non_neg_integer(),
          logged: map() | nil
        }

  @doc "Accepts a request. It runs as soon as there is a place."
  @spec admit(State.t(), Request.t(), Replies.target()) :: State.t()
  def admit(state, request, target) do
    key = State.key(state, Replies.stream(state, target), request.id)

    entry = %{
      key: key,
      request: request,
      target: target,
      base: state.base,
      bytes: state.line_bytes,
      since: Report.event_time()
    }

    case claim(state, key, entry.bytes) do
      :ok -> start(state, entry, entry.since)
      :duplicate -> refuse_duplicate(state, request, target)
      :full -> overload(state, entry, state.options.overload)
    end
  end

  defp claim(%{in_flight: nil, session: session} = state, key, _bytes) do
    cond do
      Session.in_flight?(session, key) -> :duplicate
      free?(state) -> :ok
      true -> :full
    end
  end

  defp claim(%{in_flight: in_flight}, key, bytes), do: InFlight.claim_own(in_flight, key, bytes)

  # On a pipe further requests wait in the pipe. An HTTP client must be refused.
  defp overload(state, entry, :wait), do: wait(state, entry)

  defp overload(state, %{request: request, target: target}, {:refuse, status}),
    do: Replies.reply(state, target, busy(request), {:status, status})

  @doc "Refuses a batch without room, over HTTP."
  @spec overload_batch(State.t(), Transport.stream()) :: State.t()
  def overload_batch(%{options: %{overload: {:refuse, status}}} = state, stream) do
    error = busy(%{id: nil, revision: Session.fallback_revision(state.session)})
    Replies.reply(state, stream, error, {:status, status})
  end

  @doc "The error for a request without a place."
  @spec busy(repeated() | %{id: nil, revision: String.t()}) :: Protocol.message()
  def busy(%{id: id, revision: revision}),
    do: Protocol.error(id, revision, :internal_error, "Too many requests are in progress")

  @doc """
  The outcome and the answer of a call that has ended. A client that has left too many long answers unread (`behind?`)
  gets an error in place of another one: calls that began together are all admitted before any of their answers counts.
  """
  @spec answerable(repeated(), status :: pos_integer(), answer, behind? :: (() -> boolean())) :: answer
        when answer: {Dispatch.outcome(), Protocol.message()}
  def answerable(request, status, {_outcome, reply} = answer, behind?) do
    if Quota.long?(IO.iodata_length(reply)) and behind?.(),
      do: {{:refused, {:status, status}}, unread(request)},
      else: answer
  end

  defp unread(%{id: id, revision: revision}),
    do: Protocol.error(id, revision, :internal_error, "Too many long answers of earlier requests are unread")

  defp wait(state, entry) do
    session = Session.place(state.session, entry.key, :waiting)
    %{state | session: session, waiting: Waiting.put(state.waiting, entry)}
  end

  @doc "Whether a request would run at once: there is a place, and no request waits for it."
  @spec free?(State.t()) :: boolean()
  def free?(%{waiting: waiting} = state), do: waiting.count == 0 and place?(state)

  # Calls that wait for the client take no place.
  defp place?(%{calls: calls, awaiting_input: awaiting, options: options}),
    do: map_size(calls) - awaiting < options.max_calls

  @doc "Whether an unanswered request has the id."
  @spec in_flight?(State.t(), Replies.target(), Request.id()) :: boolean()
  def in_flight?(%{in_flight: nil, session: session} = state, target, id),
    do: Session.in_flight?(session, State.key(state, Replies.stream(state, target), id))

  def in_flight?(%{in_flight: in_flight}, _target, id), do: InFlight.taken?(in_flight, self(), id)

  @doc "The id of an encoded answer, if an unanswered request has it."
  @spec taken_id(State.t(), Replies.target(), Protocol.message()) :: {:ok, Request.id()} | :free
  def taken_id(%{in_flight: nil, session: %{in_flight: none}}, _target, _reply) when none == %{}, do: :free

  def taken_id(%{in_flight: nil} = state, target, reply) do
    with {:ok, id} <- Protocol.reply_id(reply),
         true <- in_flight?(state, target, id),
         do: {:ok, id},
         else: (_free -> :free)
  end

  def taken_id(%{in_flight: in_flight}, _target, reply), do: InFlight.taken_id(in_flight, self(), reply)

  @doc "Refuses a request whose id is still in flight. The first request continues."
  @spec refuse_duplicate(State.t(), repeated(), Replies.target()) :: State.t()
  def refuse_duplicate(state, request, target), do: Replies.reply(state, target, duplicate(request), {:status, 400})

  @typedoc "A request whose id is still in flight, or what is known of it."
  @type repeated :: %{required(:id) => Request.id(), required(:revision) => String.t(), optional(atom()) => term()}

  @doc "The error for a request whose id is still in flight."
  @spec duplicate(repeated()) :: Protocol.message()
  def duplicate(%{id: id, revision: revision}) do
    Protocol.error(id, revision, :invalid_request, {:because, "a request with this id is still in flight"})
  end

  @doc "Starts waiting requests while there are places."
  @spec start_waiting(State.t()) :: State.t()
  def start_waiting(%{waiting: %{count: 0}} = state), do: state

  def start_waiting(state) do
    if place?(state) do
      {entry, waiting} = Waiting.take(state.waiting)
      # A request that came without telemetry has no events.
      start_waiting(start(%{state | waiting: waiting}, entry, entry.since && System.monotonic_time()))
    else
      state
    end
  end

  @doc "Whether no call runs or waits."
  @spec idle?(State.t()) :: boolean()
  def idle?(state), do: state.calls == %{} and state.waiting.count == 0 and not InFlight.busy?(state.in_flight)

  defp start(%{catalog: catalog, options: options} = state, %{base: base} = entry, started_at) do
    request = Session.complete(state.session, entry.request)
    conn = conn(state, request, base)
    request = RunTimeTool.locate(catalog, request, conn)
    shares = InFlight.tool_shares(state.in_flight)
    {pid, monitor} = Call.start(catalog, request, conn, options, started_at != nil, self(), shares)
    timeout = Handler.timeout(catalog, request, options.timeout)

    call = %{
      pid: pid,
      monitor: monitor,
      key: entry.key,
      # The call has a copy of the rest.
      request: Request.summary(request),
      http_id: Trace.http_id(base),
      target: entry.target,
      timeout: timeout,
      deadline: State.now() + timeout,
      started_at: started_at,
      progress: nil,
      awaiting: nil,
      holder: nil,
      bytes: entry.bytes,
      logged: nil
    }

    Report.started(state, call, entry.request.repairs, entry.since)
    state = run(state, call)
    if Permission.free?(catalog, request), do: state, else: tell(state, {:mcp_undecided, call.target})
  end

  @doc "The handler of a call begins, that a check of access came before."
  @spec begun(State.t(), pid()) :: State.t()
  def begun(%{calls: calls} = state, pid) do
    case calls do
      %{^pid => %{target: target}} -> tell(state, {:mcp_decided, target})
      _ended -> state
    end
  end

  # Only some transports open streams for slow calls, and none for one call of a batch.
  defp tell(%{transport: {module, transport}} = state, message) do
    case module.event(transport, message) do
      {[], transport} -> %{state | transport: {module, transport}}
      :unknown -> state
    end
  end

  # One update, because the state has many fields.
  defp run(%{session: session, calls: calls, deadline_timer: timer} = state, %{pid: pid} = call) do
    %{
      state
      | session: Session.place(session, call.key, {:running, pid}),
        calls: Map.put(calls, pid, call),
        deadline_timer: Timer.set(timer, call.deadline, :mcp_deadline)
    }
  end

  defp conn(%{session: session, router: router}, %{revision: revision, log_level: log_level}, base) do
    if Revision.stateless?(revision),
      do: %{base | session_id: nil, log_level: log_level, router: router},
      else: %{base | session_id: session.id, log_level: session.log_level, router: router}
  end

  @doc "Adopts the call of the request from its holder, if such a call runs."
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
    Report.adopted(pid, holder)

    call = %{
      # The process may have ended already. Its holder learns of the end too, and passes it on.
      pid: pid,
      monitor: :erlang.monitor(:process, pid, tag: :mcp_adopted_down),
      key: key,
      request: entry.request,
      http_id: entry.http_id,
      target: stream,
      timeout: entry.timeout,
      deadline: entry.deadline,
      started_at: entry.started_at,
      progress: nil,
      awaiting: nil,
      holder: holder,
      bytes: entry.bytes,
      logged: nil
    }

    run(%{state | transport: {module, transport}, catalog: Catalog.fetch(state.router)}, call)
  end

  @doc "Adopts the call of the request for its holder. A killed holder may have left no call."
  @spec hand_over(State.t(), Session.key()) :: State.t()
  def hand_over(state, key) do
    state = adopt(state, key)
    unless Session.in_flight?(state.session, key), do: InFlight.clean_up(state.in_flight, self(), key)
    state
  end

  @doc "Adopts the call of the process, which has sent a message. `:unknown_yet` if a call is being started."
  @spec adopt_process(State.t(), pid()) :: State.t() | :unknown_yet
  def adopt_process(%{in_flight: nil} = state, _pid), do: state
  def adopt_process(%{calls: calls} = state, pid) when is_map_key(calls, pid), do: state

  def adopt_process(state, pid) do
    # This is read first, because the call may be registered between the two reads.
    starting? = InFlight.starting?(self())

    case InFlight.ids(self(), pid) do
      [] -> if starting? and Process.alive?(pid), do: :unknown_yet, else: state
      ids -> Enum.reduce(ids, state, &adopt(&2, &1))
    end
  end

  @doc "Adopts every call, because the connection is about to end."
  @spec adopt_all(State.t()) :: State.t()
  def adopt_all(%{in_flight: nil} = state), do: state

  def adopt_all(state) do
    InFlight.close(state.in_flight)
    Enum.reduce(InFlight.ids(self()), state, &adopt(&2, &1))
  end

  @doc "Ends a call that has finished, with its answer if it has one."
  @spec done(State.t(), pid(), Call.result()) :: State.t()
  def done(state, pid, result) do
    case Map.pop(state.calls, pid) do
      {nil, _calls} -> state
      {call, calls} -> ended(state, {call, calls}, result)
    end
  end

  defp ended(state, {call, calls}, {:mcp_done, outcome, reply, logged}) do
    {outcome, reply} = answerable(state, call, {outcome, reply})
    state |> leave({%{call | logged: logged}, calls}, outcome, reply) |> answer(call, outcome, reply)
  end

  defp answerable(%{options: %{overload: {:refuse, status}}, in_flight: in_flight}, call, answer),
    do: answerable(call.request, status, answer, fn -> InFlight.behind?(in_flight) end)

  # A pipe holds the server back.
  defp answerable(_state, _call, answer), do: answer

  defp answer(state, call, {:refused, standing}, reply), do: Replies.reply(state, call.target, reply, standing)

  defp answer(state, call, {:subscribe, uri}, _reply),
    do: Subscriptions.subscribed(state, call.request, call.target, uri)

  defp answer(state, call, {:unsubscribe, uri}, _reply),
    do: Subscriptions.unsubscribed(state, call.request, call.target, uri)

  defp answer(state, call, {:listen, filter}, _reply),
    do: Subscriptions.open(state, call.key, call.request, call.target, filter)

  defp answer(state, call, _outcome, reply), do: Replies.reply(state, call.target, reply)

  @doc "Fails a call whose process has ended without an answer."
  @spec down(State.t(), pid(), term()) :: State.t()
  def down(state, pid, reason) do
    case Map.pop(state.calls, pid) do
      {nil, _calls} -> state
      {call, calls} -> fail(Input.abandon(%{state | calls: calls}, pid, call), call, Failure.killed(reason))
    end
  end

  # How long a holder may take to pass a call's result on before the holder is checked: milliseconds.
  @lost_after 1_000

  @doc "Waits until the holder of an adopted call that has ended passes on the result."
  @spec await_result(State.t(), pid()) :: State.t()
  def await_result(%{calls: calls} = state, pid) when is_map_key(calls, pid) do
    Process.send_after(self(), {:mcp_lost, pid}, @lost_after)
    state
  end

  def await_result(state, _pid), do: state

  @doc "Cancels the call if its result is missing and its holder has ended."
  @spec lost(State.t(), pid()) :: State.t()
  def lost(%{calls: calls} = state, pid) when is_map_key(calls, pid) do
    # A living holder may be slow. The call's deadline ends the wait.
    if Process.alive?(calls[pid].holder), do: await_result(state, pid), else: cancel_running(state, pid)
  end

  def lost(state, _pid), do: state

  @doc "Cancels the request with this key for the client."
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
    state |> leave({call, state.calls}, :cancelled) |> Replies.skip(call.target, :dropped)
  end

  defp cancel_waiting(state, key) do
    {entry, waiting} = Waiting.take(state.waiting, key)
    Replies.skip(%{state | session: Session.finish(state.session, key), waiting: waiting}, entry.target, :dropped)
  end

  @doc "Ends running and waiting calls of a stream whose client has gone."
  @spec gone(State.t(), Transport.stream()) :: State.t()
  def gone(state, stream) do
    keys = for {_pid, %{target: ^stream, key: key}} <- state.calls, do: key
    Enum.reduce(keys, %{state | held: Map.delete(state.held, stream)}, &cancel(&2, &1))
  end

  # Ends the process at once, with its monitor. Messages that it has sent are dropped.
  defp kill(state, pid), do: stop(state, pid, 0, :cancelled)

  defp stop(state, pid, why), do: stop(state, pid, Handler.grace(state.catalog, state.calls[pid].request), why)

  defp stop(state, pid, grace, why) do
    {call, calls} = Map.pop!(state.calls, pid)
    call = %{call | logged: Report.logged(call, why)}
    Call.stop(pid, grace, why, state.server.client)
    Process.demonitor(call.monitor, [:flush])
    {call, Input.abandon(%{state | calls: calls}, pid, call)}
  end

  @doc "Ends every running and waiting call, and tells the client why."
  @spec shut_down(State.t()) :: State.t()
  def shut_down(state) do
    state = Enum.reduce(Map.keys(state.calls), state, &shut_down/2)
    Enum.reduce(Waiting.to_list(state.waiting), %{state | waiting: %Waiting{}}, &refuse_shutting_down(&2, &1))
  end

  defp shut_down(pid, state) do
    {call, state} = kill(state, pid)
    state |> leave({call, state.calls}, :cancelled) |> refuse_shutting_down(call)
  end

  defp refuse_shutting_down(state, %{request: request, target: target}) do
    {_outcome, reply} = Answer.refusal(state.catalog, request, "The server is shutting down")
    Replies.reply(state, target, reply)
  end

  @doc "Ends every call without an answer."
  @spec stop_all(State.t()) :: State.t()
  def stop_all(state) do
    state = Enum.reduce(Map.keys(state.calls), state, &stop_one/2)
    %{state | waiting: %Waiting{}}
  end

  defp stop_one(pid, state) do
    {call, state} = kill(state, pid)
    Report.ended(state, call, :cancelled)
    state
  end

  @doc "Ends the calls whose deadline has passed."
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

  defp expire({pid, %{awaiting: nil}}, state) do
    {call, state} = stop(state, pid, :timeout)
    fail(state, call, Failure.timeout(call.timeout))
  end

  defp expire({pid, _call}, state), do: Input.expire(state, pid)

  # All calls share one timer, set to the earliest deadline. A timer per call would cost two timer operations, although
  # deadlines are rarely reached.
  @doc "Sets the timer for `deadline`."
  @spec arm(State.t(), integer()) :: State.t()
  def arm(state, deadline) do
    %{state | deadline_timer: Timer.set(state.deadline_timer, deadline, :mcp_deadline)}
  end

  defp fail(state, call, failure) do
    Report.log(state, call, failure)
    reply = Answer.failure_reply(state.catalog, call.request, failure)
    outcome = {:exception, failure.kind, failure.id}
    state |> leave({call, state.calls}, outcome, reply) |> Replies.reply(call.target, reply)
  end

  # `calls` are the others.
  defp leave(%{session: session} = state, {call, calls}, outcome, reply \\ nil) do
    Report.ended(state, call, outcome, reply)
    state = release(state, call)
    %{state | calls: calls, session: Session.finish(session, call.key)}
  end

  defp release(%{in_flight: nil} = state, _call), do: state

  # The answers of a batch are kept for its last one, and their places with them.
  defp release(state, %{target: {:batch, batch}, key: id, bytes: bytes}) do
    InFlight.free(self(), id)
    Replies.keep(state, batch, bytes)
  end

  defp release(state, call) do
    InFlight.release(state.in_flight, self(), call.key, call.bytes)
    state
  end
end
