defmodule McpServer.Application do
  # Starts the processes that all transports share. Transports start in the user's supervision tree, for example as
  # `{McpServer.Stdio, router: …}`.
  @moduledoc false
  use Application

  alias McpServer.DualResponse.Store.ETS.Keeper

  @impl true
  def start(_type, _args) do
    # A library that does not load stops the start, instead of a crash at the first message.
    with :ok <- McpServer.Native.Library.ensure_loaded() do
      :ok = McpServer.Telemetry.load()
      :ok = McpServer.Secret.load()
      # The tables belong to this process, which lives as long as the application.
      :ok = McpServer.OpenTelemetry.create_table()
      :ok = McpServer.Connection.InFlight.create_table()
      :ok = McpServer.Connection.Unended.create_table()
      :ok = McpServer.Quota.create_table()
      :ok = McpServer.Dispatch.ToolPlaces.create_tables()
      :ok = McpServer.RateLimit.create_table()
      :ok = McpServer.Http.Sessions.create_table()
      :ok = McpServer.Changes.create_tables()
      :ok = McpServer.Auth.Issuer.create_table()
      :ok = McpServer.Auth.Cache.create_table()
      :ok = McpServer.Auth.Tenants.create_table()
      :ok = McpServer.Once.create_table()
      :ok = McpServer.Http.Session.Tombstones.create_table()
      :ok = McpServer.SessionStore.ETS.create_table()
      :ok = McpServer.Tools.Server.create_table()
      :ok = McpServer.Tools.Guarded.create_table()
      :ok = McpServer.Tools.OpenSessions.create_table()
      :ok = McpServer.Tools.Compiled.create_table()
      :ok = Keeper.create_table()

      children =
        [
          McpServer.Changes,
          McpServer.Changes.Hub,
          McpServer.Catalog.Watch,
          McpServer.Call.Reaper,
          {McpServer.Quota.Keeper, &McpServer.Call.Reaper.ended/1},
          McpServer.Once,
          McpServer.Auth.Tenants.Places,
          McpServer.Dispatch.ToolPlaces,
          McpServer.SessionStore.ETS,
          McpServer.Tasks.Server,
          McpServer.Tools.Server
        ] ++
          [McpServer.HttpServer.Supervisor, Keeper]

      restarts = [max_restarts: 1_000, max_seconds: 5]
      Supervisor.start_link(children, [strategy: :one_for_one, name: McpServer.Supervisor] ++ restarts)
    end
  end
end
