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

  alias McpServer.Router.{FieldBlock, Refusal, ToolDefinition}

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
  The JSON Schema of the arguments, sent verbatim: a map (keys strings or atoms), a
  `McpServer.Schema`, or JSON text. Its type is `"object"`. It takes the place of every `input_field`.
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
