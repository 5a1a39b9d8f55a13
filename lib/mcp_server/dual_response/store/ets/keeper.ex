defmodule McpServer.DualResponse.Store.ETS.Keeper do
  @moduledoc false
  # Creates and deletes the tables of every `Store.ETS`. The application's own process owns the tables and their index,
  # so they survive the end of any process below it. The index has the process that opened the tables last.

  use GenServer

  @index __MODULE__
  @tables McpServer.DualResponse.Store.ETS

  # The tables of a killed server are kept this long for the next process of the server.
  @abandoned_after 60_000

  @type tables :: %{
          server: atom,
          records: :ets.tid(),
          expiry: :ets.tid(),
          usage: :ets.tid(),
          holders: :ets.tid()
        }

  @doc "Creates the index. The calling process owns it, and will own the tables of all servers."
  @spec create_table() :: :ok
  def create_table do
    :ets.new(@index, [:named_table, :public])
    :ok
  end

  @spec start_link(term) :: GenServer.on_start()
  def start_link(_options), do: GenServer.start_link(__MODULE__, nil, name: __MODULE__)

  @doc "The existing tables of a server, or new ones."
  @spec open(atom) :: {:ok, tables}
  def open(server), do: GenServer.call(__MODULE__, {:open, server})

  @doc "Deletes the tables of a server."
  @spec close(atom) :: :ok
  def close(server), do: GenServer.call(__MODULE__, {:close, server})

  @impl true
  def init(nil) do
    indexed = :ets.tab2list(@index)
    delete_unknown(indexed)
    for {_server, _tables, opener} <- indexed, do: Process.monitor(opener)
    {:ok, nil}
  end

  # A keeper that was killed while it created or deleted tables may have left tables that are not in the index.
  defp delete_unknown(indexed) do
    known = for {_server, tables, _opener} <- indexed, table <- tids(tables), do: table
    made = for table <- :ets.all(), :ets.info(table, :name) == @tables, do: table
    Enum.each(made -- known, &:ets.delete/1)
  end

  @impl true
  def handle_call({:open, server}, {opener, _tag}, state) do
    tables = find(server) || create(server)
    :ets.insert(@index, {server, tables, opener})
    Process.monitor(opener)
    {:reply, {:ok, tables}, state}
  end

  def handle_call({:close, server}, _from, state) do
    delete(server)
    {:reply, :ok, state}
  end

  defp find(server) do
    case :ets.lookup(@index, server) do
      [{_server, tables, _opener}] -> tables
      [] -> nil
    end
  end

  defp create(server) do
    set = [:set, :public, read_concurrency: true, write_concurrency: true]
    ordered = [:ordered_set, :public, write_concurrency: true]
    tables = %{server: server, records: new(set), holders: new(set), expiry: new(ordered), usage: new(ordered)}
    :ets.insert(tables.records, {:size, 0, 0})
    owner = :ets.info(@index, :owner)
    for table <- tids(tables), do: :ets.give_away(table, owner, nil)
    tables
  end

  defp new(options), do: :ets.new(@tables, options)

  defp tids(tables), do: [tables.records, tables.holders, tables.expiry, tables.usage]

  # The index entry is deleted first, so that the index never names a deleted table. If this process is killed halfway,
  # the next keeper deletes the remaining tables.
  defp delete(server) do
    for {_server, tables, _opener} <- :ets.take(@index, server), table <- tids(tables), do: :ets.delete(table)
  end

  @impl true
  def handle_info({:DOWN, _ref, :process, opener, _reason}, state) do
    Process.send_after(self(), {:abandoned, opener}, @abandoned_after)
    {:noreply, state}
  end

  # Another process may have opened them meanwhile.
  def handle_info({:abandoned, opener}, state) do
    for [server] <- :ets.match(@index, {:"$1", :_, opener}), do: delete(server)
    {:noreply, state}
  end

  def handle_info(_message, state), do: {:noreply, state}
end
