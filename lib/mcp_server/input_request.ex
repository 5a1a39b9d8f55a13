defmodule McpServer.InputRequest do
  @moduledoc """
  A request of a handler to the client: a form for the user, a page for the user, a reply of the model, or the client's
  roots. Build requests with `McpServer.Controller.elicit/2`, `elicit_url/3`, `sample/2` or `list_roots/0` and return
  them with `McpServer.Controller.input_required/2`.

  | field | meaning |
  |---|---|
  | `method` | `"elicitation/create"`, `"sampling/createMessage"` or `"roots/list"` |
  | `params` | parameters, with the keys of MCP |
  """

  @enforce_keys [:method]
  defstruct [:method, params: %{}]

  @type t :: %__MODULE__{method: String.t(), params: %{String.t() => term}}

  # The form that the core reads.
  @doc false
  @spec to_core(t) :: {String.t(), %{String.t() => term}}
  def to_core(%__MODULE__{method: method, params: params}), do: {method, params}
end
