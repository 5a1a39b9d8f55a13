defmodule McpServer.Router.LimitsTest do
  # `schema_limits:` and `template_limits:` of a router, and values that a definition cannot contain.
  use McpServer.RouterCase, async: true

  alias McpServer.{Catalog, Protocol, Schema}

  @big 18_446_744_073_709_551_616

  defp tool(schema, options \\ "") do
    schema = inspect(schema, limit: :infinity, printable_limit: :infinity)
    ~s(tool "t", "T", McpServer.Handlers, :echo, input_schema: #{schema}#{options})
  end

  defp nested(levels) do
    object = fn properties -> %{"type" => "object", "properties" => properties} end
    Enum.reduce(2..levels//1, object.(%{}), fn _level, inner -> object.(%{"p" => inner}) end)
  end

  defp admit(router, line) do
    {:reply, answer} = Protocol.admit(Catalog.fetch(router), %{revision: "2025-11-25"}, line)
    IO.iodata_to_binary(answer)
  end

  test "schema_limits: of every schema of the router, on both sides" do
    for {limit, said} <- [max_depth: "nests more than 3 subschemas", max_subschemas: "has more than 3 subschemas"] do
      options = ", schema_limits: [#{limit}: 3]"
      assert router!(tool(nested(3)), options)
      assert_refused(3, ~s(tool "t": inputSchema: the schema #{said}), tool(nested(4)), options)

      output = tool(nested(1), ", output_schema: #{inspect(nested(4))}")
      assert_refused(3, ~s(tool "t": outputSchema: the schema #{said}), output, options)
    end
  end

  @tag req: "M16"
  test "max_problems: is how many a call is told of" do
    required = for n <- 1..25, do: "a#{n}"
    schema = %{"type" => "object", "properties" => Map.new(required, &{&1, %{}}), "required" => required}
    call = ~s({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{}}})

    for {options, problems} <- [
          {"", 20},
          {", schema_limits: [max_problems: 19]", 19},
          {", schema_limits: [max_problems: 1]", 1}
        ] do
      answer = admit(router!(tool(schema), options), call)
      assert {options, length(String.split(answer, "\\n- ")) - 1} == {options, problems}
    end
  end

  test "template_limits: of every template, on both sides" do
    resource = fn uri -> ~s(resource "r", "#{uri}" do read McpServer.Handlers, :read end) end

    for {options, fits, too_much, said} <- [
          {"max_variables: 2", "x://{a}/{b}", "x://{a}/{b}/{c}", "more than 2 variables"},
          {"max_bytes: 11", "x://{a}/{b}", "x://{a}/{bc}", "more than 11 bytes"}
        ] do
      options = ", template_limits: [#{options}]"
      assert router!(resource.(fits), options)
      message = ~s(resource template "r": uriTemplate: the template has #{said})
      assert_refused(3, message, resource.(too_much), options)
    end
  end

  test "limits that are none are refused where they stand" do
    for {options, message} <- [
          {"schema_limits: [max_depth: 0]", "expected :max_depth to be an integer from 1 to 127, got: 0"},
          {"schema_limits: [max_depth: :infinity]",
           "expected :max_depth to be an integer from 1 to 127, got: :infinity"},
          {"schema_limits: [max_depth: 128]", "expected :max_depth to be an integer from 1 to 127, got: 128"},
          {"schema_limits: [max_problems: 21]", "expected :max_problems to be an integer from 1 to 20, got: 21"},
          {"template_limits: [max_variables: 257]", "expected :max_variables to be an integer from 1 to 256, got: 257"},
          {"template_limits: [variables: 2]",
           "there is no option :variables, did you mean max_variables? The options are: max_bytes, max_variables"}
        ] do
      assert_refused(2, message, "", ", " <> options)
    end
  end

  # Earlier, such integers were rounded in lists, and a bound above 64 bits allowed forbidden values.
  test "an integer of more than 64 bits is refused, wherever in a definition it is" do
    property = fn keywords -> %{"type" => "object", "properties" => %{"v" => keywords}} end
    said = &~s(tool "t": #{&1}: it has an integer of more than 64 bits at "#{&2}")

    for {keywords, place} <- [
          {%{"maximum" => @big}, "maximum"},
          {%{"minimum" => -9_223_372_036_854_775_809}, "minimum"},
          {%{"const" => @big}, "const"},
          {%{"enum" => [1, @big]}, "enum/1"},
          {%{"multipleOf" => @big}, "multipleOf"},
          {%{"default" => %{"a/b" => [@big]}}, "default/a~1b/0"}
        ] do
      assert_refused(3, said.("inputSchema", "/properties/v/" <> place), tool(property.(keywords)))
    end

    assert_refused(3, said.("_meta", "/id"), tool(%{"type" => "object"}, ", meta: %{id: #{@big}}"))
    assert router!(tool(property.(%{"maximum" => @big - 1, "minimum" => -9_223_372_036_854_775_808})))

    assert {:error, %{problems: [%{message: message}]}} = Schema.validate(%{"maximum" => @big}, 1)
    assert message =~ ~s(the schema has an integer of more than 64 bits at "/maximum")
    assert Schema.validate(%{"maximum" => @big - 1}, 1) == :ok
  end

  test "the largest of 64 bits are told to clients as they are" do
    values = [@big - 1, -9_223_372_036_854_775_808]
    schema = %{"type" => "object", "properties" => %{"v" => %{"enum" => values}}}
    list = ~s({"jsonrpc":"2.0","id":1,"method":"tools/list"})
    assert admit(router!(tool(schema)), list) =~ "[18446744073709551615,-9223372036854775808]"
  end
end
