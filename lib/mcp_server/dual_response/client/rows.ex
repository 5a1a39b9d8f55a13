defmodule McpServer.DualResponse.Client.Rows do
  @moduledoc false
  # All rows of a resource, batch by batch, each with the total that the server says: page by page, or as lines of
  # one response. Nothing is asked for before it is needed; what goes wrong is raised.

  alias McpServer.DualResponse.Client.{Lines, Parsed}
  alias McpServer.DualResponse.Error

  @typedoc "The options of `Parsed.fetch_stream/2`, complete."
  @type options :: %{
          batch_size: pos_integer(),
          sort: term(),
          mode: :pages | :ndjson,
          max_rows: pos_integer(),
          timeout: pos_integer()
        }

  @doc "The batches, bounded by `max_rows`."
  @spec batches(Parsed.t(), options()) :: Enumerable.t()
  def batches(parsed, %{max_rows: max} = options) do
    parsed
    |> all(options)
    |> Stream.transform(0, fn {rows, total}, before ->
      count = before + length(rows)
      if count > max, do: raise(too_many(max)), else: {[{rows, total}], count}
    end)
  end

  @doc "Why no more rows are fetched."
  @spec too_many(pos_integer()) :: Error.t()
  def too_many(max), do: Error.new(:fetch_error, "The resource has more than #{max} rows: see max_rows")

  defp all(parsed, %{mode: :pages} = options), do: pages(parsed, options)
  defp all(parsed, %{mode: :ndjson} = options), do: Lines.batches(parsed, options)

  defp pages(parsed, options) do
    Stream.resource(
      fn -> 0 end,
      fn
        nil -> {:halt, nil}
        offset -> page(parsed, offset, options)
      end,
      fn _offset -> :ok end
    )
  end

  defp page(parsed, offset, %{batch_size: size} = options) do
    case Parsed.fetch(parsed, offset: offset, limit: size, sort: options.sort, timeout: options.timeout) do
      {:ok, page} -> {[{page.data, page.total_count}], next(page)}
      {:error, error} -> raise error
    end
  end

  # The total may be older than the rows: where they have become fewer, the pages end before it says so (RES-21).
  defp next(%{has_next: false}), do: nil
  defp next(%{data: []}), do: nil
  defp next(%{offset: offset, next_offset: next}), do: if(next > offset, do: next)
end
