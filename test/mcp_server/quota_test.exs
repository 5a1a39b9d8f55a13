defmodule McpServer.QuotaTest do
  use ExUnit.Case, async: true

  import McpServer.HttpCase, only: [eventually: 1]

  alias McpServer.Quota
  alias McpServer.Quota.{Client, Keeper, Kinds}

  doctest Quota
  doctest Client

  @ada {:principal, "ada"}
  @eve {:principal, "eve"}

  # Of eight places, a client has two.
  setup do
    quota = Quota.put_bound(Quota.new(:server, %{}), :calls, {8, 2})
    {:ok, quota: quota, account: Quota.own(quota)}
  end

  # A process that takes a place for each message.
  defp taker(quota, client) do
    test = self()
    spawn(fn -> serve(test, Quota.own(quota), client) end)
  end

  defp serve(test, account, client) do
    receive do
      :take -> send(test, {self(), Quota.take(account, :calls, client, 1)})
    end

    serve(test, account, client)
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
    # The keeper removes the row first. It replies when it has given everything back.
    :sys.get_state(Keeper)
  end

  defp rows(%{counters: counters}), do: :ets.match(Quota, {{counters, :_, :_}, :_})

  for {what, own?} <- [{"of a process", true}, {"of no process", false}] do
    describe "an amount #{what}:" do
      setup context do
        {:ok, quota: if(unquote(own?), do: context.account, else: context.quota)}
      end

      test "one client has its share, the others have the rest", %{quota: quota} do
        assert for(_ <- 1..3, do: Quota.take(quota, :calls, @eve, 1)) == [:ok, :ok, :full]
        assert Quota.take(quota, :calls, @ada, 1) == :ok
        assert {Quota.held(quota, :calls), Quota.held(quota, :calls, @eve)} == {3, 2}
      end

      test "the limit holds for all together", %{quota: quota} do
        for number <- 1..8, do: assert(Quota.take(quota, :calls, {:peer, {192, 0, 2, number}}, 1) == :ok)
        assert Quota.take(quota, :calls, @ada, 1) == :full
        assert {Quota.held(quota, :calls), Quota.held(quota, :calls, @ada)} == {8, 0}
      end

      test "a client without a share is bounded by the limit alone", %{quota: quota} do
        assert for(_ <- 1..9, do: Quota.take(quota, :calls, nil, 1)) == List.duplicate(:ok, 8) ++ [:full]
        assert Quota.held(quota, :calls) == 8
      end

      test "several are taken together or not at all", %{quota: quota} do
        quota = Quota.put_bound(quota, :body_bytes, {100, 25})
        assert Quota.take(quota, :body_bytes, @eve, 20) == :ok
        assert Quota.take(quota, :body_bytes, @eve, 6) == :full
        assert Quota.take(quota, :body_bytes, @eve, 5) == :ok
        assert {Quota.held(quota, :body_bytes), Quota.held(quota, :body_bytes, @eve)} == {25, 25}
      end

      test "what is given back can be taken again, and leaves no row", %{quota: quota} do
        for _round <- 1..3 do
          assert Quota.take(quota, :calls, @eve, 1) == :ok
          assert Quota.take(quota, :calls, @eve, 1) == :ok
          assert Quota.give(quota, :calls, @eve, 2) == :ok
          assert Quota.give(quota, :calls, @eve, 0) == :ok
        end

        assert Quota.held(quota, :calls) == 0
        assert rows(quota) == []
      end

      test "kinds and quotas are counted apart", %{quota: quota} do
        for _ <- 1..2, do: assert(Quota.take(quota, :calls, @eve, 1) == :ok)
        assert Quota.take(quota, :streams, @eve, 1) == :ok
        assert Quota.take(Quota.new(:server, %{max_calls: 1, max_share: 1}), :calls, @eve, 1) == :ok
        assert Quota.take(quota, :calls, @eve, 1) == :full
      end

      test "what must be taken is taken beyond limit and share", %{quota: quota} do
        for _ <- 1..9, do: assert(Quota.take_anyway(quota, :calls, @eve, 1) == :ok)
        assert {Quota.held(quota, :calls), Quota.held(quota, :calls, @eve)} == {9, 9}
        assert Quota.take(quota, :calls, @ada, 1) == :full
        assert Quota.give(quota, :calls, @eve, 9) == :ok
        assert Quota.take(quota, :calls, @ada, 1) == :ok
      end
    end
  end

  test "is over when all clients have more than the limit, or one has more than its share", %{quota: quota} do
    over? = fn -> for client <- [@eve, @ada, nil], do: Quota.over?(quota, :calls, client) end
    for _ <- 1..2, do: Quota.take_anyway(quota, :calls, @eve, 1)
    assert over?.() == [false, false, false]
    Quota.take_anyway(quota, :calls, @eve, 1)
    assert over?.() == [true, false, false]
    for _ <- 1..5, do: Quota.take_anyway(quota, :calls, nil, 1)
    assert over?.() == [true, false, false]
    Quota.take_anyway(quota, :calls, nil, 1)
    assert over?.() == [true, true, true]
  end

  test "what one client has beyond its share keeps only this one waiting", %{quota: quota} do
    behind? = fn -> for client <- [@eve, @ada, nil, {:principal, "new"}], do: Quota.behind?(quota, :calls, client) end
    assert behind?.() == [false, false, false, false]
    for client <- [@eve, @ada], do: Quota.take_anyway(quota, :calls, client, 2)
    assert behind?.() == [false, false, false, false]
    Quota.take_anyway(quota, :calls, @eve, 100)
    assert behind?.() == [true, false, false, false]
    # Within the shares there are now as many as the limit allows.
    Quota.take_anyway(quota, :calls, nil, 4)
    assert behind?.() == [true, false, false, false]
    Quota.take_anyway(quota, :calls, nil, 1)
    assert behind?.() == [true, true, true, false]
    Quota.give(quota, :calls, @ada, 1)
    assert behind?.() == [true, false, false, false]
  end

  test "a kind that was reset has nothing, the others keep what they have", %{quota: quota} do
    for kind <- [:calls, :streams], client <- [@eve, nil], do: Quota.take_anyway(quota, kind, client, 1)
    assert Quota.reset(quota, :calls) == :ok
    assert {Quota.held(quota, :calls), Quota.held(quota, :calls, @eve)} == {0, 0}
    assert {Quota.held(quota, :streams), Quota.held(quota, :streams, @eve)} == {2, 1}
    # What is given back afterwards gives its client no larger share.
    assert Quota.give(quota, :calls, @eve, 1) == :ok
    assert Quota.held(quota, :calls, @eve) == 0
    assert for(_ <- 1..3, do: Quota.take(quota, :calls, @eve, 1)) == [:ok, :ok, :full]
  end

  test "what a process had when it was killed is given back", %{quota: quota} do
    taker = taker(quota, @eve)
    assert [take(taker), take(taker), take(taker)] == [:ok, :ok, :full]
    kill(taker)
    assert Quota.held(quota, :calls) == 0
    assert rows(quota) == []
  end

  test "a process that leaves gives back all, and may take again", %{quota: quota} do
    account = Quota.own(quota)
    for {kind, client} <- [calls: @eve, calls: nil, streams: @ada], do: Quota.take(account, kind, client, 1)
    assert Keeper.leave() == :ok
    assert {Quota.held(quota, :calls), Quota.held(quota, :streams), rows(quota)} == {0, 0, []}
    account = Quota.own(quota)
    assert Quota.take(account, :calls, @eve, 1) == :ok
    assert Quota.held(quota, :calls, @eve) == 1
  end

  test "an adopted amount goes with its new owner", %{quota: quota} do
    assert Quota.take(quota, :calls, @eve, 2) == :ok
    test = self()

    owner =
      spawn(fn ->
        Quota.adopt(Quota.own(quota), :calls, @eve, 2)
        send(test, :adopted)
        Process.sleep(:infinity)
      end)

    assert_receive :adopted
    assert Quota.held(quota, :calls, @eve) == 2
    kill(owner)
    assert {Quota.held(quota, :calls), rows(quota)} == {0, []}
  end

  test "only the process that took an amount can give it back", %{quota: quota, account: account} do
    assert take(taker(quota, @eve)) == :ok
    assert_raise ArgumentError, fn -> Quota.give(account, :calls, @eve, 1) end
  end

  # Earlier, what a client was refused was in the total for a moment: one that went on kept others out.
  test "a client that is refused again and again takes no place of others", %{quota: quota} do
    for _ <- 1..2, do: assert(Quota.take(quota, :calls, @eve, 1) == :ok)
    refused = fn -> for(_ <- 1..20_000, do: Quota.take(quota, :calls, @eve, 1)) |> Enum.uniq() end
    floods = for _ <- 1..16, do: Task.async(refused)
    others = for number <- 1..4, _ <- 1..2_000, do: {:principal, "client #{number}"}

    answers =
      for client <- others do
        answer = Quota.take(quota, :calls, client, 1)
        if answer == :ok, do: Quota.give(quota, :calls, client, 1)
        answer
      end

    assert Enum.uniq(answers) == [:ok]
    assert Task.await_many(floods, 60_000) |> List.flatten() |> Enum.uniq() == [:full]
    assert Quota.held(quota, :calls) == 2
  end

  test "many that take and give at once never have more than there is", %{quota: quota} do
    # A counter for each of five clients, and one for their sum.
    held = :counters.new(6, [:atomics])

    over = fn number ->
      account = Quota.own(quota)

      for _round <- 1..500, Quota.take(account, :calls, {:principal, "client #{number}"}, 1) == :ok do
        for counter <- [number, 6], do: :counters.add(held, counter, 1)
        over? = :counters.get(held, number) > 2 or :counters.get(held, 6) > 8
        for counter <- [number, 6], do: :counters.sub(held, counter, 1)
        Quota.give(account, :calls, {:principal, "client #{number}"}, 1)
        over?
      end
    end

    clients = Enum.map(1..20, &(rem(&1, 5) + 1))
    seen = clients |> Task.async_stream(over, max_concurrency: 20, timeout: 60_000) |> Enum.flat_map(&elem(&1, 1))
    assert Enum.uniq(seen) == [false]
    assert {Quota.held(quota, :calls), rows(quota)} == {0, []}
  end

  describe "the bound of a kind:" do
    test "of an option and a percent" do
      assert Kinds.bound(:sessions, %{max_sessions: 1_000, max_share: 25}) == {1_000, 250}
      assert Kinds.bound(:sessions, %{max_sessions: 3, max_share: 25}) == {3, 1}
      assert Kinds.bound(:sessions, %{max_sessions: 4, max_share: 100}) == {4, 4}
    end

    test "for each scheduler" do
      most = 100 * System.schedulers_online()
      assert Kinds.bound(:calls, %{max_calls: 100, max_share: 50}) == {most, div(most, 2)}
    end

    test "of two options" do
      assert Kinds.bound(:tasks, %{max_tasks: 1_000, max_tasks_per_owner: 100}) == {1_000, 100}
    end

    test "that is fixed" do
      assert Kinds.bound(:ended_sessions, %{}) == {100_000, 25_000}
      assert Kinds.bound(:event_bytes, %{max_share: 10}) == {67_108_864, 6_710_886}
    end

    # Otherwise a client could never send its longest body.
    test "with a share that holds the longest single item" do
      options = %{max_body_bytes_in_flight: 1_000, max_address_share: 25}
      assert Kinds.bound(:body_bytes, Map.put(options, :max_message_bytes, 250)) == {1_000, 250}
      assert Kinds.bound(:body_bytes, Map.put(options, :max_message_bytes, 251)) == {1_000, 251}
    end

    test "without its options is infinite" do
      assert Kinds.bound(:sessions, %{}) == {:infinity, :infinity}
      assert Kinds.bound(:exchanges, %{max_connections: 1, max_address_share: 1}) == {:infinity, :infinity}
    end
  end

  describe "a client:" do
    test "a principal that is long or a term is known by its digest" do
      assert {:principal, {:digest, <<_::256>>}} = Client.new(String.duplicate("a", 65), nil)
      assert Client.new(%{sub: "ada", iss: "a"}, nil) == Client.new(%{iss: "a", sub: "ada"}, {192, 0, 2, 1})
      refute Client.new(%{sub: "ada"}, nil) == Client.new(%{sub: "eve"}, nil)
    end

    test "an IPv4 address is the same on a socket of both families, loopback and local sockets are none" do
      assert Client.new(nil, {0, 0, 0, 0, 0, 0xFFFF, 0xC000, 0x0207}) == {:peer, {192, 0, 2, 7}}

      for peer <- [
            {127, 1, 2, 3},
            {0, 0, 0, 0, 0, 0, 0, 1},
            {0, 0, 0, 0, 0, 0xFFFF, 0x7F00, 1},
            {:local, "/run/s"},
            nil
          ],
          do: assert(Client.new(nil, peer) == nil)
    end
  end
end
