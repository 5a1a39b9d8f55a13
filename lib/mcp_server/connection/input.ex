defmodule McpServer.Connection.Input do
  @moduledoc false
  # Requests to the client on behalf of a call (session era). Sends them, passes on the answers and lets the call
  # continue. Waiting time counts against the client's time limit, not against the call's.

  alias McpServer.{Call, Protocol, Request}
  alias McpServer.JsonRpc.Error
  alias McpServer.Connection.{Calls, InFlight, Replies, Report, Session, State}

  @typedoc "`:remaining` is the call's remaining time, in milliseconds."
  @type t :: %{
          tag: reference(),
          open: pos_integer(),
          remaining: integer(),
          asked_at: integer()
        }

  @doc "Sends the requests of the call `pid`, which waits for the answers under `tag`."
  @spec ask(State.t(), reference(), pid(), [{Request.id(), String.t(), iodata()}]) :: State.t()
  def ask(state, tag, pid, requests) do
    case refusal(state, pid) || place(state) do
      nil ->
        put(state, tag, pid, requests)

      reason ->
        Call.reply(tag, {:error, reason})
        state
    end
  end

  defp place(state), do: if(InFlight.wait(state.in_flight) == :full, do: :too_many)

  defp refusal(%{transport: {module, transport}} = state, pid) do
    call = Map.get(state.calls, pid)

    cond do
      state.closing != nil or call == nil -> :closed
      not module.reachable?(transport, Replies.stream(state, call.target)) -> :closed
      state.awaiting_input >= state.options.max_awaiting_input -> :too_many
      true -> nil
    end
  end

  defp put(state, tag, pid, requests) do
    call = Map.fetch!(state.calls, pid)
    now = State.now()

    awaiting = %{
      tag: tag,
      open: length(requests),
      remaining: call.deadline - now,
      asked_at: System.monotonic_time()
    }

    call = %{call | awaiting: awaiting, deadline: now + state.options.input_timeout}
    session = Session.ask(state.session, pid, for({id, key, _message} <- requests, do: {id, key}))
    Report.peer(state, [:input, :start], %{count: length(requests)})

    stream = Replies.stream(state, call.target)
    put = fn {_id, _key, message}, state -> Replies.put(state, stream, :request, message) end
    state = Enum.reduce(requests, state, put)

    %{
      state
      | session: session,
        calls: Map.put(state.calls, pid, call),
        awaiting_input: state.awaiting_input + 1
    }
    |> Calls.arm(call.deadline)
  end

  @doc "Handles the client's answer to one of our requests."
  @spec answered(State.t(), Request.id(), {:ok, map()} | {:error, map()}) :: State.t()
  def answered(state, id, answer) do
    case Session.answered(state.session, id) do
      {:ok, {pid, key}, session} ->
        pass_on(%{state | session: session}, pid, key, answer)

      :unknown ->
        Report.discarded(state, :unknown_response)
        state
    end
  end

  defp pass_on(state, pid, key, answer) do
    %{awaiting: awaiting} = call = Map.fetch!(state.calls, pid)
    {call, answer} = hold(state, call, answer)
    Call.reply(awaiting.tag, {:answered, key, answer})

    if awaiting.open == 1,
      do: resume(state, pid, call, :complete, :ok),
      else: %{state | calls: Map.put(state.calls, pid, put_in(call.awaiting.open, awaiting.open - 1))}
  end

  # The handler keeps what the client answers, as it keeps its arguments.
  defp hold(state, call, answer) do
    case InFlight.hold(state.in_flight, state.line_bytes) do
      :ok ->
        {%{call | bytes: call.bytes + state.line_bytes}, answer}

      :full ->
        {call, {:error, %{"code" => Error.code(:internal_error), "message" => "There is no room for the answer"}}}
    end
  end

  defp resume(state, pid, call, answer, outcome) do
    Call.reply(call.awaiting.tag, answer)
    InFlight.go_on(state.in_flight)
    report(state, call, outcome)
    deadline = State.now() + max(call.awaiting.remaining, 0)
    call = %{call | awaiting: nil, deadline: deadline}

    Calls.arm(
      %{state | calls: Map.put(state.calls, pid, call), awaiting_input: state.awaiting_input - 1},
      deadline
    )
  end

  @doc "Ends the wait for a client that took too long."
  @spec expire(State.t(), pid()) :: State.t()
  def expire(state, pid) do
    call = Map.fetch!(state.calls, pid)
    state |> withdraw(pid, call, "Timed out") |> resume(pid, call, {:error, :timeout}, :timeout)
  end

  @doc "Withdraws the requests of a call that has ended."
  @spec abandon(State.t(), pid(), Calls.call()) :: State.t()
  def abandon(state, _ref, %{awaiting: nil}), do: state

  def abandon(state, pid, call) do
    InFlight.go_on(state.in_flight)
    report(state, call, :cancelled)
    withdraw(%{state | awaiting_input: state.awaiting_input - 1}, pid, call, "The request has ended")
  end

  @doc "Lets every waiting call continue without answers, because the client is gone."
  @spec close_all(State.t()) :: State.t()
  def close_all(state) do
    for {pid, %{awaiting: %{}} = call} <- state.calls, reduce: state do
      state ->
        {_ids, session} = Session.withdraw(state.session, pid)
        resume(%{state | session: session}, pid, call, {:error, :closed}, :closed)
    end
  end

  # Tells the client not to answer: a dialog may be open in front of a user.
  defp withdraw(state, pid, call, reason) do
    {ids, session} = Session.withdraw(state.session, pid)

    for id <- ids, reduce: %{state | session: session} do
      state ->
        fields = %{requestId: id, reason: reason}
        {:ok, message} = Protocol.notification(session.revision, :cancelled, fields)
        Replies.put(state, Replies.stream(state, call.target), :notification, message)
    end
  end

  defp report(state, call, outcome) do
    duration = System.monotonic_time() - call.awaiting.asked_at
    Report.peer(state, [:input, :stop], %{duration: duration}, %{outcome: outcome})
  end
end
