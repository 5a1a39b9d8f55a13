defmodule McpServer.Router.ToolBlock do
  @moduledoc """
  The statements inside `tool … do`: fields of its arguments and of its structured result, or the two
  JSON Schemas as they are.

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
  A member of the tool's structured result; with one, the tool has an output schema, and what it
  answers is checked against it. Types, options and blocks are those of
  `McpServer.Router.FieldBlock.field/5`.
  """
  defmacro output_field(name, description \\ [], type \\ [], options \\ [], block \\ []),
    do: FieldBlock.declare(:output, [name, description, type, options, block], __CALLER__)

  @doc """
  Arguments of the tool in the short form: by their names, each as `{type, description}` or
  `{type, description, options}`. It says the same as one `input_field` each.

      input title: {:string, "Its title", required: true, max_length: 80},
            tags: {[:string], "Labels", default: []},
            author: {%{name: {:string, "Name"}, born: {:date, "Birthday"}}, "Who wrote it"},
            lines: {[%{text: {:string, "Text"}}], "The lines"}

  Types and options are those of `McpServer.Router.FieldBlock.field/5`. One type in a list is that of the elements
  of an array, several are those that are allowed; a map has the fields of an object.
  """
  defmacro input(fields), do: ShortForm.declare(:input, fields, __CALLER__)

  @doc "Members of the tool's structured result in the short form, which is that of `input/1`."
  defmacro output(fields), do: ShortForm.declare(:output, fields, __CALLER__)

  @doc """
  The function of the tool, where the declaration names none: a function of two arguments.

      tool "add", "Adds two numbers" do
        input a: {:number, "First", required: true}, b: {:number, "Second", required: true}
        run fn _conn, %{"a" => a, "b" => b} -> "\#{a + b}" end
      end

  It is compiled as a function of the router. So it uses the router's own functions and imports, `run &add/2` too, but
  no variable from around it.
  """
  defmacro run(function), do: ToolHandler.run(function, __CALLER__)

  @doc """
  The JSON Schema of the arguments, sent verbatim: a map (keys strings or atoms), a
  `McpServer.Schema`, or JSON text. Its type is `"object"`. It takes the place of every `input_field`.

  `{McpServer.Ecto, MyApp.Note, only: [:title]}` (see `McpServer.Ecto`) and `{NimbleOptions, schema}` are fields that are
  declared elsewhere: the same as `input` with each of them, so others may stand beside them.
  """
  defmacro input_schema(schema), do: put_schema(:input_schema, schema, __CALLER__)

  @doc "The JSON Schema of the structured result, sent verbatim. It takes the place of every `output_field`."
  defmacro output_schema(schema), do: put_schema(:output_schema, schema, __CALLER__)

  defp put_schema(key, schema, caller) do
    quote do
      ToolDefinition.put_schema!(__MODULE__, unquote(key), unquote(schema), unquote(Refusal.place(caller)))
    end
  end
end
