defmodule McpServer.Protocol.NotifyTest do
  # `McpServer.notify/2`: its messages, their recipients, and its errors.
  use McpServer.HttpCase, async: true

  alias McpServer.{HttpRequests, JSON, StdioPeer, Test, ToolsRouter}

  # Messages reach all clients of a router, so these tests have their own.
  defmodule Notified do
    use McpServer.Router, name: "notified"

    resource "open", "notify://open" do
      read McpServer.AccessRouter.Handlers, :read
    end
  end

  defmodule Other do
    use McpServer.Router, name: "other"
  end

  @message %{"level" => "warning", "logger" => "disk", "data" => %{"free" => 7}}

  defp warn(scope), do: McpServer.notify(scope, log: %{free: 7}, level: :warning, logger: "disk")
  defp own(client), do: {Notified, session: :sys.get_state(client.connection).session.id}

  # Changes may be written after the first ping's response, but before the second's.
  defp told(client) do
    for id <- [98, 99],
        do: assert(%{"result" => _} = Test.request(Notified, %{"id" => id, "method" => "ping"}, on: client))

    heard([])
  end

  defp heard(said) do
    receive do
      {:mcp_notification, method, params} -> heard([{method, params} | said])
    after
      0 -> Enum.reverse(said)
    end
  end

  for revision <- ["2024-11-05", "2025-11-25"] do
    test "#{revision}: a log message reaches a principal's or a router's sessions, one session, and nobody else" do
      client = Test.connect(Notified, revision: unquote(revision), principal: "ada")
      assert told(client) == []

      for {scope, heard} <- [
            {Notified, [{"notifications/message", @message}]},
            {{Notified, principal: "ada"}, [{"notifications/message", @message}]},
            {own(client), [{"notifications/message", @message}]},
            {{Notified, principal: "eve"}, []},
            {{Notified, session: "another"}, []},
            {Other, []}
          ] do
        assert warn(scope) == :ok
        assert {scope, told(client)} == {scope, heard}
      end

      # The client has set a higher level.
      assert McpServer.notify(Notified, log: "low", level: :debug) == :ok
      assert told(client) == []

      Test.request(Notified, %{"id" => 1, "method" => "logging/setLevel", "params" => %{"level" => "error"}}, on: client)

      assert warn(Notified) == :ok
      assert told(client) == []
      assert McpServer.notify(Notified, log: "bad", level: "error") == :ok
      assert told(client) == [{"notifications/message", %{"level" => "error", "data" => "bad"}}]
    end
  end

  test "a resource's update reaches those of them who have subscribed" do
    client = Test.connect(Notified, revision: "2025-11-25", principal: "ada")
    update = &McpServer.notify(&1, resource_updated: "notify://open")
    assert told(client) == []
    assert update.({Notified, principal: "ada"}) == :ok
    assert told(client) == []
    params = %{"uri" => "notify://open"}

    assert %{"result" => _} =
             Test.request(Notified, %{"id" => 1, "method" => "resources/subscribe", "params" => params}, on: client)

    for {scope, times} <- [
          {{Notified, principal: "ada"}, 1},
          {own(client), 1},
          {{Notified, principal: "eve"}, 0}
        ] do
      assert update.(scope) == :ok
      assert told(client) == List.duplicate({"notifications/resources/updated", params}, times)
    end
  end

  test "what is wrong is said" do
    for {scope, message, text} <- [
          {"router", [log: 1], "a scope is a router, {router, principal: principal}"},
          {{Notified, user: "ada"}, [log: 1], "write principal: principal, or session: id"},
          {{Notified, []}, [log: 1], "write principal: principal, or session: id"},
          {Notified, [], "write log: data, level: :info, logger: \"name\", or resource_updated: uri"},
          {Notified, [resource_updated: 1], "write log: data"},
          {Notified, [log: 1, lvel: :info], "write log: data"},
          {Notified, [log: 1, level: :bad], "level: is one of debug, info, notice, warning, error"},
          {Notified, [log: 1, logger: :disk], "logger: is a string"},
          {Notified, [log: self()], "log: cannot be written as JSON"},
          {Notified, [log: String.duplicate("a", 65_536)], "at most 65536 are sent"}
        ] do
      assert {:error, said} = McpServer.notify(scope, message)
      assert said =~ text
    end
  end

  both "over HTTP it comes by the session's own stream", [router: Notified], %{server: server} do
    session = HttpSession.open(server)
    {peer, %{body: :stream}} = HttpSession.open_stream(session, get_stream())
    assert warn({Notified, session: session.id}) == :ok
    assert %{"method" => "notifications/message", "params" => @message} = HttpClient.message(peer)
  end

  both "2026-07-28: streams get updates of what they name, and no log messages",
       [router: Notified, identify: &__MODULE__.ada/1],
       %{server: server} do
    filter = %{"notifications" => %{"resourceSubscriptions" => ["notify://open"]}}
    {peer, %{body: :stream}} = HttpClient.open(server, modern("subscriptions/listen", filter))
    assert %{"method" => "notifications/subscriptions/acknowledged"} = HttpClient.message(peer)
    assert warn(Notified) == :ok
    assert McpServer.notify({Notified, principal: "eve"}, resource_updated: "notify://open") == :ok
    assert McpServer.notify({Notified, principal: "ada"}, resource_updated: "notify://open") == :ok
    assert %{"method" => "notifications/resources/updated"} = HttpClient.message(peer)
    assert HttpPeer.silent?(peer, 100)
  end

  @doc false
  def ada(_request), do: {:ok, "ada"}

  # Messages to a client that does not read are dropped before they fill the memory.
  test "a process with a thousand messages gets no more" do
    busy =
      spawn(fn ->
        :ok = McpServer.Changes.listen(__MODULE__)
        receive(do: (:never -> :ok))
      end)

    on_exit(fn -> Process.exit(busy, :kill) end)
    eventually(fn -> McpServer.Changes.listeners_here(__MODULE__) == [busy] end)
    for _message <- 1..2_000, do: McpServer.Changes.log(__MODULE__, :router, "info", "{}")
    assert Process.info(busy, :message_queue_len) == {:message_queue_len, 1_000}
  end

  @tag :tmp_dir
  test "over stdio in a VM of its own", %{tmp_dir: tmp_dir} do
    command = StdioPeer.vm("McpServer.Stdio.run(#{inspect(ToolsRouter)}, app: :mcp_server)")
    peer = StdioPeer.start(command, tmp_dir: tmp_dir)
    StdioPeer.write(peer, StdioPeer.initialize("open", "2025-11-25"))
    assert %{"id" => "open"} = StdioPeer.read(peer, 30_000)
    StdioPeer.write(peer, JSON.encode!(HttpRequests.message("notifications/initialized", %{}, id: nil)))

    for {level, said} <- [{"debug", 0}, {"error", 1}] do
      params = %{"name" => "say", "arguments" => %{"level" => level}}
      StdioPeer.write(peer, StdioPeer.request(level, "tools/call", params))
      messages = for _message <- 1..(said + 1), do: StdioPeer.read(peer)
      assert Enum.count(messages, &(&1["id"] == level)) == 1
      log = %{"level" => level, "logger" => "tests", "data" => "said"}
      assert for(%{"params" => params} <- messages, do: params) == List.duplicate(log, said)
    end
  end
end
