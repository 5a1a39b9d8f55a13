defmodule McpServer.Http.Session.Tombstones do
  @moduledoc false
  # Sealed ids of sessions that clients have ended, so that no informed node opens them again, or has them open.
  #
  # Connected nodes inform each other, and a node asks each newly connected node for its ids. The set is bounded, and
  # each client has a share of it: above that, and when the set is full, the client with most ids loses the one that
  # expires first. So only its own client can open an ended session again.
  #
  # A configured session store has the ids too, for nodes that are not connected. A node deletes there what it drops.
  #
  # The application's process owns the public tables, which every process reads. Only this process changes the set. The
  # processes of open sessions are listed here, too. A process ends when this node learns that its session has ended.

  use GenServer
  use McpServer.Outline

  alias McpServer.Http.Cluster.Node
  alias McpServer.Quota.{Client, Kinds, Ledger}
  alias McpServer.SessionStore

  @table __MODULE__
  @open __MODULE__.Open
  # Ids per message.
  @chunk 1_000
  @digest_bytes 16
  # Milliseconds.
  @sweep_after 60_000
  @ask_after 100
  # The number of repeated checks whether a connected node runs this library.
  @asks 50

  @typedoc "The digest of an id, its expiry in milliseconds of the wall clock, and the client that has ended it."
  @type stone :: {digest :: binary(), expires_at :: pos_integer(), Client.t()}

  @doc "Makes the tables; the calling process owns them."
  @spec create_table() :: :ok
  def create_table do
    :ets.new(@table, [:named_table, :public, read_concurrency: true])
    # A session that drains and its successor have the same id.
    :ets.new(@open, [:named_table, :public, :bag])
    :ok
  end

  @spec start_link(term()) :: GenServer.on_start()
  def start_link(_options), do: GenServer.start_link(__MODULE__, nil, name: __MODULE__, hibernate_after: 1_000)

  @doc "Prevents that the session of a client is opened again, until it expires at `expires_at`."
  @spec put(String.t(), expires_at :: pos_integer(), Client.t()) :: :ok
  def put(id, expires_at, client) do
    stone = {digest(id), expires_at, client}
    # A client that ends many sessions waits for its own turns.
    dropped = GenServer.call(__MODULE__, {:keep, stone}, :infinity)
    if SessionStore.shared?(), do: store(stone, dropped)
    for node <- Node.others(), do: send({__MODULE__, node}, {:tombstones, [stone]})
    :ok
  end

  @doc "Tells the process of an open session with `:mcp_http_ended` when this node learns that the session has ended."
  @spec watch(String.t(), pid()) :: :ok
  def watch(id, pid) do
    digest = digest(id)
    :ets.insert(@open, {digest, pid})
    # The session may have ended while it was opened.
    if :ets.member(@table, digest), do: send(pid, :mcp_http_ended)
    :ok
  end

  @doc "Forgets the process of a session."
  @spec unwatch(String.t(), pid()) :: true
  def unwatch(id, pid), do: :ets.delete_object(@open, {digest(id), pid})

  @doc "Whether the session with the id has been ended."
  @spec dead?(String.t()) :: boolean()
  def dead?(id) do
    digest = digest(id)
    :ets.member(@table, digest) or (SessionStore.shared?() and stored?(digest))
  end

  defp store({digest, expires_at, client}, dropped) do
    ttl = expires_at - System.system_time(:millisecond)
    if ttl > 0, do: SessionStore.put(key(digest), "", ttl, client)
    for {digest, _expires_at, _client} <- dropped, do: SessionStore.delete(key(digest))
  end

  # If the store fails, it has logged the failure and the session continues.
  defp stored?(digest), do: match?({:ok, _empty}, SessionStore.get(key(digest)))

  defp key(digest), do: SessionStore.ended_key(digest)

  @doc "The number of ended sessions."
  @spec count() :: non_neg_integer()
  def count, do: :ets.info(@table, :size)

  defp digest(id), do: binary_part(:crypto.hash(:sha256, id), 0, @digest_bytes)

  @impl true
  def init(nil) do
    :ok = :net_kernel.monitor_nodes(true)
    for node <- :erlang.nodes(), do: send(self(), {:ask, node, @asks})
    Process.send_after(self(), :sweep, @sweep_after)
    state = %{ledger: Ledger.new(), expiry: :ets.new(__MODULE__, [:private, :ordered_set])}
    for stone <- :ets.tab2list(@table), do: account(state, stone)
    {:ok, state}
  end

  @impl true
  def handle_call({:keep, stone}, _from, state), do: {:reply, keep(state, stone), state}

  @impl true
  def handle_info({:nodeup, node}, state), do: handle_info({:ask, node, @asks}, state)

  # Nodes join the `:pg` scope a moment after they connect.
  def handle_info({:ask, node, asks}, state) do
    cond do
      node in Node.others() -> send({__MODULE__, node}, {:tombstones_wanted, node()})
      asks > 0 -> Process.send_after(self(), {:ask, node, asks - 1}, @ask_after)
      true -> :ok
    end

    {:noreply, state}
  end

  def handle_info({:tombstones_wanted, node}, state) do
    @table
    |> :ets.tab2list()
    |> Enum.chunk_every(@chunk)
    |> Enum.each(&send({__MODULE__, node}, {:tombstones, &1}))

    {:noreply, state}
  end

  def handle_info({:tombstones, stones}, state) do
    Enum.each(stones, &keep(state, &1))
    {:noreply, state}
  end

  def handle_info(:sweep, state) do
    Process.send_after(self(), :sweep, @sweep_after)
    forget_expired(state, System.system_time(:millisecond))
    {:noreply, state}
  end

  def handle_info(_message, state), do: {:noreply, state}

  # Returns what was dropped for it.
  defp keep(state, {digest, _expires_at, client} = stone) do
    if :ets.insert_new(@table, stone) do
      account(state, stone)
      for {_digest, pid} <- :ets.lookup(@open, digest), do: send(pid, :mcp_http_ended)
      drop(state, client)
    else
      []
    end
  end

  defp account(state, {digest, expires_at, client}) do
    Ledger.add(state.ledger, {client, expires_at, digest})
    :ets.insert(state.expiry, {{expires_at, digest}})
  end

  defp drop(%{ledger: ledger} = state, client) do
    {limit, share} = Kinds.bound(:ended_sessions, %{})

    cond do
      client != nil and Ledger.held(ledger, client) > share -> [forget(state, Ledger.first(ledger, client))]
      count() > limit -> [forget(state, Ledger.first_of_largest(ledger))]
      true -> []
    end
  end

  defp forget_expired(state, now) do
    with {expires_at, digest} when expires_at <= now <- :ets.first(state.expiry),
         [{_digest, _expires_at, client}] <- :ets.lookup(@table, digest) do
      forget(state, {client, expires_at, digest})
      forget_expired(state, now)
    else
      _later_or_none -> :ok
    end
  end

  defp forget(state, {client, expires_at, digest} = item) do
    Ledger.remove(state.ledger, item)
    :ets.delete(state.expiry, {expires_at, digest})
    :ets.delete(@table, digest)
    {digest, expires_at, client}
  end
end
