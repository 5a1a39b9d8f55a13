defmodule McpServer.HttpServer.Supervisor do
  @moduledoc false
  # The processes that both HTTP servers need: sessions and the processes of routes.

  use Supervisor

  alias McpServer.Http.Session.Tombstones
  alias McpServer.Http.Sessions
  alias McpServer.Successor

  @restarts [max_restarts: 1_000, max_seconds: 5]

  @spec start_link(term()) :: Supervisor.on_start()
  def start_link(_options), do: Successor.start(fn -> Supervisor.start_link(__MODULE__, nil, name: __MODULE__) end)

  @impl true
  def init(nil) do
    children = [
      {DynamicSupervisor, [name: McpServer.Http.SessionSupervisor] ++ @restarts},
      Sessions,
      Tombstones,
      %{id: McpServer.Http.Registry, start: {__MODULE__, :start_registry, []}, type: :supervisor},
      Supervisor.child_spec({DynamicSupervisor, [name: McpServer.Http.RouteSupervisor] ++ @restarts},
        id: McpServer.Http.RouteSupervisor
      )
    ]

    # Each child is cheap to restart, and many clients depend on it.
    Supervisor.init(children, [strategy: :one_for_one] ++ @restarts)
  end

  # The partition of a killed registry ends after it.
  @doc false
  def start_registry, do: Successor.start(fn -> Registry.start_link(keys: :unique, name: McpServer.Http.Registry) end)
end
