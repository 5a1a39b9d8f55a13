defmodule McpServer.HttpServer.Supervisor do
  @moduledoc false
  # The processes that both HTTP servers need: sessions and the processes of routes.

  use Supervisor

  alias McpServer.Http.Session.Tombstones
  alias McpServer.Http.Sessions

  @restarts [max_restarts: 1_000, max_seconds: 5]

  @names [
    McpServer.Http.SessionSupervisor,
    Sessions,
    Tombstones,
    McpServer.Http.Registry,
    McpServer.Http.RouteSupervisor
  ]
  # Milliseconds. Supervisors below this one end their children first.
  @parting 10_000

  @spec start_link(term()) :: Supervisor.on_start()
  def start_link(_options) do
    # If this supervisor was killed, its children may still be exiting with their registered names.
    Enum.each(@names, &await_free/1)
    Supervisor.start_link(__MODULE__, nil, name: __MODULE__)
  end

  defp await_free(name) do
    with pid when pid != nil <- Process.whereis(name) do
      monitor = Process.monitor(pid)

      receive do
        {:DOWN, ^monitor, :process, _pid, _reason} -> :ok
      after
        @parting -> Process.demonitor(monitor, [:flush])
      end
    end
  end

  @impl true
  def init(nil) do
    children = [
      {DynamicSupervisor, [name: McpServer.Http.SessionSupervisor] ++ @restarts},
      Sessions,
      Tombstones,
      {Registry, keys: :unique, name: McpServer.Http.Registry},
      Supervisor.child_spec({DynamicSupervisor, [name: McpServer.Http.RouteSupervisor] ++ @restarts},
        id: McpServer.Http.RouteSupervisor
      )
    ]

    # Each child is cheap to restart, and many clients depend on it.
    Supervisor.init(children, [strategy: :one_for_one] ++ @restarts)
  end
end
