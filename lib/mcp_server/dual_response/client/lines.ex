defmodule McpServer.DualResponse.Client.Lines do
  @moduledoc false
  # A resource's rows as lines of one response (NDJSON), read lazily. The last line has the number of rows. A response
  # without it was cut.

  alias McpServer.DualResponse.Client.{Answer, RoundTrip, Headers, Parsed, Rows}
  alias McpServer.DualResponse.Error
  alias McpServer.JSON

  @media_type "application/x-ndjson"

  @doc "The rows in batches, each with the total. The request is sent for the first batch."
  @spec batches(Parsed.t(), map()) :: Enumerable.t()
  def batches(parsed, options) do
    Stream.flat_map([parsed], fn parsed ->
      response = open!(parsed, options)
      total = total(response, parsed)

      response.body
      |> rows(parsed.client)
      |> Stream.chunk_every(options.batch_size)
      |> Stream.map(&{&1, total})
    end)
  end

  defp open!(parsed, options) do
    ask = %{
      method: :post,
      body: JSON.encode!(%{"offset" => 0, "sort" => options.sort}),
      accept: @media_type,
      stream: true,
      timeout: options.timeout
    }

    with {:ok, url} <- Parsed.url(parsed),
         {:ok, response} <- RoundTrip.run(parsed.client, url, ask),
         :ok <- Answer.check(response, fn -> Parsed.expired?(parsed) end),
         :ok <- check_type(response) do
      response
    else
      {:error, error} -> raise error
    end
  end

  defp check_type(%{headers: headers} = response) do
    type = headers |> Headers.get("content-type") |> to_string() |> String.split(";") |> hd()

    if String.downcase(String.trim(type)) == @media_type do
      :ok
    else
      RoundTrip.close(response)
      {:error, Error.new(:fetch_error, "The server does not send #{@media_type}", status: response.status)}
    end
  end

  defp total(%{headers: headers}, parsed) do
    case Integer.parse(Headers.get(headers, "x-total-count") || "") do
      {total, ""} when total >= 0 -> total
      _none -> parsed.total_count
    end
  end

  # The last line ends the response, even if the server keeps the connection open.
  defp rows(body, client) do
    body
    |> lines(client)
    |> Stream.transform(fn -> 0 end, &row!/2, fn _count -> raise truncated() end, fn _count -> :ok end)
  end

  defp row!("", count), do: {[], count}

  defp row!(line, count) do
    case JSON.decode(line, max_bytes: byte_size(line)) do
      {:ok, %{"$end" => true, "returned_count" => ^count} = last} when map_size(last) == 2 ->
        {:halt, count}

      {:ok, %{"$end" => true, "returned_count" => _other} = last} when map_size(last) == 2 ->
        raise Error.new(:parse_error, "The server sent another number of rows than it says")

      {:ok, %{"$error" => reason} = last} when map_size(last) == 1 ->
        raise Error.new(:fetch_error, "The server failed while it sent the rows", cause: reason)

      {:ok, row} when is_map(row) ->
        {[row], count + 1}

      _no_row ->
        raise Error.new(:parse_error, "A line of the server's answer is no row")
    end
  end

  # The state is the beginning of an incomplete line, and the number of received bytes.
  defp lines(body, client) do
    Stream.transform(
      body,
      fn -> {"", 0} end,
      &split!(&1, &2, client),
      fn {line, bytes} -> {[line], {"", bytes}} end,
      fn _state -> :ok end
    )
  end

  defp split!(chunk, {line, bytes}, client) do
    bytes = bytes + byte_size(chunk)
    bytes <= client.max_download_bytes || raise Rows.too_large(:max_download_bytes)

    # The beginning of the line has no line end, so it is not searched again.
    case :binary.split(chunk, "\n", [:global]) do
      [more] -> {[], {bounded!(line <> more, client), bytes}}
      [first | rest] -> {[bounded!(line <> first, client) | Enum.drop(rest, -1)], {List.last(rest), bytes}}
    end
  end

  defp bounded!(line, client) do
    if byte_size(line) <= client.max_body_bytes, do: line, else: raise(Rows.too_large(:max_body_bytes))
  end

  defp truncated, do: Error.new(:fetch_error, "The server's answer was cut: the line that ends it is missing")
end
