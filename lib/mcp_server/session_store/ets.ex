defmodule McpServer.SessionStore.ETS do
  @moduledoc false
  # The default session store: values in the memory of this node.
  #
  # All values take at most 64 MiB, and those of one holder a quarter. When the store is full, no other value is
  # dropped. The application's process owns the tables.

  use GenServer
  use McpServer.Outline

  @behaviour McpServer.SessionStore

  alias McpServer.Share

  @table __MODULE__
  @order __MODULE__.Order
  @counts __MODULE__.Counts

  @max_bytes 64 * 1024 * 1024
  @max_share 25
  # The overhead of a value: its key, its times, and the rows.
  @row_bytes 256
  # Milliseconds.
  @sweep_after 60_000

  @doc "Makes the tables. The calling process owns them."
  @spec create_table() :: :ok
  def create_table do
    for table <- [@table, @counts],
        do: :ets.new(table, [:named_table, :public, read_concurrency: true, write_concurrency: true])

    :ets.new(@order, [:named_table, :public, :ordered_set])
    :ok
  end

  @spec start_link(term()) :: GenServer.on_start()
  def start_link(_options), do: GenServer.start_link(__MODULE__, nil, name: __MODULE__)

  @impl McpServer.SessionStore
  def get(_options, key) do
    case :ets.lookup(@table, key) do
      [{^key, value, expires_at, _holder}] -> if expires_at > now(), do: {:ok, value}, else: :none
      [] -> :none
    end
  end

  @impl McpServer.SessionStore
  def put(options, key, value, ttl, holder) do
    forget_expired(now())
    :ok = delete(options, key)
    bytes = byte_size(value) + @row_bytes

    if room?(bytes, holder) do
      expires_at = now() + ttl
      count(holder, bytes)
      # A sub-binary would keep its whole binary alive.
      :ets.insert(@table, {key, :binary.copy(value), expires_at, holder})
      :ets.insert(@order, {{expires_at, key}})
      :ok
    else
      {:error, :full}
    end
  end

  defp room?(bytes, holder) do
    taken(:all) + bytes <= @max_bytes and
      (holder == nil or taken({:holder, holder}) + bytes <= Share.of({@max_bytes, @max_share}))
  end

  @impl McpServer.SessionStore
  def delete(_options, key) do
    for {^key, value, expires_at, holder} <- :ets.take(@table, key) do
      :ets.delete(@order, {expires_at, key})
      count(holder, -(byte_size(value) + @row_bytes))
    end

    :ok
  end

  @doc "The size of all values in bytes."
  @spec bytes() :: non_neg_integer()
  def bytes, do: taken(:all)

  defp taken(who) do
    case :ets.lookup(@counts, who) do
      [{^who, bytes}] -> bytes
      [] -> 0
    end
  end

  defp count(nil, bytes), do: add(:all, bytes)

  defp count(holder, bytes) do
    add(:all, bytes)
    # Deletes a zero row, unless another process has changed it meanwhile.
    if add({:holder, holder}, bytes) == 0, do: :ets.delete_object(@counts, {{:holder, holder}, 0})
  end

  defp add(who, bytes), do: :ets.update_counter(@counts, who, bytes, {who, 0})

  defp forget_expired(now) do
    case :ets.first(@order) do
      {expires_at, key} = first when expires_at <= now ->
        :ets.delete(@order, first)
        delete([], key)
        forget_expired(now)

      _later_or_none ->
        :ok
    end
  end

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
