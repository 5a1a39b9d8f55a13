defmodule McpServer.Protocol.StandInTest.Handlers do
  @moduledoc false
  use McpServer.Controller

  def run(_conn, _arguments), do: {:ok, "done"}
  def read(_conn, _variables), do: content("u", "users://1", text: "a user")

  def there?(conn) do
    send(conn.assigns.test, :asked)
    true
  end

  def never?(conn) do
    send(conn.assigns.test, :asked)
    false
  end

  def waits?(_conn), do: Process.sleep(:infinity)

  def may?(conn, arguments) do
    send(conn.assigns.test, {:arguments, arguments})
    true
  end
end

defmodule McpServer.Protocol.StandInTest.Declared do
  @moduledoc false
  use McpServer.Router, name: "declared"

  alias McpServer.Protocol.StandInTest.Handlers

  tool "transfer", "Moves money", Handlers, :run, visible: {Handlers, :there?}, authorize: {Handlers, :may?} do
    input cents: {:integer, "How much", required: true, minimum: 1}
  end

  resource "user", "users://{id}", visible: {Handlers, :there?}, authorize: {Handlers, :may?} do
    read Handlers, :read
  end
end

defmodule McpServer.Protocol.StandInTest.Added do
  @moduledoc false
  # The test adds a tool at run time.
  use McpServer.Router, name: "added"
  include McpServer.Protocol.StandInTest.Declared
end

defmodule McpServer.Protocol.StandInTest.Open do
  @moduledoc false
  use McpServer.Router, name: "open"
  tool "open", "For all", McpServer.Protocol.StandInTest.Handlers, :run
end

defmodule McpServer.Protocol.StandInTest.Judging do
  @moduledoc false
  use McpServer.Router, name: "judging"
end

defmodule McpServer.Protocol.StandInTest.Waiting do
  @moduledoc false
  use McpServer.Router, name: "waiting"
end

defmodule McpServer.Protocol.StandInTest do
  # The check that is made for an unknown name, so that it takes the time of one for a hidden name.
  use McpServer.RouterCase, async: true

  alias McpServer.Protocol.StandInTest.{Added, Declared, Handlers, Judging, Open, Waiting}
  alias McpServer.{Test, TestLog}

  # Earlier, a slow check told hidden tools of the run time from absent ones.
  test "a tool of the run time that is hidden stands in, too" do
    :ok = McpServer.Tools.put(Open, [name: "all", description: "For all"], {Handlers, :run})
    options = [assigns: %{test: self()}]
    assert {:error, absent} = Test.call_tool(Open, "absent", %{}, options)
    refute_received :asked

    :ok =
      McpServer.Tools.put(
        Open,
        [name: "secret", description: "For nobody", visible: {Handlers, :never?}],
        {Handlers, :run}
      )

    for name <- ["secret", "absent"] do
      assert {:error, %{"code" => -32602, "message" => "Tool '" <> _name}} = Test.call_tool(Open, name, %{}, options)
      assert_received :asked
      refute_received :asked
    end

    assert absent["message"] == "Tool 'absent' not found"
  end

  # Earlier, only the check of access was made for an absent name: long arguments told a hidden tool by the time of their
  # validation.
  test "arguments are judged as for a hidden tool of the run time" do
    tool = [name: "judged", description: "For nobody", visible: {Handlers, :never?}]
    :ok = McpServer.Tools.put(Judging, tool, {Handlers, :run})
    judged = {McpServer.Protocol, :run_time_arguments, 2}
    :erlang.trace_pattern(judged, true, [])

    for name <- ["judged", "absent"] do
      :erlang.trace(self(), true, [:call, :set_on_spawn])
      assert {:error, %{"code" => -32602}} = Test.call_tool(Judging, name, %{}, assigns: %{test: self()})
      :erlang.trace(self(), false, [:call, :set_on_spawn])
      assert_receive {:trace, _call, :call, {McpServer.Protocol, :run_time_arguments, [_catalog, %{name: ^name}]}}
      refute_received {:trace, _call, :call, _function}
    end

    :erlang.trace_pattern(judged, false, [])
  end

  # Earlier, the name of a hidden tool had its timeout, and an absent name that of the server.
  test "the timeout is that of a hidden tool of the run time" do
    tool = [name: "slow", description: "For nobody", timeout: 100, visible: {Handlers, :waits?}]
    :ok = McpServer.Tools.put(Waiting, tool, {Handlers, :run})
    options = [assigns: %{test: self()}, timeout: 60_000]

    for name <- ["slow", "absent"] do
      {{:ok, %{"isError" => true, "content" => [%{"text" => text}]}}, _log} =
        TestLog.with_log(fn -> Test.call_tool(Waiting, name, %{}, options) end)

      assert text =~ "it did not finish within 100 ms"
    end
  end

  # Earlier, `authorize:` got what a client had sent for another name, unchecked.
  for revision <- ["2025-11-25", "2026-07-28"], router <- [Declared, Added] do
    @router router
    @options [revision: revision]

    test "#{revision}, #{inspect(router)}: functions of arguments are not asked about unknown names" do
      :ok = McpServer.Tools.put(Added, [name: "added", description: "Added"], {Handlers, :run})
      options = [assigns: %{test: self()}] ++ @options

      for arguments <- [%{"cents" => "a lot"}, %{"cents" => 5}, %{"more" => 1}] do
        assert {:error, %{"code" => -32602}} = Test.call_tool(@router, "absent", arguments, options)
        assert_received :asked
      end

      assert {:error, _not_found} = Test.read_resource(@router, "absent://1", options)
      refute_received {:arguments, _arguments}
    end
  end
end
