defmodule McpServer.Protocol.SubscriptionsTest do
  # Changes reach every client of a router, so these tests are not async.
  use ExUnit.Case, async: false
  use McpServer.Test, router: McpServer.RuntimeRouter

  import McpServer.Wire, except: [text: 1]

  alias McpServer.{Changes, RuntimeRouter}

  @subscription "io.modelcontextprotocol/subscriptionId"

  defp listen(client, id, filter) do
    ask(client, id, "subscriptions/listen", %{"notifications" => filter})

    assert_receive {:mcp_notification, "notifications/subscriptions/acknowledged",
                    %{"_meta" => %{@subscription => ^id}} = params}

    params["notifications"]
  end

  # A change goes directly to the connection, which has handled it when it is settled.
  defp nothing_heard(client) do
    settle(client)
    refute_received {:mcp_notification, _method, _params}
  end

  defp idle(_conn, _arguments), do: {:ok, []}

  describe "subscriptions/listen" do
    test "is acknowledged with what will be told, and tells it under its own id" do
      client = open(&idle/2)
      filter = %{"toolsListChanged" => true, "resourceSubscriptions" => ["run://fixed"]}
      assert listen(client, "s-1", filter) == filter

      Changes.tools_changed(RuntimeRouter)
      assert_receive {:mcp_notification, "notifications/tools/list_changed", %{"_meta" => %{@subscription => "s-1"}}}
      Changes.resource_updated(RuntimeRouter, "run://fixed")

      assert_receive {:mcp_notification, "notifications/resources/updated",
                      %{"_meta" => %{@subscription => "s-1"}, "uri" => "run://fixed"}}

      Changes.prompts_changed(RuntimeRouter)
      Changes.resources_changed(RuntimeRouter)
      Changes.resource_updated(RuntimeRouter, "run://rows/1")
      nothing_heard(client)
      assert silent?(client)
    end

    test "several at once, each with what it asked for" do
      client = open(&idle/2)
      listen(client, 1, %{"toolsListChanged" => true})
      listen(client, 2, %{"toolsListChanged" => true, "promptsListChanged" => true})
      Changes.tools_changed(RuntimeRouter)

      for id <- [1, 2],
          do:
            assert_receive(
              {:mcp_notification, "notifications/tools/list_changed", %{"_meta" => %{@subscription => ^id}}}
            )

      Changes.prompts_changed(RuntimeRouter)
      assert_receive {:mcp_notification, "notifications/prompts/list_changed", %{"_meta" => %{@subscription => 2}}}
      nothing_heard(client)
    end

    test "ends when the client cancels it, without another word" do
      client = open(&idle/2)
      listen(client, 1, %{"toolsListChanged" => true})
      tell(client, "notifications/cancelled", %{"requestId" => 1})
      settle(client)
      Changes.tools_changed(RuntimeRouter)
      nothing_heard(client)
      assert silent?(client)
      assert listen(client, 1, %{"toolsListChanged" => true})
    end

    test "ends with the server: cancelled, and answered" do
      client = open(&idle/2)
      listen(client, 1, %{"toolsListChanged" => true})
      listen(client, "b", %{})
      send(client.connection, {:mcp_client_in, client.reference, :eof})

      for id <- [1, "b"],
          do:
            assert_receive(
              {:mcp_notification, "notifications/cancelled", %{"requestId" => ^id, "_meta" => %{@subscription => ^id}}}
            )

      ended = for _ <- 1..2, do: next(client)
      assert [%{"id" => 1, "result" => result}, %{"id" => "b"}] = ended
      assert %{"resultType" => "complete", "_meta" => %{@subscription => 1}} = result
    end

    @tag req: "M7"
    test "its id is in flight as long as it is open" do
      client = open(&idle/2)
      listen(client, 1, %{})
      tool(client, 1)
      assert %{"id" => 1, "error" => %{"code" => -32600}} = next(client)
      ask(client, 1, "subscriptions/listen", %{"notifications" => %{}})
      assert %{"id" => 1, "error" => %{"code" => -32600}} = next(client)
    end

    test "not more than the bound" do
      client = open(&idle/2, limits: [max_streams: 2])
      for id <- 1..2, do: listen(client, id, %{})
      ask(client, 3, "subscriptions/listen", %{"notifications" => %{}})
      assert %{"id" => 3, "error" => %{"code" => -32600}} = next(client)
      ask(client, 3, "server/discover")
      assert %{"id" => 3, "result" => _} = next(client)
    end

    test "not for more resources than the bound" do
      client = open(&idle/2, limits: [max_subscriptions: 2])
      uris = for n <- 1..3, do: "run://rows/#{n}"
      ask(client, 1, "subscriptions/listen", %{"notifications" => %{"resourceSubscriptions" => uris}})
      assert %{"id" => 1, "error" => %{"code" => -32600}} = next(client)
      assert listen(client, 2, %{"resourceSubscriptions" => tl(uris)})
    end

    test "does not tell a stream what changed before it" do
      client = open(&idle/2)
      listen(client, 1, %{"toolsListChanged" => true})
      :sys.suspend(client.connection)
      Changes.tools_changed(RuntimeRouter)
      ask(client, 2, "subscriptions/listen", %{"notifications" => %{"toolsListChanged" => true}})
      :sys.resume(client.connection)
      assert_receive {:mcp_notification, "notifications/tools/list_changed", %{"_meta" => %{@subscription => 1}}}

      assert_receive {:mcp_notification, "notifications/subscriptions/acknowledged",
                      %{"_meta" => %{@subscription => 2}}}

      nothing_heard(client)
    end
  end

  describe "the session era" do
    test "lists: from initialized on" do
      client = open(&idle/2, initialize: false, revision: "2025-06-18")

      ask(client, 1, "initialize", %{
        "protocolVersion" => "2025-06-18",
        "capabilities" => %{},
        "clientInfo" => %{"name" => "c", "version" => "1"}
      })

      assert %{"id" => 1} = next(client)
      Changes.tools_changed(RuntimeRouter)
      nothing_heard(client)
      tell(client, "notifications/initialized")
      settle(client)

      for {publish, method} <- [
            {&Changes.tools_changed/1, "notifications/tools/list_changed"},
            {&Changes.prompts_changed/1, "notifications/prompts/list_changed"},
            {&Changes.resources_changed/1, "notifications/resources/list_changed"}
          ] do
        publish.(RuntimeRouter)
        assert_receive {:mcp_notification, ^method, params}
        refute is_map_key(params, "_meta")
      end
    end

    test "resources: from subscribe to unsubscribe" do
      client = open(&idle/2, revision: "2025-11-25")
      ask(client, 1, "resources/subscribe", %{"uri" => "run://fixed"})
      assert %{"id" => 1, "result" => %{}} = next(client)
      Changes.resource_updated(RuntimeRouter, "run://fixed")
      assert_receive {:mcp_notification, "notifications/resources/updated", %{"uri" => "run://fixed"}}
      Changes.resource_updated(RuntimeRouter, "run://rows/1")
      nothing_heard(client)
      ask(client, 2, "resources/unsubscribe", %{"uri" => "run://fixed"})
      assert %{"id" => 2, "result" => %{}} = next(client)
      Changes.resource_updated(RuntimeRouter, "run://fixed")
      nothing_heard(client)
    end

    test "subscriptions: not more than the bound" do
      client = open(&idle/2, revision: "2025-11-25", limits: [max_subscriptions: 1])
      ask(client, 1, "resources/subscribe", %{"uri" => "run://rows/1"})
      assert %{"id" => 1, "result" => %{}} = next(client)
      ask(client, 2, "resources/subscribe", %{"uri" => "run://rows/2"})
      assert %{"id" => 2, "error" => %{"code" => -32600}} = next(client)
    end
  end

  test "changes faster than the client are told once" do
    client = open(&idle/2)
    listen(client, 1, %{"toolsListChanged" => true})
    :sys.suspend(client.connection)
    for _ <- 1..1_000, do: Changes.tools_changed(RuntimeRouter)
    :sys.resume(client.connection)
    assert_receive {:mcp_notification, "notifications/tools/list_changed", _params}
    nothing_heard(client)
  end

  test "another router's changes are not ours" do
    client = open(&idle/2)
    listen(client, 1, %{"toolsListChanged" => true})
    Changes.tools_changed(McpServer.StdioRouter)
    nothing_heard(client)
  end
end
