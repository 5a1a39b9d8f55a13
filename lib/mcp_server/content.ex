defmodule McpServer.Content do
  @moduledoc """
  The kinds of content that tool results and prompt messages are made of. Make them with
  `McpServer.Tool.Content` (or the functions of the same names in `McpServer.Controller`).
  """

  @type t ::
          McpServer.Content.Text.t()
          | McpServer.Content.Image.t()
          | McpServer.Content.Audio.t()
          | McpServer.Content.EmbeddedResource.t()
          | McpServer.Content.ResourceLink.t()
end

defmodule McpServer.Content.Text do
  @moduledoc """
  Text. `mimeType` says what kind (`"text/markdown"`, `"application/json"`): an extra key that clients
  may ignore.
  """

  alias McpServer.{Annotations, Fields}

  @enforce_keys [:text]
  defstruct [:text, :mimeType, :annotations, :_meta]

  @type t :: %__MODULE__{
          text: String.t(),
          mimeType: String.t() | nil,
          annotations: Annotations.t() | map | nil,
          _meta: map | nil
        }

  @table Fields.table(
           text: {:required, :string},
           mimeType: :string,
           annotations: {:struct, Annotations},
           _meta: :map
         )

  @doc "Builds text content; raises `ArgumentError` naming the field at fault."
  @spec new(keyword | map) :: t
  def new(fields), do: Fields.build!(__MODULE__, @table, fields)
end

defmodule McpServer.Content.Image do
  @moduledoc "An image. `data` holds the raw bytes; base64 is made of them when the result is encoded."

  alias McpServer.{Annotations, Fields}

  @enforce_keys [:data, :mimeType]
  defstruct [:data, :mimeType, :annotations, :_meta]

  @type t :: %__MODULE__{
          data: binary,
          mimeType: String.t(),
          annotations: Annotations.t() | map | nil,
          _meta: map | nil
        }

  @table Fields.table(
           data: {:required, :string},
           mimeType: {:required, :string},
           annotations: {:struct, Annotations},
           _meta: :map
         )

  @doc "Builds image content; raises `ArgumentError` naming the field at fault."
  @spec new(keyword | map) :: t
  def new(fields), do: Fields.build!(__MODULE__, @table, fields)
end

defmodule McpServer.Content.Audio do
  @moduledoc """
  Sound. `data` holds the raw bytes; base64 is made of them when the result is encoded. Clients of
  revision 2024-11-05 do not know audio and are told `[audio/wav audio]` in its place.
  """

  alias McpServer.{Annotations, Fields}

  @enforce_keys [:data, :mimeType]
  defstruct [:data, :mimeType, :annotations, :_meta]

  @type t :: %__MODULE__{
          data: binary,
          mimeType: String.t(),
          annotations: Annotations.t() | map | nil,
          _meta: map | nil
        }

  @table Fields.table(
           data: {:required, :string},
           mimeType: {:required, :string},
           annotations: {:struct, Annotations},
           _meta: :map
         )

  @doc "Builds audio content; raises `ArgumentError` naming the field at fault."
  @spec new(keyword | map) :: t
  def new(fields), do: Fields.build!(__MODULE__, @table, fields)
end

defmodule McpServer.Content.EmbeddedResource do
  @moduledoc "A resource's content, put into the result itself."

  alias McpServer.{Annotations, Fields, Resource}

  @enforce_keys [:resource]
  defstruct [:resource, :annotations, :_meta]

  @type t :: %__MODULE__{
          resource: Resource.Content.t() | map,
          annotations: Annotations.t() | map | nil,
          _meta: map | nil
        }

  @table Fields.table(
           resource: {:required, {:struct, Resource.Content}},
           annotations: {:struct, Annotations},
           _meta: :map
         )

  @doc "Builds an embedded resource; raises `ArgumentError` naming the field at fault."
  @spec new(keyword | map) :: t
  def new(fields), do: Fields.build!(__MODULE__, @table, fields)
end

defmodule McpServer.Content.ResourceLink do
  @moduledoc """
  A link to a resource the client may read later. Clients of revisions before 2025-06-18 do not know
  links and are told `name: uri` in its place.
  """

  alias McpServer.{Annotations, Fields, Icon}

  @enforce_keys [:uri, :name]
  defstruct [:uri, :name, :title, :description, :mimeType, :size, :icons, :annotations, :_meta]

  @type t :: %__MODULE__{
          uri: String.t(),
          name: String.t(),
          title: String.t() | nil,
          description: String.t() | nil,
          mimeType: String.t() | nil,
          size: non_neg_integer | nil,
          icons: [Icon.t() | map] | nil,
          annotations: Annotations.t() | map | nil,
          _meta: map | nil
        }

  @table Fields.table(
           uri: {:required, :string},
           name: {:required, :string},
           title: :string,
           description: :string,
           mimeType: :string,
           size: :count,
           icons: {:list, {:struct, Icon}},
           annotations: {:struct, Annotations},
           _meta: :map
         )

  @doc "Builds a link; raises `ArgumentError` naming the field at fault."
  @spec new(keyword | map) :: t
  def new(fields), do: Fields.build!(__MODULE__, @table, fields)
end
