defmodule McpServer.Router.MistakeTableTest do
  # Mistakes of new users, from the table of `McpServer.RouterMistakes`.
  use McpServer.RouterCase, async: true

  for {mistake, statements, line, message} <- McpServer.RouterMistakes.all() do
    test mistake do
      assert_refused(unquote(line), unquote(message), unquote(statements))
    end
  end

  test "input_field in the object of an input_field is a field of it, and so is output_field" do
    router =
      router!("""
      tool "t", "T", McpServer.Handlers, :echo do
        input_field "o", "An object", :object do
          input_field "a", "A", :string, required: true
        end

        output_field "l", "A list", :array do
          items :object do
            output_field "b", "B", :string
          end
        end
      end
      """)

    assert [%{inputSchema: %{"properties" => %{"o" => object}}, outputSchema: %{"properties" => %{"l" => list}}}] =
             router.__mcp__(:tools)

    assert object == %{
             "type" => "object",
             "description" => "An object",
             "properties" => %{"a" => %{"type" => "string", "description" => "A"}},
             "required" => ["a"],
             "additionalProperties" => false
           }

    assert list["items"]["properties"] == %{"b" => %{"type" => "string", "description" => "B"}}
  end

  test "resource/2 is the controller's in a module that has the statements and the results, in either order" do
    for uses <- [~w(Router Controller), ~w(Controller Router)] do
      name = "BothImported#{Enum.join(uses)}"

      Code.compile_string("""
      defmodule #{name} do
        #{Enum.map_join(uses, "\n", &"use McpServer.#{&1}")}
        tool "link", "Links", __MODULE__, :link
        def link(_conn, _arguments), do: {:ok, [resource("a:b", text: "x")]}
      end
      """)

      assert {:ok, [%{resource: %{text: "x"}}]} = Module.concat([name]).call_tool(%McpServer.Conn{}, "link", %{})
    end
  end
end
