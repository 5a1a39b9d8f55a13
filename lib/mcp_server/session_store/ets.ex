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
  def put(_options, key, value, ttl, holder) do
    forget_expired(now())
    # A sub-binary would keep its whole binary alive.
    store({key, :binary.copy(value), now() + ttl, holder})
  end

  # An old value is replaced in one step, so that it is kept without room and readers always find one of the two.
  defp store({key, _value, _expires_at, holder} = row) do
    old = :ets.lookup(@table, key)

    cond do
      not room?(bytes([row]) - bytes(old), bytes([row]) - bytes(of(old, holder)), holder) -> {:error, :full}
      replaced?(old, row) -> recount(old, row)
      # Another process has changed the value meanwhile.
      true -> store(row)
    end
  end

  defp replaced?([], row), do: :ets.insert_new(@table, row)
  defp replaced?([old], row), do: :ets.select_replace(@table, [{old, [], [{:const, row}]}]) == 1

  defp recount(old, {key, _value, expires_at, holder} = row) do
    count(holder, bytes([row]))
    Enum.each(old, &uncount/1)
    :ets.insert(@order, {{expires_at, key}})
    :ok
  end

  defp uncount({key, _value, expires_at, holder} = row) do
    :ets.delete(@order, {expires_at, key})
    count(holder, -bytes([row]))
  end

  defp of(rows, holder), do: Enum.filter(rows, &(elem(&1, 3) == holder))

  defp bytes(rows), do: rows |> Enum.map(&(byte_size(elem(&1, 1)) + @row_bytes)) |> Enum.sum()

  defp room?(more, more_of_holder, holder) do
    taken(:all) + more <= @max_bytes and
      (holder == nil or taken({:holder, holder}) + more_of_holder <= Share.of({@max_bytes, @max_share}))
  end

  @impl McpServer.SessionStore
  def delete(_options, key) do
    @table |> :ets.take(key) |> Enum.each(&uncount/1)
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
        for {_key, _value, ^expires_at, _holder} = row <- :ets.lookup(@table, key), removed?(row), do: uncount(row)
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
