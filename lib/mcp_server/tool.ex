defmodule McpServer.Tool do
  @moduledoc """
  What clients are told about a tool. Routers make these from their `tool` declarations; write one by
  hand where `c:McpServer.list_tools/1` is overridden.

  | field | type | meaning |
  |---|---|---|
  | `name` | string, required | 1 to 128 characters of `A-Za-z0-9_./-` |
  | `description` | string | what it does, for the model |
  | `inputSchema` | map or `McpServer.Schema` | JSON Schema of the arguments; its type is `"object"` |
  | `outputSchema` | map or `McpServer.Schema` | JSON Schema of the structured result |
  | `annotations` | `McpServer.Tool.Annotations` or map | hints about its behaviour |
  | `title` | string | a name for people |
  | `icons` | list of `McpServer.Icon` | |
  | `execution` | map | `%{"taskSupport" => …}` of revision 2025-11-25 |
  | `_meta` | map or `McpServer.App.Meta` | anything else; `ui` links an MCP App |

  Fields that are `nil` are not sent.

      iex> McpServer.Tool.new(name: "add", input_schema: %{"type" => "object"}).inputSchema
      %{"type" => "object"}
  """

  alias McpServer.{App, Fields, Icon, Schema}
  alias McpServer.Tool.Annotations

  @enforce_keys [:name]
  defstruct [
    :name,
    :description,
    :annotations,
    :outputSchema,
    :title,
    :icons,
    :execution,
    :_meta,
    inputSchema: %{"type" => "object"}
  ]

  @type t :: %__MODULE__{
          name: String.t(),
          description: String.t() | nil,
          inputSchema: Schema.t() | map,
          annotations: Annotations.t() | map | nil,
          outputSchema: Schema.t() | map | nil,
          title: String.t() | nil,
          icons: [Icon.t() | map] | nil,
          execution: map | nil,
          _meta: App.Meta.t() | map | nil
        }

  @table Fields.table(
           name: {:required, :string},
           description: :string,
           inputSchema: {:struct, Schema},
           annotations: {:struct, Annotations},
           outputSchema: {:struct, Schema},
           title: :string,
           icons: {:list, {:struct, Icon}},
           execution: :map,
           _meta: {:struct, App.Meta}
         )

  @doc "Builds a tool; raises `ArgumentError` naming the field at fault."
  @spec new(keyword | map) :: t
  def new(fields), do: Fields.build!(__MODULE__, @table, fields)
end

defmodule McpServer.Tool.Annotations do
  @moduledoc """
  Hints about what a tool does. Clients must not trust them, but many ask before a destructive call.
  Defaults and meaning are those of MCP.

  | field | default | meaning |
  |---|---|---|
  | `title` | `nil` | a name for people |
  | `readOnlyHint` | `false` | changes nothing |
  | `destructiveHint` | `true` | may overwrite or delete (of interest only if not read-only) |
  | `idempotentHint` | `false` | a second call with the same arguments changes nothing more |
  | `openWorldHint` | `true` | reaches beyond a closed set of things, like the web |

  The four hints are always sent, `false` included.

      iex> McpServer.Tool.Annotations.new(read_only_hint: true, destructive_hint: false)
      %McpServer.Tool.Annotations{readOnlyHint: true, destructiveHint: false}
  """

  alias McpServer.Fields

  defstruct title: nil, readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true

  @type t :: %__MODULE__{
          title: String.t() | nil,
          readOnlyHint: boolean,
          destructiveHint: boolean,
          idempotentHint: boolean,
          openWorldHint: boolean
        }

  @table Fields.table(
           title: :string,
           readOnlyHint: :boolean,
           destructiveHint: :boolean,
           idempotentHint: :boolean,
           openWorldHint: :boolean
         )

  @doc "Builds annotations; raises `ArgumentError` naming the field at fault."
  @spec new(keyword | map) :: t
  def new(fields), do: Fields.build!(__MODULE__, @table, fields)
end
