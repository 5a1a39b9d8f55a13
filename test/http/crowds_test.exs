defmodule McpServer.HttpCrowdsTest do
  # Many streams, sessions, requests, and peers that do not read. The numbers fit two cores and take seconds: the scale
  # is in each name, and `MCP_SCALE=20` makes them as large as a machine can bear. Not async: counts processes and
  # memory of the whole node.
  use McpServer.HttpCase, async: false

  import McpServer.HttpRequests

  alias McpServer.{Changes, HttpRouter, HttpVm}
  alias McpServer.Http.Sessions

  @moduletag :capture_log
  @moduletag timeout: 600_000

  describe "peers that never read" do
    @describetag req: "H14"
    test "are cut off, and what they did not read is not kept (20 streams of 1,000)" do
      server = HttpServers.start(:listener, http: [stall_timeout: 500, keep_alive: 100])

      assert_nothing_left(fn ->
        in_parallel(1..scaled(20), fn n ->
          tag = "deaf-#{n}"
          meta = %{"progressToken" => n, "io.modelcontextprotocol/logLevel" => "info"}
          request = modern_call("perform", HttpScript.arguments(tag), meta: meta, id: n)
          peer = HttpClient.start(server, request, recbuf: 4_096)
          {call, _conn} = HttpScript.performing(tag)
          # The socket buffers hold less than 8 MiB.
          for _ <- 1..128, do: HttpScript.tell(call, {:log, "info", String.duplicate("x", 65_536)})
          HttpScript.gone(call)
          HttpPeer.close(peer)
        end)
      end)

      assert HttpClient.text(HttpClient.call(server, "echo", %{"text" => "x"})) == "x"
    end

    test "in the session era lose the connection, and not the call" do
      server = HttpServers.start(:listener, http: [stall_timeout: 500, keep_alive: 100])
      session = HttpSession.open(server)
      params = %{"name" => "perform", "arguments" => HttpScript.arguments(), "_meta" => %{"progressToken" => 1}}
      peer = HttpPeer.connect(server.port, recbuf: 4_096)
      HttpPeer.send_request(peer, HttpSession.of(session, legacy("tools/call", params)))
      {call, _conn} = HttpScript.performing()
      for _ <- 1..128, do: HttpScript.tell(call, {:log, "info", String.duplicate("x", 65_536)})
      HttpScript.tell(call, {:answer, "done"})
      HttpScript.gone(call)
      assert HttpSession.status(session, legacy("ping", %{}, id: 2)) == 200
      HttpPeer.close(peer)
    end
  end

  # Earlier, the connection was closed without an answer.
  @tag slow: "waits five seconds for a process"
  test "a client that waits too long for a session is told so" do
    server = HttpServers.start(:listener)
    :sys.suspend(Sessions)
    on_exit(fn -> :sys.resume(Sessions) end)
    {response, _messages} = HttpClient.exchange(server, initialize())
    assert {response.status, HttpResponse.header(response, "retry-after") != nil} == {503, true}
    :sys.resume(Sessions)
    assert %{id: _id} = HttpSession.open(server)
  end

  # Earlier, 59 KiB each, for as long as the stream was open or the call ran.
  describe "requests with a long head" do
    defp long_head(request), do: with_headers(as(request, "eve"), [{"x-long", String.duplicate("x", 50_000)}])

    # The longest binary that a process refers to.
    defp longest(pid) do
      :erlang.garbage_collect(pid)
      {:binary, binaries} = Process.info(pid, :binary)
      binaries |> Enum.map(&elem(&1, 1)) |> Enum.max(fn -> 0 end)
    end

    test "do not keep it while they wait" do
      router = McpServer.ClientServer
      server = HttpServers.start(:listener, router: router, identify: &who/1)
      before = Changes.listeners_here(router)
      listen = modern("subscriptions/listen", %{"notifications" => %{"toolsListChanged" => true}})
      {peer, %{status: 200}} = HttpClient.open(server, long_head(listen))
      HttpClient.message(peer)
      assert [stream] = Changes.listeners_here(router) -- before
      eventually(fn -> longest(stream) < 10_000 end)
      HttpPeer.close(peer)

      server = HttpServers.start(:listener, identify: &who/1)
      peer = HttpClient.start(server, long_head(modern_call("perform", HttpScript.arguments("long head"))))
      {call, conn} = HttpScript.performing("long head")
      eventually(fn -> longest(conn.call.connection) < 10_000 end)
      HttpScript.tell(call, {:answer, "done"})
      assert %{status: 200} = HttpPeer.response(peer)
    end
  end

  describe "sessions that come and go" do
    @describetag req: "H15"
    test "with streams open and calls running, leave nothing (500 cycles of 10,000)" do
      server = HttpServers.start(:listener)

      assert_nothing_left(fn ->
        in_parallel(
          1..scaled(500),
          fn n ->
            session = HttpSession.open(server)
            stream = HttpSession.get(session)
            tag = "cycle-#{n}"
            peer = HttpSession.start(session, legacy_call("perform", HttpScript.arguments(tag)))
            {call, _conn} = HttpScript.performing(tag)
            assert HttpSession.delete(session).status in [200, 204]
            HttpScript.gone(call)
            assert HttpClient.message(stream) == :end
            for peer <- [stream, peer], do: HttpPeer.close(peer)
            assert HttpSession.status(session, legacy("ping")) == 404
          end,
          8
        )
      end)
    end
  end

  describe "sessions that nobody ends" do
    @describetag req: "H16"
    test "are bounded, small, and gone after their idle time (2,000 of 100,000)" do
      most = scaled(2_000)
      # A separate VM: memory that other tests leave behind does not count for a session.
      vm = HttpVm.start(serve: [http: [max_sessions: most, idle_timeout: 600_000]])
      leave_all = fn -> HttpVm.call(vm, HttpSession, :all_unused_for, [600_000]) end
      peer = HttpPeer.connect(vm.server.port)
      open = fn -> HttpPeer.request(peer, initialize()).status end
      for _ <- 1..20, do: open.()
      assert leave_all.() == List.duplicate(:ends, 20)

      before = HttpVm.used(vm)
      statuses = for _ <- 1..(most + 500), do: open.()
      assert statuses == List.duplicate(200, most) ++ List.duplicate(503, 500)
      assert HttpVm.call(vm, Sessions, :count, []) == most

      # What the last requests used is given back a moment later.
      full =
        eventually(fn ->
          full = HttpVm.used(vm)
          if full.memory - before.memory <= 10_240 * (full.processes - before.processes), do: full
        end)

      assert leave_all.() == List.duplicate(:ends, most)
      assert HttpVm.call(vm, Sessions, :count, []) == 0
      # Earlier, the heap that the openings had grown stayed, up to 8 MB.
      sessions = HttpVm.call(vm, Process, :whereis, [Sessions])
      eventually(fn -> HttpVm.call(vm, :erlang, :process_info, [sessions, :memory]) < {:memory, 32_768} end)
      eventually(fn -> HttpVm.used(vm).processes <= before.processes end)
      eventually(fn -> HttpVm.used(vm).memory - before.memory < div(full.memory - before.memory, 5) end)
      assert open.() == 200
    end
  end

  describe "streams" do
    @describetag req: "H17"
    test "of many sessions lose nothing, and all cut at once leave nothing (500 of 10,000)" do
      server = HttpServers.start(:listener, http: [max_sessions: scaled(10_000)])

      assert_nothing_left(fn ->
        streams = for _ <- 1..scaled(500), do: HttpSession.get(HttpSession.open(server))
        listeners = for n <- 1..scaled(100), do: listen(server, n)

        for round <- 1..5 do
          Changes.tools_changed(HttpRouter)

          for peer <- streams ++ listeners do
            message = HttpClient.message(peer)
            assert {round, message["method"]} == {round, "notifications/tools/list_changed"}
          end
        end

        for peer <- streams ++ listeners, do: HttpPeer.cut(peer)
        # Otherwise the sessions would stay for their idle timeout.
        HttpServers.stop(server)
      end)
    end

    defp listen(server, id) do
      filter = %{"notifications" => %{"toolsListChanged" => true}}
      {peer, %{body: :stream}} = HttpClient.open(server, modern("subscriptions/listen", filter, id: id))
      %{"method" => "notifications/subscriptions/acknowledged"} = HttpClient.message(peer)
      peer
    end
  end

  describe "one connection" do
    @describetag req: "H18"
    both "for many requests (5,000 of 1,000,000)", %{server: server} do
      peer = HttpPeer.connect(server.port)
      session = HttpSession.open(server)

      assert_nothing_left(fn ->
        for id <- 1..scaled(2_500) do
          response = HttpPeer.request(peer, modern_call("echo", %{"text" => "#{id}"}, id: id))
          assert %{"id" => ^id} = answer = HttpResponse.json(response)
          assert HttpClient.text(answer) == "#{id}"

          assert %{"id" => ^id} =
                   HttpResponse.json(HttpPeer.request(peer, HttpSession.of(session, legacy("ping", %{}, id: id))))
        end
      end)
    end

    both "for requests that do not wait for each other's answers", %{server: server} do
      session = HttpSession.open(server)
      peer = HttpPeer.connect(server.port)

      requests =
        for id <- 1..60 do
          case rem(id, 3) do
            0 -> modern_call("echo", %{"text" => "#{id}"}, id: id)
            1 -> modern("server/discover", %{}, id: id)
            2 -> HttpSession.of(session, legacy("ping", %{}, id: id))
          end
        end

      for %{method: method} <- requests, do: HttpPeer.expect(peer, method)
      HttpPeer.write(peer, for(request <- requests, do: HttpPeer.bytes(peer, request)))
      assert Enum.to_list(1..60) == for(_ <- 1..60, do: HttpResponse.json(HttpPeer.response(peer))["id"])
    end

    both "goes on after a refusal", %{server: server} do
      peer = HttpPeer.connect(server.port)

      for {request, status} <- [
            {modern_call("echo", %{"text" => "x"}, headers: [{"origin", "https://evil.example"}]), 403},
            {post("{"), 400},
            {modern("no/such"), 404},
            {modern_call("echo", %{"text" => "x"}), 200}
          ] do
        peer = if status == 403, do: HttpPeer.connect(server.port), else: peer
        assert HttpPeer.request(peer, request).status == status
      end
    end
  end

  describe "one id of many clients" do
    @describetag req: "M8"
    test "each gets its own answer (200 sessions, 10,000 requests of 1,000,000)" do
      server = HttpServers.start(:listener, http: [max_sessions: scaled(10_000)])

      crossings =
        in_parallel(1..200, fn n ->
          session = HttpSession.open(server)
          peer = HttpPeer.connect(server.port)

          Enum.count(1..scaled(50), fn round ->
            text = "client #{n}, round #{round}"
            response = HttpPeer.request(peer, HttpSession.of(session, legacy_call("echo", %{"text" => text}, id: 1)))
            HttpClient.text(HttpResponse.json(response)) != text
          end)
        end)

      assert Enum.sum(crossings) == 0
    end
  end

  describe "names that nobody has heard of" do
    @describetag req: "M27"
    both "make no atoms (2,000 requests of 1,000,000, ten names each)", %{server: server} do
      peer = HttpPeer.connect(server.port)

      request = fn n ->
        name = &"unheard-#{n}-#{&1}-#{System.unique_integer()}"
        keys = for key <- 1..6, into: %{}, do: {name.(key), name.(key)}
        headers = [{name.("header"), "1"}, {"mcp-param-#{name.("param")}", "1"}]

        case rem(n, 3) do
          0 -> modern(name.("method"), keys, headers: headers)
          1 -> modern_call(name.("tool"), keys, headers: headers)
          2 -> modern_call("route", keys, headers: headers, meta: keys, capabilities: keys)
        end
      end

      for n <- 1..100, do: HttpPeer.request(peer, request.(n))
      # Code that is loaded meanwhile makes atoms once. Names would make some in each round.
      assert Enum.any?(1..5, fn _round ->
               before = :erlang.system_info(:atom_count)
               for n <- 1..scaled(2_000), do: assert(HttpPeer.request(peer, request.(n)).status in [200, 404])
               :erlang.system_info(:atom_count) == before
             end)
    end
  end

  describe "refused requests" do
    @describetag req: "SEC-13"
    both "leave nothing (2,000)", %{server: server} do
      session = HttpSession.open(server)
      stream = HttpSession.get(session)

      assert_nothing_left(fn ->
        in_parallel(1..scaled(400), fn _ ->
          for request <- [
                get_stream(),
                get_stream([{"last-event-id", "9-9"}]),
                in_session("{"),
                request("PUT"),
                post("[]")
              ] do
            {peer, response} = HttpClient.open(server, HttpSession.of(session, request))
            assert response.status in [400, 404, 405, 409]
            HttpPeer.close(peer)
          end
        end)
      end)

      HttpPeer.close(stream)
    end
  end
end
