defmodule McpServer.Presentation.MismatchError do
  @moduledoc false
  # An invalid result: its markers do not match their numbers, or its data does not fit its kind. Raised only for
  # `on_mismatch: :raise`.

  defexception [:kind, :message]

  @type t :: %__MODULE__{kind: String.t(), message: String.t()}
end
