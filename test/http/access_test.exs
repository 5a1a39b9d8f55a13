defmodule McpServer.Http.AccessTest do
  # Hidden entries over HTTP: status, headers and bytes equal those of a server without the entries.
  use McpServer.HttpCase, async: true

  alias McpServer.AccessRouter
  alias McpServer.AccessRouter.Bare

  @identify [identify: &who/1]
  @options [router: AccessRouter] ++ @identify

  defp probes do
    [
      {"tools/call", %{"name" => "delete", "arguments" => %{"id" => 1}}},
      {"tools/call", %{"name" => "delete", "arguments" => %{"id" => "one"}}},
      {"tools/call", %{"name" => "delete", "task" => %{"ttl" => "long"}}},
      {"tools/call", %{"name" => "delete", "inputResponses" => 1}},
      {"tools/call", %{"name" => "shown"}},
      {"tools/call", %{"name" => "absent"}},
      {"prompts/get", %{"name" => "staff"}},
      {"resources/read", %{"uri" => "access://notes/secret"}},
      {"resources/read", %{"uri" => "access://staff/1"}},
      {"tools/list", %{}},
      {"tools/list", %{"cursor" => "of another"}},
      {"prompts/list", %{}},
      {"resources/list", %{}},
      {"resources/templates/list", %{}}
    ]
  end

  defp said({%{headers: headers, status: status, body: body}, _messages}),
    do: {status, List.keydelete(headers, "date", 0), body}

  both "to a stranger the server is the one without, in both eras", @options, %{server: server} do
    bare = HttpServers.start(server.kind, [router: Bare] ++ @identify)
    [session, other] = for server <- [server, bare], do: HttpSession.open(server, "2025-11-25", headers: bearer("eve"))

    for {method, params} <- probes() do
      request = as(modern(method, params), "eve")
      assert {method, said(HttpClient.exchange(server, request))} == {method, said(HttpClient.exchange(bare, request))}

      request = legacy(method, params)

      assert {method, said(HttpSession.exchange(session, request))} ==
               {method, said(HttpSession.exchange(other, request))}
    end
  end

  both "headers that repeat what they may not know tell nothing", @options, %{server: server} do
    bare = HttpServers.start(server.kind, [router: Bare] ++ @identify)

    for name <- ["delete", "absent"] do
      request = as(modern_call(name, %{}, headers: [{"mcp-name", "open"}]), "eve")
      assert {name, said(HttpClient.exchange(server, request))} == {name, said(HttpClient.exchange(bare, request))}
    end
  end

  both "each principal has a list of its own", @options, %{server: server} do
    for {user, names} <- [
          {"eve", ["open"]},
          {"admin", ["open", "role"]},
          {"staff", ~w(open delete shown inline capture named)}
        ] do
      answers = [
        HttpClient.answer(server, as(modern("tools/list"), user)),
        server |> HttpSession.open("2025-06-18", headers: bearer(user)) |> HttpSession.answer(legacy("tools/list"))
      ]

      for %{"result" => result} <- answers do
        assert {user, Enum.map(result["tools"], & &1["name"])} == {user, names}
        assert result["cacheScope"] in ["private", nil]
      end
    end
  end

  defp bearer(user), do: [{"authorization", "Bearer #{user}"}]
end
