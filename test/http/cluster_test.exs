# Two nodes without a secret that serve one router to the same clients: changes, and sessions on the other node.
for {name, kind, place} <- [
      {HttpClusterListenerTest, :listener, "http /mcp"},
      {HttpClusterPlugTest, :plug, "plug "}
    ] do
  defmodule Module.concat(McpServer, name) do
    use McpServer.HttpCase, async: true

    import McpServer.HttpRequests

    alias McpServer.{Changes, Epmd, HttpRouter, HttpVm}
    alias McpServer.Http.Cluster.Proxy
    alias McpServer.Tool.{CallResult, Content}

    @moduletag :capture_log
    @moduletag timeout: 120_000

    @moduletag McpServer.Installed.tags(:epmd)

    setup_all do
      Epmd.start()
      [one, other] = for name <- ["one", "other"], do: vm(name)
      join(one, other)
      {:ok, one: one, other: other}
    end

    defp vm(name, serve \\ []), do: HttpVm.start(kind: unquote(kind), lazy: true, name: name, serve: serve)

    defp join(one, other) do
      HttpVm.connect(one, other)

      for {from, to} <- [{one, other}, {other, one}],
          do: eventually(fn -> to.node in HttpVm.call(from, McpServer.Http.Cluster.Node, :others, []) end)
    end

    test "#{kind}: a change published on one reaches a listening client of the other", %{
      one: one,
      other: other
    } do
      filter = %{"notifications" => %{"toolsListChanged" => true, "resourceSubscriptions" => ["http-test://fixed"]}}
      {peer, %{body: :stream}} = HttpClient.open(other.server, modern("subscriptions/listen", filter))
      assert %{"method" => "notifications/subscriptions/acknowledged"} = HttpClient.message(peer)
      stream = HttpSession.get(HttpSession.open(other.server))

      # The nodes exchange their subscribers asynchronously.
      eventually(fn -> other.node in HttpVm.call(one, Changes.Hub, :others, [HttpRouter]) end)

      HttpVm.call(one, Changes, :tools_changed, [HttpRouter])
      assert %{"method" => "notifications/tools/list_changed"} = HttpClient.message(peer)
      assert %{"method" => "notifications/tools/list_changed"} = HttpClient.message(stream)
      HttpVm.call(one, Changes, :resource_updated, [HttpRouter, "http-test://fixed"])
      assert %{"method" => "notifications/resources/updated"} = HttpClient.message(peer)
    end

    # Earlier, each client was a member of its own.
    test "#{kind}: a node is told once, whoever listens, also after its processes of changes were killed", %{
      one: one,
      other: other
    } do
      filter = %{"notifications" => %{"toolsListChanged" => true}}
      {peer, %{body: :stream}} = HttpClient.open(other.server, modern("subscriptions/listen", filter))
      assert %{"method" => "notifications/subscriptions/acknowledged"} = HttpClient.message(peer)
      for vm <- [one, other], _ <- 1..3, do: HttpSession.open(vm.server)

      hub = fn -> HttpVm.call(other, Process, :whereis, [Changes.Hub]) end

      kill_hub = fn ->
        killed = hub.()
        true = HttpVm.call(other, Process, :exit, [killed, :kill])
        eventually(fn -> hub.() not in [nil, killed] end)
      end

      # The member of the scope before is the same as that of the new one.
      kill_scope = fn ->
        scope = HttpVm.call(other, HttpVm, :kill_scope, [])
        eventually(fn -> HttpVm.call(one, HttpVm, :met?, [scope]) end)
      end

      for kill <- [kill_hub, kill_scope, kill_hub] do
        kill.()

        eventually(fn ->
          members = HttpVm.call(one, :pg, :get_members, [Changes, HttpRouter])
          length(members) == 2 and hub.() in members
        end)

        HttpVm.call(one, Changes, :tools_changed, [HttpRouter])
        assert %{"method" => "notifications/tools/list_changed"} = HttpClient.message(peer)
      end
    end

    # Earlier, the node that writes the answers of a session of another one asked nobody: 600 MB waited. Some web servers
    # take an answer at once.
    if kind == :listener do
      test "a client that leaves too much unread here is refused here, wherever its session is", %{one: one} do
        near = vm("near", http: [max_answer_bytes: 1_000_000, max_share: 100])
        join(one, near)
        session = %{HttpSession.open(one.server) | server: near.server}
        assert HttpSession.status(session, legacy("ping")) == 200

        echo = legacy_call("echo", %{"text" => String.duplicate("x", 3_500_000)}, id: "long")
        unread = HttpClient.start(near.server, of_session(echo, session.id), recbuf: 4_096)
        eventually(fn -> HttpSession.status(session, legacy("ping")) == 503 end)
        HttpPeer.close(unread)
        eventually(fn -> HttpSession.status(session, legacy("ping")) == 200 end)
      end
    end

    # Earlier, what it had sent counted for nobody on either node from then on.
    if kind == :listener do
      test "what a client sends here before it leaves counts until its session on another node has it" do
        [home, front] = for name <- ["home", "front"], do: vm(name)
        join(home, front)
        session = %{HttpSession.open(home.server) | server: front.server}
        assert HttpSession.status(session, legacy("ping")) == 200
        held = fn -> front |> HttpVm.call(HttpVm, :stats, []) |> Map.take([:connections, :body_bytes]) end
        {process, _in_flight} = HttpVm.call(home, HttpSession, :process, [session.id])
        :ok = HttpVm.call(home, :sys, :suspend, [process])
        waiting = fn -> home |> HttpVm.call(Process, :info, [process, :message_queue_len]) |> elem(1) end
        notification = legacy("notifications/progress", %{"progressToken" => String.duplicate("x", 100_000)}, id: nil)

        for n <- 1..10 do
          peer = HttpClient.start(front.server, HttpSession.of(session, notification))
          eventually(fn -> waiting.() >= n end)
          HttpPeer.close(peer)
        end

        # The departures are noticed before the answers to further requests.
        for _n <- 1..10, do: assert(HttpSession.status(HttpSession.open(front.server), legacy("ping")) == 200)
        assert held.()[:body_bytes] > 1_000_000
        :ok = HttpVm.call(home, :sys, :resume, [process])
        eventually(fn -> held.() == %{connections: 0, body_bytes: 0} end)
      end
    end

    test "#{kind}: a client that is disconnected on one loses its session and its streams on the other", %{
      one: one,
      other: other
    } do
      session = HttpSession.open(other.server)
      stream = HttpSession.get(session)
      assert HttpVm.call(one, McpServer, :disconnect, [{HttpRouter, session: session.id}]) == :ok
      assert HttpClient.message(stream) == :end
      eventually(fn -> HttpSession.status(session, legacy("ping")) == 404 end)

      {peer, %{body: :stream}} =
        HttpClient.open(other.server, modern("subscriptions/listen", %{"notifications" => %{}}))

      assert %{"method" => "notifications/subscriptions/acknowledged"} = HttpClient.message(peer)
      assert HttpVm.call(one, McpServer, :disconnect, [HttpRouter]) == :ok
      assert %{"method" => "notifications/cancelled"} = HttpClient.message(peer)
      assert %{"result" => %{"resultType" => "complete"}} = HttpClient.message(peer)
      assert HttpClient.message(peer) == :end
    end

    @tag req: "SEC-06"
    test "#{kind}: a task is found from the other node, by those whose it is", %{one: one, other: other} do
      capable = [capabilities: %{"extensions" => %{"io.modelcontextprotocol/tasks" => %{}}}]
      call = %{"name" => "sleep", "arguments" => %{"ms" => 60_000}}
      created = HttpClient.answer(one.server, modern("tools/call", call, capable))
      assert %{"result" => %{"resultType" => "task", "taskId" => id}} = created
      ask = fn vm, verb -> HttpClient.answer(vm.server, modern("tasks/" <> verb, %{"taskId" => id}, capable)) end

      assert %{"result" => %{"status" => "working"}} = ask.(other, "get")
      assert %{"result" => %{"resultType" => "complete"}} = ask.(other, "cancel")
      assert %{"result" => %{"status" => "cancelled"}} = ask.(one, "get")

      # Without a principal, tasks belong to their session on every node.
      session = HttpSession.open(one.server)
      {_reply, [created]} = HttpSession.exchange(session, legacy("tools/call", Map.put(call, "task", %{})))
      assert %{"result" => %{"task" => %{"taskId" => id}}} = created
      wrong = %{session | server: other.server}
      get = legacy("tasks/get", %{"taskId" => id})
      assert {_reply, [%{"result" => %{"status" => "working"}}]} = HttpSession.exchange(wrong, get)
      stranger = HttpSession.open(other.server)
      assert {_reply, [%{"error" => %{"code" => -32602}}]} = HttpSession.exchange(stranger, get)
    end

    # Earlier, the process of all tasks sent their results to other nodes, and waited for them meanwhile.
    test "#{kind}: a task that has ended is read on the other node beside the process of all tasks", %{
      one: one,
      other: other
    } do
      capable = [capabilities: %{"extensions" => %{"io.modelcontextprotocol/tasks" => %{}}}]
      call = %{"name" => "sleep", "arguments" => %{"ms" => 1}}
      ask = fn vm, verb, id -> HttpClient.answer(vm.server, modern("tasks/" <> verb, %{"taskId" => id}, capable)) end

      %{"result" => %{"taskId" => id}} = HttpClient.answer(one.server, modern("tools/call", call, capable))
      eventually(fn -> ask.(one, "get", id)["result"]["status"] == "completed" end)
      :ok = HttpVm.call(one, :sys, :suspend, [McpServer.Tasks.Server])
      assert %{"result" => %{"status" => "completed", "result" => %{"content" => [_text]}}} = ask.(other, "get", id)
      :ok = HttpVm.call(one, :sys, :resume, [McpServer.Tasks.Server])

      # What lists and acknowledgements say of it has none of its result.
      session = HttpSession.open(one.server)
      {_reply, [created]} = HttpSession.exchange(session, legacy("tools/call", Map.put(call, "task", %{})))
      %{"result" => %{"task" => %{"taskId" => id}}} = created
      wrong = %{session | server: other.server}
      get = fn -> HttpSession.answer(wrong, legacy("tasks/get", %{"taskId" => id}))["result"]["status"] end
      eventually(fn -> get.() == "completed" end)
      [{^id, owner, _entry}] = HttpVm.call(one, :ets, :lookup, [McpServer.Tasks.Server, id])
      assert [%{id: ^id, stored: nil}] = HttpVm.call(one, McpServer.Tasks, :local, [owner])
      assert {:finished, %{stored: nil}} = HttpVm.call(other, McpServer.Tasks, :cancel, [owner, id])

      assert {:ok, %{outcome: {:result, %{content: [_text]}}}} =
               HttpVm.call(other, McpServer.Tasks, :await, [owner, id, nil])
    end

    # Earlier, it was sent whole: with thousands of requests, each of whose clients left at once, a node had gigabytes of
    # them in fragments.
    test "#{kind}: a long result of a task is read on the other node piece by piece", %{one: one, other: other} do
      capable = [capabilities: %{"extensions" => %{"io.modelcontextprotocol/tasks" => %{}}}]
      call = %{"name" => "sleep", "arguments" => %{"ms" => 60_000}}
      %{"result" => %{"taskId" => id}} = HttpClient.answer(one.server, modern("tools/call", call, capable))
      text = for number <- 1..50_000, into: "", do: "#{number} "
      result = %CallResult{content: [Content.text(text)]}
      :ok = HttpVm.call(one, McpServer.Tasks, :finish, [id, {:result, result}])
      [{^id, owner, %{size: size}}] = HttpVm.call(one, :ets, :lookup, [McpServer.Tasks.Server, id])
      assert size > 280_000
      assert {:ok, piece} = HttpVm.call(one, McpServer.Tasks, :piece, [owner, id, 0])
      assert byte_size(piece) < 65_536

      answer = HttpClient.answer(other.server, modern("tasks/get", %{"taskId" => id}, capable))
      assert %{"result" => %{"result" => %{"content" => [%{"text" => ^text}]}}} = answer
    end

    test "#{kind}: a request that reaches the wrong node is answered by the right one", %{
      one: one,
      other: other
    } do
      session = HttpSession.open(one.server, "2025-11-25", capabilities: %{"elicitation" => %{}})
      wrong = %{session | server: other.server}

      assert HttpSession.status(wrong, legacy("ping")) == 200
      assert HttpClient.text(HttpSession.call(wrong, "whoami")) == HttpClient.text(HttpSession.call(session, "whoami"))
      assert HttpSession.status(wrong, legacy("notifications/nothing", %{}, id: nil)) == 202
      assert HttpSession.status(wrong, legacy("no/such")) == 200
      assert HttpSession.status(wrong, in_session("{")) == 400

      # Streams are forwarded in both directions.
      {peer, %{body: :stream}} = HttpSession.open_stream(wrong, legacy_call("ask"))
      assert %{"method" => "elicitation/create", "id" => asked} = HttpClient.message(peer)
      answer = %{"action" => "accept", "content" => %{"name" => "Ada"}}
      reply = McpServer.JSON.encode!(%{"jsonrpc" => "2.0", "id" => asked, "result" => answer})
      assert {%{status: 202}, []} = HttpSession.exchange(wrong, in_session(reply))
      assert HttpClient.text(HttpClient.message(peer)) == "Hello, Ada! :asked"

      stream = HttpSession.get(wrong)
      assert HttpSession.status(session, get_stream()) == 409
      HttpVm.call(one, Changes, :tools_changed, [HttpRouter])
      assert %{"method" => "notifications/tools/list_changed"} = HttpClient.message(stream)

      assert HttpSession.delete(wrong).status in [200, 204]
      assert HttpSession.status(session, legacy("ping")) == 404
      assert HttpSession.status(wrong, legacy("ping")) == 404
    end

    # The number of bodies that were forwarded to this node.
    defp served(vm), do: elem(HttpVm.call(vm, :erlang, :trace_info, [{Proxy, :serve, 5}, :call_count]), 1)

    defp count_served(vm) do
      HttpVm.call(vm, Code, :ensure_loaded!, [Proxy])
      HttpVm.call(vm, :erlang, :trace_pattern, [{Proxy, :serve, 5}, true, [:call_count]])
      served(vm)
    end

    # The first 22 characters of an id are random, the others name a node.
    defp made_up(id), do: String.duplicate("A", 22) <> binary_part(id, 22, 8)

    test "#{kind}: a made-up id is asked for, and no body is sent", %{one: one, other: other} do
      session = HttpSession.open(one.server)
      before = count_served(one)
      guess = %{session | server: other.server, id: made_up(session.id)}
      assert HttpSession.status(guess, legacy("ping")) == 404
      assert HttpSession.status(guess, get_stream()) == 404
      assert HttpSession.delete(guess).status == 404

      # Most of the body is never sent. A plug waits for a body only if a node has the session.
      if unquote(kind) == :plug do
        peer = HttpPeer.connect(other.server.port)
        headers = of_session(legacy("ping"), guess.id).headers ++ [{"content-length", "3000000"}]
        :ok = HttpPeer.send_request(peer, post("{", headers))
        assert HttpPeer.head(peer).status == 404
      end

      assert served(one) == before

      assert HttpSession.status(%{session | server: other.server}, legacy("ping")) == 200
      assert served(one) == before + 1
    end

    test "#{kind}: a session is found at the same place of another node, and at no other", %{one: one} do
      named = vm("named", mount_name: "admin")
      join(one, named)
      session = HttpSession.open(one.server)
      before = count_served(one)
      assert HttpSession.status(%{session | server: named.server}, legacy("ping")) == 404
      assert served(one) == before

      twin = vm("twin", mount_name: "admin")
      join(twin, named)
      admin = HttpSession.open(twin.server)
      assert HttpSession.status(%{admin | server: named.server}, legacy("ping")) == 200

      # A forwarded request with `known:` is checked again.
      head = %{method: "POST", target: "/mcp", headers: [], authority: nil, peer: nil}

      for {place, status} <- [
            {{HttpRouter, "admin"}, 404},
            {{McpServer.Handlers, unquote(place)}, 404},
            {{HttpRouter, unquote(place)}, 400}
          ] do
        known = %{principal: nil, place: place, base: %McpServer.Conn{}}
        head = Map.put(head, :known, known)
        assert {place, HttpVm.call(one, HttpVm, :serve_forwarded, [session.id, head])} == {place, status}
      end
    end

    test "#{kind}: a node that does not run the library is asked nothing", %{other: other} do
      # The node records every call of these library functions.
      {:ok, peer, node} = :peer.start(HttpVm.bare_options("bare"))
      on_exit(fn -> :peer.stop(peer) end)

      for module <- [McpServer.Http.Sessions, Proxy] do
        form = [{:attribute, 1, :module, module}, {:attribute, 1, :export, [{:here?, 3}, {:serve, 5}]} | recorders()]
        {:ok, ^module, binary} = :compile.forms(form)
        {:module, ^module} = :peer.call(peer, :code, :load_binary, [module, ~c"nowhere", binary])
      end

      true = HttpVm.call(other, :net_kernel, :connect_node, [node])
      eventually(fn -> node in HttpVm.call(other, Node, :list, []) end)
      <<mark::binary-size(6), _rest::binary>> = :crypto.hash(:sha256, Atom.to_string(node))
      id = String.duplicate("A", 22) <> Base.url_encode64(mark)
      guess = %{HttpSession.open(other.server) | id: id}
      assert HttpSession.status(guess, legacy("ping")) == 404
      assert :peer.call(peer, :persistent_term, :get, [:asked, false]) == false
    end

    # `persistent_term:put(asked, true)`, for any arguments.
    defp recorders do
      put =
        {:call, 1, {:remote, 1, {:atom, 1, :persistent_term}, {:atom, 1, :put}}, [{:atom, 1, :asked}, {:atom, 1, true}]}

      for {name, arity} <- [here?: 3, serve: 5] do
        {:function, 1, name, arity, [{:clause, 1, List.duplicate({:var, 1, :_}, arity), [], [put, {:atom, 1, true}]}]}
      end
    end

    # Earlier, the client was told that its session had ended. The session took the request for open, and cut the
    # connection later, whatever it served then.
    @tag slow: "waits fifteen seconds for a node"
    test "#{kind}: the node of a session that is late is not taken for gone", %{one: one, other: other} do
      session = HttpSession.open(one.server)
      wrong = %{session | server: other.server}
      assert HttpSession.status(wrong, legacy("ping")) == 200
      {pid, _in_flight} = HttpVm.call(one, HttpSession, :process, [session.id])
      :ok = HttpVm.call(one, :sys, :suspend, [pid])
      peer = HttpPeer.connect(other.server.port)
      response = HttpPeer.request(peer, of_session(get_stream(), session.id))
      assert {response.status, HttpResponse.header(response, "retry-after")} == {503, "1"}
      :ok = HttpVm.call(one, :sys, :resume, [pid])

      # The stream is free, and so is the connection.
      eventually(fn ->
        {again, response} = HttpClient.open(other.server, of_session(get_stream(), session.id))
        HttpPeer.close(again)
        response.status == 200
      end)

      # Some web servers close it.
      if unquote(kind) == :listener,
        do: assert(HttpPeer.request(peer, HttpSession.of(wrong, legacy("ping"))).status == 200)

      HttpPeer.close(peer)
    end

    test "#{kind}: the scope of the nodes that is killed is joined again", %{one: one, other: other} do
      session = HttpSession.open(one.server)
      scope = HttpVm.call(one, HttpVm, :kill_scope, [])
      # Before that, the other node still has the members of the scope that was killed.
      eventually(fn -> HttpVm.call(other, HttpVm, :met?, [scope]) end)
      eventually(fn -> one.node in HttpVm.call(other, McpServer.Http.Cluster.Node, :others, []) end)
      assert HttpSession.status(%{session | server: other.server}, legacy("ping")) == 200
    end

    test "#{kind}: what is large goes through as well", %{one: one, other: other} do
      session = HttpSession.open(one.server)
      text = String.duplicate("x", 3_000_000)
      assert HttpClient.text(HttpSession.call(%{session | server: other.server}, "echo", %{"text" => text})) == text
    end

    test "#{kind}: the node of a session that dies takes it along, and the client begins anew", %{other: other} do
      mortal = vm("mortal")
      join(mortal, other)
      session = HttpSession.open(mortal.server)
      wrong = %{session | server: other.server}
      stream = HttpSession.get(wrong)
      in_flight = HttpSession.start(wrong, legacy_call("sleep", %{"ms" => 30_000}))
      eventually(fn -> HttpVm.call(mortal, HttpVm, :running_calls, []) == 1 end)
      HttpVm.signal(mortal, "KILL")

      assert HttpClient.message(stream) == :end
      assert HttpPeer.response(in_flight).status in [404, 500, 503]
      eventually(fn -> HttpSession.status(wrong, legacy("ping")) == 404 end)
      assert HttpClient.text(HttpSession.call(HttpSession.open(other.server), "echo", %{"text" => "x"})) == "x"
    end

    # A web server under a plug drains its connections itself.
    if kind == :listener do
      test "a node that drains ends at once what it forwards of a session, and lets a call end", %{one: one} do
        draining = vm("draining", drain: 60_000)
        join(one, draining)
        session = HttpSession.open(one.server)
        wrong = %{session | server: draining.server}
        stream = HttpSession.get(wrong)
        in_flight = HttpSession.start(wrong, legacy_call("sleep", %{"ms" => 500}))
        eventually(fn -> HttpVm.call(one, HttpVm, :running_calls, []) == 1 end)
        # It returns when the server has stopped, long before the end of its time.
        stop = Task.async(fn -> HttpVm.call(draining, HttpVm, :stop_serving, []) end)
        assert HttpClient.message(stream) == :end
        assert [%{"result" => _result}] = HttpClient.messages(in_flight, HttpPeer.response(in_flight))
        assert Task.await(stop, 30_000) == :ok
        # The session goes on where it is.
        assert HttpSession.status(session, legacy("ping")) == 200
      end
    end

    test "#{kind}: a session of a node that is not of the cluster is unknown", %{other: other} do
      stranger = vm("stranger")
      session = HttpSession.open(stranger.server)
      assert HttpSession.status(%{session | server: other.server}, legacy("ping")) == 404
      assert HttpSession.status(session, legacy("ping")) == 200
    end
  end
end
