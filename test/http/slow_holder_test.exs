defmodule McpServer.HttpSlowHolderTest do
  # Handlers of telemetry run between two steps of the process that holds a request. These tests cover that time. A
  # stand-in for the package is loaded while they run, so they are not async.
  use McpServer.HttpCase, async: false

  alias McpServer.Connection.InFlight
  alias McpServer.Http.Sessions
  alias McpServer.TelemetryStandIn

  @moduletag :capture_log

  # The process of the next such event waits there for `:go_on`.
  defp hold(event) do
    test = self()

    TelemetryStandIn.load(fn said, _measurements, _metadata ->
      if said == event do
        send(test, {:held, self()})
        receive do: (:go_on -> :ok)
      end
    end)
  end

  # The process that waits. No further process will wait.
  defp held do
    assert_receive {:held, holder}, 30_000
    TelemetryStandIn.handle(fn _event, _measurements, _metadata -> :ok end)
    holder
  end

  defp process(session), do: :ets.lookup_element(Sessions, session.id, 2)
  defp requests(session), do: :ets.match(InFlight, {{process(session), :_}, :_, :"$1", :_, :_})

  # From now on the session may adopt the call.
  defp noted?(session, call), do: :ets.match(InFlight, {{process(session), :_}, :_, :_, :"$1", :_}) == [[call]]

  defp echo(session, id), do: HttpSession.status(session, legacy_call("echo", %{"text" => "x"}, id: id))

  both "a call is heard that asks before its holder has noted it", %{server: server} do
    session = HttpSession.open(server, "2025-11-25", capabilities: %{"elicitation" => %{}})
    process = process(session)
    hold([:mcp_server, :request, :start])
    :erlang.trace(process, true, [:receive])
    peer = HttpSession.start(session, legacy_call("ask"))
    holder = held()
    assert_receive {:trace, ^process, :receive, {:mcp_ask, _tag, _call, _requests}}, 30_000
    :erlang.trace(process, false, [:receive])
    send(holder, :go_on)
    assert %{body: :stream} = HttpPeer.response(peer)
    assert %{"method" => "elicitation/create"} = HttpClient.message(peer)
  end

  # Earlier, this cancellation was lost.
  both "a call is cancelled that its holder has not noted", %{server: server} do
    session = HttpSession.open(server)
    hold([:mcp_server, :request, :start])
    peer = HttpSession.start(session, legacy_call("perform", HttpScript.arguments(), id: 7))
    {call, _conn} = HttpScript.performing()
    holder = held()
    cancel = legacy("notifications/cancelled", %{"requestId" => 7}, id: nil)
    assert HttpSession.status(session, cancel) == 202
    send(holder, :go_on)
    HttpScript.gone(call)
    assert HttpClient.messages(peer, HttpPeer.response(peer)) == []
    assert echo(session, 7) == 200
  end

  # Earlier, the session gave up the result after a second.
  test "a result reaches its client however slow the holder is" do
    session = HttpSession.open(HttpServers.start(:listener))
    peer = HttpSession.start(session, legacy_call("perform", HttpScript.arguments(), id: 7))
    {call, _conn} = HttpScript.performing()
    eventually(fn -> noted?(session, call) end)
    [[holder]] = requests(session)
    :erlang.suspend_process(holder)
    HttpScript.tell(call, {:answer, "done"})
    HttpScript.gone(call)
    # The holder's message when a stream is due.
    send(process(session), {:mcp_hand_over, 7})
    Process.sleep(1_200)
    :erlang.resume_process(holder)
    assert [%{"id" => 7} = answer] = HttpClient.messages(peer, HttpPeer.response(peer))
    assert HttpClient.text(answer) == "done"
  end

  # A call that is linked to a process sends its result in a separate message, and then ends. Earlier, a session that
  # adopted the call between the two reported a failure.
  test "a call that ends while it is adopted has not failed" do
    session = HttpSession.open(HttpServers.start(:listener))
    process = process(session)
    peer = HttpSession.start(session, legacy_call("perform", HttpScript.arguments(), id: 7))
    {call, _conn} = HttpScript.performing()
    eventually(fn -> noted?(session, call) end)
    send(process, {:mcp_hand_over, 7})
    send(process, {:mcp_adopted_down, make_ref(), :process, call, :normal})
    HttpScript.tell(call, {:answer, "done"})
    assert [%{"id" => 7} = answer] = HttpClient.messages(peer, HttpPeer.response(peer))
    assert HttpClient.text(answer) == "done"
  end

  for {event, how} <- [start: :kill, start: :shutdown, stop: :kill, stop: :shutdown] do
    test "id and place are given back when the holder ends (#{how}) at the call's #{event}" do
      server = HttpServers.start(:listener)
      session = HttpSession.open(server)
      hold([:mcp_server, :request, unquote(event)])
      HttpSession.start(session, legacy_call("perform", HttpScript.arguments(), id: 1))
      {call, _conn} = HttpScript.performing()
      if unquote(event) == :stop, do: HttpScript.tell(call, {:answer, "done"})
      if unquote(event) == :stop, do: HttpScript.gone(call)
      holder = held()
      assert requests(session) == [[holder]]
      # Unlinks the holder, because this test is not about the server's reaction to its end.
      unlink(server, holder)
      Process.exit(holder, unquote(how))
      HttpScript.gone(call)
      eventually(fn -> requests(session) == [] end)
      assert echo(session, 1) == 200
    end
  end

  defp unlink(server, holder), do: :sys.replace_state(server.pid, fn state -> Process.unlink(holder) && state end)

  # Some web servers shut the plug down when the client closes the connection.
  test "a call ends whose plug is shut down" do
    server = HttpServers.start(:plug)
    HttpClient.start(server, modern_call("perform", HttpScript.arguments()))
    {call, _conn} = HttpScript.performing()
    {:parent, holder} = Process.info(call, :parent)
    Process.exit(holder, :shutdown)
    HttpScript.gone(call)
  end

  # The client cancels a call that has just ended, and reuses its id.
  test "a holder that comes late takes no other request for its own" do
    server = HttpServers.start(:listener)
    session = HttpSession.open(server)
    first = HttpSession.start(session, legacy_call("perform", HttpScript.arguments(1), id: 7))
    {call, _conn} = HttpScript.performing(1)
    [[holder]] = eventually(fn -> match?([[_holder]], requests(session)) and requests(session) end)
    :erlang.suspend_process(holder)
    HttpScript.tell(call, {:answer, "first"})
    HttpScript.gone(call)
    cancel = legacy("notifications/cancelled", %{"requestId" => 7}, id: nil)
    assert HttpSession.status(session, cancel) == 202
    second = HttpSession.start(session, legacy_call("perform", HttpScript.arguments(2), id: 7))
    {call, _conn} = HttpScript.performing(2)
    :erlang.resume_process(holder)
    assert HttpClient.messages(first, HttpPeer.response(first)) == []
    HttpScript.tell(call, {:answer, "second"})
    assert [%{"id" => 7} = answer] = HttpClient.messages(second, HttpPeer.response(second))
    assert HttpClient.text(answer) == "second"
  end

  test "a session that is about to end does so when the last of its calls is answered" do
    # Its grace period is longer than this test.
    session = HttpSession.open(HttpServers.start(:listener, drain: 600_000))
    process = process(session)
    hold([:mcp_server, :request, :stop])
    peer = HttpSession.start(session, legacy_call("perform", HttpScript.arguments()))
    {call, _conn} = HttpScript.performing()
    HttpScript.tell(call, {:answer, "done"})
    HttpScript.gone(call)
    holder = held()
    send(process, :mcp_http_drain)
    # The session has taken the message, and waits for the call.
    _state = :sys.get_state(process)
    send(holder, :go_on)
    assert HttpPeer.response(peer).status == 200
    HttpScript.gone(process)
  end

  # A listener's sessions outlast the server, so this test uses a plug.
  test "a session whose grace is over ends with the calls that still run" do
    session = HttpSession.open(HttpServers.start(:plug, drain: 50))
    process = process(session)
    HttpSession.start(session, legacy_call("perform", HttpScript.arguments()))
    {call, _conn} = HttpScript.performing()
    send(process, :mcp_http_drain)
    HttpScript.gone(process)
    HttpScript.gone(call)
  end

  # A hook runs between finding the session and starting the call.
  for kind <- [:listener, :plug] do
    test "#{kind}: no call starts in a session that was killed after it was found" do
      test = self()
      slow = :atomics.new(1, [])

      wait = fn _request ->
        if :atomics.get(slow, 1) == 1 do
          send(test, {:found, self()})
          receive do: (:go_on -> :ok)
        end

        %McpServer.Conn{}
      end

      session = HttpSession.open(HttpServers.start(unquote(kind), init: wait))
      :atomics.put(slow, 1, 1)
      peer = HttpSession.start(session, legacy_call("echo", %{"text" => "x"}))
      assert_receive {:found, hook}
      Process.exit(process(session), :kill)
      eventually(fn -> :ets.lookup(Sessions, session.id) == [] end)
      # The session leaves the table before its requests are notified.
      _told = :sys.get_state(Sessions)
      send(hook, :go_on)
      assert HttpPeer.response(peer).status == 404
    end
  end
end
