defmodule McpServer.Router.PlugsTest do
  # The statement `plug`: its allowed positions, and its errors with their lines.
  use McpServer.RouterCase, async: true

  defmodule Plain do
    def call(conn, next), do: next.(conn)
  end

  defmodule Checked do
    def init(options), do: Keyword.validate!(options, limit: 1)
    def call(conn, next, _options), do: next.(conn)
  end

  defmodule Handlers do
    def run(_conn, _arguments), do: {:ok, "ran"}
  end

  @here inspect(__MODULE__)
  @tool ~s(tool "run", "Runs", #{@here}.Handlers, :run)

  defp plugs(router), do: for(%{plugs: plugs} <- Tuple.to_list(router.__mcp__(:tool_handlers)), do: plugs)

  test "plugs come from outside to inside, wherever in their block they stand" do
    router =
      router!("""
      #{@tool} do
        plug #{@here}.Checked, limit: 3
      end
      plug #{@here}.Plain
      """)

    assert plugs(router) == [[{{router, 2}, Plain, []}, {{router, 1}, Checked, [limit: 3]}]]
  end

  test "a scope ends" do
    router = router!("scope do\n plug #{@here}.Plain\n end\n#{@tool}")
    assert plugs(router) == []
  end

  test "mistakes" do
    assert_refused(3, ~s(a plug is a module, got: "Audit". Write: plug MyApp.Audit), ~s(plug "Audit"\n#{@tool}))

    assert_refused(4, "plug McpServer.RateLimits: there is no such module, did you mean McpServer.RateLimit?", """
    #{@tool}
    plug McpServer.RateLimits
    """)

    assert_refused(3, "plug #{@here}.Handlers: the module has no function call/2 or call/3, see McpServer.Plug", """
    plug #{@here}.Handlers
    #{@tool}
    """)

    assert_refused(
      3,
      "plug #{@here}.Plain: it takes no options, got: [limit: 1]. One with options defines call/3",
      "plug #{@here}.Plain, limit: 1\n#{@tool}"
    )

    assert_refused(3, ~r/\Aplug #{@here}.Checked: unknown keys \[:limits\]/, """
    plug #{@here}.Checked, limits: 1
    #{@tool}
    """)

    assert_refused(
      3,
      "the options of plug #{@here}.Checked hold what cannot be compiled into the router, such as an anonymous function. " <>
        "Write {MyApp.Plugs, :name} or &MyApp.Plugs.name/1 in its place",
      "plug #{@here}.Checked, limit: fn -> 1 end\n#{@tool}"
    )

    assert_refused(
      5,
      ~s(plug #{@here}.Plain stands in the block of input field "a" of tool "run". Move it into the block of tool "run"),
      """
      #{@tool} do
        input_field "a", "An object", :object do
          plug #{@here}.Plain
        end
      end
      """
    )

    assert_refused(4, ~s(scope stands in the block of tool "run". Move it below the `end` of tool "run"), """
    #{@tool} do
      scope do
      end
    end
    """)
  end
end
