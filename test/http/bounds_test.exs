defmodule McpServer.HttpBoundsTest do
  # What is counted over the whole node: how many sessions there may be, and that nothing is left of them.
  # Not async: sessions of other tests would be counted, too.
  use McpServer.HttpCase, async: false

  import McpServer.HttpRequests

  alias McpServer.Http.Sessions

  @doc false
  def who(request) do
    {_name, "Bearer " <> name} = List.keyfind(request.req_headers, "authorization", 0)
    {:ok, name}
  end

  defp bearer(name), do: [{"authorization", "Bearer #{name}"}]

  describe "sessions" do
    for kind <- [:listener, :plug] do
      test "#{kind}: H16: no more sessions than there may be" do
        limit = Sessions.count() + 20
        server = HttpServers.start(unquote(kind), max_sessions: limit)
        sessions = until_refused(server)
        assert Sessions.count() == limit

        {response, [message]} = HttpClient.exchange(server, initialize())
        assert response.status == 503
        assert String.to_integer(HttpResponse.header(response, "retry-after")) > 0
        assert HttpResponse.header(response, "mcp-session-id") == nil
        assert %{"error" => %{"code" => -32603}} = message
        refute is_map_key(message, "id")

        # Those that are there are not troubled, and neither is who needs none.
        for session <- sessions, do: assert(HttpSession.status(session, legacy("ping")) == 200)
        assert HttpClient.text(HttpClient.call(server, "echo", %{"text" => "x"})) == "x"

        # The answer to DELETE says that there is room: it does not wait for the session's process to end.
        for session <- Enum.take(sessions, 20) do
          HttpSession.delete(session)
          assert %HttpSession{} = HttpSession.open(server)
        end
      end
    end

    # Sessions of tests before this one may be about to end.
    defp until_refused(server) do
      {response, _messages} = HttpClient.exchange(server, initialize())

      if response.status == 200 do
        id = HttpResponse.header(response, "mcp-session-id")
        [%HttpSession{server: server, id: id, revision: "2025-11-25"} | until_refused(server)]
      else
        []
      end
    end

    both "H16: no more sessions of one principal than it may have",
         [max_sessions_per_principal: 2, authorize: &__MODULE__.who/1],
         %{server: server} do
      ada = for _ <- 1..2, do: HttpSession.open(server, "2025-11-25", headers: bearer("ada"))
      {response, _messages} = HttpClient.exchange(server, as(initialize(), "ada"))
      assert response.status == 503
      assert %HttpSession{} = HttpSession.open(server, "2025-11-25", headers: bearer("bob"))
      HttpSession.delete(hd(ada))
      assert %HttpSession{} = HttpSession.open(server, "2025-11-25", headers: bearer("ada"))
    end
  end
end
