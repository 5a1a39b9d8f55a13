defmodule McpServer.App.Meta do
  @moduledoc """
  The `_meta` of a tool or resource that belongs to an MCP App: `ui` is a `McpServer.App.UI` on tools
  and a `McpServer.App.UIResourceMeta` on resources. Without `ui` it is sent as `{}`.

      iex> McpServer.App.Meta.new(ui: McpServer.App.UI.new(resource_uri: "ui://a")).ui.visibility
      ["model", "app"]
  """

  alias McpServer.App.{UI, UIResourceMeta}

  use McpServer.Fields, ui: [:map, type: UI.t() | UIResourceMeta.t()]
end
