defmodule McpServer.GuideTest do
  # The modules in the documentation compile as shown, and return the documented values. They are renamed, because other
  # tests may compile other examples.
  use McpServer.RouterCase, async: true

  alias McpServer.{Conn, Content}

  test "the five minutes of McpServer" do
    assert [_calculator, router] = compile(shown(McpServer), "Tour")
    assert router.call_tool(%Conn{}, "add", %{"a" => 1, "b" => 2}) == {:ok, [%Content.Text{text: "3"}]}

    ~S|"add", %{"a" => 1, "b" => 2})| <> "\n      {:ok, [%McpServer.Content.Text{text: \"3\"}]}"
  end

  test "the controller of McpServer.Controller" do
    assert [controller] = compile(shown(McpServer.Controller), "Forecast")
    assert controller.forecast(%Conn{}, %{"city" => "Rome"}) == {:ok, [%Content.Text{text: "Sunny in Rome"}]}
  end

  test "the router of McpServer.Router, once there are its controllers" do
    controllers = """
    defmodule MyApp.Calculator do
      def add(_conn, %{"a" => a, "b" => b}), do: {:ok, %{"sum" => a + b}}
    end

    defmodule MyApp.Prompts do
      def review(_conn, _arguments), do: []
      def complete_review(_conn, _name, _prefix), do: McpServer.Controller.completion([])
    end

    defmodule MyApp.Users do
      def read(_conn, _variables), do: {:error, :not_found}
      def complete_id(_conn, _name, _prefix), do: McpServer.Controller.completion([])
    end
    """

    router = [controllers | shown(McpServer.Router)] |> compile("Table") |> List.last()
    assert {:ok, %{structured_content: %{"sum" => 3}}} = router.call_tool(%Conn{}, "add", %{"a" => 1, "b" => 2})
    assert [%{name: "user"}] = router.__mcp__(:resource_templates)
  end

  defp compile(sources, name) do
    compiled =
      sources
      |> Enum.map(&String.replace(&1, "MyApp", "McpServer.GuideTest.#{name}"))
      |> Enum.flat_map(&Code.compile_string/1)

    for {module, _beam} <- compiled, do: module
  end

  # The indented blocks of a moduledoc that define modules.
  defp shown(module) do
    module
    |> moduledoc()
    |> String.split(~r/\n(?=\S)/)
    |> Enum.flat_map(&Regex.scan(~r/(?:^    .*\n|^\n)*^    defmodule .*\n(?:^    .*\n|^\n)*/m, &1 <> "\n"))
    |> Enum.map(fn [block] -> String.replace(block, ~r/^    /m, "") end)
  end

  defp moduledoc(module) do
    {:docs_v1, _anno, _language, _format, %{"en" => moduledoc}, _metadata, _docs} = Code.fetch_docs(module)
    moduledoc
  end
end
