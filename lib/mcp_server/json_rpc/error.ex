defmodule McpServer.JsonRpc.Error do
  @moduledoc """
  A JSON-RPC 2.0 error: an integer `code`, a `message`, and `data`, which is omitted if it is `nil`.

      iex> McpServer.JsonRpc.Error.new(code: -32601, message: "Method not found")
      %McpServer.JsonRpc.Error{code: -32601, message: "Method not found"}

  JSON-RPC reserves the codes from -32768 to -32000; `code/1` gives the code of a reserved error. An application's own errors
  have codes outside that range. A client of 2026-07-28 gets -32602 for a handler's -32002, and -32603 for a code from
  -32099 to -32020 that MCP does not define. -32042 is sent to clients of 2025-11-25 only, others get -32603.
  """

  use McpServer.Fields,
    code: [:integer, required: true],
    message: [:string, required: true],
    data: :any

  @doc """
  The JSON-RPC code of an error.

  Raises `ArgumentError` for an unknown name.

      iex> for name <- [:parse_error, :invalid_request, :method_not_found, :invalid_params, :internal_error] do
      ...>   McpServer.JsonRpc.Error.code(name)
      ...> end
      [-32700, -32600, -32601, -32602, -32603]
  """
  @spec code(:parse_error | :invalid_request | :method_not_found | :invalid_params | :internal_error) :: integer
  def code(name), do: McpServer.Protocol.error_code(name)
end
