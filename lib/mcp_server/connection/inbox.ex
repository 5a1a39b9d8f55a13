defmodule McpServer.Connection.Inbox do
  @moduledoc false
  # Incoming lines: the core admits each line, and its outcome is executed. Lines wait here unparsed while all places
  # are taken and other work is due: a line is only a view of its batch, but a waiting request has terms on the heap.
  # The number of lines read ahead is bounded. The transport gets no credit meanwhile, so the pipe fills up and the peer
  # waits.

  alias McpServer.{Catalog, Protocol, Request}

  alias McpServer.Connection.{
    Calls,
    InFlight,
    Input,
    Replies,
    Report,
    Session,
    State,
    Subscriptions,
    Transport,
    Waiting
  }

  # Milliseconds.
  @again_after 1

  @doc "Receives a batch of lines, which has used one credit."
  @spec receive(State.t(), [binary()]) :: State.t()
  def receive(state, lines) do
    # Once per batch, so that a router recompiled in development is served in its new form.
    state = %{state | catalog: Catalog.fetch(state.router), owes_credit?: true}
    admit_lines(%{state | backlog: join(state.backlog, lines)})
  end

  defp join([], lines), do: lines
  defp join(backlog, lines), do: backlog ++ lines

  @doc "Whether the connection should request the peer's next lines."
  @spec hungry?(State.t()) :: boolean()
  def hungry?(state), do: state.owes_credit? and state.backlog == [] and state.closing == nil

  @doc "Admits lines while there are places for calls."
  @spec admit_lines(State.t()) :: State.t()
  def admit_lines(%{backlog: [_line | _rest]} = state),
    do: if(Calls.free?(state), do: admit_lines(admit_next(state)), else: state)

  def admit_lines(state), do: state

  @doc "Whether a line may be read ahead. It may need no place, for example a cancellation."
  @spec ahead?(State.t()) :: boolean()
  def ahead?(%{backlog: []}), do: false
  def ahead?(state), do: Waiting.room?(state.waiting, state.options)

  @doc "Reads one line ahead, if one waits and this is allowed."
  @spec read_ahead(State.t()) :: State.t()
  def read_ahead(state), do: if(ahead?(state), do: admit_next(state), else: state)

  @doc "Admits all lines that were read. No further call starts."
  @spec read_out(State.t()) :: State.t()
  def read_out(state), do: admit_backlog(%{state | options: %{state.options | max_calls: 0}})

  defp admit_backlog(%{backlog: []} = state), do: state
  defp admit_backlog(state), do: admit_backlog(admit_next(state))

  defp admit_next(%{backlog: [line | rest]} = state),
    do: admit(%{state | backlog: rest, line_bytes: byte_size(line)}, line)

  defp admit(%{catalog: catalog, session: session, limits: limits} = state, line) do
    observe(state, line)
    execute(Protocol.admit(catalog, Session.context(session), line, limits), state, :session)
  end

  @doc "Takes a message that was already admitted."
  @spec take(State.t(), Transport.stream(), Protocol.outcome(), Transport.origin()) :: State.t()
  def take(state, stream, outcome, %{catalog: catalog, base: base, bytes: bytes}),
    do: execute(outcome, %{state | catalog: catalog, base: base, line_bytes: bytes}, stream)

  defp observe(%{observer: nil}, _line), do: :ok
  defp observe(%{observer: observer}, line), do: observer.({:in, line})

  @doc "Refuses a line over the transport's limit. The transport has skipped it."
  @spec refuse_line(State.t()) :: State.t()
  def refuse_line(state) do
    revision = Session.fallback_revision(state.session)
    data = %{"reason" => "too_large"}
    state = %{state | owes_credit?: true}
    Replies.reply(state, :session, Protocol.error(nil, revision, :parse_error, nil, data))
  end

  defp execute({:reply, reply}, state, target), do: reply(state, target, reply, :ok)
  defp execute({:reply, status, reply}, state, target), do: reply(state, target, reply, {:status, status})
  defp execute(:ignore, state, target), do: Replies.skip(state, target, :accepted)
  defp execute({:request, request}, state, target), do: request(state, request, target)

  defp execute({:open, reply, opening}, state, target) do
    state = %{state | session: Session.open(state.session, opening)}
    Report.session_started(state)
    Replies.reply(state, target, reply)
  end

  defp execute({:notification, notification}, state, target),
    do: notification |> notification(state) |> Replies.skip(target, :accepted)

  defp execute({:response, id, answer}, state, target),
    do: state |> Input.answered(id, answer) |> Replies.skip(target, :accepted)

  defp execute({:batch, outcomes}, %{line_bytes: bytes} = state, stream) do
    case InFlight.admit_batch(state.in_flight, bytes) do
      :ok ->
        {batch, state} = Replies.open_batch(state, stream, length(outcomes), bytes)
        Enum.reduce(outcomes, state, &execute(&1, %{&2 | line_bytes: beyond(&1, bytes)}, {:batch, batch}))

      :full ->
        Calls.overload_batch(state, stream)
    end
  end

  # A batch keeps its bytes for its calls. What answers a question stays with the call that has asked.
  defp beyond({:response, _id, _answer}, bytes), do: bytes
  defp beyond(_of_the_batch, _bytes), do: 0

  # The core has answered without a look at the ids in flight.
  defp reply(state, target, reply, standing) do
    case Calls.taken_id(state, target, reply) do
      :free -> reply_free(state, target, reply, standing)
      {:ok, id} -> Calls.refuse_duplicate(state, repeated(state, id), target)
    end
  end

  # A batch keeps its answers, and most of them, such as lists, need no place. Otherwise a short batch would have as many
  # bytes as it likes.
  defp reply_free(state, {:batch, _batch} = target, reply, standing) do
    if InFlight.behind?(state.in_flight),
      do: Replies.reply(state, target, Calls.busy(repeated(state, reply_id(reply)))),
      else: Replies.reply(state, target, reply, standing)
  end

  defp reply_free(state, target, reply, standing), do: Replies.reply(state, target, reply, standing)

  defp reply_id(reply), do: with({:ok, id} <- Protocol.reply_id(reply), do: id, else: (_none -> nil))
  defp repeated(state, id), do: %{id: id, revision: Session.fallback_revision(state.session)}

  # Most of these requests start no call, which would claim the id.
  defp request(state, %Request{kind: kind, id: id} = request, target)
       when kind in [:set_level, :subscribe, :unsubscribe] do
    if Calls.in_flight?(state, target, id),
      do: Calls.refuse_duplicate(state, request, target),
      else: answer(state, request, target)
  end

  defp request(state, %Request{kind: :listen} = request, target), do: Subscriptions.listen(state, request, target)
  defp request(state, request, target), do: Calls.admit(state, request, target)

  defp answer(state, %{kind: :set_level} = request, target) do
    state = %{state | session: Session.put_level(state.session, request.arguments["level"])}
    InFlight.put_level(state.in_flight, state.session.log_level)
    {:ok, reply} = Protocol.result(state.catalog, request, :empty)
    Replies.reply(state, target, reply)
  end

  defp answer(state, %{kind: :subscribe} = request, target), do: Subscriptions.subscribe(state, request, target)
  defp answer(state, %{kind: :unsubscribe} = request, target), do: Subscriptions.unsubscribe(state, request, target)

  defp notification(:initialized, state) do
    state = %{state | session: Session.initialized(state.session)}
    if state.session.initialized?, do: Subscriptions.hear(state), else: state
  end

  defp notification({:cancelled, id, _reason}, state), do: cancel(state, id)

  # Nothing waits for progress on our requests or for changed roots.
  defp notification({:progress, _token, _params}, state), do: state
  defp notification(:roots_list_changed, state), do: state

  @doc "Cancels a request for the client, and the stream that it has opened."
  @spec cancel(State.t(), Request.id()) :: State.t()
  def cancel(state, id) do
    if state.in_flight != nil and InFlight.starting?(self(), id) do
      # The holder of the request registers the call's process in a moment.
      Process.send_after(self(), {:mcp_cancel, id}, @again_after)
      state
    else
      state |> Calls.adopt(id) |> Calls.cancel(id) |> Subscriptions.cancel(id)
    end
  end
end
