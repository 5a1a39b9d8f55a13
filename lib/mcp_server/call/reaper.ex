defmodule McpServer.Call.Reaper do
  @moduledoc false
  # Ends the calls that a killed process has left, and those that outlast their grace period.
  #
  # `McpServer.Quota.Keeper` tells which processes have ended, and what they had taken. A call's parent is the process
  # that spawned it, so calls need no records. The children of ended processes are searched among all processes, once for
  # all processes of which this one has heard meanwhile. Calls of sessions do not end with the holder of their request:
  # their sessions adopt them.

  use GenServer

  alias McpServer.Changes
  alias McpServer.Connection.{InFlight, Report, Unended}
  alias McpServer.Quota
  alias McpServer.Quota.{Client, Keeper}
  alias McpServer.Tools.OpenSessions

  @spec start_link(term()) :: GenServer.on_start()
  def start_link(_options), do: GenServer.start_link(__MODULE__, nil, name: __MODULE__, hibernate_after: 1_000)

  @doc """
  Kills a client's process after so many milliseconds, unless it ends before. Returns `:full` if too many processes of the
  client or of the node have such a time.

  Both messages are sent to a name, so the caller does not fail while this process restarts.
  """
  @spec kill_after(pid(), pos_integer(), Client.t()) :: :ok | :full
  def kill_after(pid, milliseconds, client) do
    with :ok <- Quota.take(Quota.of_node(), :cleanups, client, 1) do
      timer = Process.send_after(__MODULE__, {:kill, pid}, milliseconds)
      send({__MODULE__, node()}, {:cleans_up, pid, client, timer})
      :ok
    end
  end

  @impl true
  def init(nil) do
    # `terminate/2` runs when the application stops.
    Process.flag(:trap_exit, true)
    # Whoever cleaned up before a restart of this process is not counted any more.
    :ok = Quota.reset(Quota.of_node(), :cleanups)
    {:ok, %{}}
  end

  # Nobody would end these processes after this one.
  @impl true
  def terminate(:shutdown, cleanups) do
    for {_monitor, {pid, _client, _timer}} <- cleanups, do: Process.exit(pid, :kill)
    kill_new()
  end

  def terminate(_reason, _cleanups), do: :ok

  defp kill_new do
    receive do
      {:cleans_up, pid, _client, _timer} ->
        Process.exit(pid, :kill)
        kill_new()
    after
      0 -> :ok
    end
  end

  @impl true
  def handle_info({:cleans_up, pid, client, timer}, cleanups),
    do: {:noreply, Map.put(cleanups, Process.monitor(pid), {pid, client, timer})}

  def handle_info({:DOWN, monitor, :process, _pid, _reason}, cleanups) when is_map_key(cleanups, monitor) do
    {{_pid, client, timer}, cleanups} = Map.pop!(cleanups, monitor)
    Process.cancel_timer(timer, async: true, info: false)
    :ok = Quota.give(Quota.of_node(), :cleanups, client, 1)
    {:noreply, cleanups}
  end

  def handle_info({:kill, pid}, state) do
    Process.exit(pid, :kill)
    {:noreply, state}
  end

  def handle_info({:ended, processes}, state) do
    :ok = clean_up(processes ++ others())
    {:noreply, state}
  end

  def handle_info(_message, state), do: {:noreply, state}

  defp others do
    receive do
      {:ended, processes} -> processes ++ others()
    after
      0 -> []
    end
  end

  @doc """
  Ends and reports the calls of processes that have ended. The keeper, which gives back what they had, does not wait for
  it. While this process is restarted, the keeper does its work.
  """
  @spec ended([Keeper.ended()]) :: :ok
  def ended(processes) do
    case Process.whereis(__MODULE__) do
      nil ->
        clean_up(processes)

      reaper ->
        send(reaper, {:ended, processes})
        :ok
    end
  end

  defp clean_up(processes) do
    for %{pid: pid, reason: reason} <- processes, reason not in [:normal, :shutdown], do: OpenSessions.ended(pid)

    for %{pid: pid, taken: taken, watched?: watched?} <- processes,
        watched? or :streams in taken,
        do: Changes.ended(pid)

    # Scans all requests and all processes only once for all ended processes.
    holders = for %{pid: pid, taken: taken} <- processes, :exchanges in taken, into: MapSet.new(), do: pid
    if MapSet.size(holders) > 0, do: InFlight.holders_down(holders)
    end_calls(for process <- processes, calls?(process), into: MapSet.new(), do: process.pid)
    report(for %{pid: pid} <- processes, call <- Unended.calls(pid), do: {pid, call})
  end

  # A web server may shut down a request's process when its client disconnects, so what the process had taken decides.
  # The process of stdio or of a session takes no place for its calls, but it ends them itself unless it is killed.
  defp calls?(%{taken: taken, watched?: watched?, reason: reason}) do
    Enum.any?([:exchanges, :calls, :hooks], &(&1 in taken)) or (watched? and reason not in [:normal, :shutdown])
  end

  defp end_calls(ended) do
    if MapSet.size(ended) > 0 do
      for pid <- Process.list() -- InFlight.calls(),
          {:parent, parent} <- [Process.info(pid, :parent)],
          MapSet.member?(ended, parent) do
        Process.exit(pid, :kill)
      end
    end

    :ok
  end

  # If a session has adopted a call or may adopt it, the session reports its end.
  defp report([]), do: :ok

  defp report(unended) do
    adoptable = MapSet.new(InFlight.calls())
    for {pid, call} <- unended, not MapSet.member?(adoptable, call), do: Report.abandoned(pid, call)
    :ok
  end
end
