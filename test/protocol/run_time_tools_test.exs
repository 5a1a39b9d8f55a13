defmodule McpServer.Protocol.RunTimeToolsTest do
  # Run-time tools, tags and permissions over stdio in a separate VM, over the listener and over the plug. Not async: the
  # tools of one router are those of all its tests.
  use ExUnit.Case, async: false

  @moduletag :capture_log

  import McpServer.EveryWay, only: [ask_all: 3, text: 1, ways: 3]

  alias McpServer.ToolsRouter

  @session_era "2025-11-25"

  setup do
    on_exit(fn ->
      for name <- McpServer.Tools.names(ToolsRouter), do: :ok = McpServer.Tools.delete(ToolsRouter, name)
      for scope <- [ToolsRouter, {ToolsRouter, principal: "ada"}], do: McpServer.Tools.reset(scope, tag: "admin")
    end)
  end

  defp call(ways, name, arguments \\ %{}),
    do: ask_all(ways, "tools/call", %{"name" => name, "arguments" => arguments})

  defp switch(ways, how, whom) do
    for {way, result} <- call(ways, "switch", %{"how" => how, "whom" => whom}),
        do: assert({way, text(result)} == {way, "done"})
  end

  defp listed(ways, names) do
    for {way, %{"tools" => tools}} <- ask_all(ways, "tools/list", %{}),
        do: {way, for(%{"name" => name} <- tools, name in names, do: name)}
  end

  @tag :tmp_dir
  test "a client of each transport and era has them as declared tools", %{tmp_dir: tmp_dir} do
    for {principal, mine} <- [{"ada", ["of_ada", "mine"]}, {"eve", []}] do
      ways = ways(ToolsRouter, tmp_dir, principal: principal)
      for {way, result} <- call(ways, "setup"), do: assert({way, text(result)} == {way, "9 tools"})

      for {way, result} <- call(ways, "typed", %{"since" => "2026-07-28"}) do
        assert {way, text(result)} == {way, inspect(%{since: ~D[2026-07-28], limit: 10, nested: %{tags: []}})}
      end

      for {way, result} <- call(ways, "slow") do
        assert {way, result["isError"]} == {way, true}
        assert text(result) =~ "it did not finish within 50 ms"
      end

      for {way, names} <- listed(ways, ["of_ada", "of_editors", "mine", "role"]) do
        assert {way, Enum.sort(names)} == {way, Enum.sort(["of_editors", "role" | mine])}
      end

      for name <- ["of_ada", "mine"], {way, answer} <- call(ways, name) do
        if principal == "ada",
          do: assert({way, text(answer)} == {way, "%{}"}),
          else: assert({way, answer} == {way, %{"code" => -32602, "message" => "Tool '#{name}' not found"}})
      end

      for name <- ["of_editors", "role"], {way, answer} <- call(ways, name) do
        assert {way, answer} == {way, %{"code" => -32600, "message" => "Forbidden"}}
      end
    end
  end

  @tag :tmp_dir
  test "tags are enabled and disabled for a router, a principal and a session", %{tmp_dir: tmp_dir} do
    ways = ways(ToolsRouter, tmp_dir, principal: "ada")
    tagged = ["declared", "both", "tagged"]
    for {_way, _result} <- call(ways, "setup"), do: :ok

    there = fn ways, names ->
      assert listed(ways, tagged) == for({way, _ask} <- ways, do: {way, names})

      for name <- tagged, {way, answer} <- call(ways, name) do
        if name in names,
          do: assert({way, text(answer)} == {way, "%{}"}),
          else: assert({way, answer["message"]} == {way, "Tool '#{name}' not found"})
      end
    end

    there.(ways, tagged)
    switch(ways, "disable", "router")
    there.(ways, [])
    switch(ways, "enable", "principal")
    there.(ways, tagged)
    {sessions, others} = Enum.split_with(ways, fn {way, _ask} -> way =~ @session_era end)
    switch(sessions, "disable", "session")
    there.(sessions, [])
    there.(others, tagged)
  end
end
