defmodule McpServer.Call.ReaperTest do
  # Not async: other tests kill the keeper, and its successor watches the same processes again.
  use ExUnit.Case, async: false

  import McpServer.HttpCase, only: [eventually: 1]

  alias McpServer.Call.Reaper
  alias McpServer.{HttpPeer, HttpRequests, Processes, Quota}
  alias McpServer.Quota.Keeper

  # How often the keeper monitors a process. The keeper itself is asked: the monitored process may learn of a monitor
  # only after the keeper has answered others.
  defp monitors(pid) do
    :sys.get_state(Keeper)
    {:monitors, monitors} = Process.info(Process.whereis(Keeper), :monitors)
    Enum.count(monitors, &(&1 == {:process, pid}))
  end

  # A web server's process serves many requests. Earlier, each of them left a monitor.
  test "watching again adds nothing" do
    test = self()

    pid =
      spawn_link(fn ->
        for _ <- 1..100, do: Keeper.watch()
        send(test, :watched)
        receive do: (:stop -> :ok)
      end)

    assert_receive :watched
    assert monitors(pid) == 1

    reference = Process.monitor(pid)
    send(pid, :stop)
    assert_receive {:DOWN, ^reference, :process, ^pid, :normal}
    :sys.get_state(Keeper)
    assert :ets.lookup(Keeper, pid) == []
  end

  # Earlier, one client could have all of the node's, and had them for the whole time.
  test "a client has a quarter of the processes that may clean up, until they end" do
    start = fn -> spawn(fn -> receive(do: (:end -> :ok)) end) end
    processes = for _ <- 1..250, do: start.()
    eve = {:principal, "cleanups of eve"}
    for pid <- processes, do: assert(Reaper.kill_after(pid, 60_000, eve) == :ok)
    [refused, other, late] = for _ <- 1..3, do: start.()
    assert Reaper.kill_after(refused, 60_000, eve) == :full
    assert Reaper.kill_after(other, 60_000, {:principal, "cleanups of ada"}) == :ok
    send(hd(processes), :end)
    eventually(fn -> Reaper.kill_after(late, 60_000, eve) == :ok end)
    for pid <- [refused, other, late | processes], do: send(pid, :end)
    eventually(fn -> Quota.held(Quota.of_node(), :cleanups, eve) == 0 end)
  end

  test "a process that cleans up too long is killed" do
    {pid, monitor} = spawn_monitor(fn -> Process.sleep(:infinity) end)
    assert Reaper.kill_after(pid, 10, nil) == :ok
    assert_receive {:DOWN, ^monitor, :process, ^pid, :killed}, 30_000
  end

  # Earlier, they survived the stop, and nobody ended them any more.
  test "processes that clean up end when the application stops" do
    {pid, monitor} = spawn_monitor(fn -> Process.sleep(:infinity) end)
    assert Reaper.kill_after(pid, 600_000, nil) == :ok
    on_exit(fn -> Supervisor.restart_child(McpServer.Supervisor, Reaper) end)
    :ok = Supervisor.terminate_child(McpServer.Supervisor, Reaper)
    assert_receive {:DOWN, ^monitor, :process, ^pid, :killed}
  end

  # Bandit clears the process dictionary of a connection's process between requests.
  defmodule Forgetful do
    @moduledoc false
    def init({test, options}), do: {test, McpServer.HttpPlug.init(options)}

    def call(conn, {test, options}) do
      for {key, _value} <- Process.get(), is_tuple(key), do: Process.delete(key)
      send(test, {:served_by, self()})
      McpServer.HttpPlug.call(conn, options)
    end
  end

  test "a process of a web server is watched once, however many requests it serves" do
    port = McpServer.Test.PlugServer.start_plug({Forgetful, {self(), [router: McpServer.HttpRouter]}})
    peer = HttpPeer.connect(port)
    for _ <- 1..20, do: assert(HttpPeer.request(peer, HttpRequests.modern("tools/list", %{})).status == 200)
    assert_receive {:served_by, pid}
    assert monitors(pid) == 1
  end

  test "a keeper that crashed monitors everybody again" do
    quota = Quota.new(:server, %{})
    test = self()

    taker =
      spawn(fn ->
        :ok = Quota.take(Quota.own(quota), :calls, {:principal, "eve"}, 1)
        send(test, :taken)
        Process.sleep(:infinity)
      end)

    assert_receive :taken
    keeper = Process.whereis(Keeper)
    Process.exit(keeper, :kill)
    eventually(fn -> Process.whereis(Keeper) not in [nil, keeper] end)
    assert {Quota.held(quota, :calls), Quota.held(quota, :calls, {:principal, "eve"})} == {1, 1}
    Process.exit(taker, :kill)
    eventually(fn -> {Quota.held(quota, :calls), Quota.held(quota, :calls, {:principal, "eve"})} == {0, 0} end)
  end

  test "the calls of a connection that is killed end with it, and those of others do not" do
    test = self()

    connection =
      spawn(fn ->
        Keeper.watch()
        send(test, {:call, spawn(fn -> Process.sleep(:infinity) end)})
        Process.sleep(:infinity)
      end)

    other = spawn_link(fn -> Process.sleep(:infinity) end)
    assert_receive {:call, call}
    :sys.get_state(Keeper)
    reference = Processes.monitor(call)
    Process.exit(connection, :kill)
    assert_receive {:DOWN, ^reference, :process, ^call, :killed}
    assert Process.alive?(other)
  end
end
