defmodule McpServer.Http.Sessions do
  @moduledoc false
  # The sessions of this node: their owners, limits and processes.
  #
  # A lookup reads a table. The application's process owns the table, so sessions survive the end of this
  # process.
  #
  # With a configured secret, the id contains the session (`Sealed`). A session that is not here is then opened from its
  # id, unless a connected node has it (`Reopening`).

  use GenServer
  use McpServer.Outline

  alias McpServer.{Connection, Quota, Recipient}
  alias McpServer.Connection.{InFlight, Session}
  alias McpServer.Http.Mount
  alias McpServer.Http.Cluster.Node
  alias McpServer.Http.Session.{Reopening, ReplayRoom, Sealed, Tombstones}
  alias McpServer.Protocol.HTTP
  alias McpServer.Quota.{Client, Kinds}
  alias McpServer.Tools.Server

  @table __MODULE__
  # The timeout of a question to another node, in milliseconds.
  @ask_ms 2_000
  # How long a client waits for the process that opens sessions, in milliseconds.
  @open_ms 5_000
  # How long an open session continues before it looks for its end in the shared store again, in milliseconds.
  @check_ms 5_000
  # The pause before the next attempt to join the nodes' `:pg` scope, in milliseconds.
  @rejoin_ms 50

  @typedoc "The session's data for the admission and execution of a request."
  @type context :: %{
          revision: String.t(),
          client_info: McpServer.Protocol.ClientData.t() | nil,
          client_capabilities: McpServer.Protocol.ClientData.t() | nil,
          in_flight: InFlight.t()
        }

  @typedoc """
  `:unreachable` means that another node may have the session but does not answer, or that this node is too busy to open
  it. `:too_many` means that there is no room to open the session from its id.
  """
  @type found ::
          {:ok, pid(), context()} | {:remote, node()} | :unreachable | :unknown | {:error, :too_many}

  @typedoc "A session to open: `:lifetime` is its remaining time in milliseconds, `:sealed` whether its id contains it."
  @type wanted :: %{
          id: String.t(),
          opening: McpServer.Protocol.opening(),
          lifetime: non_neg_integer(),
          sealed?: boolean(),
          reopened?: boolean(),
          log_level: String.t(),
          changed: [McpServer.Changes.change()]
        }

  @doc "Makes the table. The calling process owns it."
  @spec create_table() :: :ok
  def create_table do
    :ets.new(@table, [:named_table, :public, read_concurrency: true])
    ReplayRoom.load()
  end

  # An idle process gives back what a flood of openings has grown its heap by; so do the others that clients share.
  @spec start_link(term()) :: GenServer.on_start()
  def start_link(_options), do: GenServer.start_link(__MODULE__, nil, name: __MODULE__, hibernate_after: 1_000)

  @doc """
  Opens a session of the mount for a principal, `nil` for an unauthenticated client.

  A client, identified by its principal or else its peer address, gets no more than its share of the sessions.
  """
  @spec open(Mount.t(), McpServer.Protocol.opening(), principal :: term(), peer :: :inet.ip_address() | nil) ::
          {:ok, id :: String.t()} | {:error, :too_many} | :unreachable
  def open(mount, opening, principal, peer \\ nil) do
    lifetime = mount.session_lifetime

    {id, sealed?} =
      case Sealed.seal(Mount.place(mount), principal, opening, lifetime) do
        {:ok, id} -> {id, true}
        :error -> {Node.session_id(), false}
      end

    wanted = %{id: id, opening: opening, lifetime: lifetime, sealed?: sealed?, reopened?: false, changed: []}
    wanted = Map.put(wanted, :log_level, %Session{}.log_level)
    with {:ok, _pid, _context} <- open_here(mount, wanted, principal, peer), do: {:ok, id}
  end

  @doc "Opens the session that an id seals. No connected node has it."
  @spec reopen(String.t(), Sealed.t(), Mount.t(), principal :: term(), peer :: :inet.ip_address() | nil) ::
          {:ok, pid(), context()} | {:error, :too_many} | :unreachable
  def reopen(id, sealed, mount, principal, peer) do
    lifetime = max(sealed.expires_at - System.system_time(:millisecond), 0)
    wanted = %{id: id, opening: sealed.opening, lifetime: lifetime, sealed?: true, reopened?: true}
    open_here(mount, Map.merge(wanted, Map.take(sealed, [:log_level, :changed])), principal, peer)
  end

  # A client that waits too long is told so. A session that is opened later is not used, and ends by itself.
  defp open_here(mount, wanted, principal, peer) do
    GenServer.call(__MODULE__, {:open, mount, wanted, principal, Client.new(principal, peer)}, @open_ms)
  catch
    :exit, _late_or_restarted -> :unreachable
  end

  @doc """
  Finds a session by the id that a client sent.

  A session of another principal or place is reported as `:unknown`. Another node is asked whether it has the session
  before the request is sent there. If no node has the session and its id is sealed, this node opens it from the id.
  """
  @spec find(String.t(), Mount.t(), principal :: term(), peer :: :inet.ip_address() | nil) :: found()
  def find(id, mount, principal, peer) do
    place = Mount.place(mount)

    with :elsewhere <- find_alive(id, place, principal) do
      case Sealed.open(id, place, principal) do
        {:ok, sealed} -> Reopening.find(id, sealed, mount, principal, peer)
        :error -> with {:remote, node} <- Node.of_session(id), do: ask(node, id, place, principal)
      end
    end
  end

  @doc """
  Finds a session like `find_here/3`, for a request of its client. Now and then it asks whether the session was ended on
  a node that is not connected. The session then ends here, too.
  """
  @spec find_alive(String.t(), Mount.place(), principal :: term()) :: {:ok, pid(), context()} | :unknown | :elsewhere
  def find_alive(id, place, principal) do
    with {:ok, pid, %{in_flight: in_flight}} = found <- find_here(id, place, principal) do
      if InFlight.check?(in_flight, @check_ms) and Sealed.sealed?(id) and Tombstones.dead?(id),
        do: over(pid),
        else: found
    end
  end

  defp over(pid) do
    send(pid, :mcp_http_ended)
    :unknown
  end

  @doc "Finds a session on this node only. `:elsewhere` means that this node does not have the id."
  @spec find_here(String.t(), Mount.place(), principal :: term()) :: {:ok, pid(), context()} | :unknown | :elsewhere
  def find_here(id, place, principal) do
    case :ets.lookup(@table, id) do
      [{^id, pid, context, ^place, ^principal, _mount, _paid}] -> {:ok, pid, context}
      [_foreign] -> :unknown
      [] -> :elsewhere
    end
  end

  defp ask(node, id, place, principal) do
    if :erpc.call(node, __MODULE__, :here?, [id, place, principal], @ask_ms), do: {:remote, node}, else: :unknown
  catch
    :error, {:erpc, :timeout} -> :unreachable
    # The node has disconnected, or runs another release.
    _kind, _reason -> :unknown
  end

  @doc "Whether this node has the session, with this place and principal."
  @spec here?(String.t(), Mount.place(), principal :: term()) :: boolean()
  def here?(id, place, principal), do: mount_of(id, place, principal) != :error

  @doc "Whether this node has a session of the router with the id."
  @spec open?(router :: module(), String.t()) :: boolean()
  def open?(router, id), do: :ets.match(@table, {id, :_, :_, {router, :_}, :_, :_, :_}) != []

  @doc "The client of a session of the router, if this node has it."
  @spec client(router :: module(), String.t()) :: Client.t()
  def client(router, id) do
    case :ets.match(@table, {id, :_, :"$1", {router, :_}, :_, :_, :_}) do
      [[%{in_flight: in_flight}]] -> in_flight.client
      [] -> nil
    end
  end

  @doc "A node's answer when it is asked for a session. `:dead` is a session that its client has ended."
  @spec whereabouts(String.t(), Mount.place(), principal :: term()) :: :here | :dead | :nowhere
  def whereabouts(id, place, principal) do
    cond do
      here?(id, place, principal) -> :here
      Tombstones.dead?(id) -> :dead
      true -> :nowhere
    end
  end

  @doc """
  The answer to a client whose session ended during its request. The session is unknown, or, if the next request can
  open it from its id, the client may retry.
  """
  @spec gone_answer(String.t()) :: McpServer.Protocol.HTTP.answer()
  def gone_answer(id) do
    if Sealed.sealed?(id) and not Tombstones.dead?(id),
      do: HTTP.answer(:session_interrupted, 1),
      else: HTTP.answer(:session_not_found)
  end

  @doc "Removes the calling process's session from the table, and frees its place."
  @spec forget(String.t()) :: :ok
  def forget(id) do
    delete(id, self())
    GenServer.cast(__MODULE__, {:forgotten, self()})
  end

  @doc "Like `forget/1`, but the mount can still end the process, whose calls continue for a while."
  @spec retire(String.t()) :: :ok
  def retire(id) do
    pid = self()

    with [{^id, ^pid, context, place, principal, mount, paid}] <- :ets.lookup(@table, id) do
      :ets.insert(@table, {{:retired, id, pid}, pid, context, place, principal, mount, paid})
      delete(id, pid)
    end

    :ok
  end

  # Another process may have the id by now.
  defp delete(id, pid), do: :ets.match_delete(@table, {id, pid, :_, :_, :_, :_, :_})

  @doc "The mount of this node that serves the session, if place and principal match."
  @spec mount_of(String.t(), Mount.place(), principal :: term()) :: {:ok, mount_id :: term()} | :error
  def mount_of(id, place, principal) do
    case :ets.lookup(@table, id) do
      [{^id, _pid, _facts, ^place, ^principal, mount, _paid}] -> {:ok, mount}
      _none_or_foreign -> :error
    end
  end

  @doc "Tells every session of the mount to finish its calls and end."
  @spec drain(mount_id :: term()) :: :ok
  def drain(mount), do: tell(mount, :mcp_http_drain)

  @doc "Ends every session of the mount. Running calls are answered with an error."
  @spec shut_down(mount_id :: term()) :: :ok
  def shut_down(mount), do: tell(mount, :mcp_shut_down)

  defp tell(mount, message) do
    for pid <- processes(mount), do: send(pid, message)
    :ok
  end

  @doc "The processes of the mount's sessions, including those about to end."
  @spec processes(mount_id :: term()) :: [pid()]
  def processes(mount), do: for([pid] <- :ets.match(@table, {:_, :"$1", :_, :_, :_, mount, :_}), do: pid)

  @doc "Ends the session of the process, as `shut_down/1` does."
  @spec shut_down_one(pid()) :: :ok
  def shut_down_one(pid) do
    send(pid, :mcp_shut_down)
    :ok
  end

  @doc "Ends the sessions of a recipient with their calls. Sealed ids are not opened again."
  @spec disconnect(router :: module(), Recipient.t()) :: :ok
  def disconnect(router, recipient) do
    for [id, pid, principal] <- :ets.match(@table, {:"$1", :"$2", :_, {router, :_}, :"$3", :_, :_}),
        Recipient.concerns?(recipient, principal, id),
        do: send(pid, :mcp_http_disconnect)

    :ok
  end

  @doc "The mounts of a router that have sessions."
  @spec mounts(router :: module()) :: [mount_id :: term()]
  def mounts(router),
    do: @table |> :ets.match({:_, :_, :_, {router, :_}, :_, :"$1", :_}) |> Enum.map(&hd/1) |> Enum.uniq()

  @doc "How many sessions there are."
  @spec count() :: non_neg_integer()
  def count, do: :ets.info(@table, :size)

  # `sessions` maps processes to sessions. `counts` has the number of sessions of each principal of a mount, without
  # those about to end, which have given back their place in the node's quota, too.
  @impl true
  def init(nil) do
    join()
    # The sessions survive a crash of this process.
    sessions = :ets.match(@table, {:"$1", :"$2", :"$3", :_, :"$4", :"$5", :"$6"})
    node = Quota.of_node()
    for kind <- [:sessions, :event_bytes], do: :ok = Quota.reset(node, kind)

    # A session that is retiring may have two rows.
    sessions = sessions |> Enum.map(&watched/1) |> Enum.uniq_by(&elem(&1, 1))
    {:ok, Enum.reduce(sessions, %{node: node, sessions: %{}, counts: %{}}, &watch_again/2)}
  end

  defp watch_again({_id, _pid, _context, _principal, _mount, paid} = session, state) do
    :ok = Quota.take_anyway(state.node, :sessions, paid.client, 1)
    :ok = ReplayRoom.recount(ReplayRoom.of_node(), paid)
    watch(state, session)
  end

  defp watched([{:retired, id, _pid} | session]), do: List.to_tuple([id | session])
  defp watched(session), do: List.to_tuple(session)

  @impl true
  def handle_call({:open, mount, wanted, principal, client}, _from, state) do
    with :elsewhere <- find_here(wanted.id, Mount.place(mount), principal),
         :ok <- take(state, mount, principal, client) do
      paid = ReplayRoom.paid(client)
      {pid, context} = start(mount, wanted, principal, paid)
      {:reply, {:ok, pid, context}, watch(state, {wanted.id, pid, context, principal, mount.id, paid})}
    else
      # Another request has opened the session meanwhile.
      {:ok, _pid, _context} = found -> {:reply, found, state}
      :full -> {:reply, {:error, :too_many}, state}
    end
  end

  # A restarted `:pg` scope has no members.
  defp join do
    :ok = Node.join()
    Process.monitor(McpServer.Changes)
  catch
    _kind, _not_there -> Process.send_after(self(), :join, @rejoin_ms)
  end

  defp take(state, mount, principal, client) do
    if principal != nil and Map.get(state.counts, {mount.id, principal}, 0) >= mount.max_sessions_per_principal,
      do: :full,
      else: state.node |> Quota.put_bound(:sessions, Kinds.bound(:sessions, mount)) |> Quota.take(:sessions, client, 1)
  end

  defp start(mount, %{id: id, opening: opening} = wanted, principal, paid) do
    account = ReplayRoom.account(ReplayRoom.of_node(), paid, mount.max_share, &__MODULE__.make_room/0)
    bounds = %{mount.bounds | overload: {:refuse, 429}}
    context = context(opening, bounds, mount.usage, paid.client)

    shared =
      Map.merge(Map.take(wanted, [:id, :lifetime, :sealed?, :changed]), %{
        principal: principal,
        client: paid.client,
        revision: opening.revision,
        account: account,
        in_flight: context.in_flight
      })

    server = %{quota: mount.usage.quota, client: paid.client}

    options = [
      router: mount.router,
      principal: principal,
      server: server,
      transport: {McpServer.Http.Session.Transport, %{mount: mount, session: shared}},
      session: session(wanted, context.in_flight),
      in_flight: context.in_flight
    ]

    spec = Supervisor.child_spec({Connection, [bounds: bounds] ++ options}, restart: :temporary)
    {:ok, pid} = DynamicSupervisor.start_child(McpServer.Http.SessionSupervisor, spec)
    :ets.insert(@table, {id, pid, context, Mount.place(mount), principal, mount.id, paid})
    if wanted.sealed?, do: Tombstones.watch(id, pid)
    {pid, context}
  end

  # The client has sent `notifications/initialized` to another process, and does not repeat it.
  defp session(%{reopened?: true} = wanted, in_flight) do
    InFlight.put_level(in_flight, wanted.log_level)
    session = Session.initialized(Session.open(Session.new(wanted.id), wanted.opening))
    Session.put_level(session, wanted.log_level)
  end

  defp session(wanted, _in_flight), do: wanted.id |> Session.new() |> Session.open(wanted.opening)

  defp context(opening, %{max_calls: most}, %{quota: quota, tool_bounds: bounds}, client) do
    opening
    |> Map.take([:revision, :client_info, :client_capabilities])
    |> Map.put(:in_flight, InFlight.new(most, quota, client, bounds))
  end

  @doc "Makes the sessions of the client that stores most drop stored events."
  @spec make_room() :: :ok
  def make_room, do: GenServer.cast(__MODULE__, :make_room)

  # The places of its calls are given back when the session's process has ended, by whatever reason.
  defp watch(state, {id, pid, %{in_flight: in_flight}, principal, mount, paid}) do
    Process.monitor(pid)
    owner = {mount, principal}

    %{
      state
      | sessions: Map.put(state.sessions, pid, {id, {:open, owner}, paid, in_flight}),
        counts: Map.update(state.counts, owner, 1, &(&1 + 1))
    }
  end

  @impl true
  def handle_cast({:forgotten, pid}, state) do
    case state.sessions do
      %{^pid => {id, counted, paid, in_flight}} ->
        {:noreply,
         release(%{state | sessions: %{state.sessions | pid => {id, :ending, paid, in_flight}}}, counted, paid)}

      _ended ->
        {:noreply, state}
    end
  end

  def handle_cast(:make_room, state) do
    sessions = for {pid, {_id, _counted, paid, _in_flight}} <- state.sessions, do: {pid, paid}
    for {pid, bytes} <- ReplayRoom.demands(ReplayRoom.of_node(), sessions), do: send(pid, {:mcp_http_forget, bytes})
    {:noreply, state}
  end

  @impl true
  def handle_info({:DOWN, _ref, :process, {McpServer.Changes, _node}, _reason}, state) do
    join()
    {:noreply, state}
  end

  def handle_info(:join, state) do
    join()
    {:noreply, state}
  end

  def handle_info({:DOWN, _ref, :process, pid, _reason}, state) do
    case Map.pop(state.sessions, pid) do
      {nil, _sessions} ->
        {:noreply, state}

      {{id, counted, paid, in_flight}, sessions} ->
        # A killed session could not close its table. Otherwise a request that already found the session could start a
        # call without an owner.
        InFlight.abandon(in_flight)

        for key <- [id, {:retired, id, pid}],
            {_key, ^pid, _context, {router, _mount_name}, _principal, _mount, _paid} <- :ets.lookup(@table, key) do
          # A tool that is put for the session from now on is refused.
          delete(key, pid)
          unless Sealed.sealed?(id), do: Server.session_over(router, id)
        end

        if Sealed.sealed?(id), do: Tombstones.unwatch(id, pid)
        InFlight.session_down(pid)
        # The stored events ended with the session's process.
        ReplayRoom.give_back(ReplayRoom.of_node(), paid)
        {:noreply, release(%{state | sessions: sessions}, counted, paid)}
    end
  end

  def handle_info(_message, state), do: {:noreply, state}

  defp release(state, :ending, _paid), do: state

  defp release(state, {:open, owner}, paid) do
    :ok = Quota.give(state.node, :sessions, paid.client, 1)

    case Map.fetch!(state.counts, owner) do
      1 -> %{state | counts: Map.delete(state.counts, owner)}
      count -> %{state | counts: Map.put(state.counts, owner, count - 1)}
    end
  end
end
