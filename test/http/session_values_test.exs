defmodule McpServer.HttpSessionValuesTest do
  # Values that handlers store in a session, as seen by the client. Not async: the secret is the application's.
  use McpServer.HttpCase, async: false

  alias McpServer.Http.Sessions
  alias McpServer.{DualResponses, SessionStore}

  @moduletag :capture_log

  defp recall(session), do: HttpClient.text(HttpSession.call(session, "recall"))

  both "are there for the next call of the same session, and nobody else's", %{server: server} do
    session = HttpSession.open(server)
    assert HttpClient.text(HttpSession.call(session, "remember")) == ":ok"
    assert recall(session) == ~s("value")
    assert recall(HttpSession.open(server)) == "nil"
    assert HttpClient.text(HttpClient.call(server, "remember")) == "{:error, :no_session}"
  end

  defp sealed(_context) do
    Application.put_env(:mcp_server, :secret, String.duplicate("secret of values ", 3))
    on_exit(fn -> Application.delete_env(:mcp_server, :secret) end)
  end

  describe "with a secret" do
    setup :sealed

    both "stay when the session's process ends, and go when its client ends it", %{server: server} do
      session = HttpSession.open(server)
      HttpSession.call(session, "remember")
      [{_id, pid, _, _, _, _, _}] = :ets.lookup(Sessions, session.id)
      Process.exit(pid, :kill)
      eventually(fn -> :ets.lookup(Sessions, session.id) == [] end)
      assert recall(session) == ~s("value")

      before = SessionStore.ETS.bytes()
      assert HttpSession.delete(session).status == 204
      eventually(fn -> SessionStore.ETS.bytes() < before end)
    end

    test "a store for sessions knows the ended ones on nodes that are not connected" do
      results = DualResponses.server()
      Application.put_env(:mcp_server, :session_store, {McpServer.DualResponse.SessionStore, server: results})
      on_exit(fn -> Application.delete_env(:mcp_server, :session_store) end)
      server = HttpServers.start(:listener)
      session = HttpSession.open(server)
      assert HttpClient.text(HttpSession.call(session, "remember")) == ":ok"
      assert recall(session) == ~s("value")
      assert HttpSession.delete(session).status == 204

      # Simulates another node that has no tombstone of the session.
      :ets.delete_all_objects(McpServer.Http.Session.Tombstones)
      assert HttpSession.status(session, legacy("ping")) == 404
    end
  end
end
