defmodule Institutions.MCP do
  @moduledoc """
  One tool that may find thousands of rows: the model gets fifteen and a link, the host gets all of them behind it.
  """
  use McpServer.Router,
    name: "institutions",
    version: "1.0.0",
    title: "Colleges and universities",
    instructions: "search_institutions answers with a sample. The host has the whole result behind the link."

  tool "search_institutions", "Finds colleges and universities", Institutions.Search, :search,
    hints: [:read_only, :non_destructive, :idempotent, :closed_world] do
    input_field "state", "Two letters, such as CA", :string, min_length: 2, max_length: 2
    input_field "control", "Who runs it", :string, enum: ["public", "private"]
    input_field "min_enrollment", "How many students at least", :integer, minimum: 0
  end

  dual_responses Institutions.Results
end
