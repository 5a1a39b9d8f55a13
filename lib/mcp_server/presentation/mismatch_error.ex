defmodule McpServer.Presentation.MismatchError do
  @moduledoc false
  # A result that is not what it says of itself: its markers do not add up, or its data does not fit its kind. Raised
  # only where `on_mismatch: :raise` asks for it.

  defexception [:kind, :message]

  @type t :: %__MODULE__{kind: String.t(), message: String.t()}
end
