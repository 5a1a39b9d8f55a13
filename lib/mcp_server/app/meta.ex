defmodule McpServer.App.Meta do
  @moduledoc """
  The `_meta` of a tool or resource that belongs to an MCP App: `ui` is a `McpServer.App.UI` on tools
  and a `McpServer.App.UIResourceMeta` on resources. Without `ui` it is sent as `{}`.

      iex> McpServer.App.Meta.new(ui: McpServer.App.UI.new(resource_uri: "ui://a")).ui.visibility
      ["model", "app"]
  """

  alias McpServer.App.{UI, UIResourceMeta}
  alias McpServer.Fields

  defstruct [:ui]

  @type t :: %__MODULE__{ui: UI.t() | UIResourceMeta.t() | nil}

  @table Fields.table(ui: :map)

  @doc "Builds the metadata; raises `ArgumentError` naming the field at fault."
  @spec new(keyword | map) :: t
  def new(fields), do: Fields.build!(__MODULE__, @table, fields)
end
