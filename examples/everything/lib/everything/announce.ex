defmodule Everything.Announce do
  @moduledoc "Tools that tell every client that wants to know of a change."
  use McpServer.Controller

  alias Everything.MCP
  alias McpServer.Changes

  def tools(_conn, _args) do
    Changes.tools_changed(MCP)
    {:ok, [text("Announced a change of the tools.")]}
  end

  def prompts(_conn, _args) do
    Changes.prompts_changed(MCP)
    {:ok, [text("Announced a change of the prompts.")]}
  end

  def watched_resource(_conn, _args) do
    Changes.resource_updated(MCP, "test://watched-resource")
    {:ok, [text("Announced a change of test://watched-resource.")]}
  end
end
