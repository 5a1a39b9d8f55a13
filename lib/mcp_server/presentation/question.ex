defmodule McpServer.Presentation.Question do
  @moduledoc false
  # The questions of searches and lookups. The nouns for the results come from the user.

  alias McpServer.Presentation
  alias McpServer.Presentation.{Markdown, NeedsInput}

  @typedoc "The singular and the plural."
  @type nouns :: {String.t(), String.t()}

  # The maximum number of offered values per field. More values do not help.
  @max_values 50
  @max_similar 5

  @doc "Whether a query or an id is missing or blank."
  @spec blank?(String.t() | nil) :: boolean
  def blank?(text), do: text == nil or String.trim(text) == ""

  @doc "The question for a missing query."
  @spec empty_query(nouns, String.t(), [String.t()]) :: NeedsInput.t()
  def empty_query({one, many}, field, suggestions) do
    message = "What #{one} are you looking for? Please provide a search query."

    NeedsInput.new(
      message: message,
      fields: field,
      reason: "Search query is required to find relevant #{many}",
      suggestions: if(suggestions != [], do: %{field => suggestions}),
      markdown: ["## Search Query Needed\n\n", message]
    )
  end

  @doc "The question for too many results. `filters` are pairs of a field and its values among the results."
  @spec too_broad(nouns, pos_integer, [{String.t(), [String.t()]}]) :: NeedsInput.t()
  def too_broad({one, many}, total, filters) do
    filters = for {field, values} <- filters, do: {field, Enum.take(values, @max_values)}
    fields = Enum.map(filters, &elem(&1, 0))
    message = "Found #{total} #{many}. Would you like to narrow your search by #{alternatives(fields)}?"
    available = for {field, values} <- filters, do: ["\n- ", String.capitalize(field), ": ", available(values)]

    NeedsInput.new(
      message: message,
      fields: fields,
      reason: "Too many results (#{total}). Narrowing filters will help find the right #{one}.",
      suggestions: Map.new(filters),
      options:
        for({field, values} <- filters, value <- values, do: option(value, "Filter by #{value} #{field}", field)),
      markdown: ["## Narrow Your Search\n\n", message, "\n\n**Available filters:**", available]
    )
  end

  @doc "The question for an unknown id. `similar` are suggested ids."
  @spec unknown_id(nouns, String.t(), String.t(), [String.t()]) :: NeedsInput.t()
  def unknown_id({one, _many}, field, id, similar) do
    id = id |> Markdown.line() |> Presentation.summary()
    similar = similar |> Enum.uniq() |> Enum.take(@max_similar)
    thing = capitalized(one)
    message = "#{thing} \"#{id}\" not found. Please provide a valid #{one} ID."

    NeedsInput.new(
      message: message,
      fields: field,
      reason: "#{thing} ID \"#{id}\" is invalid or does not exist",
      suggestions: %{field => similar},
      options: Enum.map(similar, &option(&1, "#{thing} ID: #{&1}", field)),
      markdown: ["## #{thing} Not Found\n\n", message, did_you_mean(similar)]
    )
  end

  defp option(value, description, field), do: %{value: value, description: description, field: field}

  defp alternatives([field]), do: field
  defp alternatives(fields), do: Enum.join(Enum.drop(fields, -1), ", ") <> " or " <> List.last(fields)

  defp available([]), do: "any"
  defp available(values), do: Enum.map_join(values, ", ", &Markdown.line/1)

  defp did_you_mean([]), do: []
  defp did_you_mean(ids), do: ["\n\n**Did you mean:**" | Enum.map(ids, &["\n- ", Markdown.code_span(&1)])]

  defp capitalized(<<first::utf8, rest::binary>>), do: String.upcase(<<first::utf8>>) <> rest
  defp capitalized(""), do: ""
end
