defmodule McpServer.Call.Reaper do
  @moduledoc false
  # Ends the calls of a connection that could not do it itself because it was killed.
  #
  # A call's parent is the connection that spawned it, so nothing needs to be written down per call:
  # when a connection is gone, its children are found among the processes.

  use GenServer

  @spec start_link(term()) :: GenServer.on_start()
  def start_link(_options), do: GenServer.start_link(__MODULE__, nil, name: __MODULE__)

  @doc "Looks after the calls of the calling process."
  @spec watch() :: :ok
  def watch, do: GenServer.cast(__MODULE__, {:watch, self()})

  @impl true
  def init(nil), do: {:ok, nil}

  @impl true
  def handle_cast({:watch, connection}, state) do
    Process.monitor(connection)
    {:noreply, state}
  end

  @impl true
  def handle_info({:DOWN, _ref, :process, _connection, reason}, state)
      when reason in [:normal, :shutdown],
      do: {:noreply, state}

  def handle_info({:DOWN, _ref, :process, connection, _reason}, state) do
    for pid <- Process.list(), Process.info(pid, :parent) == {:parent, connection}, do: Process.exit(pid, :kill)
    {:noreply, state}
  end

  def handle_info(_message, state), do: {:noreply, state}
end
