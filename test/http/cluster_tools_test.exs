defmodule McpServer.HttpClusterToolsTest do
  # Run-time tools on three nodes: each node has them and notifies the affected clients, and only those.
  use McpServer.HttpCase, async: true

  @moduletag slow: "nodes in VMs of their own"

  alias McpServer.{Changes, Epmd, HttpRouter, HttpVm, Tools}
  alias McpServer.Tools.Server

  @moduletag :capture_log
  @moduletag timeout: 120_000

  @moduletag McpServer.Installed.tags(:epmd)

  @tool [name: "put", description: "Was put", inputSchema: %{"type" => "object"}]
  @handler {McpServer.Handlers, :echo}

  setup_all do
    Epmd.start()
  end

  defp vm(name), do: HttpVm.start(lazy: true, name: name, serve: [identify: &HttpVm.identify/1])

  defp listen(vm, user) do
    request = as(modern("subscriptions/listen", %{"notifications" => %{"toolsListChanged" => true}}), user)
    {peer, %{body: :stream}} = HttpClient.open(vm.server, request)
    assert %{"method" => "notifications/subscriptions/acknowledged"} = HttpClient.message(peer)
    peer
  end

  defp next(peer), do: HttpClient.message(peer)["method"]

  defp call(vm, user), do: HttpClient.answer(vm.server, as(modern_call("put"), user))

  defp has?(vm, user) do
    %{"result" => %{"tools" => tools}} = HttpClient.answer(vm.server, as(modern("tools/list"), user))
    Enum.any?(tools, &(&1["name"] == "put"))
  end

  defp put(vm, scope), do: HttpVm.call(vm, Tools, :put, [scope, @tool, @handler])

  test "a tool of a principal is there on all nodes, also on one that comes later" do
    [one, two] = for name <- ["one", "two"], do: vm(name)
    HttpVm.connect(one, two)
    assert :ok = put(one, {HttpRouter, principal: "ada"})
    for vm <- [one, two], do: eventually(fn -> has?(vm, "ada") end)
    three = vm("three")
    for vm <- [one, two], do: HttpVm.connect(three, vm)
    eventually(fn -> has?(three, "ada") end)

    for vm <- [one, two, three] do
      assert %{"result" => %{"content" => [_]}} = call(vm, "ada")
      assert %{"error" => %{"code" => -32602, "message" => "Tool 'put' not found"}} = call(vm, "bob")
      refute has?(vm, "bob")
    end

    # Deleted on a node that did not store it.
    assert :ok = HttpVm.call(three, Tools, :delete, [{HttpRouter, principal: "ada"}, "put"])
    for vm <- [one, two, three], do: eventually(fn -> not has?(vm, "ada") end)
  end

  test "a change reaches those whom it concerns on all nodes, and nobody else" do
    vms = [one, two, three] = for name <- ["one", "two", "three"], do: vm(name)
    for {a, b} <- [{one, two}, {one, three}, {two, three}], do: HttpVm.connect(a, b)
    streams = for vm <- vms, user <- ["ada", "bob"], do: {user, listen(vm, user)}
    for vm <- vms, do: eventually(fn -> length(HttpVm.call(vm, Changes.Hub, :others, [HttpRouter])) == 2 end)

    assert :ok = put(two, {HttpRouter, principal: "ada"})
    for {"ada", peer} <- streams, do: assert(next(peer) == "notifications/tools/list_changed")

    HttpVm.call(three, Changes, :tools_changed, [HttpRouter, [to: [principal: "ada"]]])
    for {"ada", peer} <- streams, do: assert(next(peer) == "notifications/tools/list_changed")

    for {"bob", peer} <- streams, do: assert(quiet?(peer))
    assert :ok = put(one, {HttpRouter, principal: "bob"})
    for {"bob", peer} <- streams, do: assert(next(peer) == "notifications/tools/list_changed")
    for {"bob", peer} <- streams, do: assert(quiet?(peer))
    for {"ada", peer} <- streams, do: assert(quiet?(peer))
  end

  test "a tag is disabled on all nodes, also on one that comes later, for whom it concerns" do
    [one, two] = for name <- ["one", "two"], do: vm(name)
    HttpVm.connect(one, two)
    assert :ok = HttpVm.call(one, Tools, :put, [HttpRouter, @tool ++ [tags: ["beta"]], @handler])
    for vm <- [one, two], do: eventually(fn -> has?(vm, "ada") and has?(vm, "bob") end)
    streams = for vm <- [one, two], user <- ["ada", "bob"], do: {user, listen(vm, user)}
    assert :ok = HttpVm.call(two, Tools, :disable, [{HttpRouter, principal: "ada"}, [tag: "beta"]])
    for {"ada", peer} <- streams, do: assert(next(peer) == "notifications/tools/list_changed")
    for {"bob", peer} <- streams, do: assert(quiet?(peer))
    three = vm("three")
    for vm <- [one, two], do: HttpVm.connect(three, vm)

    for vm <- [one, two, three] do
      eventually(fn -> has?(vm, "bob") and not has?(vm, "ada") end)
      assert %{"error" => %{"code" => -32602, "message" => "Tool 'put' not found"}} = call(vm, "ada")
    end
  end

  test "a change at one node holds on all nodes, whatever the clock says of the earlier one" do
    [one, two] = for name <- ["one", "two"], do: vm(name)
    HttpVm.connect(one, two)
    scope = {HttpRouter, principal: "ada"}
    assert :ok = HttpVm.call(one, Tools, :put, [HttpRouter, @tool ++ [tags: ["beta"]], @handler])
    assert :ok = HttpVm.call(one, Tools, :enable, [scope, [tag: "beta"]])
    for vm <- [one, two], do: eventually(fn -> rows(vm) == 2 end)
    # As if the first node's clock were ahead.
    later = for {key, {time, node}, value} <- stored(one), do: {key, {time + 10_000_000, node}, value}
    for vm <- [one, two], do: HttpVm.call(vm, GenServer, :cast, [Server, {:rows, later}])
    for vm <- [one, two], do: eventually(fn -> Enum.sort(stored(vm)) == Enum.sort(later) end)

    assert :ok = HttpVm.call(two, Tools, :disable, [scope, [tag: "beta"]])
    for vm <- [one, two], do: eventually(fn -> not has?(vm, "ada") and has?(vm, "bob") end)
    assert %{"error" => %{"message" => "Tool 'put' not found"}} = call(one, "ada")
    assert :ok = HttpVm.call(two, Tools, :delete, [HttpRouter, "put"])
    for vm <- [one, two], do: eventually(fn -> not has?(vm, "bob") end)
    assert %{"error" => %{"message" => "Tool 'put' not found"}} = call(one, "bob")
    assert :ok = put(one, HttpRouter)
    for vm <- [one, two], do: eventually(fn -> has?(vm, "bob") end)
  end

  defp stored(vm), do: for({_key, _version, _value} = row <- HttpVm.call(vm, :ets, :tab2list, [Server]), do: row)
  defp rows(vm), do: length(stored(vm))

  test "a log message reaches a principal's sessions on all nodes" do
    [one, two] = for name <- ["one", "two"], do: vm(name)
    HttpVm.connect(one, two)

    [{"ada", ada}, {"bob", bob}] =
      for user <- ["ada", "bob"] do
        session = HttpSession.open(one.server, "2025-11-25", headers: [{"authorization", "Bearer " <> user}])
        {peer, %{body: :stream}} = HttpSession.open_stream(session, get_stream())
        {user, peer}
      end

    # The first message is the client's own.
    for {user, peer} <- [{"ada", ada}, {"bob", bob}] do
      message = [log: "to " <> user, level: :error]
      assert :ok = HttpVm.call(two, McpServer, :notify, [{HttpRouter, principal: user}, message])
      assert HttpClient.message(peer)["params"] == %{"level" => "error", "data" => "to " <> user}
    end
  end

  test "what a node put for its sessions goes with the node" do
    [one, two] = for name <- ["one", "two"], do: vm(name)
    HttpVm.connect(one, two)
    session = HttpSession.open(one.server, "2025-11-25", headers: [{"authorization", "Bearer ada"}])
    scope = {HttpRouter, session: session.id}
    assert :ok = put(one, scope)
    eventually(fn -> HttpVm.call(two, Tools, :names, [scope]) == ["put"] end)

    # Other nodes know its sessions, too.
    assert :ok = put(two, scope)
    none = {:error, "no session of this router with this id is open"}
    assert put(two, {HttpRouter, session: "never was"}) == none
    ended = HttpSession.open(one.server)
    assert HttpSession.delete(ended).status == 204
    for vm <- [one, two], do: assert(put(vm, {HttpRouter, session: ended.id}) == none)
    HttpVm.stop(one)
    eventually(fn -> HttpVm.call(two, Tools, :names, [scope]) == [] end)
  end

  # No message arrived.
  defp quiet?(peer), do: HttpPeer.silent?(peer, 100)
end
