defmodule McpServer.PresentationView do
  @moduledoc false
  # Kinds, renderers and tools for the things of the tests.
  use McpServer.Presentation, index: "thing-index", card: "thing-card", secrets: ["hunter2", ~r/s3cr.t/]

  alias McpServer.Presentation
  alias McpServer.Presentation.Markdown

  kind "thingSearchResults:v1",
    properties: [
      query: [type: "object", properties: [q: [type: "string"], limit: [type: "integer"], format: [type: "string"]]],
      metadata: [type: "object"],
      things: [type: "array", items: [type: "object", properties: [id: [type: "string"], title: [type: "string"]]]],
      provenance: [type: "object", properties: [source: [type: "string"], timestamp: [type: "string"]]]
    ],
    required: ["query", "metadata", "things"]

  kind "thing:v1",
    properties: [
      title: [type: "string"],
      id: [type: "string"],
      sections: [
        type: "array",
        items: [
          type: "object",
          properties: [title: [type: "string"], type: [enum: ["description", "example", "useCase", "related"]]]
        ]
      ],
      note: [type: "string"]
    ],
    required: ["id", "title"]

  @doc "A thing of a group."
  def thing(number, group \\ "round", size \\ "small") do
    %{
      "id" => "t#{number}",
      "title" => "Thing #{number}",
      "group" => group,
      "size" => size,
      "about" => "About #{number}"
    }
  end

  def index(things), do: Markdown.table(["Thing", "Group"], for(thing <- things, do: [thing["title"], thing["group"]]))

  def card(thing),
    do:
      Markdown.card(thing["title"], Presentation.marker(__MODULE__, :card), [{"Group", thing["group"]}], [
        {"About", thing["about"]}
      ])

  @doc "The options of a search that finds these things."
  def options(things, more \\ []) do
    Keyword.merge(
      [
        kind: "thingSearchResults:v1",
        find: fn _arguments -> things end,
        items: "things",
        summary: ["id", "title", "group", "size", "tags"],
        filters: [group: [count: "groups"], size: [count: "sizes", values: ["small", "large"]]],
        nouns: {"thing", "things"},
        suggestions: ["round things"],
        index: &__MODULE__.index/1,
        card: &__MODULE__.card/1
      ],
      more
    )
  end

  def search(_conn, arguments) do
    Presentation.respond(__MODULE__, arguments, fn _format ->
      count = String.to_integer(arguments["count"] || "5")
      Presentation.search(__MODULE__, arguments, options(for(n <- 1..count//1, do: thing(n))))
    end)
  end

  def get(conn, arguments) do
    Presentation.respond(__MODULE__, arguments, fn _format ->
      Presentation.lookup(__MODULE__, arguments,
        kind: "thing:v1",
        nouns: {"thing", "things"},
        find: &find/1,
        similar: fn _id -> for n <- 1..7, do: "t#{n}" end,
        payload: &Map.take(&1, ["id", "title"]),
        markdown: &card/1,
        conn: conn
      )
    end)
  end

  defp find("raise"), do: raise("the disk at /var/lib/things is gone")
  defp find("throw"), do: throw(:away)
  defp find("exit"), do: exit(:now)
  defp find("busy"), do: {:error, {:status, 503}}
  defp find("t" <> number), do: {:ok, thing(number)}
  defp find(_id), do: :error
end

defmodule McpServer.PresentationRouter do
  @moduledoc false
  use McpServer.Router

  alias McpServer.{Presentation, PresentationView}

  tool "search", "Searches things", PresentationView, :search,
    output_schema: Presentation.output_schema(PresentationView, ["thingSearchResults:v1"]) do
    input_field "q", "What", :string
    input_field "count", "How many there are", :string
    input_field "limit", "How many to list", :integer, minimum: 1, maximum: 100
    input_field "group", "Only these", :string
    input_field "format", "How", :string
  end

  tool "get", "Gives a thing", PresentationView, :get do
    input_field "id", "Which", :string, required: true
    input_field "format", "How", :string, enum: ["markdown", "json", "both"]
  end
end
