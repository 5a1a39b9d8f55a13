defmodule McpServer.DualResponse.Store.Mnesia.Member do
  # This node's membership. The node joins when it starts, and merges the sides of a split network when they reconnect.
  # Both happen under a lock of all connected nodes, one node at a time.
  @moduledoc false

  use GenServer

  require Logger

  alias McpServer.DualResponse.Store.Mnesia.{Records, Tables}

  @compile {:no_warn_undefined, :mnesia}

  @defaults [storage: :ram_copies, nodes: nil, wait: 15_000]

  # Other nodes answer from memory, so a short timeout is enough.
  @ask_timeout 5_000

  # `@settle` gives a new node time to join by itself. `@retry` is the delay after a failure.
  @settle 500
  @retry 5_000
  # How often deletions are forgotten, in milliseconds. Between two rounds more may be remembered.
  @forget 60_000

  @type facts :: %{member?: boolean, running: [node]}

  @spec start_link(keyword) :: GenServer.on_start()
  def start_link(options) do
    options = Keyword.validate!(options, @defaults)
    unless Code.ensure_loaded?(:mnesia), do: raise(no_mnesia())
    GenServer.start_link(__MODULE__, Map.new(check!(options)), name: __MODULE__)
  end

  # Since Elixir 1.15 Mix hides applications that a project does not list. A release never contains them.
  defp no_mnesia do
    "McpServer.DualResponse.Store.Mnesia needs Mnesia, which this project does not list. " <>
      "Write in `application` of mix.exs: extra_applications: [:logger, :mnesia]. " <>
      "On Debian, Mnesia is the package erlang-mnesia"
  end

  defp check!(options) do
    unless options[:storage] in [:ram_copies, :disc_copies],
      do: invalid!(options, :storage, ":ram_copies or :disc_copies")

    unless is_integer(options[:wait]) and options[:wait] > 0, do: invalid!(options, :wait, "a positive integer")
    nodes = options[:nodes]
    unless nodes == nil or (is_list(nodes) and Enum.all?(nodes, &is_atom/1)), do: invalid!(options, :nodes, "nodes")
    options
  end

  defp invalid!(options, name, expected) do
    raise ArgumentError, "expected #{inspect(name)} to be #{expected}, got: #{inspect(options[name])}"
  end

  @doc "This node's facts for other nodes: whether it has the tables, and which nodes its Mnesia is connected to."
  @spec facts() :: facts
  def facts do
    if Process.whereis(__MODULE__) && Tables.known?(),
      do: %{member?: true, running: :mnesia.system_info(:running_db_nodes)},
      else: %{member?: false, running: []}
  end

  @doc "Runs the body of a transaction. Aborts it if this node is moving, because the writes would be lost."
  @spec unless_moving((() -> result)) :: result when result: term
  def unless_moving(change) do
    result = change.()
    # Checked after the change, which waited for the locks of `move/2`.
    if moving?(), do: :mnesia.abort(:moving), else: result
  end

  # Whether this node's records are currently out of the tables.
  defp moving?, do: :persistent_term.get(__MODULE__, false)
  defp moving(value), do: :persistent_term.put(__MODULE__, value)

  @impl true
  def init(options) do
    moving(false)
    # Only connected nodes take part in the lock.
    Enum.each(options.nodes || [], &Node.connect/1)

    with :ok <- start_mnesia(),
         :ok <- locked(fn -> join(options) end) do
      :ok = :net_kernel.monitor_nodes(true)
      soon(@settle)
      Process.send_after(self(), :forget, @forget)
      {:ok, options |> Map.put(:homeless, []) |> watch()}
    else
      {:error, reason} -> {:stop, reason}
    end
  end

  defp watch(state) do
    {:ok, _node} = :mnesia.subscribe(:system)
    Map.put(state, :mnesia, Process.monitor(:mnesia_sup))
  end

  defp start_mnesia do
    case Application.ensure_all_started(:mnesia) do
      {:ok, _started} -> :ok
      {:error, reason} -> {:error, {:mnesia, reason}}
    end
  end

  # One node at a time. If two nodes create the same table, they have two databases, which Mnesia cannot join.
  defp locked(function), do: :global.trans({__MODULE__, self()}, function, [node() | Node.list()])

  defp join(options), do: Tables.join(for({node, _facts} <- members(options), do: node), options.storage, options.wait)

  # The other nodes that have the tables, with their facts.
  defp members(options) do
    nodes = (options.nodes || Node.list()) -- [node()]

    nodes
    |> :erpc.multicall(__MODULE__, :facts, [], @ask_timeout)
    |> Enum.zip(nodes)
    |> Enum.flat_map(fn
      {{:ok, %{member?: true} = facts}, node} -> [{node, facts}]
      # Not a member, without this library, or unreachable.
      {_other, _node} -> []
    end)
  end

  # Mnesia has ended. The supervisor restarts this process, which starts Mnesia and joins again.
  @impl true
  def handle_info({:DOWN, monitor, :process, _pid, _reason}, %{mnesia: monitor} = state),
    do: {:stop, :mnesia_ended, state}

  def handle_info({:mnesia_system_event, {:inconsistent_database, _context, _node}}, state), do: later(state, @settle)
  def handle_info({:nodeup, _node}, state), do: later(state, @settle)
  def handle_info(:reconcile, state), do: locked(fn -> reconcile(state) end)

  # While records are only in this process, there are no tables.
  def handle_info(:forget, state) do
    if state.homeless == [], do: Records.forget_deletions(System.system_time(:millisecond))
    Process.send_after(self(), :forget, @forget)
    {:noreply, state}
  end

  def handle_info(_other_event, state), do: {:noreply, state}

  defp later(state, delay) do
    soon(delay)
    {:noreply, state}
  end

  defp soon(delay), do: Process.send_after(self(), :reconcile, delay)

  defp reconcile(%{homeless: []} = state) do
    here = :mnesia.system_info(:running_db_nodes)
    strangers = for {node, facts} <- members(state), node not in here, do: facts.running

    cond do
      Enum.all?(strangers, &stays?(here, &1)) -> {:noreply, state}
      Tables.others?() -> leave_to_operator(state, Enum.concat(strangers))
      true -> move(state, Enum.min_by(strangers, &rank/1))
    end
  end

  # An earlier move did not put all records back.
  defp reconcile(state), do: settle(state)

  # Both sides use the same rule: the larger side stays. Of equal sides, the one with the first node name stays.
  defp stays?(here, there), do: rank(here) < rank(there)
  defp rank(nodes), do: {-length(nodes), Enum.min(nodes)}

  defp leave_to_operator(state, strangers) do
    Logger.error(
      "The network was split, and Mnesia on #{node()} goes on without #{inspect(strangers)}. It holds other tables " <>
        "than those of dual responses, so it is not restarted here: see :mnesia.set_master_nodes/1."
    )

    {:noreply, state}
  end

  # Until they are back in the tables, the records are only in this process.
  defp move(state, nodes) do
    Logger.warning("The network was split: Mnesia on #{node()} joins #{inspect(nodes)}, with its dual responses.")
    moving(true)
    {:atomic, records} = :mnesia.transaction(&Records.all/0)
    Process.demonitor(state.mnesia, [:flush])
    :stopped = :mnesia.stop()
    forget(nodes, state.storage)
    settle(%{state | homeless: Records.merges(records)})
  end

  # The others forget this node's copies, and this node deletes its schema, so that it joins as a new node.
  defp forget(nodes, storage) do
    :erpc.multicall(nodes, :mnesia, :del_table_copy, [:schema, node()], @ask_timeout)
    if storage == :disc_copies, do: :ok = :mnesia.delete_schema([node()])
  end

  defp settle(state) do
    with :ok <- start_mnesia(),
         :ok <- join(state),
         :ok <- put_back(state.homeless) do
      moving(false)
      {:noreply, watch(%{state | homeless: []})}
    else
      {:error, reason} ->
        Logger.error("Mnesia on #{node()} has not joined yet, and tries again: #{inspect(reason)}")
        later(state, @retry)
    end
  end

  defp put_back(merges) do
    Enum.reduce_while(merges, :ok, fn merge, :ok ->
      case :mnesia.transaction(merge) do
        {:atomic, _written} -> {:cont, :ok}
        {:aborted, reason} -> {:halt, {:error, reason}}
      end
    end)
  end
end
