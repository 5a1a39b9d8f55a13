defmodule McpServer.Http.Workers do
  @moduledoc false
  # The connections of a mount that serve the stateless era, one for each scheduler. They hold calls and
  # streams, and run none: one slow call takes nothing from the others.

  use Supervisor

  alias McpServer.{Connection, Session}
  alias McpServer.Http.{Channel, Mount}

  @registry McpServer.Http.Registry

  @spec start_link(Mount.t()) :: Supervisor.on_start()
  def start_link(mount), do: Supervisor.start_link(__MODULE__, mount, name: name(mount.id, :workers))

  @impl true
  def init(mount) do
    children = for number <- 1..count(), do: connection(mount, number)
    # Whatever ends a worker, requests of others go on.
    Supervisor.init(children, strategy: :one_for_one, max_restarts: 1_000, max_seconds: 1)
  end

  defp connection(mount, number) do
    options = [
      name: name(mount.id, number),
      router: mount.router,
      channel: {Channel, %{mount: mount, session: nil}},
      session: Session.new(nil),
      overload: {:refuse, 503},
      max_calls: mount.max_requests,
      max_streams: mount.max_listeners
    ]

    bounds = Keyword.drop(mount.options, [:max_calls, :max_streams])
    Supervisor.child_spec({Connection, options ++ bounds}, id: number, shutdown: 10_000)
  end

  @doc "The worker for the calling process, `nil` while it is being restarted."
  @spec pick(mount_id :: term()) :: pid() | nil
  def pick(id), do: whereis(id, rem(:erlang.system_info(:scheduler_id), count()) + 1)

  @doc "All workers that are there."
  @spec all(mount_id :: term()) :: [pid()]
  def all(id), do: for(number <- 1..count(), pid = whereis(id, number), do: pid)

  @doc "How many there are when all are there."
  @spec count() :: pos_integer()
  def count, do: System.schedulers_online()

  defp whereis(id, number) do
    case Registry.lookup(@registry, {id, number}) do
      [{pid, _value}] -> pid
      [] -> nil
    end
  end

  defp name(id, key), do: {:via, Registry, {@registry, {id, key}}}
end
