defmodule McpServer.Tools.AsDeclaredTest do
  # Run-time tools have the features of declared tools: timeouts, tasks, defaults, casts, permissions. Not async: the
  # tools of one router are those of all its tests.
  use ExUnit.Case, async: false

  @moduletag :capture_log
  use McpServer.Test, router: McpServer.ToolsRouter

  alias McpServer.{Conn, Tools, ToolsRouter}
  alias McpServer.ToolsRouter.{Handlers, Note}

  @eras ["2025-11-25", "2026-07-28"]
  @tasks %{"extensions" => %{"io.modelcontextprotocol/tasks" => %{}}}

  setup do
    "9 tools" = Handlers.setup(%Conn{}, %{})
    on_exit(fn -> for name <- Tools.names(ToolsRouter), do: :ok = Tools.delete(ToolsRouter, name) end)
  end

  defp text({:ok, %{"content" => [%{"text" => text}]}}), do: text
  defp ask(client, method, params), do: request(%{"id" => 1, "method" => method, "params" => params}, on: client)

  for revision <- @eras do
    describe revision do
      @revision revision
      @options [revision: revision]

      test "arguments are complete, and Elixir values" do
        assert text(call_tool("typed", %{"since" => "2026-07-28"}, @options)) ==
                 inspect(%{since: ~D[2026-07-28], limit: 10, nested: %{tags: []}})

        assert text(call_tool("note", %{"title" => "One"}, @options)) == inspect(%Note{title: "One", stars: 3})
        assert_tool_error(call_tool("typed", %{"since" => "today"}, @options), ~r{/since: must be a date})
        assert_tool_error(call_tool("typed", %{"since" => "2026-07-28", "limt" => 1}, @options), ~r/is `limit` meant/)
      end

      test "a tool has its own time" do
        assert_tool_error(call_tool("slow", %{}, @options), ~r/it did not finish within 50 ms/)
      end

      test "a client without what it requires is refused as by a declared one" do
        expected =
          if @revision == "2026-07-28",
            do:
              {:error,
               %{
                 "code" => -32021,
                 "data" => %{"requiredCapabilities" => %{"sampling" => %{}}},
                 "message" => "Missing required client capability"
               }},
            else: {:tool_error, "The client does not support sampling, which this call needs"}

        for capabilities <- [%{}, %{"sampling" => nil}, %{"sampling" => true}] do
          case call_tool("needy", %{}, @options ++ [client_capabilities: capabilities]) do
            {:ok, _failed} = failed -> assert {:tool_error, assert_tool_error(failed)} == expected
            error -> assert error == expected
          end
        end

        assert text(call_tool("needy", %{}, @options ++ [client_capabilities: %{"sampling" => %{}}])) == "%{}"
      end

      test "`visible:` and `authorize:` hold for it" do
        names = fn options ->
          {:ok, tools} = list_tools(options ++ @options)
          for %{"name" => name} <- tools, name in ["mine", "role", "open"], do: name
        end

        assert names.([]) == ["open", "role"]
        assert names.(principal: "ada") == ["open", "mine", "role"]
        assert {:error, hidden} = call_tool("mine", %{}, @options)
        assert hidden == %{"code" => -32602, "message" => "Tool 'mine' not found"}
        assert text(call_tool("mine", %{}, @options ++ [principal: "ada"])) == "%{}"
        assert {:error, %{"message" => "Forbidden"}} = call_tool("role", %{}, @options)
        assert text(call_tool("role", %{}, @options ++ [assigns: %{role: "editor"}])) == "%{}"
      end
    end
  end

  describe "tasks of 2025-11-25" do
    # The tasks belong to the principal.
    setup %{test: test} do
      {:ok, principal: test, client: connect(revision: "2025-11-25", principal: test)}
    end

    defp task(client, name, arguments \\ %{}),
      do: ask(client, "tools/call", %{"name" => name, "arguments" => arguments, "task" => %{}})

    test "a call becomes one, and its result comes by tasks/result", %{client: client} do
      assert %{"result" => %{"task" => %{"taskId" => id}}} = task(client, "later", %{"n" => 1})
      answer = ask(client, "tasks/result", %{"taskId" => id})
      assert [%{"text" => ~s(later %{"n" => 1})}] = answer["result"]["content"]
      assert %{"result" => %{"status" => "completed"}} = ask(client, "tasks/get", %{"taskId" => id})
      assert %{"result" => %{"tasks" => [%{"taskId" => ^id}]}} = ask(client, "tasks/list", %{})
    end

    test "a tool that allows none refuses it, one that needs it refuses a plain call", %{client: client} do
      assert %{"error" => %{"code" => -32601}} = task(client, "typed", %{"since" => "2026-07-28"})
      assert {:error, %{"code" => -32601}} = call_tool("only", %{}, on: client)
      assert %{"result" => %{"task" => _task}} = task(client, "only")
    end

    test "whoever may not call the tool any more hears nothing of its tasks", %{client: client, principal: own} do
      :ok = Tools.put({ToolsRouter, principal: own}, tagged(), {Handlers, :later})
      assert %{"result" => %{"task" => %{"taskId" => id}}} = task(client, "own")
      unknown = %{"code" => -32602, "message" => "Task not found"}
      params = %{"taskId" => id}
      assert [%{"text" => "later %{}"}] = ask(client, "tasks/result", params)["result"]["content"]

      for {take, give} <- [
            {fn -> Tools.disable(ToolsRouter, tag: "own") end, fn -> Tools.reset(ToolsRouter, tag: "own") end},
            {fn -> Tools.delete({ToolsRouter, principal: own}, "own") end, fn -> :ok end}
          ] do
        :ok = take.()

        for method <- ["get", "result", "cancel"],
            do: assert(ask(client, "tasks/#{method}", params)["error"] == unknown)

        assert ask(client, "tasks/list", %{})["result"]["tasks"] == []
        :ok = give.()
      end
    end

    defp tagged, do: [name: "own", description: "Is hidden later", task_support: :optional, tags: ["own"]]
  end

  test "tasks of 2026-07-28: a client that knows them gets one, any other its result" do
    assert {:ok, discovered} = discover()
    assert discovered["capabilities"]["extensions"] == @tasks["extensions"]
    client = connect(revision: "2026-07-28", client_capabilities: @tasks)
    assert %{"resultType" => "task", "taskId" => id} = ask(client, "tools/call", %{"name" => "later"})["result"]
    assert %{"status" => "completed", "result" => %{"content" => [_text]}} = wait(client, id)
    assert text(call_tool("later", %{}, revision: "2026-07-28")) == "later %{}"
    assert {:error, %{"code" => -32021}} = call_tool("only", %{}, revision: "2026-07-28")
  end

  defp discover do
    %{"result" => result} = request(%{"id" => 1, "method" => "server/discover"}, revision: "2026-07-28")
    {:ok, result}
  end

  defp wait(client, id) do
    case ask(client, "tasks/get", %{"taskId" => id})["result"] do
      %{"status" => "working"} -> wait(client, id)
      task -> task
    end
  end

  test "the generated callbacks know it" do
    conn = %Conn{principal: "ada"}
    assert {:ok, [_text]} = ToolsRouter.call_tool(conn, "typed", %{"since" => "2026-07-28"})
    assert {:error, "Tool 'mine' not found"} = ToolsRouter.call_tool(%Conn{}, "mine", %{})
    assert {:error, "Tool 'absent' not found"} = ToolsRouter.call_tool(conn, "absent", %{})
    assert {:error, text} = ToolsRouter.call_tool(conn, "typed", %{})
    assert text == ~s(Missing required arguments for tool 'typed': ["since"])
    assert {:ok, tools} = ToolsRouter.list_tools(conn)
    assert "mine" in Enum.map(tools, & &1.name)
    assert {:ok, others} = ToolsRouter.list_tools(%Conn{})
    assert Enum.map(tools, & &1.name) -- Enum.map(others, & &1.name) == ["of_ada", "mine"]
  end

  test "what is wrong is said as of a declared tool" do
    fields = fn more -> [name: "wrong", description: "Is wrong"] ++ more end

    for {more, text} <- [
          {[timeout: 0], "timeout of tool \"wrong\" must be a number of milliseconds above 0, such as 5_000, got: 0"},
          {[timeout: 5_000_000_000], "timeout of tool \"wrong\" is at most 4294967295 milliseconds, got: 5000000000"},
          {[input: [on: {:dat, "When"}]], "dat"},
          {[input: [on: {:date, "When", required: true, default: "2026-07-28"}]], "default"},
          {[arguments: :atoms, input: %{"no such atom of ours" => {:string, "Text"}}],
           "tool \"wrong\" has `arguments: :atoms`, but there is no atom :no such atom of ours yet. " <>
             "Name its arguments by atoms of your code"},
          {[struct: Note, input: [titel: {:string, "Text"}]],
           "tool \"wrong\" declares \"titel\", which %McpServer.ToolsRouter.Note{} does not have, did you mean title?"},
          {[visible: {Handlers, :nobody?}], "visible of tool \"wrong\""},
          {[visible: fn _conn -> true end],
           "visible of tool \"wrong\" must be a named function, {module, function} or &Module.function/1, because it is " <>
             "called by its name, on other nodes too, got: #Function<"},
          {[authorize: fn _conn, _arguments -> true end],
           "authorize of tool \"wrong\" must be a named function, {module, function} or &Module.function/2, because"},
          {[authorize: fn -> true end],
           "authorize of tool \"wrong\" takes the conn, or the conn and the arguments; got a function of 0 arguments"},
          {[result_budget: 4_096], "the result_budget of tool \"wrong\" needs a place for larger results"},
          {[tags: [""]], "a tag of tool \"wrong\" is a string of 1 to 128 bytes, got: \"\""},
          {[tiemout: 5], "a tool has no field tiemout, did you mean timeout?"}
        ] do
      assert {:error, said} = Tools.put(ToolsRouter, fields.(more), {Handlers, :echo})
      assert said =~ text
    end

    assert {:error, "tool \"wrong\" has no description"} = Tools.put(ToolsRouter, [name: "wrong"], {Handlers, :echo})
    refute "wrong" in Tools.names(ToolsRouter)
  end
end
