defmodule McpServer.Auth.Proofs do
  @moduledoc false
  # The used proofs (RFC 9449) of this node, by digest, until they expire. A full table refuses new proofs, because a
  # proof that is dropped early could be replayed. Each subject has a share in the quota of the node.

  use GenServer
  use McpServer.Outline

  alias McpServer.Quota
  alias McpServer.Quota.Client

  @table __MODULE__
  @sweep_ms 10_000
  @portion 1_000

  @typedoc "The sender of a proof: the issuer and the subject of its token."
  @type owner :: {String.t(), String.t() | nil}

  @doc "Makes the table. The calling process owns it."
  @spec create_table() :: :ok
  def create_table do
    :ets.new(@table, [:named_table, :public, write_concurrency: true])
    :ok
  end

  @doc """
  Stores a proof until a second since 1970. Returns `:used` if it is already stored, and `:full` if the quota or the
  owner's share of it is used up.
  """
  @spec put(digest :: binary(), until :: integer(), owner(), Quota.t()) :: :ok | :used | :full
  def put(digest, until, owner, quota \\ Quota.of_node()) do
    client = Client.new(owner, nil)

    cond do
      :ets.member(@table, digest) ->
        :used

      Quota.take(quota, :proofs, client, 1) == :full ->
        :full

      :ets.insert_new(@table, {digest, until, client}) ->
        :ok

      true ->
        Quota.give(quota, :proofs, client, 1)
        :used
    end
  end

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
    for {digest, client} <- proofs do
      :ets.delete(@table, digest)
      Quota.give(Quota.of_node(), :proofs, client, 1)
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
