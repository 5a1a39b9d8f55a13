defmodule McpServer.Router.Mistakes.FieldsTest do
  # Compile-time checks of tools' fields. In every router the statements begin on line 3.
  use McpServer.RouterCase, async: true

  describe "the fields of a tool" do
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
          "The types are: :string, :number, :integer, :boolean, :object, :array, :null, :date, :time, :datetime, :naive_datetime, :decimal, :uuid, :uri, :text",
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
      assert_refused(4, ~r/\Aitems of input field "a" of tool "add" has no type :txt/, """
      tool "add", "Adds", McpServer.Handlers, :echo do
        input_field "a", "One", :array, items: :txt
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

    # Errors of the compiler itself differ between versions.
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
end
