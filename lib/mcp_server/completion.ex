defmodule McpServer.Completion do
  @moduledoc """
  Suggestions for a prompt's argument or a resource template's variable.

  `McpServer.Controller.completion/2` builds one and cuts longer lists.

      iex> McpServer.Completion.new(values: ["Alice"], has_more: false)
      %McpServer.Completion{values: ["Alice"], hasMore: false}
  """

  @max_values 100

  use McpServer.Fields,
    values: [{:list, :string}, required: true, default: [], doc: "the suggestions, best first; at most 100"],
    total: [:count, doc: "number of all suggestions"],
    hasMore: [:boolean, doc: "whether there are more suggestions than `values`"]

  @doc "Builds a completion; raises `ArgumentError` naming the field at fault, also for more than 100 values."
  def new(fields) do
    completion = super(fields)

    if length(completion.values) > @max_values do
      raise ArgumentError, "expected :values of #{inspect(__MODULE__)} to hold at most #{@max_values} strings"
    end

    completion
  end

  @doc "The largest number of values of a completion: #{@max_values}."
  @spec max_values() :: pos_integer
  def max_values, do: @max_values
end
