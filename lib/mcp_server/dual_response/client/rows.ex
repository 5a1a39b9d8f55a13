defmodule McpServer.DualResponse.Client.Rows do
  @moduledoc false
  # All rows of a resource in batches, each with the server's total: as pages, or as lines of one response. Requests are
  # lazy. Errors are raised.

  alias McpServer.DualResponse.Client.{Lines, Parsed}
  alias McpServer.DualResponse.Error

  @typedoc "The complete options of `Parsed.fetch_stream/2`."
  @type options :: %{
          batch_size: pos_integer(),
          sort: term(),
          mode: :pages | :ndjson,
          max_rows: pos_integer(),
          timeout: pos_integer()
        }

  @doc "The batches, up to `max_rows`."
  @spec batches(Parsed.t(), options()) :: Enumerable.t()
  def batches(parsed, %{max_rows: max} = options) do
    parsed
    |> all(options)
    |> Stream.transform(0, fn {rows, total}, before ->
      count = before + length(rows)
      if count > max, do: raise(too_many(max)), else: {[{rows, total}], count}
    end)
  end

  @doc "The error for a resource with too many rows."
  @spec too_many(pos_integer()) :: Error.t()
  def too_many(max), do: Error.new(:fetch_error, "The resource has more than #{max} rows: see max_rows")

  defp all(parsed, %{mode: :pages} = options), do: pages(parsed, options)
  defp all(parsed, %{mode: :ndjson} = options), do: Lines.batches(parsed, options)

  # The downloaded bytes are counted, because rows may be of any size.
  defp pages(parsed, options) do
    Stream.resource(
      fn -> {0, 0} end,
      fn
        {nil, bytes} -> {:halt, {nil, bytes}}
        {offset, bytes} -> page(parsed, offset, bytes, options)
      end,
      fn _state -> :ok end
    )
  end

  defp page(parsed, offset, bytes, %{batch_size: size, sort: sort, timeout: timeout}) do
    case Parsed.page(parsed, %{offset: offset, limit: size, sort: sort, timeout: timeout}) do
      {:ok, _page, more} when bytes + more > parsed.client.max_download_bytes -> raise too_large(:max_download_bytes)
      {:ok, page, more} -> {[{page.data, page.total_count}], {next(page), bytes + more}}
      {:error, error} -> raise error
    end
  end

  @doc "The error for a response that is too large."
  @spec too_large(:max_body_bytes | :max_download_bytes) :: Error.t()
  def too_large(limit), do: Error.new(:fetch_error, "The server sends more than #{limit}")

  # The total may be outdated. If the rows have become fewer, an empty page ends the stream.
  defp next(%{has_next: false}), do: nil
  defp next(%{data: []}), do: nil
  defp next(%{offset: offset, returned_count: count, next_offset: next}) when next == offset + count, do: next

  # Otherwise rows would be missing or duplicate.
  defp next(%{offset: offset, returned_count: count, next_offset: next}) do
    raise Error.new(
            :fetch_error,
            "The server says that the #{count} rows at offset #{offset} are followed by offset #{next}"
          )
  end
end
