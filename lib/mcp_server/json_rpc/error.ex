defmodule McpServer.JsonRpc.Error do
  @moduledoc """
  A JSON-RPC 2.0 error: an integer `code`, a `message`, and `data` that is left out when `nil`.

  | code | message |
  |---|---|
  | -32700 | Parse error |
  | -32600 | Invalid request |
  | -32601 | Method not found |
  | -32602 | Invalid params |
  | -32603 | Internal error |

      iex> McpServer.JsonRpc.Error.new(code: -32601, message: "Method not found")
      %McpServer.JsonRpc.Error{code: -32601, message: "Method not found"}
  """

  use McpServer.Fields,
    code: [:integer, required: true],
    message: [:string, required: true],
    data: :any
end
