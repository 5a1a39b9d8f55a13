defmodule McpServer.Quota.Ledger do
  @moduledoc false
  # The items that clients store, such as ended sessions: how many each client has, who has most, and which item of a
  # client goes first. Each operation costs some steps in ordered tables, however many items and clients there are.
  #
  # The tables belong to the process that made the ledger, and only this process changes them.

  @enforce_keys [:items, :counts, :ranks]
  defstruct [:items, :counts, :ranks]

  @typedoc "An item: who holds it, its place in the order, and its key."
  @type item :: {client :: term(), order :: non_neg_integer(), key :: binary()}

  @typedoc """
  * `:items` – the items, sorted by client and order
  * `:counts` – the number of items of each client
  * `:ranks` – the clients, sorted by their number of items
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
  def add(ledger, {client, _order, _key} = item) do
    if :ets.insert_new(ledger.items, {item}), do: count(ledger, client, 1), else: :ok
  end

  @doc "Removes an item."
  @spec remove(t(), item()) :: :ok
  def remove(ledger, {client, _order, _key} = item) do
    if :ets.take(ledger.items, item) == [], do: :ok, else: count(ledger, client, -1)
  end

  defp count(ledger, client, change) do
    before = held(ledger, client)
    now = before + change
    :ets.delete(ledger.ranks, {before, client})

    if now == 0 do
      :ets.delete(ledger.counts, client)
    else
      :ets.insert(ledger.counts, {client, now})
      :ets.insert(ledger.ranks, {{now, client}})
    end

    :ok
  end

  @doc "The number of items of a client."
  @spec held(t(), client :: term()) :: non_neg_integer()
  def held(ledger, client) do
    case :ets.lookup(ledger.counts, client) do
      [{_client, count}] -> count
      [] -> 0
    end
  end

  @doc "The first item of a client that has any."
  @spec first(t(), client :: term()) :: item()
  def first(ledger, client), do: {^client, _order, _key} = :ets.next(ledger.items, {client, -1, ""})

  @doc "The first item of the client that has most, in a ledger with items."
  @spec first_of_largest(t()) :: item()
  def first_of_largest(ledger) do
    {_count, client} = :ets.last(ledger.ranks)
    first(ledger, client)
  end
end
