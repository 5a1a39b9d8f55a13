defmodule McpServer.DualResponse.Rest.Endpoint do
  @moduledoc false
  # Heads, bodies, rows and refusals of the endpoint for stored results. The native library parses and writes them. This
  # module knows no process and no transport.

  alias McpServer.JSON.{EncodeError, Structs}
  alias McpServer.Native

  @typedoc "Checked options."
  @opaque t :: reference()

  @type action :: :metadata | :fetch | :pin | :delete
  @type form :: :page | :ndjson | :csv

  @typedoc "The action of a request, the resource's id, the form of the response, and the signature in the URL."
  @type wanted ::
          {action(), id :: String.t(), form(),
           nil | :malformed | {expires_at :: non_neg_integer(), signature :: String.t()}}

  @typedoc "The selected rows. A page always has a limit."
  @type selection ::
          {offset :: non_neg_integer(), limit :: pos_integer() | nil, [{field :: String.t(), :asc | :desc}]}

  @type headers :: [{String.t(), String.t()}]
  @type answer :: {status :: 200..599, headers(), body :: binary()}
  @type refused :: {:answer, 400..599, headers(), binary()}

  @doc """
  Checks the options of an endpoint. Missing options get the core's defaults.

    * `:prefix` – the path above the resources (`"/resources"`); `""` if other code has routed the request
    * `:allowed_hosts`, `:allowed_origins` – as in `McpServer.Protocol.HTTP.policy/1`
    * `:max_body_bytes` – 64 KiB
    * `:default_limit`, `:max_limit` – rows of a page: 100 and 1,000

  The error text names the option at fault.
  """
  @spec new(map()) :: {:ok, t()} | {:error, String.t()}
  def new(options), do: Native.dual_endpoint(options)

  @doc """
  Checks a head before its body is read. An `:answer` is complete. The CORS headers belong on every response, so that
  the calling page can read it.
  """
  @spec check_head(t(), McpServer.Protocol.HTTP.head()) :: {:ok, wanted(), cors_headers :: headers()} | refused()
  def check_head(endpoint, %{method: method, target: target, headers: headers} = head),
    do: Native.dual_check_head(endpoint, method, target, Map.get(head, :authority), headers)

  @doc "Checks the body of a request for rows."
  @spec select(t(), form(), binary()) :: {:ok, selection()} | refused()
  def select(endpoint, form, body), do: Native.dual_select(endpoint, form, body)

  @doc """
  An error response that the core cannot produce by itself.

  | kind | status | details |
  |---|---|---|
  | `:malformed` | 400 | |
  | `:invalid_sort` | 400 | a text for the peer |
  | `:unauthorized` | 401 | a challenge, as of `McpServer.Protocol.HTTP` |
  | `:forbidden` | 403 | |
  | `:not_found` | 404 | |
  | `:request_timeout` | 408 | |
  | `:payload_too_large` | 413 | the maximum size of a body in bytes |
  | `:query_failed` | 500 | a text for the peer |
  | `:internal_error` | 500 | |
  | `:storage_unavailable`, `:overloaded` | 503 | seconds until a retry |
  | `:timeout` | 504 | |
  """
  @spec refuse(atom(), term()) :: answer()
  def refuse(kind, details \\ nil), do: Native.dual_refuse(kind, details)

  @doc "The headers of a response in a form. `:none` is a response without a body."
  @spec headers(form() | :none) :: headers()
  def headers(form), do: Native.dual_headers(form)

  @doc "The body of a page."
  @spec page([term()], non_neg_integer(), non_neg_integer()) :: {:ok, binary()} | {:error, EncodeError.t()}
  def page(rows, offset, total_count) do
    write(rows, fn rows ->
      with :over_budget <- Native.dual_page(rows, offset, total_count),
           do: Native.Dirty.call(fn -> Native.dual_page_dirty(rows, offset, total_count) end)
    end)
  end

  @doc "Rows as lines: one JSON text per row, or the values of these columns with commas between them."
  @spec lines([term()], [String.t()] | nil) :: {:ok, binary()} | {:error, EncodeError.t()}
  def lines(rows, columns) do
    write(rows, fn rows ->
      with :over_budget <- Native.dual_lines(rows, columns),
           do: Native.Dirty.call(fn -> Native.dual_lines_dirty(rows, columns) end)
    end)
  end

  defp write(rows, write) do
    with {:error, reason} <- Structs.write(rows, write), do: {:error, EncodeError.new(reason)}
  end
end
