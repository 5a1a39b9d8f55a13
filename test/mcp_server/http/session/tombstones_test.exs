defmodule McpServer.Http.Session.TombstonesTest do
  # Not async: the set and its limit belong to the whole node.
  use ExUnit.Case, async: false

  alias McpServer.Http.Session.Tombstones

  @hour 3_600_000

  defp now, do: System.system_time(:millisecond)

  test "an id that was put is dead, others are not" do
    Tombstones.put("sealed-one", now() + @hour)
    assert Tombstones.dead?("sealed-one")
    refute Tombstones.dead?("sealed-two")
  end

  test "those that have expired go" do
    Tombstones.put("expired", now() - 1)
    Tombstones.put("alive", now() + @hour)
    send(Tombstones, :sweep)
    _swept = :sys.get_state(Tombstones)
    assert {Tombstones.dead?("expired"), Tombstones.dead?("alive")} == {false, true}
  end

  test "the set is bounded, and what expires first gives way" do
    first = now() + @hour
    Tombstones.put("soonest", first)
    Tombstones.keep(for n <- 1..100_000, do: {<<n::128>>, first + n})
    assert Tombstones.count() == 100_000
    refute Tombstones.dead?("soonest")
  after
    # The tombstones do not affect other tests, but take memory.
    :ets.delete_all_objects(Tombstones)
    :ets.delete_all_objects(Tombstones.Order)
  end

  test "another node gets all of them when it asks, and what it tells is kept" do
    Tombstones.put("told", now() + @hour)
    send(Tombstones, {:tombstones_wanted, node()})
    send(Tombstones, {:tombstones, [{binary_part(:crypto.hash(:sha256, "heard"), 0, 16), now() + @hour}]})
    _handled = :sys.get_state(Tombstones)
    assert Tombstones.dead?("heard")
    assert Tombstones.dead?("told")
  end
end
