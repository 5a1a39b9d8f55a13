defmodule Patterns.View do
  @moduledoc """
  How patterns are shown: the kinds of data the tools give, an index for Markdown, and a card.
  """
  use McpServer.Presentation, index: "pattern-index", card: "pattern-card"

  alias McpServer.Presentation
  alias McpServer.Presentation.Markdown

  text = [type: "string"]
  texts = [type: "array", items: text]
  count = [type: "integer", minimum: 0]
  counts = [type: "object", additionalProperties: count]
  difficulty = [enum: ["beginner", "intermediate", "advanced"]]

  provenance = [
    type: "object",
    properties: [source: text, timestamp: [type: "string", format: "date-time"], version: text, marker: text],
    required: ["source", "timestamp"]
  ]

  kind "patternSearchResults:v1",
    properties: [
      query: [
        type: "object",
        properties: [
          q: text,
          category: text,
          difficulty: difficulty,
          limit: [type: "integer", minimum: 1, maximum: 100],
          format: [enum: ["markdown", "json", "both"]]
        ],
        required: ["format"],
        additionalProperties: false
      ],
      metadata: [
        type: "object",
        properties: [
          totalCount: count,
          categories: counts,
          difficulties: counts,
          renderedCards: count,
          renderedCardIds: texts,
          contractMarkers: [
            type: "object",
            properties: [index: count, cards: count, version: [const: "v1"]],
            required: ["index", "cards", "version"],
            additionalProperties: false
          ]
        ],
        required: ["totalCount", "renderedCards", "renderedCardIds", "contractMarkers"]
      ],
      patterns: [
        type: "array",
        items: [
          type: "object",
          properties: [
            id: text,
            title: text,
            category: text,
            difficulty: difficulty,
            description: text,
            tags: texts
          ],
          required: ["id", "title", "category", "difficulty", "description"],
          additionalProperties: false
        ]
      ],
      provenance: provenance
    ],
    required: ["query", "metadata", "patterns"]

  kind "patternDetails:v1",
    properties: [
      id: text,
      title: text,
      category: text,
      difficulty: difficulty,
      summary: text,
      description: text,
      tags: texts,
      useGuidance: [type: "object", properties: [useWhen: text, avoidWhen: text]],
      sections: [
        type: "array",
        items: [
          type: "object",
          properties: [title: text, content: text, type: [enum: ["description", "example", "useCase", "related"]]],
          required: ["title", "content"]
        ]
      ],
      examples: [
        type: "array",
        items: [type: "object", properties: [code: text, language: text, description: text], required: ["code"]]
      ],
      provenance: provenance
    ],
    required: ["id", "title", "category", "difficulty", "summary", "description"]

  @doc "The table of all matches."
  @spec index([map]) :: String.t()
  def index(patterns) do
    rows =
      for pattern <- patterns do
        name = ["**", pattern["title"], "** (", Markdown.code_span(pattern["id"]), ")"]
        tags = Enum.join(pattern["tags"] || [], ", ")
        [IO.iodata_to_binary(name), pattern["category"], pattern["difficulty"], tags]
      end

    Markdown.table(["Pattern", "Category", "Difficulty", "Tags"], rows)
  end

  @doc "What a pattern is for, and how it is used."
  @spec card(map) :: String.t()
  def card(pattern) do
    example = List.first(pattern["examples"] || []) || %{}

    Markdown.card(
      pattern["title"],
      Presentation.marker(__MODULE__, :card),
      [{"Category", pattern["category"]}, {"Difficulty", pattern["difficulty"]}],
      [
        {"Use when", Markdown.sentence(pattern["useWhen"])},
        {"API", {:code, pattern["api"]}},
        {"Example", {:code_block, example["code"], example["language"] || "typescript"}},
        {"Notes", {:list, pattern["notes"]}}
      ]
    )
  end

  @doc "A pattern as data of the kind `patternDetails:v1`."
  @spec details(map, map) :: map
  def details(pattern, provenance) do
    description = pattern["details"] || pattern["description"]

    pattern
    |> Map.take(["id", "title", "category", "difficulty", "tags", "sections"])
    |> Map.merge(%{
      "summary" => pattern["summary"] || Presentation.summary(description),
      "description" => description,
      "useGuidance" => use_guidance(pattern),
      "examples" => examples(pattern["examples"]),
      "provenance" => provenance
    })
  end

  defp use_guidance(%{"useWhen" => use_when} = pattern),
    do: %{"useWhen" => use_when, "avoidWhen" => pattern["avoidWhen"]}

  defp use_guidance(_pattern), do: nil

  defp examples(nil), do: nil
  defp examples(examples), do: Enum.map(examples, &Map.put_new(&1, "language", "typescript"))
end
