defmodule McpServer.InputRequired do
  @moduledoc false
  # The answer of a handler that needs input: the requests by key, and the sealed state that the client must send back
  # with its answers.

  alias McpServer.InputRequest

  defstruct requests: %{}, request_state: nil

  @type t :: %__MODULE__{requests: %{String.t() => InputRequest.t()}, request_state: String.t() | nil}
end
