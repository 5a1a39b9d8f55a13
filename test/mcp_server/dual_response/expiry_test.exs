defmodule McpServer.DualResponse.ExpiryTest do
  use ExUnit.Case, async: true
  use McpServer.Properties

  import McpServer.TestLog
  import McpServer.DualResponses

  alias McpServer.DualResponse
  alias McpServer.DualResponse.Error
  alias McpServer.DualResponses.FailingStore

  defp kept(name) do
    {:ok, %{store: store, ref: ref}} = DualResponse.settings(name)
    {:ok, size} = store.size(ref)
    size
  end

  defp sweep(name) do
    send(name, :sweep)
    :sys.get_state(name)
  end

  describe "exactly at its deadline" do
    @describetag req: ["S1-21", "S1-22", "RES-16", "R2"]
    for {at, alive?} <- [{899_999, true}, {900_000, false}, {900_001, false}] do
      test "a resource #{if alive?, do: "is there", else: "has expired"} after #{at} ms" do
        {clock, pass} = clock()
        name = server(clock: clock)
        ids = for _ <- 1..5, do: create!(name, 3).resource_id
        [looked, fetched, streamed, pinned, deleted] = ids
        pass.(unquote(at))

        answers = [
          DualResponse.lookup(name, looked),
          DualResponse.fetch(name, fetched),
          DualResponse.stream(name, streamed),
          DualResponse.pin(name, pinned),
          DualResponse.delete(name, deleted)
        ]

        if unquote(alive?) do
          assert [{:ok, _}, {:ok, _}, {:ok, 3, _}, :ok, :ok] = answers
        else
          # The record still exists, so the reason is known.
          for answer <- answers do
            assert {:error, %Error{code: :resource_expired} = error} = answer
            assert_said(error)
          end

          for id <- ids, do: assert(DualResponse.get_resource(name, id) == nil)
          refute DualResponse.pin_resource(name, looked)
          refute DualResponse.delete_resource(name, looked)
          sweep(name)
          assert {:error, %Error{code: :resource_not_found}} = DualResponse.lookup(name, looked)
        end
      end
    end

    defp assert_said(error),
      do: assert({Error.code(error), Exception.message(error)} == {"RESOURCE_EXPIRED", "Resource not found or expired"})

    test "one that expires while its query runs is not found" do
      {clock, pass} = clock()
      name = server(clock: clock)
      execute = fn %{limit: limit} -> if(limit == 15, do: [], else: pass.(900_000) && []) end
      id = create!(name, 3, execute: execute).resource_id
      assert {:error, %Error{code: :resource_not_found}} = DualResponse.fetch(name, id)
    end

    test "one that is pinned never is" do
      {clock, pass} = clock()
      name = server(clock: clock)
      id = create!(name, 3).resource_id
      assert DualResponse.pin_resource(name, id)
      pass.(10_000_000_000)
      sweep(name)
      assert {:ok, %{returned_count: 3}} = DualResponse.fetch(name, id)
    end
  end

  @tag req: "R2"
  test "for any times, what is left is what has time left" do
    {clock, pass} = clock()
    name = server(clock: clock)
    McpServer.Properties.seed_random()
    times = for _ <- 1..200, do: :rand.uniform(1_000)
    ids = for time <- times, do: {time, create!(name, 1, expiration: time).resource_id}

    for now <- [0, 1, 250, 500, 999, 1_000] do
      pass.(now - clock.())
      for {time, id} <- ids, do: assert(DualResponse.get_resource(name, id) != nil == time > now)
      if now == 500, do: sweep(name)
    end

    sweep(name)
    assert kept(name) == %{resources: 0, bytes: 0}
  end

  if McpServer.Installed.here?(:proper) do
    @tag req: ["R2", "S1-21", "S1-22", "S1-23"]
    @tag McpServer.Installed.tags(:proper)
    test "whatever happens in whatever order, a resource is there as long as its time says" do
      which = :proper_types.choose(0, 5)

      command =
        :proper_types.frequency([
          {3, {:create, :proper_types.choose(1, 40)}},
          {4, {:pass, :proper_types.choose(1, 15)}},
          {3, {:fetch, which}},
          {1, {:pin, which}},
          {1, {:delete, which}},
          {1, {:sweep, 0}}
        ])

      type = {:proper_types.list(command), :proper_types.oneof([false, 20])}

      property =
        forall(type, fn {commands, extend} ->
          {clock, pass} = clock()
          name = server(clock: clock, extend_on_access: extend)
          world = %{name: name, pass: pass, extend: extend, now: 0, deadlines: [], ids: []}
          world = Enum.reduce(commands, world, &command/2)
          found = for id <- world.ids, do: DualResponse.get_resource(name, id) != nil
          DualResponse.shutdown(name)
          found == Enum.map(world.deadlines, &(&1 > world.now))
        end)

      holds(property, 200, 40)
    end

    # A deadline is a time, `:never` for a pinned resource (later than every number), or 0 for a deleted one.
    defp command({:create, time}, world) do
      id = create!(world.name, 1, expiration: time).resource_id
      %{world | ids: world.ids ++ [id], deadlines: world.deadlines ++ [world.now + time]}
    end

    defp command({:pass, time}, world) do
      world.pass.(time)
      %{world | now: world.now + time}
    end

    defp command({:sweep, _}, world) do
      sweep(world.name)
      world
    end

    defp command({_what, _which}, %{ids: []} = world), do: world

    defp command({what, which}, %{now: now} = world) do
      at = rem(which, length(world.ids))
      deadline = Enum.at(world.deadlines, at)
      assert act(what, world.name, Enum.at(world.ids, at)) == deadline > now
      deadline = if deadline > now, do: afterwards(what, deadline, world), else: deadline
      %{world | deadlines: List.replace_at(world.deadlines, at, deadline)}
    end

    defp act(:fetch, name, id), do: match?({:ok, _page}, DualResponse.fetch(name, id))
    defp act(:pin, name, id), do: DualResponse.pin_resource(name, id)
    defp act(:delete, name, id), do: DualResponse.delete_resource(name, id)

    defp afterwards(:pin, _deadline, _world), do: :never
    defp afterwards(:delete, _deadline, _world), do: 0
    defp afterwards(:fetch, deadline, %{extend: false}), do: deadline
    defp afterwards(:fetch, deadline, %{extend: extend, now: now}), do: max(deadline, now + extend)
  end

  describe "the cleanup" do
    @describetag req: "S1-14"
    test "deletes what has expired after one interval, without any access" do
      {clock, pass} = clock()
      name = server(clock: clock, cleanup_interval: 5)
      for _ <- 1..10, do: create!(name, 250, persist: :rows)
      assert kept(name).resources == 10
      pass.(900_000)
      until(fn -> kept(name) == %{resources: 0, bytes: 0} end)
    end

    @tag req: "R2"
    test "has one timer, whatever it is sent" do
      name = server(cleanup_interval: 600_000)

      timers =
        for _ <- 1..3 do
          send(name, :sweep)
          :sys.get_state(name).timer
        end

      assert [false, false, time] = Enum.map(timers, &Process.read_timer/1)
      assert time in 500_000..600_000
    end

    test "is done in parts" do
      {clock, pass} = clock()
      name = server(clock: clock, cleanup_interval: 600_000)
      for _ <- 1..1_100, do: create!(name, 0)
      pass.(900_000)
      send(name, :sweep)
      :sys.get_state(name)
      # The first part deletes five hundred, and the second may be running already.
      assert kept(name).resources <= 600
      until(fn -> kept(name).resources == 0 end)
      until(fn -> Process.info(Process.whereis(name), :message_queue_len) == {:message_queue_len, 0} end)
    end

    test "goes on after the store has failed" do
      {clock, pass} = clock()
      name = server(clock: clock, store: FailingStore)
      create!(name, 1, persist: :rows)
      pass.(900_000)
      FailingStore.fail(name, :find_expired, fn -> raise "no" end)
      assert capture_log(fn -> sweep(name) end) =~ "FailingStore.find_expired failed"
      FailingStore.heal(name, :find_expired)
      sweep(name)
      assert kept(name).resources == 0
    end

    test "pays no heed to messages that are none of its own" do
      name = server()
      send(name, :anything)
      assert %{opened: [{^name, _options} | _rooms]} = :sys.get_state(name)
    end
  end

  describe "extend_on_access" do
    test "gives a resource so much time from each fetch on" do
      {clock, pass} = clock()
      name = server(clock: clock, extend_on_access: 1_000, default_expiration: 1_000)
      id = create!(name, 3).resource_id

      for _ <- 1..5 do
        pass.(999)
        assert {:ok, _page} = DualResponse.fetch(name, id)
        sweep(name)
      end

      pass.(999)
      assert DualResponse.get_resource(name, id)
      pass.(1)
      assert {:error, %Error{code: :resource_expired}} = DualResponse.fetch(name, id)
      sweep(name)
      assert kept(name).resources == 0
    end

    test "never shortens it, and does not end a pin" do
      {clock, pass} = clock()
      name = server(clock: clock, extend_on_access: 1_000)
      [long, pinned] = for _ <- 1..2, do: create!(name, 3).resource_id
      assert DualResponse.pin_resource(name, pinned)
      for id <- [long, pinned], do: {:ok, _page} = DualResponse.fetch(name, id)
      pass.(899_999)
      assert DualResponse.get_resource(name, long)
      pass.(1)
      assert DualResponse.get_resource(name, long) == nil
      assert %{expires_at: nil} = DualResponse.get_resource(name, pinned)
    end
  end

  @tag req: "R2"
  test "setting the system's clock changes nothing: the default store goes by monotonic time" do
    name = server()
    {:ok, settings} = DualResponse.settings(name)
    assert settings.store.clock() == :monotonic
    id = create!(name, 1).resource_id
    now = System.monotonic_time(:millisecond)
    assert_in_delta DualResponse.get_resource(name, id).deadline, now + 900_000, 60_000
  end

  test "expiration: :infinity keeps a resource until it is deleted" do
    {clock, pass} = clock()
    name = server(clock: clock, default_expiration: :infinity)
    id = create!(name, 3).resource_id
    pass.(10_000_000_000)
    sweep(name)
    assert %{expires_at: nil, deadline: nil} = DualResponse.get_resource(name, id)
    id = create!(name, 3, expiration: 1).resource_id
    pass.(1)
    assert DualResponse.get_resource(name, id) == nil
  end

  defp until(fun) do
    unless fun.() do
      Process.sleep(1)
      until(fun)
    end
  end
end
