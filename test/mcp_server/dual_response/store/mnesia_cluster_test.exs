defmodule McpServer.DualResponse.Store.MnesiaClusterTest do
  # The Mnesia store on two and three nodes, each in a separate VM.
  use ExUnit.Case, async: true

  @moduletag slow: "nodes in VMs of their own"

  import McpServer.MnesiaCluster

  alias McpServer.{DualResponse, MnesiaCluster}
  alias McpServer.DualResponse.Store.Mnesia.Member
  alias McpServer.DualResponse.StoreCase

  @moduletag McpServer.Installed.tags([:mnesia, :epmd])
  @moduletag :capture_log
  @moduletag timeout: 180_000
  @pinned %{deadline: nil, expires_at: nil}

  setup_all do
    McpServer.Epmd.start()
  end

  setup do
    {:ok, now: System.system_time(:millisecond)}
  end

  defp cluster(count) do
    id = System.unique_integer([:positive])

    Enum.reduce(1..count, [], fn n, vms ->
      vms ++ [start("store#{n}-#{id}", connect: vms)]
    end)
  end

  defp save(vm, resource, rows \\ nil) do
    {:ok, id} = store(vm, :save, [resource, rows])
    {nil, id}
  end

  defp touch(vm, key, now), do: store(vm, :touch, [key, %{last_accessed_at: ~U[2025-01-15 10:31:00Z]}, now])
  defp count(vm, key), do: vm |> store(:get, [key]) |> elem(1) |> Map.fetch!(:access_count)
  defp whole?(vms), do: Enum.all?(vms, &(length(running(&1)) == length(vms)))

  for nodes <- [2, 3] do
    describe "#{nodes} nodes" do
      @tag req: "R9"
      test "what is written on one is read on all at once", %{now: now} do
        vms = cluster(unquote(nodes))
        rows = StoreCase.rows(450)

        for writer <- vms do
          resource = StoreCase.expiring(now + 60_000, persist: :rows, query: nil, total_count: 450)
          key = save(writer, resource, rows)

          for reader <- vms do
            assert store(reader, :get, [key]) == {:ok, resource}
            assert store(reader, :rows, [key, 190, 20]) == {:ok, Enum.slice(rows, 190, 20)}
          end

          [one | _others] = Enum.reverse(vms)
          assert store(one, :update, [key, @pinned, now]) == :ok
          for reader <- vms, do: assert({:ok, %{deadline: nil}} = store(reader, :get, [key]))
          assert store(one, :delete, [key]) == :ok
          for reader <- vms, do: assert(store(reader, :get, [key]) == :not_found)
        end
      end

      @tag req: "S1-43"
      test "64 writers on all of them lose no access", %{now: now} do
        vms = cluster(unquote(nodes))
        key = save(hd(vms), StoreCase.resource())

        StoreCase.at_once(64, fn n ->
          vm = Enum.at(vms, rem(n, unquote(nodes)))
          for _ <- 1..10, do: :ok = touch(vm, key, now)
        end)

        for vm <- vms, do: eventually(fn -> count(vm, key) == 640 end)
      end

      @tag req: ["R8", "R9"]
      test "one is killed: nothing is lost, and it catches up when it returns", %{now: now} do
        id = System.unique_integer([:positive])
        [killed | others] = vms = cluster(unquote(nodes))
        name = killed.node |> Atom.to_string() |> String.split("-#{System.pid()}@") |> hd()

        keys = for n <- 1..30, do: save(Enum.at(vms, rem(n, unquote(nodes))), StoreCase.expiring(now + 600_000))
        for key <- Enum.take(keys, 10), do: :ok = store(killed, :update, [key, @pinned, now])
        kill(killed)

        for vm <- others do
          eventually(fn -> killed.node not in running(vm) end)
          for key <- keys, do: assert({:ok, _resource} = store(vm, :get, [key]))
          for key <- Enum.take(keys, 10), do: assert({:ok, %{deadline: nil}} = store(vm, :get, [key]))
        end

        # Changes while the node is down.
        [survivor | _rest] = others
        new = save(survivor, StoreCase.resource(name: "made meanwhile #{id}"), StoreCase.rows(5))
        :ok = store(survivor, :delete, [hd(keys)])
        :ok = touch(survivor, Enum.at(keys, 1), now)

        returned = start(name, connect: others)
        assert returned.node == killed.node
        assert {:ok, %{name: "made meanwhile " <> _id}} = store(returned, :get, [new])
        assert store(returned, :rows, [new, 0, :all]) == {:ok, StoreCase.rows(5)}
        assert store(returned, :get, [hd(keys)]) == :not_found
        assert count(returned, Enum.at(keys, 1)) == 1
        for key <- tl(keys), do: assert({:ok, _resource} = store(returned, :get, [key]))
        assert whole?([returned | others])
      end

      @tag req: "R2"
      test "what has expired is deleted by one of them, everywhere", %{now: now} do
        vms = cluster(unquote(nodes))
        keys = for n <- 1..40, do: save(hd(vms), StoreCase.expiring(now - n))

        deleted =
          StoreCase.at_once(unquote(nodes), fn n -> store(Enum.at(vms, n - 1), :delete_expired, [now, 1_000]) end)

        assert Enum.sort(for {:ok, some} <- deleted, key <- some, do: key) == Enum.sort(keys)
        for vm <- vms, do: eventually(fn -> store(vm, :size, []) == {:ok, %{resources: 0, bytes: 0}} end)
      end
    end
  end

  describe "a split network" do
    @describetag req: "R9"
    test "of two nodes: each goes on with its side, and both are whole again afterwards", %{now: now} do
      [one, other] = cluster(2)
      [both, pinned, deleted, used] = for _ <- 1..4, do: save(one, StoreCase.expiring(now + 600_000))
      cut(one, other)

      # Each side creates, pins, deletes and counts without the other.
      mine = save(one, StoreCase.resource(name: "one"), StoreCase.rows(250))
      theirs = save(other, StoreCase.resource(name: "other"), StoreCase.rows(10))
      assert store(other, :get, [mine]) == :not_found
      assert store(one, :get, [theirs]) == :not_found
      assert {:ok, %{name: "Institutions"}} = store(one, :get, [both])
      assert store(other, :get, [both]) == store(one, :get, [both])
      :ok = store(other, :update, [pinned, @pinned, now])
      :ok = store(other, :delete, [deleted])
      :ok = store(one, :update, [deleted, @pinned, now])
      for _ <- 1..3, do: :ok = touch(one, used, now)
      for _ <- 1..5, do: :ok = touch(other, used, now)

      join(one, other)
      for vm <- [one, other], do: eventually(fn -> whole?([one, other]) and count(vm, used) == 5 end)

      for vm <- [one, other] do
        eventually(fn -> store(vm, :get, [deleted]) == :not_found end)
        assert {:ok, %{name: "one"}} = store(vm, :get, [mine])
        assert store(vm, :rows, [mine, 0, :all]) == {:ok, StoreCase.rows(250)}
        assert {:ok, %{name: "other"}} = store(vm, :get, [theirs])
        assert store(vm, :rows, [theirs, 0, :all]) == {:ok, StoreCase.rows(10)}
        assert {:ok, %{deadline: nil}} = store(vm, :get, [pinned])
      end

      # The nodes are connected again: one node reads the other's writes.
      later = save(other, StoreCase.resource(name: "later"))
      assert {:ok, %{name: "later"}} = store(one, :get, [later])
    end

    test "of three nodes: the one that is alone moves to the others", %{now: now} do
      [alone, one, other] = vms = cluster(3)
      key = save(alone, StoreCase.resource())
      cut(alone, one)
      cut(alone, other)

      mine = save(alone, StoreCase.resource(name: "alone"))
      theirs = save(one, StoreCase.resource(name: "the others"))
      assert {:ok, %{name: "the others"}} = store(other, :get, [theirs])
      assert store(alone, :get, [theirs]) == :not_found
      starts = for vm <- [one, other], do: call(vm, Process, :whereis, [:mnesia_sup])

      join(alone, one)
      join(alone, other)
      eventually(fn -> whole?(vms) and Enum.all?(vms, &match?({:ok, _all}, store(&1, :get, [mine]))) end)
      for vm <- vms, made <- [key, mine, theirs], do: assert({:ok, _resource} = store(vm, :get, [made]))
      for vm <- vms, do: assert(touch(vm, key, now) == :ok)
      for vm <- vms, do: eventually(fn -> count(vm, key) == 3 end)

      # The larger side was not restarted.
      assert starts == for(vm <- [one, other], do: call(vm, Process, :whereis, [:mnesia_sup]))
    end

    test "that was split when the nodes started is one database afterwards" do
      id = System.unique_integer([:positive])
      [one, other] = for n <- 1..2, do: start("apart#{n}-#{id}")
      made = for vm <- [one, other], do: save(vm, StoreCase.resource(name: "#{vm.node}"), StoreCase.rows(3))
      join(one, other)
      eventually(fn -> whole?([one, other]) end)

      for vm <- [one, other], key <- made do
        eventually(fn -> match?({:ok, _resource}, store(vm, :get, [key])) end)
        assert store(vm, :rows, [key, 0, :all]) == {:ok, StoreCase.rows(3)}
      end
    end

    test "does not restart a Mnesia that holds tables of the application", %{now: now} do
      [one, other] = vms = cluster(2)
      for vm <- vms, do: call(vm, :mnesia, :create_table, [:"of_#{vm.node}", []])
      key = save(one, StoreCase.expiring(now + 600_000))
      cut(one, other)
      starts = for vm <- vms, do: call(vm, Process, :whereis, [:mnesia_sup])
      join(one, other)

      # Both nodes have handled the message when they reply.
      for vm <- vms do
        call(vm, Kernel, :send, [Member, :reconcile])
        call(vm, :sys, :get_state, [Member, 30_000])
      end

      assert starts == for(vm <- vms, do: call(vm, Process, :whereis, [:mnesia_sup]))
      for vm <- vms, do: assert({:ok, _resource} = store(vm, :get, [key]))
    end
  end

  @tag req: "S1-41"
  test "servers of that name on all nodes serve one resource" do
    [one, other] = cluster(2)
    rows = [name: "Rows", columns: [%{name: "n"}], rows: [%{"n" => 1}, %{"n" => 2}]]
    {:ok, %{resource_id: id}} = call(one, DualResponse, :create_response, [MnesiaCluster, rows])
    page = [MnesiaCluster, id, %{offset: 1}]
    assert {:ok, %{data: [%{"n" => 2}], total_count: 2}} = call(other, DualResponse, :fetch, page)
    assert call(other, DualResponse, :pin_resource, [MnesiaCluster, id])
    assert %{expires_at: nil, access_count: 1} = call(one, DualResponse, :get_resource, [MnesiaCluster, id])
    kill(one)
    assert {:ok, %{data: [%{"n" => 2}]}} = call(other, DualResponse, :fetch, page)
    assert call(other, DualResponse, :delete_resource, [MnesiaCluster, id])
  end

  defp on_disc(id) do
    parent = Path.join(System.tmp_dir!(), "mcp_mnesia_#{System.pid()}_#{id}")
    on_exit(fn -> File.rm_rf!(parent) end)
    File.mkdir_p!(parent)
    fn n -> [storage: :disc_copies, dir: Path.join(parent, "#{n}")] end
  end

  @tag req: "R9"
  test "a network that was split comes together with copies on disc as well, and they outlive that" do
    id = System.unique_integer([:positive])
    options = on_disc(id)
    one = start("split1-#{id}", options.(1))
    other = start("split2-#{id}", [connect: [one]] ++ options.(2))
    cut(one, other)
    made = for vm <- [one, other], do: save(vm, StoreCase.resource(name: "#{vm.node}"), StoreCase.rows(3))
    join(one, other)
    eventually(fn -> whole?([one, other]) and match?({:ok, _all}, store(one, :get, [Enum.at(made, 1)])) end)
    eventually(fn -> match?({:ok, _all}, store(other, :get, [Enum.at(made, 0)])) end)

    for vm <- [one, other], do: kill(vm)
    other = start("split2-#{id}", options.(2))
    for key <- made, do: assert(store(other, :rows, [key, 0, :all]) == {:ok, StoreCase.rows(3)})
  end

  @tag req: "R9"
  test "what is confirmed while a node moves is not lost" do
    [one, other] = cluster(2)
    cut(one, other)
    writer = Task.async(fn -> save_until(other, one.node, []) end)
    join(one, other)
    confirmed = Task.await(writer, 60_000)
    assert confirmed != []
    eventually(fn -> whole?([one, other]) end)

    for key <- confirmed, vm <- [one, other] do
      eventually(fn -> match?({:ok, _resource}, store(vm, :get, [key])) end)
    end
  end

  # Saves until the node has joined the other. Until then errors are returned to the caller.
  defp save_until(vm, joined, confirmed) do
    confirmed =
      case store(vm, :save, [StoreCase.resource(), nil]) do
        {:ok, id} -> [{nil, id} | confirmed]
        {:error, _reason} -> confirmed
      end

    running = running(vm)
    if is_list(running) and joined in running, do: confirmed, else: save_until(vm, joined, confirmed)
  end

  @tag req: "R8"
  test "copies on disc outlive all nodes" do
    id = System.unique_integer([:positive])
    options = on_disc(id)
    one = start("disc1-#{id}", options.(1))
    other = start("disc2-#{id}", [connect: [one]] ++ options.(2))
    key = save(one, StoreCase.resource(), StoreCase.rows(450))
    kill(other)
    eventually(fn -> other.node not in running(one) end)
    late = save(one, StoreCase.resource(name: "late"))
    kill(one)

    # The node that stopped last starts first.
    one = start("disc1-#{id}", options.(1))
    other = start("disc2-#{id}", [connect: [one]] ++ options.(2))

    for vm <- [one, other] do
      assert store(vm, :rows, [key, 0, :all]) == {:ok, StoreCase.rows(450)}
      assert {:ok, %{name: "late"}} = store(vm, :get, [late])
    end
  end
end
