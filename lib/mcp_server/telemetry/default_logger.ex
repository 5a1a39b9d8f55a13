defmodule McpServer.Telemetry.DefaultLogger do
  @moduledoc false
  # Logs a line for each call, with only names and numbers from the server, and the Logger metadata of the call's process.

  require Logger

  @handler {__MODULE__, :handler}
  @compile {:no_warn_undefined, :telemetry}

  @doc "Starts to log a line at the end of each call."
  @spec attach(Logger.level()) :: :ok | {:error, :already_exists}
  def attach(level), do: :telemetry.attach(@handler, [:mcp_server, :operation, :stop], &__MODULE__.handle/4, level)

  @doc "Stops logging."
  @spec detach() :: :ok | {:error, :not_found}
  def detach, do: :telemetry.detach(@handler)

  @doc false
  @spec handle([atom()], map(), map(), Logger.level()) :: :ok
  def handle(_event, %{duration: duration}, call, level) do
    milliseconds = System.convert_time_unit(duration, :native, :microsecond) / 1_000
    called = if call.name, do: "#{call.method} #{inspect(call.name)}", else: call.method

    Logger.log(
      level,
      "MCP #{called} #{call.error_type || "ok"} in #{:erlang.float_to_binary(milliseconds, decimals: 1)} ms",
      Map.to_list(call.logger_metadata)
    )
  end
end
