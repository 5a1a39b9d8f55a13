defmodule McpServer.DualResponse.SortedRows do
  @moduledoc false
  # Stored rows in an order. There may be more rows than fit into the memory of a request: so they are read in batches,
  # only what decides about their places is kept, and then the wanted rows are read.
  #
  # Stored rows never change, so a row has its index in every read.

  alias McpServer.DualResponse
  alias McpServer.DualResponse.{Access, Error, Options, Resource, Sorting, Storage}

  @batch 5_000

  @typedoc "The indexes of the rows, sorted."
  @type t :: [non_neg_integer()]

  @doc "How many rows may be in memory."
  @spec batch() :: pos_integer()
  def batch, do: @batch

  @doc "The rows of one page."
  @spec page(Options.t(), Resource.t(), [DualResponse.sort()], non_neg_integer, pos_integer) ::
          {:ok, [map]} | {:error, Error.t()}
  def page(server, %{total_count: total} = resource, sort, offset, limit) when total <= @batch do
    order = Sorting.order(sort, resource.tie_break)

    with {:ok, rows} <- read(server, resource, 0),
         do: {:ok, order |> Sorting.sort(Enum.map(rows, &Sorting.ranked(order, &1, &1))) |> Enum.slice(offset, limit)}
  end

  def page(server, resource, sort, offset, limit) do
    with {:ok, indexes} <- indexes(server, resource, sort),
         do: rows(server, resource, Enum.slice(indexes, offset, limit))
  end

  @doc "Sorts the rows of a resource."
  @spec indexes(Options.t(), Resource.t(), [DualResponse.sort()]) :: {:ok, t()} | {:error, Error.t()}
  def indexes(server, resource, sort) do
    order = Sorting.order(sort, resource.tie_break)

    sparing_memory(fn ->
      with {:ok, ranked} <- rank(server, resource, order, 0, []), do: {:ok, Sorting.sort(order, Enum.reverse(ranked))}
    end)
  end

  # Each garbage collection is a full one. Otherwise the memory that 100,000 rows take is a matter of chance: up to half as
  # much again. The last one leaves the result alone.
  defp sparing_memory(fun) do
    before = Process.flag(:fullsweep_after, 0)
    result = fun.()
    :erlang.garbage_collect()
    Process.flag(:fullsweep_after, before)
    result
  end

  defp rank(server, resource, order, offset, ranked) do
    with {:ok, rows} <- read(server, resource, offset) do
      ranked = rows |> Enum.with_index(offset) |> Enum.reduce(ranked, &rank_one(&1, &2, order))
      if length(rows) < @batch, do: {:ok, ranked}, else: rank(server, resource, order, offset + @batch, ranked)
    end
  end

  defp rank_one({row, index}, ranked, order), do: [Sorting.ranked(order, row, index) | ranked]

  @doc "The rows with these indexes, in their order. At most a batch of them, because all of them are in memory."
  @spec rows(Options.t(), Resource.t(), t()) :: {:ok, [map]} | {:error, Error.t()}
  def rows(server, resource, indexes) do
    batches = indexes |> Enum.group_by(&div(&1, @batch)) |> Enum.to_list()
    with {:ok, rows} <- pick(server, resource, batches, %{}), do: {:ok, Enum.map(indexes, &Map.fetch!(rows, &1))}
  end

  defp pick(_server, _resource, [], picked), do: {:ok, picked}

  defp pick(server, resource, [{batch, indexes} | batches], picked) do
    with {:ok, rows} <- read(server, resource, batch * @batch) do
      rows = List.to_tuple(rows)
      picked = for index <- indexes, into: picked, do: {index, elem(rows, rem(index, @batch))}
      pick(server, resource, batches, picked)
    end
  end

  defp read(server, resource, offset),
    do: server |> Storage.rows(Resource.key(resource), offset, @batch) |> Access.stored(resource, offset)
end
