defmodule Institutions.Table do
  @moduledoc """
  The institutions in a table of the VM's memory, in the order of their ids, and the two questions that a dual
  response asks of its source: a page, and how many there are.
  """
  use GenServer

  alias Institutions.Generator

  @type wanted :: %{optional(String.t()) => String.t() | integer()}

  @doc false
  def start_link(_options), do: GenServer.start_link(__MODULE__, nil, name: __MODULE__)

  @impl true
  def init(nil) do
    :ets.new(__MODULE__, [:ordered_set, :named_table, read_concurrency: true])
    :ets.insert(__MODULE__, for(row <- Generator.rows(), do: {row["id"], row}))
    {:ok, nil}
  end

  @doc "Rows `offset` to `offset + limit` of those that are wanted, in the order of `sort`."
  @spec page(wanted(), map()) :: [map()]
  def page(wanted, %{offset: offset, limit: limit, sort: sort}),
    do: wanted |> matching() |> sorted(List.wrap(sort)) |> Enum.slice(offset, limit)

  @doc "How many rows are wanted."
  @spec count(wanted(), map()) :: non_neg_integer()
  def count(wanted, _options), do: wanted |> matching() |> length()

  defp matching(wanted) do
    for {_id, row} <- :ets.tab2list(__MODULE__), Enum.all?(wanted, &matches?(row, &1)), do: row
  end

  defp matches?(row, {"min_enrollment", minimum}), do: row["enrollment"] >= minimum
  defp matches?(row, {column, value}), do: row[column] == value

  # Sorting is stable, so the least important key comes first, and the id decides at last.
  defp sorted(rows, keys) do
    keys |> Enum.reverse() |> Enum.reduce(rows, fn key, rows -> Enum.sort_by(rows, & &1[key.field], key.order) end)
  end
end
