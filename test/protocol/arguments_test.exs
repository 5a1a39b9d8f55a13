defmodule McpServer.Protocol.ArgumentsTest do
  # The arguments of handlers and the errors for the model: equal in every revision, over stdio, HTTP and in callbacks.
  use McpServer.HttpCase, async: true

  alias McpServer.{ArgumentsRouter, ArgumentsTable, StdioPeer, Test}

  defmodule Many do
    use McpServer.Router

    tool "many", "Has many arguments", McpServer.Handlers, :echo do
      for n <- 11..31, do: input_field("a#{n}", "One", :integer)
    end
  end

  @options [router: ArgumentsRouter]

  # The problems, sorted: the validator has another order.
  defp told(%{"result" => %{"isError" => true, "content" => [%{"text" => text}]}}) do
    [_heading | lines] = String.split(text, "\n- ")
    {:refused, Enum.sort(lines)}
  end

  defp told(%{"error" => %{"code" => -32602, "data" => %{"problems" => problems}}}),
    do: {:refused, problems |> Enum.map(& &1["message"]) |> Enum.sort()}

  defp told(%{"result" => %{"content" => [%{"text" => text}]}}), do: text

  defp expected({:refused, problems}), do: {:refused, problems}
  defp expected(got), do: inspect(got, limit: :infinity)

  defp each_row(answer) do
    for {tool, arguments, got} <- ArgumentsTable.rows() do
      assert {tool, arguments, told(answer.(tool, arguments))} == {tool, arguments, expected(got)}
    end
  end

  for revision <- ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] do
    test "in #{revision}" do
      each_row(fn tool, arguments ->
        case Test.call_tool(ArgumentsRouter, tool, arguments, revision: unquote(revision)) do
          {:ok, result} -> %{"result" => result}
          {:error, error} -> %{"error" => error}
        end
      end)
    end
  end

  test "in the router's own callback" do
    each_row(fn tool, arguments ->
      case ArgumentsRouter.call_tool(%McpServer.Conn{}, tool, arguments) do
        {:ok, [%{text: text}]} -> %{"result" => %{"content" => [%{"text" => text}]}}
        {:error, text} -> %{"result" => %{"isError" => true, "content" => [%{"text" => text}]}}
      end
    end)
  end

  both "over HTTP, in both eras", @options, %{server: server} do
    session = HttpSession.open(server, "2025-11-25")
    each_row(&HttpSession.call(session, &1, &2))
    each_row(&HttpClient.call(server, &1, &2))
  end

  @tag :tmp_dir
  test "over stdio, in both eras", context do
    serve = "McpServer.Stdio.run(McpServer.ArgumentsRouter, app: :mcp_server)"
    modern = StdioPeer.start(StdioPeer.vm(serve), tmp_dir: context.tmp_dir)
    each_row(&(modern |> StdioPeer.write(StdioPeer.call(1, &1, &2)) |> StdioPeer.read()))
    StdioPeer.eof(modern)

    legacy = StdioPeer.start(StdioPeer.vm(serve), tmp_dir: context.tmp_dir)
    legacy |> StdioPeer.write(StdioPeer.initialize(0, "2025-11-25")) |> StdioPeer.read()

    each_row(fn tool, arguments ->
      request = StdioPeer.request(1, "tools/call", %{"name" => tool, "arguments" => arguments})
      legacy |> StdioPeer.write(request) |> StdioPeer.read()
    end)

    StdioPeer.eof(legacy)
  end

  test "of many names, twenty are told" do
    {:ok, %{"isError" => true, "content" => [%{"text" => text}]}} = Test.call_tool(Many, "many", %{"zzzzzz" => 1})
    names = Enum.map_join(11..30, ", ", &"`a#{&1}`")

    assert text ==
             "Invalid arguments for tool 'many':\n- /zzzzzz: `zzzzzz` is not an argument; allowed are #{names}, … " <>
               "(additionalProperties)"
  end
end
