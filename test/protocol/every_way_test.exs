defmodule McpServer.Protocol.EveryWayTest do
  # What authors write, over stdio, the HTTP server and the plug, in both eras. Details are tested in files of their
  # own, most of them without a transport.
  use ExUnit.Case, async: true

  import McpServer.TestLog
  import McpServer.EveryWay, only: [ask_all: 3, ways: 2]

  alias McpServer.EveryWayRouter

  @moduletag :tmp_dir

  setup %{tmp_dir: tmp_dir}, do: {:ok, ways: ways(EveryWayRouter, tmp_dir)}

  defp call(ways, name, arguments \\ %{}), do: ask_all(ways, "tools/call", %{"name" => name, "arguments" => arguments})

  # The members of a result that authors decide.
  defp own(result), do: Map.take(result, ["content", "structuredContent", "isError", "code", "message"])

  defp text(text), do: [%{"type" => "text", "text" => text}]

  test "results are what they look like", %{ways: ways} do
    for {name, expected} <- [
          {"text", %{"content" => text("hello")}},
          {"ok_text", %{"content" => text("hello")}},
          {"in_hello", %{"content" => text("hello")}},
          {"map", %{"content" => text(~S({"sum":3})), "structuredContent" => %{"sum" => 3}}},
          {"failure", %{"content" => text("hello"), "isError" => true}}
        ],
        {way, result} <- call(ways, name) do
      result = if result["isError"] == false, do: Map.delete(result, "isError"), else: result
      assert {way, name, own(result)} == {way, name, expected}
    end
  end

  test "any other result fails the call", %{ways: ways} do
    # The server over stdio is in another VM, with its own log and with `debug_errors: true`.
    log =
      capture_log(fn ->
        for {way, result} <- call(ways, "rows") do
          assert %{"isError" => true, "content" => [%{"text" => text}]} = result
          assert {way, text =~ ~r/\ATool execution failed \(error id [^)]+\)/} == {way, true}
        end
      end)

    assert length(Regex.scan(~r/EveryWayRouter\.rows\/2 returned/, log)) == 4
  end

  test "defaults below an object, and the router's own rule for undeclared arguments", %{ways: ways} do
    for {arguments, seen} <- [
          {%{"page" => %{}}, ~S({"page":{"size":20}})},
          {%{"page" => %{"size" => 5}, "other" => 1}, ~S({"page":{"size":5}})}
        ],
        {way, result} <- call(ways, "nested", arguments) do
      assert {way, result["content"]} == {way, text(seen)}
    end
  end

  test "a prompt's text is a message, and a completion's list its values", %{ways: ways} do
    for {way, result} <- ask_all(ways, "prompts/get", %{"name" => "greet"}) do
      message = %{"role" => "user", "content" => %{"type" => "text", "text" => "hello"}}
      assert {way, result["messages"]} == {way, [message]}
    end

    params = %{
      "ref" => %{"type" => "ref/prompt", "name" => "complete"},
      "argument" => %{"name" => "name", "value" => "A"}
    }

    for {way, result} <- ask_all(ways, "completion/complete", params) do
      assert {way, result["completion"]["values"]} == {way, ["Aa", "Ab"]}
    end
  end

  test "what is hidden is not listed, and is called like an unknown name", %{ways: ways} do
    for {way, %{"tools" => tools}} <- ask_all(ways, "tools/list", %{}) do
      names = ["in_hello", "text", "ok_text", "map", "failure", "rows", "nested", "refused"]
      assert {way, Enum.map(tools, & &1["name"])} == {way, names}
    end

    for name <- ["hidden", "closed_hello", "unknown"], {way, result} <- call(ways, name) do
      assert {way, own(result)} == {way, %{"code" => -32602, "message" => "Tool '#{name}' not found"}}
    end

    for {way, %{"resources" => resources}} <- ask_all(ways, "resources/list", %{}),
        do: assert({way, resources} == {way, []})

    for {way, result} <- call(ways, "refused") do
      assert {way, own(result)} == {way, %{"content" => text("Ask your admin"), "isError" => true}}
    end
  end
end
