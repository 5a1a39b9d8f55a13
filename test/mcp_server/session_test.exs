defmodule McpServer.SessionTest do
  use ExUnit.Case, async: true

  alias McpServer.{Conn, Session}

  doctest Session

  defp conn(fields \\ []),
    do: struct!(%Conn{session_id: "session #{System.unique_integer()}", router: __MODULE__}, fields)

  describe "values of a session" do
    test "are found again under their key, and only there" do
      conn = conn()
      assert Session.get_session(conn, "a") == nil
      assert Session.get_session(conn, "a", :default) == :default
      assert Session.put_session(conn, "a", 1) == :ok
      assert Session.put_session(conn, :a, 2) == :ok
      assert {Session.get_session(conn, "a"), Session.get_session(conn, :a)} == {1, 2}
      assert Session.put_session(conn, "a", nil) == :ok
      assert Session.get_session(conn, "a", :default) == nil
      assert Session.delete_session(conn, :a) == :ok
      assert Session.get_session(conn, :a) == nil
    end

    test "are plain data of any shape" do
      conn = conn()
      date = ~D[2026-11-23]

      for value <- ["é", 1.5, true, :atom, {1, [2 | 3]}, %{"k" => [date]}, [], <<1::3>>] do
        assert Session.put_session(conn, "value", value) == :ok
        assert Session.get_session(conn, "value") === value
      end
    end

    test "are no processes and no functions, anywhere" do
      for value <- [self(), make_ref(), &is_nil/1, [1 | self()], %{k: {1, fn -> 1 end}}, %{self() => 1}] do
        assert_raise ArgumentError, ~s(a session keeps plain data, and "k" has a process or a function in it), fn ->
          Session.put_session(conn(), "k", value)
        end
      end
    end

    test "take at most 16 KiB together, and what is too large changes nothing" do
      conn = conn()
      assert Session.put_session(conn, "half", String.duplicate("x", 8_000)) == :ok
      assert Session.put_session(conn, "rest", String.duplicate("x", 9_000)) == {:error, :too_large}
      assert Session.get_session(conn, "rest") == nil
      assert Session.put_session(conn, "rest", String.duplicate("x", 8_000)) == :ok
      assert String.length(Session.get_session(conn, "half")) == 8_000
    end

    test "belong to the session, the principal, the router and the mount" do
      conn = conn(principal: "ada", mount: "http /mcp")
      :ok = Session.put_session(conn, "k", 1)

      for fields <- [[session_id: "another"], [principal: "bob"], [principal: nil], [router: Conn], [mount: "admin"]],
          do: assert({fields, Session.get_session(struct!(conn, fields), "k")} == {fields, nil})

      assert Session.get_session(conn(Map.to_list(Map.take(conn, [:session_id, :principal, :mount]))), "k") == 1
    end

    test "of several calls at once are all kept" do
      conn = conn()
      tasks = for n <- 1..50, do: Task.async(fn -> Session.put_session(conn, "k#{n}", n) end)
      assert Enum.uniq(Task.await_many(tasks, 30_000)) == [:ok]
      assert for(n <- 1..50, do: Session.get_session(conn, "k#{n}")) == Enum.to_list(1..50)
    end

    test "are forgotten with the session" do
      conn = conn()
      :ok = Session.put_session(conn, "k", 1)
      Session.forget(conn)
      forgotten(conn, 500)
    end

    defp forgotten(conn, left) do
      if Session.get_session(conn, "k") != nil and left > 0 do
        Process.sleep(10)
        forgotten(conn, left - 1)
      else
        assert Session.get_session(conn, "k") == nil
      end
    end
  end

  describe "without a session" do
    test "nothing is kept, and nothing is there" do
      conn = conn(session_id: nil)
      assert Session.put_session(conn, "k", 1) == {:error, :no_session}
      assert Session.delete_session(conn, "k") == {:error, :no_session}
      assert Session.get_session(conn, "k", 2) == 2
    end

    test "a handle finds its values, for the principal that has opened it" do
      conn = conn(session_id: nil, principal: "ada")
      assert {:ok, handle, basket} = Session.open_handle(conn)
      assert handle =~ ~r/\A[A-Za-z0-9_-]{22}\z/
      assert Session.put_session(basket, "items", [1]) == :ok

      assert {:ok, later} = Session.use_handle(conn(session_id: nil, principal: "ada"), handle)
      assert Session.get_session(later, "items") == [1]
      assert Session.use_handle(conn(session_id: nil, principal: "bob"), handle) == {:error, :unknown_handle}
      assert Session.use_handle(conn, "AAAAAAAAAAAAAAAAAAAAAA") == {:error, :unknown_handle}
      assert Session.use_handle(conn, "") == {:error, :unknown_handle}
    end

    test "the id of a session is no handle" do
      conn = conn(session_id: "of another")
      :ok = Session.put_session(conn, "k", 1)
      assert Session.use_handle(conn(), "of another") == {:error, :unknown_handle}
    end

    test "handles are found before anything was put, and each has its own values, in a session too" do
      conn = conn()
      :ok = Session.put_session(conn, "k", "session")
      {:ok, one, _conn} = Session.open_handle(conn)
      {:ok, other, other_conn} = Session.open_handle(conn)
      :ok = Session.put_session(other_conn, "k", "other")
      {:ok, one} = Session.use_handle(conn, one)
      {:ok, other} = Session.use_handle(conn, other)
      assert for(conn <- [conn, one, other], do: Session.get_session(conn, "k")) == ["session", nil, "other"]
    end
  end
end
