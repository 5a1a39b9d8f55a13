defmodule McpServer.Auth.Proofs do
  @moduledoc false
  # The used proofs (RFC 9449) of this node, by digest, until they expire. A full table refuses new proofs, because a
  # proof that is dropped early could be replayed. Each subject has a share, so that one client cannot fill the table.

  use GenServer
  use McpServer.Outline

  @table __MODULE__
  @held Module.concat(__MODULE__, Held)
  @most 1_000_000
  @shares 8
  @sweep_ms 10_000
  @portion 1_000

  @typedoc "The sender of a proof: the issuer and the subject of its token."
  @type owner :: {String.t(), String.t() | nil}

  @doc "Makes the tables. The calling process owns them."
  @spec create_table() :: :ok
  def create_table do
    for table <- [@table, @held], do: :ets.new(table, [:named_table, :public, write_concurrency: true])
    :ok
  end

  @doc """
  Stores a proof until a second since 1970. Returns `:used` if it is already stored, and `:full` if the table or the
  owner's share is full.
  """
  @spec put(digest :: binary(), until :: integer(), owner(), most :: pos_integer()) :: :ok | :used | :full
  def put(digest, until, owner, most \\ @most) do
    owner = :erlang.phash2(owner, 4_294_967_296)

    cond do
      :ets.member(@table, digest) -> :used
      :ets.info(@table, :size) >= most -> :full
      count(owner, 1) > max(div(most, @shares), 1) -> given_back(owner, :full)
      :ets.insert_new(@table, {digest, until, owner}) -> :ok
      true -> given_back(owner, :used)
    end
  end

  defp given_back(owner, answer) do
    if count(owner, -1) == 0, do: :ets.delete_object(@held, {owner, 0})
    answer
  end

  defp count(owner, step), do: :ets.update_counter(@held, owner, step, {owner, 0})

  @doc "Drops expired proofs."
  @spec sweep(now :: integer()) :: :ok
  def sweep(now) do
    over = [{{:"$1", :"$2", :"$3"}, [{:"=<", :"$2", now}], [{{:"$1", :"$3"}}]}]
    :ets.safe_fixtable(@table, true)
    forget(:ets.select(@table, over, @portion))
    :ets.safe_fixtable(@table, false)
    :ok
  end

  defp forget(:"$end_of_table"), do: :ok

  defp forget({proofs, rest}) do
    for {digest, owner} <- proofs do
      :ets.delete(@table, digest)
      given_back(owner, :ok)
    end

    forget(:ets.select(rest))
  end

  @doc "Starts the process that drops expired proofs."
  @spec start_link(term()) :: GenServer.on_start()
  def start_link(_argument), do: GenServer.start_link(__MODULE__, nil, name: __MODULE__)

  @impl true
  def init(nil) do
    {:ok, _timer} = :timer.send_interval(@sweep_ms, :sweep)
    {:ok, nil}
  end

  @impl true
  def handle_info(:sweep, nil) do
    sweep(System.system_time(:second))
    {:noreply, nil}
  end
end
