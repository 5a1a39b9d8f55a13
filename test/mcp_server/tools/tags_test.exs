defmodule McpServer.Tools.TagsTest do
  # Tags of tools are enabled and disabled at run time, for all clients, a principal or a session. Not async: the tags
  # of one router are those of all its tests.
  use ExUnit.Case, async: false

  @moduletag :capture_log
  use McpServer.Test, router: McpServer.ToolsRouter

  alias McpServer.{Conn, Tools, ToolsRouter}
  alias McpServer.ToolsRouter.Handlers

  @eras ["2025-11-25", "2026-07-28"]
  @tagged ["declared", "both"]

  setup do
    on_exit(fn ->
      for scope <- [ToolsRouter, {ToolsRouter, principal: "ada"}],
          tag <- ["admin", "beta"],
          do: Tools.reset(scope, tag: tag)

      for name <- Tools.names(ToolsRouter), do: Tools.delete(ToolsRouter, name)
    end)
  end

  defp names(options) do
    {:ok, tools} = list_tools(options)
    for %{"name" => name} <- tools, name in ["declared", "both", "tagged"], do: name
  end

  for revision <- @eras do
    test "#{revision}: a tool whose tag is disabled is not there" do
      ada = [revision: unquote(revision), principal: "ada"]
      eve = [revision: unquote(revision), principal: "eve"]
      absent = call_tool("absent", %{}, eve)
      assert names(ada) == @tagged

      :ok = Tools.disable(ToolsRouter, tag: "admin")
      assert {names(ada), names(eve)} == {[], []}
      assert {:error, error} = call_tool("declared", %{"any" => 1}, eve)
      assert {:error, error} == put_in(absent, [Access.elem(1), "message"], "Tool 'declared' not found")

      :ok = Tools.enable({ToolsRouter, principal: "ada"}, tag: "admin")
      assert {names(ada), names(eve)} == {@tagged, []}
      assert {:ok, %{"isError" => false}} = call_tool("declared", %{}, ada)

      :ok = Tools.disable(ToolsRouter, tag: "beta")
      assert {names(ada), names(eve)} == {["declared"], []}
      :ok = Tools.reset(ToolsRouter, tag: "admin")
      :ok = Tools.disable({ToolsRouter, principal: "ada"}, tag: "admin")
      assert {names(ada), names(eve)} == {[], ["declared"]}
      :ok = Tools.reset({ToolsRouter, principal: "ada"}, tag: "admin")
      :ok = Tools.enable(ToolsRouter, tag: "beta")
      assert {names(ada), names(eve)} == {@tagged, @tagged}
    end
  end

  test "run-time tools have tags as well, and the callbacks know them" do
    _text = Handlers.setup(%Conn{}, %{})
    call = fn name -> ToolsRouter.call_tool(%Conn{}, name, %{}) end
    assert {:ok, _content} = call.("tagged")
    :ok = Tools.disable(ToolsRouter, tag: "admin")
    refute "tagged" in names([])
    for name <- ["tagged", "declared"], do: assert(call.(name) == {:error, "Tool '#{name}' not found"})
    {:ok, tools} = ToolsRouter.list_tools(%Conn{})
    assert [] == for(%{name: name} <- tools, name in ["tagged", "declared", "both"], do: name)
  end

  test "a session's own, which goes with the session" do
    client = connect(revision: "2025-11-25", principal: "ada")
    own = own(client)
    :ok = Tools.disable(own, tag: "admin")
    assert names(on: client) == []
    assert names(principal: "ada") == @tagged
    :ok = McpServer.Test.disconnect(client)
    assert {:error, "no session of this router with this id is open"} = Tools.disable(own, tag: "admin")
  end

  for {user, place} <- [{"ada", 1}, {"eve", 2}] do
    test "#{user} is told of what concerns #{user}, once, and not if nothing changes" do
      client = connect(revision: "2025-11-25", principal: unquote(user))
      # Its notifications go to another process.
      another = start_supervised!({Agent, fn -> connect(revision: "2025-11-25") end})
      session = Agent.get(another, &own/1)
      principal = {ToolsRouter, principal: "ada"}
      assert told(client) == 0

      for change <- [
            {&Tools.disable(ToolsRouter, &1), 1, 1},
            {&Tools.disable(ToolsRouter, &1), 0, 0},
            {&Tools.enable(principal, &1), 1, 0},
            {&Tools.disable(session, &1), 0, 0},
            {&Tools.reset(session, &1), 0, 0},
            {&Tools.disable(own(client), &1), 1, 1},
            {&Tools.reset(own(client), &1), 1, 1},
            {&Tools.reset(principal, &1), 1, 0},
            {&Tools.reset(ToolsRouter, &1), 1, 1}
          ] do
        :ok = elem(change, 0).(tag: "admin")
        assert told(client) == elem(change, unquote(place))
      end
    end
  end

  defp own(client), do: {ToolsRouter, session: :sys.get_state(client.connection).session.id}

  # Changes may be written after the first ping's response, but before the second's.
  defp told(client) do
    for id <- [98, 99], do: assert(%{"result" => _} = request(%{"id" => id, "method" => "ping"}, on: client))
    heard(0)
  end

  defp heard(count) do
    receive do
      {:mcp_notification, "notifications/tools/list_changed", _params} -> heard(count + 1)
    after
      0 -> count
    end
  end

  test "what is wrong is said, and there is a bound" do
    for options <- [[tag: ""], [tag: :admin], [tags: ["admin"]], "admin"] do
      assert {:error, "write tag: \"admin\", with 1 to 128 bytes, got: " <> _given} =
               Tools.disable(ToolsRouter, options)
    end

    assert {:error, "a scope is a router" <> _} = Tools.enable("router", tag: "admin")
    scope = {ToolsRouter, principal: "many"}
    for n <- 1..100, do: :ok = Tools.disable(scope, tag: "tag #{n}")
    text = "there are 100 tags of this scope already, which is max_tags_per_scope of the configuration"
    assert Tools.enable(scope, tag: "more") == {:error, text}
    :ok = Tools.enable(scope, tag: "tag 7")
    for n <- 1..100, do: :ok = Tools.reset(scope, tag: "tag #{n}")
    assert Tools.enable(scope, tag: "more") == :ok
    :ok = Tools.reset(scope, tag: "more")
  end
end
