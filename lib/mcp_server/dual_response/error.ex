defmodule McpServer.DualResponse.Error do
  @moduledoc """
  Why a dual response could not be created or fetched.

  | field | meaning |
  |---|---|
  | `code` | one of the codes below |
  | `message` | one sentence without values, queries and paths, safe to send |
  | `status` | the HTTP status that the client received, or `nil` |
  | `cause` | the original error, for the log and for tests; never sent |

  | code | text | when |
  |---|---|---|
  | `:query_execution_failed` | `QUERY_EXECUTION_FAILED` | `execute` raised, took too long, or returned no rows |
  | `:count_execution_failed` | `COUNT_EXECUTION_FAILED` | `count` raised, took too long, or returned no count |
  | `:storage_error` | `STORAGE_ERROR` | the store failed, is full, or cannot hold the resource |
  | `:resource_not_found` | `RESOURCE_NOT_FOUND` | no such resource for this identity |
  | `:resource_expired` | `RESOURCE_EXPIRED` | the resource has expired and is not deleted yet |
  | `:resource_gone` | `RESOURCE_NOT_FOUND` | deleted on request, if the server keeps tombstones |
  | `:invalid_sort` | `INVALID_SORT` | a sort key that is not a sortable column |
  | `:invalid_request` | `INVALID_REQUEST` | an invalid offset or limit |
  | `:parse_error` | `PARSE_ERROR` | client: the answer could not be read |
  | `:fetch_error` | `FETCH_ERROR` | client: any other HTTP failure |
  | `:timeout` | `TIMEOUT` | client: no answer in time |

      iex> error = McpServer.DualResponse.Error.new(:storage_error, "The store is full")
      iex> {McpServer.DualResponse.Error.code(error), Exception.message(error)}
      {"STORAGE_ERROR", "The store is full"}
  """

  @codes %{
    query_execution_failed: "QUERY_EXECUTION_FAILED",
    count_execution_failed: "COUNT_EXECUTION_FAILED",
    storage_error: "STORAGE_ERROR",
    resource_not_found: "RESOURCE_NOT_FOUND",
    resource_expired: "RESOURCE_EXPIRED",
    resource_gone: "RESOURCE_NOT_FOUND",
    invalid_sort: "INVALID_SORT",
    invalid_request: "INVALID_REQUEST",
    parse_error: "PARSE_ERROR",
    fetch_error: "FETCH_ERROR",
    timeout: "TIMEOUT"
  }

  @enforce_keys [:code, :message]
  defexception [:code, :message, :status, :cause]

  @type code ::
          :query_execution_failed
          | :count_execution_failed
          | :storage_error
          | :resource_not_found
          | :resource_expired
          | :resource_gone
          | :invalid_sort
          | :invalid_request
          | :parse_error
          | :fetch_error
          | :timeout

  @type t :: %__MODULE__{code: code, message: String.t(), status: 100..599 | nil, cause: term}

  @doc "Builds an error; `details` are `:status` and `:cause`."
  @spec new(code, String.t(), status: 100..599 | nil, cause: term) :: t
  def new(code, message, details \\ []) when is_map_key(@codes, code) and is_binary(message),
    do: struct!(%__MODULE__{code: code, message: message}, details)

  @doc "The code as text, as in other implementations of the pattern."
  @spec code(t) :: String.t()
  def code(%__MODULE__{code: code}), do: Map.fetch!(@codes, code)
end
