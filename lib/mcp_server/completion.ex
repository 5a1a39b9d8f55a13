defmodule McpServer.Completion do
  @moduledoc """
  Suggestions for a prompt's argument or a resource template's variable.

  | field | type | meaning |
  |---|---|---|
  | `values` | list of strings, at most 100 | the suggestions, best first |
  | `total` | non-negative integer | how many there are in all |
  | `hasMore` | boolean | whether there are more than `values` |

  `McpServer.Controller.completion/2` makes one and cuts longer lists for you.

      iex> McpServer.Completion.new(values: ["Alice"], has_more: false)
      %McpServer.Completion{values: ["Alice"], hasMore: false}
  """

  alias McpServer.Fields

  @max_values 100

  defstruct values: [], total: nil, hasMore: nil

  @type t :: %__MODULE__{values: [String.t()], total: non_neg_integer | nil, hasMore: boolean | nil}

  @table Fields.table(values: {:required, {:list, :string}}, total: :count, hasMore: :boolean)

  @doc "Builds a completion; raises `ArgumentError` naming the field at fault, also for more than 100 values."
  @spec new(keyword | map) :: t
  def new(fields) do
    completion = Fields.build!(__MODULE__, @table, fields)

    if length(completion.values) > @max_values do
      raise ArgumentError, "expected :values of #{inspect(__MODULE__)} to hold at most #{@max_values} strings"
    end

    completion
  end

  @doc "How many values one completion may hold: #{@max_values}."
  @spec max_values() :: pos_integer
  def max_values, do: @max_values
end
