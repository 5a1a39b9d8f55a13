defmodule McpServer.Breaking.Change do
  @moduledoc false
  # `McpServer.Breaking` documents the fields.

  @enforce_keys [:level, :code, :kind, :name, :message]
  defstruct [:level, :code, :kind, :name, :message, :example, reasons: []]

  @type level :: :breaking | :unknown | :compatible
  @type t :: %__MODULE__{
          level: level,
          code: String.t(),
          kind: String.t(),
          name: String.t(),
          message: String.t(),
          reasons: [String.t()],
          example: String.t() | nil
        }
end
