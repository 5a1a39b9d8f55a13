defmodule McpServer.Share.Ledger do
  @moduledoc false
  # The items that clients store, such as ended sessions: how many each holder has, who has most, and which item of a
  # holder goes first. Each operation costs some steps in ordered tables, however many items and holders there are.
  #
  # The tables belong to the process that made the ledger, and only this process changes them.

  @enforce_keys [:items, :counts, :ranks]
  defstruct [:items, :counts, :ranks]

  @typedoc "An item: who holds it, its place in the order, and its key."
  @type item :: {holder :: term(), order :: non_neg_integer(), key :: binary()}

  @typedoc """
  * `:items` – the items, sorted by holder and order
  * `:counts` – the number of items of each holder
  * `:ranks` – the holders, sorted by their number of items
  """
  @type t :: %__MODULE__{items: :ets.tid(), counts: :ets.tid(), ranks: :ets.tid()}

  @doc "An empty ledger."
  @spec new() :: t()
  def new do
    %__MODULE__{
      items: :ets.new(__MODULE__, [:private, :ordered_set]),
      counts: :ets.new(__MODULE__, [:private]),
      ranks: :ets.new(__MODULE__, [:private, :ordered_set])
    }
  end

  @doc "Adds an item."
  @spec add(t(), item()) :: :ok
  def add(ledger, {holder, _order, _key} = item) do
    if :ets.insert_new(ledger.items, {item}), do: count(ledger, holder, 1), else: :ok
  end

  @doc "Removes an item."
  @spec remove(t(), item()) :: :ok
  def remove(ledger, {holder, _order, _key} = item) do
    if :ets.take(ledger.items, item) == [], do: :ok, else: count(ledger, holder, -1)
  end

  defp count(ledger, holder, change) do
    before = held(ledger, holder)
    now = before + change
    :ets.delete(ledger.ranks, {before, holder})

    if now == 0 do
      :ets.delete(ledger.counts, holder)
    else
      :ets.insert(ledger.counts, {holder, now})
      :ets.insert(ledger.ranks, {{now, holder}})
    end

    :ok
  end

  @doc "The number of items of a holder."
  @spec held(t(), holder :: term()) :: non_neg_integer()
  def held(ledger, holder) do
    case :ets.lookup(ledger.counts, holder) do
      [{_holder, count}] -> count
      [] -> 0
    end
  end

  @doc "The first item of a holder that has any."
  @spec first(t(), holder :: term()) :: item()
  def first(ledger, holder), do: {^holder, _order, _key} = :ets.next(ledger.items, {holder, -1, ""})

  @doc "The first item of the holder that has most, in a ledger with items."
  @spec first_of_largest(t()) :: item()
  def first_of_largest(ledger) do
    {_count, holder} = :ets.last(ledger.ranks)
    first(ledger, holder)
  end
end
