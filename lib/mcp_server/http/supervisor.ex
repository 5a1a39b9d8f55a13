defmodule McpServer.Http.Supervisor do
  @moduledoc false
  # What HTTP needs whoever serves it: the sessions, the workers of plugs, and who they are.

  use Supervisor

  alias McpServer.Http.Sessions

  @spec start_link(term()) :: Supervisor.on_start()
  def start_link(_options), do: Supervisor.start_link(__MODULE__, nil, name: __MODULE__)

  @impl true
  def init(nil) do
    :ok = Sessions.create_table()

    children = [
      {Registry, keys: :unique, name: McpServer.Http.Registry},
      {DynamicSupervisor, name: McpServer.Http.SessionSupervisor, max_restarts: 1_000, max_seconds: 1},
      Sessions,
      {DynamicSupervisor, name: McpServer.Http.MountSupervisor, max_restarts: 1_000, max_seconds: 1}
    ]

    Supervisor.init(children, strategy: :one_for_one)
  end
end
