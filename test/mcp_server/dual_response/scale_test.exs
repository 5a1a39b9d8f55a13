defmodule McpServer.DualResponse.ScaleTest do
  # Not async: measures the whole node. The numbers in the names are those of `MCP_SCALE=20`.
  use ExUnit.Case, async: false

  import McpServer.DualResponses
  import McpServer.HttpCase, only: [eventually: 1, scaled: 1]

  alias McpServer.DualResponse

  @moduletag timeout: 600_000

  defp memory do
    for pid <- Process.list(), do: :erlang.garbage_collect(pid)
    :erlang.memory([:binary, :ets, :processes]) |> Map.new()
  end

  defp report(text), do: IO.puts(:stderr, "#{inspect(__MODULE__)}: #{text}")

  defp megabytes(bytes), do: :erlang.float_to_binary(bytes / 1_048_576, decimals: 1)

  @tag req: "R4"
  test "100,000 resources with expiry: memory is back where it was" do
    count = scaled(5_000)
    {clock, pass} = clock()
    name = server(clock: clock, max_resources: count, max_bytes: 2_000_000_000, cleanup_interval: 600_000)
    # Loads code and grows tables before the measurement.
    for _ <- 1..1_000, do: create!(name, 30, persist: :rows)
    pass.(900_000)
    sweep(name)
    before = memory()

    {time, :ok} = :timer.tc(fn -> create(name, count) end)
    assert kept(name).resources == count
    full = memory()
    report("#{count} resources created in #{div(time, 1000)} ms, #{used(full, before)}")

    pass.(900_000)
    {time, :ok} = :timer.tc(fn -> sweep(name) end)
    assert kept(name) == %{resources: 0, bytes: 0}
    afterwards = memory()
    report("all of them expired and deleted in #{div(time, 1000)} ms, #{used(afterwards, before)}")

    # A hundredth of the used memory, and a reserve for the emulator. Other processes may free theirs a moment later.
    eventually(fn ->
      Enum.all?(memory(), fn {kind, bytes} ->
        bytes - before[kind] < (full[kind] - before[kind]) / 100 + 2_000_000
      end)
    end)
  end

  # Half of the resources store rows whose texts are parts of large binaries, like those of database drivers.
  defp create(name, count) do
    parts = for n <- 0..9, do: binary_part(:binary.copy(<<n>>, 20_000), 0, 200)
    rows = for {part, n} <- Enum.with_index(parts), do: %{"n" => n, "text" => part}

    1..count
    |> Task.async_stream(
      fn n ->
        source = if rem(n, 2) == 0, do: [rows: rows], else: [execute: fn _ -> rows end, count: fn -> n end]
        {:ok, _response} = DualResponse.create_response(name, [name: "x", columns: []] ++ source)
      end,
      ordered: false
    )
    |> Stream.run()
  end

  defp used(now, before) do
    Enum.map_join(now, ", ", fn {kind, bytes} -> "#{kind} #{megabytes(bytes - before[kind])} MiB more" end)
  end

  @tag req: "R5"
  test "10,000 readers while a resource is pinned, another deleted, a third expired" do
    count = scaled(500)
    {clock, pass} = clock()
    name = server(clock: clock)
    whole = :erlang.phash2(rows(250))

    [pinned, deleted, expired] =
      for time <- [900_000, 900_000, 1_000] do
        create!(name, 250, persist: :rows, expiration: time).resource_id
      end

    # The resources change during the reads.
    changes = %{
      div(count, 4) => fn -> true = DualResponse.pin_resource(name, pinned) end,
      div(count, 2) => fn -> true = DualResponse.delete_resource(name, deleted) end,
      div(count * 3, 4) => fn -> pass.(1_000) && sweep(name) end
    }

    readers =
      for n <- 1..count do
        id = Enum.at([pinned, deleted, expired], rem(n, 3))
        change = Map.get(changes, n, fn -> :ok end)

        Task.async(fn ->
          [first | rest] = for _ <- 1..5, do: fn -> read(name, id, whole) end
          {id, [first.() | change.() && Enum.map(rest, & &1.())]}
        end)
      end

    answers = Task.await_many(readers, 300_000)

    for {id, answers} <- answers, answer <- answers do
      assert answer == :whole or (id != pinned and answer in [:resource_not_found, :resource_expired])
    end

    all = for {_id, answers} <- answers, answer <- answers, do: answer
    report("#{count} readers, 5 reads of 250 rows each: #{inspect(Enum.frequencies(all))}")
    assert %{expires_at: nil, access_count: reads} = DualResponse.get_resource(name, pinned)
    assert reads == Enum.count(answers, fn {id, _answers} -> id == pinned end) * 5
    for id <- [deleted, expired], do: assert(read(name, id, whole) == :resource_not_found)
  end

  # Only a hash, because the rows would be ten thousand copies.
  defp read(name, id, whole) do
    case DualResponse.fetch(name, id, %{limit: 250}) do
      {:ok, page} -> if :erlang.phash2(page.data) == whole, do: :whole, else: :part
      {:error, error} -> error.code
    end
  end

  defp kept(name) do
    {:ok, %{store: store, ref: ref}} = DualResponse.settings(name)
    {:ok, size} = store.size(ref)
    size
  end

  # Sweeps until no expired resource is left.
  defp sweep(name) do
    send(name, :sweep)
    {:ok, %{store: store, ref: ref} = settings} = DualResponse.settings(name)
    :sys.get_state(name)
    {:ok, expired} = store.find_expired(ref, McpServer.DualResponse.Options.now(settings), 1)
    if expired == [], do: :ok, else: sweep(name)
  end
end
