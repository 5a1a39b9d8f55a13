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
    :ok = Changes.want(ChangesTest.Router, [{:resource, "a:1"}])
    :ok = Changes.resource_updated(ChangesTest.Router, "a:1")
    assert_received {:mcp_change, {:resource, "a:1"}}
    :ok = Changes.resource_updated(ChangesTest.Router, "a:2")
    :ok = Changes.tools_changed(ChangesTest.Other)
    :ok = Changes.unwant(ChangesTest.Router, {:resource, "a:1"})
    :ok = Changes.resource_updated(ChangesTest.Router, "a:1")
    refute_received {:mcp_change, _}
  end

  test "what is for one recipient wakes nobody else" do
    ada = {:principal, :erlang.term_to_binary("ada", [:deterministic, minor_version: 2])}
    :ok = Changes.listen(ChangesTest.Narrow)
    :ok = Changes.want(ChangesTest.Narrow, to: ada, to: {:session, "a"})
    :ok = Changes.tools_changed(ChangesTest.Narrow, to: [principal: "ada"])
    assert_received {:mcp_change, :tools, ^ada}
    :ok = Changes.tools_changed(ChangesTest.Narrow, to: [session: "a"])
    assert_received {:mcp_change, :tools, {:session, "a"}}
    for to <- [[principal: "bob"], [session: "b"]], do: Changes.tools_changed(ChangesTest.Narrow, to: to)
    refute_received {:mcp_change, _change, _recipient}
  end

  # Earlier, each list change for one session woke all streams of the router, in the process of all run-time tools.
  test "what is for one recipient wakes no stream of another" do
    :ok = Changes.listen(ChangesTest.Stream, [:tools])
    for to <- [[principal: "bob"], [session: "b"]], do: Changes.tools_changed(ChangesTest.Stream, to: to)
    refute_received {:mcp_change, _change, _recipient}
    :ok = Changes.tools_changed(ChangesTest.Stream)
    assert_received {:mcp_change, :tools}
  end

  test "options that would notify everybody by mistake are refused with what to write" do
    :ok = Changes.listen(ChangesTest.Refused)
    write = "Write to: [principal: principal], or to: [session: id]"

    for {options, got} <- [
          {[principal: "ada"], "[principal: #String<3 bytes>]"},
          {[for: [principal: "ada"]], "[for: [principal: #String<3 bytes>]]"},
          {[to: [session: "s"], only: true], "[to: [session: #String<1 bytes>], only: true]"},
          {"ada", "#String<3 bytes>"},
          {{:principal, "ada"}, "{:principal, #String<3 bytes>}"}
        ],
        notify <- [
          &Changes.tools_changed/2,
          &Changes.prompts_changed/2,
          &Changes.resources_changed/2,
          &Changes.resource_updated(&1, "a:1", &2)
        ] do
      assert_raise ArgumentError, "a change has only the option to:. #{write}, got: #{got}", fn ->
        notify.(ChangesTest.Refused, options)
      end
    end

    for to <- [[], "ada", [user: "ada"], nil] do
      assert_raise ArgumentError, "to: of a change: write principal: principal, or session: id", fn ->
        Changes.tools_changed(ChangesTest.Refused, to: to)
      end
    end

    refute_received {:mcp_change, _change}
    refute_received {:mcp_change, _change, _recipient}
  end

  test "nobody listening is fine" do
    assert Changes.tools_changed(ChangesTest.Nobody) == :ok
  end
end
