defmodule McpServer.Results do
  @moduledoc false
  # The door to the core's rules for the shapes of results: envelopes, presentations and dual
  # responses. One of the façades over `McpServer.Native`. Knows no process and no transport.
end
