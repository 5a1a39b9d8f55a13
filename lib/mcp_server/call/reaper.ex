defmodule McpServer.Call.Reaper do
  @moduledoc false
  # Ends the calls of a connection that could not do it itself because it was killed.
  #
  # A call's parent is the connection that spawned it, so nothing needs to be written down per call:
  # when a connection is gone, its children are found among the processes.

  use GenServer

  @spec start_link(term()) :: GenServer.on_start()
  def start_link(_options), do: GenServer.start_link(__MODULE__, nil, name: __MODULE__)

  @doc "Looks after the calls of the calling process. To say so again costs next to nothing."
  @spec watch() :: :ok
  def watch do
    if :ets.insert_new(__MODULE__, {self()}), do: GenServer.cast(__MODULE__, {:watch, self()}), else: :ok
  end

  @doc "Makes the table of those who are watched; the calling process owns it."
  @spec create_table() :: :ok
  def create_table do
    :ets.new(__MODULE__, [:named_table, :public, read_concurrency: true, write_concurrency: true])
    :ok
  end

  # After a crash of this process, those that were watched are watched again.
  @impl true
  def init(nil) do
    for {connection} <- :ets.tab2list(__MODULE__), do: Process.monitor(connection)
    {:ok, nil}
  end

  @impl true
  def handle_cast({:watch, connection}, state) do
    Process.monitor(connection)
    {:noreply, state}
  end

  @impl true
  def handle_info({:DOWN, _ref, :process, connection, reason}, state) do
    :ets.delete(__MODULE__, connection)
    if reason not in [:normal, :shutdown], do: end_calls(connection)
    {:noreply, state}
  end

  def handle_info(_message, state), do: {:noreply, state}

  defp end_calls(connection) do
    for pid <- Process.list(), Process.info(pid, :parent) == {:parent, connection}, do: Process.exit(pid, :kill)
    :ok
  end
end
