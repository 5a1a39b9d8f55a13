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

  @doc "Lets other nodes tell this one of the router's changes. Only the first call for a router asks the process."
  @spec join(router :: module()) :: :ok
  def join(router), do: if(:ets.member(@routers, router), do: :ok, else: GenServer.call(__MODULE__, {:join, router}))

  @doc "The other nodes that want to hear of the router's changes."
  @spec others(router :: module()) :: [node()]
  # A single node need not look for itself.
  def others(router) do
    if Node.list() == [],
      do: [],
      else: for(pid <- :pg.get_members(Changes, router), node(pid) != node(), uniq: true, do: node(pid))
  end

  @impl true
  def init(nil) do
    rejoin()
    {:ok, nil}
  end

  @impl true
  def handle_call({:join, router}, _from, nil) do
    if :ets.insert_new(@routers, {router}), do: :pg.join(Changes, router, self())
    {:reply, :ok, nil}
  end

  # A restarted `:pg` scope has no members.
  @impl true
  def handle_info({:DOWN, _monitor, :process, {Changes, _node}, _reason}, nil) do
    rejoin()
    {:noreply, nil}
  end

  def handle_info(:rejoin, nil) do
    rejoin()
    {:noreply, nil}
  end

  defp rejoin do
    for {router} <- :ets.tab2list(@routers), do: :ok = :pg.join(Changes, router, self())
    Process.monitor(Changes)
  catch
    :exit, _not_there -> Process.send_after(self(), :rejoin, @rejoin_ms)
  end
end
