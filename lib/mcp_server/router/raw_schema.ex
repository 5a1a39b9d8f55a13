defmodule McpServer.Router.RawSchema do
  @moduledoc false
  # `input_schema` and `output_schema`: a JSON Schema that is published unchanged.

  alias McpServer.{JSON, Schema, Suggestion}
  alias McpServer.Router.Refusal

  # Beside one of these keywords, `required` may name properties that another part of the schema declares.
  @composing ~w($ref $dynamicRef allOf anyOf oneOf not if dependentSchemas patternProperties)

  @doc "The schema as a JSON object. `what` is its name in messages."
  @spec parse!(term, String.t(), Refusal.place()) :: %{String.t() => term}
  def parse!(schema, what, place) do
    case to_json(schema, what, place) do
      json when is_map(json) -> check_required!(json, what, place)
      other -> Refusal.refuse!(place, "#{what} must be a JSON object, got: #{inspect(other)}")
    end
  end

  @doc "The schema of a tool's arguments, which are always an object."
  @spec parse_object!(term, String.t(), Refusal.place()) :: %{String.t() => term}
  def parse_object!(schema, what, place) do
    case parse!(schema, what, place) do
      %{"type" => "object"} = json -> json
      json -> Refusal.refuse!(place, "#{what} must have the type \"object\", got: #{inspect(json["type"])}")
    end
  end

  defp to_json(text, what, place) when is_binary(text) do
    case JSON.decode(text) do
      {:ok, json} -> json
      {:error, error} -> Refusal.refuse!(place, "#{what} is not JSON: #{Exception.message(error)}")
    end
  end

  defp to_json(schema, _what, place), do: Refusal.checked!(place, fn -> Schema.to_json(schema) end)

  defp check_required!(%{"required" => required, "properties" => properties} = json, what, place)
       when is_list(required) and is_map(properties) do
    undeclared = Enum.reject(required, &is_map_key(properties, &1))

    if undeclared != [] and not Enum.any?(@composing, &is_map_key(json, &1)),
      do: Refusal.refuse!(place, undeclared(hd(undeclared), Map.keys(properties), what)),
      else: json
  end

  defp check_required!(json, _what, _place), do: json

  defp undeclared(name, names, what) do
    stop = Suggestion.end_sentence(to_string(name), names)
    "#{what} requires #{inspect(name)}, which is none of its properties#{stop} They are: #{Enum.join(names, ", ")}"
  end
end
