defmodule McpServer.Tool.CallResult do
  @moduledoc """
  What a tool answers, when a list of content is not enough.

  | field | type | meaning |
  |---|---|---|
  | `content` | list of content, required | what the model reads: `McpServer.Tool.Content` |
  | `structured_content` | map | data for the client's program, sent as `structuredContent`; it has to fit the tool's output schema |
  | `_meta` | map | anything about the result: its time, its source |
  | `is_error` | boolean | `true`: the call failed, and `content` says why; sent as `isError`, always |

  `structured_content` is what an MCP App renders; hosts keep it out of the model's context, so `content`
  has to say in words whatever the model should know.

      iex> McpServer.Tool.CallResult.new(content: [], structuredContent: %{"n" => 1})
      %McpServer.Tool.CallResult{content: [], structured_content: %{"n" => 1}}
  """

  alias McpServer.{Content, Fields}
  alias McpServer.Content.Text

  @enforce_keys [:content]
  defstruct [:content, :structured_content, :_meta, is_error: false]

  @type t :: %__MODULE__{
          content: [Content.t() | map],
          structured_content: map | nil,
          _meta: map | nil,
          is_error: boolean
        }

  @table Fields.table(content: {:required, :list}, structured_content: :map, _meta: :map, is_error: :boolean)

  @doc "Builds a result; raises `ArgumentError` naming the field at fault."
  @spec new(keyword | map) :: t
  def new(fields), do: Fields.build!(__MODULE__, @table, fields)

  @doc false
  # Clients that know no structured content still get the data, as text. The marker in the place of the text
  # tells the writer to make it, so that the data is written once.
  @spec structured(term, boolean) :: t
  def structured(data, is_error \\ false) do
    %__MODULE__{
      content: [%Text{text: {:structured_content, :compact}}],
      structured_content: data,
      is_error: is_error
    }
  end
end
