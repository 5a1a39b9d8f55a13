defmodule McpServer.Protocol.PlugsTest do
  # The effect of `plug` on calls: equal over the transports, in `McpServer.Test` and in the generated callbacks.
  use ExUnit.Case, async: true
  use McpServer.Test, router: McpServer.PlugRouter

  import McpServer.TestLog
  import McpServer.EveryWay, only: [ask_all: 3, ways: 2]

  alias McpServer.{Conn, EveryWay, PlugRouter}

  defmodule Wrong do
    def tool(_conn, _arguments), do: :halt

    # Another router's call runs other plugs in this process.
    def elsewhere(conn, _arguments) do
      {:error, "Closed on Sundays"} = PlugRouter.call_tool(conn, "guarded", %{})
      :halt
    end
  end

  defmodule Through do
    @behaviour McpServer.Plug
    @impl true
    def call(conn, next) do
      returned = next.(conn)
      {:error, "Closed on Sundays"} = PlugRouter.call_tool(conn, "guarded", %{})
      returned
    end
  end

  defmodule Halt do
    @behaviour McpServer.Plug
    @impl true
    def call(_conn, _next), do: :halt
  end

  defmodule Raises do
    @behaviour McpServer.Plug
    @impl true
    def call(conn, next) do
      next.(conn)
      raise "after the handler"
    end
  end

  defmodule Misfit do
    @behaviour McpServer.Plug
    @impl true
    def call(conn, next) do
      :halt = next.(conn)
      {:ok, %{n: "one"}}
    end
  end

  defmodule Misled do
    use McpServer.Router

    plug Through

    tool "wrong", "The handler is wrong", Wrong, :tool
    tool "elsewhere", "The handler calls another router", Wrong, :elsewhere

    tool "halted", "The plug is wrong", Wrong, :tool do
      plug Halt
    end

    tool "both", "The inner plug is wrong", Wrong, :tool do
      plug Through
      plug Halt
    end

    tool "raises", "The plug raises", Wrong, :tool do
      plug Raises
    end

    tool "misfit", "The plug does not fit", Wrong, :tool do
      output_field "n", "A number", :integer, required: true
      plug Misfit
    end
  end

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

    test "#{revision}: what a plug makes of a result is judged as a handler's, and the log names what made it" do
      bad = "plug McpServer.PlugRouter.Bad (around McpServer.PlugRouter.Handlers.trace/2)"
      assert said(PlugRouter, "bad", unquote(revision)) == "#{bad} returned :nonsense. A tool returns"

      module = inspect(__MODULE__)

      for {tool, maker} <- [
            {"halted", "plug #{module}.Halt (around #{module}.Wrong.tool/2)"},
            {"wrong", "#{module}.Wrong.tool/2"},
            {"both", "plug #{module}.Halt (around #{module}.Wrong.tool/2)"},
            {"elsewhere", "#{module}.Wrong.elsewhere/2"}
          ] do
        assert said(Misled, tool, unquote(revision)) == "#{maker} returned :halt. A tool returns"
      end

      fits = "does not fit the output schema: /n: must be an integer (type)"

      assert said(Misled, "misfit", unquote(revision)) ==
               "what plug #{module}.Misfit (around #{module}.Wrong.tool/2) returned #{fits}"
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

  test "a plug that raises in a process that lives on leaves nothing there" do
    kept = fn -> for key when is_reference(key) <- Process.get_keys(), do: key end
    before = kept.()
    assert_raise RuntimeError, fn -> Misled.call_tool(%Conn{}, "raises", %{}) end
    assert kept.() == before
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

  # The log line of this call. It has the id that the client got, because other tests log too.
  defp said(router, name, revision) do
    {answer, log} = with_log(fn -> McpServer.Test.call_tool(router, name, %{}, revision: revision) end)
    assert {:ok, %{"isError" => true, "content" => [%{"text" => text}]}} = answer
    assert [id] = Regex.run(~r/[0-9a-f]{16}/, text)
    assert [_, text] = Regex.run(~r/\(error id #{id}\): invalid handler result: (.*? returns|.*)[ \n]/, log)
    text
  end

  # `Measure` is in the ninth statement of the router.
  defp number, do: 9
end
