defmodule McpServer.Prompt.GetResult do
  @moduledoc """
  A complete result of a prompt: `messages` (required), a `description` that replaces the declared one in this result,
  and `_meta`.

      iex> McpServer.Prompt.GetResult.new(messages: [], description: "For Ada")
      %McpServer.Prompt.GetResult{messages: [], description: "For Ada"}
  """

  alias McpServer.Prompt.Message

  use McpServer.Fields,
    description: :string,
    messages: [{:list, {:struct, Message}}, required: true],
    _meta: :map
end
