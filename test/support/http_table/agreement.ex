defmodule McpServer.HttpTable.Agreement do
  # 2026-07-28: headers that repeat a value of the body must be equal to it.
  @moduledoc false

  import McpServer.HttpRequests
  import McpServer.HttpTable, only: [row: 4]

  alias McpServer.JSON

  @mismatch {:error, -32020, 1}
  @fine {:result, 1, %{"content" => [%{"type" => "text", "text" => "x"}]}}

  def rows, do: standard_headers() ++ param_headers()

  defp echo, do: echo_with([])
  defp echo_with(headers), do: modern_call("echo", %{"text" => "x"}, headers: headers)

  defp standard_headers do
    base64 = &"=?base64?#{Base.encode64(&1)}?="

    [
      row({"M21", "no Mcp-Method"}, echo_with([{"mcp-method", nil}]), 400, @mismatch),
      row({"M21", "another Mcp-Method"}, echo_with([{"mcp-method", "tools/list"}]), 400, @mismatch),
      row({"M21", "Mcp-Method in capitals"}, echo_with([{"mcp-method", "Tools/Call"}]), 400, @mismatch),
      row({"M21", "Mcp-Method empty"}, echo_with([{"mcp-method", ""}]), 400, @mismatch),
      row({"M21", "two Mcp-Methods"}, twice(echo(), "mcp-method", "tools/list"), 400, @mismatch),
      row({"M21", "no Mcp-Name"}, echo_with([{"mcp-name", nil}]), 400, @mismatch),
      row({"M21", "another Mcp-Name"}, echo_with([{"mcp-name", "size"}]), 400, @mismatch),
      row({"M21", "Mcp-Name in capitals"}, echo_with([{"mcp-name", "ECHO"}]), 400, @mismatch),
      row({"M21", "two Mcp-Names"}, twice(echo(), "mcp-name", "size"), 400, @mismatch),
      row("Mcp-Name in Base64", echo_with([{"mcp-name", base64.("echo")}]), 200, @fine),
      row({"M21", "Mcp-Name in Base64 of another"}, echo_with([{"mcp-name", base64.("size")}]), 400, @mismatch),
      row({"M21", "Mcp-Name in Base64 that is none"}, echo_with([{"mcp-name", "=?base64?ec%o?="}]), 400, @mismatch),
      row(
        {"M21", "Mcp-Name in Base64 of bytes that are no text"},
        echo_with([{"mcp-name", base64.(<<0xFF>>)}]),
        400,
        @mismatch
      ),
      row(
        {"M21", "the marker in capitals is no marker"},
        echo_with([{"mcp-name", "=?BASE64?ZWNobw==?="}]),
        400,
        @mismatch
      ),
      row("header names in any case", shouted(echo()), 200, @fine),
      row(
        "Mcp-Name of prompts/get",
        modern("prompts/get", %{"name" => "greet", "arguments" => %{"name" => "A"}}),
        200,
        {:result, 1, %{}}
      ),
      row(
        {"M21", "prompts/get without Mcp-Name"},
        modern("prompts/get", %{"name" => "greet", "arguments" => %{"name" => "A"}}, headers: [{"mcp-name", nil}]),
        400,
        @mismatch
      ),
      row(
        "Mcp-Name of resources/read",
        modern("resources/read", %{"uri" => "http-test://fixed"}),
        200,
        {:result, 1, %{}}
      ),
      row(
        {"M21", "resources/read with another Mcp-Name"},
        modern("resources/read", %{"uri" => "http-test://fixed"}, headers: [{"mcp-name", "http-test://rows/1"}]),
        400,
        @mismatch
      ),
      row("no Mcp-Name for tools/list", modern("tools/list"), 200, {:result, 1, %{}}),
      row(
        "order: Mcp-Method before the method",
        modern("no/such", %{}, headers: [{"mcp-method", nil}]),
        400,
        @mismatch
      ),
      row(
        "a name that is no text",
        modern("tools/call", %{"name" => 3}, headers: [{"mcp-name", "echo"}]),
        400,
        {:error, -32602, 1}
      )
    ]
  end

  defp twice(request, name, other), do: %{request | headers: request.headers ++ [{name, other}]}

  defp shouted(request),
    do: %{request | headers: for({name, value} <- request.headers, do: {String.upcase(name), value})}

  defp param_headers do
    route = &modern_call("route", &1, headers: &2)
    said = &{:result, 1, %{"content" => [%{"type" => "text", "text" => JSON.encode!(&1)}]}}
    all = %{"region" => "eu", "zone" => 42, "dry" => false, "at" => %{"host" => "a"}}

    headers = [
      {"mcp-param-region", "eu"},
      {"mcp-param-zone", "42"},
      {"mcp-param-dry-run", "false"},
      {"mcp-param-host", "a"}
    ]

    without = fn name -> List.keydelete(headers, name, 0) end
    with_value = fn name, value -> List.keyreplace(headers, name, 0, {name, value}) end
    greeting = %{"region" => "Grüße, 世界"}
    marked = %{"region" => "=?base64?literal?="}

    fine = [
      {"all of them", all, headers},
      {"none where there is no value", %{}, []},
      {"in Base64", greeting, [{"mcp-param-region", "=?base64?#{Base.encode64(greeting["region"])}?="}]},
      {"a value that looks like Base64", marked, [{"mcp-param-region", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="}]},
      {"an integer written otherwise", %{"zone" => 42}, [{"mcp-param-zone", "42.0"}]},
      {"names in any case", %{"zone" => -7}, [{"MCP-PARAM-ZONE", "-7"}]},
      {"one that no tool knows", %{}, [{"mcp-param-other", "x"}]}
    ]

    wrong =
      for({name, _value} <- headers, do: {"#{name} missing", all, without.(name)}) ++
        [
          {"another text", all, with_value.("mcp-param-region", "us")},
          {"text in capitals", all, with_value.("mcp-param-region", "EU")},
          {"another integer", all, with_value.("mcp-param-zone", "43")},
          {"an integer that is none", all, with_value.("mcp-param-zone", "4x2")},
          {"another boolean", all, with_value.("mcp-param-dry-run", "true")},
          {"a boolean in capitals", all, with_value.("mcp-param-dry-run", "False")},
          {"another nested value", all, with_value.("mcp-param-host", "b")},
          {"Base64 that is none", all, with_value.("mcp-param-region", "=?base64?%%?=")},
          {"plain bytes that are not ASCII", greeting, [{"mcp-param-region", greeting["region"]}]},
          {"a header without an argument", %{}, [{"mcp-param-region", "eu"}]},
          {"two of a name", all, headers ++ [{"mcp-param-region", "us"}]}
        ]

    for(
      {name, arguments, headers} <- fine,
      do: row("Mcp-Param: #{name}", route.(arguments, headers), 200, said.(arguments))
    ) ++
      for(
        {name, arguments, headers} <- wrong,
        do: row({"M21", "Mcp-Param: #{name}"}, route.(arguments, headers), 400, @mismatch)
      )
  end
end
