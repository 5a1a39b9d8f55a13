defmodule McpServer.Icon do
  @moduledoc """
  An icon of the server, a tool, a prompt or a resource (sent from revision 2025-11-25 on).

  | field | type | meaning |
  |---|---|---|
  | `src` | string, required | an `https:` or `data:` URI of the image |
  | `mimeType` | string | `"image/png"`, `"image/svg+xml"`, … |
  | `sizes` | list of strings | `"48x48"`, or `"any"` for scalable images |
  | `theme` | `"light"` or `"dark"` | the background it is made for |

      iex> McpServer.Icon.new(src: "https://example.com/icon.png", mime_type: "image/png")
      %McpServer.Icon{src: "https://example.com/icon.png", mimeType: "image/png"}
  """

  alias McpServer.Fields

  @enforce_keys [:src]
  defstruct [:src, :mimeType, :sizes, :theme]

  @type t :: %__MODULE__{
          src: String.t(),
          mimeType: String.t() | nil,
          sizes: [String.t()] | nil,
          theme: String.t() | nil
        }

  @table Fields.table(
           src: {:required, :string},
           mimeType: :string,
           sizes: {:list, :string},
           theme: {:in, ~w(light dark)}
         )

  @doc "Builds an icon; raises `ArgumentError` naming the field at fault."
  @spec new(keyword | map) :: t
  def new(fields), do: Fields.build!(__MODULE__, @table, fields)
end
