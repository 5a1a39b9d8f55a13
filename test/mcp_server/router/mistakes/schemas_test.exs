defmodule McpServer.Router.Mistakes.SchemasTest do
  # Compile-time checks of tools' raw schemas. In every router the statements begin on line 3.
  use McpServer.RouterCase, async: true

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
end
