defmodule McpServer.Presentation.CallsTest do
  # Presentations as sent to clients, in both eras.
  use ExUnit.Case, async: true
  use McpServer.Test, router: McpServer.PresentationRouter

  import McpServer.TestLog

  alias McpServer.{JSON, Presentation, PresentationView}

  @eras ["2025-06-18", "2025-11-25", "2026-07-28"]

  defp in_each_era(name, arguments, options \\ [], check) do
    for revision <- @eras do
      {:ok, result} = call_tool(name, arguments, [revision: revision] ++ options)
      check.(result)
    end
  end

  @tag req: ["S0-05", "S0-13", "S0-22"]
  test "each format" do
    for {format, types} <- [
          {"markdown", ["text/markdown"]},
          {"json", ["application/json"]},
          {"both", ["text/markdown", "application/json"]}
        ] do
      in_each_era("search", %{"q" => "x", "format" => format}, fn result ->
        assert Enum.map(result["content"], & &1["mimeType"]) == types
        assert result["structuredContent"]["query"] == %{"q" => "x", "format" => format}
        assert result["isError"] == false

        if format != "markdown" do
          assert Presentation.extract_structured(result, PresentationView) == {:ok, result["structuredContent"]}
        end
      end)
    end
  end

  @tag req: "S0-05"
  test "a format that is none is refused by the schema where there is one, and else by the tool" do
    in_each_era("search", %{"q" => "x", "format" => "html"}, fn result ->
      assert %{"isError" => true, "structuredContent" => %{"code" => "CLIENT_ERROR"}} = result
    end)

    assert {:ok, %{"isError" => true} = refused} = call_tool("get", %{"id" => "t1", "format" => "html"})
    refute Map.has_key?(refused, "structuredContent")
  end

  @tag req: ["S0-34", "S0-35", "S0-67", "RES-62"]
  test "questions conform to the output schema, and are no errors" do
    for {arguments, fields} <- [{%{}, ["q"]}, {%{"q" => "x", "count" => "21"}, ["group", "size"]}] do
      in_each_era("search", arguments, fn result ->
        assert %{"isError" => false, "structuredContent" => %{"needsInput" => %{"fields" => ^fields}}} = result
      end)
    end
  end

  @tag req: "S0-74"
  test "a handler that raises is a failure of a known kind, and the log says why" do
    for id <- ["raise", "throw", "exit"] do
      log =
        capture_log(fn ->
          in_each_era("get", %{"id" => id, "format" => "both"}, fn result ->
            assert %{"isError" => true, "structuredContent" => %{"kind" => "toolError:v1", "code" => "UNKNOWN_ERROR"}} =
                     result

            refute JSON.encode!(result) =~ "/var/lib"
          end)
        end)

      assert log =~ "error id"
    end

    in_each_era("get", %{"id" => "busy"}, fn result ->
      assert %{"code" => "SERVER_ERROR", "retryable" => true, "details" => %{"statusCode" => 503}} =
               result["structuredContent"]
    end)
  end

  @tag req: ["S0-55", "S0-68"]
  test "a client without elicitation gets the data" do
    in_each_era("get", %{"id" => "nope"}, [client_capabilities: %{}], fn result ->
      assert result["structuredContent"]["needsInput"]["suggestions"] == %{"id" => ["t1", "t2", "t3", "t4", "t5"]}
    end)
  end

  @tag req: "S0-68"
  test "a client with elicitation is asked by a form" do
    for revision <- @eras do
      assert {:input_required, [%{"method" => "elicitation/create", "params" => params}]} =
               call_tool("get", %{"id" => "nope"}, revision: revision)

      assert params["requestedSchema"]["properties"]["id"]["enum"] == ["t1", "t2", "t3", "t4", "t5"]

      answers = %{"elicitation/create" => %{"action" => "accept", "content" => %{"id" => "t3"}}}

      assert {:ok, %{"structuredContent" => %{"id" => "t3"}}} =
               call_tool("get", %{"id" => "nope"}, revision: revision, answers: answers)

      declined = %{"elicitation/create" => %{"action" => "decline"}}

      assert {:ok, %{"structuredContent" => %{"kind" => "needsInput:v1"}}} =
               call_tool("get", %{"id" => "nope"}, revision: revision, answers: declined)
    end
  end

  @tag req: ["S3-11", "S3-12"]
  test "structured content is always there, and JSON blocks are JSON to a strict reader" do
    for arguments <- [
          %{"q" => "x", "format" => "both"},
          %{"format" => "json"},
          %{"q" => "x", "count" => "0", "format" => "json"}
        ] do
      in_each_era("search", arguments, fn result ->
        assert is_map(result["structuredContent"])
        json = List.last(result["content"])["text"]
        assert JSON.decode!(json) == result["structuredContent"]
        refute json =~ "undefined" or json =~ "null" or json =~ "..."
      end)
    end
  end

  test "the oldest revisions know no structured content, and get the JSON block" do
    {:ok, result} = call_tool("search", %{"q" => "x", "format" => "json"}, revision: "2024-11-05")
    refute Map.has_key?(result, "structuredContent")
    assert {:ok, %{"kind" => "thingSearchResults:v1"}} = Presentation.extract_structured(result, PresentationView)
  end
end
