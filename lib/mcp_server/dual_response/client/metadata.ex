defmodule McpServer.DualResponse.Client.Metadata do
  @moduledoc false
  # What the server says of a resource now: `McpServer.DualResponse.Client.Parsed.metadata/1` documents it.

  @enforce_keys [:status, :total_count, :columns, :created_at, :expires_at, :access_count]
  defstruct @enforce_keys
end
