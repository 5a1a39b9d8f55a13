defmodule McpServer.Protocol.ContextTest.Context do
  @moduledoc false
  import McpServer.Conn, only: [assign: 3, put_private: 3]

  def context(%{principal: principal, assigns: %{test: test}} = conn) do
    send(test, {:context, principal, conn.router})

    case principal do
      "closed" -> {:error, "This account is closed"}
      "gone" -> {:error, :not_found}
      "raises" -> raise "no database"
      "wrong" -> :ok
      name -> %{conn | principal: "another"} |> assign(:role, name || "guest") |> put_private(:own, 1)
    end
  end
end

defmodule McpServer.Protocol.ContextTest.Handlers do
  @moduledoc false
  use McpServer.Controller

  def run(%{assigns: %{role: role}, private: %{own: 1}, principal: principal}, _arguments),
    do: {:ok, "#{role} #{inspect(principal)}"}

  def get(conn, _arguments), do: message("user", conn.assigns.role)
  def read(conn, _variables), do: content("role", "role://mine", text: conn.assigns.role)
  def complete(conn, _name, _prefix), do: [conn.assigns.role]
  def admin?(conn), do: conn.assigns.role == "admin"
end

defmodule McpServer.Protocol.ContextTest.Plug do
  @moduledoc false
  @behaviour McpServer.Plug

  @impl true
  def call(conn, next, _options) do
    send(conn.assigns.test, {:plug, conn.assigns.role})
    next.(conn)
  end
end

defmodule McpServer.Protocol.ContextTest.Router do
  @moduledoc false
  use McpServer.Router, name: "context", context: {McpServer.Protocol.ContextTest.Context, :context}

  alias McpServer.Protocol.ContextTest.Handlers

  plug McpServer.Protocol.ContextTest.Plug

  tool "run", "For all", Handlers, :run, task_support: :optional
  tool "seen", "For admins", Handlers, :run, visible: &Handlers.admin?/1
  tool "task", "For admins", Handlers, :run, visible: &Handlers.admin?/1, task_support: :required
  tool "guarded", "For admins", Handlers, :run, authorize: &Handlers.admin?/1, listed: :always

  prompt "role", "Says the role" do
    argument "name", "A name"
    get Handlers, :get
    complete Handlers, :complete
  end

  resource "mine", "role://mine" do
    read Handlers, :read
  end
end

defmodule McpServer.Protocol.ContextTest.Strict do
  @moduledoc false
  use McpServer.Router, name: "strict", context: {McpServer.Protocol.ContextTest.Context, :context}

  alias McpServer.Protocol.ContextTest.Handlers

  prompt "strict", "Says the role", completion: false do
    argument "name", "A name", required: true
    get Handlers, :get
  end

  tool "typed", "For all", Handlers, :run do
    input_field "cents", "How much", :integer, required: true
  end

  tool "sampler", "For all", Handlers, :run, requires: [:sampling]

  resource "of", "role://of/{name}" do
    read Handlers, :read
    complete Handlers, :complete
  end
end

