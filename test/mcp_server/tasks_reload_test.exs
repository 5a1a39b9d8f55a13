defmodule McpServer.TasksReloadTest do
  # A task belongs to its tool, even if the recompiled router declares the tool at another position.
  use ExUnit.Case, async: true

  alias McpServer.{ReloadedRouter, Test}

  @router McpServer.TasksReloadTest.MCP

  defp tool(name, options \\ ""),
    do: ~s(tool "#{name}", "Echoes", McpServer.Handlers, :echo, task_support: :optional#{options})

  defp ask(client, method, params),
    do: Test.request(@router, %{"id" => 1, "method" => method, "params" => params}, on: client)

  test "it is found behind another tool, and not behind none" do
    texts = [
      first: ["use McpServer.Router", tool("a"), tool("b", ", undeclared: :pass")],
      moved: ["use McpServer.Router", tool("b"), tool("c", ", visible: fn _conn -> false end")],
      gone: ["use McpServer.Router", tool("c")]
    ]

    router = ReloadedRouter.compile(@router, for({name, lines} <- texts, do: {name, Enum.join(lines, "\n")}))
    ReloadedRouter.load(router, :first)
    client = Test.connect(@router, revision: "2025-11-25", principal: "ada")
    params = %{"name" => "b", "arguments" => %{"text" => "hello"}, "task" => %{}}
    id = %{"taskId" => ask(client, "tools/call", params)["result"]["task"]["taskId"]}

    for version <- [:first, :moved] do
      ReloadedRouter.load(router, version)
      assert [%{"type" => "text"}] = ask(client, "tasks/result", id)["result"]["content"]
      assert [_task] = ask(client, "tasks/list", %{})["result"]["tasks"]
    end

    ReloadedRouter.load(router, :gone)
    assert ask(client, "tasks/result", id)["error"] == %{"code" => -32602, "message" => "Task not found"}
    assert ask(client, "tasks/list", %{})["result"]["tasks"] == []
  end
end
