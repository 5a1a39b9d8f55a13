defmodule McpServer.HttpSessionValuesTest do
  # Values that handlers store in a session, as seen by the client. Not async: the secret is the application's.
  use McpServer.HttpCase, async: false

  alias McpServer.Http.Sessions
  alias McpServer.{DualResponses, Quota, SessionStore}

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

    defmodule Slow do
      @moduledoc false
      @behaviour SessionStore
      @impl true
      def get(_test, _key), do: :none
      @impl true
      def put(_test, _key, _value, _ttl, _holder), do: :ok
      @impl true
      def delete(test, _key) do
        send(test, {:deletes, self()})
        receive do: (:deleted -> :ok)
      end
    end

    # Earlier, each ended session left a process that waited for its store.
    test "keep the place of their session where too many of a client's wait for a slow store" do
      Application.put_env(:mcp_server, :session_store, {Slow, self()})
      on_exit(fn -> Application.delete_env(:mcp_server, :session_store) end)
      server = HttpServers.start(:listener)
      [first, second] = for _ <- 1..2, do: HttpSession.open(server)
      assert HttpSession.delete(first).status == 204
      assert_receive {:deletes, first_deletes}

      # All places, whoever gives some back meanwhile.
      places = Quota.limit(Quota.of_node(), :cleanups)
      :ok = Quota.take_anyway(Quota.of_node(), :cleanups, nil, places)
      on_exit(fn -> Quota.give(Quota.of_node(), :cleanups, nil, places) end)
      deletion = Task.async(fn -> HttpSession.delete(second) end)
      assert_receive {:deletes, second_deletes}
      assert Task.yield(deletion, 100) == nil
      send(second_deletes, :deleted)
      assert Task.await(deletion).status == 204

      send(first_deletes, :deleted)
      HttpScript.gone(first_deletes)
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
