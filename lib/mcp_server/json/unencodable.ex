defmodule McpServer.JSON.Unencodable do
  @moduledoc false
  # Replaces a struct after its encoder failed, so that the native core refuses it and reports its path.

  @enforce_keys [:reason]
  defstruct [:reason]

  @type t :: %__MODULE__{reason: String.t()}
end
