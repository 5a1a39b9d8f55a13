defmodule McpServer.Http.Supervisor do
  @moduledoc false
  # What HTTP needs whoever serves it: the sessions, the workers of plugs, and who they are.

  use Supervisor

  alias McpServer.Http.{Mounts, Sessions}

  @restarts [max_restarts: 1_000, max_seconds: 5]

  @spec start_link(term()) :: Supervisor.on_start()
  def start_link(_options), do: Supervisor.start_link(__MODULE__, nil, name: __MODULE__)

  @impl true
  def init(nil) do
    children = [
      {DynamicSupervisor, [name: McpServer.Http.SessionSupervisor] ++ @restarts},
      Sessions,
      {DynamicSupervisor, [name: McpServer.Http.MountSupervisor] ++ @restarts},
      Mounts
    ]

    # None of them is much to start again, and each of them serves many.
    Supervisor.init(children, [strategy: :one_for_one] ++ @restarts)
  end
end
