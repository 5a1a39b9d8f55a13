defmodule McpServer.DualResponse.Client.Answer do
  @moduledoc false
  # Parses a response: the requested page or metadata, or an error. A response that does not match its request is
  # refused, because its rows would be used for the wrong page.

  alias McpServer.DualResponse.Client.{FetchResult, Metadata, Parsed, Time}
  alias McpServer.DualResponse.Error
  alias McpServer.JSON

  # The maximum kept size of a server's error text.
  @max_cause_bytes 4 * 1024

  @doc """
  Checks for a success. `expired?` tells whether the resource has expired by the client's clock, because
  a server answers 404 to that too.
  """
  @spec check(McpServer.DualResponse.Client.response(), (() -> boolean())) :: :ok | {:error, Error.t()}
  def check(%{status: status}, _expired?) when status in 200..299, do: :ok

  def check(response, expired?), do: {:error, refusal(response, expired?)}

  defp refusal(%{status: 410} = response, _expired?), do: gone(:resource_expired, response)

  defp refusal(%{status: 404} = response, expired?),
    do: gone(if(expired?.(), do: :resource_expired, else: :resource_not_found), response)

  defp refusal(%{status: status} = response, _expired?),
    do: Error.new(:fetch_error, "The server answered with status #{status}", status: status, cause: cause(response))

  defp gone(:resource_expired = code, response),
    do: Error.new(code, "The resource has expired", status: response.status, cause: cause(response))

  defp gone(code, response),
    do: Error.new(code, "The server has no such resource", status: response.status, cause: cause(response))

  defp cause(%{body: body}) do
    with text when is_binary(text) <- short(body),
         {:ok, document} <- JSON.decode(text) do
      document
    else
      _too_long_or_not_json -> nil
    end
  end

  defp short(body) when is_binary(body), do: if(byte_size(body) <= @max_cause_bytes, do: body)

  defp short(body) do
    Enum.reduce_while(body, "", fn bytes, read ->
      if byte_size(read) + byte_size(bytes) <= @max_cause_bytes, do: {:cont, read <> bytes}, else: {:halt, nil}
    end)
  end

  @doc "The page for `offset` and `limit`."
  @spec page(binary(), non_neg_integer(), pos_integer()) :: {:ok, FetchResult.t()} | {:error, Error.t()}
  def page(body, offset, limit) do
    with {:ok, page} <- document(body),
         {:ok, result} <- result(page),
         :ok <- answers(result, offset, limit) do
      {:ok, result}
    end
  end

  defp result(%{"data" => data, "total_count" => total, "returned_count" => returned, "has_next" => next?} = page)
       when is_list(data) and is_integer(total) and total >= 0 and is_boolean(next?) do
    next = page["next_offset"]

    if returned == length(data) and Enum.all?(data, &is_map/1) and next?(next?, next) do
      {:ok,
       %FetchResult{
         data: data,
         total_count: total,
         returned_count: returned,
         offset: page["offset"],
         has_next: next?,
         has_previous: is_integer(page["offset"]) and page["offset"] > 0,
         next_offset: next
       }}
    else
      unreadable()
    end
  end

  defp result(_other), do: unreadable()

  defp next?(true, next), do: is_integer(next) and next >= 0
  defp next?(false, next), do: next == nil

  defp answers(%{offset: offset, returned_count: count}, offset, limit) when count <= limit, do: :ok
  defp answers(_page, _offset, _limit), do: {:error, Error.new(:parse_error, "The server answered with another page")}

  @doc "The metadata from the server."
  @spec metadata(binary()) :: {:ok, Parsed.metadata()} | {:error, Error.t()}
  def metadata(body) do
    with {:ok, document} <- document(body),
         %{"status" => status, "total_count" => total, "columns" => columns, "access_count" => count}
         when is_binary(status) and is_integer(total) and total >= 0 and is_list(columns) and is_integer(count) <-
           document,
         {:ok, created_at} <- Time.read(document["created_at"]),
         {:ok, expires_at} <- Time.read(document["expires_at"]) do
      {:ok,
       %Metadata{
         status: status,
         total_count: total,
         columns: columns,
         created_at: created_at,
         expires_at: expires_at,
         access_count: count
       }}
    else
      {:error, %Error{} = error} -> {:error, error}
      _another_shape -> unreadable()
    end
  end

  defp document(body) do
    # The size was limited when the body was read.
    case JSON.decode(body, max_bytes: max(byte_size(body), 1)) do
      {:ok, document} -> {:ok, document}
      {:error, error} -> {:error, Error.new(:parse_error, "The server's answer is not JSON", cause: error)}
    end
  end

  defp unreadable, do: {:error, Error.new(:parse_error, "The server's answer is not of the form that was asked for")}
end
