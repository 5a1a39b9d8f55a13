defmodule McpServer.Protocol.ReloadTest do
  # A router is recompiled while it is served over stdio, in a separate VM.
  use ExUnit.Case, async: true

  import McpServer.StdioPeer

  @moduletag :tmp_dir

  # The tool `load` loads a version of the router.
  @server """
  alias McpServer.ReloadedRouter

  defmodule Shop.Tools do
    use McpServer.Controller

    def load(_conn, %{"version" => version}) do
      ReloadedRouter.load(:persistent_term.get(Shop), String.to_existing_atom(version))
      {:ok, [text("loaded")]}
    end
  end

  {:ok, _started} = Application.ensure_all_started(:mcp_server)
  tool = ~s(tool "load", "Loads a version", Shop.Tools, :load do input_field "version", "Which", :string end)
  resource = fn name -> ~s(resource "\#{name}", "note:\#{name}" do read McpServer.Handlers, :read end) end
  text = fn lines -> Enum.join(["use McpServer.Router" | lines], "\\n") end

  versions = [
    before: text.([tool, resource.("a")]),
    again: text.([String.replace(tool, ":load do", ":load, timeout: 9_000 do"), resource.("a")]),
    more: text.([tool, resource.("a"), resource.("b")])
  ]

  router = ReloadedRouter.compile(Shop.MCP, versions)
  :persistent_term.put(Shop, ReloadedRouter.load(router, :before))
  McpServer.Stdio.run(Shop.MCP, app: :mcp_server)
  """

  defp shop(context) do
    file = Path.join(context.tmp_dir, "server.exs")
    File.write!(file, @server)
    start(vm("Code.require_file(#{inspect(file)})"), tmp_dir: context.tmp_dir)
  end

  defp load(peer, id, version), do: write(peer, call(id, "load", %{"version" => version}))

  test "a session hears of the list that is another one, and of no other", context do
    peer = shop(context)
    write(peer, [initialize(1), ~s({"jsonrpc":"2.0","method":"notifications/initialized"})])
    assert %{"id" => 1} = read(peer)
    load(peer, 2, "again")
    assert %{"id" => 2} = read(peer)
    load(peer, 3, "more")
    assert %{"id" => 3} = read(peer)
    assert %{"method" => "notifications/resources/list_changed"} = read(peer)
    write(peer, request(4, "resources/list"))
    assert %{"id" => 4, "result" => %{"resources" => [%{"uri" => "note:a"}, %{"uri" => "note:b"}]}} = read(peer)
  end

  test "a stream of 2026-07-28 too", context do
    peer = shop(context)
    meta = Map.fetch!(McpServer.JSON.decode!(call(1, "load"))["params"], "_meta")
    filter = %{"toolsListChanged" => true, "resourcesListChanged" => true}
    write(peer, request(1, "subscriptions/listen", %{"notifications" => filter, "_meta" => meta}))
    assert %{"method" => "notifications/subscriptions/acknowledged"} = read(peer)
    load(peer, 2, "again")
    assert %{"id" => 2} = read(peer)
    load(peer, 3, "more")
    assert %{"id" => 3} = read(peer)

    assert %{
             "method" => "notifications/resources/list_changed",
             "params" => %{"_meta" => %{"io.modelcontextprotocol/subscriptionId" => 1}}
           } = read(peer)
  end
end
