defmodule McpServer.DualResponse.Store.ETS.KeeperTest do
  # Not async: kills processes that all stores in memory share.
  use ExUnit.Case, async: false

  alias McpServer.DualResponse
  alias McpServer.DualResponse.Store.ETS
  alias McpServer.DualResponse.Store.ETS.Keeper
  alias McpServer.DualResponse.StoreCase

  @moduletag :capture_log

  defp kill(name) do
    old = Process.whereis(name)
    monitor = Process.monitor(old)
    Process.exit(old, :kill)
    assert_receive {:DOWN, ^monitor, :process, ^old, :killed}
    old
  end

  defp successor(name, old) do
    case Process.whereis(name) do
      pid when pid in [nil, old] ->
        Process.sleep(1)
        successor(name, old)

      # A process that replies has finished its start.
      pid ->
        :sys.get_state(pid)
        pid
    end
  end

  # Earlier, the owner of the tables and its heir were siblings: killed together, they lost all tables.
  @tag req: "R8"
  test "whatever is killed at once below the application, nothing that was saved is lost" do
    {:ok, ref} = ETS.init(server: KeptTables)
    on_exit(fn -> ETS.close(ref) end)
    ids = for _ <- 1..100, do: elem(ETS.save(ref, StoreCase.resource(), StoreCase.rows(3)), 1)

    for _round <- 1..20 do
      keepers = keepers()
      for pid <- keepers, do: Process.exit(pid, :kill)
      for id <- ids, do: assert({:ok, _resource} = ETS.get(ref, {nil, id}))
      for pid <- keepers, do: await_end(pid)
      assert ETS.init(server: successor(Keeper, hd(keepers)) && KeptTables) == {:ok, ref}
    end

    for id <- ids, do: assert(ETS.rows(ref, {nil, id}, 0, :all) == {:ok, StoreCase.rows(3)})
  end

  # The application's children that keep tables of stores.
  defp keepers do
    for {id, pid, _type, _modules} <- Supervisor.which_children(McpServer.Supervisor),
        String.starts_with?(inspect(id), inspect(Keeper)),
        do: pid
  end

  defp await_end(pid) do
    monitor = Process.monitor(pid)
    assert_receive {:DOWN, ^monitor, :process, ^pid, _reason}
  end

  @tag req: "R8"
  test "tables that a killed keeper has left in no index are deleted" do
    {:ok, ref} = ETS.init(server: KeptTables)
    on_exit(fn -> ETS.close(ref) end)
    stray = :ets.new(ETS, [:public])
    successor(Keeper, kill(Keeper))
    assert :ets.info(stray) == :undefined
    assert ETS.size(ref) == {:ok, %{resources: 0, bytes: 0}}
  end

  @tag req: "R8"
  test "under load every kill leaves all that was created" do
    start_supervised!({DualResponse, name: Loaded, base_url: "http://localhost/r"})
    columns = [%{name: "n", type: "number"}]

    creators =
      for _ <- 1..4 do
        Task.async(fn ->
          for _ <- 1..300 do
            {:ok, response} = DualResponse.create_response(Loaded, name: "x", rows: StoreCase.rows(2), columns: columns)
            response.resource_id
          end
        end)
      end

    for name <- [Loaded, Keeper, Loaded, Keeper, Loaded, Keeper], do: successor(name, kill(name))
    ids = creators |> Task.await_many(60_000) |> Enum.concat()
    assert length(ids) == 1_200
    for id <- ids, do: assert({:ok, %{returned_count: 2}} = DualResponse.fetch(Loaded, id))
    DualResponse.shutdown(Loaded)
  end

  @tag req: "R8"
  test "the tables of a server that nobody starts again are given up" do
    {opener, ref} = opened_and_left(NobodyThere)
    send(Keeper, {:abandoned, opener})
    :sys.get_state(Keeper)
    assert :ets.info(ref.records) == :undefined
    assert ETS.close(ref) == :ok
  end

  test "those of one that runs are not" do
    {opener, ref} = opened_and_left(SomebodyThere)
    start_supervised!({DualResponse, name: SomebodyThere, base_url: "http://localhost/r"})
    assert {:ok, %{ref: ^ref}} = DualResponse.settings(SomebodyThere)
    send(Keeper, {:abandoned, opener})
    send(Keeper, :anything)
    :sys.get_state(Keeper)
    assert ETS.size(ref) == {:ok, %{resources: 0, bytes: 0}}
  end

  defp opened_and_left(server) do
    task = Task.async(fn -> ETS.init(server: server) end)
    {:ok, ref} = Task.await(task)
    {task.pid, ref}
  end
end
