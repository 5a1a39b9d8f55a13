defmodule McpServer.App.UI do
  @moduledoc """
  Links a tool to the `ui://` resource that renders its results.

      iex> McpServer.App.UI.new(resource_uri: "ui://weather/dashboard", visibility: [:app])
      %McpServer.App.UI{resource_uri: "ui://weather/dashboard", visibility: ["app"]}
  """

  use McpServer.Fields,
    resource_uri: [:string, doc: "the resource's URI, sent as `resourceUri`"],
    visibility: [
      {:list, {:in, ~w(model app)}},
      default: ["model", "app"],
      doc: "who may call the tool; the app is the view"
    ]
end
