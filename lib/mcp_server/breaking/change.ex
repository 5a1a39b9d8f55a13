defmodule McpServer.Breaking.Change do
  @moduledoc false
  # `McpServer.Breaking` documents the fields.

  @enforce_keys [:level, :code, :kind, :name, :message]
  defstruct [:level, :code, :kind, :name, :message, :example, reasons: []]
end
