defmodule McpServer.Tool do
  @moduledoc """
  The description of a tool for clients. Routers build it from `tool` declarations. Build it yourself if the router
  overrides `c:McpServer.list_tools/1`.

  Fields that are `nil` are not sent.

      iex> McpServer.Tool.new(name: "add", input_schema: %{"type" => "object"}).inputSchema
      %{"type" => "object"}
  """

  alias McpServer.{App, Icon, Schema}
  alias McpServer.Tool.Annotations

  use McpServer.Fields,
    name: [:string, required: true, doc: "1 to 128 characters of `A-Za-z0-9_./-`"],
    description: [:string, doc: "the description for the model"],
    inputSchema: [
      {:struct, Schema},
      default: %{"type" => "object"},
      doc: ~s(JSON Schema of the arguments; its type is `"object"`)
    ],
    annotations: [{:struct, Annotations}, doc: "hints about the behaviour"],
    outputSchema: [{:struct, Schema}, doc: "JSON Schema of the structured result"],
    title: [:string, doc: "a name for people"],
    icons: {:list, {:struct, Icon}},
    execution: [:map, doc: ~s(`%{"taskSupport" => …}` of revision 2025-11-25)],
    _meta: [{:struct, App.Meta}, doc: "further data; `ui` links an MCP App"]
end

defmodule McpServer.Tool.Annotations do
  @moduledoc """
  Hints about the behaviour of a tool. Clients must not trust them, but many ask the user before a destructive call.
  Defaults and meaning are those of MCP.

  The four hints are always sent, `false` included.

      iex> McpServer.Tool.Annotations.new(read_only_hint: true, destructive_hint: false)
      %McpServer.Tool.Annotations{readOnlyHint: true, destructiveHint: false}
  """

  use McpServer.Fields,
    title: [:string, doc: "a name for people"],
    readOnlyHint: [:boolean, default: false, doc: "changes nothing"],
    destructiveHint: [:boolean, default: true, doc: "may overwrite or delete (only relevant if not read-only)"],
    idempotentHint: [:boolean, default: false, doc: "a second call with the same arguments has no further effect"],
    openWorldHint: [:boolean, default: true, doc: "accesses an open set of systems, such as the web"]
end