defmodule McpServer.Protocol.ContextTest do
  # `context:` of a router: one function that fills the conn of each request, whatever carries the request.
  use McpServer.RouterCase, async: true
  use McpServer.Test, router: McpServer.Protocol.ContextTest.Router

  import McpServer.HttpRequests, only: [as: 2, legacy: 2, legacy_call: 2, modern: 1, modern_call: 1, who: 1]
  import McpServer.TestLog, only: [with_log: 1]

  alias McpServer.{Conn, HttpClient, HttpServers, HttpSession, Tasks}
  alias McpServer.Protocol.ContextTest.{Router, Strict}
  alias McpServer.Test.Client

  @eras ["2025-11-25", "2026-07-28"]

  defp as_client(name, revision), do: [principal: name, assigns: %{test: self()}, revision: revision]
  defp contexts(count \\ 0), do: receive(do: ({:context, _name, Router} -> contexts(count + 1)), after: (0 -> count))

  test "each request has it once, before access, plugs and handlers" do
    for revision <- @eras do
      admin = as_client("admin", revision)

      requests = [
        {fn -> call_tool("run", %{}, admin) end, ["content", Access.at(0), "text"], ~s(admin "admin")},
        {fn -> call_tool("seen", %{}, admin) end, ["content", Access.at(0), "text"], ~s(admin "admin")},
        {fn -> call_tool("guarded", %{}, admin) end, ["content", Access.at(0), "text"], ~s(admin "admin")},
        {fn -> get_prompt("role", %{}, admin) end, ["messages", Access.at(0), "content", "text"], "admin"},
        {fn -> complete_prompt("role", "name", "", admin) end, ["values"], ["admin"]},
        {fn -> read_resource("role://mine", admin) end, ["contents", Access.at(0), "text"], "admin"},
        {fn -> list_tools(admin) end, [Access.all(), "name"], ["run", "seen", "task", "guarded"]}
      ]

      for {request, path, value} <- requests do
        assert {:ok, answer} = request.()
        assert get_in(answer, path) == value
        assert contexts() == 1
      end

      assert_received {:plug, "admin"}
      guest = as_client("guest", revision)
      assert {:error, %{"message" => "Tool 'seen' not found"}} = call_tool("seen", %{}, guest)
      assert {:error, %{"message" => "Forbidden"}} = call_tool("guarded", %{}, guest)
      assert {:ok, tools} = list_tools(guest)
      assert Enum.map(tools, & &1["name"]) == ["run", "guarded"]
      assert contexts() == 3
    end
  end

  # Earlier, lists without access options and subscriptions to open resources were answered without it.
  test "lists and subscriptions have it, too, whatever they are of" do
    subscriptions = %{
      "2025-11-25" => {"resources/subscribe", %{"uri" => "role://mine"}},
      "2026-07-28" => {"subscriptions/listen", %{"notifications" => %{"toolsListChanged" => true}}}
    }

    for revision <- @eras do
      client = as_client("closed", revision)
      lists = [&list_tools/1, &list_prompts/1, &list_resources/1, &list_resource_templates/1]

      for list <- lists do
        assert {:error, %{"message" => "This account is closed"}} = list.(client)
        assert contexts() == 1
      end

      {method, params} = subscriptions[revision]
      refused = request(%{"id" => 1, "method" => method, "params" => params}, client)
      assert refused["error"]["message"] == "This account is closed"
      assert contexts() == 1
      assert {:ok, [%{"name" => "mine"}]} = list_resources(as_client("ada", revision))
      assert {:ok, []} = list_resource_templates(as_client("ada", revision))
      assert contexts() == 2
    end

    for router <- [Router, McpServer.ClientServer] do
      {:ok, definition} = McpServer.Catalog.definition(router)
      assert McpServer.JSON.decode!(definition)["context"] == (router == Router)
    end
  end

  test "a task has that of its call, and a request about it has its own" do
    options = [client_capabilities: %{"extensions" => %{"io.modelcontextprotocol/tasks" => %{}}}]
    client = Client.open(Router, as_client("ada", "2026-07-28") ++ options)
    {:ok, %{"taskId" => id}} = Client.call(client, "tools/call", %{"name" => "run", "arguments" => %{}})
    assert contexts() == 1
    owner = {Router, :principal, {nil, "ada"}}
    assert {:ok, %{outcome: {:result, %{content: [%{text: "ada \"ada\""}]}}}} = Tasks.await(owner, id, nil)
    assert {:ok, %{"status" => "completed"}} = Client.call(client, "tasks/get", %{"taskId" => id})
    assert contexts() == 1
  end

  test "over HTTP, in both eras" do
    server = HttpServers.start(:listener, router: Router, identify: &who/1, assigns: %{test: self()})
    session = HttpSession.open(server, "2025-11-25", headers: [{"authorization", "Bearer admin"}])

    assert HttpClient.text(HttpClient.answer(server, as(modern_call("seen"), "admin"))) == "admin \"admin\""
    assert HttpClient.text(HttpSession.answer(session, legacy_call("seen", %{}))) == "admin \"admin\""

    assert %{"result" => %{"tools" => [_run, _seen, _task, _guarded]}} =
             HttpClient.answer(server, as(modern("tools/list"), "admin"))

    assert %{"result" => %{"tools" => [_run, _seen, _task, _guarded]}} =
             HttpSession.answer(session, legacy("tools/list", %{}))

    assert contexts() == 4
  end

  test "in the router's own functions" do
    conn = %Conn{principal: "admin", assigns: %{test: self()}}
    assert {:ok, [%{text: "admin \"admin\""}]} = Router.call_tool(conn, "seen", %{})
    assert {:ok, [_run, %{name: "seen"}, _task, _guarded]} = Router.list_tools(conn)
    assert {:error, "This account is closed"} = Router.call_tool(%{conn | principal: "closed"}, "run", %{})
    assert_raise ArgumentError, "This account is closed", fn -> Router.list_tools(%{conn | principal: "closed"}) end
    assert_raise ArgumentError, ~r/no database/, fn -> Router.call_tool(%{conn | principal: "raises"}, "run", %{}) end
  end

  test "it refuses in words" do
    for revision <- @eras, {name, text} <- [{"closed", "This account is closed"}, {"gone", "Not found"}] do
      client = as_client(name, revision)
      assert {:error, %{"code" => -32603, "message" => ^text}} = call_tool("run", %{}, client)
      assert {:error, %{"code" => -32603, "message" => ^text}} = get_prompt("role", %{}, client)
      assert {:error, %{"code" => -32603, "message" => ^text}} = list_tools(client)
    end
  end

  # Earlier, a hidden tool that may be a task got another form of answer than a name that no tool has.
  test "it refuses hidden and absent tools alike, also as tasks" do
    client = as_client("closed", "2025-11-25")

    answers =
      for name <- ["run", "seen", "task", "absent"], task <- [%{}, %{"task" => %{}}] do
        request(%{"id" => 1, "method" => "tools/call", "params" => Map.put(task, "name", name)}, client)
      end

    assert [%{"error" => %{"code" => -32603, "message" => "This account is closed"}}] = Enum.uniq(answers)
  end

  # Earlier, a client that was refused learned by other answers which entries there are, and their arguments.
  for revision <- @eras do
    @revision revision

    test "it refuses faulty requests and unknown names alike, #{revision}" do
      {of_prompt, of_template} = {&%{"type" => "ref/prompt", "name" => &1}, &%{"type" => "ref/resource", "uri" => &1}}
      complete = &{"completion/complete", %{"ref" => &1, "argument" => %{"name" => &2, "value" => ""}}}

      requests = [
        {"tools/call", %{"name" => "typed", "arguments" => %{"cents" => "many"}}},
        {"tools/call", %{"name" => "typed", "arguments" => %{}}},
        {"tools/call", %{"name" => "sampler", "arguments" => %{}}},
        {"tools/call", %{"name" => "absent", "arguments" => %{}}},
        {"prompts/get", %{"name" => "strict"}},
        {"prompts/get", %{"name" => "absent"}},
        {"resources/read", %{"uri" => "role://of/ada"}},
        {"resources/read", %{"uri" => "role://absent"}},
        complete.(of_prompt.("strict"), "name"),
        complete.(of_prompt.("strict"), "absent"),
        complete.(of_prompt.("absent"), "name"),
        complete.(of_template.("role://of/{name}"), "name"),
        complete.(of_template.("role://absent/{name}"), "name")
      ]

      for {method, params} <- requests do
        client = Client.open(Strict, as_client("closed", @revision))
        assert {method, params, {:error, error}} = {method, params, Client.call(client, method, params)}
        assert {method, params, error} == {method, params, %{"code" => -32603, "message" => "This account is closed"}}
      end
    end
  end

  test "one that raises or returns no conn fails the request, and the log says why" do
    for revision <- @eras,
        {name, logged} <- [{"raises", "no database"}, {"wrong", "returned :ok. The function of `context:` returns"}] do
      {{answer, tools}, log} =
        with_log(fn -> {call_tool("run", %{}, as_client(name, revision)), list_tools(as_client(name, revision))} end)

      assert {:error, %{"code" => -32603, "data" => %{"errorId" => _id}}} = answer
      assert {:error, %{"code" => -32603, "data" => %{"errorId" => _id}}} = tools
      assert log =~ logged
    end
  end

  test "it must be a function that exists" do
    owner = "the context of `use McpServer.Router` is a module and the name of a function"
    assert_refused(2, owner <> ", such as {MyApp.MCP, :context}, got: :context", "", ", context: :context")

    assert_refused(
      2,
      "`context:` of the router names McpServer.Handlers.ecko/1, which is not a public function, did you mean echo?",
      "",
      ", context: {McpServer.Handlers, :ecko}"
    )
  end
end
