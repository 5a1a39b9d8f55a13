defmodule McpServer.DualResponse.Store.ETS.Keeper do
  @moduledoc false
  # Owns the tables of every `Store.ETS`, and does nothing else, so that there is nothing to crash.
  #
  # There are two. The first owns the tables; the second is their heir, and hands them back to the one that is
  # started in place of the first.

  use GenServer

  @first __MODULE__
  @second McpServer.DualResponse.Store.ETS.Keeper.Second

  # Tables of a server that was killed wait for the one that takes its place.
  @abandoned_after 60_000

  @type tables :: %{server: atom, records: :ets.tid(), expiry: :ets.tid(), usage: :ets.tid()}

  @doc "The two keepers, in the order they are started."
  @spec child_specs() :: [Supervisor.child_spec()]
  def child_specs do
    for name <- [@second, @first], do: %{id: name, start: {GenServer, :start_link, [__MODULE__, name, [name: name]]}}
  end

  @doc "The tables of a server: those that it has already, or new ones."
  @spec open(atom) :: {:ok, tables}
  def open(server), do: GenServer.call(@first, {:open, server})

  @doc "Deletes the tables of a server."
  @spec close(atom) :: :ok
  def close(server), do: GenServer.call(@first, {:close, server})

  @impl true
  def init(@second), do: {:ok, {@second, %{}}, {:continue, :offer}}

  def init(@first) do
    all = inherited()
    Enum.each(Map.keys(all), &Process.monitor/1)
    {:ok, {@first, all}}
  end

  # What the second has was the first's before it died.
  defp inherited do
    case Process.whereis(@second) do
      nil -> %{}
      second -> GenServer.call(second, {:give_back, self()})
    end
  end

  # The second was started again: it has to be made the heir once more.
  @impl true
  def handle_continue(:offer, state) do
    if Process.whereis(@first), do: send(@first, {:heir, self()})
    {:noreply, state}
  end

  @impl true
  def handle_call({:open, server}, _from, {name, all}) do
    tables = Map.get_lazy(all, server, fn -> create(server) end)
    Process.monitor(server)
    {:reply, {:ok, tables}, {name, Map.put(all, server, tables)}}
  end

  def handle_call({:close, server}, _from, {name, all}) do
    {tables, all} = Map.pop(all, server)
    if tables, do: delete(tables)
    {:reply, :ok, {name, all}}
  end

  def handle_call({:give_back, first}, _from, {name, all}) do
    for {_server, tables} <- all, {_role, table} <- roles(tables), do: :ets.give_away(table, first, :given_back)
    {:reply, all, {name, %{}}}
  end

  defp create(server) do
    set = [:set, :public, read_concurrency: true, write_concurrency: true]
    ordered = [:ordered_set, :public, write_concurrency: true]
    tables = %{server: server, records: new(set), expiry: new(ordered), usage: new(ordered)}
    :ets.insert(tables.records, {:size, 0, 0})
    bequeath(tables, Process.whereis(@second))
    tables
  end

  defp new(options), do: :ets.new(McpServer.DualResponse.Store.ETS, options)

  defp roles(tables), do: Map.take(tables, [:records, :expiry, :usage])

  # The heir is told what it inherits.
  defp bequeath(_tables, nil), do: :ok

  defp bequeath(tables, heir) do
    for {role, table} <- roles(tables), do: :ets.setopts(table, {:heir, heir, {tables.server, role}})
    :ok
  end

  defp delete(tables), do: for({_role, table} <- roles(tables), do: :ets.delete(table))

  @impl true
  def handle_info({:heir, heir}, {name, all}) do
    for {_server, tables} <- all, do: bequeath(tables, heir)
    {:noreply, {name, all}}
  end

  # The first has them back, and makes the second their heir again.
  def handle_info({:"ETS-TRANSFER", table, _from, :given_back}, {name, all}) do
    for {_server, tables} <- all, {role, ^table} <- roles(tables), heir = Process.whereis(@second) do
      :ets.setopts(table, {:heir, heir, {tables.server, role}})
    end

    {:noreply, {name, all}}
  end

  # The first has died.
  def handle_info({:"ETS-TRANSFER", table, _from, {server, role}}, {name, all}) do
    tables = all |> Map.get(server, %{server: server}) |> Map.put(role, table)
    {:noreply, {name, Map.put(all, server, tables)}}
  end

  def handle_info({:DOWN, _ref, :process, {server, _node}, _reason}, state) do
    Process.send_after(self(), {:abandoned, server}, @abandoned_after)
    {:noreply, state}
  end

  def handle_info({:abandoned, server}, {name, all}) do
    if Process.whereis(server) do
      {:noreply, {name, all}}
    else
      {tables, all} = Map.pop(all, server)
      if tables, do: delete(tables)
      {:noreply, {name, all}}
    end
  end

  def handle_info(_message, state), do: {:noreply, state}
end
