defmodule McpServer.DualResponse.Rest do
  @moduledoc """
  The REST endpoints of stored results, independent of a web server: functions from a request to a response.

  `McpServer.DualResponse.Plug` and `routes:` of `McpServer.HttpServer` serve it over HTTP. It is public for use with
  other web servers.

      rest = McpServer.DualResponse.Rest.new(server: MyApp.Results)

      request = %{
        method: "POST",
        target: "/" <> id,
        headers: [{"host", "localhost"}],
        body: ~s({"offset": 0, "limit": 100})
      }

      {200, headers, body} = McpServer.DualResponse.Rest.serve(rest, request)

  ## Requests

  | request | answer |
  |---|---|
  | `GET /:id` | `{"status":"ready","total_count":…,"columns":…,"created_at":…,"expires_at":…,"access_count":…}` |
  | `POST /:id` | `{"data":…,"total_count":…,"returned_count":…,"offset":…,"has_next":…,"next_offset":…}` |
  | `PUT /:id` | `{"status":"pinned","expires_at":null}` |
  | `DELETE /:id` | 204 |

  The body of a `POST` is `{"offset": 0, "limit": 100, "sort": {"field": "name", "order": "desc"}}`; each member, and
  the body itself, is optional. `sort` may be a list. With `accept: application/x-ndjson` the response has all rows from
  `offset` on, one per line, and the count in `x-total-count`. The server reads them page by page, as fast as the client
  reads. The last line is `{"$end":true,"returned_count":…}`, or `{"$error":{"code":…}}`. `accept: text/csv` returns
  comma-separated values. Cells that a spreadsheet would run as formulas get the prefix `'`. A failure closes the
  connection. In both formats `limit` is the largest number of rows.

  ## Refusals

  All errors have the body `{"error": code, "message": text}`.

  | status | code | |
  |---|---|---|
  | 400 | `invalid_request`, `invalid_sort` | an invalid body, offset, limit or sort |
  | 401, 403 | `unauthorized`, `forbidden` | from `authorize:` and `identify:`; 403 also for a foreign Host or Origin |
  | 404 | `not_found` | unknown, expired, deleted, or owned by another principal |
  | 405, 406, 413 | `method_not_allowed`, `not_acceptable`, `payload_too_large` | |
  | 500 | `query_failed`, `internal_error` | |
  | 503 | `storage_unavailable`, `overloaded` | with `retry-after` |
  | 504 | `timeout` | the query took longer than `timeout:` |

  ## Options

  Times are milliseconds, sizes bytes.

  #{McpServer.Options.document(McpServer.DualResponse.Rest.Options.table())}
  Hooks are functions or `{module, function}`. `request` is the `Plug.Conn`, with `McpServer.HttpServer` a
  `McpServer.HttpRequest`, and with `serve/2` the value of `:caller` or else the request. `action` is `:metadata`,
  `:fetch`, `:pin` or `:delete`. `authorize:` is also called for ids that do not exist, with `nil` as the resource, so
  that a 401 does not reveal ids. If a hook raises, the request is refused.
  """

  @behaviour McpServer.Http.Route

  alias McpServer.DualResponse
  alias McpServer.DualResponse.{Error, Resource, SortedRows, Sorting}
  alias McpServer.DualResponse.Rest.{Access, Dispatcher, Endpoint, Options, Rows, Service}
  alias McpServer.Http.Overload
  alias McpServer.JSON

  @enforce_keys [:server, :endpoint]
  defstruct [
    :server,
    :endpoint,
    :identify,
    :authorize,
    :auth,
    :metadata_url,
    :pages,
    :id,
    :supervised?,
    :overload,
    :quota,
    :max_share,
    :max_page_bytes,
    :max_body_bytes,
    :stream_batch,
    :stream_min_rate,
    :stream_grace,
    :timeout,
    :max_requests,
    :max_heap_bytes
  ]

  # The members of a GET response, in this order.
  @described ~w(status total_count columns created_at expires_at access_count)

  @typedoc "Checked options. `:id` identifies the endpoint's dispatcher, which adds `:pages`, `:overload` and `:quota`."
  @type t :: %__MODULE__{}

  @typedoc "A request. `:target` is the rest of the path after the endpoint's path, with the query."
  @type request :: %{
          required(:method) => String.t(),
          required(:target) => String.t(),
          required(:headers) => [{String.t(), String.t()}],
          required(:body) => binary(),
          optional(:authority) => String.t() | nil,
          optional(atom()) => term()
        }

  @typedoc """
  A response. Send each element of a stream before you read the next one. If the stream raises, close the connection.
  """
  @type response ::
          {status :: 200..599, headers(), iodata()} | {:stream, 200, headers(), Enumerable.t()}
  @type headers :: [{String.t(), String.t()}]

  @doc """
  Builds an endpoint from options.

  Raises `ArgumentError` with the given and the allowed value.
  """
  @spec new(keyword()) :: t()
  def new(options), do: struct!(__MODULE__, Options.new!(options))

  @doc false
  @impl McpServer.Http.Route
  defdelegate init(options, site), to: Service, as: :new

  @doc false
  @impl McpServer.Http.Route
  def child_spec(rest), do: Dispatcher.child_spec(rest)

  @doc false
  @impl McpServer.Http.Route
  defdelegate call(sink, rest), to: Service

  @doc "Serves one request in the calling process, without limits of time, memory and number."
  @spec serve(t(), request()) :: response()
  def serve(%__MODULE__{endpoint: endpoint} = rest, request) do
    case Endpoint.check_head(endpoint, request) do
      {:ok, wanted, cors_headers} -> rest |> serve_wanted(wanted, request) |> with_headers(cors_headers)
      {:answer, status, headers, body} -> {status, headers, body}
    end
  end

  defp serve_wanted(rest, wanted, request) do
    case select(rest, wanted, request.body) do
      {:ok, selection} -> answer(rest, wanted, selection, Map.get(request, :caller, request), &unlimited/2)
      {:answer, status, headers, body} -> {status, headers, body}
    end
  end

  defp unlimited(_identity, _sorts?), do: {:ok, fn -> :ok end}

  defp with_headers({:stream, status, headers, rows}, more), do: {:stream, status, headers ++ more, rows}
  defp with_headers({status, headers, body}, more), do: {status, headers ++ more, body}

  @doc false
  @spec select(t(), Endpoint.wanted(), binary()) :: {:ok, Endpoint.selection() | nil} | Endpoint.refused()
  def select(%__MODULE__{endpoint: endpoint}, {:fetch, _id, form, _capability}, body),
    do: Endpoint.select(endpoint, form, body)

  def select(_rest, _wanted, _body), do: {:ok, nil}

  # `take` takes a place for the identified client, and another one for a sort. It returns a function that gives back the
  # second one, and may be called again. A stream calls it after its last read.
  @doc false
  @spec answer(t(), Endpoint.wanted(), Endpoint.selection() | nil, Access.caller(), take) :: response()
        when take: (DualResponse.identity() | :any, sorts? :: boolean() -> {:ok, (() -> :ok)} | :full)
  def answer(rest, {action, _id, form, _capability} = wanted, selection, caller, take) do
    with {:ok, resource, identity} <- Access.admit(rest, wanted, caller),
         {:ok, sorted} <- take.(identity, sorts?(resource, selection)) do
      answer = act(rest, {action, form}, resource, selection, identity, sorted)
      unless match?({:stream, _status, _headers, _rows}, answer), do: :ok = sorted.()
      answer
    else
      {:refused, answer} -> answer
      :full -> full(rest)
    end
  end

  # Few rows are sorted in a moment, and queries sort elsewhere.
  defp sorts?(%{persist: :rows, total_count: total}, {_offset, _limit, [_key | _more]}), do: total > SortedRows.batch()
  defp sorts?(_resource, _selection), do: false

  @doc false
  @spec full(t()) :: Endpoint.answer()
  def full(rest), do: Endpoint.refuse(:overloaded, Overload.retry_after(rest.overload))

  defp act(_rest, {:metadata, _form}, resource, nil, _identity, _sorted), do: metadata(resource)

  defp act(rest, {:fetch, form}, resource, selection, identity, sorted) do
    {_offset, _limit, keys} = selection

    if Sorting.sortable?(for({field, _order} <- keys, do: field), resource.columns),
      do: Rows.answer(rest, form, resource, selection, identity, sorted),
      else: Endpoint.refuse(:invalid_sort, "sort.field must be a column that can be sorted by")
  end

  defp act(rest, {:pin, _form}, resource, nil, identity, _sorted) do
    unowned? = rest.identify != nil and Resource.holder(resource) == {nil, nil}
    pin = if unowned?, do: &DualResponse.keep/3, else: &DualResponse.pin/3

    case pin.(rest.server, resource.id, identity) do
      :ok -> {200, Endpoint.headers(:page), ~s({"status":"pinned","expires_at":null})}
      {:error, error} -> refuse(error)
    end
  end

  defp act(rest, {:delete, _form}, resource, nil, identity, _sorted) do
    case DualResponse.delete(rest.server, resource.id, identity) do
      :ok -> {204, Endpoint.headers(:none), ""}
      {:error, error} -> refuse(error)
    end
  end

  defp metadata(%Resource{} = resource) do
    described = %{
      "status" => "ready",
      "total_count" => resource.total_count,
      "columns" => resource.columns,
      "created_at" => time(resource.created_at),
      "expires_at" => time(resource.expires_at),
      "access_count" => resource.access_count
    }

    {200, Endpoint.headers(:page), JSON.encode!(described, order: @described)}
  end

  # Times are ISO 8601 in whole seconds.
  defp time(nil), do: nil
  defp time(time), do: time |> DateTime.truncate(:second) |> DateTime.to_iso8601()

  @doc false
  @spec refuse(Error.t()) :: Endpoint.answer()
  def refuse(%Error{code: code, message: message}) do
    case code do
      :query_execution_failed -> Endpoint.refuse(:query_failed, message)
      :invalid_sort -> Endpoint.refuse(:invalid_sort, message)
      :storage_error -> Endpoint.refuse(:storage_unavailable, 1)
      code when code in [:resource_not_found, :resource_expired, :resource_gone] -> Endpoint.refuse(:not_found)
      _other -> Endpoint.refuse(:internal_error)
    end
  end
end
