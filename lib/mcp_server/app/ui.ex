defmodule McpServer.App.UI do
  @moduledoc """
  Links a tool to the `ui://` resource that renders its results.

  | field | default | meaning |
  |---|---|---|
  | `resource_uri` | `nil` | the resource's URI, sent as `resourceUri` |
  | `visibility` | `["model", "app"]` | who may call the tool: `"model"`, `"app"` (the view) or both |

      iex> McpServer.App.UI.new(resource_uri: "ui://weather/dashboard", visibility: [:app])
      %McpServer.App.UI{resource_uri: "ui://weather/dashboard", visibility: ["app"]}
  """

  alias McpServer.Fields

  defstruct resource_uri: nil, visibility: ["model", "app"]

  @type t :: %__MODULE__{resource_uri: String.t() | nil, visibility: [String.t()]}

  @table Fields.table(resource_uri: :string, visibility: {:list, {:in, ~w(model app)}})

  @doc "Builds the link; raises `ArgumentError` naming the field at fault."
  @spec new(keyword | map) :: t
  def new(fields), do: Fields.build!(__MODULE__, @table, fields)
end
