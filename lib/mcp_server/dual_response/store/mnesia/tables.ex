defmodule McpServer.DualResponse.Store.Mnesia.Tables do
  # The tables, and how a node gets copies of them. All servers share the tables, so their keys begin with the server's
  # name.
  @moduledoc false

  @compile {:no_warn_undefined, :mnesia}

  @resources :mcp_dual_response
  @uses :mcp_dual_response_use
  @expiry :mcp_dual_response_expiry
  @deleted :mcp_dual_response_deleted

  @definitions [
    {@resources, :set, [:key, :resource, :chunks, :rows], []},
    {@uses, :ordered_set, [:key, :holder, :deadline, :expires_at, :access_count, :last_accessed_at, :used, :bytes],
     [:holder]},
    {@expiry, :ordered_set, [:key, :tenant], []},
    {@deleted, :set, [:key, :until], []}
  ]

  @all for {table, _type, _attributes, _index} <- @definitions, do: table

  @doc "The constant data: the resources and their rows."
  @spec resources() :: atom
  def resources, do: @resources

  @doc "The data that changes with each access."
  @spec uses() :: atom
  def uses, do: @uses

  @doc "The deadlines in order."
  @spec expiry() :: atom
  def expiry, do: @expiry

  @doc "The deletions, and how long each is remembered."
  @spec deleted() :: atom
  def deleted, do: @deleted

  @doc "The names of all tables."
  @spec all() :: [atom]
  def all, do: @all

  @doc "Whether this node has all tables loaded."
  @spec loaded?() :: boolean
  def loaded?, do: running?() and Enum.all?(@all, &readable?/1)

  defp readable?(table), do: :mnesia.table_info(table, :where_to_read) == node()

  @doc "Whether Mnesia runs here."
  @spec running?() :: boolean
  def running?, do: Code.ensure_loaded?(:mnesia) and :mnesia.system_info(:is_running) == :yes

  @doc "Whether this node knows the tables, even if they are not loaded."
  @spec known?() :: boolean
  def known?, do: running?() and @all -- :mnesia.system_info(:tables) == []

  @doc "Whether this node also keeps its copies on disc."
  @spec on_disc?() :: boolean
  def on_disc?, do: :mnesia.table_info(@resources, :storage_type) == :disc_copies

  @doc "Whether Mnesia has tables of other applications on this node."
  @spec others?() :: boolean
  def others?, do: :mnesia.system_info(:local_tables) -- [:schema | @all] != []

  @doc "Joins nodes that run Mnesia, and creates or copies the tables. Waits until they are loaded."
  @spec join([node], :ram_copies | :disc_copies, timeout) :: :ok | {:error, term}
  def join(nodes, storage, wait) do
    with {:ok, _connected} <- :mnesia.change_config(:extra_db_nodes, nodes),
         :ok <- schema(storage),
         :ok <- each(@definitions, &have(&1, storage)) do
      loaded(:mnesia.wait_for_tables(@all, wait))
    end
  end

  # Tables can be on disc only if the schema is.
  defp schema(:ram_copies), do: :ok

  defp schema(:disc_copies) do
    case :mnesia.change_table_copy_type(:schema, node(), :disc_copies) do
      {:atomic, :ok} -> :ok
      {:aborted, {:already_exists, :schema, _node, :disc_copies}} -> :ok
      {:aborted, reason} -> {:error, reason}
    end
  end

  defp have({table, type, attributes, index}, storage) do
    definition = [{:type, type}, {:attributes, attributes}, {:index, index}, {storage, [node()]}]

    if table in :mnesia.system_info(:tables),
      do: done(:mnesia.add_table_copy(table, node(), storage)),
      else: done(:mnesia.create_table(table, definition))
  end

  defp done({:atomic, :ok}), do: :ok
  defp done({:aborted, {:already_exists, _table}}), do: :ok
  defp done({:aborted, {:already_exists, _table, _node}}), do: :ok
  defp done({:aborted, reason}), do: {:error, reason}

  defp loaded(:ok), do: :ok
  defp loaded({:timeout, tables}), do: {:error, {:tables_not_loaded, tables}}
  defp loaded({:error, reason}), do: {:error, reason}

  defp each(list, function) do
    Enum.reduce_while(list, :ok, fn item, :ok ->
      case function.(item) do
        :ok -> {:cont, :ok}
        error -> {:halt, error}
      end
    end)
  end
end
