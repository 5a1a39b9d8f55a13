defmodule McpServer.Schema.Error do
  @moduledoc """
  A value that does not satisfy its schema, or a schema that is none.

  | field | |
  |---|---|
  | `:kind` | `:value` for a value that does not satisfy the schema, `:schema` for a schema that cannot be used |
  | `:problems` | what is wrong, at least one, at most 20 |

  A problem is a map:

  | key | |
  |---|---|
  | `:pointer` | where in the value (or the schema), a JSON Pointer; `""` is the whole |
  | `:keyword` | the keyword that is not satisfied |
  | `:expected` | what was expected, in words |
  | `:allowed` | the values the schema allows, as JSON texts, where it lists them |
  | `:nearest` | the declared property an unknown one was probably meant to be, or the misspelling of a missing one; else `nil` |
  | `:message` | all of this in one line, to be read by a model or a person |

  Received values never appear in it.
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
  @spec new(:value | :schema, String.t(), String.t(), String.t()) :: t
  def new(kind, pointer, keyword, message) do
    problem = %{pointer: pointer, keyword: keyword, expected: message, allowed: [], nearest: nil, message: message}
    %__MODULE__{kind: kind, problems: [problem]}
  end

  @impl true
  def message(%__MODULE__{problems: problems}), do: Enum.map_join(problems, "\n", & &1.message)
end
