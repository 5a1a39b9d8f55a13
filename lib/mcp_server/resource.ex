defmodule McpServer.Resource do
  @moduledoc """
  What clients are told about a resource with a fixed URI. Routers make these from their `resource`
  declarations.

  | field | type | meaning |
  |---|---|---|
  | `name` | string, required | |
  | `uri` | string, required | absolute, with its scheme |
  | `description` | string | |
  | `mimeType` | string | |
  | `title` | string | a name for people |
  | `size` | integer, in bytes | of the raw content, if known |
  | `annotations` | `McpServer.Annotations` | for whom, how important, how fresh |
  | `icons` | list of `McpServer.Icon` | |
  | `_meta` | map or `McpServer.App.Meta` | anything else |

      iex> McpServer.Resource.new(name: "config", uri: "file:///app/config.json", mime_type: "application/json")
      %McpServer.Resource{name: "config", uri: "file:///app/config.json", mimeType: "application/json"}
  """

  alias McpServer.{Annotations, App, Fields, Icon}

  @enforce_keys [:name, :uri]
  defstruct [:name, :uri, :description, :mimeType, :title, :size, :annotations, :icons, :_meta]

  @type t :: %__MODULE__{
          name: String.t(),
          uri: String.t(),
          description: String.t() | nil,
          mimeType: String.t() | nil,
          title: String.t() | nil,
          size: non_neg_integer | nil,
          annotations: Annotations.t() | map | nil,
          icons: [Icon.t() | map] | nil,
          _meta: App.Meta.t() | map | nil
        }

  @table Fields.table(
           name: {:required, :string},
           uri: {:required, :string},
           description: :string,
           mimeType: :string,
           title: :string,
           size: :count,
           annotations: {:struct, Annotations},
           icons: {:list, {:struct, Icon}},
           _meta: {:struct, App.Meta}
         )

  @doc "Builds a resource; raises `ArgumentError` naming the field at fault."
  @spec new(keyword | map) :: t
  def new(fields), do: Fields.build!(__MODULE__, @table, fields)
end

defmodule McpServer.ResourceTemplate do
  @moduledoc """
  What clients are told about resources whose URI has variables: as `McpServer.Resource`, with
  `uriTemplate` (RFC 6570, for example `"https://example.com/users/{id}"`) in place of `uri`, and
  without `size`.

      iex> McpServer.ResourceTemplate.new(name: "user", uri_template: "users://{id}").uriTemplate
      "users://{id}"
  """

  alias McpServer.{Annotations, App, Fields, Icon}

  @enforce_keys [:name, :uriTemplate]
  defstruct [:name, :uriTemplate, :description, :mimeType, :title, :annotations, :icons, :_meta]

  @type t :: %__MODULE__{
          name: String.t(),
          uriTemplate: String.t(),
          description: String.t() | nil,
          mimeType: String.t() | nil,
          title: String.t() | nil,
          annotations: Annotations.t() | map | nil,
          icons: [Icon.t() | map] | nil,
          _meta: App.Meta.t() | map | nil
        }

  @table Fields.table(
           name: {:required, :string},
           uriTemplate: {:required, :string},
           description: :string,
           mimeType: :string,
           title: :string,
           annotations: {:struct, Annotations},
           icons: {:list, {:struct, Icon}},
           _meta: {:struct, App.Meta}
         )

  @doc "Builds a template; raises `ArgumentError` naming the field at fault."
  @spec new(keyword | map) :: t
  def new(fields), do: Fields.build!(__MODULE__, @table, fields)
end

defmodule McpServer.Resource.Content do
  @moduledoc """
  One item of what reading a resource gives: either `text`, or `blob` with base64 of the bytes.
  `McpServer.Controller.content/3` makes one from raw bytes.

  | field | type |
  |---|---|
  | `uri` | string, required: the item's own URI |
  | `name`, `title` | strings |
  | `mimeType` | string |
  | `text` | string |
  | `blob` | base64 string |
  | `_meta` | map |

      iex> McpServer.Resource.Content.new(name: "a.txt", uri: "file:///a.txt", text: "hi")
      %McpServer.Resource.Content{name: "a.txt", uri: "file:///a.txt", text: "hi"}
  """

  alias McpServer.Fields

  @enforce_keys [:uri]
  defstruct [:name, :uri, :mimeType, :text, :blob, :title, :_meta]

  @type t :: %__MODULE__{
          name: String.t() | nil,
          uri: String.t(),
          mimeType: String.t() | nil,
          text: String.t() | nil,
          blob: String.t() | nil,
          title: String.t() | nil,
          _meta: map | nil
        }

  @table Fields.table(
           name: :string,
           uri: {:required, :string},
           mimeType: :string,
           text: :string,
           blob: :string,
           title: :string,
           _meta: :map
         )

  @doc """
  Builds an item; raises `ArgumentError` naming the field at fault, also when `text` and `blob` are
  both given, or neither.
  """
  @spec new(keyword | map) :: t
  def new(fields) do
    case Fields.build!(__MODULE__, @table, fields) do
      %{text: nil, blob: nil} -> raise ArgumentError, "#{inspect(__MODULE__)} needs :text or :blob"
      %{text: text, blob: blob} when text != nil and blob != nil -> raise ArgumentError, both()
      content -> content
    end
  end

  defp both, do: "conflicting values for :text and :blob of #{inspect(__MODULE__)}: an item has one of the two"

  # `new/1` for raw bytes in `blob`, which is how handlers have them.
  @doc false
  @spec from_raw(keyword) :: t
  def from_raw(fields) do
    content = new(fields)
    if content.blob, do: %{content | blob: Base.encode64(content.blob)}, else: content
  end
end

defmodule McpServer.Resource.ReadResult do
  @moduledoc """
  What reading a resource gives: `contents`, a list of `McpServer.Resource.Content` or maps (required),
  and `_meta`. For clients of revision 2026-07-28, `ttl_ms` (how long the answer may be cached, in
  milliseconds) and `cache_scope` (`"public"` or `"private"`) override the router's.

      iex> content = McpServer.Resource.Content.new(uri: "file:///a.txt", text: "hi")
      iex> McpServer.Resource.ReadResult.new(contents: [content]).contents == [content]
      true
  """

  alias McpServer.Fields
  alias McpServer.Resource.Content

  @enforce_keys [:contents]
  defstruct [:contents, :_meta, :ttl_ms, :cache_scope]

  @type t :: %__MODULE__{
          contents: [Content.t() | map],
          _meta: map | nil,
          ttl_ms: non_neg_integer | nil,
          cache_scope: String.t() | nil
        }

  @table Fields.table(
           contents: {:required, {:list, {:struct, Content}}},
           _meta: :map,
           ttl_ms: :count,
           cache_scope: {:in, ~w(public private)}
         )

  @doc "Builds a result; raises `ArgumentError` naming the field at fault."
  @spec new(keyword | map) :: t
  def new(fields), do: Fields.build!(__MODULE__, @table, fields)
end
