defmodule McpServer.DualResponse.Events do
  @moduledoc false
  # The telemetry events of a server. `McpServer.Telemetry` documents their data.

  alias McpServer.DualResponse.Options
  alias McpServer.Telemetry

  @type event :: :created | :fetched | :expired | :pinned | :deleted | :denied

  @spec emit(Options.t(), event, map, map) :: :ok
  def emit(options, event, measurements, metadata) do
    if Telemetry.enabled?() do
      metadata = Map.merge(metadata, %{server: options.name, store: options.store})
      Telemetry.execute([:dual_response, event], measurements, metadata)
    else
      :ok
    end
  end
end
