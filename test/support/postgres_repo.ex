defmodule McpServer.PostgresRepo do
  # Replaces a user's Ecto repository. The store needs only `query/3`: a pool of connections that use PostgreSQL's
  # protocol (version 3, extended queries, values as text) with the server of `McpServer.Postgres`.
  @moduledoc false

  use GenServer

  alias McpServer.PostgresRepo.Connection

  @doc "Starts the pool: `folder` of the socket, `size` connections, `name`."
  def start_link(options), do: GenServer.start_link(__MODULE__, options, name: options[:name] || __MODULE__)

  @doc "As `c:Ecto.Repo.query/3`, with maps instead of Postgrex's structs."
  @spec query(String.t(), [term], keyword) :: {:ok, map} | {:error, map}
  def query(sql, parameters \\ [], options \\ []) do
    pool = options[:pool] || __MODULE__
    connection = GenServer.call(pool, :take, 30_000)

    case Connection.query(connection, sql, parameters) do
      :closed ->
        GenServer.cast(pool, {:give, self(), :closed})
        {:error, %{code: "08006", message: "the connection was lost"}}

      result ->
        GenServer.cast(pool, {:give, self(), connection})
        result
    end
  end

  @impl true
  def init(options) do
    free = for _one <- 1..(options[:size] || 10), do: Connection.open(options[:folder])
    {:ok, %{folder: options[:folder], free: free, waiting: :queue.new(), taken: %{}}}
  end

  @impl true
  def handle_call(:take, from, state), do: {:noreply, serve(%{state | waiting: :queue.in(from, state.waiting)})}

  @impl true
  def handle_cast({:give, pid, connection}, state) do
    {{monitor, taken}, others} = Map.pop!(state.taken, pid)
    Process.demonitor(monitor, [:flush])
    free = if connection == taken, do: connection, else: reopen(taken, state)
    {:noreply, serve(%{state | taken: others, free: [free | state.free]})}
  end

  # A process that ends with a connection may leave it in the middle of a response.
  @impl true
  def handle_info({:DOWN, _monitor, :process, pid, _reason}, state) do
    {{_monitor, taken}, others} = Map.pop!(state.taken, pid)
    {:noreply, serve(%{state | taken: others, free: [reopen(taken, state) | state.free]})}
  end

  defp reopen(connection, state) do
    Connection.close(connection)
    Connection.open(state.folder)
  end

  defp serve(%{free: [connection | free]} = state) do
    case :queue.out(state.waiting) do
      {:empty, _none} ->
        state

      {{:value, {pid, _tag} = from}, waiting} ->
        GenServer.reply(from, connection)
        taken = Map.put(state.taken, pid, {Process.monitor(pid), connection})
        serve(%{state | free: free, waiting: waiting, taken: taken})
    end
  end

  defp serve(state), do: state
end
