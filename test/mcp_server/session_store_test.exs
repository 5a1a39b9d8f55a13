defmodule McpServer.SessionStoreTest do
  # Not async: the configured store is the application's.
  use ExUnit.Case, async: false

  import ExUnit.CaptureLog

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

  test "the default is no shared store" do
    refute SessionStore.shared?()
    Application.put_env(:mcp_server, :session_store, {Broken, [:error]})
    assert SessionStore.shared?()
  end
end
