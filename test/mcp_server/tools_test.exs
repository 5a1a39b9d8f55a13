defmodule McpServer.ToolsTest do
  # Run-time tools: their recipients, their checks, and the notifications to clients.
  use ExUnit.Case, async: true

  import McpServer.HttpCase, only: [eventually: 1]

  alias McpServer.RunTimeRouter.Handlers
  alias McpServer.{Changes, Test, Tools}

  @eras ["2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28"]
  @schema %{
    "type" => "object",
    "properties" => %{"a" => %{"type" => "integer"}, "b" => %{"type" => "integer"}},
    "required" => ["a", "b"]
  }
  @output %{"type" => "object", "properties" => %{"sum" => %{"type" => "integer"}}, "required" => ["sum"]}

  defmodule Declared do
    use McpServer.Router

    tool "same", "Was put", Handlers, :sum,
      title: "Sum",
      icons: [[src: "https://example.com/sum.png"]],
      input_schema: %{
        "type" => "object",
        "properties" => %{"a" => %{"type" => "integer"}, "b" => %{"type" => "integer"}},
        "required" => ["a", "b"]
      },
      output_schema: %{"type" => "object", "properties" => %{"sum" => %{"type" => "integer"}}, "required" => ["sum"]}
  end

  # A separate router for each test, because tools outlive the test.
  setup context do
    name = Module.concat(__MODULE__, "Router#{:erlang.phash2(context.test)}")
    {:module, router, _binary, _term} = Module.create(name, quote(do: use(McpServer.RunTimeRouter)), __ENV__)
    {:ok, router: router}
  end

  defp tool(name, options \\ []),
    do: McpServer.Tool.new(Keyword.merge([name: name, description: "Was put", inputSchema: @schema], options))

  defp id(client), do: :sys.get_state(client.connection).session.id

  defp as(principal, revision), do: [principal: principal, revision: revision]

  defp names(router, options) do
    {:ok, %{"tools" => tools} = page} = list(router, nil, options)
    names(router, options, Enum.map(tools, & &1["name"]), page["nextCursor"])
  end

  defp names(_router, _options, names, nil), do: names

  defp names(router, options, names, cursor) do
    {:ok, %{"tools" => tools} = page} = list(router, cursor, options)
    names(router, options, names ++ Enum.map(tools, & &1["name"]), page["nextCursor"])
  end

  defp list(router, cursor, options) do
    params = if cursor, do: %{"cursor" => cursor}, else: %{}

    case Test.request(router, %{"id" => 1, "method" => "tools/list", "params" => params}, options) do
      %{"result" => result} -> {:ok, result}
      %{"error" => error} -> {:error, error}
    end
  end

  for revision <- @eras do
    describe revision do
      @revision revision

      test "a tool is there for whom it was put, and for nobody else", %{router: router} do
        assert names(router, as("ada", @revision)) == ["declared"]
        assert :ok = Tools.put(router, tool("all"), {Handlers, :sum})
        assert :ok = Tools.put({router, principal: "ada"}, tool("own"), &Handlers.sum/2)
        assert :ok = Tools.put({router, principal: "bob"}, tool("other"), {Handlers, :sum})
        assert names(router, as("ada", @revision)) == ["declared", "all", "own"]
        assert names(router, as("bob", @revision)) == ["declared", "all", "other"]
        assert names(router, as(nil, @revision)) == ["declared", "all"]

        call = &Test.call_tool(router, &1, &2, as("ada", @revision))
        for name <- ["all", "own"], do: assert({:ok, %{"isError" => false}} = call.(name, %{"a" => 1, "b" => 2}))

        for name <- ["other", "absent"], arguments <- [%{"a" => 1, "b" => 2}, %{}] do
          assert {:error, error} = call.(name, arguments)
          assert error == %{"code" => -32602, "message" => "Tool '#{name}' not found"}
        end

        assert inspect(call.("own", %{"a" => 1, "b" => "two"})) =~ "/b: must be an integer"
        assert :ok = Tools.delete({router, principal: "ada"}, "own")
        assert names(router, as("ada", @revision)) == ["declared", "all"]
        assert {:error, %{"message" => "Tool 'own' not found"}} = call.("own", %{"a" => 1, "b" => 2})
      end
    end
  end

  test "a tool is listed as it would be if it were declared, in each revision", %{router: router} do
    # For clients of 2025-03-26 a declared tool's title is in its annotations.
    annotations = %McpServer.Tool.Annotations{title: "Sum"}

    options = [
      title: "Sum",
      annotations: annotations,
      outputSchema: @output,
      icons: [[src: "https://example.com/sum.png"]]
    ]

    :ok = Tools.put(router, tool("same", options), {Handlers, :sum})

    for revision <- @eras do
      [{:ok, [_declared, put]}, {:ok, [declared]}] =
        for router <- [router, __MODULE__.Declared], do: Test.list_tools(router, revision: revision)

      assert {revision, put} == {revision, declared}
    end
  end

  test "a tool of a session is that session's", %{router: router} do
    client = Test.connect(router, revision: "2025-11-25")
    id = id(client)
    assert :ok = Tools.put({router, session: id}, tool("mine"), {Handlers, :sum})
    assert names(router, on: client) == ["declared", "mine"]
    assert names(router, revision: "2025-11-25") == ["declared"]

    assert {:ok, %{"structuredContent" => %{"sum" => 3}}} =
             Test.call_tool(router, "mine", %{"a" => 1, "b" => 2}, on: client)
  end

  test "a session that has ended, or never was, gets no tool, and one that is killed keeps none", %{router: router} do
    refused = {:error, "no session of this router with this id is open"}
    [ended, killed] = for _ <- 1..2, do: Test.connect(router, revision: "2025-11-25")
    scope = {router, session: id(ended)}
    :ok = Test.disconnect(ended)

    for scope <- [scope, {router, session: "never was"}, {__MODULE__.Declared, session: id(killed)}],
        do: assert(Tools.put(scope, tool("mine"), {Handlers, :sum}) == refused)

    scope = {router, session: id(killed)}
    assert Tools.put(scope, tool("mine"), {Handlers, :sum}) == :ok
    Process.unlink(killed.connection)
    Process.exit(killed.connection, :kill)
    eventually(fn -> Tools.names(scope) == [] end)
    assert Tools.put(scope, tool("mine"), {Handlers, :sum}) == refused
  end

  @tag :capture_log
  test "a session whose process fails to end keeps none", %{router: router} do
    broken = Test.connect(router, revision: "2025-11-25")
    scope = {router, session: id(broken)}
    assert Tools.put(scope, tool("mine"), {Handlers, :sum}) == :ok
    Process.unlink(broken.connection)
    :sys.replace_state(broken.connection, fn _state -> %{} end)
    send(broken.connection, :timeout)
    eventually(fn -> Tools.names(scope) == [] end)
    refused = {:error, "no session of this router with this id is open"}
    assert Tools.put(scope, tool("mine"), {Handlers, :sum}) == refused
  end

  test "the narrowest of a name is the one", %{router: router} do
    for {scope, text} <- [{router, "of all"}, {{router, principal: "ada"}, "of Ada"}],
        do: :ok = Tools.put(scope, tool("same", description: text), {Handlers, :sum})

    assert {:ok, [_declared, %{"description" => "of Ada"}]} = Test.list_tools(router, principal: "ada")
    assert {:ok, [_declared, %{"description" => "of all"}]} = Test.list_tools(router, principal: "bob")
  end

  test "the router's plugs are around it, and its result is checked", %{router: router} do
    :ok = Tools.put(router, tool("echo"), {Handlers, :echo})

    assert {:ok, %{"content" => [%{"text" => text}]}} =
             Test.call_tool(router, "echo", %{"a" => 1, "b" => 2}, principal: "ada")

    assert text == inspect({"echo", "ada", %{"a" => 1, "b" => 2}})

    :ok = Tools.put(router, tool("wrong", outputSchema: @output), {Handlers, :wrong})

    log =
      McpServer.TestLog.capture_log(fn ->
        assert {:ok, %{"isError" => true}} = Test.call_tool(router, "wrong", %{"a" => 1, "b" => 2})
      end)

    assert log =~ "returned does not fit the output schema: /sum: must be an integer"
  end

  test "a cursor is that of one set of tools", %{router: router} do
    for index <- 1..5, do: :ok = Tools.put({router, principal: "ada"}, tool("tool_#{index}"), {Handlers, :sum})
    assert names(router, principal: "ada") == ["declared" | for(index <- 1..5, do: "tool_#{index}")]
    {:ok, %{"nextCursor" => cursor}} = list(router, nil, principal: "ada")

    assert {:error, %{"message" => "Invalid params: cursor is not one of this list"}} =
             list(router, cursor, principal: "bob")

    :ok = Tools.delete({router, principal: "ada"}, "tool_1")
    assert {:error, _foreign} = list(router, cursor, principal: "ada")
  end

  test "what is wrong with a tool is said, and nothing is put", %{router: router} do
    unknown = %{"type" => "object", "properties" => %{"a" => %{"type" => "text"}}}

    for {scope, tool, handler, text} <- [
          {router, tool("declared"), {Handlers, :sum}, ~s(tool "declared" is declared by #{inspect(router)})},
          {router, tool("no name"), {Handlers, :sum}, "a tool's name is 1 to 128 characters"},
          {router, [title: "t"], {Handlers, :sum}, "name"},
          {router, tool("bad", inputSchema: unknown), {Handlers, :sum},
           ~s(tool "bad": inputSchema: the schema is invalid)},
          {router, tool("ok"), {Handlers, :none}, "McpServer.RunTimeRouter.Handlers.none/2"},
          {router, tool("ok"), Function.capture(Handlers, :none, 2),
           "the handler names McpServer.RunTimeRouter.Handlers.none/2, which is not"},
          {router, tool("ok"), fn -> :ok end,
           "a handler is a named function of the conn and the arguments, {module, function} or &Module.function/2, got: #Function<"},
          {router, tool("ok"), fn _conn, _arguments -> :ok end, ", because other nodes call it by its name"},
          {McpServer, tool("ok"), {Handlers, :sum}, "McpServer is not a router"},
          {{router, user: "ada"}, tool("ok"), {Handlers, :sum}, "principal: principal, or session: id"},
          {{router, principal: nil}, tool("ok"), {Handlers, :sum}, "a principal is not nil"},
          {"router", tool("ok"), {Handlers, :sum}, "a scope is a router"}
        ] do
      assert {:error, said} = Tools.put(scope, tool, handler)
      assert said =~ text
    end

    assert Tools.names(router) == []
  end

  test "a scope has a bound", %{router: router} do
    for index <- 1..1_000, do: :ok = Tools.put({router, principal: "ada"}, tool("tool_#{index}"), {Handlers, :sum})
    assert {:error, text} = Tools.put({router, principal: "ada"}, tool("more"), {Handlers, :sum})
    assert text =~ "1000 run-time tools of this scope"
    # Replacing a tool takes no more room.
    assert :ok = Tools.put({router, principal: "ada"}, tool("tool_7", description: "again"), {Handlers, :sum})
    assert :ok = Tools.put({router, principal: "bob"}, tool("more"), {Handlers, :sum})
    for name <- Tools.names({router, principal: "ada"}), do: :ok = Tools.delete({router, principal: "ada"}, name)
    assert Tools.names({router, principal: "ada"}) == []
  end

  describe "list_changed" do
    test "goes to those whom a tool concerns", %{router: router} do
      client = Test.connect(router, principal: "ada", revision: "2025-11-25")
      id = id(client)
      told = fn -> told(router, client) end
      assert told.() == 0

      :ok = Tools.put({router, principal: "ada"}, tool("own"), {Handlers, :sum})
      assert told.() == 1
      :ok = Tools.put({router, principal: "bob"}, tool("own"), {Handlers, :sum})
      # Its notifications go to another process.
      another = start_supervised!({Agent, fn -> Test.connect(router, revision: "2025-11-25") end})
      :ok = Tools.put({router, session: Agent.get(another, &id/1)}, tool("own"), {Handlers, :sum})
      assert told.() == 0
      :ok = Tools.put({router, session: id}, tool("own"), {Handlers, :sum})
      assert told.() == 1
      :ok = Tools.put(router, tool("all"), {Handlers, :sum})
      assert told.() == 1
      :ok = Tools.delete({router, principal: "ada"}, "none")
      assert told.() == 0
      :ok = Tools.delete({router, principal: "ada"}, "own")
      assert told.() == 1
    end

    test "goes to a principal or a session", %{router: router} do
      client = Test.connect(router, principal: "ada", revision: "2025-11-25")
      id = id(client)

      for {recipient, times} <- [
            {[principal: "ada"], 1},
            {[principal: "bob"], 0},
            {[session: id], 1},
            {[session: "another"], 0}
          ],
          changed <- [:tools_changed, :prompts_changed, :resources_changed] do
        apply(Changes, changed, [router, [to: recipient]])
        assert {recipient, told(router, client)} == {recipient, times}
      end

      assert_raise ArgumentError, "to: of a change: write principal: principal, or session: id", fn ->
        Changes.tools_changed(router, to: [user: "ada"])
      end
    end

    # Changes may be written after the first ping's response, but before the second's.
    defp told(router, client) do
      for id <- [98, 99],
          do: assert(%{"result" => _} = Test.request(router, %{"id" => id, "method" => "ping"}, on: client))

      heard(0)
    end

    defp heard(count) do
      receive do
        {:mcp_notification, "notifications/" <> _changed, _params} -> heard(count + 1)
      after
        0 -> count
      end
    end
  end
end
