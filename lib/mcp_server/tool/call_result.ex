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
      :any,
      type: map | list | String.t() | number | boolean | nil,
      doc:
        "data for the client's program, sent as `structuredContent`; it must satisfy the tool's output schema. Before " <>
          "2026-07-28 only a map is sent"
    ],
    _meta: [:map, doc: "further data, such as the time or the source of the result"],
    is_error: [
      :boolean,
      default: false,
      doc: "`true`: the call failed, and `content` has the reason; always sent as `isError`"
    ]

  @doc false
  # Clients without structured content also get the data, as text. The text is a marker, and the encoder replaces it, so
  # that the data is encoded only once.
  @spec structured(term, boolean) :: t
  def structured(data, is_error \\ false) do
    %__MODULE__{
      content: [%Text{text: {:structured_content, :compact}}],
      structured_content: data,
      is_error: is_error
    }
  end

  @doc false
  # Replaces the markers by their texts, for readers of the result that do not use the encoder.
  @spec with_texts(t) :: t
  def with_texts(%__MODULE__{content: content} = result) when is_list(content),
    do: %{result | content: Enum.map(content, &with_text(&1, result.structured_content))}

  defp with_text(%Text{text: {:structured_content, form}} = block, data), do: written(block, data, form, [])
  defp with_text(%Text{text: {:structured_content, form, order}} = block, data), do: written(block, data, form, order)
  defp with_text(block, _data), do: block

  defp written(block, data, form, order),
    do: %{block | text: JSON.encode!(data, pretty: form == :pretty, order: order)}
end
