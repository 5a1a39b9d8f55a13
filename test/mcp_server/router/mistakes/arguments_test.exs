defmodule McpServer.Router.Mistakes.ArgumentsTest do
  # Compile-time checks of the form of a tool's arguments. In every router the statements begin on line 3.
  use McpServer.RouterCase, async: true

  defmodule Note do
    @enforce_keys [:title]
    defstruct [:title, :text]
  end

  @tool ~s(tool "t", "T", McpServer.Handlers, :echo)
  @note "McpServer.Router.Mistakes.ArgumentsTest.Note"

  defp in_tool(field, options \\ ""), do: "#{@tool}#{options} do\n#{field}\nend"

  test "a default beside required" do
    text =
      ~s(input field "a" of tool "t" has `required: true` beside `default: 1`, which is never used. Remove one of them)

    assert_refused(4, text, in_tool(~s(input_field "a", "A", :integer, required: true, default: 1)))
  end

  test "a default that its own schema refuses" do
    refused = &assert_refused(4, &2, in_tool(&1))

    refused.(
      ~s(input_field "a", "A", :integer, default: "ten"),
      ~s(the default of input field "a" of tool "t" is "ten", which its own schema refuses: (root\): must be an integer (type\))
    )

    refused.(
      ~s(input_field "a", "A", :date, default: "today"),
      ~s(the default of input field "a" of tool "t" is "today", which its own schema refuses: (root\): must be a date such as 2026-01-31 (format\))
    )

    # No JSON Schema format describes this type.
    refused.(
      ~s(input_field "a", "A", :time, default: "soon"),
      ~s(tool "t": inputSchema: the schema is invalid: /properties/a/default: must be a time of day without an offset such as 09:30:00 (format\))
    )
  end

  test "a format that JSON Schema does not have" do
    assert_refused(
      4,
      ~r/\Ainput field "a" of tool "t" has the format "datetime", which JSON Schema does not have, did you mean date-time\? The formats are: date, date-time, duration, .*\. For one of your own, write the whole schema with `input_schema`\z/,
      in_tool(~s(input_field "a", "A", :string, format: "datetime"))
    )

    assert_refused(
      4,
      ~s(input field "a" of tool "t" has a `format:` beside a type that has its own. Remove `format:`),
      in_tool(~s(input_field "a", "A", :date, format: "date"))
    )
  end

  test "two types that are strings" do
    for types <- ["[:date, :string]", "[:date, :time]", "[:string, :null, :uuid]"] do
      assert_refused(
        4,
        ~s(input field "a" of tool "t" has two types that are strings in JSON. Keep one of them, or write :string and tell them apart yourself),
        in_tool(~s(input_field "a", "A", #{types}))
      )
    end
  end

  test "undeclared that is none, or stands where it says nothing" do
    assert_refused(
      3,
      ~s(expected :undeclared of tool "t" to be one of :refuse, :drop, :pass, got: :ignore),
      "#{@tool}, undeclared: :ignore"
    )

    assert_refused(
      3,
      ~s(tool "t" has both `undeclared:` and `additional_properties:`, which say the same: keep `undeclared:`),
      "#{@tool}, undeclared: :pass, additional_properties: true"
    )

    assert_refused(
      3,
      ~s(tool "t" has both `undeclared:` and `input_schema`. Write additionalProperties in the schema),
      ~s(#{@tool}, undeclared: :pass, input_schema: %{type: :object})
    )

    assert_refused(
      4,
      ~s(`undeclared:` is for the fields of an :object, but input field "a" of tool "t" is of type "string". Remove it),
      in_tool(~s(input_field "a", "A", :string, undeclared: :pass))
    )

    assert_refused(
      4,
      ~s(`undeclared:` is for arguments, but output field "a" of tool "t" is part of a result. Remove it),
      in_tool(~s(output_field "a", "A", :object, undeclared: :pass))
    )

    assert_refused(
      4,
      ~s(input field "a" of tool "t" has both `undeclared:` and `additional_properties:`, which say the same: keep `undeclared:`),
      in_tool(~s(input_field "a", "A", :object, undeclared: :pass, additional_properties: false))
    )
  end

  test "a struct that is none, or that arguments do not fit into" do
    assert_refused(
      3,
      ~s(the struct of tool "t" is a module such as MyApp.Note, got: :note),
      "#{@tool}, struct: :note"
    )

    assert_refused(
      3,
      ~s(tool "t" becomes %Missing.Note{}, but there is no such struct. Write `defstruct` in Missing.Note),
      "#{@tool}, struct: Missing.Note"
    )

    assert_refused(
      3,
      ~s(tool "t" declares "titel", which %#{@note}{} does not have, did you mean title? Its fields are: text, title),
      in_tool(~s(input_field "titel", "T", :string), ", struct: #{@note}")
    )

    assert_refused(
      4,
      ~s(tool "t" may leave out "title", which %#{@note}{} enforces. Declare it with `required: true` or a `default:`),
      in_tool(~s(input_field "note", "N", :object, struct: #{@note} do\nfield "text", "T", :string\nend))
    )
  end
end
