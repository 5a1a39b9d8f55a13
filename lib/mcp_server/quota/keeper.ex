defmodule McpServer.Quota.Keeper do
  @moduledoc false
  # The one monitor of the processes that serve clients: it gives back what a dead process had taken.
  #
  # Each process writes only its own row of the table: its accounts, and the amounts of clients that it has recorded. The
  # table outlives this process: after a crash all processes in it are monitored again.
  #
  # A listener is then told what ended, several processes at once if several have ended.

  use GenServer

  alias McpServer.Quota
  alias McpServer.Quota.Kinds

  @table __MODULE__

  @typedoc """
  An ended process. `:taken` are the kinds of servers that it had taken something of. `:watched?` tells whether it has
  called `watch/0`.
  """
  @type ended :: %{pid: pid(), reason: term(), taken: [Kinds.name()], watched?: boolean()}

  @doc "Makes the table. The calling process owns it."
  @spec create_table() :: :ok
  def create_table do
    :ets.new(@table, [:named_table, :public, read_concurrency: true, write_concurrency: true])
    :ok
  end

  @spec start_link(listener :: ([ended()] -> term())) :: GenServer.on_start()
  def start_link(listener), do: GenServer.start_link(__MODULE__, listener, name: __MODULE__, hibernate_after: 1_000)

  @doc "Watches the calling process, whatever it takes. Repeated calls are cheap."
  @spec watch() :: :ok
  def watch, do: with(:ok <- enter(), do: update(4, true))

  @doc "The account of the calling process for a quota."
  @spec account(Quota.t()) :: :atomics.atomics_ref()
  def account(%Quota{counters: counters} = quota) do
    accounts = lookup(2, [])

    case List.keyfind(accounts, counters, 0) do
      {^counters, _scope, own} -> own
      nil -> open(quota, accounts)
    end
  end

  defp open(%{scope: scope, counters: counters}, accounts) do
    own = :atomics.new(:atomics.info(counters).size, signed: true)
    :ok = enter()
    :ok = update(2, [{counters, scope, own} | accounts])
    own
  end

  @doc "Records a change of a client's amount that the calling process has taken."
  @spec record(Quota.row(), integer()) :: :ok
  def record(row, change), do: update(3, change(lookup(3, []), row, change))

  # The common case: one place at a time.
  defp change([], row, change) when change > 0, do: [{row, change}]
  defp change([{row, amount}], row, change) when amount + change == 0, do: []

  defp change(rows, row, change) do
    case List.keytake(rows, row, 0) do
      {{^row, amount}, others} when amount + change == 0 -> others
      {{^row, amount}, others} when amount + change > 0 -> [{row, amount + change} | others]
      nil when change > 0 -> [{row, change} | rows]
      _not_taken -> raise ArgumentError, "a process gives back what it has not taken"
    end
  end

  @doc "Gives back all that the calling process has taken, before it ends."
  @spec leave() :: :ok
  def leave do
    _taken = give_back(self())
    :ok
  end

  defp enter do
    if :ets.insert_new(@table, {self(), [], [], false}), do: GenServer.cast(__MODULE__, {:watch, self()}), else: :ok
  end

  defp update(position, value) do
    :ets.update_element(@table, self(), {position, value})
    :ok
  end

  # Only this process writes the row.
  defp lookup(position, otherwise) do
    if :ets.member(@table, self()), do: :ets.lookup_element(@table, self(), position), else: otherwise
  end

  @impl true
  def init(listener) do
    for {pid, _accounts, _rows, _watched?} <- :ets.tab2list(@table), do: monitor(pid)
    {:ok, listener}
  end

  defp monitor(pid), do: :erlang.monitor(:process, pid, tag: :gone)

  @impl true
  def handle_cast({:watch, pid}, listener) do
    monitor(pid)
    {:noreply, listener}
  end

  @impl true
  def handle_info({:gone, _ref, :process, pid, reason}, listener) do
    listener.(Enum.flat_map([{pid, reason} | others()], &ended/1))
    {:noreply, listener}
  end

  def handle_info(_message, listener), do: {:noreply, listener}

  defp others do
    receive do
      {:gone, _ref, :process, pid, reason} -> [{pid, reason} | others()]
    after
      0 -> []
    end
  end

  # A process without a row has left, or was monitored twice.
  defp ended({pid, reason}) do
    for {taken, watched?} <- give_back(pid), do: %{pid: pid, reason: reason, taken: taken, watched?: watched?}
  end

  # The row is removed first, so that nothing is given back twice.
  defp give_back(pid) do
    for {_pid, accounts, rows, watched?} <- :ets.take(@table, pid) do
      for {row, amount} <- rows, do: Quota.give_row(row, amount)
      {Enum.flat_map(accounts, fn {counters, scope, own} -> Quota.close(scope, counters, own) end), watched?}
    end
  end
end
