defmodule McpServer.Schema do
  @moduledoc """
  A struct for common keywords of JSON Schema. All functions that take it also take a plain map with any keyword of JSON
  Schema 2020-12, which is sent unchanged.

  Fields that are `nil` are omitted from the JSON. `false`, `0`, `[]` and the `nil` inside `enum: [nil, "a"]` are values
  and are sent.

      iex> McpServer.Schema.new(type: :object, properties: %{"q" => %{"type" => "string"}}, required: ["q"])
      %McpServer.Schema{type: "object", properties: %{"q" => %{"type" => "string"}}, required: ["q"]}
  """

  alias McpServer.Schema.Validator

  @types ~w(string number integer boolean object array null)

  use McpServer.Fields,
    type: {:in, @types},
    properties: [:map, doc: "schemas by the name of the property"],
    required: [{:list, :string}, doc: "names of properties"],
    description: :string,
    enum: [:list, doc: "the allowed values"],
    default: :any,
    items: [{:struct, __MODULE__}, doc: "the schema of the elements of an array"]

  @doc """
  Validates a value: any term that `McpServer.JSON.encode/2` accepts. The error has up to 20 problems with the place,
  the expected value and a suggestion, and never the value.

  Compile a schema that is used often once: `McpServer.Schema.Validator.compile/1`.

      iex> schema = %McpServer.Schema{type: "object", required: ["q"]}
      iex> McpServer.Schema.validate(schema, %{"q" => "elixir"})
      :ok
      iex> {:error, error} = McpServer.Schema.validate(schema, %{})
      iex> Enum.map(error.problems, & &1.keyword)
      ["required"]
  """
  @spec validate(Validator.t() | t | map | boolean, term) :: :ok | {:error, McpServer.Schema.Error.t()}
  defdelegate validate(schema, value), to: Validator

  @doc "The type names of JSON Schema."
  @spec types() :: [String.t()]
  def types, do: @types

  # The schema as a JSON object: text keys, structs as maps, atoms as text. The router stores schemas in this form, so
  # that it checks exactly the published schema.
  @doc false
  @spec to_json(term) :: term
  def to_json(%__MODULE__{} = schema) do
    for {field, _type} <- @table.rules, (value = Map.fetch!(schema, field)) != nil, into: %{} do
      {Atom.to_string(field), to_json(value)}
    end
  end

  def to_json(map) when is_map(map) and not is_struct(map) do
    json = Map.new(map, fn {key, value} -> {to_string(key), to_json(value)} end)
    if map_size(json) < map_size(map), do: raise(ArgumentError, "two keys of a JSON Schema are the same text")
    json
  end

  def to_json(list) when is_list(list), do: Enum.map(list, &to_json/1)
  def to_json(atom) when is_atom(atom) and atom not in [nil, true, false], do: Atom.to_string(atom)
  def to_json(value), do: value
end
