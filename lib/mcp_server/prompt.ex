defmodule McpServer.Prompt do
  @moduledoc """
  The description of a prompt for clients. Routers build it from `prompt` declarations.

      iex> McpServer.Prompt.new(name: "greet", arguments: [[name: "who", required: true]]).arguments
      [%McpServer.Prompt.Argument{name: "who", required: true}]
  """

  alias McpServer.Icon
  alias McpServer.Prompt.Argument

  use McpServer.Fields,
    name: [:string, required: true, doc: "1 to 128 characters of `A-Za-z0-9_./-`"],
    description: [:string, doc: "the purpose of the prompt"],
    arguments: [{:list, {:struct, Argument}}, default: [], doc: "`[]` is sent as `[]`"],
    title: [:string, doc: "a name for people"],
    icons: {:list, {:struct, Icon}},
    _meta: [:map, doc: "further data"]
end

defmodule McpServer.Prompt.Argument do
  @moduledoc """
  One argument of a prompt: `name`, `description`, `title`, and whether it is `required` (default
  `false`, always sent). Its value is always a string.
  """

  use McpServer.Fields,
    name: [:string, required: true],
    description: :string,
    title: :string,
    required: [:boolean, default: false]
end

defmodule McpServer.Prompt.Message do
  @moduledoc """
  One message of a prompt's conversation.

  No revision of MCP has the role `"system"`. It is accepted here and converted by the router's option `system_role:`
  (default: `"user"`).

      iex> content = McpServer.Prompt.MessageContent.new(type: "text", text: "Hello!")
      iex> McpServer.Prompt.Message.new(role: :user, content: content).role
      "user"
  """

  alias McpServer.Content
  alias McpServer.Prompt.MessageContent

  use McpServer.Fields,
    role: [{:in, ~w(user assistant system)}, required: true],
    content: [
      :map,
      required: true,
      type: MessageContent.t() | Content.t() | map,
      doc: "`McpServer.Prompt.MessageContent`, `t:McpServer.Content.t/0` or a map"
    ]
end

defmodule McpServer.Prompt.MessageContent do
  @moduledoc """
  The content of a message: its `type` and, for `"text"`, its `text`. The other types have `data` (raw bytes) and
  `mimeType`, or `resource`; the structs of `McpServer.Content` are a safer form of the same content.

      iex> McpServer.Prompt.MessageContent.new(type: "text", text: "Hello!")
      %McpServer.Prompt.MessageContent{type: "text", text: "Hello!"}
  """

  alias McpServer.{Annotations, Resource}

  use McpServer.Fields,
    type: [{:in, ~w(text image audio resource resource_link)}, required: true],
    text: :string,
    data: :string,
    mimeType: :string,
    resource: {:struct, Resource.Content},
    annotations: {:struct, Annotations},
    _meta: :map
end
