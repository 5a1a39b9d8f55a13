defmodule McpServer.LintTest do
  use McpServer.RouterCase, async: true

  import ExUnit.CaptureIO

  alias McpServer.Lint
  alias McpServer.Lint.Finding

  doctest McpServer.Lint

  @server "use McpServer.Router"

  defp codes(router, options \\ []), do: router |> Lint.run(options) |> Enum.map(& &1.code)

  defp described(bytes), do: String.duplicate("x", bytes)

  defp tool(description, options \\ "") do
    ~s(tool "t", "#{description}", McpServer.Handlers, :echo, hints: [:read_only]#{options})
  end

  test "a finding says what, where and what to do" do
    statements = "\n#{tool("A tool")} do\ninput_field \"list\", \"A list\", :array\nend"
    warned = capture_io(:stderr, fn -> send(self(), {:router, router!(statements)}) end)

    # Newer versions of Elixir add lines around the warning.
    assert warned =~ ~s(tool "t" /inputSchema/properties/list: the array has no `items` [array_items])
    assert warned =~ "router.ex:5"
    assert_received {:router, router}

    assert Lint.run(router) == [
             %Finding{
               severity: :error,
               code: :array_items,
               router: router,
               kind: "tool",
               name: "t",
               pointer: "/inputSchema/properties/list",
               message: "the array has no `items`",
               advice: "Say what its elements are, such as `items: :string`.",
               file: "router.ex",
               line: 5
             }
           ]

    assert router |> Lint.run() |> Enum.map(&Finding.format/1) == [
             ~s(router.ex:5: error: tool "t" /inputSchema/properties/list: the array has no `items` [array_items])
           ]
  end

  test "both sides of each budget" do
    assert codes(router!(tool(described(1_024)))) == []
    assert codes(router!(tool(described(1_025)))) == [:description_budget]
    assert codes(router!(tool(described(8))), description_tokens: 2) == []
    assert codes(router!(tool(described(9))), description_tokens: 2) == [:description_budget]

    instructed = fn bytes -> instructed(described(bytes)) end
    assert codes(instructed.(2_048)) == []
    assert codes(instructed.(2_049)) == [:instructions_budget]
    assert codes(instructed.(4), instructions_tokens: 1) == []
    assert codes(instructed.(5), instructions_tokens: 1) == [:instructions_budget]

    # {"name":"t","description":"A tool","inputSchema":{"properties":{},"type":"object"}} has 83 bytes.
    router = router!(tool("A tool"))
    assert codes(router, catalogue_tokens: 21) == []
    assert codes(router, catalogue_tokens: 20) == [:catalogue_budget]

    two = router!("#{tool("A tool")}\ntool \"u\", \"Another\", McpServer.Handlers, :echo, hints: [:read_only]")
    assert codes(two, max_tools: 2) == []
    assert codes(two, max_tools: 1) == [:tool_count]
  end

  defp instructed(text) do
    name = "Instructed#{System.unique_integer([:positive])}"
    [{module, _beam}] = Code.compile_string("defmodule #{name} do\n#{@server}, instructions: #{inspect(text)}\nend")
    module
  end

  test "both sides of the length of a tool's name" do
    named = fn length ->
      router!(~s(tool "#{String.duplicate("n", length)}", "A tool", McpServer.Handlers, :echo, hints: [:read_only]))
    end

    assert codes(named.(64)) == []
    assert codes(named.(65)) == [:tool_name]
  end

  test "defaults are asked of the formats that the tool asserts" do
    dated = fn options ->
      statements = """
      tool "t", "A tool", McpServer.Handlers, :echo, hints: [:read_only]#{options}, lint: [ignore: [:format]],
        input_schema: %{
          type: :object,
          properties: %{on: %{type: :string, description: "The day", format: "date", default: "today"}}
        }
      """

      router!(statements, ", lint: false")
    end

    assert [%{code: :invalid_default, pointer: "/inputSchema/properties/on/default", message: message}] =
             Lint.run(dated.(""))

    assert message ==
             ~s(the default "today" is refused by its own schema, which wants a date such as 2026-01-31 (format\))

    assert codes(dated.(", formats: :annotate")) == []
    assert codes(dated.(~s(, formats: ["time"]))) == []
  end

  test "what is only looked for, and what is ignored" do
    router = router!(~s(tool "a.b", nil, McpServer.Handlers, :echo))
    assert codes(router) == [:tool_name, :missing_description, :missing_annotations]
    assert codes(router, only: [:tool_name, :format]) == [:tool_name]
    assert codes(router, ignore: [:tool_name]) == [:missing_description, :missing_annotations]
    assert codes(router, only: [:tool_name], ignore: [:tool_name]) == []
  end

  test "a tool and a router say what is not looked for in them" do
    router =
      router!("""
      tool "a.b", "A tool", McpServer.Handlers, :echo, hints: [:read_only], lint: [ignore: [:tool_name]]
      tool "c.d", "A tool", McpServer.Handlers, :echo, hints: [:read_only]
      """)

    assert [%{name: "c.d", code: :tool_name}] = Lint.run(router)

    [{module, _beam}] =
      Code.compile_string("""
      defmodule Ignoring#{System.unique_integer([:positive])} do
        #{@server}, lint: [ignore: [:missing_annotations, :tool_name]]
        tool "a.b", "A tool", McpServer.Handlers, :echo
      end
      """)

    assert codes(module) == []
  end

  test "a prompt and a resource say so as well" do
    router =
      router!("""
      prompt "silent", nil, lint: [ignore: [:missing_description]] do
        get McpServer.Handlers, :greet
      end

      prompt "mute", nil do
        get McpServer.Handlers, :greet
      end

      resource "any", "pages://{name}" do
        description "A page"
        read McpServer.Handlers, :read
      end

      resource "home", "pages://home" do
        lint ignore: [:template_shadowed, :missing_description]
        read McpServer.Handlers, :read
      end

      resource "start", "pages://start" do
        lint ignore: [:missing_description]
        read McpServer.Handlers, :read
      end

      resource "other", "other://{name}" do
        read McpServer.Handlers, :read
        lint ignore: [:missing_description]
      end
      """)

    assert for(%{code: code, kind: kind, name: name} <- Lint.run(router), do: {code, kind, name}) == [
             {:missing_description, "prompt", "mute"},
             {:template_shadowed, "resource", "start"}
           ]
  end

  # Earlier, the finding was that the guarded resource answers, which is so for one form of its URI only.
  test "a guard that a wider template bypasses" do
    guards = fn narrow, wide, ignore ->
      router =
        router!("""
        resource "private", "file:///private/{name}"#{narrow} do
          #{ignore}
          read McpServer.Handlers, :read
        end

        resource "all", "file:///{+path}"#{wide} do
          read McpServer.Handlers, :read
        end
        """)

      for %{code: code} = finding <- Lint.run(router, ignore: [:missing_description]), do: {code, finding.name}
    end

    staff = ", authorize: {McpServer.PermissionRouter.Handlers, :staff}"
    always = staff <> ", listed: :always"
    own = ", visible: {McpServer.PermissionRouter.Handlers, :own}"
    scopes = ~s(, scopes: ["files:read"])

    for {narrow, wide} <- [{staff, ""}, {own, ""}, {scopes, ""}, {staff, own}, {scopes, staff}],
        do: assert({narrow, wide, guards.(narrow, wide, "")} == {narrow, wide, [{:guard_overlap, "private"}]})

    # An open resource inside of a guarded template is an exception.
    for {narrow, wide} <- [{"", ""}, {"", staff}, {staff, staff}, {staff, always}],
        do: assert({narrow, wide, guards.(narrow, wide, "")} == {narrow, wide, [{:template_overlap, "all"}]})

    assert guards.(staff, "", "lint ignore: [:guard_overlap]") == []
  end

  test "what the router says of lint is checked" do
    assert_refused(
      3,
      ~s(`lint` of tool "a" ignores :formt, which is no code of McpServer.Lint, did you mean format?),
      ~s(tool "a", "A", McpServer.Handlers, :echo, lint: [ignore: [:formt]])
    )

    assert_refused(
      3,
      ~s(`lint` of tool "a" is [ignore: [codes]]; a whole router says `lint: false`),
      ~s(tool "a", "A", McpServer.Handlers, :echo, lint: false)
    )

    assert_refused(
      3,
      ~s(`lint` of tool "a" is false or [ignore: [codes]], got: :none),
      ~s(tool "a", "A", McpServer.Handlers, :echo, lint: :none)
    )

    assert_refused(
      3,
      ~s(`lint` of prompt "a" is [ignore: [codes]]; a whole router says `lint: false`),
      ~s(prompt "a", "A", lint: false do\nget McpServer.Handlers, :greet\nend)
    )

    for {statement, said} <- [
          {"lint false", "is [ignore: [codes]]; a whole router says `lint: false`"},
          {"lint ignore: [:templte_shadowed]",
           "ignores :templte_shadowed, which is no code of McpServer.Lint, did you mean template_shadowed?"},
          {"lint [:format]", "is false or [ignore: [codes]], got: [:format]"}
        ] do
      # The error names the line of the statement.
      assert_refused(
        4,
        ~s(`lint` of resource "a" #{said}),
        ~s(resource "a", "a://a" do\n#{statement}\nread McpServer.Handlers, :read\nend)
      )
    end
  end

  test "options, codes, budgets and routers that there are not" do
    router = router!(tool("A tool"))
    assert_raise ArgumentError, fn -> Lint.run(router, tokens: 1) end
    # A repeated option raises, so that no list is dropped silently.
    assert_raise ArgumentError, fn -> Lint.run(router, ignore: [:format], ignore: [:reference]) end

    assert_raise ArgumentError, "there is no code :formt; see McpServer.Lint.codes/0", fn ->
      Lint.run(router, ignore: [:formt])
    end

    for {options, message} <- [
          {[max_tools: 0], "expected :max_tools to be an integer from 1 to 10_000_000, got: 0"},
          {[max_tools: nil], "expected :max_tools to be an integer from 1 to 10_000_000, got: nil"},
          {[ignore: :format], "expected :ignore to be a list of codes, got: :format"}
        ] do
      assert_raise ArgumentError, message, fn -> Lint.run(router, options) end
    end

    assert_raise ArgumentError, "String is not a router: it does not `use McpServer.Router`", fn -> Lint.run(String) end
  end

  test "hints and annotations both say what a tool does" do
    hinted = fn options -> codes(router!(~s(tool "t", "A tool", McpServer.Handlers, :echo#{options}))) end

    assert hinted.("") == [:missing_annotations]
    assert hinted.(", hints: []") == []
    assert hinted.(", annotations: [destructive_hint: false]") == []
  end

  test "a list that the router computes is not looked at" do
    router =
      router!("""
      def list_tools(_conn), do: {:ok, []}
      #{tool("A tool")}
      """)

    assert codes(router) == []
  end

  describe "where a router raises its limits, lint looks as far" do
    test "into schemas" do
      # Arrays, because nested properties would exceed the depth limit of JSON.
      list =
        Enum.reduce(1..70, %{"type" => "string", "minLength" => 2, "maxLength" => 1}, fn _level, inner ->
          %{"type" => "array", "items" => inner, "minItems" => 1}
        end)

      schema = %{"type" => "object", "properties" => %{"p" => Map.put(list, "description", "A list")}}

      tool = tool("A tool", ", input_schema: #{inspect(schema, limit: :infinity)}")
      router = router!(tool, ", lint: false, schema_limits: [max_depth: 100]")
      assert :unsatisfiable in codes(router)
    end

    test "into URI templates" do
      template = fn name ->
        variables = Enum.map_join(1..33, "/", &"{#{name}#{&1}}")
        ~s(resource "#{name}", "x://#{variables}" do\ndescription "D"\nread McpServer.Handlers, :read\nend)
      end

      router = router!(template.("a") <> "\n" <> template.("b"), ", lint: false, template_limits: [max_variables: 33]")
      assert codes(router) == [:same_template]
    end
  end
end
