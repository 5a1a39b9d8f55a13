defmodule McpServer.Prompt do
  @moduledoc """
  What clients are told about a prompt. Routers make these from their `prompt` declarations.

  | field | type | meaning |
  |---|---|---|
  | `name` | string, required | 1 to 128 characters of `A-Za-z0-9_./-` |
  | `description` | string | what it is for |
  | `arguments` | list of `McpServer.Prompt.Argument` or maps | `[]` is sent as `[]` |
  | `title` | string | a name for people |
  | `icons` | list of `McpServer.Icon` | |
  | `_meta` | map | anything else |

      iex> McpServer.Prompt.new(name: "greet", arguments: [[name: "who", required: true]]).arguments
      [%McpServer.Prompt.Argument{name: "who", required: true}]
  """

  alias McpServer.{Fields, Icon}
  alias McpServer.Prompt.Argument

  @enforce_keys [:name]
  defstruct [:name, :description, :title, :icons, :_meta, arguments: []]

  @type t :: %__MODULE__{
          name: String.t(),
          description: String.t() | nil,
          arguments: [Argument.t() | map],
          title: String.t() | nil,
          icons: [Icon.t() | map] | nil,
          _meta: map | nil
        }

  @table Fields.table(
           name: {:required, :string},
           description: :string,
           arguments: {:list, {:struct, Argument}},
           title: :string,
           icons: {:list, {:struct, Icon}},
           _meta: :map
         )

  @doc "Builds a prompt; raises `ArgumentError` naming the field at fault."
  @spec new(keyword | map) :: t
  def new(fields), do: Fields.build!(__MODULE__, @table, fields)
end

defmodule McpServer.Prompt.Argument do
  @moduledoc """
  One argument of a prompt: `name`, `description`, `title`, and whether it is `required` (default
  `false`, always sent). Its value is always a string.
  """

  alias McpServer.Fields

  @enforce_keys [:name]
  defstruct [:name, :description, :title, required: false]

  @type t :: %__MODULE__{
          name: String.t(),
          description: String.t() | nil,
          title: String.t() | nil,
          required: boolean
        }

  @table Fields.table(name: {:required, :string}, description: :string, title: :string, required: :boolean)

  @doc "Builds an argument; raises `ArgumentError` naming the field at fault."
  @spec new(keyword | map) :: t
  def new(fields), do: Fields.build!(__MODULE__, @table, fields)
end

defmodule McpServer.Prompt.Message do
  @moduledoc """
  One message of a prompt's conversation.

  | field | type |
  |---|---|
  | `role` | `"user"`, `"assistant"` or `"system"`, required |
  | `content` | `McpServer.Prompt.MessageContent`, `t:McpServer.Content.t/0` or a map, required |

  No revision of MCP has the role `"system"`: it is accepted here and sent as the router's option
  `system_role:` says (as `"user"` unless it says otherwise).

      iex> content = McpServer.Prompt.MessageContent.new(type: "text", text: "Hello!")
      iex> McpServer.Prompt.Message.new(role: :user, content: content).role
      "user"
  """

  alias McpServer.{Content, Fields}
  alias McpServer.Prompt.MessageContent

  @enforce_keys [:role, :content]
  defstruct [:role, :content]

  @type t :: %__MODULE__{role: String.t(), content: MessageContent.t() | Content.t() | map}

  @table Fields.table(role: {:required, {:in, ~w(user assistant system)}}, content: {:required, :map})

  @doc "Builds a message; raises `ArgumentError` naming the field at fault."
  @spec new(keyword | map) :: t
  def new(fields), do: Fields.build!(__MODULE__, @table, fields)
end

defmodule McpServer.Prompt.MessageContent do
  @moduledoc """
  The content of a message: its `type` and, for `"text"`, its `text`. The other types have `data` (raw
  bytes) and `mimeType`, or `resource`; the structs of `McpServer.Content` say the same with less room
  for mistakes.

      iex> McpServer.Prompt.MessageContent.new(type: "text", text: "Hello!")
      %McpServer.Prompt.MessageContent{type: "text", text: "Hello!"}
  """

  alias McpServer.{Annotations, Fields, Resource}

  @enforce_keys [:type]
  defstruct [:type, :text, :data, :mimeType, :resource, :annotations, :_meta]

  @type t :: %__MODULE__{
          type: String.t(),
          text: String.t() | nil,
          data: binary | nil,
          mimeType: String.t() | nil,
          resource: Resource.Content.t() | map | nil,
          annotations: Annotations.t() | map | nil,
          _meta: map | nil
        }

  @table Fields.table(
           type: {:required, {:in, ~w(text image audio resource resource_link)}},
           text: :string,
           data: :string,
           mimeType: :string,
           resource: {:struct, Resource.Content},
           annotations: {:struct, Annotations},
           _meta: :map
         )

  @doc "Builds content; raises `ArgumentError` naming the field at fault."
  @spec new(keyword | map) :: t
  def new(fields), do: Fields.build!(__MODULE__, @table, fields)
end
