defmodule McpServer.Changes.Hub do
  @moduledoc false
  # The member of this node in the `:pg` groups of routers: one for each router that has had listeners here. So a change
  # costs one message for each node. `:pg` rewrites all members of a group for each that comes or goes, in one process:
  # with a member for each client this ended at some 10,000 clients of the whole cluster.

  use GenServer

  alias McpServer.Changes

  @routers Module.concat(__MODULE__, Routers)

  # Milliseconds.
  @rejoin_ms 100

  @doc "Makes the table of the joined routers. The calling process owns it."
  @spec create_table() :: :ok
  def create_table do
    :ets.new(@routers, [:named_table, :public, read_concurrency: true])
    :ok
  end

  @spec start_link(term()) :: GenServer.on_start()
  def start_link(_options), do: GenServer.start_link(__MODULE__, nil, name: __MODULE__)

  @doc """
  Lets other nodes tell this one of the router's changes. Only the first call for a router sends a message. It waits for
  nothing: sessions would end with a process that is late.
  """
  @spec join(router :: module()) :: :ok
  def join(router) do
    if not :ets.member(@routers, router) and :ets.insert_new(@routers, {router}),
      do: GenServer.cast(__MODULE__, {:join, router}),
      else: :ok
  end

  @doc "The other nodes that want to hear of the router's changes."
  @spec others(router :: module()) :: [node()]
  # A single node need not look for itself.
  def others(router) do
    if Node.list() == [],
      do: [],
      else: for(pid <- :pg.get_members(Changes, router), node(pid) != node(), uniq: true, do: node(pid))
  end

  # The state is the set of joined routers.
  @impl true
  def init(nil), do: {:ok, rejoin()}

  @impl true
  def handle_cast({:join, router}, joined) do
    # It may have joined with all routers of the table.
    if not MapSet.member?(joined, router), do: :ok = :pg.join(Changes, router, self())
    {:noreply, MapSet.put(joined, router)}
  catch
    # The end of the scope is on the way.
    :exit, _not_there -> {:noreply, joined}
  end

  # A restarted `:pg` scope has no members.
  @impl true
  def handle_info({:DOWN, _monitor, :process, {Changes, _node}, _reason}, _joined), do: {:noreply, rejoin()}
  def handle_info(:rejoin, _joined), do: {:noreply, rejoin()}

  defp rejoin do
    routers = for {router} <- :ets.tab2list(@routers), do: router
    for router <- routers, do: :ok = :pg.join(Changes, router, self())
    Process.monitor(Changes)
    MapSet.new(routers)
  catch
    :exit, _not_there ->
      Process.send_after(self(), :rejoin, @rejoin_ms)
      MapSet.new()
  end
end
