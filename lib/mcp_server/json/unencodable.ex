defmodule McpServer.JSON.Unencodable do
  @moduledoc false
  # Stands in the place of a struct whose own rule failed, so that the native core refuses it there and says
  # where that is.

  @enforce_keys [:reason]
  defstruct [:reason]

  @type t :: %__MODULE__{reason: String.t()}
end
