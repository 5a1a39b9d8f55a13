defmodule McpServer.DualResponse.RouterTest do
  # Not async: the servers' names are compiled into the routers.
  use McpServer.RouterCase, async: false

  alias McpServer.{DualResponse, JSON}
  alias McpServer.DualResponse.Response
  alias McpServer.DualResponses

  @server McpServer.DualResponse.RouterTest.Results
  @base_url "https://api.example.com/resources"

  defmodule Handlers do
    alias McpServer.DualResponse.RouterTest.Results

    def search(conn, arguments) do
      count = arguments["count"] || 300
      options = if arguments["bind"], do: [conn: conn], else: []
      DualResponse.create_response(Results, DualResponses.numbers(count, options))
    end

    def map(conn, arguments) do
      with {:ok, response} <- search(conn, arguments), do: {:ok, Response.to_mcp_tool_result(response)}
    end

    def failing(_conn, _arguments) do
      page = fn %{limit: limit} -> if limit == 15, do: [], else: raise("hunter2") end
      DualResponse.create_response(Results, DualResponses.numbers(3, execute: page))
    end

    def unwritable(_conn, _arguments) do
      page = fn %{limit: limit} -> if limit == 15, do: [], else: [%{"pid" => self()}] end
      DualResponse.create_response(Results, DualResponses.numbers(3, execute: page))
    end
  end

  defmodule MCP do
    use McpServer.Router

    dual_responses McpServer.DualResponse.RouterTest.Results

    tool "search", "Finds rows", Handlers, :search do
      input_field "count", "How many", :integer
      input_field "bind", "To the caller", :boolean
    end

    tool "map", "Finds rows", Handlers, :map
    tool "failing", "Finds rows", Handlers, :failing
    tool "unwritable", "Finds rows", Handlers, :unwritable
  end

  defmodule Atoms do
    use McpServer.Router, arguments: :atoms
    dual_responses McpServer.DualResponse.RouterTest.Results
    tool "search", "Finds rows", Handlers, :search
  end

  defmodule Outer do
    use McpServer.Router
    include MCP
  end

  use McpServer.Test, router: MCP

  setup context do
    unless context[:stopped], do: start_supervised!({DualResponse, [name: @server, base_url: @base_url]})
    :ok
  end

  defp create!(arguments \\ %{}, options \\ []) do
    {:ok, %{"structuredContent" => content}} = call_tool("search", arguments, options)
    content["resource"]
  end

  describe "a handler answers" do
    @describetag req: "S1-33"
    # The text of a response contains the rows. Its tool result has the document's form.
    for {tool, rows} <- [{"search", Enum.map(0..14, &~s(\n{"n":#{&1},"text":"row #{&1}"}))}, {"map", []}] do
      test "#{tool}: with a response or with its tool result" do
        sentence = "Found 300 results. Sample data and full dataset link included."
        assert {:ok, %{"content" => [text, link], "structuredContent" => content} = result} = call_tool(unquote(tool))
        refute result["isError"]
        assert text == %{"type" => "text", "text" => sentence <> unquote(Enum.join(rows))}
        assert %{"type" => "resource_link", "name" => "Numbers", "mimeType" => "application/json"} = link
        assert content["resource"]["uri"] == link["uri"]
        assert content["results"] == DualResponses.rows(15)
        assert Map.keys(content["metadata"]) == ["columns", "executed_at", "expires_at", "total_count"]
      end
    end

    test "and callers of the router's own functions get the same" do
      for tool <- ["search", "map"] do
        assert {:ok, %McpServer.Tool.CallResult{content: [_text, _link], structured_content: %{"metadata" => _}}} =
                 MCP.call_tool(%McpServer.Conn{}, tool, %{})
      end
    end

    test "and clients of revisions without links are told where it is" do
      assert {:ok, %{"content" => [_text, %{"type" => "text", "text" => "Numbers: resource://" <> _id}]}} =
               call_tool("search", %{}, revision: "2024-11-05")
    end
  end

  describe "resources/read" do
    @describetag req: "Q3"
    test "the template is listed" do
      assert {:ok, [template]} = list_resource_templates()

      assert %{"uriTemplate" => "resource://{id}", "name" => "dual_response", "mimeType" => "application/json"} =
               template
    end

    test "gives what the resource is, and its first page" do
      resource = create!()
      assert {:ok, %{"contents" => [content]}} = read_resource(resource["uri"])
      assert %{"uri" => uri, "mimeType" => "application/json", "text" => text} = content
      assert uri == resource["uri"]
      {:ok, body} = JSON.decode(text)

      assert %{
               "status" => "ready",
               "total_count" => 300,
               "returned_count" => 100,
               "offset" => 0,
               "has_next" => true,
               "next_offset" => 100,
               "access_count" => 1,
               "columns" => [%{"name" => "n", "type" => "number"}, %{"name" => "text"}]
             } = body

      assert body["data"] == DualResponses.rows(100)
      assert body["created_at"] =~ ~r/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\z/
      assert body["expires_at"] =~ ~r/Z\z/
      "resource://" <> id = resource["uri"]
      assert DualResponse.get_resource(@server, id).access_count == 1
    end

    # Earlier, a link of the first could not be read because of its arguments, and one of the second because of the server.
    test "is the same with `arguments: :atoms`, and in a router that includes this one" do
      for router <- [Atoms, Outer] do
        {:ok, %{"structuredContent" => content}} = McpServer.Test.call_tool(router, "search", %{})

        assert {:ok, %{"contents" => [%{"text" => text}]}} =
                 McpServer.Test.read_resource(router, content["resource"]["uri"])

        assert %{"total_count" => 300, "returned_count" => 100} = JSON.decode!(text)
      end
    end

    for {revision, code} <- [{"2024-11-05", -32_002}, {"2025-11-25", -32_002}, {"2026-07-28", -32_602}] do
      @tag req: "M17"
      test "what is gone, and what never was, is #{code} in #{revision}" do
        "resource://" <> id = uri = create!()["uri"]
        assert {:ok, _result} = read_resource(uri, revision: unquote(revision))
        assert DualResponse.delete_resource(@server, id)

        for uri <- [uri, "resource://unknown"] do
          assert {:error, %{"code" => unquote(code), "message" => "Resource not found"}} =
                   read_resource(uri, revision: unquote(revision))
        end
      end
    end

    @tag :stopped
    test "what has expired is not found" do
      {clock, pass} = DualResponses.clock()
      start_supervised!({DualResponse, [name: @server, base_url: @base_url, clock: clock]})
      uri = create!()["uri"]
      pass.(900_000)
      assert {:error, %{"code" => -32_602}} = read_resource(uri)
    end

    @tag req: ["RES-17", "RES-18"]
    test "one that is pinned is ready, and its expires_at is there and null" do
      "resource://" <> id = uri = create!()["uri"]
      assert DualResponse.pin_resource(@server, id)
      assert {:ok, %{"contents" => [%{"text" => text}]}} = read_resource(uri)
      assert text =~ ~s("expires_at":null)
      assert text =~ ~s("status":"ready")
    end

    test "whose query fails says so, and no more" do
      {:ok, %{"structuredContent" => content}} = call_tool("failing")
      assert {:error, %{"code" => -32_603, "message" => message}} = read_resource(content["resource"]["uri"])
      assert message == "The query failed"
      {:ok, %{"structuredContent" => content}} = call_tool("unwritable")
      assert {:error, %{"message" => message}} = read_resource(content["resource"]["uri"])
      assert message == "The rows cannot be written as JSON"
    end

    @tag :stopped
    test "without a server that runs is an error, and so is a tool" do
      assert {:error, %{"message" => "The store is not available"}} = read_resource("resource://abc")
      assert {:ok, %{"isError" => true}} = call_tool("search")
    end
  end

  describe "who reads" do
    @describetag req: ["Q5", "R1", "SEC-06"]
    @tag :stopped
    test "is who called: what bind: makes of the conn" do
      bind = fn conn -> %{tenant: conn.assigns[:org], subject: conn.assigns[:user]} end
      start_supervised!({DualResponse, [name: @server, base_url: @base_url, bind: bind]})
      ada = [assigns: %{org: "acme", user: "ada"}]
      eve = [assigns: %{org: "acme", user: "eve"}]
      uri = create!(%{"bind" => true}, ada)["uri"]
      assert {:ok, _result} = read_resource(uri, ada)
      unknown = read_resource("resource://unknown", eve)
      assert {:error, denied} = read_resource(uri, eve)
      assert {:error, put_in(denied, ["data", "uri"], "resource://unknown")} == unknown
      # Any client with the id can read an unbound resource.
      assert {:ok, _result} = read_resource(create!(%{}, ada)["uri"], eve)
    end
  end

  describe "the capability experimental.dualResponse" do
    defp capabilities(revision) do
      params = %{
        "protocolVersion" => revision,
        "capabilities" => %{},
        "clientInfo" => %{"name" => "test", "version" => "1"}
      }

      message = %{"id" => 1, "method" => "initialize", "params" => params}
      %{"result" => result} = request(message, revision: revision, initialize: false)
      result["capabilities"]
    end

    test "says where the endpoint is, in every revision" do
      expected = %{"dualResponse" => %{"enabled" => true, "baseUrl" => @base_url, "defaultExpiration" => 900}}
      for revision <- ["2024-11-05", "2025-11-25"], do: assert(capabilities(revision)["experimental"] == expected)
      %{"result" => discovered} = request(%{"id" => 1, "method" => "server/discover"})
      assert discovered["capabilities"]["experimental"] == expected
    end

    @tag :stopped
    test "is there while the server runs" do
      refute Map.has_key?(capabilities("2025-11-25"), "experimental")
      start_supervised!({DualResponse, [name: @server, base_url: @base_url, default_expiration: :infinity]})

      assert capabilities("2025-11-25")["experimental"] == %{
               "dualResponse" => %{"enabled" => true, "baseUrl" => @base_url}
             }

      DualResponse.shutdown(@server)
      refute Map.has_key?(capabilities("2025-11-25"), "experimental")
    end
  end

  describe "a declaration" do
    test "is data" do
      router = router!(~s(dual_responses Some.Results, uri: "rows://acme/{id}", name: "rows", title: "Rows"))
      assert router.__mcp__(:overflow) == {DualResponse.Spill, Some.Results}
      assert [%{uriTemplate: "rows://acme/{id}", name: "rows", title: "Rows"}] = router.__mcp__(:resource_templates)
      assert router!("").__mcp__(:overflow) == nil
    end

    for {what, line, message, statements} <- [
          {"of a name that is none", 3, ~s(dual_responses names a McpServer.DualResponse by its name, got: "Results"),
           ~s(dual_responses "Results")},
          {"made twice", 4, "dual_responses is already declared, at router.ex:3. Remove one",
           "dual_responses Some.Results\ndual_responses Other.Results"},
          {"with a URI without id", 3,
           ~s(the uri of dual_responses is a template with the one variable {id}, such as "results://{id}", got: "rows://{key}"),
           ~s(dual_responses Some.Results, uri: "rows://{key}")},
          {"with a URI of more", 3, ~r/is a template with the one variable/,
           ~s(dual_responses Some.Results, uri: "rows://{tenant}/{id}")},
          {"with an unknown option", 3, ~r/dual_responses has no option url, did you mean uri\?/,
           ~s(dual_responses Some.Results, url: "rows://{id}")},
          {"of a router that is included beside another one", 4,
           ~r/include .*MCP: its `dual_responses` name another server than those at router.ex:3. Use one for both/,
           ~s(dual_responses Some.Results, name: "own", uri: "own://{id}"\ninclude McpServer.DualResponse.RouterTest.MCP)},
          {"whose template's name is taken", 6, ~r/is already defined, at router.ex:3/,
           ~s(resource "dual_response", "x://y" do\nread McpServer.Handlers, :read\nend\ndual_responses Some.Results)}
        ] do
      test "#{what} is refused at its line" do
        assert_refused(unquote(line), unquote(Macro.escape(message)), unquote(statements))
      end
    end

    test "of a result_budget without dual_responses is refused at the tool's line" do
      message =
        ~s(the result_budget of tool "b" needs a place for larger results: declare `dual_responses MyApp.Results`)

      assert_refused(4, message, """
      tool "a", "A", McpServer.Handlers, :echo
      tool "b", "B", McpServer.Handlers, :echo, result_budget: 10_000
      """)
    end

    test "of a result_budget may stand before dual_responses; it is at least 2,048 bytes" do
      tool = &~s(tool "b", "B", McpServer.Handlers, :echo, result_budget: #{&1})
      assert %{result_budget: 2_048} = elem(router!(tool.(2_048) <> "\ndual_responses X").__mcp__(:tool_handlers), 0)
      message = ~s(the result_budget of tool "b" is at least 2048 bytes, got: 2047)
      assert_refused(3, message, tool.(2_047) <> "\ndual_responses X")
      assert_refused(3, ~r/expected :result_budget of tool "b" to be a non-negative integer/, tool.("-1"))
    end
  end
end
