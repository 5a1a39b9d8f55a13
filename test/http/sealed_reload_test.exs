defmodule McpServer.HttpSealedReloadTest do
  # A session that continues after a deploy which changed the lists. Not async: the secret is the application's.
  use McpServer.HttpCase, async: false

  alias McpServer.Http.Sessions
  alias McpServer.ReloadedRouter

  @moduletag :capture_log

  @one """
  use McpServer.Router, name: "deployed"
  tool "whoami", "The principal and the session", McpServer.HttpRouter.Handlers, :whoami
  """
  @two @one <> ~s(tool "fail", "Raises", McpServer.HttpRouter.Handlers, :fail\n)

  setup do
    Application.put_env(:mcp_server, :secret, String.duplicate("secret of deploys ", 3))
    on_exit(fn -> Application.delete_env(:mcp_server, :secret) end)
    router = ReloadedRouter.compile(McpServer.Deployed, one: @one, two: @two)
    ReloadedRouter.load(router, :one)
    on_exit(fn -> ReloadedRouter.remove(router) end)
    {:ok, router: router}
  end

  defp kill(session) do
    [{_id, pid, _, _, _, _, _}] = :ets.lookup(Sessions, session.id)
    Process.exit(pid, :kill)
    eventually(fn -> :ets.lookup(Sessions, session.id) == [] end)
  end

  test "the session's stream begins with the lists that are others now, once", %{router: router} do
    session = HttpSession.open(HttpServers.start(:listener, router: router.module))
    kill(session)
    ReloadedRouter.load(router, :two)
    stream = HttpSession.get(session)
    assert {last, %{"method" => "notifications/tools/list_changed"}} = HttpClient.message_event(stream)
    HttpPeer.close(stream)

    McpServer.Changes.prompts_changed(router.module)
    assert %{"method" => "notifications/prompts/list_changed"} = HttpClient.message(HttpSession.get(session, last))

    assert %{"result" => %{"tools" => [_whoami, %{"name" => "fail"}]}} =
             HttpSession.answer(session, legacy("tools/list"))
  end

  test "nothing is said where the lists are the same", %{router: router} do
    session = HttpSession.open(HttpServers.start(:listener, router: router.module))
    kill(session)
    stream = HttpSession.get(session)
    McpServer.Changes.resources_changed(router.module)
    assert %{"method" => "notifications/resources/list_changed"} = HttpClient.message(stream)
  end
end
