defmodule Mix.McpServer.PrincipalTest do
  use ExUnit.Case, async: true

  alias Mix.McpServer.Principal

  defp parse(text), do: Principal.parse!([as: text, timeout: 1], "usage: mix mcp.any")

  test "a principal is a text, an integer or any JSON value" do
    assert Principal.parse!([timeout: 1], "usage") == [timeout: 1]

    for {text, principal} <- [
          {"ada", "ada"},
          {"42", "42"},
          {"user:42", "user:42"},
          {"integer:42", 42},
          {"integer:-1", -1},
          {"string:integer:42", "integer:42"},
          {"string:", ""},
          {~s(json:{"id": 42, "roles": ["admin"]}), %{"id" => 42, "roles" => ["admin"]}},
          {~s(json:"ada"), "ada"}
        ] do
      assert parse(text) == [as: principal, timeout: 1]
    end
  end

  test "a text that does not fit its type is refused, with the usage" do
    for {text, sentence} <- [
          {"integer:4.2", "expected --as integer: to be followed by an integer, got: 4.2"},
          {"integer:", "expected --as integer: to be followed by an integer, got: "},
          {"json:null", "--as json:null names nobody: leave --as out"},
          {"json:{", "--as json: the text ends inside a value, at byte 1"}
        ] do
      assert_raise Mix.Error, sentence <> "\nusage: mix mcp.any", fn -> parse(text) end
    end
  end
end
