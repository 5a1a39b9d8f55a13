defmodule McpServer.Router.VerifyTest do
  # The checks after all modules were compiled: the named functions exist, and the core can serve the router.
  use McpServer.RouterCase, async: true

  import ExUnit.CaptureIO

  # Earlier, the second was found by no request, or by its own text only.
  test "two forms of one URI" do
    assert_refused(
      7,
      ~s(resource "b": uri: file:///%7Ea is another form of file:///~a, which is declared already),
      """
      resource "a", "file:///~a" do
        read McpServer.Handlers, :read
      end

      resource "b", "file:///%7Ea" do
        read McpServer.Handlers, :read
      end
      """
    )
  end

  @tag req: "S4-75"
  test "a tool's module that does not exist" do
    assert_refused(
      4,
      ~s(tool "add" names Missing.Calculator.add/2, but there is no module Missing.Calculator),
      ~s(\ntool "add", "Adds", Missing.Calculator, :add)
    )
  end

  @tag req: "S4-75"
  test "a tool's module whose name is mistyped" do
    assert_refused(
      3,
      ~s(tool "add" names McpServer.Handlrs.echo/2, but there is no module McpServer.Handlrs, ) <>
        "did you mean McpServer.Handlers?",
      ~s(tool "add", "Adds", McpServer.Handlrs, :echo)
    )
  end

  @tag req: "S4-75"
  test "a tool's function that does not exist" do
    assert_refused(
      3,
      ~s(tool "add" names McpServer.Handlers.ecko/2, which is not a public function, did you mean echo?),
      ~s(tool "add", "Adds", McpServer.Handlers, :ecko)
    )
  end

  @tag req: "S4-75"
  test "a tool's function of another arity" do
    assert_refused(
      3,
      ~s[tool "add" names McpServer.Handlers.complete/2, which is not a public function (there is complete/3)],
      ~s(tool "add", "Adds", McpServer.Handlers, :complete)
    )
  end

  # A default argument makes a function of the conn one of the conn and the arguments, and lists would show the entry.
  test "a function of authorize: with both arities" do
    assert_refused(
      3,
      ~s(authorize of tool "add" names both String.upcase/1 and String.upcase/2, and only one can decide. ) <>
        "Write &String.upcase/1 or &String.upcase/2",
      ~s(tool "add", "Adds", McpServer.Handlers, :echo, authorize: {String, :upcase})
    )
  end

  @tag req: "S4-75"
  test "a prompt's get that does not exist" do
    assert_refused(
      4,
      ~r/\A`get` of prompt "greet" names McpServer.Handlers.get_greet\/2, which is not a public function/,
      """
      prompt "greet", "Greets", completion: false do
        get McpServer.Handlers, :get_greet
      end
      """
    )
  end

  @tag req: "S4-75"
  test "a prompt's complete that does not exist" do
    assert_refused(
      6,
      ~r/\A`complete` of prompt "greet" names McpServer.Handlers.greet\/3, which is not .* \(there is greet\/2\)\z/,
      """
      prompt "greet", "Greets" do
        argument "name", "Who"
        get McpServer.Handlers, :greet
        complete McpServer.Handlers, :greet
      end
      """
    )
  end

  @tag req: "S4-79"
  test "a resource's read that does not exist" do
    assert_refused(
      4,
      ~r/\A`read` of resource "a" names Missing.Files.read\/2, but there is no module Missing.Files\z/,
      """
      resource "a", "file:///a" do
        read Missing.Files, :read
      end
      """
    )
  end

  @tag req: "S4-81"
  test "a resource's complete that does not exist is only a warning, since the resource can be read" do
    warning =
      capture_io(:stderr, fn ->
        router!("""
        resource "a", "file:///{name}" do
          read McpServer.Handlers, :read
          complete McpServer.Handlers, :complete_name
        end
        """)
      end)

    assert warning =~
             ~s(`complete` of resource "a" names McpServer.Handlers.complete_name/3, which is not a public function)

    assert warning =~ "router.ex:5"
  end

  @tag req: "S4-81"
  test "everything that is wrong is told at once" do
    assert_refused(
      3,
      ~s(tool "add" names Missing.Calculator.add/2, but there is no module Missing.Calculator\n) <>
        ~s(router.ex:3: tool "add": inputSchema: property "a": x-mcp-header needs the type string, integer or boolean\n) <>
        ~s(router.ex:5: `read` of resource "a" names McpServer.Handlers.reed/2, which is not a public function, ) <>
        "did you mean read?",
      """
      tool "add", "Adds", Missing.Calculator, :add, input_schema: %{type: "object", properties: %{a: %{"type" => "number", "x-mcp-header" => "A"}}}
      resource "a", "file:///a" do
        read McpServer.Handlers, :reed
      end
      """
    )
  end

  test "a router may name its own functions, and modules that come after it" do
    Code.compile_string("""
    defmodule SelfContained do
      use McpServer.Router

      tool "own", "Its own", __MODULE__, :own
      tool "later", "Defined below", SelfContained.Later, :run
      tool "nested", "Under its own name", __MODULE__.Later, :run

      def own(_conn, _arguments), do: {:ok, []}
    end

    defmodule SelfContained.Later do
      def run(_conn, _arguments), do: {:ok, []}
    end
    """)

    router = Module.concat([SelfContained])
    later = Module.concat([SelfContained.Later])
    handlers = for entry <- Tuple.to_list(router.__mcp__(:tool_handlers)), do: entry.handler
    assert handlers == [{router, :own}, {later, :run}, {later, :run}]
  end

  test "a router may have its handlers, and the names of statements among them, in its own module" do
    Code.compile_string(~S"""
    defmodule OneModule do
      use McpServer.Router
      use McpServer.Controller

      tool "field", "Names of the DSL", __MODULE__, :field do
        input_field "field", "A field", :object do
          field "field", "A field", :string
        end
      end

      prompt "get", "Gets", completion: false do
        get __MODULE__, :get
      end

      resource "read", "read:me" do
        title "Read"
        read __MODULE__, :read
      end

      def field(_conn, _arguments), do: {:ok, [resource("a:b", text: title("x"))]}
      def get(_conn, _arguments), do: [message("user", "hi")]
      def read(_conn, _variables), do: content("a", "a:b", text: title("x"))
      def title(text), do: text
    end
    """)

    router = Module.concat([OneModule])
    assert {:ok, [%{resource: %{text: "x"}}]} = router.call_tool(%McpServer.Conn{}, "field", %{})
    assert {:ok, %{contents: [%{text: "x"}]}} = router.read_resource(%McpServer.Conn{}, "read:me", %{})
  end

  describe "what the core refuses is refused at the declaration" do
    @tag req: "S4-72"
    test "a schema that is none" do
      assert_refused(4, ~r/\Atool "add": inputSchema: the schema is invalid: \/properties\/a\/type: must be /, """

      tool "add", "Adds", McpServer.Handlers, :echo, input_schema: %{type: "object", properties: %{a: %{type: "strin"}}}
      """)
    end

    test "a pattern that cannot be matched in linear time" do
      assert_refused(4, ~r/\Atool "add": inputSchema: the schema is invalid: \/properties\/a\/pattern: /, """
      tool "add", "Adds", McpServer.Handlers, :echo do
        input_field "a", "A", :string, pattern: "(?=a)"
      end
      """)
    end

    test "a reference that leads out of the schema" do
      assert_refused(3, ~r/\Atool "add": outputSchema: the reference "https:\/\/example.com\/x" leads nowhere/, """
      tool "add", "Adds", McpServer.Handlers, :echo, output_schema: %{"$ref" => "https://example.com/x"}
      """)
    end

    @tag req: "M21"
    test "a header parameter that clients would drop the tool for" do
      assert_refused(
        3,
        ~s(tool "add": inputSchema: property "a": x-mcp-header needs the type string, integer or boolean),
        """
        tool "add", "Adds", McpServer.Handlers, :echo, input_schema: %{type: "object", properties: %{a: %{"type" => "number", "x-mcp-header" => "A"}}}
        """
      )
    end

    @tag req: "S4-77"
    test "a URI that is none after all" do
      assert_refused(3, ~s(resource "a": uri: must be an absolute URI), """
      resource "a", "https://[::1/x" do
        read McpServer.Handlers, :read
      end
      """)
    end

    @tag req: "S4-77"
    test "a template that cannot be matched without doubt" do
      assert_refused(3, ~s(resource template "a": uriTemplate: nothing separates "b" from the variable before it), """
      resource "a", "users://{a}{b}" do
        read McpServer.Handlers, :read
      end
      """)
    end
  end
end
