defmodule McpServer.Console.Arguments do
  @moduledoc false
  # Converts typed arguments, `a=1 tags=x tags=y`, to values by the types of a JSON Schema.
  #
  # Only types are checked. The server checks whether a value fits the schema.

  alias McpServer.{JSON, Suggestion}

  @typedoc "A mistake, as a sentence for the developer."
  @type mistake :: String.t()

  # The limit stops schemas that refer to themselves. They have no type.
  @max_references 16

  @doc "The arguments from words. `of` names their owner in errors, such as `the tool add`."
  @spec parse([String.t()], map(), String.t()) :: {:ok, map()} | {:error, mistake()}
  def parse(words, schema, of) do
    Enum.reduce_while(words, {:ok, %{}}, fn word, {:ok, arguments} ->
      case argument(word, schema, arguments, of) do
        {:ok, arguments} -> {:cont, {:ok, arguments}}
        {:error, mistake} -> {:halt, {:error, mistake}}
      end
    end)
  end

  defp argument(word, schema, arguments, of) do
    with [name, text] when name != "" <- String.split(word, "=", parts: 2),
         {:ok, property} <- property(schema, name, of) do
      put(arguments, name, property, text, schema)
    else
      {:error, mistake} -> {:error, mistake}
      _no_pair -> {:error, "expected arguments as name=value, got: #{word}"}
    end
  end

  defp property(schema, name, of) do
    properties = properties(schema)

    cond do
      is_map_key(properties, name) ->
        {:ok, properties[name]}

      # An additional property has no declared type.
      is_map_key(schema, "additionalProperties") and schema["additionalProperties"] != false ->
        {:ok, %{}}

      true ->
        {:error, "#{of} has no argument #{name}" <> known(name, Map.keys(properties))}
    end
  end

  defp known(name, names), do: Suggestion.did_you_mean_or_all(name, Enum.sort(names), "it has none", "It has")

  # A list can be given element by element.
  defp put(arguments, name, property, text, root) do
    if "array" in types(property, root) and not String.starts_with?(text, "["),
      do: append(arguments, name, property, text, root),
      else: with({:ok, value} <- typed(name, property, text, root), do: {:ok, Map.put(arguments, name, value)})
  end

  defp append(arguments, name, property, text, root) do
    items = resolve(property, root, @max_references)["items"] || %{}

    with {:ok, value} <- typed(name, items, text, root),
         do: {:ok, Map.update(arguments, name, [value], &(List.wrap(&1) ++ [value]))}
  end

  defp typed(name, property, text, root) do
    with {:error, expected} <- value(property, text, root),
         do: {:error, "expected #{name} to be #{expected}, got: #{text}"}
  end

  @doc "The value of a text for a schema, or the expected type."
  @spec value(map(), String.t(), map()) :: {:ok, term()} | {:error, expected :: String.t()}
  def value(schema, text, root \\ %{}) do
    types = types(schema, root)

    case Enum.find_value(order(types, schema, root), :error, &of_type(&1, text)) do
      {:ok, value} -> {:ok, value}
      :error -> {:error, Enum.map_join(types, " or ", &article/1)}
    end
  end

  # Every text is a string, so strings come last.
  defp order([], _schema, _root), do: [:any]

  defp order(types, schema, root) do
    kinds = Enum.filter(~w(null boolean integer number array object string), &(&1 in types))
    if "string" in kinds and decimal?(schema, root), do: kinds -- ["integer", "number"], else: kinds
  end

  # Only a string keeps the digits of a decimal.
  defp decimal?(schema, root), do: is_map_key(resolve(schema, root, @max_references), "pattern")

  defp of_type("string", text), do: {:ok, text}
  defp of_type("null", "null"), do: {:ok, nil}
  defp of_type("boolean", "true"), do: {:ok, true}
  defp of_type("boolean", "false"), do: {:ok, false}
  defp of_type("integer", text), do: decoded(text, &is_integer/1)
  defp of_type("number", text), do: decoded(text, &is_number/1)
  defp of_type("array", text), do: decoded(text, &is_list/1)
  defp of_type("object", text), do: decoded(text, &is_map/1)
  defp of_type(:any, text), do: decoded(text, fn _any -> true end) || {:ok, text}
  defp of_type(_type, _text), do: nil

  defp decoded(text, fits?) do
    case JSON.decode(text) do
      {:ok, value} -> if fits?.(value), do: {:ok, value}
      {:error, _no_json} -> nil
    end
  end

  defp article("integer"), do: "an integer"
  defp article("array"), do: "a list as JSON"
  defp article("object"), do: "an object as JSON"
  defp article("null"), do: "null"
  defp article("boolean"), do: "true or false"
  defp article(type), do: "a #{type}"

  @doc "The properties of a schema."
  @spec properties(map()) :: %{String.t() => map()}
  def properties(schema) do
    case schema["properties"] do
      %{} = properties -> properties
      _none -> %{}
    end
  end

  @doc "The types that a schema allows. `[]` if it has no types."
  @spec types(term(), map()) :: [String.t()]
  def types(schema, root) do
    case resolve(schema, root, @max_references) do
      %{"type" => type} -> type |> List.wrap() |> Enum.filter(&is_binary/1)
      %{"const" => value} -> [type_of(value)]
      %{"enum" => [_ | _] = values} -> values |> Enum.map(&type_of/1) |> Enum.uniq()
      %{"anyOf" => [_ | _] = schemas} -> any(schemas, root)
      %{"oneOf" => [_ | _] = schemas} -> any(schemas, root)
      _unknown -> []
    end
  end

  # If one alternative allows every type, so does the schema.
  defp any(schemas, root) do
    types = Enum.map(schemas, &alternative(&1, root))
    if [] in types, do: [], else: types |> List.flatten() |> Enum.uniq()
  end

  # Nested alternatives are ignored, because they could be recursive.
  defp alternative(schema, root), do: types(Map.drop(resolve(schema, root, @max_references), ~w(anyOf oneOf)), root)

  defp type_of(nil), do: "null"
  defp type_of(value) when is_boolean(value), do: "boolean"
  defp type_of(value) when is_integer(value), do: "integer"
  defp type_of(value) when is_number(value), do: "number"
  defp type_of(value) when is_list(value), do: "array"
  defp type_of(value) when is_map(value), do: "object"
  defp type_of(_text), do: "string"

  # Only references within the tool's schema are followed.
  defp resolve(%{"$ref" => "#/" <> path}, root, left) when left > 0 do
    steps = path |> String.split("/") |> Enum.map(&(&1 |> String.replace("~1", "/") |> String.replace("~0", "~")))
    resolve(Enum.reduce(steps, root, &step/2), root, left - 1)
  end

  defp resolve(%{} = schema, _root, _left), do: schema
  defp resolve(_other, _root, _left), do: %{}

  defp step(name, %{} = schema), do: Map.get(schema, name)
  defp step(_name, _other), do: nil
end
