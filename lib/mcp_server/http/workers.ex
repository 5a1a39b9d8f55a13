defmodule McpServer.Http.Workers do
  @moduledoc false
  # The connections of a mount that serve the stateless era, one for each scheduler. They hold calls and
  # streams, and run none: one slow call takes nothing from the others.
  #
  # They are found in a table that outlives them and everything above them.

  use Supervisor

  alias McpServer.{Connection, Session}
  alias McpServer.Http.{Channel, Desk, Mount}

  @table __MODULE__

  @doc "Makes the table; the calling process owns it."
  @spec create_table() :: :ok
  def create_table do
    :ets.new(@table, [:named_table, :public, read_concurrency: true])
    :ok
  end

  @spec start_link(Mount.t()) :: Supervisor.on_start()
  def start_link(mount), do: Supervisor.start_link(__MODULE__, mount)

  @impl true
  def init(mount) do
    desks = if mount.rest, do: [{Desk, {mount.id, mount.rest}}], else: []
    children = desks ++ for number <- 1..count(), do: connection(mount, number)
    # Whatever ends a worker, requests of others go on.
    Supervisor.init(children, strategy: :one_for_one, max_restarts: 1_000, max_seconds: 5)
  end

  defp connection(mount, number) do
    options = [
      router: mount.router,
      server: %{id: mount.id, max_share: mount.max_share, holder: nil},
      channel: {Channel, %{mount: mount, session: nil, number: number}},
      session: Session.new(nil),
      overload: {:refuse, 503},
      max_calls: mount.max_requests,
      max_streams: mount.max_listeners
    ]

    bounds = Keyword.drop(mount.options, [:max_calls, :max_streams])
    Supervisor.child_spec({Connection, options ++ bounds}, id: number, shutdown: 10_000)
  end

  @doc "The calling process is this worker of the mount from now on, or its desk."
  @spec enter(mount_id :: term(), pos_integer() | :desk) :: :ok
  def enter(id, number) do
    :ets.insert(@table, {{id, number}, self()})
    :ok
  end

  @doc "Nobody looks for the mount's workers any more."
  @spec leave(mount_id :: term()) :: :ok
  def leave(id) do
    for number <- [:desk | Enum.to_list(1..count())], do: :ets.delete(@table, {id, number})
    :ok
  end

  @doc "The worker for the calling process, `nil` while it is being restarted."
  @spec pick(mount_id :: term()) :: pid() | nil
  def pick(id), do: whereis(id, rem(:erlang.system_info(:scheduler_id), count()) + 1)

  @doc "The desk of the mount, `nil` while it is being restarted or where there is none."
  @spec desk(mount_id :: term()) :: pid() | nil
  def desk(id), do: whereis(id, :desk)

  @doc "All workers that are there."
  @spec all(mount_id :: term()) :: [pid()]
  def all(id), do: for(number <- 1..count(), pid = whereis(id, number), do: pid)

  @doc "How many there are when all are there."
  @spec count() :: pos_integer()
  def count, do: System.schedulers_online()

  defp whereis(id, number) do
    case :ets.lookup(@table, {id, number}) do
      [{_key, pid}] -> if Process.alive?(pid), do: pid
      [] -> nil
    end
  end
end
