defmodule McpServer.Protocol.DebugErrorsTest do
  # The visibility of a failure's reason. Not async: Mix's environment and the application's environment are global.
  use McpServer.RouterCase, async: false
  use McpServer.Test, router: McpServer.DebugRouter

  import McpServer.EveryWay, only: [ask_all: 3, text: 1, ways: 2]

  alias McpServer.DebugRouter

  @eras ["2025-11-25", "2026-07-28"]
  @killed "the process was killed, by itself, by another or for the size of its heap"

  defp detail(text) do
    assert [_all, detail] = Regex.run(~r/\ATool execution failed \(error id [0-9a-f]{16}\)(?:: )?(.*)\z/s, text)
    detail
  end

  @tag :tmp_dir
  test "on the wire, with debug_errors: the text that the log has", %{tmp_dir: tmp_dir} do
    ways = ways(DebugRouter, tmp_dir)

    for {name, expected} <- [
          {"raise", "** (RuntimeError) boom"},
          {"invalid",
           ~s(invalid handler result: McpServer.DebugRouter.Handlers.invalid/2 returned :done. ) <>
             ~S'A tool returns {:ok, "text"}, {:ok, [text("hello")]}, {:ok, %{…}} or {:error, "text"}.'},
          {"rows",
           "invalid handler result: McpServer.DebugRouter.Handlers.rows/2 returned " <>
             "[%{id: 1, title: #String<6 bytes>}, #URI<...>], which cannot be sent: expected content: a struct, or a " <>
             "map whose type is one of text, image, audio, resource, resource_link, at /content/0. " <>
             ~S'A tool returns {:ok, "text"}, {:ok, [text("hello")]}, {:ok, %{…}} or {:error, "text"}. ' <>
             "Put data into a map: {:ok, %{rows: rows}}."},
          {"match",
           "** (FunctionClauseError) no function clause matching in McpServer.DebugRouter.Handlers.match/2. " <>
             ~S'The nearest clause is match(_conn, %{"id" => id}) when is_integer(id)'},
          {"slow", "it did not finish within 50 ms. Ask for less at once, or try again later"},
          {"kill", @killed}
        ],
        {way, result} <- ask_all(ways, "tools/call", %{"name" => name, "arguments" => %{}}) do
      assert {way, result["isError"], detail(text(result))} == {way, true, expected}
    end

    for {way, error} <- ask_all(ways, "prompts/get", %{"name" => "raise"}) do
      assert {way, error["code"], error["message"]} == {way, -32603, "Internal error: ** (RuntimeError) boom"}
      assert {way, error["data"]["detail"]} == {way, "** (RuntimeError) boom"}
    end
  end

  test "a task that was killed" do
    client = connect(revision: "2025-11-25")
    params = %{"name" => "kill", "arguments" => %{}, "task" => %{}}
    answer = request(%{"id" => 1, "method" => "tools/call", "params" => params}, on: client)
    id = answer["result"]["task"]["taskId"]
    answer = request(%{"id" => 2, "method" => "tasks/result", "params" => %{"taskId" => id}}, on: client)
    assert detail(text(answer["result"])) == @killed
  end

  for revision <- @eras do
    @revision revision

    test "#{revision}: without debug_errors only a call that is out of time says why" do
      router = failing(", debug_errors: false")
      for name <- ["raise", "invalid"], do: assert(fail(router, name, @revision) == "")

      assert fail(router, "slow", @revision) ==
               "it did not finish within 50 ms. Ask for less at once, or try again later"
    end

    test "#{revision}: the environment in which the router was compiled decides" do
      configured = Application.fetch_env!(:mcp_server, :debug_errors)
      Application.delete_env(:mcp_server, :debug_errors)
      on_exit(fn -> Application.put_env(:mcp_server, :debug_errors, configured) end)
      [dev, test, prod] = for environment <- [:dev, :test, :prod], do: compiled_in(environment)
      assert for(router <- [dev, test, prod], do: fail(router, "raise", @revision) == "") == [false, false, true]

      # The configuration has precedence over Mix's environment, and the router's option over the configuration.
      Application.put_env(:mcp_server, :debug_errors, true)
      assert fail(prod, "raise", @revision) == "** (RuntimeError) boom"
      assert fail(failing(", debug_errors: false"), "raise", @revision) == ""
      Application.put_env(:mcp_server, :debug_errors, false)
      assert fail(dev, "raise", @revision) == ""
      assert fail(DebugRouter, "raise", @revision) == "** (RuntimeError) boom"
    end
  end

  defp fail(router, name, revision) do
    {:ok, result} = McpServer.Test.call_tool(router, name, %{}, revision: revision)
    detail(text(result))
  end

  defp compiled_in(environment) do
    Mix.env(environment)
    failing("")
  after
    Mix.env(:test)
  end

  defp failing(options) do
    router!(
      """
      tool "raise", "Raises", McpServer.DebugRouter.Handlers, :boom
      tool "invalid", "Returns nonsense", McpServer.DebugRouter.Handlers, :invalid
      tool "slow", "Never ends", McpServer.DebugRouter.Handlers, :slow, timeout: 50
      """,
      options
    )
  end
end
