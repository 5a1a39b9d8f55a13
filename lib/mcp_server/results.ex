defmodule McpServer.Results do
  @moduledoc false
  # The door to the core's rules for the shapes of results. One of the façades over `McpServer.Native`.
  # Knows no process, no socket and no store.

  alias McpServer.JSON.EncodeError
  alias McpServer.Native

  # Dual responses

  @typedoc "Checked options of an endpoint for stored results."
  @opaque endpoint :: reference()

  @type action :: :metadata | :fetch | :pin | :delete
  @type form :: :page | :ndjson | :csv

  @typedoc "What a request wants, of which resource, in which form, and what permission its URL carries."
  @type wanted ::
          {action(), id :: String.t(), form(),
           nil | :malformed | {expires_at :: non_neg_integer(), signature :: String.t()}}

  @typedoc "Which rows: a page always has a limit."
  @type selection ::
          {offset :: non_neg_integer(), limit :: pos_integer() | nil, [{field :: String.t(), :asc | :desc}]}

  @type headers :: [{String.t(), String.t()}]
  @type answer :: {status :: 200..599, headers(), body :: binary()}
  @type refused :: {:answer, 400..599, headers(), binary()}

  @doc """
  Checks the options of an endpoint; what is left out is as the core has it.

    * `:prefix` – the path below which resources lie (`"/resources"`); `""` where something else has routed
    * `:allowed_hosts`, `:allowed_origins` – as `McpServer.Protocol.HTTP.policy/1` has them
    * `:max_body_bytes` – 64 KiB
    * `:default_limit`, `:max_limit` – rows of a page: 100 and 1,000

  The error text names the option at fault.
  """
  @spec dual_endpoint(map()) :: {:ok, endpoint()} | {:error, String.t()}
  def dual_endpoint(options), do: Native.dual_endpoint(options)

  @doc "Judges a head before its body is read; an `:answer` is finished."
  @spec dual_screen(endpoint(), McpServer.Protocol.HTTP.head()) :: {:ok, wanted()} | refused()
  def dual_screen(endpoint, %{method: method, target: target, headers: headers} = head),
    do: Native.dual_screen(endpoint, method, target, Map.get(head, :authority), headers)

  @doc "Judges the body of a request for rows."
  @spec dual_select(endpoint(), form(), binary()) :: {:ok, selection()} | refused()
  def dual_select(endpoint, form, body), do: Native.dual_select(endpoint, form, body)

  @doc "Whether every field is a column, and one that can be sorted by; columns have their names under `:name` or `\"name\"`."
  @spec check_sort([String.t()], [map()]) :: :ok | refused()
  def check_sort([], _columns), do: :ok

  def check_sort(fields, columns),
    do: Native.dual_check_sort(fields, for(column <- columns, do: {name(column), sortable?(column)}))

  @doc "Whether the URIs of resources may have this scheme: it is one, and means nothing else to hosts."
  @spec check_scheme(String.t()) :: :ok | {:error, :syntax | :reserved}
  def check_scheme(scheme), do: Native.dual_check_scheme(scheme)

  @doc "The name of a column as text."
  @spec name(map()) :: String.t()
  def name(column), do: to_string(column[:name] || column["name"])

  defp sortable?(column), do: Map.get(column, :sortable, Map.get(column, "sortable", true)) != false

  @doc """
  An answer that the core cannot find by itself.

  | kind | status | details |
  |---|---|---|
  | `:malformed` | 400 | |
  | `:invalid_sort` | 400 | a text for the peer |
  | `:unauthorized` | 401 | a challenge, as of `McpServer.Protocol.HTTP` |
  | `:forbidden` | 403 | |
  | `:not_found` | 404 | |
  | `:request_timeout` | 408 | |
  | `:payload_too_large` | 413 | the most bytes a body may have |
  | `:query_failed` | 500 | a text for the peer |
  | `:internal_error` | 500 | |
  | `:storage_unavailable`, `:overloaded` | 503 | seconds to wait |
  | `:timeout` | 504 | |
  """
  @spec dual_refuse(atom(), term()) :: answer()
  def dual_refuse(kind, details \\ nil), do: Native.dual_refuse(kind, details)

  @doc "The body that describes a resource; `columns` are JSON text, times ISO 8601 in seconds."
  @spec dual_metadata(non_neg_integer(), binary(), String.t(), String.t() | nil, non_neg_integer()) :: binary()
  def dual_metadata(total_count, columns, created_at, expires_at, access_count),
    do: Native.dual_metadata(total_count, columns, created_at, expires_at, access_count)

  @doc "The body of a page."
  @spec dual_page([term()], non_neg_integer(), non_neg_integer()) :: {:ok, binary()} | {:error, EncodeError.t()}
  def dual_page(rows, offset, total_count) do
    result =
      with :over_budget <- Native.dual_page(rows, offset, total_count),
           do: Native.Dirty.call(fn -> Native.dual_page_dirty(rows, offset, total_count) end)

    with {:error, reason} <- result, do: {:error, EncodeError.new(reason)}
  end

  @doc "Rows as lines: a JSON text each, or the values of these columns, separated by commas."
  @spec dual_lines([term()], [String.t()] | nil) :: {:ok, binary()} | {:error, EncodeError.t()}
  def dual_lines(rows, columns) do
    result =
      with :over_budget <- Native.dual_lines(rows, columns),
           do: Native.Dirty.call(fn -> Native.dual_lines_dirty(rows, columns) end)

    with {:error, reason} <- result, do: {:error, EncodeError.new(reason)}
  end

  @doc "The headers of an answer in a form; `:none` where there is no body."
  @spec dual_headers(form() | :none) :: headers()
  def dual_headers(form), do: Native.dual_headers(form)

  @doc "The body that says that a resource is pinned."
  @spec dual_pinned() :: binary()
  def dual_pinned, do: Native.dual_pinned()

  @doc "What the signature of a URL signs; the tenant as bytes."
  @spec dual_signed_text(String.t(), [action()], binary() | nil, non_neg_integer()) :: binary()
  def dual_signed_text(id, actions, tenant, expires_at),
    do: Native.dual_signed_text(id, actions, tenant, expires_at)
end
