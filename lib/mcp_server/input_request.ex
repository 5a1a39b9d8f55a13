defmodule McpServer.InputRequest do
  @moduledoc """
  One thing a handler needs from the client before it can answer: a form filled in by the user, a page
  visited by the user, a model's reply, or the client's roots. Make one with
  `McpServer.Controller.elicit/2`, `elicit_url/3`, `sample/2` or `list_roots/0` and return them with
  `McpServer.Controller.input_required/2`.

  | field | meaning |
  |---|---|
  | `method` | `"elicitation/create"`, `"sampling/createMessage"` or `"roots/list"` |
  | `params` | its parameters, keys as MCP spells them |
  """

  @enforce_keys [:method]
  defstruct [:method, params: %{}]

  @type t :: %__MODULE__{method: String.t(), params: %{String.t() => term}}

  # What the core reads.
  @doc false
  @spec to_core(t) :: {String.t(), %{String.t() => term}}
  def to_core(%__MODULE__{method: method, params: params}), do: {method, params}
end
