defmodule McpServer.HttpMountsTest do
  # One router on several servers: ids and state of one server are invalid on another.
  use McpServer.HttpCase, async: true

  @capable [capabilities: %{"elicitation" => %{}}]

  # A second server of the same kind and router.
  defp other(server, options), do: HttpServers.start(server.kind, options)

  defp asked(server) do
    answer = HttpClient.call(server, "ask", %{}, @capable)
    assert %{"result" => %{"resultType" => "input_required", "requestState" => state}} = answer
    state
  end

  defp bring(server, state) do
    responses = %{"name" => %{"action" => "accept", "content" => %{"name" => "Ada"}}}
    params = %{"name" => "ask", "arguments" => %{}, "inputResponses" => responses, "requestState" => state}
    HttpClient.answer(server, modern("tools/call", params, @capable))
  end

  both "a sealed state opens at the same place only", [], %{server: server} do
    state = asked(server)
    assert HttpClient.text(bring(server, state)) == "Hello, Ada! :asked"
    assert HttpClient.text(bring(other(server, limits: [max_calls: 63]), state)) == "Hello, Ada! :asked"
    assert %{"error" => %{"code" => -32602}} = bring(other(server, mount_name: "admin"), state)
  end

  @tasks [capabilities: %{"extensions" => %{"io.modelcontextprotocol/tasks" => %{}}}]

  # Earlier, a token of one endpoint showed the tasks of its user at all others.
  both "a task is there at the same place only", [identify: &who/1], %{server: server} do
    ada = fn server, request -> HttpClient.answer(server, as(request, "ada")) end
    assert %{"result" => %{"taskId" => id}} = ada.(server, modern_call("sleep", %{"ms" => 60_000}, @tasks))
    get = modern("tasks/get", %{"taskId" => id}, @tasks)
    assert %{"result" => %{"taskId" => ^id}} = ada.(server, get)
    assert %{"result" => %{"taskId" => ^id}} = ada.(other(server, identify: &who/1, limits: [max_calls: 63]), get)
    admin = other(server, identify: &who/1, mount_name: "admin")

    for method <- ["tasks/get", "tasks/cancel", "tasks/update"] do
      params = %{"taskId" => id, "inputResponses" => %{}}

      assert %{"error" => %{"code" => -32602, "message" => "Task not found"}} =
               ada.(admin, modern(method, params, @tasks))
    end

    assert %{"result" => %{}} = ada.(server, modern("tasks/cancel", %{"taskId" => id}, @tasks))
  end

  test "a server and a plug are different places, unless they have the same name" do
    [server, plug] = for kind <- [:listener, :plug], do: HttpServers.start(kind)
    assert %{"error" => %{"code" => -32602}} = bring(plug, asked(server))
    [server, plug] = for kind <- [:listener, :plug], do: HttpServers.start(kind, mount_name: "shop")
    assert HttpClient.text(bring(plug, asked(server))) == "Hello, Ada! :asked"
    assert HttpClient.text(bring(server, asked(plug))) == "Hello, Ada! :asked"
  end

  test "a name is a string of 1 to 256 bytes" do
    for name <- ["", String.duplicate("n", 257), <<255>>, :shop, nil] do
      message = "expected :mount_name to be a string of 1 to 256 bytes, got: #{inspect(name)}"

      assert_raise ArgumentError, message, fn ->
        McpServer.HttpPlug.init(router: McpServer.HttpRouter, mount_name: name)
      end
    end

    assert McpServer.HttpPlug.init(router: McpServer.HttpRouter, mount_name: String.duplicate("n", 256))
  end
end
