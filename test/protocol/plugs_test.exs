defmodule McpServer.Protocol.PlugsTest do
  # The effect of `plug` on calls: equal over the transports, in `McpServer.Test` and in the generated callbacks.
  use ExUnit.Case, async: true
  use McpServer.Test, router: McpServer.PlugRouter

  import ExUnit.CaptureLog
  import McpServer.EveryWay, only: [ask_all: 3, ways: 2]

  alias McpServer.{Conn, EveryWay, PlugRouter}

  @eras ["2025-11-25", "2026-07-28"]
  @traces %{
    "outside" => "router:tool:outside",
    "inside" => "router:tool:inside scope:tool:inside own:tool:inside",
    "deep" => "router:tool:deep scope:tool:deep inner:tool:deep"
  }

  @tag :tmp_dir
  test "on the wire: around tools, prompts, resources and completions, in order", %{tmp_dir: tmp_dir} do
    ways = ways(PlugRouter, tmp_dir)

    for {name, trace} <- @traces, {way, result} <- ask_all(ways, "tools/call", %{"name" => name, "arguments" => %{}}) do
      assert {way, EveryWay.text(result)} == {way, trace}
    end

    for {way, result} <- ask_all(ways, "prompts/get", %{"name" => "greet", "arguments" => %{"name" => "Ada"}}) do
      assert %{"messages" => [%{"content" => %{"text" => text}}]} = result
      assert {way, text} == {way, "Ada router:prompt:greet scope:prompt:greet"}
    end

    for {way, result} <- ask_all(ways, "resources/read", %{"uri" => "plug://notes/7"}) do
      assert %{"contents" => [%{"text" => text}]} = result
      assert {way, text} == {way, "router:resource:note own:resource:note"}
    end

    complete = %{
      "ref" => %{"type" => "ref/prompt", "name" => "greet"},
      "argument" => %{"name" => "name", "value" => "A"}
    }

    for {way, result} <- ask_all(ways, "completion/complete", complete) do
      assert {way, result["completion"]["values"]} == {way, ["router:completion:greet scope:completion:greet"]}
    end

    for {way, result} <- ask_all(ways, "tools/call", %{"name" => "guarded", "arguments" => %{}}) do
      assert {way, result["isError"], EveryWay.text(result)} == {way, true, "Closed on Sundays"}
    end
  end

  for revision <- @eras do
    test "#{revision}: a plug answers instead, tries again, and rescues" do
      options = [revision: unquote(revision)]
      assert {:ok, %{"isError" => true, "content" => [%{"text" => "Closed on Sundays"}]}} = call("guarded", options)
      assert {:ok, %{"content" => [%{"text" => "tried again, router:tool:flaky"}]}} = call("flaky", options)
      assert {:ok, %{"isError" => true, "content" => [%{"text" => "rescued: boom"}]}} = call("rescued", options)
    end

    test "#{revision}: a plug sees what is called and what the handler returned" do
      assert {:ok, %{"content" => [%{"text" => text}]}} =
               call_tool("measured", %{"n" => 7}, revision: unquote(revision))

      called = %{
        kind: :tool,
        name: "measured",
        uri: nil,
        arguments: %{"n" => 7},
        plug: {PlugRouter, number()}
      }

      assert text == inspect({called, false, "router:tool:measured"})
    end

    test "#{revision}: what a plug makes of a result is judged as a handler's, and the log names both" do
      log =
        capture_log(fn ->
          assert {:ok, %{"isError" => true}} = call("bad", revision: unquote(revision))
        end)

      assert log =~
               "McpServer.PlugRouter.Handlers.trace/2 (inside plug McpServer.PlugRouter.Trace, plug McpServer.PlugRouter.Bad) " <>
                 "returned :nonsense. A tool returns"
    end
  end

  test "the function of a task has the plugs around it, in the task" do
    assert {:ok, %{"content" => [%{"text" => text}]}} = call("later", revision: "2025-11-25")
    assert text == "router:task:later own:task:later"

    client = connect(revision: "2025-11-25")
    params = %{"name" => "later", "arguments" => %{}, "task" => %{}}

    %{"result" => %{"task" => %{"taskId" => id}}} =
      request(%{"id" => 1, "method" => "tools/call", "params" => params}, on: client)

    result = request(%{"id" => 2, "method" => "tasks/result", "params" => %{"taskId" => id}}, on: client)
    assert EveryWay.text(result["result"]) == "router:task:later own:task:later"
  end

  test "the generated callbacks run them, in the calling process" do
    trace = @traces["inside"]
    assert {:ok, [%{text: ^trace}]} = PlugRouter.call_tool(%Conn{}, "inside", %{})
    assert {:error, "Closed on Sundays"} = PlugRouter.call_tool(%Conn{}, "guarded", %{})
    assert {:ok, [%{text: text}]} = PlugRouter.call_tool(%Conn{assigns: %{caller: self()}}, "measured", %{"n" => 1})
    assert text =~ ", true, "
    assert {:ok, %{values: [completed]}} = PlugRouter.complete_prompt(%Conn{}, "greet", "name", "A")
    assert completed == "router:completion:greet scope:completion:greet"
  end

  test "what has no plug around it has no trace of them in its entry" do
    for entry <- Tuple.to_list(McpServer.PermissionRouter.__mcp__(:tool_handlers)),
        do: refute(is_map_key(entry, :plugs))
  end

  defp call(name, options), do: call_tool(name, %{}, options)

  # `Measure` is in the ninth statement of the router.
  defp number, do: 9
end
