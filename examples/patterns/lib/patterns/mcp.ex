defmodule Patterns.MCP do
  @moduledoc """
  The server.

      mix mcp.stdio Patterns.MCP
      mix mcp.http Patterns.MCP --port 4040
  """
  use McpServer.Router,
    name: "effect-patterns",
    version: "1.0.0",
    title: "Effect patterns",
    instructions: "Search the patterns first, then get the ones you need by their ids."

  alias McpServer.Presentation
  alias Patterns.{Tools, View}

  @categories ~w(validation service error-handling composition concurrency streams resource scheduling)
  @hints [:read_only, :non_destructive, :idempotent, :closed_world]

  tool "search_patterns", "Searches the Effect patterns", Tools, :search_patterns,
    hints: @hints,
    output_schema: Presentation.output_schema(View, ["patternSearchResults:v1"]) do
    input_field "q", "What to search for", :string, maxLength: 200
    input_field "category", "Only patterns of this category", :string, enum: @categories
    input_field "difficulty", "Only patterns of this difficulty", :string, enum: ~w(beginner intermediate advanced)
    input_field "limit", "How many matches to list", :integer, minimum: 1, maximum: 100
    input_field "format", "Markdown for people, JSON for programs, or both", :string, enum: ~w(markdown json both)
    input_field "includeProvenancePanel", "Whether to say where the patterns are from", :boolean
  end

  tool "get_pattern", "Gives one pattern, by its id", Tools, :get_pattern,
    hints: @hints,
    output_schema: Presentation.output_schema(View, ["patternDetails:v1"]) do
    input_field "id", "The id, as the search has it", :string, required: true, maxLength: 200
    input_field "format", "Markdown for people, JSON for programs, or both", :string, enum: ~w(markdown json both)
  end
end
