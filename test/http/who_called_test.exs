defmodule McpServer.HttpWhoCalledTest do
  # The last event of a call and the log line of its failure tell who called, and what the handler has added to the Logger
  # metadata. A stand-in for the package `telemetry` is loaded while these tests run, so they are not async.
  use McpServer.HttpCase, async: false

  import McpServer.HttpRequests

  alias McpServer.{TelemetryStandIn, TestLog}

  @moduletag :capture_log
  @user %{id: "ada", password_hash: "secret"}

  setup do
    test = self()

    TelemetryStandIn.load(fn [_library | event], _measured, about ->
      if event == [:operation, :stop], do: send(test, {:stop, about.pid, about})
    end)
  end

  def user(_request), do: {:ok, @user}

  defp arguments(id), do: Map.put(HttpScript.arguments(id), "tenant", "acme")

  # A call that runs, without a session or in one. Returns the peer that waits for it, and its process.
  defp performing(server, nil, id), do: performing(HttpClient.start(server, modern_call("perform", arguments(id))), id)

  defp performing(_server, session, id) do
    params = %{"name" => "perform", "arguments" => arguments(id), "_meta" => %{"progressToken" => id}}
    performing(HttpSession.start(session, legacy("tools/call", params, id: id)), id)
  end

  defp performing(peer, id) do
    {call, conn} = HttpScript.performing(id)
    {peer, call, conn}
  end

  defp told(call, conn, session) do
    assert_receive {:stop, ^call, about}, 30_000
    assert {about.principal, about.session_id, about.request_id} == {@user, session, to_string(conn.request_id)}
    assert about.logger_metadata == metadata(conn, session)
    about.error_type
  end

  defp metadata(conn, nil), do: %{request_id: to_string(conn.request_id), mcp_principal: "ada", tenant: "acme"}

  defp metadata(conn, session) do
    <<digits::binary-size(12), _rest::binary>> = Base.encode16(:crypto.hash(:sha256, session), case: :lower)
    Map.put(metadata(conn, nil), :mcp_session, digits)
  end

  # Only a write tells a plug that its client has left.
  @writing [stream_after: 50, keep_alive: 50]

  both "a call without a session", [identify: &__MODULE__.user/1, http: @writing], %{server: server} do
    {_peer, call, conn} = performing(server, nil, "a")
    HttpScript.tell(call, {:fail, "no"})
    assert told(call, conn, nil) == "tool_error"
    {peer, call, conn} = performing(server, nil, "b")
    HttpPeer.cut(peer)
    assert told(call, conn, nil) == "cancelled"
  end

  both "a call in a session, by its holder and by the session", [identify: &__MODULE__.user/1], %{server: server} do
    session = HttpSession.open(server)
    {_peer, call, conn} = performing(server, session, "a")
    HttpScript.tell(call, {:answer, "done"})
    assert told(call, conn, session.id) == nil
    {peer, call, conn} = performing(server, session, "b")
    HttpScript.tell(call, {:progress, 1})
    assert %{body: :stream} = HttpPeer.response(peer)
    HttpScript.tell(call, {:answer, "done"})
    assert told(call, conn, session.id) == nil
    {_peer, call, conn} = performing(server, session, "c")
    cancel = legacy("notifications/cancelled", %{"requestId" => "c"}, id: nil)
    assert HttpSession.status(session, cancel) == 202
    assert told(call, conn, session.id) == "cancelled"
  end

  both "a call that takes too long, and its log line", [identify: &__MODULE__.user/1, timeout: 2_000], %{server: server} do
    test = self()
    on_exit(TestLog.subscribe(&send(test, {:line, &1.msg, &1.meta})))

    for session <- [nil, HttpSession.open(server)] do
      {_peer, call, conn} = performing(server, session, "a")
      assert told(call, conn, session && session.id) == "timeout"
      wanted = metadata(conn, session && session.id)
      assert_receive {:line, {:string, "MCP tools/call \"perform\" failed" <> _}, %{tenant: "acme"} = meta}
      assert Map.take(meta, Map.keys(wanted)) == wanted
    end
  end
end
