defmodule McpServer.Auth.Proofs do
  @moduledoc false
  # The proofs (RFC 9449) that were used on this node, by digest, until their time is over. A full table takes no more:
  # what it forgot early could be used again.

  use GenServer
  use McpServer.Outline

  @table __MODULE__
  @most 1_000_000
  @sweep_ms 10_000

  @doc "Makes the table; the calling process owns it."
  @spec create_table() :: :ok
  def create_table do
    :ets.new(@table, [:named_table, :public, write_concurrency: true])
    :ok
  end

  @doc "Remembers a proof up to a second since 1970; `:used` if it is there, `:full` if nothing more can be remembered."
  @spec put(digest :: binary(), until :: integer(), most :: pos_integer()) :: :ok | :used | :full
  def put(digest, until, most \\ @most) do
    cond do
      :ets.info(@table, :size) >= most -> if :ets.member(@table, digest), do: :used, else: :full
      :ets.insert_new(@table, {digest, until}) -> :ok
      true -> :used
    end
  end

  @doc "Forgets the proofs whose time is over."
  @spec sweep(now :: integer()) :: :ok
  def sweep(now) do
    :ets.select_delete(@table, [{{:_, :"$1"}, [{:"=<", :"$1", now}], [true]}])
    :ok
  end

  @doc "Starts the process that sweeps."
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
