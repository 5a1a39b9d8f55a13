defmodule McpServer.Share.Keeper do
  @moduledoc false
  # Records the places of each process, and gives back those of a process that died.
  #
  # Each process writes only its own row of the table. The table outlives this process: after a crash all processes in
  # it are monitored again.

  use GenServer

  alias McpServer.Share

  @table __MODULE__

  @doc "Makes the table. The calling process owns it."
  @spec create_table() :: :ok
  def create_table do
    :ets.new(@table, [:named_table, :public, read_concurrency: true, write_concurrency: true])
    :ok
  end

  @spec start_link(term()) :: GenServer.on_start()
  def start_link(_options), do: GenServer.start_link(__MODULE__, nil, name: __MODULE__)

  @doc "Changes the number of the calling process' places of a kind."
  @spec put(Share.place(), integer()) :: :ok
  def put(place, change) do
    case :ets.lookup(@table, self()) do
      [{_pid, places}] ->
        :ets.insert(@table, {self(), change(places, place, change)})
        :ok

      [] ->
        :ets.insert(@table, {self(), change([], place, change)})
        GenServer.cast(__MODULE__, {:watch, self()})
    end
  end

  # The common case: one place at a time.
  defp change([], place, change) when change > 0, do: [{place, change}]
  defp change([{place, amount}], place, change) when amount + change == 0, do: []

  defp change(places, place, change) do
    case List.keytake(places, place, 0) do
      {{^place, amount}, others} when amount + change == 0 -> others
      {{^place, amount}, others} when amount + change > 0 -> [{place, amount + change} | others]
      nil when change > 0 -> [{place, change} | places]
      _not_taken -> raise ArgumentError, "a process gives back places that it has not taken"
    end
  end

  @impl true
  def init(nil) do
    for {pid, _places} <- :ets.tab2list(@table), do: Process.monitor(pid)
    {:ok, nil}
  end

  @impl true
  def handle_cast({:watch, pid}, state) do
    Process.monitor(pid)
    {:noreply, state}
  end

  # The row is removed first, so that a second message about the same process finds nothing.
  @impl true
  def handle_info({:DOWN, _ref, :process, pid, _reason}, state) do
    for {_pid, places} <- :ets.take(@table, pid), {place, amount} <- places, do: Share.return(place, amount)
    {:noreply, state}
  end

  def handle_info(_message, state), do: {:noreply, state}
end
