defmodule McpServer.Protocol.AnyOutputTest.Router do
  @moduledoc false
  use McpServer.Router, name: "outputs"

  alias McpServer.Protocol.AnyOutputTest.Handlers

  for {name, schema} <- [
        {"list", %{"type" => "array", "items" => %{"type" => "integer"}}},
        {"text", %{"type" => "string"}},
        {"number", %{"type" => "number"}},
        {"flag", %{"type" => "boolean"}},
        {"either", %{"oneOf" => [%{"type" => "string"}, %{"type" => "object"}]}},
        {"object", %{"type" => "object"}}
      ] do
    tool name, "Returns what the test says", Handlers, :run, output_schema: schema
  end
end

defmodule McpServer.Protocol.AnyOutputTest.Handlers do
  @moduledoc false
  use McpServer.Controller

  def run(conn, _arguments), do: conn.assigns.returned
end

defmodule McpServer.Protocol.AnyOutputTest do
  # Tools whose output schema allows other values than objects, which is possible since 2026-07-28.
  use ExUnit.Case, async: true
  use McpServer.Test, router: McpServer.Protocol.AnyOutputTest.Router

  alias McpServer.{Controller, JSON}
  alias McpServer.Tool.CallResult

  @values [{"list", [1, 2]}, {"list", []}, {"text", "hello"}, {"number", 1.5}, {"flag", false}, {"either", "hello"}] ++
            [{"either", %{"a" => 1}}]

  defp call(tool, returned, revision \\ "2026-07-28"),
    do: call_tool(tool, %{}, revision: revision, assigns: %{returned: returned})

  test "a value is structured content, and its JSON is text" do
    for {tool, value} <- @values, returned <- [value, {:ok, value}, {:ok, result(value)}] do
      assert {:ok, %{"structuredContent" => ^value, "content" => [%{"text" => text}]}} = call(tool, returned)
      assert JSON.decode!(text) == value
    end
  end

  defp result(value), do: CallResult.new(content: [Controller.text(JSON.encode!(value))], structured_content: value)

  test "an older revision gets a value that is no object as text only" do
    for {tool, value} when not is_map(value) <- @values do
      assert {:ok, %{"content" => [%{"text" => text}]} = result} = call(tool, {:ok, value}, "2025-11-25")
      refute is_map_key(result, "structuredContent")
      assert JSON.decode!(text) == value
    end
  end

  @tag :capture_log
  test "a value that the schema does not allow is a failure" do
    for {tool, value} <- [{"list", ["a"]}, {"text", 1}, {"number", "1"}, {"flag", "true"}, {"object", [1]}] do
      assert {:ok, %{"isError" => true}} = call(tool, {:ok, value})
    end
  end

  test "a list of content is content, and needs structured content beside it" do
    result = CallResult.new(content: [Controller.text("two numbers")], structured_content: [1, 2])
    assert {:ok, %{"structuredContent" => [1, 2], "content" => [%{"text" => "two numbers"}]}} = call("list", result)
  end
end
