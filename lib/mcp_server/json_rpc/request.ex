defmodule McpServer.JsonRpc.Request do
  @moduledoc """
  A JSON-RPC 2.0 request, or without `id` a notification.

      iex> McpServer.JsonRpc.Request.new(method: "tools/list", id: 1)
      %McpServer.JsonRpc.Request{jsonrpc: "2.0", method: "tools/list", id: 1}
  """

  use McpServer.Fields,
    jsonrpc: [{:in, ["2.0"]}, default: "2.0"],
    method: [:string, required: true],
    params: :container,
    id: :id
end
