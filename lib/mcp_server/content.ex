defmodule McpServer.Content do
  @moduledoc """
  The kinds of content in tool results and prompt messages.

  The functions of `McpServer.Tool.Content` build them, and so do the functions of the same names in
  `McpServer.Controller`.

  | struct | holds |
  |---|---|
  | `McpServer.Content.Text` | a text |
  | `McpServer.Content.Image` | an image |
  | `McpServer.Content.Audio` | sound |
  | `McpServer.Content.EmbeddedResource` | the content of a resource, inside the result |
  | `McpServer.Content.ResourceLink` | a link to a resource that the client may read later |
  """

  alias McpServer.Content.{Audio, EmbeddedResource, Image, ResourceLink, Text}

  @type t :: Text.t() | Image.t() | Audio.t() | EmbeddedResource.t() | ResourceLink.t()
end

defmodule McpServer.Content.Text do
  @moduledoc "A text, made by `McpServer.Tool.Content.text/2`."

  alias McpServer.Annotations

  use McpServer.Fields,
    text: [:string, required: true],
    mimeType: [:string, doc: "such as `\"text/markdown\"`; an extra key that clients may ignore"],
    annotations: {:struct, Annotations},
    _meta: :map
end

defmodule McpServer.Content.Image do
  @moduledoc "An image, made by `McpServer.Tool.Content.image/3`."

  alias McpServer.Annotations

  use McpServer.Fields,
    data: [:string, required: true, doc: "the raw bytes; the encoder writes them as base64"],
    mimeType: [:string, required: true],
    annotations: {:struct, Annotations},
    _meta: :map
end

defmodule McpServer.Content.Audio do
  @moduledoc """
  Sound, made by `McpServer.Tool.Content.audio/3`.

  Revision 2024-11-05 has no audio. Its clients get the text `[audio/wav audio]` instead.
  """

  alias McpServer.Annotations

  use McpServer.Fields,
    data: [:string, required: true, doc: "the raw bytes; the encoder writes them as base64"],
    mimeType: [:string, required: true],
    annotations: {:struct, Annotations},
    _meta: :map
end

defmodule McpServer.Content.EmbeddedResource do
  @moduledoc "The content of a resource inside a result, made by `McpServer.Tool.Content.resource/2`."

  alias McpServer.{Annotations, Resource}

  use McpServer.Fields,
    resource: [{:struct, Resource.Content}, required: true],
    annotations: {:struct, Annotations},
    _meta: :map
end

defmodule McpServer.Content.ResourceLink do
  @moduledoc """
  A link to a resource that the client may read later, made by `McpServer.Tool.Content.resource_link/3`.

  Revisions before 2025-06-18 have no links. Their clients get the text `name: uri` instead.
  """

  alias McpServer.{Annotations, Icon}

  use McpServer.Fields,
    uri: [:string, required: true],
    name: [:string, required: true],
    title: :string,
    description: :string,
    mimeType: :string,
    size: [:count, doc: "bytes"],
    icons: {:list, {:struct, Icon}},
    annotations: {:struct, Annotations},
    _meta: :map
end
