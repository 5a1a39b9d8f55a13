defmodule McpServer.HttpRestartingTest do
  # The shared processes of plugs are being restarted. Not async: all plugs share them.
  use McpServer.HttpCase, async: false

  alias McpServer.Auth.{Plan, Tenants}
  alias McpServer.Http.RouteSupervisor
  alias McpServer.{JSON, RestServers}

  @moduletag :capture_log
  @supervisor McpServer.HttpServer.Supervisor

  defp without(child) do
    :ok = Supervisor.terminate_child(@supervisor, child)
    on_exit(fn -> Supervisor.restart_child(@supervisor, child) end)
  end

  @tag req: "Y2"
  test "the plug of stored results answers 503 and when to come back" do
    results = McpServer.DualResponses.server()
    http = RestServers.start(:plug, results)
    created = McpServer.DualResponses.create!(results, 3)
    without(RouteSupervisor)
    response = RestServers.ask(http, "GET", "/resources/" <> created.resource_id)
    assert {response.status, HttpResponse.header(response, "retry-after")} == {503, "1"}
    assert JSON.decode!(response.body)["error"] == "overloaded"

    {:ok, _pid} = Supervisor.restart_child(@supervisor, RouteSupervisor)
    assert RestServers.ask(http, "GET", "/resources/" <> created.resource_id).status == 200
  end

  test "the process of tenants goes on" do
    tenants = fn _issuer -> {:ok, []} end
    plan = Plan.new!("the test", resource: "http://localhost/mcp", issuer: "https://own.example", issuers: tenants)
    process = Process.whereis(Tenants.Places)

    for child <- [RouteSupervisor, McpServer.Http.Registry] do
      without(child)
      assert {:ok, {_policy, {:fetched, _source}}} = Tenants.fetch(plan, "https://a.example", nil)
      Tenants.clear(plan)
      refute :ets.member(Tenants, {plan.id, "https://a.example"})
      assert Process.whereis(Tenants.Places) == process
      {:ok, _pid} = Supervisor.restart_child(@supervisor, child)
    end
  end
end
