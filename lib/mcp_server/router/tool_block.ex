defmodule McpServer.Router.ToolBlock do
  @moduledoc """
  The statements inside `tool … do`: fields of the arguments and of the structured result, or complete JSON Schemas.

      tool "convert", "Converts an amount", MyApp.Money, :convert do
        input_field "amount", "How much", :number, required: true, minimum: 0
        input_field "to", "Currency", :string, required: true, enum: ["EUR", "USD"]
        output_field "amount", "How much in the other currency", :number, required: true
      end
  """

  alias McpServer.Router.{FieldBlock, Refusal, ShortForm, ToolDefinition, ToolHandler}

  @doc "An argument of the tool. Types, options and blocks are those of `McpServer.Router.FieldBlock.field/5`."
  defmacro input_field(name, description \\ [], type \\ [], options \\ [], block \\ []),
    do: FieldBlock.declare(:input, [name, description, type, options, block], __CALLER__)

  @doc """
  A member of the tool's structured result. It gives the tool an output schema, and results are validated against it.
  Types, options and blocks are those of `McpServer.Router.FieldBlock.field/5`.
  """
  defmacro output_field(name, description \\ [], type \\ [], options \\ [], block \\ []),
    do: FieldBlock.declare(:output, [name, description, type, options, block], __CALLER__)

  @doc """
  Arguments of the tool in the short form: names with `{type, description}` or `{type, description, options}`. Each is
  equivalent to an `input_field`.

      input title: {:string, "Its title", required: true, max_length: 80},
            tags: {[:string], "Labels", default: []},
            author: {%{name: {:string, "Name"}, born: {:date, "Birthday"}}, "Who wrote it"},
            lines: {[%{text: {:string, "Text"}}], "The lines"}

  Types and options are those of `McpServer.Router.FieldBlock.field/5`. A list with one type is an array of this type, a
  list with several types allows each of them. A map has the fields of an object. `[[:string], :null]` and
  `[%{…}, :null]` may also be null. `{McpServer.Ecto, MyApp.Note, only: [:title]}` is an object with these fields of the
  schema, see `McpServer.Ecto`.
  """
  defmacro input(fields), do: ShortForm.declare(:input, fields, __CALLER__)

  @doc "Members of the tool's structured result, in the short form of `input/1`."
  defmacro output(fields), do: ShortForm.declare(:output, fields, __CALLER__)

  # The parameters of `input_field` and `output_field`: a mistake.
  @dialyzer :no_return
  for statement <- [:input, :output] do
    @doc false
    defmacro unquote(statement)(name, description, type \\ [], options \\ [], block \\ []),
      do: ShortForm.refuse_long!(unquote(statement), [name, description, type, options, block], __CALLER__)
  end

  @doc """
  The function of the tool, if the declaration names none. It has two parameters, the conn and the arguments.

      tool "add", "Adds two numbers" do
        input a: {:number, "First", required: true}, b: {:number, "Second", required: true}
        run fn _conn, %{"a" => a, "b" => b} -> "\#{a + b}" end
      end

  It is compiled as a function of the router. So it can use the router's functions and imports, also as `run &add/2`,
  but no variables from outside.
  """
  defmacro run(function), do: ToolHandler.run(function, __CALLER__)

  @doc """
  The JSON Schema of the arguments, sent unchanged: a map (keys strings or atoms), a `McpServer.Schema`, or JSON text.
  Its type is `"object"`. It replaces all `input_field` statements.

  `{McpServer.Ecto, MyApp.Note, only: [:title]}` (see `McpServer.Ecto`) and `{NimbleOptions, schema}` declare fields
  like `input`, so the block may declare further fields.
  """
  defmacro input_schema(schema), do: put_schema(:input_schema, schema, __CALLER__)

  @doc "The JSON Schema of the structured result, sent unchanged. It replaces all `output_field` statements."
  defmacro output_schema(schema), do: put_schema(:output_schema, schema, __CALLER__)

  defp put_schema(key, schema, caller) do
    quote do
      ToolDefinition.put_schema!(__MODULE__, unquote(key), unquote(schema), unquote(Refusal.place(caller)))
    end
  end
end
