defmodule McpServer.Annotations do
  @moduledoc """
  Hints about content or a resource: its audience, priority and last change.

      iex> McpServer.Annotations.new(audience: [:user], priority: 0.5)
      %McpServer.Annotations{audience: ["user"], priority: 0.5}
  """

  use McpServer.Fields,
    audience: [{:list, {:in, ~w(user assistant)}}, doc: "the audience of the content"],
    priority: [:number, doc: "from 0 (entirely optional) to 1 (needed)"],
    lastModified: [:string, doc: "the time of the last change, in ISO 8601"]

  @doc "Builds annotations; raises `ArgumentError` naming the field at fault."
  def new(fields) do
    annotations = super(fields)
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
