defmodule McpServer.DualResponse.Client.Parsed do
  @moduledoc """
  A dual response on the client's side: the sample that the model saw, and access to all rows.

  `McpServer.DualResponse.Client.parse/2` builds one from a tool's result.

      {:ok, page} = Parsed.fetch(parsed, offset: 0, limit: 100, sort: %{field: "enrollment", order: :desc})
      {:ok, rows} = Parsed.fetch_all(parsed, on_progress: fn fetched, total -> IO.puts("\#{fetched} of \#{total}") end)
      parsed |> Parsed.fetch_stream(batch_size: 100) |> Enum.each(&render/1)

  | field | |
  |---|---|
  | `sample` | the first rows, maps with string keys |
  | `total_count` | number of all rows |
  | `name` | the name of the resource, or `nil` |
  | `resource_uri` | its URI, such as `"resource://abc123"` |
  | `resource_url` | the URL of its rows, or `nil` if unknown: see `base_url:` of the client |
  | `columns` | the columns, maps with string keys |
  | `expires_at` | the time of expiry, a `DateTime`; `nil` if it is pinned or the time is unknown |
  | `executed_at` | when the query ran, a `DateTime`, or `nil` |

  ## Errors

  Every function that sends a request returns `{:error, %McpServer.DualResponse.Error{}}` if it fails; `fetch_stream/2`
  raises the error:

  | `code` | when |
  |---|---|
  | `:resource_not_found` | the server answered 404 |
  | `:resource_expired` | it answered 410, or 404 after `expires_at` |
  | `:timeout` | the answer was not complete after `timeout:` |
  | `:parse_error` | the answer is not JSON, or does not fit the request |
  | `:fetch_error` | all other failures: another status, which is in `status`; no connection; a refused answer or redirect |
  """

  alias McpServer.DualResponse.{Client, Error}
  alias McpServer.DualResponse.Client.{Answer, RoundTrip, FetchResult, Metadata, Rows}
  alias McpServer.JSON

  @enforce_keys [:client, :sample, :total_count, :resource_uri, :columns]
  # The client contains the user's headers.
  @derive {Inspect, except: [:client]}
  defstruct [
    :client,
    :name,
    :sample,
    :total_count,
    :resource_uri,
    :resource_url,
    :columns,
    :expires_at,
    :executed_at
  ]

  @type t :: %__MODULE__{
          client: Client.t(),
          name: String.t() | nil,
          sample: [map()],
          total_count: non_neg_integer(),
          resource_uri: String.t(),
          resource_url: String.t() | nil,
          columns: [map()],
          expires_at: DateTime.t() | nil,
          executed_at: DateTime.t() | nil
        }

  @typedoc "The sort order: a column, or several columns, the most important first."
  @type sort :: %{required(:field) => String.t(), optional(:order) => :asc | :desc}
  @type fetch_option ::
          {:offset, non_neg_integer()}
          | {:limit, pos_integer()}
          | {:sort, sort() | [sort()] | nil}
          | {:timeout, pos_integer()}
  @type stream_option ::
          {:batch_size, pos_integer()}
          | {:sort, sort() | [sort()] | nil}
          | {:mode, :pages | :ndjson}
          | {:max_rows, pos_integer()}
          | {:timeout, pos_integer()}
  @type all_option :: stream_option() | {:on_progress, (non_neg_integer(), non_neg_integer() -> any())}

  @doc """
  Whether `expires_at` has passed. The server decides about expiry; this check saves a request that would fail.

      iex> alias McpServer.DualResponse.Client
      iex> parsed = %Client.Parsed{
      ...>   client: Client.new(),
      ...>   sample: [],
      ...>   total_count: 0,
      ...>   resource_uri: "resource://abc123",
      ...>   columns: [],
      ...>   expires_at: ~U[2025-01-15 10:45:00Z]
      ...> }
      iex> {Client.Parsed.expired?(parsed), Client.Parsed.expired?(%{parsed | expires_at: nil})}
      {true, false}
  """
  @spec expired?(t()) :: boolean()
  def expired?(%__MODULE__{expires_at: nil}), do: false
  def expired?(%__MODULE__{expires_at: time}), do: DateTime.compare(DateTime.utc_now(), time) != :lt

  @doc """
  Fetches a page.

  | option | default | |
  |---|---|---|
  | `:offset` | `0` | number of rows to skip |
  | `:limit` | `100` | largest number of rows; the server may send fewer |
  | `:sort` | `nil` | `%{field: "enrollment", order: :desc}`, or a list of these |
  | `:timeout` | the client's | milliseconds until the answer must be complete |

  Raises `ArgumentError` for unknown or invalid options.
  """
  @spec fetch(t(), [fetch_option()]) :: {:ok, FetchResult.t()} | {:error, Error.t()}
  def fetch(%__MODULE__{client: client} = parsed, options \\ []) do
    options = options!(options, offset: 0, limit: 100, sort: nil, timeout: client.timeout)
    with {:ok, page, _bytes} <- page(parsed, options), do: {:ok, page}
  end

  @doc false
  @spec page(t(), map()) :: {:ok, FetchResult.t(), bytes :: non_neg_integer()} | {:error, Error.t()}
  def page(parsed, %{offset: offset, limit: limit, sort: sort, timeout: timeout}) do
    question = JSON.encode!(%{"offset" => offset, "limit" => limit, "sort" => sort})

    with {:ok, response} <- ask(parsed, :post, question, timeout),
         {:ok, page} <- Answer.page(response.body, offset, limit),
         do: {:ok, page, byte_size(response.body)}
  end

  @doc """
  Fetches all rows, in order.

  Takes the options of `fetch_stream/2`, and `:on_progress`, a function of the number of fetched rows and of all rows,
  called after every batch. More than `:max_rows` rows are an error after the first batch.
  """
  @spec fetch_all(t(), [all_option()]) :: {:ok, [map()]} | {:error, Error.t()}
  def fetch_all(%__MODULE__{} = parsed, options \\ []) do
    {progress, options} = Keyword.pop(options, :on_progress, fn _fetched, _total -> :ok end)
    is_function(progress, 2) || raise ArgumentError, "expected :on_progress to be a function of two arguments"
    options = stream_options!(parsed.client, options)

    {batches, _count} =
      parsed
      |> Rows.batches(options)
      |> Enum.map_reduce(0, fn {rows, total}, before ->
        total <= options.max_rows || raise Rows.too_many(options.max_rows)
        progress.(before + length(rows), total)
        {rows, before + length(rows)}
      end)

    {:ok, Enum.concat(batches)}
  rescue
    error in Error -> {:error, error}
  end

  @doc """
  All rows as a lazy stream of batches, lists of rows. Each batch is fetched when it is needed, with one request. The
  enumeration raises `McpServer.DualResponse.Error`.

  | option | default | |
  |---|---|---|
  | `:batch_size` | the client's | largest number of rows in a batch |
  | `:sort` | `nil` | as in `fetch/2` |
  | `:mode` | `:pages` | `:ndjson` reads one response line by line, if the server supports it |
  | `:max_rows` | the client's | more rows than this are an error |
  | `:timeout` | the client's | milliseconds to wait for the server: for each page, or with `:ndjson` in all, without the time that the caller uses |

  Rows that are added or removed during the enumeration move the pages. A row may then appear twice or not at all,
  unless the server stores the rows. The stream ends with the first empty page. A page is an error if its `next_offset`
  is not the end of its rows.
  """
  @spec fetch_stream(t(), [stream_option()]) :: Enumerable.t()
  def fetch_stream(%__MODULE__{} = parsed, options \\ []) do
    parsed
    |> Rows.batches(stream_options!(parsed.client, options))
    |> Stream.reject(&match?({[], _total}, &1))
    |> Stream.map(fn {rows, _total} -> rows end)
  end

  @typedoc "See `metadata/1`."
  @type metadata :: %Metadata{
          status: String.t(),
          total_count: non_neg_integer(),
          columns: [map()],
          created_at: DateTime.t() | nil,
          expires_at: DateTime.t() | nil,
          access_count: non_neg_integer()
        }

  @doc """
  The current metadata of the resource.

  | field | |
  |---|---|
  | `status` | `"ready"` |
  | `total_count` | number of rows |
  | `columns` | the columns, maps with string keys |
  | `created_at` | the time of creation, a `DateTime` |
  | `expires_at` | the time of expiry, `nil` if it is pinned |
  | `access_count` | number of fetches |
  """
  @spec metadata(t()) :: {:ok, metadata()} | {:error, Error.t()}
  def metadata(%__MODULE__{} = parsed) do
    with {:ok, response} <- ask(parsed, :get, nil), do: Answer.metadata(response.body)
  end

  @doc "Pins the resource: it does not expire. Returns `{:ok, false}` if it no longer exists."
  @spec pin(t()) :: {:ok, boolean()} | {:error, Error.t()}
  def pin(%__MODULE__{} = parsed), do: done(ask(parsed, :put, nil))

  @doc "Deletes the resource. Returns `{:ok, false}` if it no longer exists."
  @spec delete(t()) :: {:ok, boolean()} | {:error, Error.t()}
  def delete(%__MODULE__{} = parsed), do: done(ask(parsed, :delete, nil))

  defp done({:ok, _response}), do: {:ok, true}
  defp done({:error, %Error{code: code}}) when code in [:resource_not_found, :resource_expired], do: {:ok, false}
  defp done({:error, error}), do: {:error, error}

  defp ask(parsed, method, body), do: ask(parsed, method, body, parsed.client.timeout)

  defp ask(parsed, method, body, timeout) do
    ask = %{method: method, body: body, accept: "application/json", stream: false, timeout: timeout}

    with {:ok, url} <- url(parsed),
         {:ok, response} <- RoundTrip.run(parsed.client, url, ask),
         :ok <- Answer.check(response, fn -> expired?(parsed) end),
         do: {:ok, response}
  end

  @doc false
  @spec url(t()) :: {:ok, String.t()} | {:error, Error.t()}
  def url(%__MODULE__{resource_url: nil}),
    do: {:error, Error.new(:fetch_error, "Nothing says where the resource is: give the client its base_url")}

  def url(%__MODULE__{resource_url: url}), do: {:ok, url}

  defp stream_options!(client, options) do
    defaults = [
      batch_size: client.batch_size,
      sort: nil,
      mode: :pages,
      max_rows: client.max_rows,
      timeout: client.timeout
    ]

    options!(options, defaults)
  end

  defp options!(options, defaults) do
    for {name, value} <- Keyword.validate!(options, defaults), into: %{}, do: {name, option!(name, value)}
  end

  defp option!(:offset, offset) when is_integer(offset) and offset >= 0, do: offset
  defp option!(:sort, nil), do: nil
  defp option!(:sort, keys) when is_list(keys) and keys != [], do: Enum.map(keys, &sort_key!/1)
  defp option!(:sort, key), do: sort_key!(key)
  defp option!(:mode, mode) when mode in [:pages, :ndjson], do: mode

  defp option!(name, value) when name in [:limit, :batch_size, :max_rows, :timeout] and is_integer(value) and value > 0,
    do: value

  defp option!(name, value), do: raise(ArgumentError, "#{inspect(name)} cannot be #{inspect(value)}")

  defp sort_key!(%{field: field} = key) when is_binary(field) do
    order = Map.get(key, :order, :asc)
    order in [:asc, :desc] || raise ArgumentError, "the order of :sort is :asc or :desc, not #{inspect(order)}"
    %{"field" => field, "order" => order}
  end

  defp sort_key!(other),
    do: raise(ArgumentError, "expected :sort to be like %{field: \"name\", order: :desc}, got: #{inspect(other)}")
end
