defmodule Patterns.Tools do
  @moduledoc "The functions behind the tools."

  alias McpServer.Presentation
  alias Patterns.{Catalogue, View}

  @nouns {"pattern", "patterns"}

  @doc "Searches the catalogue."
  @spec search_patterns(McpServer.Conn.t(), map) :: Presentation.result()
  def search_patterns(conn, arguments) do
    Presentation.respond(View, arguments, fn _format ->
      Presentation.search(View, arguments,
        kind: "patternSearchResults:v1",
        find: &Catalogue.search/1,
        items: "patterns",
        summary: ~w(id title category difficulty description tags),
        filters: [
          category: [count: "categories"],
          difficulty: [count: "difficulties", values: ~w(beginner intermediate advanced)]
        ],
        nouns: @nouns,
        suggestions: ["error handling", "service pattern", "concurrency", "resource management"],
        index: &View.index/1,
        card: &View.card/1,
        title: "Effect Pattern Search Results",
        details_tool: "get_pattern",
        provenance: fn -> Catalogue.provenance() end,
        conn: forms(conn)
      )
    end)
  end

  @doc "Gives one pattern."
  @spec get_pattern(McpServer.Conn.t(), map) :: Presentation.result()
  def get_pattern(conn, arguments) do
    Presentation.respond(View, arguments, fn _format ->
      provenance = Presentation.provenance(View, Catalogue.provenance() ++ [marker: "v1"])

      Presentation.lookup(View, arguments,
        kind: "patternDetails:v1",
        find: &Catalogue.fetch/1,
        payload: &View.details(&1, provenance),
        markdown: &View.card/1,
        cards: 1,
        similar: &Catalogue.similar_ids/1,
        nouns: @nouns,
        conn: forms(conn)
      )
    end)
  end

  # Who starts the server decides whether clients that can are asked by forms: `config :patterns, forms: true`.
  defp forms(conn), do: if(Application.get_env(:patterns, :forms, false), do: conn)
end
