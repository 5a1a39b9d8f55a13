defmodule McpServer.Prompt.GetResult do
  @moduledoc """
  What a prompt answers, when a list of messages is not enough: `messages` (required), a `description`
  that replaces the declared one for this answer, and `_meta`.

      iex> McpServer.Prompt.GetResult.new(messages: [], description: "For Ada")
      %McpServer.Prompt.GetResult{messages: [], description: "For Ada"}
  """

  alias McpServer.Fields
  alias McpServer.Prompt.Message

  @enforce_keys [:messages]
  defstruct [:description, :messages, :_meta]

  @type t :: %__MODULE__{
          description: String.t() | nil,
          messages: [Message.t() | map],
          _meta: map | nil
        }

  @table Fields.table(description: :string, messages: {:required, {:list, {:struct, Message}}}, _meta: :map)

  @doc "Builds a result; raises `ArgumentError` naming the field at fault."
  @spec new(keyword | map) :: t
  def new(fields), do: Fields.build!(__MODULE__, @table, fields)
end
