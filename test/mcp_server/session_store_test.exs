defmodule McpServer.SessionStoreTest do
  # Not async: the configured store is the application's.
  use ExUnit.Case, async: false

  import McpServer.TestLog

  alias McpServer.{Conn, Session, SessionStore}

  @conn %Conn{session_id: "s", router: __MODULE__}

  defmodule Broken do
    @behaviour SessionStore
    @impl true
    def get([how], _key), do: fail(how)
    @impl true
    def put([how], _key, _value, _ttl, _holder), do: fail(how)
    @impl true
    def delete([how], _key), do: fail(how)

    defp fail(:raise), do: raise("secret of the store")
    defp fail(:error), do: {:error, "secret of the store"}
    defp fail(:nonsense), do: "secret of the store"
  end

  setup do
    on_exit(fn -> Application.delete_env(:mcp_server, :session_store) end)
  end

  test "a store that fails is an error to the handler, and a line in the log without its data" do
    for how <- [:raise, :error, :nonsense] do
      Application.put_env(:mcp_server, :session_store, {Broken, [how]})

      log =
        capture_log(fn ->
          assert Session.put_session(@conn, "k", 1) == {:error, :unavailable}
          assert Session.open_handle(@conn) == {:error, :unavailable}
          assert Session.use_handle(@conn, "handle") == {:error, :unavailable}
          assert_raise RuntimeError, "the session store failed", fn -> Session.get_session(@conn, "k") end
        end)

      assert log =~ "MCP session store: McpServer.SessionStoreTest.Broken.get answered with"
      refute log =~ "secret"
    end
  end

  # A store whose bytes the tests can change.
  defmodule Table do
    @behaviour SessionStore
    @impl true
    def get(table, key) do
      case :ets.lookup(table, key) do
        [{^key, value}] -> {:ok, value}
        [] -> :none
      end
    end

    @impl true
    def put(table, key, value, _ttl, _holder), do: :ets.insert(table, {key, value}) && :ok
    @impl true
    def delete(table, key), do: :ets.delete(table, key) && :ok
  end

  defp store do
    table = :ets.new(:values, [:public])
    Application.put_env(:mcp_server, :session_store, {Table, table})
    table
  end

  defp rewrite(table, fun), do: for({key, bytes} <- :ets.tab2list(table), do: :ets.insert(table, {key, fun.(bytes)}))

  test "an unknown atom makes only its own value unreadable, and no change deletes it" do
    table = store()
    assert Session.put_session(@conn, "cart", ["apples"]) == :ok
    assert Session.put_session(@conn, "new", {:known_here_only, 1}) == :ok
    # The names have the same length, so that the bytes stay valid.
    rewrite(table, &:binary.replace(&1, "known_here_only", "not_an_atom_yet"))

    assert Session.get_session(@conn, "cart") == ["apples"]

    assert_raise RuntimeError,
                 ~s(the session's value "new" has an atom that this node does not know, such as one of a newer release),
                 fn -> Session.get_session(@conn, "new", :default) end

    assert Session.put_session(@conn, "cart", ["pears"]) == :ok
    assert Session.delete_session(@conn, "other") == :ok
    assert Session.get_session(@conn, "cart") == ["pears"]

    rewrite(table, &:binary.replace(&1, "not_an_atom_yet", "known_here_only"))
    assert Session.get_session(@conn, "new") == {:known_here_only, 1}
  end

  test "bytes that no session has stored are an error, and no change replaces them" do
    table = store()
    assert Session.put_session(@conn, "k", 1) == :ok
    rewrite(table, fn _bytes -> "garbage" end)

    log =
      capture_log(fn ->
        assert Session.put_session(@conn, "k", 2) == {:error, :unavailable}
        assert Session.delete_session(@conn, "k") == {:error, :unavailable}
        assert_raise RuntimeError, "the session store failed", fn -> Session.get_session(@conn, "k") end
      end)

    assert log =~ "MCP session store: the bytes of a session are not those that were stored"
    assert [{_key, "garbage"}] = :ets.tab2list(table)
  end

  test "the default is no shared store" do
    refute SessionStore.shared?()
    Application.put_env(:mcp_server, :session_store, {Broken, [:error]})
    assert SessionStore.shared?()
  end
end
