defmodule McpServer.Tool.CallResult do
  @moduledoc """
  A complete result of a tool, for results with more than content.

  An MCP App renders `structured_content`. Hosts keep it out of the model's context, so `content` must have all
  information for the model.

      iex> McpServer.Tool.CallResult.new(content: [], structuredContent: %{"n" => 1})
      %McpServer.Tool.CallResult{content: [], structured_content: %{"n" => 1}}
  """

  alias McpServer.{Content, JSON}
  alias McpServer.Content.Text

  use McpServer.Fields,
    content: [
      :list,
      required: true,
      type: [Content.t() | map],
      doc: "the content for the model: `McpServer.Tool.Content`"
    ],
    structured_content: [
      :map,
      doc: "data for the client's program, sent as `structuredContent`; it must satisfy the tool's output schema"
    ],
    _meta: [:map, doc: "further data, such as the time or the source of the result"],
    is_error: [
      :boolean,
      default: false,
      doc: "`true`: the call failed, and `content` has the reason; always sent as `isError`"
    ]

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

  @doc false
  # The same with the texts that a writer would make, for a reader that is no writer.
  @spec with_texts(t) :: t
  def with_texts(%__MODULE__{content: content} = result) when is_list(content),
    do: %{result | content: Enum.map(content, &with_text(&1, result.structured_content))}

  defp with_text(%Text{text: {:structured_content, form}} = block, data), do: written(block, data, form, [])
  defp with_text(%Text{text: {:structured_content, form, order}} = block, data), do: written(block, data, form, order)
  defp with_text(block, _data), do: block

  defp written(block, data, form, order),
    do: %{block | text: JSON.encode!(data, pretty: form == :pretty, order: order)}
end
