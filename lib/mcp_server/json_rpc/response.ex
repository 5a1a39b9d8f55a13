defmodule McpServer.JsonRpc.Response do
  @moduledoc """
  A JSON-RPC 2.0 response with either `result` or `error`. Without both it is a success with the result `{}`; both
  together are refused.

      iex> McpServer.JsonRpc.Response.new(id: 1, result: %{"tools" => []})
      %McpServer.JsonRpc.Response{jsonrpc: "2.0", id: 1, result: %{"tools" => []}}
  """

  alias McpServer.JsonRpc.Error

  use McpServer.Fields,
    jsonrpc: [{:in, ["2.0"]}, default: "2.0"],
    result: :any,
    error: {:struct, Error},
    id: :id

  @doc "Builds a response; raises `ArgumentError` naming the field at fault."
  def new(fields) do
    case super(fields) do
      %{result: result, error: error} when result != nil and error != nil ->
        raise ArgumentError, "conflicting values for :result and :error of #{inspect(__MODULE__)}: give one of the two"

      response ->
        response
    end
  end
end
