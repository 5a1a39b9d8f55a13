defmodule McpServer.Call.Reaper do
  @moduledoc false
  # Cleans up after a killed process that held calls: ends its calls, and gives back the resources of its mount.
  #
  # A call's parent is the process that spawned it, so calls need no records. The children of killed processes are
  # searched among all processes, once for all processes that were killed at the same time. Calls of sessions do not end
  # with the holder of their request: their sessions adopt them.

  use GenServer

  alias McpServer.Connection.{InFlight, Report, Unended}
  alias McpServer.Http.Usage
  alias McpServer.Tools.OpenSessions

  @spec start_link(term()) :: GenServer.on_start()
  def start_link(_options), do: GenServer.start_link(__MODULE__, nil, name: __MODULE__)

  @doc "Watches the calling process. Repeated calls are cheap."
  @spec watch() :: :ok
  def watch, do: watch({self(), nil}, nil)

  @doc "Watches the calling process, and the resources of a mount that it takes with this account."
  @spec watch(Usage.t()) :: :ok
  def watch(account), do: watch(key(account), account)

  defp watch(key, account) do
    if :ets.insert_new(__MODULE__, {key, account}), do: GenServer.cast(__MODULE__, {:watch, key}), else: :ok
  end

  # The counters of the mount identify an account among those of its process.
  defp key(%Usage{in_use: mount}), do: {self(), mount}

  @doc """
  The account of the calling process for a mount. The first call starts to watch the process.

  A web server's process serves many requests, and may clear its dictionary between them.
  """
  @spec account(Usage.t()) :: Usage.t()
  def account(usage) do
    case :ets.lookup(__MODULE__, key(usage)) do
      [{_key, account}] ->
        account

      [] ->
        account = Usage.account(usage)
        :ok = watch(account)
        account
    end
  end

  @doc """
  Kills a process after so many milliseconds. Returns `false` if `most` processes are already waiting.

  The message is sent to a name, so it survives a restart of this process.
  """
  @spec kill_after(pid(), pos_integer(), pos_integer()) :: boolean()
  def kill_after(pid, milliseconds, most) do
    graced = :persistent_term.get(__MODULE__)
    :counters.add(graced, 1, 1)

    if :counters.get(graced, 1) <= most do
      Process.send_after(__MODULE__, {:kill, pid}, milliseconds)
      true
    else
      :counters.sub(graced, 1, 1)
      false
    end
  end

  @doc "Makes the table of watched processes. The calling process owns it."
  @spec create_table() :: :ok
  def create_table do
    :persistent_term.put(__MODULE__, :counters.new(1, []))
    :ets.new(__MODULE__, [:named_table, :public, read_concurrency: true, write_concurrency: true])
    :ok
  end

  # After a crash of this process, all processes in the table are watched again.
  @impl true
  def init(nil) do
    for {key, _account} <- :ets.tab2list(__MODULE__), do: monitor(key)
    {:ok, nil}
  end

  defp monitor({pid, _mount} = key), do: :erlang.monitor(:process, pid, tag: {:gone, key})

  @impl true
  def handle_cast({:watch, key}, state) do
    monitor(key)
    {:noreply, state}
  end

  @impl true
  def handle_info({{:gone, key}, _ref, :process, _pid, reason}, state) do
    ended = [cleaned(key, reason) | others()]
    holders = for {pid, :holder} <- ended, into: MapSet.new(), do: pid
    # Scans all requests and all processes only once for all ended processes.
    if MapSet.size(holders) > 0, do: InFlight.holders_down(holders)
    end_calls(for {pid, left} <- ended, left != :nothing, into: MapSet.new(), do: pid)
    report(for {pid, _left} <- ended, call <- Unended.calls(pid), do: {pid, call})
    {:noreply, state}
  end

  def handle_info({:kill, pid}, state) do
    :counters.sub(:persistent_term.get(__MODULE__), 1, 1)
    Process.exit(pid, :kill)
    {:noreply, state}
  end

  def handle_info(_message, state), do: {:noreply, state}

  # If a session has adopted a call or may adopt it, the session reports its end.
  defp report([]), do: :ok

  defp report(unended) do
    adoptable = MapSet.new(InFlight.calls())
    for {pid, call} <- unended, not MapSet.member?(adoptable, call), do: Report.abandoned(pid, call)
    :ok
  end

  defp others do
    receive do
      {{:gone, key}, _ref, :process, _pid, reason} -> [cleaned(key, reason) | others()]
    after
      0 -> []
    end
  end

  # The process, and its possible leftovers: a request of a session, or calls. A web server may shut down a request's
  # process when its client disconnects.
  defp cleaned({pid, _mount} = key, reason) do
    taken = for {_key, %Usage{} = account} <- :ets.take(__MODULE__, key), do: give_back(account)
    if reason not in [:normal, :shutdown], do: OpenSessions.ended(pid)

    cond do
      :exchange in taken -> {pid, :holder}
      :call in taken -> {pid, :calls}
      reason in [:normal, :shutdown] -> {pid, :nothing}
      # The process ended before it was watched, so it left nothing.
      reason == :noproc and taken != [] -> {pid, :nothing}
      true -> {pid, :calls}
    end
  end

  defp give_back(account) do
    taken =
      cond do
        Usage.taken(account, :exchanges) > 0 -> :exchange
        Usage.taken(account, :calls) + Usage.taken(account, :hooks) > 0 -> :call
        true -> :nothing
      end

    Usage.close(account)
    taken
  end

  defp end_calls(killed) do
    if MapSet.size(killed) > 0 do
      for pid <- Process.list() -- InFlight.calls(),
          {:parent, parent} <- [Process.info(pid, :parent)],
          MapSet.member?(killed, parent) do
        Process.exit(pid, :kill)
      end
    end

    :ok
  end
end
