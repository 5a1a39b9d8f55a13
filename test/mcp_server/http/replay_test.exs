defmodule McpServer.Http.ReplayTest do
  use ExUnit.Case, async: true

  alias McpServer.Http.Replay

  defp replay(bounds \\ []) do
    account = %{node: :atomics.new(1, []), own: :atomics.new(1, []), max_bytes: bounds[:node_bytes] || 1_000}
    %Replay{account: account, max_events: bounds[:events] || 3, max_bytes: bounds[:bytes] || 100}
  end

  defp fill(replay, events), do: Enum.reduce(events, replay, &Replay.put(&2, &1))
  defp stored(replay), do: {:atomics.get(replay.account.node, 1), :atomics.get(replay.account.own, 1)}

  test "what came after an event, in order, and nothing after the last" do
    replay = fill(replay(), ["one", "two", "three"])
    assert Replay.since(replay, 0) == {:ok, ["one", "two", "three"]}
    assert Replay.since(replay, 1) == {:ok, ["two", "three"]}
    assert Replay.since(replay, 3) == {:ok, []}
  end

  test "an event that never was" do
    assert Replay.since(replay(), 0) == {:ok, []}
    assert Replay.since(replay(), 1) == {:error, :unknown}
    assert Replay.since(fill(replay(), ["one"]), 2) == {:error, :unknown}
  end

  test "as many events as there is room for, and not one more" do
    replay = fill(replay(events: 2), ["one", "two", "three"])
    assert Replay.since(replay, 1) == {:ok, ["two", "three"]}
    assert Replay.since(replay, 0) == {:error, :gone}
  end

  test "as many bytes as there is room for, and not one more" do
    replay = fill(replay(bytes: 8), ["four", "five"])
    assert Replay.since(replay, 0) == {:ok, ["four", "five"]}
    assert stored(replay) == {8, 8}

    replay = Replay.put(replay, "x")
    assert Replay.since(replay, 0) == {:error, :gone}
    assert Replay.since(replay, 1) == {:ok, ["five", "x"]}
    assert stored(replay) == {5, 5}
  end

  test "an event larger than all the room is not kept, and not silently missed" do
    replay = fill(replay(bytes: 3), ["four"])
    assert Replay.since(replay, 0) == {:error, :gone}
    assert Replay.since(replay, 1) == {:ok, []}
    assert stored(replay) == {0, 0}
  end

  test "the node's room is everybody's" do
    replay = replay(node_bytes: 10)
    other = %{replay | account: %{replay.account | own: :atomics.new(1, [])}}
    _other = fill(other, ["12345678"])
    replay = fill(replay, ["ab", "c"])
    assert Replay.since(replay, 1) == {:ok, ["c"]}
    assert Replay.since(replay, 0) == {:error, :gone}
    assert stored(replay) == {9, 1}
  end

  test "what is forgotten is given back" do
    replay = fill(replay(), ["one", "two"])
    assert stored(replay) == {6, 6}
    assert Replay.clear(replay) == :ok
    assert stored(replay) == {0, 0}
  end
end
