defmodule McpServer.Prompt.GetResult do
  @moduledoc """
  What a prompt answers, when a list of messages is not enough: `messages` (required), a `description`
  that replaces the declared one for this answer, and `_meta`.

      iex> McpServer.Prompt.GetResult.new(messages: [], description: "For Ada")
      %McpServer.Prompt.GetResult{messages: [], description: "For Ada"}
  """

  alias McpServer.Prompt.Message

  use McpServer.Fields,
    description: :string,
    messages: [{:list, {:struct, Message}}, required: true],
    _meta: :map
end
