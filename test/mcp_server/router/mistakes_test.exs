defmodule McpServer.Router.MistakesTest do
  # One test for each thing that is checked while a router compiles. In every router the statements
  # begin on line 3.
  use McpServer.RouterCase, async: true

  describe "the options of use" do
    @tag req: "S4-81"
    test "one that does not exist" do
      source = """
      defmodule Unknown do
        use McpServer.Router, nmae: "x"
      end
      """

      error = assert_raise CompileError, fn -> Code.compile_string(source, "router.ex") end
      assert %{file: "router.ex", line: 2} = error

      assert error.description =~
               "`use McpServer.Router` has no option nmae, did you mean name?"
    end

    for {options, message} <- [
          {"page_size: 0", "the page_size of `use McpServer.Router` is at least 1, got: 0"},
          {"ttl: -1", "expected :ttl of `use McpServer.Router` to be a non-negative integer, got: -1"},
          {"cache_scope: :shared",
           ~s(expected :cache_scope of `use McpServer.Router` to be one of :private, :public, got: :shared)},
          {":name", "the options of `use McpServer.Router` are a keyword list or a map, got: :name"}
        ] do
      @tag req: "S4-81"
      test "#{options} is refused" do
        source = "defmodule Wrong do\n\nuse McpServer.Router, #{unquote(options)}\nend"
        error = assert_raise CompileError, fn -> Code.compile_string(source, "router.ex") end
        assert %{file: "router.ex", line: 3, description: unquote(message)} = error
      end
    end
  end

  describe "tools" do
    @tag req: "S4-70"
    test "the same name twice" do
      assert_refused(5, ~s(Tool "add" is already defined, at router.ex:3. Rename or remove one), """
      tool "add", "Adds", McpServer.Handlers, :echo

      tool "add", "Adds again", McpServer.Handlers, :bare
      """)
    end

    for {name, shown} <- [
          {~s("with space"), ~s("with space")},
          {~s(""), ~s("")},
          {":add", ":add"},
          {~s("größe"), ~s("größe")}
        ] do
      @tag req: "S4-70"
      test "#{name} is no name for a tool" do
        assert_refused(
          3,
          "a tool's name is 1 to 128 characters of A-Z a-z 0-9 _ . / -, got: #{unquote(shown)}",
          "tool #{unquote(name)}, nil, McpServer.Handlers, :echo"
        )
      end
    end

    @tag req: "S4-70"
    test "a name has 128 characters, and not 129" do
      assert [%{name: name}] =
               router!("tool \"#{String.duplicate("a", 128)}\", nil, McpServer.Handlers, :echo").__mcp__(:tools)

      assert byte_size(name) == 128

      assert_refused(
        3,
        ~r/1 to 128 characters/,
        "tool \"#{String.duplicate("a", 129)}\", nil, McpServer.Handlers, :echo"
      )
    end

    @tag req: "S4-71"
    test "the same input field twice" do
      assert_refused(5, ~s(input field "a" of tool "add" is already defined, at router.ex:4. Rename or remove one), """
      tool "add", "Adds", McpServer.Handlers, :echo do
        input_field "a", "One", :number
        input_field "a", "Two", :number
      end
      """)
    end

    @tag req: "S4-71"
    test "the same output field twice" do
      assert_refused(5, ~s(output field "a" of tool "add" is already defined, at router.ex:4. Rename or remove one), """
      tool "add", "Adds", McpServer.Handlers, :echo do
        output_field "a", "One", :number
        output_field "a", "Two", :number
      end
      """)
    end

    @tag req: "S4-71"
    test "the same field twice in an object" do
      assert_refused(
        6,
        ~s(field "a" of input field "o" of tool "add" is already defined, at router.ex:5. Rename or remove one),
        """
        tool "add", "Adds", McpServer.Handlers, :echo do
          input_field "o", "Object", :object do
            field "a", "One", :number
            field "a", "Two", :number
          end
        end
        """
      )
    end

    @tag req: "S4-71"
    test "the same name as input and as output is fine" do
      router =
        router!("""
        tool "echo", "Echoes", McpServer.Handlers, :echo do
          input_field "message", "In", :string
          output_field "message", "Out", :string
        end
        """)

      assert [%{inputSchema: %{"properties" => %{"message" => _}}, outputSchema: %{"properties" => %{"message" => _}}}] =
               router.__mcp__(:tools)
    end

    @tag req: "S4-72"
    test "a type that JSON Schema does not have" do
      assert_refused(
        4,
        ~s(input field "a" of tool "add" has no type :strin, did you mean :string? ) <>
          "The types are: :string, :number, :integer, :boolean, :object, :array, :null",
        """
        tool "add", "Adds", McpServer.Handlers, :echo do
          input_field "a", "One", :strin
        end
        """
      )
    end

    @tag req: "S4-72"
    test "the seven types there are, as atoms, strings and lists" do
      router =
        router!("""
        tool "all", "All", McpServer.Handlers, :echo, lint: [ignore: [:array_items]] do
          for type <- [:string, :number, :integer, :boolean, :object, :array, :null] do
            input_field type, "As an atom", type
            output_field type, "As a string", to_string(type)
          end

          input_field "either", "Two", [:string, :null]
        end
        """)

      [tool] = router.__mcp__(:tools)
      types = Map.new(tool.outputSchema["properties"], fn {name, schema} -> {name, schema["type"]} end)
      assert types == Map.new(~w(string number integer boolean object array null), &{&1, &1})
      assert tool.inputSchema["properties"]["either"]["type"] == ["string", "null"]
      assert Map.keys(tool.inputSchema["properties"]) == Enum.sort(["either" | Map.keys(types)])
    end

    @tag req: "S4-72"
    test "an items type that JSON Schema does not have" do
      assert_refused(4, ~r/\Aitems of input field "a" of tool "add" has no type :text/, """
      tool "add", "Adds", McpServer.Handlers, :echo do
        input_field "a", "One", :array, items: :text
      end
      """)
    end

    @tag req: "S4-73"
    test "required that is no boolean" do
      assert_refused(4, ~s(expected :required of input field "a" of tool "add" to be a boolean, got: "yes"), """
      tool "add", "Adds", McpServer.Handlers, :echo do
        input_field "a", "One", :number, required: "yes"
      end
      """)
    end

    @tag req: "S4-73"
    test "a required property that the schema does not declare" do
      assert_refused(
        4,
        ~s(the input_schema of tool "add" requires "messgae", which is none of its properties, ) <>
          "did you mean message? They are: message",
        """
        tool "add", "Adds", McpServer.Handlers, :echo do
          input_schema %{type: :object, properties: %{message: %{type: :string}}, required: ["messgae"]}
        end
        """
      )
    end

    @tag req: "S4-73"
    test "what another part of the schema declares may be required" do
      assert [%{inputSchema: %{"required" => ["b"]}}] =
               router!("""
               tool "add", "Adds", McpServer.Handlers, :echo, lint: [ignore: [:root_combinator]] do
                 input_schema %{type: :object, properties: %{}, required: ["b"], allOf: [%{properties: %{b: true}}]}
               end
               """).__mcp__(:tools)
    end

    @tag req: "S4-81"
    test "a field option that does not exist" do
      assert_refused(
        4,
        ~r/\Ainput field "a" of tool "add" has no option requird, did you mean required\?\z/,
        """
        tool "add", "Adds", McpServer.Handlers, :echo do
          input_field "a", "One", :number, requird: true
        end
        """
      )
    end

    @tag req: "S4-81"
    test "a tool option that does not exist" do
      assert_refused(
        3,
        ~s(tool "add" has no option zzz. Its options are: title, hints, annotations, ui, visibility, ) <>
          "timeout, requires, authorize, input_schema, output_schema, additional_properties, icons, execution, task_support, " <>
          "task_start, meta, result_budget, formats, repair, lint",
        ~s(tool "add", "Adds", McpServer.Handlers, :echo, zzz: [:read_only])
      )

      assert_refused(
        3,
        ~s(tool "add" has no option hint, did you mean hints?),
        ~s(tool "add", "Adds", McpServer.Handlers, :echo, hint: [:read_only])
      )
    end

    test "an authorize that is no function" do
      for {statement, what} <- [
            {~s(tool "add", "Adds", McpServer.Handlers, :echo, authorize: :me), ~s(tool "add")},
            {~s(prompt "p", "A prompt", authorize: :me do get McpServer.Handlers, :greeting end), ~s(prompt "p")},
            {~s(resource "r", "x://r", authorize: :me do read McpServer.Handlers, :read end), ~s(resource "r")},
            {~s(resource "t", "x://{t}", authorize: :me do read McpServer.Handlers, :read end), ~s(resource "t")}
          ] do
        message = "authorize of #{what} must be {module, function}, got: :me. Write: authorize: {MyApp.Auth, :me}"
        assert_refused(3, message, statement)
        missing = String.replace(statement, ":me", "{McpServer.Handlers, :nobody}")
        assert_refused(3, ~r/^authorize of #{what} names McpServer.Handlers.nobody\/1, which is not a public/, missing)
      end
    end

    test "an option that a resource does not have" do
      assert_refused(
        3,
        ~s(resource "r" has no option autorize, did you mean authorize?),
        ~s(resource "r", "x://r", autorize: {McpServer.Handlers, :echo} do read McpServer.Handlers, :read end)
      )
    end

    @tag req: "S4-81"
    test "a hint that does not exist" do
      assert_refused(
        3,
        ~s(tool "add" has no hint :readonly, did you mean :read_only? The hints are: :read_only, :non_destructive, ) <>
          ":idempotent, :closed_world",
        ~s(tool "add", "Adds", McpServer.Handlers, :echo, hints: [:readonly])
      )
    end

    @tag req: "S4-81"
    test "hints and annotations together" do
      assert_refused(
        3,
        ~s(tool "add" has both `hints:` and `annotations:`, which say the same: keep one),
        ~s(tool "add", "Adds", McpServer.Handlers, :echo, hints: [], annotations: [title: "Add"])
      )
    end

    @tag req: "S4-81"
    test "a timeout of nothing" do
      assert_refused(
        3,
        ~s(timeout of tool "add" must be a number of milliseconds above 0, such as 5_000, got: 0),
        ~s(tool "add", "Adds", McpServer.Handlers, :echo, timeout: 0)
      )
    end

    @tag req: "S4-81"
    test "a capability that clients do not have" do
      assert_refused(
        3,
        ~s(expected :requires of tool "add" to be a list, each element one of :sampling, :elicitation, :roots, got: [:tools]),
        ~s(tool "add", "Adds", McpServer.Handlers, :echo, requires: [:tools])
      )
    end

    @tag req: "S4-81"
    test "an icon without its source" do
      assert_refused(
        3,
        "McpServer.Icon needs :src",
        ~s(tool "add", "Adds", McpServer.Handlers, :echo, icons: [[mime_type: "image/png"]])
      )
    end

    @tag req: "S4-81"
    test "a description that is no text" do
      assert_refused(
        3,
        ~s(the description of tool "add" is a string, got: :adds),
        ~s(tool "add", :adds, McpServer.Handlers, :echo)
      )
    end

    @tag req: "S4-42"
    test "a visibility there is not" do
      assert_refused(
        3,
        ~s(expected :visibility of tool "add" to be a list, each element one of :model, :app, got: [:user]),
        ~s(tool "add", "Adds", McpServer.Handlers, :echo, visibility: [:user])
      )
    end

    @tag req: "S4-42"
    test "a visibility for nobody" do
      assert_refused(
        3,
        ~s(the visibility of tool "add" is :model, :app or both, got: [], with which nobody may call it. Write: visibility: [:model]),
        ~s(tool "add", "Adds", McpServer.Handlers, :echo, visibility: [])
      )
    end

    @tag req: ["S4-42", "S4-81"]
    test "a view that is no ui:// resource" do
      assert_refused(
        3,
        ~s(tool "add": its ui must be the URI of a ui:// resource of this router, such as "ui://app/view", ) <>
          ~s(got: "https://example.com"),
        ~s(tool "add", "Adds", McpServer.Handlers, :echo, ui: "https://example.com")
      )
    end

    @tag req: ["S4-42", "S4-81"]
    test "a view that the router does not declare" do
      assert_refused(
        7,
        ~s(tool "add": its ui is no resource of this router: ui://app/dashbord, did you mean ui://app/dashboard? ) <>
          "Its ui:// resources: ui://app/dashboard",
        """
        resource "dashboard", "ui://app/dashboard" do
          read McpServer.Handlers, :read
        end

        tool "add", "Adds", McpServer.Handlers, :echo, ui: "ui://app/dashbord"
        """
      )
    end

    @tag req: "S4-42"
    test "a view that is like none of the router's, or in a router without" do
      assert_refused(
        8,
        ~s(tool "add": its ui is no resource of this router: ui://other/thing. Its ui:// resources: ui://a/1, ui://b/{c}),
        """
        resource "a", "ui://a/1" do
          read McpServer.Handlers, :read
        end
        resource "b", "ui://b/{c}" do
          read McpServer.Handlers, :read
        end; tool "add", "Adds", McpServer.Handlers, :echo, ui: "ui://other/thing"
        """
      )

      assert_refused(
        3,
        ~s(tool "add": its ui is no resource of this router: ui://a. Its ui:// resources: there is none),
        ~s(tool "add", "Adds", McpServer.Handlers, :echo, ui: "ui://a")
      )
    end

    @tag req: "S4-42"
    test "a view that a template begins like, but does not match" do
      assert_refused(
        7,
        ~r/\Atool "add": its ui is no resource of this router: ui:\/\/app\/a\/b[,.]/,
        """
        resource "views", "ui://app/{view}" do
          read McpServer.Handlers, :read
        end

        tool "add", "Adds", McpServer.Handlers, :echo, ui: "ui://app/a/b"
        """
      )
    end

    # Until lists that a router computes were told from what can be read, such a tool went through
    # and its view was never found.
    @tag req: "S4-42"
    test "a view that is only in a list the router computes" do
      assert_refused(3, ~r/\Atool "add": its ui is no resource of this router: ui:\/\/a\. /, """
      tool "add", "Adds", McpServer.Handlers, :echo, ui: "ui://a"
      def list_resources(_conn), do: {:ok, [%McpServer.Resource{name: "a", uri: "ui://a"}]}
      """)
    end

    @tag req: ["S4-42", "RES-53"]
    test "a view that is missing though the tool names it in its _meta" do
      assert_refused(3, ~r/\Atool "add": its ui is no resource of this router: ui:\/\/a\. /, """
      tool "add", "Adds", McpServer.Handlers, :echo, meta: %{"ui" => %{"resourceUri" => "ui://a"}}
      """)
    end

    @tag req: "S4-81"
    test "fields and a schema for the same" do
      assert_refused(3, ~s(tool "add" has both input_schema and input_field, which say the same: keep one), """
      tool "add", "Adds", McpServer.Handlers, :echo do
        input_field "a", "One", :number
        input_schema %{"type" => "object"}
      end
      """)
    end

    @tag req: "S4-81"
    test "an option that belongs in the schema" do
      assert_refused(
        3,
        ~s(tool "add" has both `additional_properties:` and `input_schema`. Write additionalProperties in the schema),
        ~s(tool "add", "Adds", McpServer.Handlers, :echo, additional_properties: false, input_schema: %{type: :object})
      )
    end

    @tag req: "S4-81"
    test "two schemas for the same" do
      assert_refused(4, ~s(the output_schema of tool "add" is already defined. Remove one), """
      tool "add", "Adds", McpServer.Handlers, :echo, output_schema: %{"type" => "object"} do
        output_schema %{"type" => "object"}
      end
      """)
    end

    @tag req: "S4-81"
    test "an input schema whose root is no object" do
      assert_refused(3, ~s(the input_schema of tool "add" must have the type "object", got: "array"), """
      tool "add", "Adds", McpServer.Handlers, :echo, input_schema: %{"type" => "array"}
      """)
    end

    @tag req: "S4-81"
    test "a schema that is none" do
      assert_refused(4, ~s(the output_schema of tool "add" must be a JSON object, got: ["object"]), """
      tool "add", "Adds", McpServer.Handlers, :echo do
        output_schema [:object]
      end
      """)

      assert_refused(3, ~s(the input_schema of tool "add" must be a JSON object, got: false), """
      tool "add", "Adds", McpServer.Handlers, :echo, input_schema: false
      """)
    end

    @tag req: "S4-81"
    test "a schema that is text, but not JSON" do
      assert_refused(4, ~r/\Athe input_schema of tool "add" is not JSON: /, """
      tool "add", "Adds", McpServer.Handlers, :echo do
        input_schema "{type: object}"
      end
      """)
    end

    @tag req: "S4-81"
    test "a schema with two keys of the same text" do
      assert_refused(4, "two keys of a JSON Schema are the same text", """
      tool "add", "Adds", McpServer.Handlers, :echo do
        input_schema %{:type => "object", "type" => "object"}
      end
      """)
    end

    @tag req: "S4-81"
    test "a handler that is no module and function" do
      assert_refused(3, ~s(tool "add" needs a module, got: "Calc"), ~s(tool "add", "Adds", "Calc", :echo))

      assert_refused(
        3,
        ~s(tool "add" needs a function's name, got: nil),
        ~s(tool "add", "Adds", McpServer.Handlers, nil)
      )
    end
  end

  describe "nested fields" do
    @tag req: "S4-81"
    test "fields in what is no object" do
      assert_refused(
        5,
        ~s(field "b" of input field "a" of tool "t" has no object to be in: input field "a" of tool "t" is of type "string". Make it an :object),
        """
        tool "t", "T", McpServer.Handlers, :echo do
          input_field "a", "One", :string do
            field "b", "Two", :string
          end
        end
        """
      )
    end

    @tag req: "S4-81"
    test "fields in an array, without items" do
      assert_refused(5, ~r/is an array; describe its elements with `items`\z/, """
      tool "t", "T", McpServer.Handlers, :echo do
        input_field "a", "One", :array do
          field "b", "Two", :string
        end
      end
      """)
    end

    @tag req: "S4-81"
    test "a block in what has no parts" do
      assert_refused(
        4,
        ~s(only an :object or an :array has a block, but input field "a" of tool "t" is of type "string". Remove the block, or change the type),
        """
        tool "t", "T", McpServer.Handlers, :echo do
          input_field "a", "One", :string do
          end
        end
        """
      )
    end

    @tag req: "S4-81"
    test "the block of an array without items" do
      assert_refused(
        4,
        ~s(the block of input field "a" of tool "t" has to say what its `items` are. Write in it: items :string),
        """
        tool "t", "T", McpServer.Handlers, :echo do
          input_field "a", "One", :array do
          end
        end
        """
      )
    end

    @tag req: "S4-81"
    test "items twice" do
      assert_refused(6, ~s(the items of input field "a" of tool "t" are already defined. Remove one `items`), """
      tool "t", "T", McpServer.Handlers, :echo do
        input_field "a", "One", :array do
          items :string
          items :number
        end
      end
      """)
    end

    @tag req: "S4-81"
    test "items of what is no array" do
      assert_refused(
        5,
        ~s(`items` describes the elements of an array, but input field "a" of tool "t" is of type "object"),
        """
        tool "t", "T", McpServer.Handlers, :echo do
          input_field "a", "One", :object do
            items :string
          end
        end
        """
      )

      assert_refused(
        4,
        ~s(`items:` describes the elements of an array, but input field "a" of tool "t" is of type "object"),
        """
        tool "t", "T", McpServer.Handlers, :echo do
          input_field "a", "One", :object, items: :string
        end
        """
      )
    end

    @tag req: "S4-81"
    test "an enum without values" do
      assert_refused(4, ~s(the enum of input field "a" of tool "t" allows no value. Write at least one), """
      tool "t", "T", McpServer.Handlers, :echo do
        input_field "a", "One", :string, enum: []
      end
      """)
    end

    @tag req: "S4-81"
    test "a default that the enum does not allow" do
      assert_refused(
        4,
        ~s(the default of input field "a" of tool "t" is "c", which its enum does not allow. Write one of its values: ["a", "b"]),
        """
        tool "t", "T", McpServer.Handlers, :echo do
          input_field "a", "One", :string, enum: ["a", "b"], default: "c"
        end
        """
      )
    end

    @tag req: "S4-81"
    test "a keyword of the wrong type" do
      assert_refused(
        4,
        ~s(expected :minLength of input field "a" of tool "t" to be a non-negative integer, got: "2"),
        """
        tool "t", "T", McpServer.Handlers, :echo do
          input_field "a", "One", :string, min_length: "2"
        end
        """
      )
    end

    @tag req: "S4-81"
    test "a field without a name" do
      assert_refused(4, ~s(an input field of tool "t" is named by a string of 1 to 128 bytes, got: ""), """
      tool "t", "T", McpServer.Handlers, :echo do
        input_field "", "One", :string
      end
      """)
    end

    # What the compiler itself refuses is told in its own words, which change from version to version.
    @tag req: "S4-81"
    test "a statement that belongs elsewhere" do
      for statements <- [
            ~s(input_field "a", "One", :string),
            ~s(tool "t", "T", McpServer.Handlers, :echo do field "a", "One", :string end),
            ~s(resource "r", "a:b" do get McpServer.Handlers, :read end)
          ] do
        source = "defmodule Elsewhere do\nuse McpServer.Router\n#{statements}\nend"
        compile = fn -> ExUnit.CaptureIO.capture_io(:stderr, fn -> Code.compile_string(source, "router.ex") end) end
        assert_raise CompileError, compile
      end
    end
  end

  describe "prompts" do
    @tag req: "S4-74"
    test "the same name twice" do
      assert_refused(7, ~s(Prompt "greet" is already defined, at router.ex:3. Rename or remove one), """
      prompt "greet", "Greets", completion: false do
        get McpServer.Handlers, :greeting
      end

      prompt "greet", "Greets again", completion: false do
        get McpServer.Handlers, :greeting
      end
      """)
    end

    @tag req: "S4-74"
    test "the same argument twice" do
      assert_refused(
        5,
        ~s(argument "name" of prompt "greet" is already defined, at router.ex:4. Rename or remove one),
        """
        prompt "greet", "Greets" do
          argument "name", "Who"
          argument "name", "Who again"
          get McpServer.Handlers, :greet
          complete McpServer.Handlers, :complete
        end
        """
      )
    end

    @tag req: "S4-74"
    test "a name that is none" do
      assert_refused(3, ~s(a prompt's name is 1 to 128 characters of A-Z a-z 0-9 _ . / -, got: "say hello"), """
      prompt "say hello", "Greets" do
      end
      """)
    end

    @tag req: "S4-75"
    test "without get" do
      assert_refused(
        3,
        ~s(prompt "greet" has no function that makes its messages. Write in its do block: get MyApp.Prompts, :greet),
        """
        prompt "greet", "Greets" do
          complete McpServer.Handlers, :complete
        end
        """
      )
    end

    @tag req: "S4-75"
    test "without complete" do
      assert_refused(
        3,
        ~s(prompt "greet" needs a function that completes its arguments: `complete Module, :function`, ) <>
          "or the option `completion: false`",
        """
        prompt "greet", "Greets" do
          argument "name", "Who"
          get McpServer.Handlers, :greet
        end
        """
      )
    end

    @tag req: "S4-75"
    test "without arguments there is nothing to complete" do
      router =
        router!("""
        prompt "greet", "Greets" do
          get McpServer.Handlers, :greet
        end
        """)

      assert [%McpServer.Prompt{name: "greet", arguments: []}] = router.__mcp__(:prompts)
    end

    @tag req: "S4-75"
    test "get or complete twice" do
      assert_refused(5, ~s(`get` of prompt "greet" is already defined, at router.ex:4. Remove one), """
      prompt "greet", "Greets", completion: false do
        get McpServer.Handlers, :greet
        get McpServer.Handlers, :greet
      end
      """)
    end

    @tag req: "RES-44"
    test "completion: false and yet complete" do
      assert_refused(5, ~s(prompt "greet" has the option `completion: false`, and yet a `complete`. Remove one), """
      prompt "greet", "Greets", completion: false do
        get McpServer.Handlers, :greet
        complete McpServer.Handlers, :complete
      end
      """)
    end

    @tag req: "S4-81"
    test "options that do not exist" do
      assert_refused(
        3,
        ~s(prompt "greet" has no option complete, did you mean completion?),
        """
        prompt "greet", "Greets", complete: false do
          get McpServer.Handlers, :greet
        end
        """
      )

      assert_refused(
        4,
        ~r/\Aargument "name" of prompt "greet" has no option optional. Its options are: required, title\z/,
        """
        prompt "greet", "Greets", completion: false do
          argument "name", "Who", optional: true
          get McpServer.Handlers, :greet
        end
        """
      )
    end
  end

  describe "resources" do
    @tag req: "S4-77"
    test "the same name twice" do
      assert_refused(7, ~s(Resource "a" is already defined, at router.ex:3. Rename or remove one), """
      resource "a", "file:///a" do
        read McpServer.Handlers, :read
      end

      resource "a", "file:///b/{id}" do
        read McpServer.Handlers, :read
      end
      """)
    end

    @tag req: "S4-77"
    test "the same URI twice" do
      assert_refused(7, ~s(the URI of resource "b" is already that of resource "a". Change or remove one), """
      resource "a", "file:///a" do
        read McpServer.Handlers, :read
      end

      resource "b", "file:///a" do
        read McpServer.Handlers, :read
      end
      """)
    end

    for {uri, reason} <- [
          {"not a uri", "it does not begin with a scheme, like https:"},
          {"/app/config.json", "it does not begin with a scheme, like https:"},
          {"file:///with space", "it has a character that must be percent-encoded"},
          {"file:///größe", "it has a character that must be percent-encoded"},
          {"file:///100%", "it has a % that is no percent-encoding"},
          {"users://{id", "its braces do not match"},
          {"users://id}", "its braces do not match"},
          {"users://{}", "{} is no expression of RFC 6570"},
          {"users://{a b}", "{a b} is no expression of RFC 6570"},
          {"users://{id}/{id}", "it has the variable id twice"}
        ] do
      @tag req: "S4-77"
      test "#{uri} is no URI" do
        assert_refused(
          3,
          ~s(the URI of resource "a" is not valid, #{unquote(reason)}; got: "#{unquote(uri)}"),
          """
          resource "a", "#{unquote(uri)}" do
            read McpServer.Handlers, :read
          end
          """
        )
      end
    end

    @tag req: "S4-77"
    test "a URI that is no text" do
      assert_refused(3, ~s(the URI of resource "a" is a string, got: :uri), """
      resource "a", :uri do
        read McpServer.Handlers, :read
      end
      """)
    end

    @tag req: "S4-79"
    test "without read" do
      assert_refused(
        3,
        ~s(resource "a" has no function that reads it. Write in its do block: read MyApp.Notes, :read),
        """
        resource "a", "file:///a" do
          description "A"
        end
        """
      )
    end

    @tag req: "S4-79"
    test "complete of a resource without variables" do
      assert_refused(
        5,
        ~s(`complete` of resource "a" has nothing to complete: "file:///a" has no variables. ) <>
          "Remove `complete`, or write a variable in the URI: {id}",
        """
        resource "a", "file:///a" do
          read McpServer.Handlers, :read
          complete McpServer.Handlers, :complete
        end
        """
      )
    end

    @tag req: "S4-81"
    test "a statement twice" do
      assert_refused(5, ~s(`title` of resource "a" is already defined. Remove one), """
      resource "a", "file:///a" do
        title "A"
        title "B"
        read McpServer.Handlers, :read
      end
      """)
    end

    @tag req: "S4-81"
    test "a size of what is many" do
      assert_refused(4, ~s(resource "a" has variables in its URI, so it has no one size. Remove `size`), """
      resource "a", "file:///{name}" do
        size 12
        read McpServer.Handlers, :read
      end
      """)
    end

    @tag req: "S4-81"
    test "a statement of the wrong type" do
      assert_refused(4, ~s(expected :mimeType of resource "a" to be a string, got: :json), """
      resource "a", "file:///a" do
        mimeType :json
        read McpServer.Handlers, :read
      end
      """)
    end

    @tag req: "S4-44"
    test "a kind of domain that does not exist" do
      assert_refused(
        4,
        ~s(`csp` of resource "a" has no field conect_domains, did you mean connect_domains?),
        """
        resource "a", "ui://a" do
          csp conect_domains: ["example.com"]
          read McpServer.Handlers, :read
        end
        """
      )
    end

    @tag req: "S4-46"
    test "a domain that is none" do
      assert_refused(
        4,
        ~s(`csp` of resource "a" cannot be a policy: connectDomains[1] has a character at byte 1 that no origin has. ) <>
          "An origin is like https://*.example.com",
        """
        resource "a", "ui://a" do
          csp connect_domains: ["example.com", "a; script-src *"]
          read McpServer.Handlers, :read
        end
        """
      )
    end

    @tag req: "S4-46"
    test "further domains that are none" do
      for {domain, reason} <- [
            {"data:", "is a scheme without a host"},
            {"https://example.com/lib", "has a path; an origin ends with its host or port"},
            {"ftp://example.com", "has another scheme than https, http, wss or ws"},
            {"*", "has a wildcard that is not *. in front of a domain of two labels or more"},
            {"'unsafe-eval'", "has a character at byte 0 that no origin has"},
            {"bücher.example", "has a character at byte 1 that no origin has"}
          ] do
        assert_refused(
          5,
          ~s(`csp` of resource "a" cannot be a policy: resourceDomains[0] #{reason}. ) <>
            "An origin is like https://*.example.com",
          """
          resource "a", "ui://a" do
            read McpServer.Handlers, :read
            csp resource_domains: [#{inspect(domain)}]
          end
          """
        )
      end
    end

    @tag req: "S4-40"
    test "a view of another media type" do
      assert_refused(
        5,
        ~s(the mimeType of resource "a" is text/html;profile=mcp-app, as of every ui:// resource; got: text/html. Remove `mimeType`),
        """
        resource "a", "ui://a" do
          read McpServer.Handlers, :read
          mimeType "text/html"
        end
        """
      )
    end

    @tag req: "S4-40"
    test "the media type of views on what is none" do
      assert_refused(
        4,
        ~s(resource "a" cannot be a view: the URI of a view begins with ui://, got: "https://example.com/a"),
        """
        resource "a", "https://example.com/a" do
          mimeType "text/html;profile=mcp-app"
          read McpServer.Handlers, :read
        end
        """
      )
    end

    @tag req: "S4-43"
    test "what only views have, on what is none" do
      for {statement, value} <- [
            csp: ~s(connect_domains: ["example.com"]),
            permissions: "camera: true",
            app_domain: ~s("a.example"),
            prefers_border: "true"
          ] do
        assert_refused(
          5,
          ~s(`#{statement}` of resource "a" is for views only. ) <>
            "Remove it, or give the resource a URI that begins with ui://",
          """
          resource "a", "file:///a" do
            read McpServer.Handlers, :read
            #{statement} #{value}
          end
          """
        )
      end
    end

    @tag req: "S4-45"
    test "a permission that does not exist" do
      assert_refused(4, ~r/\A`permissions` of resource "a" has no field clipboard/, """
      resource "a", "ui://a" do
        permissions clipboard: true
        read McpServer.Handlers, :read
      end
      """)
    end
  end

  describe "callbacks" do
    @tag req: "S4-80"
    test "a router that defines more than a list" do
      assert_refused(
        3,
        "call_tool/3 is generated by McpServer.Router; of its callbacks a router can define only the lists itself",
        "def call_tool(_conn, _name, _arguments), do: {:ok, []}"
      )
    end
  end
end
