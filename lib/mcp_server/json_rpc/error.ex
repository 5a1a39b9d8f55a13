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

  alias McpServer.Fields

  @enforce_keys [:code, :message]
  defstruct [:code, :message, :data]

  @type t :: %__MODULE__{code: integer, message: String.t(), data: any}

  @table Fields.table(code: {:required, :integer}, message: {:required, :string}, data: :any)

  @doc "Builds an error; raises `ArgumentError` naming the field at fault."
  @spec new(keyword | map) :: t
  def new(fields), do: Fields.build!(__MODULE__, @table, fields)
end
