defmodule McpServer.LiveDashboardTest do
  use ExUnit.Case, async: true

  alias McpServer.LiveDashboard

  defmodule Handlers do
    def run(_conn, _arguments), do: {:ok, []}
  end

  defmodule Server do
    use McpServer.Router

    tool "bare", "Runs", Handlers, :run

    resource "a<b", "file:///a" do
      read Handlers, :run
    end
  end

  defp html(options, node \\ node()) do
    {:ok, options} = LiveDashboard.init(options)
    {:safe, html} = LiveDashboard.render(%{mcp_options: options, page: %{node: node}})
    IO.iodata_to_binary(html)
  end

  test "has what is in use, what the core has answered, and the catalogue with its findings" do
    html = html(routers: [Server], stored_results: [:no_such_server])
    assert html =~ "<td>sessions</td>"
    assert html =~ "<td>method_not_found</td>"
    assert html =~ ~s(<td>:no_such_server</td><td>not running</td>)
    assert html =~ ~s(<h5 class="card-title">McpServer.LiveDashboardTest.Server</h5>)
    assert html =~ ~r"<td>tool</td><td>bare</td><td>warning: [^<]+</td>"
  end

  test "escapes names" do
    assert html(routers: [Server]) =~ "a&lt;b"
  end

  test "a module that is no router, and a node that is not there" do
    assert html(routers: [Enum]) =~ ~s(<h5 class="card-title">Enum</h5>)
    assert html([routers: [Server]], :nobody@nowhere) =~ "This node does not answer"
  end

  test "refuses options that it does not know" do
    message =
      "McpServer.LiveDashboard takes routers: a list of router modules, and stored_results: a list of names. " <>
        "Write additional_pages: [mcp: {McpServer.LiveDashboard, routers: [MyApp.MCP]}]"

    for options <- [[], [routers: []], [routers: "MyApp.MCP"], [routers: [Server], stored_results: :one]],
        do: assert_raise(ArgumentError, message, fn -> LiveDashboard.init(options) end)
  end

  test "is a page of the dashboard" do
    assert LiveDashboard.menu_link(%{}, %{}) == {:ok, "MCP"}
    assert LiveDashboard.__page_live__(:refresher?)
  end
end
