defmodule McpServer.Schema.Error do
  @moduledoc """
  A value that does not satisfy its schema, or an invalid schema.

  | field | |
  |---|---|
  | `:kind` | `:value` for a value that does not satisfy the schema, `:schema` for a schema that cannot be used |
  | `:problems` | 1 to 20 problems |

  A problem is a map:

  | key | |
  |---|---|
  | `:pointer` | the place in the value (or the schema), a JSON Pointer; `""` is the whole value |
  | `:keyword` | the violated keyword; for an invalid schema also the name of one of the reasons below |
  | `:expected` | what was expected, in words |
  | `:allowed` | the allowed values as JSON texts, if the schema lists them; for an undeclared property without `:nearest` the first declared names, followed by `…` if there are more |
  | `:nearest` | the declared property most similar to an unknown one, or the misspelling of a missing one; else `nil` |
  | `:message` | all of this in one line, for a model or a person |

  Received values never appear in an error.

  A schema is invalid because of a malformed keyword, or for one of these reasons: `too_large`, `too_deep`,
  `too_many_subschemas`, `too_many_refs`, `too_complex` (see the limits of `McpServer.Schema.Validator.compile/2`),
  `big_integer`, `unknown_dialect`, `unknown_format`, `unknown_reference`, `unencodable` (a term that has no JSON) and
  `invalid_json`.
  """

  @enforce_keys [:kind, :problems]
  defexception [:kind, :problems]

  @type problem :: %{
          pointer: String.t(),
          keyword: String.t(),
          expected: String.t(),
          allowed: [String.t()],
          nearest: String.t() | nil,
          message: String.t()
        }
  @type t :: %__MODULE__{kind: :value | :schema, problems: [problem, ...]}

  @doc false
  @spec encoding(McpServer.JSON.EncodeError.t()) :: t
  def encoding(%{kind: :too_deep}), do: new(:schema, "", "too_deep", too_deep(127))

  def encoding(%{path: path} = error), do: new(:schema, pointer(path), "unencodable", Exception.message(error))

  @doc false
  @spec pointer([String.t() | non_neg_integer]) :: String.t()
  def pointer(path), do: Enum.map_join(path, &("/" <> escape(&1)))

  defp escape(index) when is_integer(index), do: Integer.to_string(index)
  defp escape(key), do: key |> String.replace("~", "~0") |> String.replace("/", "~1")

  @doc false
  @spec new(:value | :schema, String.t(), String.t(), String.t()) :: t
  def new(kind, pointer, keyword, message) do
    problem = %{pointer: pointer, keyword: keyword, expected: message, allowed: [], nearest: nil, message: message}
    %__MODULE__{kind: kind, problems: [problem]}
  end

  # The core's text, for schemas that the encoder refuses first.
  @doc false
  @spec too_deep(pos_integer) :: String.t()
  def too_deep(limit),
    do: "the schema nests more than #{limit} arrays and objects; `properties` takes two for each subschema"

  @impl true
  def message(%__MODULE__{problems: problems}), do: Enum.map_join(problems, "\n", & &1.message)
end
