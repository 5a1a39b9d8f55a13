defmodule McpServer.HttpSessionCallsTest do
  # Calls in sessions: their processes, and the end of a connection or a holder during a call.
  use McpServer.HttpCase, async: true

  import McpServer.HttpRequests

  alias McpServer.Connection.InFlight
  alias McpServer.Http.Sessions
  alias McpServer.{HttpRouter, HttpServer, HttpVm}
  alias McpServer.Quota
  alias McpServer.Tasks.Server
  alias McpServer.Telemetry.Usage

  @moduletag :capture_log
  # What a connection takes. A call has its place until it ends.
  @in_use [:body_bytes, :exchanges, :hooks, :streams]

  defp process(session), do: :ets.lookup_element(Sessions, session.id, 2)
  defp echo(session, id), do: HttpSession.status(session, legacy_call("echo", %{"text" => "x"}, id: id))

  defp start(session, id, options \\ []) do
    peer = HttpSession.start(session, progressing(id, options))
    {call, _conn} = HttpScript.performing(id)
    {peer, call}
  end

  defp progressing(id, options \\ []) do
    params = %{"name" => "perform", "arguments" => HttpScript.arguments(id), "_meta" => %{"progressToken" => id}}
    legacy("tools/call", params, [id: id] ++ options)
  end

  defp unused(server) do
    eventually(fn -> Enum.all?(Map.take(HttpServer.stats(server.pid), @in_use), &(elem(&1, 1) == 0)) end)
  end

  defp answers(peer), do: for(%{"id" => _} = answer <- HttpClient.messages(peer, HttpPeer.response(peer)), do: answer)

  both "that say nothing but their result send the session's process no message", %{server: server} do
    session = HttpSession.open(server)
    process = process(session)
    :erlang.trace(process, true, [:receive])
    for id <- 1..5, do: assert(echo(session, id) == 200)
    assert HttpSession.status(session, legacy("ping")) == 200
    delivered = :erlang.trace_delivered(process)
    assert_receive {:trace_delivered, ^process, ^delivered}
    # Changes that other tests publish may arrive at any time.
    refute_received {:trace, ^process, :receive, {:mcp_http_request, _exchange, _outcome, _origin}}
    refute_received {:trace, ^process, :receive, {:mcp_hand_over, _id}}
    assert HttpSession.status(session, legacy("logging/setLevel", %{"level" => "error"})) == 200
    assert_receive {:trace, ^process, :receive, {:mcp_http_request, _exchange, _outcome, _origin}}
  end

  test "of one session in five seconds look for its end in the shared store once" do
    opened = System.monotonic_time(:millisecond)
    in_flight = InFlight.new(1, Quota.new(:server, %{}), nil, {100, :infinity})
    now = System.monotonic_time(:millisecond)

    assert for(
             at <- [opened, opened + 4_999, now + 5_000, now + 5_001, now + 9_999, now + 10_000],
             do: InFlight.check?(in_flight, 5_000, at)
           ) == [false, false, true, false, false, true]
  end

  # The head is read before the session's revision is known.
  both "have the revision of the session, whatever their head names", %{server: server} do
    session = HttpSession.open(server, "2025-06-18")

    for {named, id} <- Enum.with_index([nil, "2025-03-26", "2025-06-18", "2025-11-25"]) do
      request = legacy_call("perform", HttpScript.arguments(id), id: id)
      peer = HttpSession.start(%{session | revision: named}, request)
      {call, conn} = HttpScript.performing(id)
      assert {named, conn.protocol_version, conn.session_id} == {named, "2025-06-18", session.id}
      HttpScript.tell(call, {:answer, "done"})
      assert [%{"id" => ^id}] = answers(peer)
    end
  end

  both "are counted together, adopted or not", [limits: [max_calls: 2], http: [stream_after: 50]], %{server: server} do
    session = HttpSession.open(server)
    {first, one} = start(session, 1)
    assert %{status: 200, body: :stream} = response = HttpPeer.response(first)
    {second, two} = start(session, 2, headers: [{"accept", "application/json"}])
    assert echo(session, 3) == 429
    HttpScript.tell(one, {:answer, "done"})
    assert [%{"id" => 1}] = HttpClient.messages(first, response)
    assert echo(session, 3) == 200
    HttpScript.tell(two, {:answer, "done"})
    assert [%{"id" => 2}] = answers(second)
    for id <- 1..3, do: assert(echo(session, id) == 200)
  end

  # A call releases its place while it waits for the client.
  both "that wait for the client take no place", [limits: [max_calls: 1]], %{server: server} do
    session = HttpSession.open(server, "2025-11-25", capabilities: %{"elicitation" => %{}})
    {peer, %{body: :stream}} = HttpSession.open_stream(session, legacy_call("ask", %{}, id: "asks"))
    assert %{"method" => "elicitation/create", "id" => asked} = HttpClient.message(peer)
    assert echo(session, 1) == 200
    assert echo(session, "asks") == 400
    result = %{"action" => "accept", "content" => %{"name" => "Ada"}}
    reply = McpServer.JSON.encode!(%{"jsonrpc" => "2.0", "id" => asked, "result" => result})
    assert {%{status: 202}, []} = HttpSession.exchange(session, in_session(reply))
    assert HttpClient.text(HttpClient.message(peer)) == "Hello, Ada! :asked"
    assert echo(session, "asks") == 200
  end

  both "of a session that is killed end with it; the client is told", %{server: server} do
    session = HttpSession.open(server)
    {peer, call} = start(session, 1)
    Process.exit(process(session), :kill)
    HttpScript.gone(call)
    assert gone(peer, 1)
    assert echo(session, 2) == 404
  end

  # Earlier, a holder could hear of the call's end while it had the request, and answered with an error of the call.
  test "of a session that has ended are no longer their holders' when they are killed" do
    in_flight = InFlight.new(1, Quota.new(:server, %{}), nil, {100, :infinity})
    session = spawn(fn -> :ok end)
    request = %McpServer.Request{id: 1, method: "tools/call", revision: "2025-11-25", kind: :tool}
    :ok = InFlight.claim(in_flight, session, %{request: request, bytes: 0})
    {call, monitor} = spawn_monitor(fn -> Process.sleep(:infinity) end)
    true = InFlight.put(session, 1, call)

    ended = traced(fn -> InFlight.session_down(session) end)
    assert [{:ets, :delete, [InFlight, {^session, 1}]}, {:erlang, :exit, [^call, :kill]}] = ended
    assert_receive {:DOWN, ^monitor, :process, ^call, :killed}
    assert_received {:mcp_session_down, ^session}
  end

  # What a function deletes from tables and ends, in order.
  defp traced(fun) do
    calls = [{:ets, :delete, 2}, {:erlang, :exit, 2}]
    runner = spawn_link(fn -> receive do: (:go -> fun.()) end)
    for call <- calls, do: :erlang.trace_pattern(call, true, [])
    :erlang.trace(runner, true, [:call])
    send(runner, :go)
    done = for _ <- calls, do: assert_receive({:trace, ^runner, :call, _called})
    for call <- calls, do: :erlang.trace_pattern(call, false, [])
    for {:trace, _pid, :call, called} <- done, do: called
  end

  both "that have a stream end with a session that is killed, and so does the stream", %{server: server} do
    session = HttpSession.open(server)
    {peer, call} = start(session, 1)
    HttpScript.tell(call, {:progress, 1})
    assert %{status: 200, body: :stream} = response = HttpPeer.response(peer)
    Process.exit(process(session), :kill)
    HttpScript.gone(call)
    assert [%{"method" => "notifications/progress"}, gone] = HttpClient.messages(peer, response)
    assert gone == %{not_found() | "id" => 1}
  end

  # The web server's process serves other requests later, and does not know the message.
  both "that were adopted leave their holder no word of a session that was killed", %{server: server} do
    session = HttpSession.open(server)
    {peer, call} = start(session, 1)
    {:parent, holder} = Process.info(call, :parent)
    HttpScript.tell(call, {:progress, 1})
    assert %{status: 200, body: :stream} = response = HttpPeer.response(peer)
    :erlang.trace(holder, true, [:receive])
    process = process(session)
    Process.exit(process, :kill)
    assert [%{"method" => "notifications/progress"}, gone] = HttpClient.messages(peer, response)
    assert gone == %{not_found() | "id" => 1}
    _told = :sys.get_state(Sessions)
    delivered = :erlang.trace_delivered(holder)
    assert_receive {:trace_delivered, ^holder, ^delivered}
    refute_received {:trace, ^holder, :receive, {:mcp_session_down, ^process}}
  end

  both "end with DELETE; the client is told", %{server: server} do
    session = HttpSession.open(server)
    {peer, call} = start(session, 1)
    assert HttpSession.delete(session).status == 204
    HttpScript.gone(call)
    assert gone(peer, 1)
  end

  # Earlier it was created, failed at once with an error in the log, and took a place for its lifetime.
  test "that end before their task is created leave none" do
    vm = HttpVm.start(serve: [router: HttpRouter])
    session = HttpSession.open(vm.server)
    :ok = HttpVm.call(vm, :sys, :suspend, [Server])
    task = %{"name" => "sleep", "arguments" => %{"ms" => 1}, "task" => %{}}
    peer = HttpSession.start(session, legacy("tools/call", task))
    server = HttpVm.call(vm, Process, :whereis, [Server])
    waiting = fn -> HttpVm.call(vm, Process, :info, [server, :message_queue_len]) end
    eventually(fn -> waiting.() == {:message_queue_len, 1} end)
    assert HttpSession.delete(session).status == 204
    assert gone(peer, 1)
    eventually(fn -> HttpVm.call(vm, Usage, :usage, []).calls == 0 end)
    :ok = HttpVm.call(vm, :sys, :resume, [Server])
    HttpVm.call(vm, :sys, :get_state, [Server])
    assert HttpVm.call(vm, :ets, :info, [Server, :size]) == 0
  end

  defp gone(peer, id) do
    response = HttpPeer.response(peer)
    {response.status, HttpResponse.json(response)} == {404, %{not_found() | "id" => id}}
  end

  # Earlier, such a stream ended without an answer, and some clients waited for ever.
  both "whose response is a stream already are answered when their session ends or is killed", %{server: server} do
    for revision <- ["2025-11-25", "2025-03-26"], how <- [:ends, :killed] do
      session = HttpSession.open(server, revision)
      # Only that revision has batches.
      ids = if revision == "2025-03-26", do: [1, 2], else: [1]
      bodies = for id <- ids, do: progressing(id).body
      body = if revision == "2025-03-26", do: "[#{Enum.join(bodies, ",")}]", else: hd(bodies)
      peer = HttpSession.start(session, in_session(body))
      [{call, _conn} | _others] = for id <- ids, do: HttpScript.performing(id)
      HttpScript.tell(call, {:progress, 1})
      assert %{body: :stream} = HttpPeer.response(peer)
      assert %{"method" => "notifications/progress"} = HttpClient.message(peer)

      case how do
        :ends -> assert HttpSession.delete(session).status == 204
        :killed -> Process.exit(process(session), :kill)
      end

      told = for id <- ids, do: %{not_found() | "id" => id}
      assert HttpClient.message(peer) == if(revision == "2025-03-26", do: told, else: hd(told))
      assert HttpClient.message(peer) == :end
    end
  end

  defp not_found,
    do: %{"jsonrpc" => "2.0", "id" => nil, "error" => %{"code" => -32600, "message" => "Session not found"}}

  both "that are cancelled free their id", %{server: server} do
    session = HttpSession.open(server)

    for accept <- ["application/json", "application/json, text/event-stream"] do
      {peer, call} = start(session, 7, headers: [{"accept", accept}])
      cancel = legacy("notifications/cancelled", %{"requestId" => 7}, id: nil)
      assert HttpSession.status(session, cancel) == 202
      HttpScript.gone(call)
      assert answers(peer) == []
      assert echo(session, 7) == 200
    end
  end

  for steps <- [[], [1]] do
    # The process that holds the request started the call.
    test "go on when the connection's process is killed#{if steps != [], do: ", with a stream"}" do
      server = HttpServers.start(:listener)
      session = HttpSession.open(server)
      {peer, call} = start(session, 1)
      for n <- unquote(steps), do: HttpScript.tell(call, {:progress, n})
      if unquote(steps) != [], do: %{body: :stream} = HttpPeer.response(peer)
      Process.exit(connection(server), :kill)
      HttpPeer.until_closed(peer)
      unused(server)
      # Messages of the call still arrive, and its id stays in use.
      HttpScript.tell(call, {:progress, 2})
      assert echo(session, 1) == 400
      HttpScript.tell(call, {:answer, "done"})
      HttpScript.gone(call)
      eventually(fn -> echo(session, 1) == 200 end)
    end
  end

  test "are given back however they end" do
    server = HttpServers.start(:listener, http: [stream_after: 50])
    session = HttpSession.open(server)

    for {id, leave} <- [{1, &HttpPeer.close/1}, {2, &HttpPeer.cut/1}, {3, &HttpPeer.half_close/1}],
        stream? <- [false, true] do
      {peer, call} = start(session, id)
      if stream?, do: %{body: :stream} = HttpPeer.response(peer)
      leave.(peer)
      unused(server)
      HttpScript.tell(call, {:answer, "done"})
      HttpScript.gone(call)
      eventually(fn -> echo(session, id) == 200 end)
    end

    # All places are free again.
    assert :ets.match(InFlight, {{process(session), :_}, :_, :_, :_, :_}) == []
    unused(server)
    assert HttpServer.stats(server.pid).calls == 0
  end

  # The result races with the adoption: exactly one of them is answered.
  both "are answered once when they end at the time of their stream", [http: [stream_after: 1]], %{server: server} do
    session = HttpSession.open(server)

    for id <- 1..200 do
      assert %{"id" => ^id} = answer = HttpSession.call(session, "sleep", %{"ms" => rem(id, 3)}, id: id)
      assert HttpClient.text(answer) == "slept"
    end

    assert :ets.match(InFlight, {{process(session), :_}, :_, :_, :_, :_}) == []
  end
end
