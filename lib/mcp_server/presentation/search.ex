defmodule McpServer.Presentation.Search do
  @moduledoc false
  # A search tool around a search function. `McpServer.Presentation.search/3` documents it.

  alias McpServer.{Fields, JSON, Presentation}
  alias McpServer.Presentation.{Declaration, Markdown, NeedsInput, Output, Provenance, Question, ToolError}

  @options Fields.table(
             [
               kind: [:string, required: true],
               find: [:any, required: true],
               items: :string,
               summary: :any,
               id: :any,
               query: :string,
               filters: :list,
               nouns: :any,
               suggestions: {:list, :string},
               index: :any,
               card: :any,
               cards: :count,
               title: :string,
               details_tool: :string,
               too_broad: :any,
               max_limit: :count,
               provenance: :any,
               format: :string,
               conn: :any
             ],
             "option"
           )

  @defaults %{
    items: "items",
    summary: nil,
    id: "id",
    query: "q",
    filters: [],
    nouns: {"item", "items"},
    suggestions: [],
    index: nil,
    card: nil,
    cards: 3,
    too_broad: 20,
    title: "Search Results",
    details_tool: nil,
    max_limit: 100,
    provenance: nil,
    conn: nil
  }

  @max_cards 10

  @doc false
  @spec run(Presentation.t(), map, keyword) :: Presentation.result()
  def run(view, arguments, options) do
    options = options!(options)
    arguments = if options.conn, do: NeedsInput.answers(options.conn, arguments), else: arguments

    with {:ok, {format, _markdown?, _json?}} <- Output.format(options[:format] || arguments["format"]),
         :ok <- limited(arguments["limit"], options.max_limit) do
      search(view, arguments, format, options)
    else
      {:error, failure} -> {:ok, ToolError.present(failure, view, [])}
    end
  end

  defp options!(given) do
    options = Map.merge(@defaults, Fields.gather!("search/3", @options, given))

    options.cards in 1..@max_cards ||
      raise ArgumentError, "cards of search/3 has to be from 1 to #{@max_cards}, got: #{options.cards}"

    filters =
      for {field, filter} <- options.filters, do: {to_string(field), Keyword.validate!(filter, [:count, :values])}

    %{options | filters: filters}
  end

  defp limited(nil, _max), do: :ok
  defp limited(limit, max) when is_integer(limit) and limit in 1..max//1, do: :ok
  defp limited(_limit, max), do: {:error, ToolError.new(:client_error, "limit has to be an integer from 1 to #{max}")}

  defp search(view, arguments, format, options) do
    query = arguments[options.query]
    query = if is_binary(query), do: query

    if Question.blank?(query) do
      options.nouns |> Question.empty_query(options.query, options.suggestions) |> ask(view, format, options)
    else
      case options.find.(arguments) do
        {:ok, matches} -> answer(view, arguments, matches, format, options)
        {:error, reason} -> {:ok, reason |> ToolError.from() |> ToolError.present(view, format: format)}
        matches when is_list(matches) -> answer(view, arguments, matches, format, options)
      end
    end
  end

  defp ask(question, view, format, options), do: NeedsInput.ask(question, view, format: format, conn: options.conn)

  defp answer(view, arguments, matches, format, options) do
    total = length(matches)

    if too_broad?(total, arguments, options) do
      filters =
        for {field, filter} <- options.filters, do: {field, matches |> counts(field, filter) |> Enum.map(&elem(&1, 0))}

      options.nouns |> Question.too_broad(total, filters) |> ask(view, format, options)
    else
      {:ok, present(view, arguments, matches, total, format, options)}
    end
  end

  defp too_broad?(_total, _arguments, %{too_broad: :infinity}), do: false
  # Without filters the search cannot be narrowed.
  defp too_broad?(_total, _arguments, %{filters: []}), do: false

  defp too_broad?(total, arguments, options) do
    filtered? = Enum.any?(options.filters, fn {field, _filter} -> arguments[field] not in [nil, ""] end)
    not filtered? and total > options.too_broad
  end

  # The values with their counts, in the declared order or in that of the matches.
  defp counts(matches, field, filter) do
    read = reader(field)
    values = matches |> Enum.map(read) |> Enum.reject(&is_nil/1) |> Enum.map(&to_string/1)
    frequencies = Enum.frequencies(values)
    declared = Enum.map(filter[:values] || [], &to_string/1)
    order = Enum.filter(Enum.uniq(declared), &is_map_key(frequencies, &1)) ++ (Enum.uniq(values) -- declared)
    for value <- order, do: {value, Map.fetch!(frequencies, value)}
  end

  # The key of a member may be a text or an atom.
  defp reader(read) when is_function(read, 1), do: read

  defp reader(name) do
    atom = existing_atom(name)
    fn match -> with nil <- Map.get(match, name), do: Map.get(match, atom) end
  end

  defp existing_atom(name) do
    String.to_existing_atom(name)
  rescue
    ArgumentError -> nil
  end

  defp present(view, arguments, matches, total, format, options) do
    listed = Enum.take(matches, arguments["limit"] || total)
    rendered = if options.card && format != "json", do: Enum.take(listed, options.cards), else: []
    cards = length(rendered)
    page = if format == "json", do: "", else: page(view, arguments, listed, rendered, total, options)
    markers = Output.contract_markers(view, page)

    provenance = provenance(view, arguments, options.provenance)

    payload = %{
      "query" => echo(arguments, format, options),
      "metadata" => metadata(matches, total, rendered, markers, options),
      options.items => Enum.map(listed, summary(options.summary)),
      "provenance" => provenance
    }

    blocks = [markdown: page, extras: panel(provenance), cards: cards]
    Output.present(view, options.kind, payload, [format: format] ++ blocks)
  end

  defp echo(arguments, format, options) do
    fields = [options.query, "limit" | Enum.map(options.filters, &elem(&1, 0))]
    given = for {key, value} <- Map.take(arguments, fields), value != nil, into: %{}, do: {key, value}
    Map.put(given, "format", format)
  end

  defp metadata(matches, total, rendered, markers, options) do
    counted =
      for {field, filter} <- options.filters,
          into: %{},
          do: {filter[:count] || field, Map.new(counts(matches, field, filter))}

    id = reader(options.id)

    Map.merge(counted, %{
      "totalCount" => total,
      "renderedCards" => length(rendered),
      "renderedCardIds" => Enum.map(rendered, id),
      "contractMarkers" => markers
    })
  end

  defp summary(nil), do: & &1
  defp summary(fun) when is_function(fun, 1), do: fun

  defp summary(names) do
    readers = for name <- names, do: {to_string(name), reader(to_string(name))}
    fn match -> for {name, read} <- readers, (value = read.(match)) not in [nil, []], into: %{}, do: {name, value} end
  end

  defp provenance(view, %{"includeProvenancePanel" => true}, provenance) when provenance != nil do
    members = if is_function(provenance, 0), do: provenance.(), else: provenance
    Provenance.public(members, view.secrets)
  end

  defp provenance(_view, _arguments, _provenance), do: nil

  defp panel(nil), do: []
  defp panel(provenance), do: [["## Provenance\n" | Enum.map(provenance, &panel_line/1)]]

  defp panel_line({name, value}) when is_map(value) or is_list(value), do: panel_line({name, JSON.encode!(value)})
  defp panel_line({name, value}), do: ["\n- ", Markdown.line(name), ": ", Markdown.line(to_string(value))]

  defp page(_view, arguments, [], _rendered, _total, options) do
    {_one, many} = options.nouns
    "No #{many} found for \"#{query(arguments, options)}\"."
  end

  defp page(view, arguments, listed, rendered, total, options) do
    IO.iodata_to_binary([
      ["## ", options.title, " for \"", query(arguments, options), "\"\n\n"],
      introduction(total, rendered, options),
      if(options.index, do: ["\n\n## Index\n\n", index_marker(view), options.index.(listed)], else: []),
      cards(rendered, options)
    ])
  end

  defp query(arguments, options), do: arguments[options.query] |> Markdown.line() |> Presentation.summary()

  defp introduction(total, rendered, %{nouns: {one, many}, details_tool: tool}) do
    follows = if rendered != [], do: " Detailed documentation for the top results follows.", else: ""
    tool = if tool, do: " Use #{one} IDs from the Index with '#{tool}' for additional deep-dives.", else: ""
    "Found **#{total}** matching #{many}.#{follows}#{tool}"
  end

  defp index_marker(%{index: nil}), do: []
  defp index_marker(view), do: [Declaration.marker!(view, :index), "\n"]

  defp cards([], _options), do: []

  defp cards(rendered, %{nouns: {_one, many}} = options) do
    heading = "\n\n## Top #{length(rendered)} #{title(many)}"
    [heading | Enum.map(rendered, &["\n\n", options.card.(&1)])]
  end

  defp title(words), do: words |> String.split(" ") |> Enum.map_join(" ", &String.capitalize/1)
end
