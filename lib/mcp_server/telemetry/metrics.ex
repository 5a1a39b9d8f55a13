defmodule McpServer.Telemetry.Metrics do
  @moduledoc false
  # Metric definitions for reporters of the package `telemetry_metrics`.

  alias McpServer.Telemetry.{Attributes, Usage}

  @compile {:no_warn_undefined, Telemetry.Metrics}

  @buckets [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]
  @peer ["mcp.protocol.version", "network.transport"]
  @call ["mcp.method.name", "gen_ai.tool.name", "gen_ai.operation.name", "gen_ai.prompt.name"]
  @ending ["error.type", "rpc.response.status_code"]

  @doc "The metrics. The names of their tags have dots or underscores."
  @spec definitions(:dots | :underscores) :: [struct()]
  def definitions(tags) do
    [
      duration(
        "mcp.server.operation.duration",
        [:mcp_server, :operation, :stop],
        tags,
        @call ++ @peer ++ @ending,
        fn call ->
          Map.merge(Attributes.of_call(call), Attributes.of_end(call))
        end
      ),
      duration("mcp.server.session.duration", [:mcp_server, :session, :stop], tags, @peer, &Attributes.of_peer/1)
    ] ++ for {event, names} <- Usage.measurements(), name <- names, do: last_value(event, name)
  end

  defp duration(name, event, tags, names, attributes) do
    keys = Map.new(names, &{&1, tag(&1, tags)})

    Telemetry.Metrics.distribution(name,
      event_name: event,
      measurement: :duration,
      unit: {:native, :second},
      tags: Enum.map(names, &keys[&1]),
      # A reporter may drop a measurement that lacks a tag.
      tag_values: fn metadata ->
        for {name, value} <- attributes.(metadata), into: %{}, do: {keys[name], value || ""}
      end,
      # LiveDashboard draws bars of one width, 20 by default: of a whole number of seconds.
      reporter_options: [buckets: @buckets, bucket_size: 1]
    )
  end

  for name <- @call ++ @peer ++ @ending do
    defp tag(unquote(name), :dots), do: unquote(:"#{name}")
    defp tag(unquote(name), :underscores), do: unquote(:"#{String.replace(name, ".", "_")}")
  end

  defp last_value(event, name), do: Telemetry.Metrics.last_value([:mcp_server, event, name])
end
