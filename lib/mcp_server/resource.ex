defmodule McpServer.Resource do
  @moduledoc """
  The description of a resource with a fixed URI for clients. Routers build it from `resource` declarations.

      iex> McpServer.Resource.new(name: "config", uri: "file:///app/config.json", mime_type: "application/json")
      %McpServer.Resource{name: "config", uri: "file:///app/config.json", mimeType: "application/json"}
  """

  alias McpServer.{Annotations, App, Icon}

  use McpServer.Fields,
    name: [:string, required: true],
    uri: [:string, required: true, doc: "absolute, with its scheme"],
    description: :string,
    mimeType: :string,
    title: [:string, doc: "a name for people"],
    size: [:count, doc: "bytes of the raw content, if known"],
    annotations: [{:struct, Annotations}, doc: "audience, priority and last change"],
    icons: {:list, {:struct, Icon}},
    _meta: [{:struct, App.Meta}, doc: "further data"]
end

defmodule McpServer.ResourceTemplate do
  @moduledoc """
  The description of a resource whose URI has variables: like `McpServer.Resource`, with `uriTemplate` (RFC 6570, for
  example `"https://example.com/users/{id}"`) in place of `uri`, and without `size`.

      iex> McpServer.ResourceTemplate.new(name: "user", uri_template: "users://{id}").uriTemplate
      "users://{id}"
  """

  alias McpServer.{Annotations, App, Icon}

  use McpServer.Fields,
    name: [:string, required: true],
    uriTemplate: [:string, required: true],
    description: :string,
    mimeType: :string,
    title: :string,
    annotations: {:struct, Annotations},
    icons: {:list, {:struct, Icon}},
    _meta: {:struct, App.Meta}
end

defmodule McpServer.Resource.Content do
  @moduledoc """
  One item of a read result: either `text`, or `blob` with the bytes in base64. `McpServer.Controller.content/3` builds
  one from raw bytes.

      iex> McpServer.Resource.Content.new(name: "a.txt", uri: "file:///a.txt", text: "hi")
      %McpServer.Resource.Content{name: "a.txt", uri: "file:///a.txt", text: "hi"}
  """

  use McpServer.Fields,
    name: :string,
    uri: [:string, required: true, doc: "the URI of this item"],
    mimeType: :string,
    text: :string,
    blob: [:string, doc: "base64 of the bytes"],
    title: :string,
    _meta: :map

  @doc """
  Builds an item. Raises `ArgumentError` that names the invalid field, also if both or neither of `text` and `blob` are
  given.
  """
  def new(fields) do
    case super(fields) do
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
  The result of reading a resource: `contents`, a list of `McpServer.Resource.Content` or maps (required), and `_meta`.
  For clients of revision 2026-07-28, `ttl_ms` is how long the answer may be cached, in milliseconds, by default 0; and
  `cache_scope` is who may share it, by default `"private"`. With `"public"` caches may give it to all users: a resource
  that only some may read must not have it. The `ttl:` and `cache_scope:` of a router are for its lists.

      iex> content = McpServer.Resource.Content.new(uri: "file:///a.txt", text: "hi")
      iex> McpServer.Resource.ReadResult.new(contents: [content]).contents == [content]
      true
  """

  alias McpServer.Resource.Content

  use McpServer.Fields,
    contents: [{:list, {:struct, Content}}, required: true],
    _meta: :map,
    ttl_ms: :count,
    cache_scope: {:in, ~w(public private)}
end
