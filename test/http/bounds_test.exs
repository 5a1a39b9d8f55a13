defmodule McpServer.HttpBoundsTest do
  # The node's limit of sessions, and the release of their places. Not async: sessions of other tests would count too.
  use McpServer.HttpCase, async: false

  import McpServer.HttpRequests

  alias McpServer.Http.Sessions

  defp bearer(name), do: [{"authorization", "Bearer #{name}"}]

  describe "sessions" do
    setup do: HttpSession.end_all()

    for kind <- [:listener, :plug] do
      @tag req: "H16"
      test "#{kind}: no more sessions than there may be" do
        server = HttpServers.start(unquote(kind), http: [max_sessions: 20])
        sessions = for _ <- 1..20, do: HttpSession.open(server)
        assert Sessions.count() == 20

        {response, [message]} = HttpClient.exchange(server, initialize())
        assert response.status == 503
        assert String.to_integer(HttpResponse.header(response, "retry-after")) > 0
        assert HttpResponse.header(response, "mcp-session-id") == nil
        assert %{"error" => %{"code" => -32603}} = message
        assert message["id"] == 1

        # The limit affects neither existing sessions nor requests without a session.
        for session <- sessions, do: assert(HttpSession.status(session, legacy("ping")) == 200)
        assert HttpClient.text(HttpClient.call(server, "echo", %{"text" => "x"})) == "x"

        # After the response to DELETE the place is free, even before the session's process has ended.
        for session <- sessions do
          HttpSession.delete(session)
          assert %HttpSession{} = HttpSession.open(server)
        end
      end
    end

    for kind <- [:listener, :plug] do
      # Without shares one client could take all places.
      test "#{kind}: a principal has its share of them, whatever address it comes from, and others have the rest" do
        options = [identify: &who/1, http: [max_sessions: 16, max_share: 25]]
        server = HttpServers.start(unquote(kind), options)
        open = fn name -> HttpClient.exchange(server, as(initialize(), name)) |> elem(0) end

        assert for(_ <- 1..5, do: open.("eve").status) == [200, 200, 200, 200, 503]
        assert String.to_integer(HttpResponse.header(open.("eve"), "retry-after")) > 0
        assert open.("ada").status == 200

        # The end of a session frees its place. A crash of the counting process loses no session.
        counter = Process.whereis(Sessions)
        Process.exit(counter, :kill)
        eventually(fn -> Process.whereis(Sessions) not in [nil, counter] end)
        assert open.("eve").status == 503
        [pid | _others] = of_principal("eve")
        Process.exit(pid, :kill)
        eventually(fn -> pid not in of_principal("eve") end)
        assert for(_ <- 1..2, do: open.("eve").status) == [200, 503]
      end

      test "#{kind}: who is not authenticated on the loopback interface has all of them" do
        server = HttpServers.start(unquote(kind), http: [max_sessions: 4])
        for _ <- 1..4, do: assert(%HttpSession{} = HttpSession.open(server))
      end
    end

    defp of_principal(name), do: for([pid] <- :ets.match(Sessions, {:_, :"$1", :_, :_, name, :_, :_}), do: pid)

    test "an address that nobody has authenticated has its share" do
      given = [router: McpServer.HttpRouter, http: [max_sessions: 8]]
      options = McpServer.Options.check!("Server", McpServer.ServerOptions.http_plug(), given)
      mount = McpServer.Http.Mount.new({:shares, make_ref()}, options)
      opening = %{revision: "2025-11-25", client_info: nil, client_capabilities: %{}}
      open = fn peer -> Sessions.open(mount, opening, nil, peer) end

      # A whole IPv6 network belongs to one subscriber.
      opened = for number <- 1..2, do: open.({0x2001, 0xDB8, 0, 1, 0, 0, 0, number})
      assert [{:ok, _}, {:ok, _}] = opened
      assert open.({0x2001, 0xDB8, 0, 1, 9, 9, 9, 9}) == {:error, :too_many}
      assert {:ok, id} = open.({0x2001, 0xDB8, 0, 2, 0, 0, 0, 1})
      for {:ok, id} <- [{:ok, id} | opened], do: Process.exit(:ets.lookup_element(Sessions, id, 2), :kill)
    end

    @tag req: "H16"
    both "no more sessions of one principal than it may have",
         [http: [max_sessions_per_principal: 2], identify: &who/1],
         %{server: server} do
      ada = for _ <- 1..2, do: HttpSession.open(server, "2025-11-25", headers: bearer("ada"))
      {response, [answer]} = HttpClient.exchange(server, as(initialize(), "ada"))
      assert {response.status, answer["id"], answer["error"]["message"]} == {503, 1, "Too many sessions"}
      assert %HttpSession{} = HttpSession.open(server, "2025-11-25", headers: bearer("bob"))
      HttpSession.delete(hd(ada))
      assert %HttpSession{} = HttpSession.open(server, "2025-11-25", headers: bearer("ada"))
    end
  end
end
