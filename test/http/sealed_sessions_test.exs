# Unconnected nodes with the same secret: each can open any session from its id.
for {name, kind} <- [{HttpSealedSessionsListenerTest, :listener}, {HttpSealedSessionsPlugTest, :plug}] do
  defmodule Module.concat(McpServer, name) do
    use McpServer.HttpCase, async: true

    @moduletag slow: "nodes in VMs of their own"

    import McpServer.HttpRequests

    alias McpServer.{Changes, HttpRouter, HttpVm, Tools}
    alias McpServer.Http.Sessions

    @moduletag :capture_log
    @moduletag timeout: 120_000
    @secret String.duplicate("sealed secret ", 3)
    @idle_timeout 600_000

    # `quiet` has no sessions when a test begins, and those of `short` end soon.
    setup_all do
      [one, other] =
        for _ <- 1..2, do: vm(identify: &HttpVm.identify/1, http: [idle_timeout: @idle_timeout, keep_alive: 50])

      {:ok, one: one, other: other, quiet: vm(drain: 60_000), short: vm(http: [session_lifetime: 500])}
    end

    defp vm(serve, secret \\ @secret), do: HttpVm.start(kind: unquote(kind), lazy: true, secret: secret, serve: serve)
    defp at(session, vm), do: %{session | server: vm.server}
    defp bearer(name), do: [{"authorization", "Bearer #{name}"}]

    # As if the client had not used the session for its idle time.
    defp leave(session, vm) do
      assert HttpVm.call(vm, HttpSession, :unused_for, [session.id, @idle_timeout]) == :ends
      assert open(session, vm) == []
    end

    defp open(session, vm), do: HttpVm.call(vm, :ets, :lookup, [Sessions, session.id])

    # A plug knows its options from the first request on.
    defp serve_first(vm), do: assert({%{status: 200}, _messages} = HttpClient.exchange(vm.server, initialize()))

    test "#{kind}: an id is visible ASCII, unique, and of at most 512 bytes whoever the client is", %{one: one} do
      long = String.duplicate("é", 100)

      sessions =
        for _ <- 1..5, do: HttpSession.open(one.server, "2025-11-25", info: %{"name" => long, "version" => long})

      assert length(Enum.uniq_by(sessions, & &1.id)) == 5
      for %{id: id} <- sessions, do: assert({id =~ ~r/\A[!-~]+\z/, byte_size(id) in 100..512} == {true, true})
    end

    for revision <- ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] do
      test "#{kind}: a session of #{revision} goes on at a node that has never seen it", %{one: one, other: other} do
        info = %{"name" => "traveller", "version" => "9.1"}
        session = HttpSession.open(one.server, unquote(revision), headers: bearer("ada"), info: info)
        expected = {"ada", session.id, unquote(revision), "traveller", %{}}

        for vm <- [one, other, one, other],
            do: assert(HttpClient.text(HttpSession.call(at(session, vm), "whoami")) == inspect(expected))
      end
    end

    test "#{kind}: the first that a node hears of a session may be anything of it", %{one: one, other: other} do
      for {request, status} <- [
            {legacy("ping"), 200},
            {legacy("tools/list"), 200},
            {legacy("notifications/initialized", %{}, id: nil), 202},
            {legacy("logging/setLevel", %{"level" => "error"}), 200},
            {legacy("resources/subscribe", %{"uri" => "http-test://fixed"}), 200},
            {get_stream(), 200},
            {in_session("{"), 400}
          ] do
        session = at(HttpSession.open(one.server), other)
        assert {request, HttpSession.status(session, request)} == {request, status}
      end
    end

    test "#{kind}: what the client can do, and that it is initialized, is known again", %{one: one, other: other} do
      session = at(HttpSession.open(one.server, "2025-11-25", capabilities: %{"elicitation" => %{}}), other)
      stream = HttpSession.get(session)
      HttpVm.call(other, Changes, :tools_changed, [HttpRouter])
      assert %{"method" => "notifications/tools/list_changed"} = HttpClient.message(stream)

      {peer, %{body: :stream}} = HttpSession.open_stream(session, legacy_call("ask"))
      assert %{"method" => "elicitation/create", "id" => asked} = HttpClient.message(peer)
      answer = %{"action" => "accept", "content" => %{"name" => "Ada"}}
      reply = McpServer.JSON.encode!(%{"jsonrpc" => "2.0", "id" => asked, "result" => answer})
      assert {%{status: 202}, []} = HttpSession.exchange(session, in_session(reply))
      assert HttpClient.text(HttpClient.message(peer)) == "Hello, Ada! :asked"
    end

    test "#{kind}: the session's stream is opened anew for a client that comes back, a call's is not",
         %{one: one, other: other} do
      session = HttpSession.open(one.server)
      peer = HttpSession.get(session)
      assert %{id: "0-" <> index} = HttpPeer.event(peer)

      # The events of the other node have other indexes, so it neither skips nor repeats any.
      {there, %{status: 200}} =
        HttpSession.open_stream(at(session, other), get_stream([{"last-event-id", "0-" <> index}]))

      assert %{id: "0-" <> another} = HttpPeer.event(there)
      assert another != index
      HttpPeer.cut(there)

      eventually(fn ->
        HttpSession.status(at(session, other), get_stream([{"last-event-id", "0-" <> another}])) == 200
      end)

      assert HttpSession.status(at(session, other), get_stream([{"last-event-id", "1-0"}])) == 400
      assert HttpSession.status(at(session, other), get_stream([{"last-event-id", "x"}])) == 400
    end

    # Earlier, the stream of every node counted from 0, so that a resume elsewhere skipped events and repeated others.
    test "#{kind}: a client that changes nodes gets the events of each once, under ids of their own",
         %{one: one, other: other} do
      session = HttpSession.open(one.server)
      change = fn vm -> HttpVm.call(vm, Changes, :tools_changed, [HttpRouter]) end
      first = HttpSession.get(session)
      %{id: begun, data: ""} = event(first)
      change.(one)
      %{id: seen} = changed(first)
      HttpPeer.cut(first)

      # The other node has none of these events.
      there = HttpSession.get(at(session, other), seen)
      %{id: begun_there, data: ""} = event(there)
      change.(other)
      %{id: seen_there} = changed(there)
      HttpPeer.cut(there)

      # Back at the first: what the client has seen there is not repeated, and the next change is there.
      again = HttpSession.get(session, seen_there)
      %{id: begun_again, data: ""} = event(again)
      change.(one)
      %{id: last} = changed(again)
      HttpPeer.cut(again)

      # On the node of the event, a resume brings what the client has missed, and only that.
      change.(other)
      resumed = HttpSession.get(at(session, other), seen_there)
      %{id: missed} = changed(resumed)
      change.(other)
      %{id: next} = changed(resumed)
      ids = [begun, seen, begun_there, seen_there, begun_again, last, missed, next]
      assert Enum.uniq(ids) == ids
    end

    # Skips comments.
    defp event(peer), do: with(%{data: nil} <- HttpPeer.event(peer), do: event(peer))

    defp changed(peer) do
      %{data: text} = event = event(peer)
      assert %{"method" => "notifications/tools/list_changed"} = McpServer.JSON.decode!(text)
      event
    end

    test "#{kind}: a changed byte, another principal, secret or mount: 404, as for an id that never was",
         %{one: one, other: other} do
      session = HttpSession.open(one.server, "2025-11-25", headers: bearer("ada"))

      ask = fn vm, id, principal ->
        HttpClient.exchange(vm.server, legacy("ping") |> of_session(id) |> as(principal))
      end

      shown = fn {response, _messages} ->
        {response.status, List.keydelete(response.headers, "date", 0), response.body}
      end

      unknown = shown.(ask.(other, "AAAAAAAAAAAAAAAAAAAAAA", "ada"))
      assert elem(unknown, 0) == 404

      foreign = vm([identify: &HttpVm.identify/1], String.duplicate("another secret ", 3))
      without = vm([identify: &HttpVm.identify/1], nil)
      admin = vm(identify: &HttpVm.identify/1, mount_name: "admin")

      for vm <- [foreign, without, admin], do: assert(shown.(ask.(vm, session.id, "ada")) == unknown)
      for vm <- [one, other], do: assert(shown.(ask.(vm, session.id, "bob")) == unknown)

      for vm <- [one, other],
          do: assert(shown.(HttpClient.exchange(vm.server, legacy("ping") |> of_session(session.id))) == unknown)

      for place <- 0..(byte_size(session.id) - 1)//7 do
        {before, <<byte, rest::binary>>} = String.split_at(session.id, place)
        changed = before <> <<if(byte == ?A, do: ?B, else: ?A)>> <> rest
        assert {place, shown.(ask.(other, changed, "ada"))} == {place, unknown}
      end

      for id <- [session.id <> "A", binary_part(session.id, 0, byte_size(session.id) - 1)],
          do: assert(shown.(ask.(other, id, "ada")) == unknown)

      assert {%{status: 200}, [_pong]} = ask.(other, session.id, "ada")
    end

    test "#{kind}: a state that was sealed for a request is no session", %{one: one} do
      capable = [capabilities: %{"elicitation" => %{}}]
      assert %{"result" => %{"requestState" => state}} = HttpClient.call(one.server, "ask", %{}, capable)
      assert {%{status: 404}, _messages} = HttpClient.exchange(one.server, of_session(legacy("ping"), state))
    end

    test "#{kind}: a disconnected session is not opened from its id again", %{one: one} do
      session = HttpSession.open(one.server, "2025-11-25", headers: bearer("ada"))
      assert HttpVm.call(one, McpServer, :disconnect, [{HttpRouter, session: session.id}]) == :ok
      eventually(fn -> HttpSession.status(session, legacy("ping")) == 404 end)
    end

    test "#{kind}: a disconnected session that no node has open is not opened from its id either",
         %{one: one, other: other} do
      session = HttpSession.open(one.server, "2025-11-25", headers: bearer("ada"))
      leave(session, one)
      # The second node has never seen the session.
      for node <- [one, other],
          do: assert(HttpVm.call(node, McpServer, :disconnect, [{HttpRouter, session: session.id}]) == :ok)

      for node <- [one, other],
          _ <- 1..2,
          do: assert(HttpSession.status(at(session, node), legacy("ping")) == 404)
    end

    test "#{kind}: a principal's session that no node has open continues after a disconnection", %{one: one} do
      session = HttpSession.open(one.server, "2025-11-25", headers: bearer("ada"))
      leave(session, one)
      assert HttpVm.call(one, McpServer, :disconnect, [{HttpRouter, principal: "ada"}]) == :ok
      assert HttpSession.status(session, legacy("ping")) == 200
    end

    test "#{kind}: a session that its client has ended stays dead where that is known", %{one: one, other: other} do
      session = HttpSession.open(one.server)
      assert HttpSession.delete(at(session, other)).status == 204

      for _ <- 1..2,
          request <- [legacy("ping"), get_stream(), delete()],
          do: assert(HttpSession.status(at(session, other), request) == 404)

      # The other node cannot know that the session ended.
      assert HttpSession.status(session, legacy("ping")) == 200
    end

    @tag :tmp_dir
    test "#{kind}: nodes with a shared store end a session that its client has ended elsewhere", context do
      %{one: one, other: other, tmp_dir: folder} = context
      nodes = [one, other]
      store = {McpServer.FolderStore, folder: folder}
      for vm <- nodes, do: HttpVm.call(vm, Application, :put_env, [:mcp_server, :session_store, store])
      on_exit(fn -> for vm <- nodes, do: HttpVm.call(vm, Application, :delete_env, [:mcp_server, :session_store]) end)
      session = HttpSession.open(one.server)
      assert HttpSession.status(at(session, other), legacy("ping")) == 200
      stream = HttpSession.get(at(session, other))
      assert HttpSession.delete(session).status == 204

      # The process ends after its session was refused once.
      for request <- [legacy_call("whoami"), legacy("ping", %{}, id: 2)],
          do: eventually(fn -> HttpSession.status(at(session, other), request) == 404 end)

      assert %{data: ""} = HttpPeer.event(stream)
      assert HttpClient.message(stream) == :end
      assert open(session, other) == []
    end

    test "#{kind}: an unused session gives its memory back, and is opened again when it is used", %{one: one} do
      session = HttpSession.open(one.server)
      leave(session, one)
      assert HttpSession.status(session, legacy("ping")) == 200
    end

    test "#{kind}: a session that drains when the table's process crashes leaves nothing", %{quiet: vm} do
      session = HttpSession.open(vm.server)
      HttpSession.start(session, legacy_call("sleep", %{"ms" => 60_000}))
      eventually(fn -> HttpVm.call(vm, HttpVm, :running_calls, []) == 1 end)
      [{_id, pid, _, _, _, _, _}] = open(session, vm)
      HttpVm.call(vm, :erlang, :send, [pid, :mcp_http_drain])
      eventually(fn -> open(session, vm) == [] end)

      table = fn -> HttpVm.call(vm, Process, :whereis, [Sessions]) end
      crashed = table.()
      HttpVm.call(vm, Process, :exit, [crashed, :kill])
      eventually(fn -> table.() not in [nil, crashed] end)
      restarted = table.()
      HttpVm.call(vm, Process, :exit, [pid, :kill])
      eventually(fn -> HttpVm.call(vm, Sessions, :count, []) == 0 end)
      assert %{sessions: sessions, counts: counts} = HttpVm.call(vm, :sys, :get_state, [restarted])
      assert {sessions, counts, HttpVm.call(vm, HttpVm, :held, [:sessions])} == {%{}, %{}, 0}
    end

    test "#{kind}: a session that ends while the table's process is down leaves nothing", %{quiet: vm} do
      session = HttpSession.open(vm.server)
      [{_id, pid, _, _, _, _, _}] = open(session, vm)
      crashed = HttpVm.call(vm, Process, :whereis, [Sessions])
      HttpVm.call(vm, :sys, :suspend, [crashed])
      assert HttpSession.delete(session).status == 204
      eventually(fn -> not HttpVm.call(vm, Process, :alive?, [pid]) end)
      HttpVm.call(vm, Process, :exit, [crashed, :kill])
      eventually(fn -> HttpVm.call(vm, Process, :whereis, [Sessions]) not in [nil, crashed] end)
      assert HttpVm.call(vm, :ets, :tab2list, [McpServer.Http.Session.Tombstones.Open]) == []
    end

    test "#{kind}: a session that was killed is opened again", %{one: one} do
      session = HttpSession.open(one.server)
      kill_all(one)
      assert HttpSession.status(session, legacy("ping")) == 200
    end

    test "#{kind}: a call whose session is killed is told to come again", %{one: one} do
      session = HttpSession.open(one.server)
      call = HttpSession.start(session, legacy_call("sleep", %{"ms" => 60_000}))
      eventually(fn -> HttpVm.call(one, HttpVm, :running_calls, []) == 1 end)
      kill_all(one)
      response = HttpPeer.response(call)
      assert {response.status, HttpResponse.header(response, "retry-after")} == {503, "1"}
      assert HttpSession.status(session, legacy("ping", %{}, id: 2)) == 200
    end

    defp kill_all(vm) do
      for {_id, pid, _type, _modules} <-
            HttpVm.call(vm, DynamicSupervisor, :which_children, [McpServer.Http.SessionSupervisor]),
          do: HttpVm.call(vm, Process, :exit, [pid, :kill])

      eventually(fn -> HttpVm.call(vm, Sessions, :count, []) == 0 end)
    end

    @tool [name: "own", description: "Is the session's"]
    @handler {McpServer.Handlers, :echo}

    defp put(vm, session), do: HttpVm.call(vm, Tools, :put, [{HttpRouter, session: session.id}, @tool, @handler])
    defp tools(vm, session), do: HttpVm.call(vm, Tools, :names, [{HttpRouter, session: session.id}])

    test "#{kind}: a session that has ended gets no run-time tools", %{one: one} do
      [deleted, disconnected] = for _ <- 1..2, do: HttpSession.open(one.server)
      assert put(one, disconnected) == :ok
      assert HttpSession.delete(deleted).status == 204
      assert HttpVm.call(one, McpServer, :disconnect, [{HttpRouter, session: disconnected.id}]) == :ok

      for session <- [deleted, disconnected] do
        eventually(fn -> tools(one, session) == [] end)
        assert put(one, session) == {:error, "the session has ended"}
      end
    end

    test "#{kind}: a session that no node has open gets run-time tools, until it expires", %{one: one, short: short} do
      session = HttpSession.open(one.server)
      leave(session, one)
      assert put(one, session) == :ok
      assert %{"result" => %{"isError" => false}} = HttpSession.call(session, "own")
      leave(session, one)
      assert HttpVm.call(one, McpServer, :disconnect, [{HttpRouter, session: session.id}]) == :ok
      eventually(fn -> tools(one, session) == [] end)

      serve_first(short)
      # For this node the id is that of a session which is not open.
      session = HttpSession.open(one.server)
      assert put(short, session) == :ok
      eventually(fn -> tools(short, session) == [] end)
      assert put(short, session) == {:error, "the session has ended"}
    end

    test "#{kind}: a session's run-time tools end by their age on a node that gets them later",
         %{one: vm, other: later} do
      # Neither node informs the other, so the test passes the rows on.
      serve_first(later)
      session = HttpSession.open(vm.server)
      assert put(vm, session) == :ok
      key = {HttpRouter, {:session, session.id}, :_}
      [{key, {time, writer}, value}] = HttpVm.call(vm, :ets, :match_object, [Tools.Server, {key, :_, :_}])
      day = 86_400_000_000

      for {age, names} <- [{day - 60_000_000, ["own"]}, {day + 1, []}] do
        session = HttpSession.open(vm.server)
        key = put_elem(key, 1, {:session, session.id})
        HttpVm.call(later, GenServer, :cast, [Tools.Server, {:rows, [{key, {time - age, writer}, value}]}])
        eventually(fn -> tools(later, session) == names end)
        assert put(later, session) == if(names == [], do: {:error, "the session has ended"}, else: :ok)
      end
    end

    test "#{kind}: session_lifetime holds on every node", %{short: short, one: long} do
      {%{status: 200} = response, _messages} = HttpClient.exchange(short.server, initialize())
      id = HttpResponse.header(response, "mcp-session-id")
      eventually(fn -> HttpVm.call(short, Sessions, :count, []) == 0 end)

      for vm <- [short, long],
          do: assert({%{status: 404}, _} = HttpClient.exchange(vm.server, of_session(legacy("ping"), id)))
    end

    test "#{kind}: sessions that are opened again are bounded like others", %{one: one} do
      other = vm(http: [max_sessions: 1])
      [first, second] = for _ <- 1..2, do: HttpSession.open(one.server)
      assert HttpSession.status(at(first, other), legacy("ping")) == 200
      assert HttpSession.status(at(second, other), legacy("ping")) == 503
      assert HttpSession.delete(at(first, other)).status == 204
      eventually(fn -> HttpSession.status(at(second, other), legacy("ping")) == 200 end)
    end

    test "#{kind}: many requests at once open one session", %{one: one, other: other} do
      session = at(HttpSession.open(one.server), other)
      peers = for id <- 1..20, do: HttpSession.start(session, legacy_call("whoami", %{}, id: id))
      texts = for peer <- peers, do: peer |> HttpPeer.response() |> HttpResponse.json() |> HttpClient.text()
      assert Enum.uniq(texts) == [inspect({nil, session.id, "2025-11-25", "peer", %{}})]
    end
  end
end
