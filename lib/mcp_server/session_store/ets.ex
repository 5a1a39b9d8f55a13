defmodule McpServer.SessionStore.ETS do
  @moduledoc false
  # The default session store: values in the memory of this node.
  #
  # The node's quota counts their bytes. When the store is full, no other value is dropped. The application's process owns
  # the tables.

  use GenServer
  use McpServer.Outline

  @behaviour McpServer.SessionStore

  alias McpServer.Quota

  @table __MODULE__
  @order __MODULE__.Order
  @kind :session_value_bytes
  # The overhead of a value: its key, its times, and the rows.
  @row_bytes 256
  # Milliseconds.
  @sweep_after 60_000

  @doc "Makes the tables. The calling process owns them."
  @spec create_table() :: :ok
  def create_table do
    :ets.new(@table, [:named_table, :public, read_concurrency: true, write_concurrency: true])
    :ets.new(@order, [:named_table, :public, :ordered_set])
    :ok
  end

  @spec start_link(term()) :: GenServer.on_start()
  def start_link(_options), do: GenServer.start_link(__MODULE__, nil, name: __MODULE__)

  @impl McpServer.SessionStore
  def get(_options, key) do
    case :ets.lookup(@table, key) do
      [{^key, value, expires_at, _client}] -> if expires_at > now(), do: {:ok, value}, else: :none
      [] -> :none
    end
  end

  @impl McpServer.SessionStore
  def put(_options, key, value, ttl, client) do
    forget_expired(now())
    # A sub-binary would keep its whole binary alive.
    store({key, :binary.copy(value), now() + ttl, client})
  end

  # An old value is replaced in one step, so that readers always find one of the two, and it needs room only for what it
  # is longer. A value that counted for another client needs all of it.
  defp store({key, _value, expires_at, client} = row) do
    old = :ets.lookup(@table, key)
    more = bytes(row) - sum(for {_key, _value, _expires_at, ^client} = replaced <- old, do: replaced)

    with :ok <- take(client, more) do
      if replaced?(old, row) do
        give(client, -more)
        for {_key, _value, _expires_at, other} = replaced <- old, other != client, do: give(other, bytes(replaced))
        for {_key, _value, expired_at, _client} <- old, do: :ets.delete(@order, {expired_at, key})
        :ets.insert(@order, {{expires_at, key}})
        :ok
      else
        # Another process has changed the value meanwhile.
        give(client, more)
        store(row)
      end
    end
  end

  defp replaced?([], row), do: :ets.insert_new(@table, row)
  defp replaced?([old], row), do: :ets.select_replace(@table, [{old, [], [{:const, row}]}]) == 1

  defp forget({key, _value, expires_at, client} = row) do
    :ets.delete(@order, {expires_at, key})
    give(client, bytes(row))
  end

  defp bytes({_key, value, _expires_at, _client}), do: byte_size(value) + @row_bytes
  defp sum(rows), do: rows |> Enum.map(&bytes/1) |> Enum.sum()

  defp take(client, bytes) when bytes > 0,
    do: with(:full <- Quota.take(quota(), @kind, client, bytes), do: {:error, :full})

  defp take(_client, _fewer), do: :ok

  defp give(client, bytes) when bytes > 0, do: Quota.give(quota(), @kind, client, bytes)
  defp give(_client, _more), do: :ok

  defp quota, do: Quota.of_node()

  @impl McpServer.SessionStore
  def delete(_options, key) do
    @table |> :ets.take(key) |> Enum.each(&forget/1)
  end

  @doc "The size of all values in bytes."
  @spec bytes() :: non_neg_integer()
  def bytes, do: Quota.held(quota(), @kind)

  defp forget_expired(now) do
    case :ets.first(@order) do
      {expires_at, key} = first when expires_at <= now ->
        :ets.delete(@order, first)
        for {_key, _value, ^expires_at, _client} = row <- :ets.lookup(@table, key), removed?(row), do: forget(row)
        forget_expired(now)

      _later_or_none ->
        :ok
    end
  end

  defp removed?(row), do: :ets.select_delete(@table, [{row, [], [true]}]) == 1

  defp now, do: System.monotonic_time(:millisecond)

  @impl GenServer
  def init(nil) do
    Process.send_after(self(), :sweep, @sweep_after)
    {:ok, nil}
  end

  @impl GenServer
  def handle_info(:sweep, state) do
    Process.send_after(self(), :sweep, @sweep_after)
    forget_expired(now())
    {:noreply, state}
  end

  def handle_info(_message, state), do: {:noreply, state}
end
