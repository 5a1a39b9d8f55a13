defmodule McpServer.Http.OverloadTest do
  use ExUnit.Case, async: true

  alias McpServer.Http.Overload

  defp waits(overload, count, second), do: for(_ <- 1..count, do: Overload.retry_after(overload, second))

  test "the first client waits a second, and the more are refused, the longer and the more differently they wait" do
    overload = Overload.new()
    assert waits(overload, 1, 100) == [1]
    few = waits(overload, 14, 101)
    assert Enum.all?(few, &(&1 in 1..4))
    many = waits(overload, 10_000, 102)
    assert Enum.all?(many, &(&1 in 1..14))
    # One of the last 8,000 waits the longest time with a probability of 1 - (12/13)^8,000.
    assert {Enum.min(many), Enum.max(many)} == {1, 14}
  end

  test "refusals count for five to ten seconds" do
    overload = Overload.new()
    waits(overload, 1_000, 104)
    assert Enum.max(waits(overload, 1_000, 109)) == 11
    overload = Overload.new()
    waits(overload, 1_000, 104)
    assert waits(overload, 1, 110) == [1]
    # Monotonic time may be negative.
    assert waits(Overload.new(), 1, -7) == [1]
  end

  test "nobody waits longer than half a minute" do
    overload = Overload.new()
    :atomics.put(overload.counts, 1, 20)
    :atomics.put(overload.counts, 2, 1_000_000_000_000)
    assert Enum.max(waits(overload, 1_000, 100)) == 30
  end
end
