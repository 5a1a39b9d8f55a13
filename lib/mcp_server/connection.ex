defmodule McpServer.Connection do
  @moduledoc false
  # The process that owns one transport: it reads lines, executes their outcomes and writes answers together.
  #
  # Only this process writes. It waits only for the transport, so a `ping` is answered while tools run. The modules
  # below do its work, with functions from state to state:
  #
  #   Inbox    lines → outcomes → work          Calls    running, waiting, deadlines, cancellation
  #   Replies  answers, batches, the outbox     Input    requests to the client (session era)
  #   Subscriptions  subscriptions and changes        Notifications  progress and log messages of calls

  use GenServer
  use McpServer.Outline, status: &shown/1

  alias McpServer.{Auth, Catalog, Conn, Limit, Quota, Recipient, ServerOptions}
  alias McpServer.Native.Dirty
  alias McpServer.Quota.{Client, Keeper}
  alias McpServer.Tools.OpenSessions

  alias McpServer.Connection.{
    Calls,
    InFlight,
    Inbox,
    Input,
    Notifications,
    Outbox,
    Report,
    Session,
    State,
    Subscriptions,
    Transport
  }

  # How long the process itself waits for the next line after an answer, before a thread waits instead: microseconds.
  # This blocks the scheduler, but for a quick client the wake-up of two threads takes longer than a call.
  @patience_us 100
  # Milliseconds.
  @rest_after 2_000
  @again_after 1
  # Messages.
  @crowd 256

  @type option ::
          {:router, module()}
          | {:transport, {module(), term()}}
          | {:name, GenServer.name()}
          | {:session, Session.t()}
          | {:server, State.server()}
          | {:in_flight, InFlight.t()}
          | {:bounds, ServerOptions.bounds()}
          | {:principal, term()}

  @doc "Starts a connection."
  @spec start_link([option()]) :: GenServer.on_start()
  def start_link(options) do
    {server, options} = Keyword.split(options, [:name])

    options =
      Map.new(Keyword.validate!(options, [:router, :transport, :session, :server, :in_flight, :bounds, :principal]))

    # Errors of the router are raised in the caller.
    _catalog = Catalog.fetch(options.router)
    GenServer.start_link(__MODULE__, options, server)
  end

  @impl true
  def init(%{router: router, transport: {module, transport_options}, bounds: bounds} = options) do
    Process.flag(:trap_exit, true)
    Process.flag(:max_heap_size, Limit.heap(bounds.max_heap_bytes, true))
    catalog = Catalog.fetch(router)
    Keeper.watch()
    session = Map.get_lazy(options, :session, fn -> Session.new(Session.random_id()) end)
    {principal, auth} = identity(options[:principal])
    # Connections of one server share some limits. A connection without a server shares none.
    server = Map.get_lazy(options, :server, fn -> alone(bounds) end)
    Dirty.work_for(server.client || Client.new(principal, nil))

    case module.open(transport_options) do
      {:ok, transport} ->
        if module.name() != :http, do: OpenSessions.enter(router, session.id)

        state = %State{
          router: router,
          catalog: catalog,
          transport: {module, transport},
          session: session,
          server: server,
          in_flight: Map.get(options, :in_flight),
          base: %Conn{assigns: bounds.assigns, principal: principal, auth: auth, transport: module.name()},
          principal: principal,
          options: bounds,
          opened_at: System.monotonic_time(),
          limits: limits(module, bounds),
          observer: observer(module, router)
        }

        # The transport has opened the session itself.
        if session.revision, do: Report.session_started(state)
        # A reopened session is already initialized.
        {:ok, if(session.initialized?, do: Subscriptions.hear(state), else: state), 0}

      {:error, reason} ->
        {:stop, reason}
    end
  end

  defp alone(bounds), do: %{quota: Quota.new(:server, Map.put(bounds, :max_share, 100)), client: nil}

  # Over stdio and in tests, the principal may be an `Auth` with the grants of a token.
  defp identity(%Auth{principal: principal} = auth), do: {principal, auth}
  defp identity(principal), do: {principal, nil}

  # Messages over HTTP were admitted before they arrive here.
  defp limits(module, bounds), do: if(module.name() != :http, do: ServerOptions.message_limits(bounds))

  # Sees every message in both directions: our tests check them against the official schemas. Most messages over HTTP do
  # not pass this process, so those tests read the wire instead.
  defp observer(transport, router) do
    observe = Application.get_env(:mcp_server, :message_observer)
    if is_function(observe, 2) and transport.name() != :http, do: &observe.(router, &1)
  end

  @impl true
  def handle_info({:mcp_down, _monitor, :process, pid, {:shutdown, {:mcp_done, _, _, _} = result}}, state),
    do: settle(settle_ended(Calls.done(state, pid, result)))

  def handle_info({:mcp_ended, pid, result}, state), do: settle(Calls.done(state, pid, result))

  def handle_info({:mcp_notify, tag, pid, condition, message} = said, state),
    do: hear(state, pid, said, &Notifications.notify(&1, tag, pid, condition, message))

  def handle_info({:mcp_pause, tag, pid, retry_ms} = said, state),
    do: hear(state, pid, said, &Notifications.pause(&1, tag, pid, retry_ms))

  def handle_info({:mcp_ask, tag, pid, requests} = said, state),
    do: hear(state, pid, said, &Input.ask(&1, tag, pid, requests))

  def handle_info({:mcp_begun, pid}, state), do: go_on(Calls.begun(state, pid))
  def handle_info({:mcp_hand_over, id}, state), do: settle(Calls.hand_over(state, id))
  def handle_info({:mcp_change, change}, state), do: go_on(Subscriptions.changed(state, change))

  def handle_info({:mcp_change, change, recipient}, state) do
    concerned? = Recipient.concerns?(recipient, state.principal, state.session.id)
    go_on(if concerned?, do: Subscriptions.changed(state, change), else: state)
  end

  def handle_info({:mcp_log, recipient, level, message}, state) do
    concerned? = Recipient.concerns?(recipient, state.principal, state.session.id)
    go_on(if concerned?, do: Notifications.log(state, level, message), else: state)
  end

  # The call ended before it was adopted, or it sent its result in a separate message, maybe before the adoption.
  # Its holder passes the result on, unless the holder has ended too.
  def handle_info({:mcp_adopted_down, _monitor, :process, pid, reason}, state) when reason in [:noproc, :normal],
    do: go_on(Calls.await_result(state, pid))

  def handle_info({:mcp_adopted_down, monitor, :process, pid, reason}, state),
    do: handle_info({:mcp_down, monitor, :process, pid, reason}, state)

  def handle_info({:mcp_lost, pid}, state), do: settle(Calls.lost(state, pid))
  def handle_info({:mcp_cancel, id}, state), do: settle(Inbox.cancel(state, id))
  def handle_info(:mcp_deadline, state), do: settle(Calls.sweep(state))
  def handle_info(:timeout, state), do: quiet(state)
  # Running calls are answered with the reason.
  def handle_info(:mcp_shut_down, state), do: {:stop, :shutdown, state}
  def handle_info(:mcp_drain_over, state), do: {:stop, :normal, Calls.stop_all(%{state | backlog: []})}
  def handle_info({:mcp_down, _monitor, :process, pid, reason}, state), do: settle(Calls.down(state, pid, reason))

  def handle_info(message, %{transport: {module, transport}} = state) do
    case module.event(transport, message) do
      {events, transport} -> settle(Enum.reduce(events, %{state | transport: {module, transport}}, &event/2))
      # A handler can send any message to its connection. Unknown messages are dropped.
      :unknown -> go_on(state)
    end
  end

  # A crash report must not show messages of clients and handlers.
  defp shown(status) do
    hidden = fn state -> %{router: state.router, revision: state.session.revision, calls: map_size(state.calls)} end

    status
    |> Map.replace(:message, :hidden)
    |> Map.replace(:log, [])
    |> update(:state, hidden)
    |> update(:reason, &without_arguments/1)
  end

  defp update(status, key, fun), do: if(is_map_key(status, key), do: Map.update!(status, key, fun), else: status)

  # The stack of a failed call to the core contains its arguments.
  defp without_arguments({reason, [_ | _] = stack}), do: {reason, Enum.map(stack, &without_arguments/1)}

  defp without_arguments({module, function, [_ | _] = arguments, where}),
    do: {module, function, length(arguments), where}

  defp without_arguments(other), do: other

  # A connection has no calls. A handler that calls it must not crash it.
  @impl true
  def handle_call(_request, _from, state), do: {:reply, {:error, :unknown_call}, state, 0}

  @impl true
  def handle_cast(_message, state), do: go_on(state)

  # A call may send a message before its holder has registered it.
  defp hear(state, pid, said, fun) do
    case Calls.adopt_process(state, pid) do
      :unknown_yet ->
        Process.send_after(self(), said, @again_after)
        go_on(state)

      state ->
        go_on(fun.(state))
    end
  end

  defp event({:lines, lines}, state), do: Inbox.receive(state, lines)
  defp event(:too_long, state), do: Inbox.refuse_line(state)
  defp event({:admitted, stream, outcome, origin}, state), do: Inbox.take(state, stream, outcome, origin)
  defp event({:gone, stream}, state), do: state |> Calls.gone(stream) |> Subscriptions.gone(stream)
  defp event({:writable, stream}, state), do: Notifications.writable(state, stream)
  defp event(:eof, state), do: close(state, :eof)
  defp event(:closed, state), do: close(state, :closed)

  # Requests that were read are answered within the `drain` time. Calls that wait for the client get no answer from it.
  defp close(%{closing: nil} = state, reason) do
    if reason == :eof, do: Process.send_after(self(), :mcp_drain_over, state.options.drain)
    Subscriptions.close_all(Input.close_all(Calls.adopt_all(%{state | closing: reason})))
  end

  defp close(state, _reason), do: state

  # The mailbox is empty: writes ready messages, else reads lines, else hibernates.
  defp quiet(state) do
    cond do
      ready?(state) -> flush(state)
      Inbox.ahead?(state) -> go_on(state)
      Inbox.hungry?(state) -> read(state)
      true -> {:noreply, state, :hibernate}
    end
  end

  defp read(state) do
    if Calls.idle?(state), do: settle(read(state, @patience_us)), else: read_beside_calls(state)
  end

  # Most calls end within the time of a request for lines.
  defp read_beside_calls(state) do
    :erlang.yield()

    case Process.info(self(), :message_queue_len) do
      {:message_queue_len, 0} -> settle(read(state, 0))
      _ended -> {:noreply, state, 0}
    end
  end

  # Handles all ended calls together, because each separate message costs more than its work. In a long mailbox each
  # selective receive would search all messages, so it is skipped.
  defp settle_ended(state) do
    {:message_queue_len, waiting} = Process.info(self(), :message_queue_len)
    if waiting <= @crowd, do: take_ended(state), else: state
  end

  defp take_ended(state) do
    receive do
      {:mcp_down, _monitor, :process, pid, {:shutdown, {:mcp_done, _, _, _} = result}} ->
        take_ended(Calls.done(state, pid, result))
    after
      0 -> state
    end
  end

  defp read(%{transport: {module, transport}} = state, wait_us) do
    Enum.reduce(module.credit(transport, wait_us), %{state | owes_credit?: false}, &event/2)
  end

  # Handlers that send many messages must not keep the client's lines waiting.
  defp go_on(state) do
    state = if Inbox.hungry?(state), do: read(state, 0), else: state
    settle(Inbox.read_ahead(state))
  end

  defp settle(%{closing: :closed} = state), do: {:stop, :normal, state}

  defp settle(state) do
    state = state |> Calls.start_waiting() |> Inbox.admit_lines()

    cond do
      Outbox.full?(state.outbox) -> flush(state)
      finished?(state) -> flush(state)
      ready?(state) or Inbox.ahead?(state) or Inbox.hungry?(state) -> {:noreply, state, 0}
      true -> rest(state)
    end
  end

  defp ready?(state), do: not Outbox.empty?(state.outbox) or MapSet.size(state.changes) > 0

  # An idle connection frees its memory after a pause.
  defp rest(%{transport: {module, transport}} = state) do
    if state.calls == %{} and module.idle?(transport), do: {:noreply, state, @rest_after}, else: {:noreply, state}
  end

  defp finished?(state), do: state.closing != nil and state.backlog == [] and Calls.idle?(state)

  defp flush(state) do
    case write(state) do
      {:ok, state} -> written(state)
      {:closed, state} -> {:stop, :normal, %{state | closing: :closed}}
    end
  end

  defp written(state) do
    cond do
      finished?(state) -> {:stop, :normal, state}
      Inbox.ahead?(state) or Inbox.hungry?(state) -> {:noreply, state, 0}
      true -> rest(state)
    end
  end

  defp write(%{transport: {module, transport}} = state) do
    state = Subscriptions.write_changes(state)
    {entries, outbox} = Outbox.take(state.outbox)
    state = %{state | outbox: outbox}
    if state.observer, do: for(message <- Transport.messages(entries), do: state.observer.({:out, message}))

    case module.write(transport, entries) do
      {:ok, transport} ->
        :ok = InFlight.forget_answers(state.in_flight, state.unwritten)
        {:ok, %{state | transport: {module, transport}, unwritten: 0}}

      {:error, :closed} ->
        {:closed, state}
    end
  end

  # A connection that is told to end stops reading and finishes the requests that were read.
  defp close_input(%{closing: nil} = state), do: Input.close_all(%{state | closing: :eof})
  defp close_input(state), do: state

  defp run_out(state), do: run_out(settle(state), State.now() + state.options.drain)

  defp run_out({:stop, _reason, state}, _until), do: state
  defp run_out(going_on, until), do: await_message(elem(going_on, 1), until)

  # Ready messages are written before the process waits.
  defp await_message(state, until) do
    if ready?(state), do: run_out(flush(state), until), else: next_message(state, until)
  end

  defp next_message(state, until) do
    receive do
      message -> run_out(handle_info(message, state), until)
    after
      max(until - State.now(), 0) -> state
    end
  end

  # A connection without an id serves many clients and is not a session.
  defp report_end(%{session: %{id: nil}}, _reason), do: :ok

  defp report_end(state, reason) do
    duration = System.monotonic_time() - state.opened_at
    Report.peer(state, [:session, :stop], %{duration: duration}, %{reason: reason})
  end

  @impl true
  def terminate(exit, %{transport: {module, transport}} = state) do
    reason = state.closing || :shutdown
    state = Calls.adopt_all(state)
    state = if exit == :shutdown and state.options.drains?, do: run_out(close_input(state)), else: state
    state = if exit == :shutdown, do: Calls.shut_down(Inbox.read_out(state)), else: Calls.stop_all(state)
    state = Subscriptions.close_all(state)
    if reason != :closed, do: write(state)

    report_end(state, reason)
    # Over HTTP the transport knows whether the session can be reopened.
    if module.name() != :http, do: OpenSessions.leave(state.router, state.session.id)
    module.closed(transport, reason)
  end
end
