defmodule McpServer.Once do
  @moduledoc false
  # What may be used once on this node: proofs of key-bound tokens (RFC 9449), and consents of users. Their ids are stored
  # until they expire. A full table refuses new ones, because one that is dropped early could be used again.

  use GenServer
  use McpServer.Outline

  alias McpServer.Quota
  alias McpServer.Quota.Client

  @table __MODULE__
  @sweep_ms 10_000
  @portion 1_000

  @type kind :: :proofs | :consents

  @typedoc "What used it, and may use it again. `nil` is nothing."
  @type user :: term()

  @doc "Makes the table. The calling process owns it."
  @spec create_table() :: :ok
  def create_table do
    :ets.new(@table, [:named_table, :public, write_concurrency: true])
    :ok
  end

  @doc """
  Uses an id that expires at a second since 1970. Returns `:used` if another user has used it, and `:full` if the quota or
  the client's share of it is used up.
  """
  @spec use_up(kind(), id :: binary(), until :: integer(), Client.t(), user(), Quota.t()) :: :ok | :used | :full
  def use_up(kind, id, until, client, user \\ nil, quota \\ Quota.of_node()) do
    key = {kind, id}

    with :unused <- use_again(key, user),
         :ok <- Quota.take(quota, kind, client, 1) do
      if :ets.insert_new(@table, {key, until, client, user}) do
        :ok
      else
        Quota.give(quota, kind, client, 1)
        # It was used at the same time.
        with :unused <- use_again(key, user), do: :used
      end
    end
  end

  defp use_again(key, user) do
    case :ets.lookup(@table, key) do
      [{_key, _until, _client, ^user}] when user != nil -> :ok
      [_another] -> :used
      [] -> :unused
    end
  end

  @doc "Drops what has expired."
  @spec sweep(now :: integer()) :: :ok
  def sweep(now) do
    over = [{{:"$1", :"$2", :"$3", :_}, [{:"=<", :"$2", now}], [{{:"$1", :"$3"}}]}]
    :ets.safe_fixtable(@table, true)
    forget(:ets.select(@table, over, @portion))
    :ets.safe_fixtable(@table, false)
    :ok
  end

  defp forget(:"$end_of_table"), do: :ok

  defp forget({expired, rest}) do
    for {{kind, _id} = key, client} <- expired do
      :ets.delete(@table, key)
      Quota.give(Quota.of_node(), kind, client, 1)
    end

    forget(:ets.select(rest))
  end

  @doc "Starts the process that drops what has expired."
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
