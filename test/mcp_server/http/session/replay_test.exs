defmodule McpServer.Http.Session.ReplayTest do
  use ExUnit.Case, async: true

  alias McpServer.Http.Session.Replay
  alias McpServer.Quota

  defp replay(bounds \\ []) do
    limit = bounds[:node_bytes] || 1_000
    quota = Quota.put_bound(Quota.new(:node, %{}), :event_bytes, {limit, bounds[:client_bytes] || limit})
    account = %{quota: quota, client: bounds[:client], own: :atomics.new(1, []), make_room: fn -> :ok end}
    %Replay{account: account, max_events: bounds[:events] || 3, max_bytes: bounds[:bytes] || 100}
  end

  defp fill(replay, events), do: Enum.reduce(events, replay, &Replay.put(&2, &1))
  defp stored(replay), do: {Quota.held(replay.account.quota, :event_bytes), :atomics.get(replay.account.own, 1)}

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

  test "a client's room is that of all its sessions, and the node's is left to others" do
    eve = {:principal, "eve"}
    mine = replay(node_bytes: 10, client_bytes: 4, client: eve)
    also_mine = %{mine | account: %{mine.account | own: :atomics.new(1, [])}}
    _first = fill(also_mine, ["abc"])
    mine = fill(mine, ["d", "e"])
    assert Replay.since(mine, 1) == {:ok, ["e"]}
    assert Replay.since(mine, 0) == {:error, :gone}
    assert {Quota.held(mine.account.quota, :event_bytes, eve), stored(mine)} == {4, {4, 1}}
    Replay.clear(mine)
    assert {Quota.held(mine.account.quota, :event_bytes, eve), stored(mine)} == {3, {3, 0}}
  end

  test "room is asked for before the last eighth is used, and the oldest events go first" do
    test = self()
    replay = replay(node_bytes: 16, events: 100)
    replay = %{replay | account: %{replay.account | make_room: fn -> send(test, :asked) end}}
    replay = fill(replay, ["0123456789", "abcd"])
    refute_received :asked
    replay = Replay.put(replay, "e")
    assert_received :asked

    assert {smaller, left} = Replay.forget(replay, 11)
    assert {Replay.since(smaller, 2), Replay.since(smaller, 1), left} == {{:ok, ["e"]}, {:error, :gone}, -3}
    assert stored(smaller) == {1, 1}
    assert {empty, 99} = Replay.forget(smaller, 100)
    assert {Replay.since(empty, 3), stored(empty)} == {{:ok, []}, {0, 0}}
  end

  test "what is forgotten is given back" do
    replay = fill(replay(), ["one", "two"])
    assert stored(replay) == {6, 6}
    assert Replay.clear(replay) == :ok
    assert stored(replay) == {0, 0}
  end
end
