defmodule McpServer.ShareTest do
  use ExUnit.Case, async: true

  alias McpServer.Share
  alias McpServer.Share.Keeper

  doctest Share

  @bounds {8, 25}

  setup do
    {:ok, server: make_ref()}
  end

  defp ada, do: {:principal, "ada"}
  defp eve, do: {:principal, "eve"}

  # A process that takes a place for each message.
  defp taker(server, holder) do
    test = self()
    spawn(fn -> serve(test, server, holder) end)
  end

  defp serve(test, server, holder) do
    receive do
      :take -> send(test, {self(), Share.take(server, :calls, holder, @bounds)})
    end

    serve(test, server, holder)
  end

  defp take(taker) do
    send(taker, :take)
    assert_receive {^taker, answer}
    answer
  end

  defp kill(taker) do
    monitor = Process.monitor(taker)
    Process.exit(taker, :kill)
    assert_receive {:DOWN, ^monitor, :process, ^taker, :killed}
    eventually(fn -> :ets.lookup(Keeper, taker) == [] end)
    # The keeper removes the row first. It replies when it has given the places back.
    :sys.get_state(Keeper)
  end

  defp eventually(fun) do
    unless fun.() do
      Process.sleep(5)
      eventually(fun)
    end
  end

  test "one holder has its share of the places, the others have the rest", %{server: server} do
    assert for(_place <- 1..3, do: Share.take(server, :calls, eve(), @bounds)) == [:ok, :ok, :full]
    assert Share.take(server, :calls, ada(), @bounds) == :ok
    assert {Share.taken(server, :calls), Share.taken(server, :calls, eve())} == {3, 2}
  end

  test "the limit holds for all together", %{server: server} do
    for number <- 1..8, do: assert(Share.take(server, :calls, {:peer, {192, 0, 2, number}}, @bounds) == :ok)
    assert Share.take(server, :calls, ada(), @bounds) == :full
    assert {Share.taken(server, :calls), Share.taken(server, :calls, ada())} == {8, 0}
  end

  test "a client that is no holder is bounded by the limit alone", %{server: server} do
    assert for(_place <- 1..9, do: Share.take(server, :calls, nil, @bounds)) == List.duplicate(:ok, 8) ++ [:full]
    assert Share.taken(server, :calls) == 8
  end

  test "a share of a small limit is one place, and a share of 100 percent is no bound", %{server: server} do
    assert for(_place <- 1..2, do: Share.take(server, :calls, eve(), {3, 25})) == [:ok, :full]
    assert for(_place <- 1..4, do: Share.take(server, :streams, eve(), {3, 100})) == [:ok, :ok, :ok, :full]
  end

  test "several places are taken together or not at all", %{server: server} do
    assert Share.take(server, :bytes, eve(), {100, 25}, 20) == :ok
    assert Share.take(server, :bytes, eve(), {100, 25}, 6) == :full
    assert Share.take(server, :bytes, eve(), {100, 25}, 5) == :ok
    assert {Share.taken(server, :bytes), Share.taken(server, :bytes, eve())} == {25, 25}
  end

  test "what is given back can be taken again, and leaves no row", %{server: server} do
    for _round <- 1..3 do
      assert Share.take(server, :calls, eve(), @bounds) == :ok
      assert Share.take(server, :calls, eve(), @bounds) == :ok
      assert Share.give(server, :calls, eve()) == :ok
      assert Share.give(server, :calls, eve()) == :ok
    end

    assert :ets.match(Share, {{server, :_, :_}, :_}) ++ :ets.match(Share, {{server, :_}, :_}) == []
  end

  test "kinds and servers are counted apart", %{server: server} do
    for kind <- [:calls, :streams], do: assert(Share.take(server, kind, eve(), {1, 25}) == :ok)
    assert Share.take({:other, server}, :calls, eve(), {1, 25}) == :ok
    assert Share.take(server, :calls, ada(), {1, 25}) == :full
  end

  test "what a process had when it was killed is given back", %{server: server} do
    taker = taker(server, eve())
    assert [take(taker), take(taker), take(taker)] == [:ok, :ok, :full]
    kill(taker)
    assert {Share.taken(server, :calls), Share.taken(server, :calls, eve())} == {0, 0}
  end

  test "a keeper that crashed monitors everybody again", %{server: server} do
    taker = taker(server, eve())
    assert take(taker) == :ok
    keeper = Process.whereis(Keeper)
    Process.exit(keeper, :kill)
    eventually(fn -> Process.whereis(Keeper) not in [nil, keeper] end)
    kill(taker)
    assert Share.taken(server, :calls) == 0
  end

  test "only the process that took a place can give it back", %{server: server} do
    assert take(taker(server, eve())) == :ok
    assert_raise ArgumentError, fn -> Share.give(server, :calls, eve()) end
    assert Share.taken(server, :calls) == 1
  end

  test "many that take and give at once never have more than there is", %{server: server} do
    # A counter for each of five clients, and one for their sum.
    held = :counters.new(6, [:atomics])

    over = fn number ->
      for _round <- 1..500, Share.take(server, :calls, {:principal, "client #{number}"}, @bounds) == :ok do
        for counter <- [number, 6], do: :counters.add(held, counter, 1)
        over? = :counters.get(held, number) > 2 or :counters.get(held, 6) > 8
        for counter <- [number, 6], do: :counters.sub(held, counter, 1)
        Share.give(server, :calls, {:principal, "client #{number}"})
        over?
      end
    end

    clients = Enum.map(1..20, &(rem(&1, 5) + 1))
    seen = clients |> Task.async_stream(over, max_concurrency: 20, timeout: 60_000) |> Enum.flat_map(&elem(&1, 1))
    assert Enum.uniq(seen) == [false]
    assert Share.taken(server, :calls) == 0
  end

  test "a principal that is long or a term is known by its digest" do
    assert {:principal, {:digest, <<_::256>>}} = Share.holder(String.duplicate("a", 65), nil)
    assert Share.holder(%{sub: "ada", iss: "a"}, nil) == Share.holder(%{iss: "a", sub: "ada"}, {192, 0, 2, 1})
    refute Share.holder(%{sub: "ada"}, nil) == Share.holder(%{sub: "eve"}, nil)
  end

  test "an IPv4 address is the same holder on a socket of both families, loopback and local sockets are none" do
    assert Share.holder(nil, {0, 0, 0, 0, 0, 0xFFFF, 0xC000, 0x0207}) == {:peer, {192, 0, 2, 7}}

    for peer <- [{127, 1, 2, 3}, {0, 0, 0, 0, 0, 0, 0, 1}, {0, 0, 0, 0, 0, 0xFFFF, 0x7F00, 1}, {:local, "/run/s"}, nil],
        do: assert(Share.holder(nil, peer) == nil)
  end
end
