defmodule McpServer.SessionStore.ETSTest do
  # Not async: the tables belong to the node. Other tests store few values.
  use ExUnit.Case, async: false

  alias McpServer.{Conn, Session}
  alias McpServer.SessionStore.ETS

  @hour 3_600_000
  @large String.duplicate("x", 16 * 1024)

  defp key, do: "key #{System.unique_integer()}"

  test "a value is kept until its time is over, or until another takes its place" do
    key = key()
    assert ETS.get([], key) == :none
    assert ETS.put([], key, "one", @hour, nil) == :ok
    assert ETS.put([], key, "two", @hour, nil) == :ok
    assert ETS.get([], key) == {:ok, "two"}
    assert ETS.delete([], key) == :ok
    assert ETS.delete([], key) == :ok
    assert ETS.get([], key) == :none
    assert ETS.put([], key, "short", -1, nil) == :ok
    assert ETS.get([], key) == :none
  end

  test "its bytes are counted as long as it is there, and those of expired ones no longer" do
    keys = for _ <- 1..10, do: key()
    sweep()
    before = ETS.bytes()
    for key <- keys, do: ETS.put([], key, @large, @hour, nil)
    assert ETS.bytes() == before + 10 * (16 * 1024 + 256)
    for key <- keys, do: ETS.put([], key, "x", -1, nil)
    sweep()
    assert ETS.bytes() == before
  end

  defp sweep do
    send(ETS, :sweep)
    :sys.get_state(ETS)
  end

  test "one holder has a quarter of 64 MiB, and nobody more than all of it" do
    on_exit(fn -> for n <- 1..10_000, do: ETS.delete([], "filling #{n}") end)
    put = fn n, holder -> ETS.put([], "filling #{n}", @large, @hour, holder) end
    kept = Enum.take_while(1..5_000, &(put.(&1, "ada") == :ok))
    assert length(kept) == div(16 * 1024 * 1024, 16 * 1024 + 256)
    assert put.(5_000, "bob") == :ok
    # Replacing a value takes no more room.
    assert put.(1, "ada") == :ok

    assert Enum.any?(5_001..10_000, &(put.(&1, nil) == {:error, :full}))
    assert ETS.bytes() <= 64 * 1024 * 1024
  end

  test "a value that has no room leaves the one it would replace" do
    on_exit(fn -> for n <- 1..1_200, do: Session.delete_session(conn(n, 3), "k") end)
    conn = conn(1, 3)
    assert Session.put_session(conn, "cart", "apples") == :ok
    value = String.duplicate("x", 16_000)
    assert Enum.find(2..1_200, &(Session.put_session(conn(&1, 3), "k", value) == {:error, :full})) in 1_000..1_100

    assert Session.put_session(conn, "k", value) == {:error, :full}
    assert Session.get_session(conn, "cart") == "apples"
    assert Session.put_session(conn, "cart", "pears") == :ok
    assert Session.get_session(conn, "cart") == "pears"
  end

  test "clients without a principal are told apart by their addresses" do
    on_exit(fn -> for n <- 1..1_200, last <- 1..2, do: Session.delete_session(conn(n, last), "k") end)
    value = String.duplicate("x", 16_000)
    put = fn n, last -> Session.put_session(conn(n, last), "k", value) end
    assert Enum.find(1..1_200, &(put.(&1, 1) == {:error, :full})) in 1_000..1_100
    assert put.(1, 2) == :ok
  end

  defp conn(n, last), do: %Conn{session_id: "filling #{n} of #{last}", router: __MODULE__, peer: {192, 0, 2, last}}
end
