defmodule McpServer.DualResponse.Rest do
  @moduledoc """
  The REST endpoints of stored results, without a web server: a request in, a response out.

  `McpServer.DualResponse.Plug` and `routes:` of `McpServer.HttpServer` put it under HTTP. It is public for
  those who have another server.

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
  the body itself, may be left out. `sort` may be a list. With `accept: application/x-ndjson` all rows from `offset` on
  come one a line, read page by page as fast as the client takes them, with the count in `x-total-count`; the last
  line is `{"$end":true,"returned_count":…}`, or `{"$error":{"code":…}}`. `accept: text/csv` gives
  them as comma-separated values, where cells that a spreadsheet would run as formulas begin with an apostrophe; a
  failure cuts the connection. `limit` is then the most rows to send.

  ## Refusals

  All are `{"error": code, "message": text}`.

  | status | code | |
  |---|---|---|
  | 400 | `invalid_request`, `invalid_sort` | a body, offset, limit or sort that is none |
  | 401, 403 | `unauthorized`, `forbidden` | as `authorize:` and `identify:` have it; 403 also for a foreign Host or Origin |
  | 404 | `not_found` | unknown, expired, deleted, or somebody else's |
  | 405, 406, 413 | `method_not_allowed`, `not_acceptable`, `payload_too_large` | |
  | 500 | `query_failed`, `internal_error` | |
  | 503 | `storage_unavailable`, `overloaded` | with `retry-after` |
  | 504 | `timeout` | the query took longer than `timeout:` |

  ## Options

  Times are milliseconds, sizes bytes.

  #{McpServer.Options.document(McpServer.DualResponse.Rest.Options.table())}
  Hooks are functions or `{module, function}`. `request` is the `Plug.Conn`, on our own listener a
  `McpServer.HttpRequest`, and for `serve/2` what stands under `:caller`, else the request itself. `action` is
  `:metadata`, `:fetch`, `:pin` or `:delete`. `authorize:` is also asked about ids that do not exist, with `nil` for the
  resource, so that its 401 tells nobody which ids there are. A hook that raises lets nobody in.
  """

  @behaviour McpServer.Http.Route

  alias McpServer.DualResponse
  alias McpServer.DualResponse.{Error, Resource, Sorting}
  alias McpServer.DualResponse.Rest.{Access, Dispatcher, Endpoint, Options, Rows, Service}
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
    :max_page_bytes,
    :max_body_bytes,
    :stream_batch,
    :stream_min_rate,
    :stream_grace,
    :timeout,
    :max_requests,
    :max_heap_bytes
  ]

  # What a GET says of a resource, in this order.
  @described ~w(status total_count columns created_at expires_at access_count)

  @typedoc "Checked options. `:id` tells the endpoint's dispatcher from others."
  @type t :: %__MODULE__{}

  @typedoc "A request. `:target` is what stands behind the path of the endpoint, with its query."
  @type request :: %{
          required(:method) => String.t(),
          required(:target) => String.t(),
          required(:headers) => [{String.t(), String.t()}],
          required(:body) => binary(),
          optional(:authority) => String.t() | nil,
          optional(atom()) => term()
        }

  @typedoc """
  A response. Each element of a stream is to be sent before the next one is asked for; raising, it says that the
  connection has to be cut.
  """
  @type response ::
          {status :: 200..599, headers(), iodata()} | {:stream, 200, headers(), Enumerable.t()}
  @type headers :: [{String.t(), String.t()}]

  @doc """
  The endpoint of these options.

  Raises `ArgumentError` that says what was given and what is allowed.
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

  @doc "Serves one request in the calling process, without the bounds of time, memory and number."
  @spec serve(t(), request()) :: response()
  def serve(%__MODULE__{endpoint: endpoint} = rest, request) do
    case Endpoint.check_head(endpoint, request) do
      {:ok, wanted, cors_headers} -> rest |> serve_wanted(wanted, request) |> with_headers(cors_headers)
      {:answer, status, headers, body} -> {status, headers, body}
    end
  end

  defp serve_wanted(rest, wanted, request) do
    case select(rest, wanted, request.body) do
      {:ok, selection} -> answer(rest, wanted, selection, Map.get(request, :caller, request))
      {:answer, status, headers, body} -> {status, headers, body}
    end
  end

  defp with_headers({:stream, status, headers, rows}, more), do: {:stream, status, headers ++ more, rows}
  defp with_headers({status, headers, body}, more), do: {status, headers ++ more, body}

  @doc false
  @spec select(t(), Endpoint.wanted(), binary()) :: {:ok, Endpoint.selection() | nil} | Endpoint.refused()
  def select(%__MODULE__{endpoint: endpoint}, {:fetch, _id, form, _capability}, body),
    do: Endpoint.select(endpoint, form, body)

  def select(_rest, _wanted, _body), do: {:ok, nil}

  @doc false
  @spec answer(t(), Endpoint.wanted(), Endpoint.selection() | nil, Access.caller()) :: response()
  def answer(rest, {action, _id, form, _capability} = wanted, selection, caller) do
    case Access.admit(rest, wanted, caller) do
      {:ok, resource, identity} -> act(rest, {action, form}, resource, selection, identity)
      {:refused, answer} -> answer
    end
  end

  defp act(_rest, {:metadata, _form}, resource, nil, _identity), do: metadata(resource)

  defp act(rest, {:fetch, form}, resource, selection, identity) do
    {_offset, _limit, keys} = selection

    if Sorting.sortable?(for({field, _order} <- keys, do: field), resource.columns),
      do: Rows.answer(rest, form, resource, selection, identity),
      else: Endpoint.refuse(:invalid_sort, "sort.field must be a column that can be sorted by")
  end

  defp act(rest, {:pin, _form}, resource, nil, identity) do
    case DualResponse.pin(rest.server, resource.id, identity) do
      :ok -> {200, Endpoint.headers(:page), ~s({"status":"pinned","expires_at":null})}
      {:error, error} -> refuse(error)
    end
  end

  defp act(rest, {:delete, _form}, resource, nil, identity) do
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
