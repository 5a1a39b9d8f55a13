defmodule McpServer.DualResponse.Client.Metadata do
  @moduledoc false
  # The server's current metadata of a resource. `McpServer.DualResponse.Client.Parsed.metadata/1` documents it.

  @enforce_keys [:status, :total_count, :columns, :created_at, :expires_at, :access_count]
  defstruct @enforce_keys
end
