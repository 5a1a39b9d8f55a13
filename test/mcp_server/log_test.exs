defmodule McpServer.LogTest do
  # Each return of a handler logs one line. Other tests log at the same time, so the tests find lines by the called name.
  use ExUnit.Case, async: true
  use McpServer.Test, router: McpServer.RateRouter

  import McpServer.TestLog

  defp lines(fun),
    do:
      for(
        line <- String.split(capture_log(fun), "\n"),
        [found] <- [Regex.run(~r/MCP (?:tool|prompt) .*/, line)],
        do: String.replace(found, ~r/ in \d+ ms/, " in N ms")
      )

  for revision <- ["2025-11-25", "2026-07-28"] do
    @revision revision

    test "#{revision}: how each call ended, without its arguments" do
      lines =
        lines(fn ->
          call_tool("fails", %{}, revision: @revision)
          call_tool("raises", %{}, revision: @revision)
          get_prompt("hello", %{"who" => "log secret #{@revision}"}, revision: @revision)
          call_tool("shown", %{"who" => String.duplicate("é", 2_000)}, revision: @revision)
        end)

      assert ~s(MCP tool "fails": error in N ms) in lines
      assert ~s(MCP tool "raises": raised RuntimeError in N ms) in lines
      assert ~s(MCP prompt "hello": ok in N ms) in lines
      assert [shown] = Enum.uniq(for ~s(MCP tool "shown": ok in N ms, ) <> shown <- lines, do: shown)
      assert shown == ~s(%{"who" => "#{String.duplicate("é", 200)}) <> ~s(" <> ...})
      refute Enum.any?(lines, &(&1 =~ "secret"))
    end

    test "#{revision}: a line stands for a return of the handler, not for the end of the call" do
      lines =
        lines(fn ->
          assert {:ok, %{"isError" => true}} = call_tool("late", %{}, revision: @revision)
          call_tool("wrong", %{}, revision: @revision)
          answers = %{"elicitation/create" => %{"action" => "accept", "content" => %{}}}

          assert {:ok, %{"content" => [%{"text" => "done"}]}} =
                   call_tool("asked", %{}, revision: @revision, answers: answers)
        end)

      assert for(line <- lines, line =~ ~r/"(late|wrong|asked)"/, do: line) == [
               ~s(MCP tool "wrong": ok in N ms),
               ~s(MCP tool "asked": input_required in N ms),
               ~s(MCP tool "asked": ok in N ms)
             ]
    end
  end
end
