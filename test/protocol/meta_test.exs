defmodule McpServer.Protocol.MetaTest do
  # The request's data for handlers besides the arguments.
  use ExUnit.Case, async: true
  use McpServer.Test, router: McpServer.MetaRouter

  import McpServer.EveryWay, only: [ask_all: 3, ways: 2]

  alias McpServer.{Conn, MetaRouter}

  @eras ["2025-11-25", "2026-07-28"]
  @trace %{
    "traceparent" => "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "tracestate" => "vendor=1",
    "baggage" => "user=7"
  }

  @tag :tmp_dir
  test "on the wire: _meta without the protocol's own members, and the trace context", %{tmp_dir: tmp_dir} do
    ways = ways(MetaRouter, tmp_dir)
    meta = Map.merge(@trace, %{"example.com/deep" => %{"a" => [1, 2.5, nil, "ü"]}, "é\"" => true})

    for {way, %{"structuredContent" => structured}} <-
          ask_all(ways, "tools/call", %{"name" => "meta", "arguments" => %{}, "_meta" => meta}) do
      assert {way, structured["meta"], structured["trace"]} == {way, meta, @trace}
      assert is_integer(structured["id"])
    end

    for {way, result} <- ask_all(ways, "prompts/get", %{"name" => "meta", "_meta" => %{"traceparent" => "x"}}) do
      assert {way, hd(result["messages"])["content"]["text"]} == {way, inspect(%{"traceparent" => "x"})}
    end

    for {way, result} <- ask_all(ways, "resources/read", %{"uri" => "meta://it", "_meta" => %{"a" => 1}}) do
      assert {way, hd(result["contents"])["text"]} == {way, inspect(%{"a" => 1})}
    end

    for {way, %{"structuredContent" => structured}} <-
          ask_all(ways, "tools/call", %{"name" => "meta", "arguments" => %{}}) do
      assert {way, structured["meta"], structured["trace"]} == {way, %{}, %{}}
    end

    too_long = %{"name" => "meta", "arguments" => %{}, "_meta" => %{"a" => String.duplicate("x", 16_384)}}

    for {way, error} <- ask_all(ways, "tools/call", too_long) do
      assert {way, error["code"], error["message"]} ==
               {way, -32602, "Invalid params: _meta is longer than 16384 bytes"}
    end
  end

  for revision <- @eras do
    @revision revision

    test "#{revision}: meta: of McpServer.Test, beside a progress token" do
      options = [revision: @revision, meta: @trace, progress_token: "p"]
      assert {:ok, %{"structuredContent" => %{"meta" => meta}}} = call_tool("meta", %{}, options)
      assert meta == @trace
      client = connect(revision: @revision, meta: %{"a" => 1})
      assert {:ok, %{"structuredContent" => %{"meta" => %{"a" => 1}}}} = call_tool("meta", %{}, on: client)

      assert {:ok, %{"structuredContent" => %{"meta" => %{"b" => 2}}}} =
               call_tool("meta", %{}, on: client, meta: %{"b" => 2})
    end

    test "#{revision}: principal: of McpServer.Test" do
      assert_content(call_tool("who", %{}, revision: @revision, principal: %{id: 7}), "%{id: 7}")
      assert_content(call_tool("who", %{}, revision: @revision), "nil")
    end
  end

  test "what is no string is no trace context" do
    assert Conn.trace_context(%Conn{meta: %{"traceparent" => 7, "baggage" => "a=b"}}) == [{"baggage", "a=b"}]
  end

  describe "assert_content" do
    test "finds a block by its text, by a pattern and by its members, and returns it" do
      assert assert_content(call_tool("image"), "a dot") == %{"type" => "text", "text" => "a dot"}
      assert assert_content(call_tool("image"), ~r/dot/)["type"] == "text"
      assert assert_content(call_tool("image"), %{"type" => "image", "mimeType" => "image/png"})["data"] == "ZG90"
    end

    test "says what came instead" do
      for {call, expected, message} <- [
            {fn -> call_tool("image") end, "dot", ~s(No content is "dot":)},
            {fn -> call_tool("image") end, %{"type" => "audio"}, ~s(No content is %{"type" => "audio"}:)},
            {fn -> call_tool("fail") end, "no such note", "The tool has failed:"},
            {fn -> call_tool("none") end, "x", "That is no result of a tool:"}
          ] do
        error = assert_raise ExUnit.AssertionError, fn -> assert_content(call.(), expected) end
        assert error.message =~ message
      end
    end
  end

  describe "assert_tool_error" do
    test "returns the text" do
      assert assert_tool_error(call_tool("fail")) == "no such note"
      assert assert_tool_error(call_tool("fail"), "no such note") == "no such note"
      assert assert_tool_error(call_tool("fail"), ~r/such/) == "no such note"
    end

    test "says what came instead" do
      for {call, expected, message} <- [
            {fn -> call_tool("fail") end, "such", ~s(The text is not "such":)},
            {fn -> call_tool("image") end, ~r//, "The tool has not failed:"},
            {fn -> call_tool("none") end, ~r//, "The tool has not failed:"}
          ] do
        error = assert_raise ExUnit.AssertionError, fn -> assert_tool_error(call.(), expected) end
        assert error.message =~ message
      end
    end
  end
end
