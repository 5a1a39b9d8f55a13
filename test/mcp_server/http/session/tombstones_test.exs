defmodule McpServer.Http.Session.TombstonesTest do
  # Not async: the set and its limit belong to the whole node.
  use ExUnit.Case, async: false

  import McpServer.HttpCase, only: [eventually: 1]

  alias McpServer.Http.Session.Tombstones

  @hour 3_600_000
  @ada {:principal, "ada"}
  @eve {:principal, "eve"}

  defp now, do: System.system_time(:millisecond)

  defp heard(stones) do
    send(Tombstones, {:tombstones, stones})
    _handled = :sys.get_state(Tombstones)
  end

  # Later tests need the space.
  defp forget_all do
    expired = for {digest, _expires_at, _holder} <- :ets.tab2list(Tombstones), do: digest
    [supervisor | _] = Process.info(Process.whereis(Tombstones))[:dictionary][:"$ancestors"]
    :ok = Supervisor.terminate_child(supervisor, Tombstones)
    for digest <- expired, do: :ets.delete(Tombstones, digest)
    {:ok, _pid} = Supervisor.restart_child(supervisor, Tombstones)
  end

  setup do
    forget_all()
    on_exit(&forget_all/0)
  end

  test "an id that was put is dead, others are not" do
    Tombstones.put("sealed-one", now() + @hour, nil)
    assert Tombstones.dead?("sealed-one")
    refute Tombstones.dead?("sealed-two")
  end

  test "those that have expired go" do
    Tombstones.put("expired", now() - 1, @ada)
    Tombstones.put("alive", now() + @hour, @ada)
    send(Tombstones, :sweep)
    _swept = :sys.get_state(Tombstones)
    assert {Tombstones.dead?("expired"), Tombstones.dead?("alive")} == {false, true}
  end

  test "a client above its share loses its own, and what expires first gives way" do
    Tombstones.put("ada's", now() + 1_000, @ada)
    first = now() + @hour
    Tombstones.put("eve's first", first, @eve)
    heard(for n <- 1..24_999, do: {<<n::128>>, first + n, @eve})
    assert Tombstones.count() == 25_001
    assert Tombstones.dead?("eve's first")
    Tombstones.put("eve's last", first + @hour, @eve)
    assert Tombstones.count() == 25_001
    refute Tombstones.dead?("eve's first")
    assert Tombstones.dead?("eve's last")
    assert Tombstones.dead?("ada's")
  end

  test "the set is bounded, and the client with most of them loses one" do
    first = now() + @hour
    Tombstones.put("ada's", now() + 1_000, @ada)
    Tombstones.put("nobody's", first, nil)
    heard(for n <- 1..99_998, do: {<<n::128>>, first + n, nil})
    assert Tombstones.count() == 100_000
    assert Tombstones.dead?("nobody's")
    Tombstones.put("eve's", first, @eve)
    assert Tombstones.count() == 100_000
    refute Tombstones.dead?("nobody's")
    for id <- ["ada's", "eve's"], do: assert(Tombstones.dead?(id))
  end

  test "a successor of the process counts what is there" do
    first = now() + @hour
    heard(for n <- 1..25_000, do: {<<n::128>>, first + n, @eve})
    pid = Process.whereis(Tombstones)
    monitor = Process.monitor(pid)
    Process.exit(pid, :kill)
    assert_receive {:DOWN, ^monitor, :process, ^pid, :killed}
    eventually(fn -> Process.whereis(Tombstones) not in [nil, pid] end)
    Tombstones.put("eve's last", first + @hour, @eve)
    assert Tombstones.count() == 25_000
    assert Tombstones.dead?("eve's last")
  end

  test "another node gets all of them when it asks, and what it tells is kept" do
    Tombstones.put("told", now() + @hour, @ada)
    send(Tombstones, {:tombstones_wanted, node()})
    heard([{binary_part(:crypto.hash(:sha256, "heard"), 0, 16), now() + @hour, @ada}])
    assert Tombstones.dead?("heard")
    assert Tombstones.dead?("told")
  end
end
