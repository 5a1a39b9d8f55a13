defmodule McpServer.HttpTable.Stateless do
  # 2026-07-28: the era of a request, its required metadata, methods and responses.
  @moduledoc false

  import McpServer.HttpRequests
  import McpServer.HttpTable, only: [row: 4, row: 5]

  alias McpServer.{HttpTable, JSON}

  @mismatch {:error, -32020, 1}
  @fine {:result, 1, %{"content" => [%{"type" => "text", "text" => "x"}]}}
  @version "io.modelcontextprotocol/protocolVersion"

  def rows, do: Enum.concat([eras(), meta(), versions(), methods(), others()])

  # The request with an additional header.
  defp twice(request, name, other), do: %{request | headers: request.headers ++ [{name, other}]}

  defp echo(options \\ []), do: modern_call("echo", %{"text" => "x"}, options)
  defp echo_with(headers), do: echo(headers: headers)

  # The call without any of the three headers, or without `_meta`.
  defp body_alone(headers \\ []) do
    echo_with([{"mcp-protocol-version", nil}, {"mcp-method", nil}, {"mcp-name", nil}] ++ headers)
  end

  defp headers_alone(headers),
    do: post(JSON.encode!(message("tools/call", %{"name" => "echo", "arguments" => %{"text" => "x"}})), headers)

  defp eras do
    [
      row("a request", echo(), 200, @fine, headers: [{"content-type", "application/json"}, {"mcp-session-id", nil}]),
      row({"M21", "_meta without headers"}, body_alone(), 400, @mismatch),
      row(
        {"M22", "the version header without _meta"},
        headers_alone([{"mcp-protocol-version", newest()}]),
        400,
        {:error, -32602, 1}
      ),
      row({"M22", "Mcp-Method without _meta"}, headers_alone([{"mcp-method", "tools/call"}]), 400, {:error, -32602, 1}),
      row(
        {"M22", "all headers without _meta"},
        headers_alone([{"mcp-protocol-version", newest()}, {"mcp-method", "tools/call"}, {"mcp-name", "echo"}]),
        400,
        {:error, -32602, 1}
      ),
      row({"M18", "neither era"}, headers_alone([]), 400, {:error, -32600, 1}),
      row(
        {"M18", "neither era, an older version in the header"},
        headers_alone([{"mcp-protocol-version", "2025-06-18"}]),
        400,
        {:error, -32600, 1}
      ),
      row("a session id means nothing", echo_with([{"mcp-session-id", "none"}]), 200, @fine,
        headers: [{"mcp-session-id", nil}]
      ),
      row("a live session means nothing", echo_with([{"mcp-session-id", :session}]), 200, @fine,
        session: "2025-11-25",
        headers: [{"mcp-session-id", nil}]
      ),
      row("Last-Event-ID means nothing", echo_with([{"last-event-id", "1-1"}]), 200, @fine)
    ]
  end

  defp meta do
    spoiled = fn meta ->
      params = %{"name" => "echo", "arguments" => %{"text" => "x"}, "_meta" => meta}
      modern("tools/call", params)
    end

    good = modern_meta()

    [
      row({"M22", "_meta empty"}, spoiled.(%{}), 400, {:error, -32602, 1}),
      row({"M22", "_meta a list"}, spoiled.([]), 400, {:error, -32602, 1}),
      row({"M22", "no version"}, spoiled.(Map.delete(good, @version)), 400, {:error, -32602, 1}),
      row({"M22", "the version a number"}, spoiled.(%{good | @version => 20_260_728}), 400, {:error, -32602, 1}),
      row(
        {"M22", "no capabilities"},
        spoiled.(Map.delete(good, "io.modelcontextprotocol/clientCapabilities")),
        400,
        {:error, -32602, 1}
      ),
      row(
        {"M22", "capabilities null"},
        spoiled.(%{good | "io.modelcontextprotocol/clientCapabilities" => nil}),
        400,
        {:error, -32602, 1}
      ),
      row(
        {"M22", "clientInfo without a version"},
        spoiled.(%{good | "io.modelcontextprotocol/clientInfo" => %{"name" => "n"}}),
        400,
        {:error, -32602, 1}
      ),
      row({"M22", "no clientInfo"}, spoiled.(Map.delete(good, "io.modelcontextprotocol/clientInfo")), 200, @fine),
      row(
        {"M22", "a log level in _meta that is none"},
        echo(meta: %{"io.modelcontextprotocol/logLevel" => "loud"}),
        400,
        {:error, -32602, 1}
      ),
      row({"M22", "a progress token that is none"}, echo(meta: %{"progressToken" => 1.5}), 400, {:error, -32602, 1})
    ]
  end

  defp versions do
    both = fn version ->
      echo(headers: [{"mcp-protocol-version", version}], meta: %{@version => version})
    end

    unsupported = &{:error, -32022, 1, %{"supported" => [newest()], "requested" => &1}}
    future = "2099-01-01"

    [
      row({"M20", "a version of the future"}, both.(future), 400, unsupported.(future)),
      row({"M20", "a version of the session era in _meta"}, both.("2025-11-25"), 400, unsupported.("2025-11-25")),
      row({"M20", "a version that is none"}, both.("v999"), 400, unsupported.("v999")),
      row(
        {"M21", "header and body name two versions"},
        echo_with([{"mcp-protocol-version", "2099-01-01"}]),
        400,
        @mismatch
      ),
      row(
        {"M21", "the header names an older version than the body"},
        echo_with([{"mcp-protocol-version", "2025-11-25"}]),
        400,
        @mismatch
      ),
      row({"M21", "no version header"}, echo_with([{"mcp-protocol-version", nil}]), 400, @mismatch),
      row({"M21", "two version headers"}, twice(echo(), "mcp-protocol-version", "2025-11-25"), 400, @mismatch),
      row(
        "order: versions are compared before they are looked up",
        echo(headers: [{"mcp-protocol-version", "2099-01-01"}], meta: %{@version => "2098-01-01"}),
        400,
        @mismatch
      ),
      row(
        {"M20", "a version of the future without _meta, which it may not have"},
        headers_alone([{"mcp-protocol-version", future}]),
        400,
        {:error, -32022, 1, %{"supported" => revisions(), "requested" => future}}
      ),
      row(
        "order: the version before Mcp-Method",
        with_headers(both.(future), [{"mcp-method", nil}]),
        400,
        unsupported.(future)
      )
    ]
  end

  defp methods do
    removed = ~w(initialize ping logging/setLevel resources/subscribe resources/unsubscribe)

    for(
      method <- removed,
      do: row({"M23", "#{method} is no method of 2026-07-28"}, modern(method), 404, {:error, -32601, 1})
    ) ++
      [
        row({"M10", "an unknown method"}, modern("no/such"), 404, {:error, -32601, 1}),
        row({"M10", "a method in capitals"}, modern("Tools/List"), 404, {:error, -32601, 1}),
        row(
          {"M14", "params an array"},
          post(~s({"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}), [
            {"mcp-protocol-version", newest()},
            {"mcp-method", "tools/list"}
          ]),
          400,
          {:error, -32602, 1}
        ),
        row("params that a method lacks", modern("tools/call"), 400, {:error, -32602, 1}),
        row("order: the method before params", modern("no/such", %{"name" => 3}), 404, {:error, -32601, 1})
      ]
  end

  defp others do
    note = &modern(&1, &2, id: nil)
    response = ~s({"jsonrpc":"2.0","id":1,"result":{}})
    error = ~s({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}})
    version = [{"mcp-protocol-version", newest()}]

    [
      row({"M11", "a notification"}, note.("notifications/cancelled", %{"requestId" => 1}), 202, :empty),
      row({"M11", "an unknown notification"}, note.("notifications/nothing", %{}), 202, :empty),
      row({"M24", "a posted response"}, post(response, version), 400, {:error, -32600}),
      row({"M24", "a posted error"}, post(error, version), 400, {:error, -32600}),
      row({"M24", "a posted response of neither era"}, post(response), 400, {:error, -32600}),
      row({"M15", "an unknown tool"}, modern_call("none"), 200, {:error, -32602, 1}),
      row({"M15", "an unknown prompt"}, modern("prompts/get", %{"name" => "none"}), 200, {:error, -32602, 1}),
      row(
        {"M17", "an unknown resource"},
        modern("resources/read", %{"uri" => "http-test://none"}),
        200,
        {:error, -32602, 1, %{"uri" => "http-test://none"}}
      ),
      row({"M28", "an unknown cursor"}, modern("tools/list", %{"cursor" => "nonsense"}), 200, {:error, -32602, 1}),
      row({"M28", "a cursor that is no text"}, modern("tools/list", %{"cursor" => 1}), 400, {:error, -32602, 1}),
      row(
        "a capability that was not declared",
        modern_call("sampler"),
        400,
        {:error, -32021, 1, %{"requiredCapabilities" => %{"sampling" => %{}}}}
      ),
      row(
        "a capability that was declared as null",
        modern_call("sampler", %{}, capabilities: %{"sampling" => nil}),
        400,
        {:error, -32021, 1, %{"requiredCapabilities" => %{"sampling" => %{}}}}
      ),
      row(
        "an elicitation that was declared as null",
        modern_call("ask", %{}, capabilities: %{"elicitation" => nil}),
        400,
        {:error, -32021, 1, %{"requiredCapabilities" => %{"elicitation" => %{}}}}
      ),
      row(
        "order: Mcp-Param before the capability",
        modern_call("sampler", %{}, headers: [{"mcp-name", "ask"}]),
        400,
        @mismatch
      ),
      row(
        "a capability that was declared",
        modern_call("sampler", %{}, capabilities: %{"sampling" => %{}}),
        200,
        {:result, 1, %{"isError" => false}}
      ),
      row(
        "an elicitation that was not declared",
        modern_call("ask"),
        400,
        {:error, -32021, 1, %{"requiredCapabilities" => %{"elicitation" => %{}}}}
      ),
      row({"SEC-10", "a handler that raises"}, modern_call("fail"), 200, {:result, 1, %{"isError" => true}}),
      row(
        {"SEC-10", "a handler that answers with nothing"},
        modern_call("nothing"),
        200,
        {:result, 1, %{"isError" => true}}
      ),
      row("tools/list", modern("tools/list"), 200, {:result, 1, %{"resultType" => "complete"}},
        headers: [{"content-type", "application/json"}]
      ),
      row("server/discover", modern("server/discover"), 200, {:result, 1, %{"resultType" => "complete"}}),
      row(
        "a state that was never sealed",
        modern("tools/call", %{"name" => "ask", "arguments" => %{}, "requestState" => "made up"},
          capabilities: %{"elicitation" => %{}}
        ),
        200,
        {:error, -32602, 1}
      ),
      row(
        "an echo of a text of many languages",
        modern_call("echo", %{"text" => "é\u2028\u0000\n"}),
        200,
        {:result, 1, %{"content" => [%{"type" => "text", "text" => "é\u2028\u0000\n"}]}}
      ),
      row({"M16", "arguments that do not fit"}, modern_call("echo"), 200, {:result, 1, HttpTable.unfit()})
    ]
  end
end
