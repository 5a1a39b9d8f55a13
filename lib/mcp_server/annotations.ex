defmodule McpServer.Annotations do
  @moduledoc """
  Hints about a piece of content or a resource: whom it is for, how important it is, how fresh.

  | field | type | meaning |
  |---|---|---|
  | `audience` | list of `"user"` and `"assistant"` | whom the content is for |
  | `priority` | number from 0 to 1 | 1: needed, 0: entirely optional |
  | `lastModified` | ISO 8601 text | when it was last changed |

      iex> McpServer.Annotations.new(audience: [:user], priority: 0.5)
      %McpServer.Annotations{audience: ["user"], priority: 0.5}
  """

  alias McpServer.Fields

  defstruct [:audience, :priority, :lastModified]

  @type t :: %__MODULE__{
          audience: [String.t()] | nil,
          priority: number | nil,
          lastModified: String.t() | nil
        }

  @table Fields.table(audience: {:list, {:in, ~w(user assistant)}}, priority: :number, lastModified: :string)

  @doc "Builds annotations; raises `ArgumentError` naming the field at fault."
  @spec new(keyword | map) :: t
  def new(fields) do
    annotations = Fields.build!(__MODULE__, @table, fields)
    check_priority(annotations.priority)
    annotations
  end

  defp check_priority(nil), do: :ok
  defp check_priority(priority) when priority >= 0 and priority <= 1, do: :ok

  defp check_priority(priority) do
    raise ArgumentError,
          "expected :priority of #{inspect(__MODULE__)} to be a number from 0 to 1, got: #{inspect(priority)}"
  end
end
