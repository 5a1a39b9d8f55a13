defmodule McpServer.HttpEndsOfCallsTest do
  # Every call has exactly one stop event, whichever process is killed. A stand-in for the package `telemetry` is loaded
  # while these tests run, so they are not async.
  use McpServer.HttpCase, async: false

  import McpServer.HttpRequests

  alias McpServer.Connection.{InFlight, Unended}
  alias McpServer.Http.Sessions
  alias McpServer.{Processes, TelemetryStandIn}

  @moduletag :capture_log

  setup do
    test = self()

    TelemetryStandIn.load(fn [_library | event], _measured, about ->
      if event == [:request, :start], do: send(test, {:reporter, about.pid, self()})
      send(test, {event, about[:pid], Map.take(about, [:name, :transport, :error_code, :error_type])})
    end)
  end

  @call %{name: "perform", transport: :http, error_code: nil}

  # `reporters` are the processes that could report another end. The reaper is one, too.
  defp ended_once(call, reporters, type \\ "cancelled") do
    about = Map.put(@call, :error_type, type)
    assert_receive {[:operation, :stop], ^call, ^about}
    event = if type, do: :cancelled, else: :stop
    assert_receive {[:request, ^event], ^call, @call}
    assert for({{_reporter, ^call}, _report} = row <- :ets.tab2list(Unended), do: row) == []
    Processes.gone(call)
    for pid <- reporters, do: if(Process.alive?(pid), do: Processes.idle(pid), else: Processes.reaped(pid))
    :sys.get_state(Sessions)
    Processes.all_reported()
    refute_received {[:operation, :stop], ^call, _about}
    refute_received {[:request, _event], ^call, _about}
  end

  defp performing(open) do
    peer = open.()
    {call, conn} = HttpScript.performing()
    # The start event may arrive after the handler has started.
    assert_receive {:reporter, ^call, holder}
    assert_receive {[:request, :start], ^call, _about}
    {peer, call, Enum.uniq([holder, conn.call.connection])}
  end

  defp process(session), do: :ets.lookup_element(Sessions, session.id, 2)

  defp holder(call) do
    [{{holder, ^call}, _report}] = for {{_pid, ^call}, _report} = row <- :ets.tab2list(Unended), do: row
    holder
  end

  defp adopted(call, session) do
    HttpScript.tell(call, {:progress, 1})
    eventually(fn -> holder(call) == process(session) end)
  end

  defp open_call(session) do
    params = %{"name" => "perform", "arguments" => HttpScript.arguments(), "_meta" => %{"progressToken" => 1}}
    HttpSession.start(session, legacy("tools/call", params, id: 1))
  end

  both "without a session: its holder is killed", %{server: server} do
    {_peer, call, reporters} =
      performing(fn -> HttpClient.start(server, modern_call("perform", HttpScript.arguments())) end)

    Process.exit(holder(call), :kill)
    ended_once(call, reporters)
  end

  both "in a session: its holder is killed, and the session goes on with it", %{server: server} do
    session = HttpSession.open(server)
    {_peer, call, reporters} = performing(fn -> open_call(session) end)
    Process.exit(holder(call), :kill)
    eventually(fn -> holder(call) == process(session) end)
    HttpScript.tell(call, {:answer, "done"})
    ended_once(call, reporters, nil)
  end

  both "in a session that is killed, adopted or not", %{server: server} do
    for adopt? <- [false, true] do
      session = HttpSession.open(server)
      {_peer, call, reporters} = performing(fn -> open_call(session) end)
      if adopt?, do: adopted(call, session)
      Process.exit(process(session), :kill)
      ended_once(call, reporters)
    end
  end

  both "in a session that is killed with the holder", %{server: server} do
    for adopt? <- [false, true] do
      session = HttpSession.open(server)
      {_peer, call, reporters} = performing(fn -> open_call(session) end)
      pids = [holder(call), process(session)]
      if adopt?, do: adopted(call, session)
      for pid <- pids, do: Process.exit(pid, :kill)
      ended_once(call, reporters)
    end
  end

  # While its request had a row, the reaper left the call to the session, which had already ended.
  both "in a session whose end is noticed after that of the holder", %{server: server} do
    session = HttpSession.open(server)
    {_peer, call, reporters} = performing(fn -> open_call(session) end)
    holder = holder(call)
    :sys.suspend(Sessions)
    for pid <- [process(session), holder], do: Process.exit(pid, :kill)
    HttpScript.gone(holder)
    Processes.all_reported()
    assert holder(call) == holder
    :sys.resume(Sessions)
    ended_once(call, reporters)
  end

  both "in a session: its holder is killed when it has taken its turn to end it", %{server: server} do
    session = HttpSession.open(server)
    {_peer, call, reporters} = performing(fn -> open_call(session) end)
    assert :ets.update_counter(InFlight, {process(session), 1}, 1) == 1
    holder = holder(call)
    :sys.suspend(process(session))
    Process.exit(holder, :kill)
    HttpScript.gone(holder)
    Processes.all_reported()
    HttpScript.tell(call, {:answer, "done"})
    :sys.resume(process(session))
    ended_once(call, reporters)
  end

  both "a call that is answered has one end", %{server: server} do
    session = HttpSession.open(server)
    {_peer, call, reporters} = performing(fn -> open_call(session) end)
    adopted(call, session)
    HttpScript.tell(call, {:answer, "done"})
    ended_once(call, reporters, nil)
  end
end
