defmodule McpServer.Presentation.Kind do
  @moduledoc false
  # A kind of structured data: its discriminator, such as `"patternDetails:v1"`, its schema, and the order of its keys.
  # `McpServer.Presentation.kind/2` documents the allowed schemas.

  alias McpServer.{JSON, Schema}
  alias McpServer.Schema.Validator

  @enforce_keys [:name, :schema, :order, :validator]
  defstruct [:name, :schema, :order, :validator]

  @type t :: %__MODULE__{name: String.t(), schema: map, order: JSON.order(), validator: Validator.t()}

  @typedoc "A JSON Schema. Its objects are maps, or keyword lists, whose order counts."
  @type schema :: map | keyword | [{String.t(), term}]

  @doc """
  Builds a kind. Raises `ArgumentError` if the name is not `name:vN`, if the schema is invalid, or if it is not that of
  an object.
  """
  @spec new(String.t(), schema) :: t
  def new(name, schema) do
    unless is_binary(name) and base(name) do
      raise ArgumentError, "a kind is a name and a version, such as \"patternDetails:v1\", got: #{inspect(name)}"
    end

    order = List.delete(order(schema), "kind")
    schema = schema |> to_json() |> discriminated(name)

    case Validator.compile(schema) do
      {:ok, validator} -> %__MODULE__{name: name, schema: schema, order: ["kind" | order], validator: validator}
      {:error, error} -> raise ArgumentError, "the schema of #{name} cannot be used: #{Exception.message(error)}"
    end
  end

  @doc false
  # The name of a kind without its version. The version must fit into 32 bits. `nil` for a text that is not a kind.
  @spec base(String.t()) :: String.t() | nil
  def base(kind) do
    with [_kind, base, version] <- Regex.run(~r/\A([A-Za-z][A-Za-z0-9_-]*):v([1-9][0-9]{0,9})\z/, kind),
         do: if(String.to_integer(version) <= 0xFFFFFFFF, do: base)
  end

  @doc "Checks a payload against the schema, including its `kind`."
  @spec validate(t, map) :: :ok | {:error, Schema.Error.t()}
  def validate(%__MODULE__{validator: validator}, payload), do: Validator.validate(validator, payload)

  defp discriminated(%{} = schema, name) do
    unless Map.get(schema, "type", "object") == "object" do
      raise ArgumentError, "the schema of #{name} has to be that of an object"
    end

    properties = schema |> Map.get("properties", %{}) |> Map.put("kind", %{"const" => name})
    required = Enum.uniq(["kind" | Map.get(schema, "required", [])])
    Map.merge(schema, %{"type" => "object", "properties" => properties, "required" => required})
  end

  defp discriminated(_schema, name), do: raise(ArgumentError, "the schema of #{name} is a map or a keyword list")

  # The order of the schema's properties, or of its elements' properties for a list.
  defp order(schema) do
    items = member(schema, "items")
    properties = member(schema, "properties")

    cond do
      pairs?(properties) -> Enum.map(properties, fn {key, inner} -> step(to_string(key), order(inner)) end)
      is_map(properties) -> for {key, inner} <- properties, order(inner) != [], do: {to_string(key), order(inner)}
      items != nil -> order(items)
      true -> []
    end
  end

  defp step(key, []), do: key
  defp step(key, inner), do: {key, inner}

  defp member(schema, name) when is_map(schema) or is_list(schema) do
    Enum.find_value(schema, fn
      {key, value} -> if to_string(key) == name, do: value
      _element -> nil
    end)
  end

  defp member(_schema, _name), do: nil

  # The schema as JSON, with keyword lists as maps.
  defp to_json(%_struct{} = schema), do: Schema.to_json(schema)
  defp to_json(map) when is_map(map), do: object(map)
  defp to_json(list) when is_list(list), do: if(pairs?(list), do: object(list), else: Enum.map(list, &to_json/1))
  defp to_json(value), do: Schema.to_json(value)

  defp object(members) do
    Map.new(members, fn
      {key, properties} when key in [:properties, "properties"] -> {"properties", properties(properties)}
      {key, value} -> {to_string(key), to_json(value)}
    end)
  end

  # Here an empty list is a keyword list: a schema that allows any value.
  defp properties(members), do: Map.new(members, fn {key, schema} -> {to_string(key), property(schema)} end)

  defp property([]), do: %{}
  defp property(schema), do: to_json(schema)

  defp pairs?([_ | _] = list), do: Enum.all?(list, &match?({key, _value} when is_atom(key) or is_binary(key), &1))
  defp pairs?(_other), do: false
end
