defmodule McpServer.HttpRestartingTest do
  # While the processes that plugs share are being restarted. Not async: every plug has them in common.
  use McpServer.HttpCase, async: false

  alias McpServer.Http.{Desks, Mounts}
  alias McpServer.{HttpRouter, JSON, RestServers}

  @moduletag :capture_log
  @supervisor McpServer.Http.Supervisor

  defp without(child) do
    :ok = Supervisor.terminate_child(@supervisor, child)
    on_exit(fn -> Supervisor.restart_child(@supervisor, child) end)
  end

  test "Y2: a plug answers 503 and when to come back, as the listener does" do
    # A plug with the options of another test's is served already.
    server = HttpServers.start(:plug, router: HttpRouter, assigns: %{test: "restarting"})
    without(Mounts)
    {response, [message]} = HttpClient.exchange(server, modern("ping"))
    assert {response.status, HttpResponse.header(response, "retry-after")} == {503, "1"}
    assert %{"error" => %{"code" => -32_603}} = message

    {:ok, _pid} = Supervisor.restart_child(@supervisor, Mounts)
    assert {%{status: 200}, _messages} = HttpClient.exchange(server, modern("server/discover"))
  end

  test "Y2: so does the plug of stored results" do
    results = McpServer.DualResponses.server()
    http = RestServers.start(:plug, results)
    created = McpServer.DualResponses.create!(results, 3)
    without(Desks)
    response = RestServers.ask(http, "GET", "/resources/" <> created.resource_id)
    assert {response.status, HttpResponse.header(response, "retry-after")} == {503, "1"}
    assert JSON.decode!(response.body)["error"] == "overloaded"

    {:ok, _pid} = Supervisor.restart_child(@supervisor, Desks)
    assert RestServers.ask(http, "GET", "/resources/" <> created.resource_id).status == 200
  end
end
