defmodule Institutions.Search do
  @moduledoc "The tool: a query becomes a dual response."

  alias Institutions.Table
  alias McpServer.DualResponse

  @columns [
    %{name: "id", type: "number"},
    %{name: "name", type: "string"},
    %{name: "city", type: "string"},
    %{name: "state", type: "string"},
    %{name: "control", type: "string"},
    %{name: "founded", type: "number"},
    %{name: "enrollment", type: "number"}
  ]

  @doc "All institutions that meet the arguments."
  def search(_conn, arguments) do
    wanted = Map.take(arguments, ["state", "control", "min_enrollment"])

    DualResponse.create_response(Institutions.Results,
      name: "Institutions",
      execute: {Table, :page, [wanted]},
      count: {Table, :count, [wanted]},
      columns: @columns,
      metadata: %{"query" => wanted}
    )
  end
end
