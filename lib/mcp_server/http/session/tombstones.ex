defmodule McpServer.Http.Session.Tombstones do
  @moduledoc false
  # Sealed ids of sessions that clients have ended, so that no informed node opens them again, or has them open.
  #
  # Connected nodes inform each other, and a node asks each newly connected node for its ids. The set is bounded:
  # when it is full, the id that expires first is dropped. The application's process owns the tables.
  # A configured session store has the ids too, for nodes that are not connected.
  #
  # The processes of open sessions are listed here. A process ends when this node learns that its session has ended.

  use GenServer
  use McpServer.Outline

  alias McpServer.Http.Cluster.Node
  alias McpServer.SessionStore

  @table __MODULE__
  @order __MODULE__.Order
  @open __MODULE__.Open
  # Ids, of 24 bytes each.
  @most 100_000
  # Ids per message.
  @chunk 1_000
  @digest_bytes 16
  # Milliseconds.
  @sweep_after 60_000
  @ask_after 100
  # The number of repeated checks whether a connected node runs this library.
  @asks 50

  @typedoc "The digest of an id, and its expiry in milliseconds of the wall clock."
  @type stone :: {digest :: binary(), expires_at :: pos_integer()}

  @doc "Makes the tables; the calling process owns them."
  @spec create_table() :: :ok
  def create_table do
    :ets.new(@table, [:named_table, :public, read_concurrency: true])
    :ets.new(@order, [:named_table, :public, :ordered_set])
    # A session that drains and its successor have the same id.
    :ets.new(@open, [:named_table, :public, :bag])
    :ok
  end

  @spec start_link(term()) :: GenServer.on_start()
  def start_link(_options), do: GenServer.start_link(__MODULE__, nil, name: __MODULE__)

  @doc "Prevents that the session with the id is opened again, until it expires at `expires_at`."
  @spec put(String.t(), expires_at :: pos_integer()) :: :ok
  def put(id, expires_at) do
    stone = {digest(id), expires_at}
    keep([stone])
    if SessionStore.shared?(), do: store(id, expires_at - System.system_time(:millisecond))
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
  def dead?(id), do: :ets.member(@table, digest(id)) or (SessionStore.shared?() and stored?(id))

  defp store(_id, ttl) when ttl <= 0, do: :ok
  defp store(id, ttl), do: SessionStore.put(key(id), "", ttl, nil)

  # If the store fails, it has logged the failure and the session continues.
  defp stored?(id), do: match?({:ok, _empty}, SessionStore.get(key(id)))

  # The key differs from the keys of session values.
  defp key(id), do: Base.url_encode64(:crypto.hash(:sha256, ["ended ", id]), padding: false)

  @doc "The number of ended sessions."
  @spec count() :: non_neg_integer()
  def count, do: :ets.info(@table, :size)

  defp digest(id), do: binary_part(:crypto.hash(:sha256, id), 0, @digest_bytes)

  @impl true
  def init(nil) do
    :ok = :net_kernel.monitor_nodes(true)
    for node <- :erlang.nodes(), do: send(self(), {:ask, node, @asks})
    Process.send_after(self(), :sweep, @sweep_after)
    {:ok, nil}
  end

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
    keep(stones)
    {:noreply, state}
  end

  def handle_info(:sweep, state) do
    Process.send_after(self(), :sweep, @sweep_after)
    forget_expired(System.system_time(:millisecond))
    {:noreply, state}
  end

  def handle_info(_message, state), do: {:noreply, state}

  @doc false
  @spec keep([stone()]) :: :ok
  def keep(stones) do
    for {digest, expires_at} <- stones, :ets.insert_new(@table, {digest, expires_at}) do
      :ets.insert(@order, {{expires_at, digest}})
      for {_digest, pid} <- :ets.lookup(@open, digest), do: send(pid, :mcp_http_ended)
      if count() > @most, do: forget(:ets.first(@order))
    end

    :ok
  end

  defp forget_expired(now) do
    case :ets.first(@order) do
      {expires_at, _digest} = first when expires_at <= now ->
        forget(first)
        forget_expired(now)

      _later_or_none ->
        :ok
    end
  end

  defp forget({_expires_at, digest} = key) do
    :ets.delete(@order, key)
    :ets.delete(@table, digest)
  end

  defp forget(:"$end_of_table"), do: :ok
end
