defmodule McpServer.DualResponse.Store.Mnesia do
  @moduledoc """
  A store in Mnesia, the distributed database of OTP. Every node of a cluster holds a copy of all resources, and every
  node serves all of them.

      children = [
        {McpServer.DualResponse.Store.Mnesia, storage: :ram_copies},
        {McpServer.DualResponse,
         name: MyApp.Results,
         base_url: "https://api.example.com/resources",
         store: McpServer.DualResponse.Store.Mnesia}
      ]

  The first child starts Mnesia and joins this node. It finds the other nodes with the store, copies their tables or
  creates new ones, and waits until they are loaded. Nodes must be connected (libcluster, `Node.connect/1`,
  `sync_nodes_optional`) and run the same release.

  | option of the child | default | |
  |---|---|---|
  | `:storage` | `:ram_copies` | or `:disc_copies`: also on disc, in Mnesia's `:dir` (`config :mnesia, dir: ~c"/var/lib/my_app"`) |
  | `:nodes` | every connected node that runs the store | the nodes to join |
  | `:wait` | 15,000 | milliseconds to wait for another node, and for the tables; then the start fails |

  The store takes no options. List Mnesia in mix.exs: `extra_applications: [:logger, :mnesia]`. Since Elixir 1.15, Mix
  hides applications that are not listed, and releases omit them. On Debian, Mnesia is the package `erlang-mnesia`.

  ## Guarantees

  Creating, pinning and deleting are transactions that return when every node has the change. Counting an access is also
  a transaction and loses no counts; other nodes see it a moment later. Reading is local. `:ram_copies` live as long as
  one node runs; a node that comes back copies them from the others. `:disc_copies` survive a stop of all nodes. A node
  writes its own changes to disc before it returns; access counts follow within seconds. A transaction goes on if its
  client leaves or does not wait longer, and counts for the client until it ends. After a full stop, start the
  node that stopped last first.

  Functions are refused, because another node may not have their code: queries are `{module, function, arguments}`.

  ## When the network splits

  Both sides continue with their copies. A resource that is created on one side is unknown on the other (404). Both
  sides serve the resources that both have. Neither side returns other data than was stored.

  When the sides reconnect, the smaller side reads its records, restarts Mnesia as a member of the larger side, and
  writes the records back. If both sides are equal, the side without the first node by name does this. The result is:

    * resources of each side exist on both; rows are never mixed, because they never change
    * a resource that one side pinned is pinned; else the later expiry counts
    * a resource that one side deleted is deleted, even if the other pinned it. Deletions are remembered for a day,
      the last 100,000 of all servers
    * `access_count` is the larger of the two: accesses counted on both sides meanwhile are not added up

  During the merge, usually for a moment, the store of the smaller side answers with errors (503). If Mnesia of a node
  holds other tables, the library does not restart it: the node continues with its side, and logs that the operator must
  restart it.
  """

  @behaviour McpServer.DualResponse.Store

  alias McpServer.DualResponse.Errand
  alias McpServer.DualResponse.Store.Mnesia.{Member, Records, Tables}

  # Mnesia is part of OTP, but only of releases that list it.
  @compile {:no_warn_undefined, :mnesia}

  # Mnesia waits for an unreachable node until the VM takes it for down (`net_ticktime`). A caller waits only this long.
  @timeout 15_000

  # The number of resources in one transaction. Larger batches would hold their locks too long.
  @batch 100

  @typedoc "The name of the server that owns the resources."
  @opaque ref :: atom

  @doc "The child of a supervision tree that joins this node. Put it before the servers."
  @spec child_spec(keyword) :: Supervisor.child_spec()
  def child_spec(options), do: %{id: __MODULE__, start: {__MODULE__, :start_link, [options]}}

  @doc "Starts Mnesia and joins the other nodes, see the options above. Raises `ArgumentError` for other options."
  @spec start_link(keyword) :: GenServer.on_start()
  def start_link(options \\ []), do: Member.start_link(options)

  @impl true
  @doc "Fails if this node has not joined."
  @spec init(keyword) :: {:ok, ref} | {:error, {:not_started, module}}
  def init(options) do
    options = Keyword.validate!(options, [:server])
    if Tables.loaded?(), do: {:ok, options[:server]}, else: {:error, {:not_started, __MODULE__}}
  end

  @impl true
  @doc "Deadlines use the wall clock, which nodes share."
  @spec clock() :: :wall
  def clock, do: :wall

  @impl true
  @doc "Functions cannot be stored."
  @spec persists_closures?() :: false
  def persists_closures?, do: false

  @impl true
  def save(server, resource, rows) do
    chunks = Records.chunks(rows)

    if closure?(resource.query),
      do: {:error, :function},
      else: everywhere(fn -> {:ok, Records.insert(server, resource, chunks)} end)
  end

  defp closure?(nil), do: false
  defp closure?(query), do: is_function(query.execute) or is_function(query.count)

  @impl true
  def get(server, {_tenant, id}), do: local(fn -> Records.read(server, id) end)

  @impl true
  def rows(server, {_tenant, id}, offset, limit), do: local(fn -> Records.rows(server, id, offset, limit) end)

  @impl true
  def update(server, {_tenant, id}, changes, now) do
    everywhere(fn -> Records.change(server, id, now, &Map.merge(&1, changes)) end)
  end

  @impl true
  def touch(server, {_tenant, id}, changes, now) do
    transaction(fn -> Records.count_access(server, id, now, changes) end)
  end

  @impl true
  def delete(server, {_tenant, id}) do
    everywhere(fn -> Records.delete(server, id, System.system_time(:millisecond)) end)
  end

  @impl true
  def find_expired(server, now, limit), do: local(fn -> {:ok, Records.expired(server, now, limit)} end)

  @impl true
  def delete_expired(server, now, limit) do
    with {:ok, keys} <- find_expired(server, now, limit) do
      # Another node may have deleted the resource, or it may be pinned meanwhile.
      in_batches(keys, fn batch ->
        {:ok, Enum.filter(batch, fn {_tenant, id} -> Records.delete_expired(server, id, now) end)}
      end)
    end
  end

  defp in_batches(keys, change) do
    keys
    |> Enum.chunk_every(@batch)
    |> Enum.reduce_while({:ok, []}, fn batch, {:ok, done} ->
      case transaction(fn -> change.(batch) end) do
        {:ok, keys} -> {:cont, {:ok, done ++ keys}}
        {:error, reason} -> {:halt, {:error, reason}}
      end
    end)
  end

  @impl true
  def size(server), do: local(fn -> {:ok, Records.size(server)} end)

  @impl true
  def least_used(server, limit), do: local(fn -> {:ok, Records.least_used(server, limit)} end)

  @impl true
  def holders(server), do: local(fn -> {:ok, Records.holders(server)} end)

  @impl true
  def size_of(server, holder), do: local(fn -> {:ok, Records.size_of(server, holder)} end)

  @impl true
  def least_used_of(server, holder, limit),
    do: local(fn -> {:ok, Records.least_used_of(server, holder, limit)} end)

  @impl true
  @doc "Does nothing, because the tables belong to the cluster."
  @spec close(ref) :: :ok
  def close(_server), do: :ok

  # Returns when every node has applied the change, so that a caller may then ask any node. With disc copies, the change
  # is also on this node's disc.
  defp everywhere(change) do
    apart(fn ->
      result = :mnesia.sync_transaction(&Member.unless_moving/1, [change])
      if Tables.on_disc?(), do: :mnesia.sync_log()
      result
    end)
  end

  defp transaction(change), do: apart(fn -> :mnesia.transaction(&Member.unless_moving/1, [change]) end)

  # Runs in a separate process, because a caller may be killed at any time, and its commit would stop halfway.
  defp apart(transaction) do
    {pid, monitor} = spawn_monitor(fn -> exit({:done, transaction.()}) end)

    receive do
      {:DOWN, ^monitor, :process, ^pid, {:done, {:atomic, result}}} -> result
      {:DOWN, ^monitor, :process, ^pid, {:done, {:aborted, reason}}} -> {:error, reason}
      {:DOWN, ^monitor, :process, ^pid, reason} -> {:error, reason}
    after
      @timeout ->
        Errand.leave_behind(monitor)
        {:error, :timeout}
    end
  end

  # Dirty reads exit if Mnesia does not run or has not loaded a table.
  defp local(read) do
    read.()
  catch
    :exit, {:aborted, reason} -> {:error, reason}
  end
end
