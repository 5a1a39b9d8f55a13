defmodule McpServer.Http.Session.ReplayRoomTest do
  use ExUnit.Case, async: true

  alias McpServer.Http.Session.{Replay, ReplayRoom, Stream, StreamCollection}
  alias McpServer.Quota

  @mebibyte 1024 * 1024

  # Other tests use the node's.
  defp room, do: ReplayRoom.new(Quota.new(:node, %{}))
  defp processes(count), do: for(_ <- 1..count, do: spawn(fn -> :ok end))

  test "the client that stores most gives way, its largest session first, then the next one" do
    [a, b, c, d] = processes(4)
    stored = [{a, {:principal, "ada"}, 10}, {b, {:principal, "eve"}, 8}, {c, {:principal, "eve"}, 9}, {d, nil, 0}]
    assert ReplayRoom.demands_of(stored, 5) == [{c, 5}]
    assert ReplayRoom.demands_of(stored, 9) == [{c, 9}]
    assert ReplayRoom.demands_of(stored, 12) == [{c, 9}, {b, 3}]
    assert ReplayRoom.demands_of(stored, 20) == [{c, 9}, {b, 8}, {a, 3}]
    assert ReplayRoom.demands_of(stored, 100) == [{c, 9}, {b, 8}, {a, 10}]
    assert ReplayRoom.demands_of(stored, 0) == []
    assert ReplayRoom.demands_of([], 5) == []
  end

  test "a client has its share of 64 MiB, one without a share has all" do
    for {client, percent, most} <- [{{:principal, "eve"}, 25, 16}, {{:principal, "eve"}, 100, 64}, {nil, 25, 64}] do
      account = ReplayRoom.account(room(), ReplayRoom.paid(client), percent, fn -> :ok end)
      replay = %Replay{account: account, max_events: 100, max_bytes: 100 * @mebibyte}
      event = String.duplicate("x", @mebibyte)
      replay = Enum.reduce(1..70, replay, fn _, replay -> Replay.put(replay, event) end)
      assert {client, percent, replay.bytes} == {client, percent, most * @mebibyte}
    end
  end

  test "five clients: four that store all they can give way to the fifth" do
    %{quota: quota} = room = room()
    test = self()
    ask = fn -> send(test, :asked) end
    event = String.duplicate("x", @mebibyte)

    [{fifth, small} | large] =
      for {pid, number} <- Enum.zip(processes(5), 0..4) do
        paid = ReplayRoom.paid({:principal, "client #{number}"})
        account = ReplayRoom.account(room, paid, 25, ask)
        {{pid, paid}, %Replay{account: account, max_events: 100, max_bytes: 100 * @mebibyte}}
      end

    stored =
      for {session, replay} <- large, do: {session, Enum.reduce(1..20, replay, fn _, r -> Replay.put(r, event) end)}

    # The node's limit holds before any session has freed memory.
    assert Quota.held(quota, :event_bytes) == 64 * @mebibyte
    assert Enum.map(stored, fn {_session, replay} -> replay.bytes end) == List.duplicate(16 * @mebibyte, 4)
    # Several requests for room send only one message.
    assert_received :asked
    refute_received :asked

    sessions = [fifth | Enum.map(stored, &elem(&1, 0))]
    demands = ReplayRoom.demands(room, sessions)
    assert demands |> Enum.map(&elem(&1, 1)) |> Enum.sum() == 16 * @mebibyte
    refute List.keymember?(demands, elem(fifth, 0), 0)

    for {{pid, _paid}, replay} <- stored, {^pid, bytes} <- demands, do: Replay.forget(replay, bytes)
    assert Quota.held(quota, :event_bytes) == 48 * @mebibyte
    small = Enum.reduce(1..4, small, fn _, replay -> Replay.put(replay, event) end)
    assert {:ok, [^event, ^event, ^event, ^event]} = Replay.since(small, 0)

    {_pid, paid} = fifth
    ReplayRoom.give_back(room, paid)
    assert {Quota.held(quota, :event_bytes), Quota.held(quota, :event_bytes, paid.client)} == {48 * @mebibyte, 0}
  end

  test "is counted again after a restart of the process that knows the sessions" do
    %{quota: quota} = room = room()
    paid = ReplayRoom.paid({:principal, "eve"})
    replay = %Replay{account: ReplayRoom.account(room, paid, 25, fn -> :ok end), max_events: 10, max_bytes: 100}
    Replay.put(replay, "abc")
    for kind <- [:sessions, :event_bytes], do: Quota.reset(quota, kind)
    for paid <- [paid, ReplayRoom.paid({:principal, "ada"})], do: assert(ReplayRoom.recount(room, paid) == :ok)
    assert {Quota.held(quota, :event_bytes), Quota.held(quota, :event_bytes, paid.client)} == {3, 3}
    ReplayRoom.give_back(room, paid)
    assert Quota.held(quota, :event_bytes) == 0
  end

  test "of a session the events of the oldest streams go first, those of its own stream last" do
    account = ReplayRoom.account(room(), ReplayRoom.paid(nil), 25, fn -> :ok end)

    streams =
      for key <- [:session, 1, 2], reduce: StreamCollection.new() do
        streams ->
          replay = %Replay{account: account, max_events: 10, max_bytes: 100}
          replay = Enum.reduce(["abc", "def"], replay, &Replay.put(&2, &1))
          number = if key == :session, do: 0, else: key

          stream = %Stream{
            number: number,
            exchange: nil,
            events?: true,
            since: 0,
            quiet_ms: 1,
            max_queued: 1,
            replay: replay
          }

          StreamCollection.put(streams, key, stream)
      end

    left = fn streams ->
      for key <- [1, 2, :session] do
        {:ok, stream} = StreamCollection.fetch(streams, key)
        stream.replay.bytes
      end
    end

    assert left.(streams) == [6, 6, 6]
    assert left.(StreamCollection.make_room(streams, 7)) == [0, 3, 6]
    assert :atomics.get(account.own, 1) == 9
  end
end
