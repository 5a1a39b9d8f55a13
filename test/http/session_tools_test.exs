defmodule McpServer.HttpSessionToolsTest do
  # Tools that were put for a session are removed at its end, however it ends.
  use McpServer.HttpCase, async: true

  alias McpServer.Http.Sessions
  alias McpServer.{HttpRequests, HttpVm, Quota, Tools, ToolsRouter}

  @tool [name: "own", description: "Is the session's"]
  @handler {ToolsRouter.Handlers, :echo}

  defp put(session) do
    scope = {ToolsRouter, session: session.id}
    :ok = Tools.put(scope, @tool, @handler)
    :ok = Tools.disable(scope, tag: "admin")
    assert %{"result" => %{"isError" => false}} = HttpSession.call(session, "own")
    scope
  end

  defp gone(scope) do
    eventually(fn -> Tools.names(scope) == [] end)
    refused(scope)
  end

  @none "no session of this router with this id is open"

  defp refused(scope) do
    eventually(fn -> Tools.put(scope, @tool, @handler) == {:error, @none} end)
    assert Tools.enable(scope, tag: "admin") == {:error, @none}
    assert Tools.names(scope) == []
  end

  # Earlier, a client could have all, and those of its sealed sessions stayed when it had left.
  test "one client has a share of them, in all its sessions" do
    serve = [router: ToolsRouter, identify: &HttpRequests.who/1]
    vm = HttpVm.start(serve: serve, env: [run_time_tools: [max_tools: 8]])
    put = &HttpVm.call(vm, Tools, :put, [{ToolsRouter, &1}, @tool ++ &2, @handler])
    open = &HttpSession.open(vm.server, "2025-11-25", headers: [{"authorization", "Bearer #{&1}"}])
    [first, second, of_ada] = for name <- ["eve", "eve", "ada"], do: open.(name)
    full = {:error, "one client may have 2 run-time tools and tags, a quarter of max_tools of the configuration"}

    assert put.([session: first.id], []) == :ok
    assert HttpVm.call(vm, Tools, :disable, [{ToolsRouter, session: first.id}, [tag: "admin"]]) == :ok
    assert put.([session: second.id], []) == full
    assert put.([principal: "eve"], []) == full
    # What replaces another takes its place.
    assert put.([session: first.id], title: "Again") == :ok
    assert put.([session: of_ada.id], []) == :ok

    assert HttpVm.call(vm, Tools, :delete, [{ToolsRouter, session: first.id}, "own"]) == :ok
    assert put.([principal: "eve"], []) == :ok
    assert put.([session: second.id], []) == full
    assert HttpSession.delete(first).status == 204
    eventually(fn -> put.([session: second.id], []) == :ok end)
    counted = HttpVm.call(vm, Quota, :stats, [HttpVm.call(vm, Quota, :of_node, [])])
    assert counted.run_time_tools == 3
    assert counted.run_time_tool_bytes > 0
  end

  both "by its client", [router: ToolsRouter], %{server: server} do
    session = HttpSession.open(server)
    other = HttpSession.open(server)
    scope = put(session)
    kept = put(other)
    assert HttpSession.delete(session).status == 204
    gone(scope)
    assert ["own"] = Tools.names(kept)
    assert HttpSession.delete(other).status == 204
    gone(kept)
  end

  both "and are refused after its end, even if it had none", [router: ToolsRouter], %{server: server} do
    session = HttpSession.open(server)
    refused({McpServer.HttpRouter, session: session.id})
    assert HttpSession.delete(session).status == 204
    refused({ToolsRouter, session: session.id})
    refused({ToolsRouter, session: "never was"})
  end

  both "after its process was killed", [router: ToolsRouter], %{server: server} do
    session = HttpSession.open(server)
    scope = put(session)
    Process.exit(:ets.lookup_element(Sessions, session.id, 2), :kill)
    gone(scope)
  end

  both "after its lifetime", [router: ToolsRouter], %{server: server} do
    session = HttpSession.open(server)
    scope = put(session)
    assert HttpSession.outlived(session.id) == :ends
    gone(scope)
  end

  both "after it was idle", [router: ToolsRouter, http: [idle_timeout: 600_000]], %{server: server} do
    session = HttpSession.open(server)
    scope = put(session)
    assert HttpSession.unused_for(session.id, 600_000) == :ends
    gone(scope)
  end
end
