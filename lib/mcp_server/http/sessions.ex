defmodule McpServer.Http.Sessions do
  @moduledoc false
  # The sessions of this node: who they belong to, how many there may be, and where to find them.
  #
  # Finding one is a look into a table. The table belongs to the supervisor above this process, so that
  # neither an unknown id nor the end of this process costs a session anything.
  #
  # Where a secret is configured, the id is the session (`Sealed`): one that is not here is opened from its id, unless a
  # connected node has it (`Reopening`).

  use GenServer
  use McpServer.Outline

  alias McpServer.{Connection, Share}
  alias McpServer.Connection.{InFlight, Session}
  alias McpServer.Http.Mount
  alias McpServer.Http.Cluster.Node
  alias McpServer.Http.Session.{Reopening, ReplayRoom, Sealed, Tombstones}
  alias McpServer.Protocol.HTTP
  alias McpServer.Tools.Server

  @table __MODULE__
  # How long another node may take to say whether it has a session, in milliseconds.
  @ask_ms 2_000
  # How long the scope of the nodes takes to be started again, in milliseconds.
  @rejoin_ms 50

  @typedoc "What a request is admitted and run with, beside what it says itself."
  @type context :: %{
          revision: String.t(),
          client_info: McpServer.Protocol.ClientData.t() | nil,
          client_capabilities: McpServer.Protocol.ClientData.t() | nil,
          in_flight: InFlight.t()
        }

  @typedoc """
  `:unreachable` says that another node may have the session, and does not answer now; `:too_many` that there is no room
  to open it from its id.
  """
  @type found ::
          {:ok, pid(), context()} | {:remote, node()} | :unreachable | :unknown | {:error, :too_many}

  @typedoc "A session to be opened: `:lifetime` is what is left of it in milliseconds, `:sealed` whether its id holds it."
  @type wanted :: %{
          id: String.t(),
          opening: McpServer.Protocol.opening(),
          lifetime: non_neg_integer(),
          sealed?: boolean(),
          reopened?: boolean(),
          log_level: String.t(),
          changed: [McpServer.Changes.change()]
        }

  @doc "Makes the table; the calling process owns it."
  @spec create_table() :: :ok
  def create_table do
    :ets.new(@table, [:named_table, :public, read_concurrency: true])
    :ets.insert(@table, {:stored, ReplayRoom.new()})
    :ok
  end

  @spec start_link(term()) :: GenServer.on_start()
  def start_link(_options), do: GenServer.start_link(__MODULE__, nil, name: __MODULE__)

  @doc """
  Opens a session of the mount for a principal, `nil` where nobody is authenticated.

  One client, by its principal or else by its peer's address, has no more than its share of the sessions.
  """
  @spec open(Mount.t(), McpServer.Protocol.opening(), principal :: term(), peer :: :inet.ip_address() | nil) ::
          {:ok, id :: String.t()} | {:error, :too_many}
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

  @doc "Opens the session that is sealed in an id. No connected node has it."
  @spec reopen(String.t(), Sealed.t(), Mount.t(), principal :: term(), peer :: :inet.ip_address() | nil) ::
          {:ok, pid(), context()} | {:error, :too_many}
  def reopen(id, sealed, mount, principal, peer) do
    lifetime = max(sealed.expires_at - System.system_time(:millisecond), 0)
    wanted = %{id: id, opening: sealed.opening, lifetime: lifetime, sealed?: true, reopened?: true}
    open_here(mount, Map.merge(wanted, Map.take(sealed, [:log_level, :changed])), principal, peer)
  end

  defp open_here(mount, wanted, principal, peer),
    do: GenServer.call(__MODULE__, {:open, mount, wanted, principal, Share.holder(principal, peer)})

  @doc """
  Finds a session by the id a client sent.

  The session of another principal or of another place is as unknown as one that never was. Another node is asked
  whether it has the session before anything of the request goes there. A session that is nowhere is opened from its
  id, where that holds it.
  """
  @spec find(String.t(), Mount.t(), principal :: term(), peer :: :inet.ip_address() | nil) :: found()
  def find(id, mount, principal, peer) do
    place = Mount.place(mount)

    with :elsewhere <- find_here(id, place, principal) do
      case Sealed.open(id, place, principal) do
        {:ok, sealed} -> Reopening.find(id, sealed, mount, principal, peer)
        :error -> with {:remote, node} <- Node.of_session(id), do: ask(node, id, place, principal)
      end
    end
  end

  @doc "The same without asking other nodes."
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
    # The node has gone, or runs another release.
    _kind, _reason -> :unknown
  end

  @doc "Whether this node has the session of a place and a principal."
  @spec here?(String.t(), Mount.place(), principal :: term()) :: boolean()
  def here?(id, place, principal), do: mount_of(id, place, principal) != :error

  @doc "What a node says that is asked for a session; `:dead` is one that its client has ended."
  @spec whereabouts(String.t(), Mount.place(), principal :: term()) :: :here | :dead | :nowhere
  def whereabouts(id, place, principal) do
    cond do
      here?(id, place, principal) -> :here
      Tombstones.dead?(id) -> :dead
      true -> :nowhere
    end
  end

  @doc """
  What a client gets whose session ended under its request: that it is unknown, or, where the next request opens it
  from its id, that it may come again.
  """
  @spec gone_answer(String.t()) :: McpServer.Protocol.HTTP.answer()
  def gone_answer(id) do
    if Sealed.sealed?(id) and not Tombstones.dead?(id),
      do: HTTP.answer(:session_interrupted, 1),
      else: HTTP.answer(:session_not_found)
  end

  @doc "From now on the calling process's session is unknown, and another may be opened in its place."
  @spec forget(String.t()) :: :ok
  def forget(id) do
    delete(id, self())
    GenServer.cast(__MODULE__, {:forgotten, self()})
  end

  @doc "The same, but the mount can still tell the process to end: its calls go on for a while."
  @spec retire(String.t()) :: :ok
  def retire(id) do
    pid = self()

    with [{^id, ^pid, context, place, principal, mount, paid}] <- :ets.lookup(@table, id) do
      :ets.insert(@table, {{:retired, pid}, pid, context, place, principal, mount, paid})
      delete(id, pid)
    end

    :ok
  end

  # The id may be another process's by now.
  defp delete(id, pid), do: :ets.match_delete(@table, {id, pid, :_, :_, :_, :_, :_})

  @doc "The mount of this node that serves a session of a place and a principal."
  @spec mount_of(String.t(), Mount.place(), principal :: term()) :: {:ok, mount_id :: term()} | :error
  def mount_of(id, place, principal) do
    case :ets.lookup(@table, id) do
      [{^id, _pid, _facts, ^place, ^principal, mount, _paid}] -> {:ok, mount}
      _none_or_foreign -> :error
    end
  end

  @doc "Tells every session of the mount to come to its end."
  @spec drain(mount_id :: term()) :: :ok
  def drain(mount), do: tell(mount, :mcp_http_drain)

  @doc "Ends every session of the mount; the calls that still run are answered with an error."
  @spec shut_down(mount_id :: term()) :: :ok
  def shut_down(mount), do: tell(mount, :mcp_shut_down)

  defp tell(mount, message) do
    for pid <- processes(mount), do: send(pid, message)
    :ok
  end

  @doc "The processes of the mount's sessions, those that are about to end among them."
  @spec processes(mount_id :: term()) :: [pid()]
  def processes(mount), do: for([pid] <- :ets.match(@table, {:_, :"$1", :_, :_, :_, mount, :_}), do: pid)

  @doc "Ends the session of the process, as `shut_down/1` does."
  @spec shut_down_one(pid()) :: :ok
  def shut_down_one(pid) do
    send(pid, :mcp_shut_down)
    :ok
  end

  @doc "The mounts of a router that have sessions."
  @spec mounts(router :: module()) :: [mount_id :: term()]
  def mounts(router),
    do: @table |> :ets.match({:_, :_, :_, {router, :_}, :_, :"$1", :_}) |> Enum.map(&hd/1) |> Enum.uniq()

  @doc "How many sessions there are."
  @spec count() :: non_neg_integer()
  # All rows but that of the account.
  def count, do: :ets.info(@table, :size) - 1

  # `sessions` by process; `counts` says how many each owner and each client has, those about to end not among
  # them; `counters` those of the bytes that each client stores.
  @impl true
  def init(nil) do
    join()
    # After a crash of this process the sessions are still there.
    sessions = :ets.match(@table, {:"$1", :"$2", :_, :_, :"$3", :"$4", :"$5"})
    {:ok, Enum.reduce(sessions, %{sessions: %{}, counts: %{}, counters: %{}}, &watch(&2, List.to_tuple(&1)))}
  end

  @impl true
  def handle_call({:open, mount, wanted, principal, holder}, _from, state) do
    case {find_here(wanted.id, Mount.place(mount), principal), room?(state, mount, principal, holder)} do
      # Another request of the session was first.
      {{:ok, _pid, _context} = found, _room?} ->
        {:reply, found, state}

      {:elsewhere, true} ->
        paid = ReplayRoom.paid(holder, state.counters[holder])
        {pid, context} = start(mount, wanted, principal, paid)
        {:reply, {:ok, pid, context}, watch(state, {wanted.id, pid, principal, mount.id, paid})}

      {:elsewhere, false} ->
        {:reply, {:error, :too_many}, state}
    end
  end

  # A scope that was started again knows nobody.
  defp join do
    :ok = Node.join()
    Process.monitor(McpServer.Changes)
  catch
    _kind, _not_there -> Process.send_after(self(), :join, @rejoin_ms)
  end

  defp room?(state, mount, principal, holder) do
    count() < mount.max_sessions and
      (principal == nil or has(state, {mount.id, principal}) < mount.max_sessions_per_principal) and
      (holder == nil or has(state, {:client, holder}) < Share.of({mount.max_sessions, mount.max_share}))
  end

  defp has(state, owner), do: Map.get(state.counts, owner, 0)

  defp start(mount, %{id: id, opening: opening} = wanted, principal, paid) do
    account = ReplayRoom.account(stored(), paid, mount.max_share, &__MODULE__.make_room/0)
    bounds = %{mount.bounds | overload: {:refuse, 429}}
    context = context(opening, bounds)

    shared =
      Map.merge(Map.take(wanted, [:id, :lifetime, :sealed?, :changed]), %{
        principal: principal,
        revision: opening.revision,
        account: account,
        in_flight: context.in_flight
      })

    server = %{id: mount.id, max_share: mount.max_share, holder: paid.holder}

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
    {pid, context}
  end

  # The client has said `notifications/initialized` to another process, and does not say it again.
  defp session(%{reopened?: true} = wanted, in_flight) do
    InFlight.put_level(in_flight, wanted.log_level)
    session = Session.initialized(Session.open(Session.new(wanted.id), wanted.opening))
    Session.put_level(session, wanted.log_level)
  end

  defp session(wanted, _in_flight), do: wanted.id |> Session.new() |> Session.open(wanted.opening)

  defp context(opening, %{max_calls: most}) do
    opening
    |> Map.take([:revision, :client_info, :client_capabilities])
    |> Map.put(:in_flight, InFlight.new(most))
  end

  @doc "Has sessions forget stored events, those of the client that stores most."
  @spec make_room() :: :ok
  def make_room, do: GenServer.cast(__MODULE__, :make_room)

  defp stored, do: :ets.lookup_element(@table, :stored, 2)

  defp watch(state, {id, pid, principal, mount, %{holder: holder} = paid}) do
    Process.monitor(pid)
    owners = [{mount, principal}, {:client, holder}]

    %{
      state
      | sessions: Map.put(state.sessions, pid, {id, {:open, owners}, paid}),
        counts: Enum.reduce(owners, state.counts, fn owner, counts -> Map.update(counts, owner, 1, &(&1 + 1)) end),
        counters: Map.put(state.counters, holder, paid.counter)
    }
  end

  @impl true
  def handle_cast({:forgotten, pid}, state) do
    case state.sessions do
      %{^pid => {id, counted, paid}} ->
        {:noreply, release(%{state | sessions: %{state.sessions | pid => {id, :ending, paid}}}, counted)}

      _ended ->
        {:noreply, state}
    end
  end

  def handle_cast(:make_room, state) do
    sessions = for {pid, {_id, _counted, paid}} <- state.sessions, do: {pid, paid}
    for {pid, bytes} <- ReplayRoom.demands(stored(), sessions), do: send(pid, {:mcp_http_forget, bytes})
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

      {{id, counted, paid}, sessions} ->
        # Who has found it already must not start a call that nobody would end: a killed session has not said so itself.
        for key <- [id, {:retired, pid}],
            {_key, ^pid, context, {router, _mount_name}, _principal, _mount, _paid} <- :ets.lookup(@table, key) do
          InFlight.close(context.in_flight)
          unless Sealed.sealed?(id), do: Server.session_over(router, id)
          delete(key, pid)
        end

        InFlight.session_down(pid)
        # What a session had stored when it was killed is no longer there.
        ReplayRoom.give_back(stored(), paid)
        {:noreply, release(%{state | sessions: sessions}, counted)}
    end
  end

  def handle_info(_message, state), do: {:noreply, state}

  defp release(state, :ending), do: state

  defp release(state, {:open, owners}), do: Enum.reduce(owners, state, &release_one/2)

  defp release_one(owner, state) do
    case Map.fetch!(state.counts, owner) do
      1 -> forget_owner(%{state | counts: Map.delete(state.counts, owner)}, owner)
      count -> %{state | counts: Map.put(state.counts, owner, count - 1)}
    end
  end

  defp forget_owner(state, {:client, holder}), do: %{state | counters: Map.delete(state.counters, holder)}
  defp forget_owner(state, _principal), do: state
end
