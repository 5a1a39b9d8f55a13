defmodule McpServer.Content do
  @moduledoc """
  The kinds of content that tool results and prompt messages are made of. Make them with
  `McpServer.Tool.Content` (or the functions of the same names in `McpServer.Controller`).

  | struct | |
  |---|---|
  | `McpServer.Content.Text` | Text. `mimeType` says what kind (`"text/markdown"`, `"application/json"`): an extra key that clients may ignore. |
  | `McpServer.Content.Image` | An image. `data` holds the raw bytes; base64 is made of them when the result is encoded. |
  | `McpServer.Content.Audio` | Sound. `data` holds the raw bytes; base64 is made of them when the result is encoded. Clients of revision 2024-11-05 do not know audio and are told `[audio/wav audio]` in its place. |
  | `McpServer.Content.EmbeddedResource` | A resource's content, put into the result itself. |
  | `McpServer.Content.ResourceLink` | A link to a resource the client may read later. Clients of revisions before 2025-06-18 do not know links and are told `name: uri` in its place. |
  """

  @type t ::
          McpServer.Content.Text.t()
          | McpServer.Content.Image.t()
          | McpServer.Content.Audio.t()
          | McpServer.Content.EmbeddedResource.t()
          | McpServer.Content.ResourceLink.t()
end

defmodule McpServer.Content.Text do
  @moduledoc false

  alias McpServer.Annotations

  use McpServer.Fields,
    text: [:string, required: true],
    mimeType: :string,
    annotations: {:struct, Annotations},
    _meta: :map
end

defmodule McpServer.Content.Image do
  @moduledoc false

  alias McpServer.Annotations

  use McpServer.Fields,
    data: [:string, required: true],
    mimeType: [:string, required: true],
    annotations: {:struct, Annotations},
    _meta: :map
end

defmodule McpServer.Content.Audio do
  @moduledoc false

  alias McpServer.Annotations

  use McpServer.Fields,
    data: [:string, required: true],
    mimeType: [:string, required: true],
    annotations: {:struct, Annotations},
    _meta: :map
end

defmodule McpServer.Content.EmbeddedResource do
  @moduledoc false

  alias McpServer.{Annotations, Resource}

  use McpServer.Fields,
    resource: [{:struct, Resource.Content}, required: true],
    annotations: {:struct, Annotations},
    _meta: :map
end

defmodule McpServer.Content.ResourceLink do
  @moduledoc false

  alias McpServer.{Annotations, Icon}

  use McpServer.Fields,
    uri: [:string, required: true],
    name: [:string, required: true],
    title: :string,
    description: :string,
    mimeType: :string,
    size: :count,
    icons: {:list, {:struct, Icon}},
    annotations: {:struct, Annotations},
    _meta: :map
end
