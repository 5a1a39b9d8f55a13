defmodule McpServer.TestTest do
  # The test kit for users' routers.
  use ExUnit.Case, async: true
  use McpServer.Test, router: McpServer.RuntimeRouter, assigns: %{run: &__MODULE__.echo/2}

  alias McpServer.Changes

  # Its changes reach no client of another test.
  defmodule Shelf do
    use McpServer.Router

    tool "count", "Counts", McpServer.Handlers, :echo, hints: [:read_only]

    resource "book", "book://{id}", visible: {__MODULE__, :public?} do
      read McpServer.Handlers, :echo
    end

    def public?(_conn, variables), do: variables["id"] != "diary"
  end

  @revisions ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]

  def echo(conn, arguments), do: {:ok, [McpServer.Tool.Content.text(inspect({conn.protocol_version, arguments}))]}

  test "defaults of `use` hold, and give way to the call's own options" do
    assert {:ok, %{"content" => [%{"text" => ~s({"2026-07-28", %{"a" => 1}})}]}} = call_tool("run", %{"a" => 1})
    assert {:error, %{"code" => -32602}} = call_tool("none", %{}, revision: "2025-11-25")
    other = %{run: fn _, _ -> {:ok, []} end}
    assert {:ok, %{"content" => []}} = call_tool("run", %{}, assigns: other)
  end

  test "defaults of `use` are those of an opened transport, and not of its requests" do
    client = connect(assigns: %{run: fn _, _ -> {:ok, "mine"} end})
    assert {:ok, %{"content" => [%{"text" => "mine"}]}} = call_tool("run", %{}, on: client)
  end

  test "every revision can be spoken" do
    for revision <- @revisions do
      expected = inspect({revision, %{}})
      assert {:ok, %{"content" => [%{"text" => ^expected}]}} = call_tool("run", %{}, revision: revision)
    end
  end

  test "lists come whole, page by page" do
    for revision <- @revisions do
      assert {:ok, tools} = list_tools(revision: revision)
      assert Enum.map(tools, & &1["name"]) == ~w(run brief sampler sum text)
      assert {:ok, [%{"name" => "run"}]} = list_prompts(revision: revision)
      assert {:ok, [%{"uri" => "run://fixed"}]} = list_resources(revision: revision)
      assert {:ok, [%{"uriTemplate" => "run://rows/{id}"}]} = list_resource_templates(revision: revision)
    end
  end

  test "arguments that do not fit never reach the handler" do
    assert {:ok, %{"isError" => true}} =
             call_tool("text", %{"text" => 3}, assigns: %{run: fn _, _ -> raise "entered" end})

    assert {:error, %{"code" => -32602}} = call_tool("text", %{"text" => 3}, revision: "2025-06-18")
  end

  test "a raw message in any revision" do
    for revision <- @revisions -- ["2026-07-28"] do
      assert %{"jsonrpc" => "2.0", "id" => "x", "result" => %{}} =
               request(%{"id" => "x", "method" => "ping"}, revision: revision)
    end

    assert %{"id" => 1, "result" => %{"resultType" => "complete"}} =
             request(%{"id" => 1, "method" => "server/discover"})

    assert %{"id" => 1, "error" => %{"code" => -32601}} = request(%{"id" => 1, "method" => "ping"})
  end

  test "raw bytes as they are" do
    assert %{"error" => %{"code" => -32700}} = request("{")
    assert %{"error" => %{"code" => -32600}, "id" => 1} = request(~s({"id":1,"method":"ping"}))
    assert %{"error" => %{"code" => -32600}} = request(~s({"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}))
    assert :none = request(~s({"jsonrpc":"2.0","method":"notifications/nothing"}))
    assert :none = request(%{"method" => "notifications/cancelled", "params" => %{"requestId" => 1}})
  end

  test "a batch where there are batches" do
    messages =
      for id <- 1..2, do: %{"jsonrpc" => "2.0", "id" => id, "method" => "tools/call", "params" => %{"name" => "run"}}

    answers = request(McpServer.JSON.encode!(messages), revision: "2025-03-26")
    assert Enum.sort(Enum.map(answers, & &1["id"])) == [1, 2]
  end

  test "without the handshake a session does not open" do
    assert %{"error" => %{"code" => -32600}} =
             request(%{"id" => 1, "method" => "tools/list"}, revision: "2025-11-25", initialize: false)
  end

  test "a transport for several requests, until it is closed" do
    client = connect(revision: "2025-11-25")
    assert {:ok, _result} = call_tool("run", %{}, on: client)
    assert {:ok, _tools} = list_tools(on: client)
    assert McpServer.Test.disconnect(client) == :ok
    refute Process.alive?(client.connection)
  end

  test "a client subscribes and hears of changes, in both eras" do
    for revision <- ["2025-11-25", "2026-07-28"] do
      client = McpServer.Test.connect(Shelf, revision: revision)
      assert subscribe(client, ["book://dune", :tools]) == :ok
      assert subscribe(client, "book://emma") == :ok
      Changes.tools_changed(Shelf)
      Changes.resource_updated(Shelf, "book://emma")
      assert_receive {:mcp_notification, "notifications/tools/list_changed", _params}
      assert_receive {:mcp_notification, "notifications/resources/updated", %{"uri" => "book://emma"}}
      assert McpServer.Test.disconnect(client) == :ok
    end
  end

  defmodule Away do
    use McpServer.Router
    use McpServer.Controller

    tool "whoami", "Says who asks", __MODULE__, :whoami, hints: [:read_only]
    tool "ask", "Asks", __MODULE__, :ask, hints: [:read_only]
    resource("book", "book://{id}", do: read(McpServer.Handlers, :echo))

    def whoami(conn, _arguments), do: {:ok, [text(inspect(conn.principal))]}
    def ask(conn, _arguments), do: confirm(conn, "Sure?", fn -> {:ok, "Done"} end)
    def identify(%{req_headers: headers}), do: {:ok, Map.get(Map.new(headers), "x-user", "nobody")}
  end

  test "a server at a URL, in both eras" do
    server = start_supervised!({McpServer.HttpServer, router: Away, port: 0, identify: &Away.identify/1})
    url = "http://127.0.0.1:#{McpServer.HttpServer.port(server)}/mcp"
    accepted = %{"elicitation/create" => %{"action" => "accept", "content" => %{"confirm" => true}}}

    for revision <- ["2025-11-25", "2026-07-28"] do
      client = McpServer.Test.connect(Away, url: url, headers: [{"x-user", "ada"}], revision: revision)
      assert {:ok, %{"content" => [%{"text" => ~s("ada")}]}} = call_tool("whoami", %{}, on: client)
      assert {:input_required, [%{"method" => "elicitation/create"}]} = call_tool("ask", %{}, on: client)
      assert {:ok, %{"content" => [%{"text" => text}]}} = call_tool("ask", %{}, on: client, answers: accepted)
      assert {revision, text} == {revision, "Done"}
      assert subscribe(client, "book://emma") == :ok
      Changes.resource_updated(Away, "book://emma")
      assert_receive {:mcp_notification, "notifications/resources/updated", %{"uri" => "book://emma"}}
      assert McpServer.Test.disconnect(client) == :ok
    end

    assert_raise ArgumentError, "with :url, the server at the URL decides on :principal: leave it out", fn ->
      McpServer.Test.connect(Away, url: url, principal: "ada")
    end
  end

  test "what a client may not subscribe to" do
    client = McpServer.Test.connect(Shelf, revision: "2025-11-25")
    assert {:error, %{"code" => -32002}} = subscribe(client, ["book://dune", "book://diary"])

    client = McpServer.Test.connect(Shelf, limits: [max_streams: 1])

    assert subscribe(client, ["book://dune", "book://diary", :prompts]) ==
             {:error, %{"message" => ~s(the stream leaves out "book://diary", :prompts)}}

    assert {:error, %{"code" => -32600}} = subscribe(client, "book://dune")

    assert_raise ArgumentError, "expected a URI, :tools, :prompts or :resources, got: :tool", fn ->
      subscribe(client, :tool)
    end
  end

  test "a request for an endpoint" do
    {headers, body} = McpServer.Test.http_request("tools/call", %{"name" => "zwölf"}, meta: %{"a" => 1})

    assert headers == [
             {"content-type", "application/json"},
             {"accept", "application/json, text/event-stream"},
             {"mcp-protocol-version", "2026-07-28"},
             {"mcp-method", "tools/call"},
             {"mcp-name", "=?base64?enfDtmxm?="}
           ]

    assert %{"jsonrpc" => "2.0", "id" => 1, "method" => "tools/call", "params" => params} = McpServer.JSON.decode!(body)
    assert %{"name" => "zwölf", "_meta" => %{"a" => 1, "io.modelcontextprotocol/clientInfo" => _info}} = params
    assert {_headers, _body} = McpServer.Test.http_request("tools/list")

    assert_raise ArgumentError, ~r/has no option :met, did you mean meta\?/, fn ->
      McpServer.Test.http_request("tools/list", %{}, met: %{})
    end
  end

  test "answers by function, and declining" do
    import McpServer.Controller

    ask = fn conn, _ ->
      case {input(conn, "roots"), conn.input_errors} do
        {%{"roots" => []}, _} -> {:ok, [text("empty")]}
        {nil, %{"roots" => _}} -> {:ok, [text("declined")]}
        _first -> input_required(roots: list_roots())
      end
    end

    answers = fn "roots/list", %{} -> %{"roots" => []} end
    assert {:ok, %{"content" => [%{"text" => "empty"}]}} = call_tool("run", %{}, assigns: %{run: ask}, answers: answers)

    declines = fn _, _ -> {:error, %{"code" => -1, "message" => "no"}} end

    assert {:ok, %{"content" => [%{"text" => "declined"}]}} =
             call_tool("run", %{}, assigns: %{run: ask}, answers: declines, revision: "2025-11-25")
  end

  test "a server that does not answer is an error of the test, in time" do
    slow = %{run: fn _, _ -> Process.sleep(:infinity) end}

    assert_raise McpServer.Client.Error, "the server did not answer within 50 ms", fn ->
      call_tool("run", %{}, assigns: slow, receive_timeout: 50)
    end
  end

  test "an option or a revision that does not exist is an error with the allowed ones" do
    names =
      "revision, answers, client_capabilities, client_info, progress_token, log_level, meta, assigns, " <>
        "receive_timeout, initialize, principal, auth, url, headers, on, timeout, drain, on_eof, limits"

    unknown = "McpServer.Test has no option :revison, did you mean revision? Its options are: #{names}"
    allowed = Enum.map_join(Enum.reverse(@revisions), " or ", &inspect/1)

    for {options, message} <- [
          {[revison: "2025-11-25"], unknown},
          {[max_calls: 1],
           "McpServer.Test has no option :max_calls. Write limits: [max_calls: …]. Its options are: #{names}"},
          {[revision: "2025-11-26"],
           ~s(expected :revision to be #{allowed}, got: "2025-11-26", did you mean 2025-11-25?)},
          {[revision: nil], "expected :revision to be #{allowed}, got: nil"},
          {[meta: "m"], ~s(expected :meta to be a map, got: "m")}
        ],
        send <- [&call_tool("run", %{}, &1), &list_tools/1, &request(%{"id" => 1, "method" => "ping"}, &1), &connect/1] do
      assert_raise ArgumentError, message, fn -> send.(options) end
    end

    client = connect(revision: "2025-11-25")
    assert_raise ArgumentError, unknown, fn -> call_tool("run", %{}, on: client, revison: "2025-11-25") end

    for option <- [principal: "ada", revision: "2025-11-25", assigns: %{}, timeout: 5] do
      message = "#{inspect(elem(option, 0))} is fixed when a transport is opened: give it to connect, not beside :on"
      assert_raise ArgumentError, message, fn -> call_tool("run", %{}, [option, {:on, client}]) end
    end
  end

  test "no messages are left behind" do
    {:ok, _result} = call_tool("run")
    {:ok, _tools} = list_tools(revision: "2025-06-18")
    assert Process.info(self(), :messages) == {:messages, []}
  end
end
