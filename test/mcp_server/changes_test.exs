defmodule McpServer.ChangesTest do
  use ExUnit.Case, async: true

  alias McpServer.Changes

  test "a change reaches who listens to that router, and nobody else" do
    :ok = Changes.listen(ChangesTest.Router)
    :ok = Changes.tools_changed(ChangesTest.Router)
    assert_received {:mcp_change, :tools}
    :ok = Changes.prompts_changed(ChangesTest.Router)
    assert_received {:mcp_change, :prompts}
    :ok = Changes.resources_changed(ChangesTest.Router)
    assert_received {:mcp_change, :resources}
    :ok = Changes.resource_updated(ChangesTest.Router, "a:1")
    assert_received {:mcp_change, {:resource, "a:1"}}
    :ok = Changes.tools_changed(ChangesTest.Other)
    refute_received {:mcp_change, _}
  end

  test "nobody listening is fine" do
    assert Changes.tools_changed(ChangesTest.Nobody) == :ok
  end
end
