defmodule McpServer.Auth.Secret do
  @moduledoc false
  # Wraps a value that must not be printed.

  @enforce_keys [:value]
  defstruct [:value]

  @type t :: %__MODULE__{value: term()}

  defimpl Inspect do
    def inspect(_secret, _options), do: "#McpServer.Auth.Secret<...>"
  end
end
