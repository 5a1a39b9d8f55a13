defmodule McpServer.HttpTable.Sessions do
  # The session era: requests that need a session, the revision of a session, and its responses.
  @moduledoc false

  import McpServer.HttpRequests
  import McpServer.HttpTable, only: [row: 4, row: 5]

  alias McpServer.HttpTable

  @revisions ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
  @latest "2025-11-25"
  @refused {:error, -32600}
  @fine %{"content" => [%{"type" => "text", "text" => "x"}]}

  def rows, do: Enum.concat([opening(), without(), unknown(), versions(), inside(), streams()])

  defp opening do
    agreed =
      for {asked, agreed} <- Enum.map(@revisions, &{&1, &1}) ++ [{"1999-01-01", @latest}, {newest(), @latest}] do
        row("initialize with #{asked}", initialize(asked), 200, {:result, 1, %{"protocolVersion" => agreed}},
          headers: [{"content-type", "application/json"}]
        )
      end

    agreed ++
      [
        row(
          "initialize with a version header",
          initialize(@latest, headers: [{"mcp-protocol-version", @latest}]),
          200,
          {:result, 1, %{"protocolVersion" => @latest}}
        ),
        row(
          {"M23", "initialize with the header of 2026-07-28"},
          initialize(@latest, headers: [{"mcp-protocol-version", newest()}]),
          400,
          {:error, -32602, 1},
          headers: [{"mcp-session-id", nil}]
        ),
        row(
          "initialize without a version",
          post(~s({"jsonrpc":"2.0","id":1,"method":"initialize","params":{}})),
          400,
          {:error, -32602, 1},
          headers: [{"mcp-session-id", nil}]
        ),
        row("initialize as a notification", initialize(@latest, id: nil), 400, @refused,
          headers: [{"mcp-session-id", nil}]
        ),
        row(
          "initialize with the id of no session",
          initialize(@latest, headers: [{"mcp-session-id", "none"}]),
          404,
          @refused,
          headers: [{"mcp-session-id", nil}]
        ),
        row(
          {~w(SEC-14 M19), "a second initialize"},
          legacy("initialize", %{
            "protocolVersion" => "2025-03-26",
            "capabilities" => %{},
            "clientInfo" => %{"name" => "other", "version" => "2"}
          }),
          400,
          {:error, -32600, 1},
          session: @latest
        )
      ]
  end

  # Requests after `initialize` need its session.
  defp without do
    [
      row({~w(M18 H10), "tools/list without a session"}, post(encoded("tools/list")), 400, {:error, -32600, 1}),
      row({~w(M18 H10), "tools/call without a session"}, post(encoded("tools/call")), 400, {:error, -32600, 1}),
      row({"M18", "ping without a session"}, post(encoded("ping")), 200, {:result, 1, %{}}),
      row({"M18", "an unknown method without a session"}, post(encoded("no/such")), 400, {:error, -32600, 1}),
      row(
        {"H10", "a notification without a session"},
        post(McpServer.JSON.encode!(message("notifications/initialized", %{}, id: nil))),
        400,
        @refused
      ),
      row({"H10", "GET without a session"}, get_stream([{"mcp-session-id", nil}]), 400, @refused),
      row({"H10", "DELETE without a session"}, delete([{"mcp-session-id", nil}]), 400, @refused)
    ]
  end

  defp encoded(method), do: McpServer.JSON.encode!(message(method, %{}))

  defp unknown do
    ids = [
      {"unknown", "AAAAAAAAAAAAAAAAAAAAAA"},
      {"empty", ""},
      {"short", "x"},
      {"with a space", "AAAA AAAA"},
      {"with a quote", ~s(" OR 1=1 --)},
      {"with a path", "../../etc/passwd"},
      {"of 5,000 bytes", String.duplicate("A", 5_000)},
      {"with bytes above ASCII", <<0xC3, 0xA4, 0xFF>>},
      {"with a tab", "AAAA\tAAAA"}
    ]

    for {name, id} <- ids, {verb, request} <- verbs([{"mcp-session-id", id}]) do
      row({"H10", "#{verb} with a session id #{name}"}, request, 404, @refused, headers: [{"mcp-session-id", nil}])
    end ++
      for {verb, request} <- verbs([{"mcp-session-id", String.duplicate("A", 10_000)}]) do
        # Other servers have their own limits.
        row({"H10", "#{verb} with a session id of 10 KB"}, request, 404, @refused, only: :listener)
      end ++
      for {verb, request} <- verbs([]) do
        row({"H10", "#{verb} with two session ids"}, twice(request), 400, @refused)
      end
  end

  defp verbs(headers) do
    [
      {"POST", legacy("ping", %{}, headers: headers)},
      {"a notification", legacy("notifications/initialized", %{}, id: nil, headers: headers)},
      {"GET", get_stream(headers)},
      {"DELETE", delete(headers)}
    ]
  end

  defp twice(request), do: of_session(%{request | headers: request.headers ++ [{"mcp-session-id", "one"}]}, "two")

  defp versions do
    ping = &legacy("ping", %{}, headers: [{"mcp-protocol-version", &1}])

    for(revision <- @revisions, header <- @revisions, do: {revision, header})
    |> Enum.map(fn {revision, header} ->
      row("a #{revision} session with the header #{header}", ping.(header), 200, {:result, 1, %{}}, session: revision)
    end)
    |> Enum.concat(
      for header <- ["v999", "2025-06-19", "", "2099-01-01-x", "2099-01-01"] do
        row(
          {"M20", "a session with the header #{inspect(header)}"},
          ping.(header),
          400,
          {:error, -32022, 1, %{"supported" => revisions(), "requested" => header}},
          session: @latest
        )
      end
    )
    |> Enum.concat(
      for header <- ["1999-01-01", "v999", "2025-06-19", ""],
          {verb, request} <- streams_and_ends([{"mcp-protocol-version", header}]) do
        row({"M20", "#{verb} with the header #{inspect(header)}"}, request, 400, {:error, -32022}, session: @latest)
      end
    )
    |> Enum.concat(
      for {verb, request} <- streams_and_ends([{"mcp-protocol-version", "2025-11-25"}]) do
        request = %{request | headers: request.headers ++ [{"mcp-protocol-version", "2025-06-18"}]}
        row({"M20", "#{verb} with two version headers"}, request, 400, @refused, session: @latest)
      end
    )
    |> Enum.concat(
      for revision <- @revisions do
        row("DELETE with the header #{revision}", delete([{"mcp-protocol-version", revision}]), 204, :empty,
          session: @latest
        )
      end
    )
    |> Enum.concat([
      row("a session with the header of 2026-07-28", ping.(newest()), 400, {:error, -32602, 1}, session: @latest)
    ])
  end

  defp streams_and_ends(headers), do: [{"GET", get_stream(headers)}, {"DELETE", delete(headers)}]

  defp inside do
    each =
      for revision <- @revisions do
        [
          row("a call in #{revision}", legacy_call("echo", %{"text" => "x"}), 200, {:result, 1, @fine},
            session: revision
          ),
          row("ping in #{revision}", legacy("ping"), 200, {:result, 1, %{}},
            session: revision,
            headers: [{"content-type", "application/json"}]
          ),
          row({"M10", "an unknown method in #{revision}"}, legacy("no/such"), 200, {:error, -32601, 1},
            session: revision
          ),
          row(
            {"M10", "a method of 2026-07-28 in #{revision}"},
            legacy("subscriptions/listen"),
            200,
            {:error, -32601, 1},
            session: revision
          ),
          row({"M15", "an unknown tool in #{revision}"}, legacy_call("none"), 200, {:error, -32602, 1},
            session: revision
          ),
          row(
            {"M17", "an unknown resource in #{revision}"},
            legacy("resources/read", %{"uri" => "http-test://none"}),
            200,
            {:error, -32002, 1, %{"uri" => "http-test://none"}},
            session: revision
          ),
          row(
            {"M28", "an unknown cursor in #{revision}"},
            legacy("tools/list", %{"cursor" => "nonsense"}),
            200,
            {:error, -32602, 1},
            session: revision
          ),
          row({"M11", "a notification in #{revision}"}, legacy("notifications/initialized", %{}, id: nil), 202, :empty,
            session: revision
          ),
          row(
            {"M11", "an unknown notification in #{revision}"},
            legacy("notifications/nothing", %{}, id: nil),
            202,
            :empty,
            session: revision
          ),
          row(
            {"M25", "cancelling nothing in #{revision}"},
            legacy("notifications/cancelled", %{"requestId" => 9}, id: nil),
            202,
            :empty,
            session: revision
          ),
          row(
            {"M24", "a posted response in #{revision}"},
            in_session(~s({"jsonrpc":"2.0","id":9,"result":{}})),
            202,
            :empty,
            session: revision
          ),
          row(
            {"M24", "a posted error in #{revision}"},
            in_session(~s({"jsonrpc":"2.0","id":9,"error":{"code":1,"message":"m"}})),
            202,
            :empty,
            session: revision
          )
        ]
      end

    arguments =
      for revision <- @revisions do
        body = if revision == @latest, do: {:result, 1, HttpTable.unfit()}, else: {:error, -32602, 1}
        row({"M16", "arguments that do not fit in #{revision}"}, legacy_call("echo"), 200, body, session: revision)
      end

    Enum.concat(each) ++
      arguments ++
      [
        row(
          "an elicitation that was not declared, session",
          legacy_call("ask"),
          200,
          {:result, 1, %{"isError" => true}},
          session: @latest
        ),
        row("params that a method lacks, session", legacy("tools/call"), 400, {:error, -32602, 1}, session: @latest),
        row("a log level that is none", legacy("logging/setLevel", %{"level" => "loud"}), 400, {:error, -32602, 1},
          session: @latest
        ),
        row(
          "Mcp-Param headers mean nothing",
          legacy_call("route", %{"region" => "eu"}, headers: [{"mcp-param-region", "us"}]),
          200,
          {:result, 1, %{}},
          session: @latest
        )
      ]
  end

  defp streams do
    ids = [
      "0-99999",
      "nonsense",
      "",
      "-1",
      "1-",
      "1--1",
      "99999-0",
      "18446744073709551616-0",
      String.duplicate("9", 1_000)
    ]

    for id <- ids do
      row(
        {"H12", "Last-Event-ID #{inspect(String.slice(id, 0, 24))}"},
        get_stream([{"last-event-id", id}]),
        400,
        @refused,
        session: @latest
      )
    end
  end
end
