# Connected nodes with the same secret: a session lives on one node, and all nodes know when it has ended.
for {name, kind} <- [{HttpSealedClusterListenerTest, :listener}, {HttpSealedClusterPlugTest, :plug}] do
  defmodule Module.concat(McpServer, name) do
    use McpServer.HttpCase, async: true

    @moduletag slow: "nodes in VMs of their own"

    import McpServer.HttpRequests

    alias McpServer.{Conn, Epmd, HttpRouter, HttpVm, Session, SessionStore, SharedValues}
    alias McpServer.Http.Cluster.Node, as: Home
    alias McpServer.Http.Session.Tombstones
    alias McpServer.Http.Sessions

    @moduletag :capture_log
    @moduletag timeout: 120_000
    @secret String.duplicate("cluster secret ", 3)
    @question {Sessions, :whereabouts, 3}

    @moduletag McpServer.Installed.tags(:epmd)

    setup_all do
      Epmd.start()
      vms = for name <- ["one", "other", "third"], do: vm(name)
      connect(vms)
      {:ok, vms: vms}
    end

    defp vm(name), do: HttpVm.start(kind: unquote(kind), lazy: true, name: name, secret: @secret)
    defp at(session, vm), do: %{session | server: vm.server}
    defp count(vm), do: HttpVm.call(vm, Sessions, :count, [])

    defp connect(vms) do
      for one <- vms, other <- vms, one.node < other.node, do: HttpVm.connect(one, other)

      for one <- vms,
          other <- vms,
          one != other,
          do: eventually(fn -> other.node in HttpVm.call(one, Home, :others, []) end)
    end

    test "#{kind}: a state sealed on one is opened on the other", %{vms: [one, other, _third]} do
      capable = [capabilities: %{"elicitation" => %{}}]
      asked = HttpClient.call(one.server, "ask", %{}, capable)
      assert %{"result" => %{"resultType" => "input_required", "requestState" => state}} = asked
      responses = %{"name" => %{"action" => "accept", "content" => %{"name" => "Ada"}}}
      params = %{"name" => "ask", "arguments" => %{}, "inputResponses" => responses, "requestState" => state}
      answer = HttpClient.answer(other.server, modern("tools/call", params, capable))
      assert HttpClient.text(answer) == "Hello, Ada! :asked"
    end

    test "#{kind}: a session stays where it is, whichever node is asked", %{vms: [one, other, third] = vms} do
      before = Enum.map(vms, &count/1)
      session = HttpSession.open(one.server)
      for vm <- [other, third, one, other], do: assert(HttpSession.status(at(session, vm), legacy("ping")) == 200)
      assert Enum.map(vms, &count/1) == List.update_at(before, 0, &(&1 + 1))
      assert HttpSession.delete(at(session, third)).status == 204
      for vm <- vms, do: assert(HttpSession.status(at(session, vm), legacy("ping")) == 404)
    end

    test "#{kind}: changes of one handle on two nodes are all kept", %{vms: [one, other, _third] = vms} do
      SharedValues.share(vms)
      on_exit(fn -> SharedValues.unshare(vms) end)
      conn = %Conn{router: HttpRouter, principal: "ada"}
      {:ok, handle, _conn} = HttpVm.call(one, Session, :open_handle, [conn])
      put = fn vm, keys -> Task.async(fn -> HttpVm.call(vm, SharedValues, :put_each, [conn, handle, keys]) end) end
      keys = for n <- 1..60, do: "key #{n}"
      {first, rest} = Enum.split(keys, 30)
      answers = Task.await_many([put.(one, first), put.(other, rest)], 60_000)
      assert Enum.uniq(List.flatten(answers)) == [:ok]
      assert HttpVm.call(other, SharedValues, :get_each, [conn, handle, keys]) == keys
    end

    test "#{kind}: a node that goes leaves its sessions to the others, and one of them takes each", %{
      vms: [one, other, _third]
    } do
      mortal = vm("mortal")
      connect([mortal, one, other])
      session = HttpSession.open(mortal.server)
      wrong = at(session, other)
      stream = HttpSession.get(wrong)
      call = HttpSession.start(wrong, legacy_call("sleep", %{"ms" => 60_000}))
      eventually(fn -> HttpVm.call(mortal, HttpVm, :running_calls, []) == 1 end)
      HttpVm.signal(mortal, "KILL")

      assert HttpClient.message(stream) == :end
      response = HttpPeer.response(call)
      assert {response.status, HttpResponse.header(response, "retry-after")} == {503, "1"}
      eventually(fn -> mortal.node not in HttpVm.call(other, Home, :others, []) end)
      eventually(fn -> mortal.node not in HttpVm.call(one, Home, :others, []) end)

      before = count(one) + count(other)

      peers =
        for {vm, ids} <- [{one, 1..10}, {other, 11..20}],
            id <- ids,
            do: HttpSession.start(at(session, vm), legacy_call("whoami", %{}, id: id))

      texts = for peer <- peers, do: peer |> HttpPeer.response() |> HttpResponse.json() |> HttpClient.text()
      assert Enum.uniq(texts) == [inspect({nil, session.id, "2025-11-25", "peer", %{}})]
      assert count(one) + count(other) == before + 1
    end

    test "#{kind}: a request that is on its way while its node lets go of the session is served elsewhere", %{
      vms: [one, other, _third]
    } do
      session = HttpSession.open(one.server)
      # The node looks for the session before the body has arrived: chunked bodies are read later.
      request = HttpSession.of(at(session, other), legacy_call("whoami"))
      headers = request.headers ++ [{"transfer-encoding", "chunked"}]
      peer = HttpPeer.connect(other.server.port)
      HttpVm.call(one, :erlang, :trace_pattern, [@question, true, [:call_count]])
      before = asked(one)
      :ok = HttpPeer.send_request(peer, %{request | body: nil, headers: headers})
      eventually(fn -> asked(one) > before end)
      retire(one, session)

      HttpPeer.write(peer, [Integer.to_string(byte_size(request.body), 16), "\r\n", request.body, "\r\n0\r\n\r\n"])
      response = HttpPeer.response(peer)
      assert response.status == 200
      assert HttpClient.text(HttpResponse.json(response)) == inspect({nil, session.id, "2025-11-25", "peer", %{}})
      assert count(one, session) == 0
      assert count(other, session) == 1
    end

    # The number of times that this node was asked for the place of a session.
    defp asked(vm), do: elem(HttpVm.call(vm, :erlang, :trace_info, [@question, :call_count]), 1)

    # The message that the server sends to its sessions when it stops.
    defp retire(vm, session) do
      [{_id, pid, _, _, _, _, _}] = HttpVm.call(vm, :ets, :lookup, [Sessions, session.id])
      HttpVm.call(vm, :erlang, :send, [pid, :mcp_http_drain])
      eventually(fn -> count(vm, session) == 0 end)
    end

    defp count(vm, session), do: length(HttpVm.call(vm, :ets, :lookup, [Sessions, session.id]))

    for {name, steps} <- [
          {"is told by the node where its client ended it", [:connect, :delete]},
          {"learns that when the nodes connect", [:delete, :connect]}
        ] do
      test "#{kind}: a node that has opened the same session #{name}, and ends it" do
        [first, second] = for name <- ["first", "second"], do: vm(name)
        session = HttpSession.open(first.server)
        own = at(session, second)
        assert HttpClient.text(HttpSession.call(own, "remember")) == ":ok"
        stream = HttpSession.get(own)
        assert %{data: ""} = HttpPeer.event(stream)

        for step <- unquote(steps) do
          case step do
            :connect -> connect([first, second])
            :delete -> assert HttpSession.delete(session).status == 204
          end
        end

        assert HttpClient.message(stream) == :end
        for vm <- [first, second], do: assert(HttpSession.status(at(session, vm), legacy("ping")) == 404)
        eventually(fn -> HttpVm.call(second, SessionStore.ETS, :bytes, []) == 0 end)
      end
    end

    test "#{kind}: a node that comes later learns which sessions were ended", %{vms: [one, other, _third]} do
      session = HttpSession.open(one.server)
      assert HttpSession.delete(session).status == 204
      eventually(fn -> HttpVm.call(other, Tombstones, :dead?, [session.id]) end)

      late = vm("late")
      connect([late, other])
      eventually(fn -> HttpVm.call(late, Tombstones, :dead?, [session.id]) end)
      assert HttpSession.status(at(session, late), legacy("ping")) == 404
    end
  end
end
