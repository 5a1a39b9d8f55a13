defmodule McpServer.Dispatch.CallbacksTest do
  # A router's callbacks check arguments, permissions and results like the transports (here `McpServer.Test`).
  use ExUnit.Case, async: true

  alias McpServer.{Conn, Content, Envelope, Resource, Test}
  alias McpServer.Tool.CallResult

  defmodule Report do
    defstruct [:title, rows: []]

    defimpl McpServer.Tool.Result do
      alias McpServer.Dispatch.CallbacksTest.Report
      alias McpServer.Tool.{CallResult, Content}

      def to_call_result(%Report{title: nil}, _conn), do: {:error, "a report without a title"}

      def to_call_result(report, conn) do
        text = Content.text("#{report.title} for #{conn.principal}: #{length(report.rows)} rows")
        {:ok, CallResult.new(content: [text], structured_content: %{"rows" => report.rows})}
      end
    end
  end

  defmodule Handlers do
    use McpServer.Controller

    def arguments(_conn, arguments), do: {:ok, [text(inspect(arguments))]}
    def envelope(_conn, _arguments), do: {:error, Envelope.error("No stock")}
    def report(_conn, %{"as" => "ok"}), do: {:ok, %Report{title: "June", rows: [1, 2]}}
    def report(_conn, %{"as" => "bare"}), do: %Report{title: "June"}
    def report(_conn, %{"as" => "untitled"}), do: {:ok, %Report{}}
    def report(_conn, %{"as" => "date"}), do: {:ok, ~D[2026-01-31]}
    def task(_conn, _arguments), do: {:task, fn conn -> {:ok, [text("done for #{conn.principal}")]} end}
    def greet(_conn, %{"name" => name}), do: [message("user", "Hello #{name}!")]
    def names(_conn, "name", prefix), do: completion([prefix <> "da"])
    def may(conn), do: if(conn.principal == "ann", do: :ok, else: {:error, :forbidden})

    def may_read(conn, _variables),
      do: if(Conn.get_private(conn, :uri) == "notes://a%20b", do: :ok, else: {:error, :forbidden})

    def hides(_conn), do: false
    def returned(conn, _arguments), do: conn.assigns.returned
    def returned(conn, _argument, _prefix), do: conn.assigns.returned
    def note(_conn, variables), do: %Resource.Content{uri: nil, text: inspect(variables)}
    def wrapped(_conn, _variables), do: {:ok, %{"contents" => [%{"uri" => "notes://list", "text" => "t"}]}}
    def bare(_conn, _variables), do: %{"uri" => "notes://bare", "text" => "t"}
  end

  defmodule Server do
    use McpServer.Router

    tool "typed", "Has arguments", Handlers, :arguments do
      input_field "count", "How many", :integer, required: true
    end

    tool "repaired", "Has arguments", Handlers, :arguments, repair: true do
      input_field "count", "How many", :integer
    end

    tool "guarded", "Is guarded", Handlers, :arguments, authorize: {Handlers, :may}, listed: :always
    tool "asks", "Asks", Handlers, :arguments, requires: [:elicitation]
    tool "envelope", "Fails", Handlers, :envelope
    tool "task", "Takes long", Handlers, :task

    tool "report", "Reports", Handlers, :report do
      input_field "as", "In which form", :string, required: true
    end

    prompt "greet", "Greets", authorize: {Handlers, :may}, listed: :always do
      argument "name", "Whom", required: true
      get Handlers, :greet
      complete Handlers, :names
    end

    tool "hidden", "Is hidden", Handlers, :arguments, visible: {Handlers, :hides} do
      input_field "count", "How many", :integer, required: true
    end

    tool "returned", "Returns what the test says", Handlers, :returned

    tool "sum", "Has an output schema", Handlers, :returned do
      output_field "sum", "The sum", :integer, required: true
    end

    prompt "hidden", "Is hidden", visible: {Handlers, :hides} do
      argument "name", "Whom", required: true
      get Handlers, :greet
      complete Handlers, :names
    end

    prompt "returned", "Returns what the test says" do
      argument "name", "Whom"
      get Handlers, :returned
      complete Handlers, :returned
    end

    resource "returned", "returned://fixed" do
      read Handlers, :returned
    end

    resource "hidden", "hidden://{name}", visible: {Handlers, :hides} do
      read Handlers, :note
      complete Handlers, :names
    end

    resource "note", "notes://{name}", authorize: {Handlers, :may_read} do
      read Handlers, :note
    end

    resource "list", "notes://list" do
      read Handlers, :wrapped
    end

    resource "bare", "notes://bare" do
      read Handlers, :bare
    end
  end

  @conn %Conn{}
  @ann %Conn{principal: "ann"}

  describe "arguments" do
    test "of a wrong type are refused in the words of the wire" do
      assert {:error, text} = Server.call_tool(@conn, "typed", %{"count" => "one"})
      assert text =~ "/count: must be an integer"

      assert {:ok, %{"isError" => true, "content" => [%{"text" => ^text}]}} =
               Test.call_tool(Server, "typed", %{"count" => "one"})
    end

    test "are repaired where the tool says so" do
      assert Server.call_tool(@conn, "repaired", %{"count" => "42"}) ==
               {:ok, [%Content.Text{text: ~s(%{"count" => 42})}]}
    end

    test "that are misspelt are all told, with a suggestion" do
      text = """
      Invalid arguments for tool 'typed':
      - /cuont: `cuont` is not an argument, is `count` meant? (additionalProperties)
      - (root): must be an object with the property "count"; is "cuont" meant to be it? (required)\
      """

      assert Server.call_tool(@conn, "typed", %{"cuont" => 1}) == {:error, text}

      assert {:ok, %{"isError" => true, "content" => [%{"text" => ^text}]}} =
               Test.call_tool(Server, "typed", %{"cuont" => 1})
    end

    test "must be an object, and a name a string" do
      for {name, arguments} <- [{"typed", []}, {1, %{}}], call <- [&Server.call_tool/3, &Server.get_prompt/3] do
        assert {:error, text} = call.(@conn, name, arguments)
        assert {:error, %{"code" => -32602, "message" => ^text}} = Test.call_tool(Server, name, arguments)
      end
    end

    test "of a prompt are strings, and the required ones are there" do
      for arguments <- [%{"name" => 1}, %{}, %{"nmae" => "x"}] do
        assert {:error, text} = Server.get_prompt(@ann, "greet", arguments)
        assert {:error, %{"message" => ^text}} = Test.get_prompt(Server, "greet", arguments)
      end
    end

    test "of a resource make a URI, and are what is found in it" do
      assert {:ok, %{contents: [%{uri: "notes://a%20b", text: ~s(%{"name" => "a b"})}]}} =
               Server.read_resource(@conn, "note", %{"name" => "a b"})

      # A client that reads this URI would get another resource.
      assert Server.read_resource(@conn, "note", %{"name" => "list"}) ==
               {:error, ~s(Resource 'note' has no URI with the variables ["name"])}
    end
  end

  describe "permission" do
    test "is asked for, as of a client" do
      assert Server.call_tool(@conn, "guarded", %{}) == {:error, "Forbidden"}
      assert Server.call_tool(@ann, "guarded", %{}) == {:ok, [%Content.Text{text: "%{}"}]}
      assert Server.get_prompt(@conn, "greet", %{"name" => "x"}) == {:error, "Forbidden"}
      assert Server.complete_prompt(@conn, "greet", "name", "A") == {:error, "Forbidden"}
      assert {:ok, %{values: ["Ada"]}} = Server.complete_prompt(@ann, "greet", "name", "A")
      assert Server.read_resource(@conn, "note", %{"name" => "other"}) == {:error, "Forbidden"}
    end

    test "hides an entry before its arguments are checked" do
      hidden = &{:error, "#{&1} 'hidden' not found"}
      assert Server.call_tool(@conn, "hidden", %{}) == hidden.("Tool")
      assert Server.get_prompt(@conn, "hidden", %{}) == hidden.("Prompt")
      assert Server.complete_prompt(@conn, "hidden", "age", "") == hidden.("Prompt")
      assert Server.read_resource(@conn, "hidden", %{}) == hidden.("Resource")
      assert Server.complete_resource(@conn, "hidden", "id", "") == hidden.("Resource")

      assert {:error, %{"code" => -32602, "message" => "Tool 'hidden' not found"}} =
               Test.call_tool(Server, "hidden", %{})
    end

    test "needs what the tool requires of the client" do
      assert Server.call_tool(@conn, "asks", %{}) ==
               {:error, "The client does not support elicitation, which this call needs"}

      assert {:ok, _content} = Server.call_tool(%Conn{client_capabilities: %{"elicitation" => %{}}}, "asks", %{})
    end
  end

  describe "results" do
    test "an envelope is a result" do
      assert {:ok,
              %CallResult{is_error: true, structured_content: %Envelope{success: false} = envelope, content: [text]}} =
               Server.call_tool(%Conn{request_id: "req_1"}, "envelope", %{})

      assert envelope.meta["request_id"] == "req_1"
      assert text.text == McpServer.JSON.encode!(envelope)
    end

    test "a struct of the user's own is what its implementation makes of it, on the wire too" do
      assert {:ok, %CallResult{content: [%{text: "June for ann: 2 rows"}], structured_content: %{"rows" => [1, 2]}}} =
               Server.call_tool(@ann, "report", %{"as" => "ok"})

      assert {:ok, %CallResult{content: [%{text: "June for ann: 0 rows"}]}} =
               Server.call_tool(@ann, "report", %{"as" => "bare"})

      assert {:ok, %{"content" => [%{"text" => "June for : 2 rows"}], "structuredContent" => %{"rows" => [1, 2]}}} =
               Test.call_tool(Server, "report", %{"as" => "ok"})
    end

    test "what is no result is said to the caller, and not what it holds" do
      assert_raise ArgumentError, ~r/Handlers.report\/2 returned cannot be sent: a report without a title\z/, fn ->
        Server.call_tool(@conn, "report", %{"as" => "untitled"})
      end

      assert_raise ArgumentError, ~r/Handlers.report\/2 returned {:ok, #Date<...>}. A tool returns/, fn ->
        Server.call_tool(@conn, "report", %{"as" => "date"})
      end
    end

    test "of a tool that cannot be sent raise what the wire says, in both eras" do
      for {tool, values} <- [
            {"returned", [[1, 2], [%{a: 1}], ["a", "b"], [count: 1], ~c"abc", <<255>>, %{pid: self()}, question()]},
            {"sum", ["3", [], %{sum: "three"}, %CallResult{content: []}]}
          ],
          returned <- values,
          revision <- ["2025-11-25", "2026-07-28"] do
        assert said(&Server.call_tool(&1, tool, %{}), returned) ==
                 wire(&Test.call_tool(Server, tool, %{}, &1), returned, revision)
      end

      assert Server.call_tool(returning({:ok, %{sum: 3}}), "sum", %{}) ==
               {:ok, %CallResult{content: [%Content.Text{text: ~s({"sum":3})}], structured_content: %{sum: 3}}}
    end

    # A question that is no JSON.
    defp question do
      request = %McpServer.InputRequest{method: "elicitation/create", params: %{"message" => self()}}
      {:input_required, %{"a" => request}, nil}
    end

    test "of prompts, resources and completions that cannot be sent raise what the wire says" do
      for {callback, call} <- [
            {&Server.get_prompt(&1, "returned", %{}), &Test.get_prompt(Server, "returned", %{}, &1)},
            {&Server.read_resource(&1, "returned", %{}), &Test.read_resource(Server, "returned://fixed", &1)},
            {&Server.complete_prompt(&1, "returned", "name", ""),
             &Test.complete_prompt(Server, "returned", "name", "", &1)}
          ] do
        assert said(callback, [1, 2]) == wire(call, [1, 2], "2025-11-25")
      end
    end

    defp returning(returned), do: %Conn{assigns: %{returned: returned}}
    defp said(callback, returned), do: Exception.message(catch_error(callback.(returning(returned))))

    # The log line of this call. It has the id that the client got, because other tests log too.
    defp wire(call, returned, revision) do
      options = [
        revision: revision,
        assigns: %{returned: returned},
        client_capabilities: %{"elicitation" => %{}}
      ]

      {answer, log} = McpServer.TestLog.with_log(fn -> call.(options) end)
      assert [_, id] = Regex.run(~r/error ?id\W+([0-9a-f]{16})/i, inspect(answer))
      assert [_, text] = Regex.run(~r/\(error id #{id}\): (.*)\n/, log)
      text
    end

    @tag :capture_log
    test "the wire logs the implementation's reason, and the client hears none" do
      log =
        McpServer.TestLog.capture_log(fn ->
          assert {:ok, %{"isError" => true, "content" => [%{"text" => text}]}} =
                   Test.call_tool(Server, "report", %{"as" => "untitled"})

          refute text =~ "title"
        end)

      assert log =~ "returned cannot be sent: a report without a title"
    end

    test "work that may run as a task runs at once" do
      assert Server.call_tool(@ann, "task", %{}) == {:ok, [%Content.Text{text: "done for ann"}]}
    end

    test "contents of a resource are bare, or a result as a map" do
      for name <- ["list", "bare"] do
        uri = "notes://" <> name
        assert {:ok, %{contents: [%{"uri" => ^uri, "text" => "t"}]}} = Server.read_resource(@conn, name, %{})
        assert {:ok, %{"contents" => [%{"uri" => ^uri, "text" => "t"}]}} = Test.read_resource(Server, uri)
      end
    end
  end
end
