defmodule McpServer.Router.ShortFormTest do
  # `input`, `output` and `run`: a server in one module.
  use McpServer.RouterCase, async: true

  alias McpServer.Test

  defmodule Long do
    use McpServer.Router

    tool "note", "Notes", McpServer.Handlers, :echo do
      input_field "title", "Its title", :string, required: true, max_length: 80
      input_field "tags", "Labels", :array, items: :string, default: []
      input_field "either", "One of two", [:string, :null]

      input_field "author", "Who wrote it", :object, undeclared: :pass do
        field "name", "Name", :string
        field "born", "Birthday", :date
      end

      input_field "lines", "The lines", :array, min_items: 1 do
        items :object do
          field "text", "Text", :string, default: ""
        end
      end

      input_field "editor", "Who edited it", [:object, :null] do
        field "name", "Name", :string
      end

      input_field "links", "Links, or null", [:array, :null] do
        items :uri
      end

      output_field "id", "Its id", :integer, required: true
    end
  end

  defmodule Short do
    use McpServer.Router

    tool "note", "Notes", McpServer.Handlers, :echo do
      input title: {:string, "Its title", required: true, max_length: 80},
            tags: {[:string], "Labels", default: []},
            either: {[:string, :null], "One of two"},
            author: {%{name: {:string, "Name"}, born: {:date, "Birthday"}}, "Who wrote it", undeclared: :pass},
            lines: {[%{text: {:string, "Text", default: ""}}], "The lines", min_items: 1},
            editor: {[%{name: {:string, "Name"}}, :null], "Who edited it"},
            links: {[[:uri], :null], "Links, or null"}

      output id: {:integer, "Its id", required: true}
    end
  end

  defmodule OneModule do
    use McpServer.Router

    tool "add", "Adds two numbers" do
      input a: {:number, "First", required: true}, b: {:number, "Second", required: true}
      run fn _conn, %{"a" => a, "b" => b} -> "#{a + b}" end
    end

    tool "private", "Runs a private function", arguments: :atoms do
      input text: {:string, "The text"}
      run &items/2
    end

    for name <- ["one", "two"] do
      tool name, "Says its name" do
        run fn _conn, _arguments -> unquote(name) end
      end
    end

    tool "own", "Runs a function of the router", :own, hints: [:read_only]

    # Outside their blocks the names of statements can be used for functions.
    defp items(_conn, %{text: text}), do: String.upcase(text)
    def own(_conn, _arguments), do: "own"
  end

  defp text(tool, arguments, revision) do
    {:ok, %{"content" => [%{"text" => text}]}} = Test.call_tool(OneModule, tool, arguments, revision: revision)

    text
  end

  test "the short form says what the long one does" do
    assert Short.__mcp__(:tools) == Long.__mcp__(:tools)
    assert Map.delete(elem(Short.__mcp__(:tool_handlers), 0), :place) == elem(Long.__mcp__(:tool_handlers), 0)
  end

  test "a function in the block is called, and so is one of the router's own" do
    for revision <- ["2025-11-25", "2026-07-28"] do
      assert text("add", %{"a" => 1, "b" => 2.5}, revision) == "3.5"
      assert text("private", %{"text" => "a"}, revision) == "A"
      assert text("one", %{}, revision) == "one"
      assert text("two", %{}, revision) == "two"
      assert text("own", %{}, revision) == "own"
    end

    assert [_add, _private, _one, _two, %{annotations: %{readOnlyHint: true}}] = OneModule.__mcp__(:tools)
  end

  test "a field that is described otherwise is refused at its line" do
    # A literal pair has no line in the AST.
    assert_refused(
      4,
      ~s(`input` describes "b" as {type, description} or {type, description, options}, got: :string. ) <>
        ~s(Write: input b: {:string, "What it is"}),
      """
      tool "t", "T", McpServer.Handlers, :echo do
        input a: {:string, "A", required: true}, b: :string
      end
      """
    )

    assert_refused(5, ~r/\Athe default of input field "b" of tool "t" is 1, which its own schema refuses: /, """
    tool "t", "T", McpServer.Handlers, :echo do
      input a: {:string, "A", required: true},
            b: {:string, "B", default: 1}
    end
    """)

    assert_refused(4, ~s(input field "a" of tool "t" has no type :strin, did you mean :string? ) <> types(), """
    tool "t", "T", McpServer.Handlers, :echo do
      input a: {:strin, "A"}
    end
    """)

    assert_refused(
      4,
      ~s(`input` takes fields by their names, got: "title". Write: input title: {:string, "The title"}),
      """
      tool "t", "T", McpServer.Handlers, :echo do
        input "title"
      end
      """
    )
  end

  test "the parameters of input_field belong to input_field" do
    for {arguments, written} <- [
          {~s("title", "The title", :string), ~s("title", "The title", :string)},
          {~s("title", "The title"), ~s("title", "The title")},
          {~s("title", "The title", :string, required: true), ~s("title", "The title", :string, required: true)},
          {~s("o", "An object", :object do\nend), ~s("o", "An object", :object do)},
          {~s("o", "An object", :object, required: true do\nend), ~s("o", "An object", :object, required: true do)}
        ],
        statement <- ["input", "output"] do
      assert_refused(
        4,
        ~s(`#{statement}` takes fields by their names: #{statement} title: {:string, "The title"}. ) <>
          "Write: #{statement}_field #{written}",
        "tool \"t\", \"T\", McpServer.Handlers, :echo do\n#{statement} #{arguments}\nend"
      )
    end
  end

  test "a tool has one function" do
    assert_refused(4, ~s(tool "t" has a function already, McpServer.Handlers.echo/2. Remove it or `run`), """
    tool "t", "T", McpServer.Handlers, :echo do
      run fn _conn, _arguments -> "t" end
    end
    """)

    assert_refused(5, ~r/\Atool "t" has a function already, RouterCase\d+.run t\/2. Remove it or `run`\z/, """
    tool "t", "T" do
      run fn _conn, _arguments -> "t" end
      run fn _conn, _arguments -> "t" end
    end
    """)

    assert_refused(
      5,
      ~s(`run` stands in the block of input field "o" of tool "t". It belongs in the block of the tool),
      """
      tool "t", "T" do
        input_field "o", "O", :object do
          run fn _conn, _arguments -> "t" end
        end
      end
      """
    )
  end

  test "run takes a function of two arguments" do
    for {code, got} <- [
          {"fn _a -> :a end", "a function of 1 argument"},
          {"fn -> :a end", "a function of 0 arguments"},
          {"fn\n _a, _b, c when is_map(c) -> :a\n _a, _b, _c -> :b\n end", "a function of 3 arguments"},
          {"&own/1", "a function of 1 argument"},
          {"&String.upcase(&1)", "a function of 1 argument"},
          {"&{&1, &3}", "a function of 3 arguments"},
          {"{MyApp.Tools, :own}", "{MyApp.Tools, :own}"},
          {"MyApp.Tools", "MyApp.Tools"},
          {":own", ":own"}
        ] do
      assert_refused(
        4,
        ~s(`run` of tool "t" takes a function of the conn and the arguments, got: #{got}. ) <>
          "Write: run fn conn, arguments -> … end",
        "tool \"t\", \"T\" do\nrun #{code}\nend"
      )
    end

    router =
      router!("""
      tool "guarded", "G" do
        run fn
          _conn, %{"a" => a} when is_binary(a) -> a
          _conn, arguments -> inspect(arguments)
        end
      end

      tool "called", "C" do
        run made()
      end

      tool "captured", "C" do
        run &(&1.session_id <> inspect(&2))
      end

      defp made, do: fn _conn, _arguments -> "made" end
      """)

    for {tool, text} <- [{"guarded", "%{}"}, {"called", "made"}, {"captured", "s%{}"}],
        do: assert({:ok, [%{text: ^text}]} = router.call_tool(%McpServer.Conn{session_id: "s"}, tool, %{}))
  end

  test "a function of the router that does not exist is missed" do
    assert_refused(3, ~r/\Atool "t" names RouterCase\d+.own\/2, which /, ~s(tool "t", "T", :own))
  end

  defp types do
    "The types are: :string, :number, :integer, :boolean, :object, :array, :null, :date, :time, :datetime, " <>
      ":naive_datetime, :decimal, :uuid, :uri, :text"
  end
end
