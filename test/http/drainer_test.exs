defmodule McpServer.HttpPlugDrainerTest do
  # Responses to clients of a plug when the application stops.
  use McpServer.HttpCase, async: true

  alias McpServer.HttpPlug.Drainer
  alias McpServer.HttpRouter.Handlers

  @moduletag :capture_log

  setup do
    Process.flag(:trap_exit, true)
    :ok
  end

  # A separate router: the drainer ends all sessions and streams of its router on the node.
  defmodule Router do
    use McpServer.Router, name: "drained"
    tool "perform", "Does what the test says", Handlers, :perform, input_schema: %{"type" => "object"}
    tool "whoami", "The principal and the session", Handlers, :whoami
  end

  # A drainer that the test stops, and that no supervisor restarts.
  defp drain(options) do
    {:ok, drainer} = Drainer.start_link([router: Router] ++ options)
    HttpServers.unhurried(drainer)
  end

  defp stop(drainer), do: Task.async(fn -> GenServer.stop(drainer, :shutdown) end)

  test "sessions end with the event to come back, and streams of 2026-07-28 as the protocol requires" do
    server = HttpServers.start(:plug, router: Router)
    drainer = drain([])
    stream = HttpSession.get(HttpSession.open(server))
    assert %{id: "0-0", retry: nil} = HttpPeer.event(stream)
    filter = %{"notifications" => %{"toolsListChanged" => true}}
    {peer, %{body: :stream}} = HttpClient.open(server, modern("subscriptions/listen", filter, id: 4))
    assert %{"method" => "notifications/subscriptions/acknowledged"} = HttpClient.message(peer)

    Task.await(stop(drainer), 30_000)
    assert %{id: "0-1", retry: 3000} = HttpPeer.event(stream)
    assert HttpPeer.event(stream) == :end
    assert %{"method" => "notifications/cancelled"} = HttpClient.message(peer)
    assert %{"id" => 4, "result" => %{}} = HttpClient.message(peer)
    assert HttpClient.message(peer) == :end
  end

  test "a call that ends in time is answered, one that does not gets its final error" do
    server = HttpServers.start(:plug, router: Router)
    drainer = drain(drain: 60_000)
    quick = HttpSession.start(HttpSession.open(server), legacy_call("perform", HttpScript.arguments(), id: 7))
    {call, _conn} = HttpScript.performing()
    stopping = stop(drainer)
    HttpScript.tell(call, {:answer, "done"})
    assert HttpClient.text(HttpResponse.json(HttpPeer.response(quick))) == "done"
    Task.await(stopping, 30_000)

    drainer = drain(drain: 50)
    slow = HttpSession.start(HttpSession.open(server), legacy_call("perform", HttpScript.arguments(), id: 8))
    {call, _conn} = HttpScript.performing()
    Task.await(stop(drainer), 30_000)
    assert %{"id" => 8, "result" => %{"isError" => true}} = answer = HttpResponse.json(HttpPeer.response(slow))
    assert HttpClient.text(answer) == "The server is shutting down"
    HttpScript.gone(call)
  end

  test "options are checked when it is started" do
    assert_raise ArgumentError, ~r/drian/, fn -> Drainer.child_spec(router: Router, drian: 1) end
    assert_raise ArgumentError, ~r/router/, fn -> Drainer.start_link([]) end
  end
end
