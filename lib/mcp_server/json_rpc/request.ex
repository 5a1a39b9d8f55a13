defmodule McpServer.JsonRpc.Request do
  @moduledoc """
  A JSON-RPC 2.0 request, or a notification when it has no `id`.

      iex> McpServer.JsonRpc.Request.new(method: "tools/list", id: 1)
      %McpServer.JsonRpc.Request{jsonrpc: "2.0", method: "tools/list", id: 1}
  """

  alias McpServer.Fields

  @enforce_keys [:method]
  defstruct [:method, :params, :id, jsonrpc: "2.0"]

  @type t :: %__MODULE__{
          jsonrpc: String.t(),
          method: String.t(),
          params: map | list | nil,
          id: String.t() | integer | nil
        }

  @table Fields.table(jsonrpc: {:in, ["2.0"]}, method: {:required, :string}, params: :container, id: :id)

  @doc "Builds a request; raises `ArgumentError` naming the field at fault."
  @spec new(keyword | map) :: t
  def new(fields), do: Fields.build!(__MODULE__, @table, fields)
end
