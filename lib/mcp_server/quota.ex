defmodule McpServer.Quota do
  @moduledoc false
  # What clients make this node hold: places, such as those of calls, and bytes. Each kind has a limit for all clients
  # together and a share of it for each client. `McpServer.Quota.Kinds` is the table of kinds.
  #
  # A quota counts the kinds of one server, of one endpoint of stored results, or of the node. Its totals are atomics, and
  # the amount of each client is a row of a public table. So taking sends no message, and a client that has no share costs
  # two additions.
  #
  # With an account (`own/1`) an amount belongs to the process that takes it, and `McpServer.Quota.Keeper` gives it back
  # when the process dies. Without an account it belongs to no process, and its caller gives it back. A process may be
  # killed between counting an amount and recording it. Then the count stays too high, never too low.

  alias McpServer.Quota.{Client, Keeper, Kinds}

  @table __MODULE__

  @enforce_keys [:scope, :counters, :bounds]
  defstruct [:scope, :counters, :bounds, :own]

  @typedoc """
  * `:scope` – what is counted for; it decides which kinds there are
  * `:counters` – the totals of the kinds
  * `:bounds` – the limit and the share of each kind, one after the other
  * `:own` – the amounts of one process; `nil` without an account
  """
  @type t :: %__MODULE__{
          scope: Kinds.scope(),
          counters: :atomics.atomics_ref(),
          bounds: tuple(),
          own: :atomics.atomics_ref() | nil
        }

  @typedoc "A limit for all clients together, and a share for one. `:infinity` is no limit, or no share."
  @type bound :: {limit :: pos_integer() | :infinity, share :: pos_integer() | :infinity}

  @typedoc "The amount of one client."
  @type row :: {:atomics.atomics_ref(), index :: pos_integer(), Client.t()}

  @doc "Makes the tables and the quota of the node. The calling process owns the tables."
  @spec create_table() :: :ok
  def create_table do
    :ets.new(@table, [:named_table, :public, read_concurrency: true, write_concurrency: true])
    :persistent_term.put(__MODULE__, new(:node, %{}))
    Keeper.create_table()
  end

  @doc "A quota with these options as limits and shares. A kind whose option is missing has no limit."
  @spec new(Kinds.scope(), options :: %{optional(atom()) => term()}) :: t()
  def new(scope, options) do
    counters = :atomics.new(length(Kinds.counted(scope)), signed: true)
    %__MODULE__{scope: scope, counters: counters, bounds: bounds(scope, options)}
  end

  @doc "The quota of the node, with its fixed limits and shares."
  @spec of_node() :: t()
  def of_node, do: :persistent_term.get(__MODULE__)

  @doc "The quota of the node, with these options as limits and shares, too."
  @spec of_node(options :: %{optional(atom()) => term()}) :: t()
  def of_node(options), do: %{of_node() | bounds: bounds(:node, options)}

  defp bounds(scope, options) do
    scope |> Kinds.counted() |> Enum.flat_map(&Tuple.to_list(Kinds.bound(&1, options))) |> List.to_tuple()
  end

  @doc "The quota with another bound of one kind."
  @spec put_bound(t(), Kinds.name(), bound()) :: t()
  def put_bound(quota, kind, {limit, share}) do
    index = Kinds.index(kind)
    %{quota | bounds: quota.bounds |> put_elem(2 * index - 2, limit) |> put_elem(2 * index - 1, share)}
  end

  @doc "The limit and the share of a kind."
  @spec bound(t(), Kinds.name()) :: bound()
  def bound(quota, kind) do
    index = Kinds.index(kind)
    {limit_of(quota, index), share_of(quota, index)}
  end

  @doc "The limit of a kind."
  @spec limit(t(), Kinds.name()) :: pos_integer() | :infinity
  def limit(quota, kind), do: limit_of(quota, Kinds.index(kind))

  defp limit_of(%{bounds: bounds}, index), do: elem(bounds, 2 * index - 2)
  defp share_of(%{bounds: bounds}, index), do: elem(bounds, 2 * index - 1)

  @doc "The quota with the account of the calling process. The first call starts to watch the process."
  @spec own(t()) :: t()
  def own(%__MODULE__{} = quota), do: %{quota | own: Keeper.account(quota)}

  @doc """
  Takes an amount for a client: all of it, or `:full` and nothing.

  `:full` means that the limit or the client's share is used up. The client gets the same answer for both.
  """
  @spec take(t(), Kinds.name(), Client.t(), amount :: non_neg_integer()) :: :ok | :full
  def take(_quota, _kind, _client, 0), do: :ok

  def take(%__MODULE__{} = quota, kind, client, amount) do
    row = row(quota, kind, client)

    # The share comes first: what is refused to a client must not be in the total of others, not even for a moment.
    with :ok <- take_share(quota, row, amount),
         :ok <- take_total(quota, row, amount),
         do: record(quota, row, amount)
  end

  defp row(%{counters: counters}, kind, client), do: {counters, Kinds.index(kind), client}

  # Two simultaneous requests for the last place may both be refused, but never both succeed. Every integer is less than
  # an atom.
  defp take_total(quota, {counters, index, client} = row, amount) do
    if :atomics.add_get(counters, index, amount) <= limit_of(quota, index) do
      :ok
    else
      :atomics.sub(counters, index, amount)
      if client, do: subtract(row, amount)
      :full
    end
  end

  defp take_share(_quota, {_counters, _index, nil}, _amount), do: :ok

  defp take_share(quota, {_counters, index, _client} = row, amount) do
    if add(row, amount) <= share_of(quota, index) do
      :ok
    else
      subtract(row, amount)
      :full
    end
  end

  @doc "Takes an amount like `take/4`, even if the limit or the share is used up."
  @spec take_anyway(t(), Kinds.name(), Client.t(), amount :: non_neg_integer()) :: :ok
  def take_anyway(_quota, _kind, _client, 0), do: :ok

  def take_anyway(%__MODULE__{} = quota, kind, client, amount) do
    {counters, index, _client} = row = row(quota, kind, client)
    :atomics.add(counters, index, amount)
    if client, do: add(row, amount)
    record(quota, row, amount)
  end

  @doc "Makes the calling process the owner of an amount that was taken without an account."
  @spec adopt(t(), Kinds.name(), Client.t(), amount :: pos_integer()) :: :ok
  def adopt(%__MODULE__{} = account, kind, client, amount), do: record(account, row(account, kind, client), amount)

  defp record(%{own: nil}, _row, _change), do: :ok

  defp record(%{own: own}, {_counters, index, client} = row, change) do
    :atomics.add(own, index, change)
    if client, do: Keeper.record(row, change), else: :ok
  end

  @doc "Gives back an amount: of the calling process if the quota has its account, else of no process."
  @spec give(t(), Kinds.name(), Client.t(), amount :: non_neg_integer()) :: :ok
  def give(_quota, _kind, _client, 0), do: :ok

  def give(%__MODULE__{} = quota, kind, client, amount) do
    {counters, index, _client} = row = row(quota, kind, client)
    record(quota, row, -amount)
    if client, do: subtract(row, amount)
    :atomics.sub(counters, index, amount)
  end

  @doc false
  # Gives back the part of a client for a process that has ended.
  @spec give_row(row(), pos_integer()) :: :ok
  def give_row(row, amount), do: subtract(row, amount)

  @doc false
  # Gives back the rest for it. Returns the kinds that it had taken something of.
  @spec close(Kinds.scope(), counters :: :atomics.atomics_ref(), own :: :atomics.atomics_ref()) :: [Kinds.name()]
  def close(scope, counters, own) do
    for name <- Kinds.counted(scope),
        index = Kinds.index(name),
        amount = :atomics.exchange(own, index, 0),
        amount > 0 do
      :atomics.sub(counters, index, amount)
      name
    end
  end

  @doc "Whether all clients have more of a kind than the limit, or this client has more than its share."
  @spec over?(t(), Kinds.name(), Client.t()) :: boolean()
  def over?(quota, kind, client) do
    index = Kinds.index(kind)

    held(quota, kind) > limit_of(quota, index) or
      (client != nil and held(quota, kind, client) > share_of(quota, index))
  end

  @doc """
  Whether a client must wait until it has less of a kind that is taken anyway: it has more than its share, or it has some
  and all clients together have more than the limit. What another client has beyond its share keeps only that one waiting.
  """
  @spec behind?(t(), Kinds.name(), Client.t()) :: boolean()
  def behind?(quota, kind, client) do
    case held(quota, kind) do
      0 ->
        false

      total ->
        {limit, share} = bound(quota, kind)
        own = if client, do: held(quota, kind, client), else: total
        (client != nil and own > share) or (own > 0 and total > limit and total - excess(quota, kind, share) > limit)
    end
  end

  # What the clients have beyond their shares. It is needed only above the limit, so nothing keeps it up to date: one
  # look at each client.
  defp excess(%{counters: counters}, kind, share) do
    row = {{counters, Kinds.index(kind), :_}, :"$1"}
    @table |> :ets.select([{row, [{:>, :"$1", share}], [{:-, :"$1", share}]}]) |> Enum.sum()
  end

  @doc "How much of a kind all clients have."
  @spec held(t(), Kinds.name()) :: non_neg_integer()
  def held(%__MODULE__{counters: counters}, kind), do: :atomics.get(counters, Kinds.index(kind))

  @doc "How much of a kind a client has that has a share."
  @spec held(t(), Kinds.name(), Client.t()) :: non_neg_integer()
  def held(quota, kind, client) do
    case :ets.lookup(@table, row(quota, kind, client)) do
      [{_row, amount}] -> amount
      [] -> 0
    end
  end

  @doc "The amounts of all kinds of the quota."
  @spec stats(t()) :: %{Kinds.name() => non_neg_integer()}
  def stats(%__MODULE__{scope: scope} = quota), do: Map.new(Kinds.counted(scope), &{&1, held(quota, &1)})

  @doc "Forgets all amounts of a kind, because whatever had them has ended."
  @spec reset(t(), Kinds.name()) :: :ok
  def reset(%__MODULE__{counters: counters}, kind) do
    index = Kinds.index(kind)
    :ets.match_delete(@table, {{counters, index, :_}, :_})
    :atomics.put(counters, index, 0)
  end

  @doc "Whether a message of so many bytes counts: the place of a call or a connection counts for a shorter one."
  @spec long?(bytes :: non_neg_integer()) :: boolean()
  def long?(bytes), do: bytes > 64 * 1024

  @doc """
  The share of one client: at least one.

      iex> McpServer.Quota.share(1_000, 25)
      250
      iex> McpServer.Quota.share(3, 25)
      1
  """
  @spec share(limit :: pos_integer(), percent :: 1..100) :: pos_integer()
  def share(limit, percent), do: max(1, div(limit * percent, 100))

  defp add(row, amount), do: :ets.update_counter(@table, row, {2, amount}, {row, 0})

  # Deletes a zero row, unless another process has changed it meanwhile. No row is below zero: a reset may have forgotten
  # the amount.
  defp subtract(row, amount) do
    if :ets.update_counter(@table, row, {2, -amount, 0, 0}, {row, 0}) == 0, do: :ets.delete_object(@table, {row, 0})
    :ok
  end
end
