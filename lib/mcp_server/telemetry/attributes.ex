defmodule McpServer.Telemetry.Attributes do
  @moduledoc false
  # The metadata of an event under the names of OpenTelemetry's conventions for MCP. Missing values are `nil`.

  @doc "The attributes of a call."
  @spec of_call(map()) :: %{String.t() => String.t() | nil}
  def of_call(call) do
    Map.merge(of_peer(call), %{
      "mcp.method.name" => call.method,
      "gen_ai.tool.name" => if(tool?(call), do: call.name),
      "gen_ai.operation.name" => if(tool?(call), do: "execute_tool"),
      "gen_ai.prompt.name" => if(call.method == "prompts/get", do: call.name)
    })
  end

  defp tool?(%{method: method}), do: method == "tools/call"

  @doc "The attributes of a session."
  @spec of_peer(map()) :: %{String.t() => String.t() | nil}
  def of_peer(peer), do: %{"mcp.protocol.version" => peer.revision, "network.transport" => network(peer.transport)}

  defp network(:stdio), do: "pipe"
  defp network(:http), do: "tcp"
  defp network(_neither), do: nil

  @doc "The attributes of the end of a call."
  @spec of_end(map()) :: %{String.t() => String.t() | nil}
  def of_end(%{error_type: type, error_code: code}),
    do: %{"error.type" => type, "rpc.response.status_code" => code && Integer.to_string(code)}
end
