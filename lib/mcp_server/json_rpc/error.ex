defmodule McpServer.JsonRpc.Error do
  codes = [
    {:parse_error, -32_700, "Parse error"},
    {:invalid_request, -32_600, "Invalid request"},
    {:method_not_found, -32_601, "Method not found"},
    {:invalid_params, -32_602, "Invalid params"},
    {:internal_error, -32_603, "Internal error"}
  ]

  @moduledoc """
  A JSON-RPC 2.0 error: an integer `code`, a `message`, and `data` that is left out when `nil`.

  | code | message |
  |---|---|
  #{for {_name, code, message} <- codes, do: "| #{code} | #{message} |\n"}
      iex> McpServer.JsonRpc.Error.new(code: -32601, message: "Method not found")
      %McpServer.JsonRpc.Error{code: -32601, message: "Method not found"}
  """

  use McpServer.Fields,
    code: [:integer, required: true],
    message: [:string, required: true],
    data: :any

  @type name :: :parse_error | :invalid_request | :method_not_found | :invalid_params | :internal_error

  # The code with that name.
  @doc false
  @spec code(name) :: integer
  for {name, code, _message} <- codes, do: def(code(unquote(name)), do: unquote(code))
end
