defmodule McpServer.DualResponse.Resource do
  @moduledoc """
  A stored dual response: a query that can run again, or the rows, and their expiry.

  | field | meaning |
  |---|---|
  | `id` | 128 random bits, URL-safe |
  | `name` | the name for people and models |
  | `query` | `%{execute: …, count: …}`: functions or `{module, function, arguments}`; `nil` if the rows are stored |
  | `persist` | `:query` or `:rows` |
  | `status` | `:ready`, or `:deleted` for the tombstone of a deleted resource |
  | `sort_mode` | `:execute`: a sorted page runs the query again; `:memory`: it sorts the stored rows |
  | `tie_break` | the column that orders rows with equal sort keys |
  | `columns` | the columns, as they were given |
  | `total_count` | number of rows |
  | `sample_data` | the first rows |
  | `created_at` | `DateTime` in UTC, whole seconds |
  | `expires_at` | `DateTime` or, when pinned, `nil` |
  | `deadline` | the time of expiry in milliseconds of the store's clock (`c:McpServer.DualResponse.Store.clock/0`); this value decides |
  | `access_count` | number of fetched pages, initially 0 |
  | `last_accessed_at` | `DateTime` of the last fetch, initially `nil` |
  | `metadata` | the map given to `McpServer.DualResponse.create_response/2` |
  | `tenant`, `subject` | the owner; `nil` if the id alone is enough |
  | `bytes` | size of the resource and its rows in Erlang's external format |

  Stored rows are read with `c:McpServer.DualResponse.Store.rows/4`. They are not a field, so that reading a resource
  does not copy them.
  """

  @enforce_keys [:id, :name, :columns, :total_count, :sample_data, :created_at]
  defstruct [
    :id,
    :name,
    :query,
    :columns,
    :total_count,
    :sample_data,
    :created_at,
    :expires_at,
    :deadline,
    :last_accessed_at,
    :tenant,
    :subject,
    :tie_break,
    persist: :query,
    sort_mode: :execute,
    status: :ready,
    access_count: 0,
    metadata: %{},
    bytes: 0
  ]

  @typedoc "A function, or a reference to a function that is valid after a restart. Its last argument are the options."
  @type function_or_reference :: (map -> term) | {module, atom, [term]}

  @type t :: %__MODULE__{
          id: String.t(),
          name: String.t(),
          query: %{execute: function_or_reference, count: function_or_reference | (() -> term)} | nil,
          persist: :query | :rows,
          sort_mode: :execute | :memory,
          status: :ready | :deleted,
          tie_break: String.t() | nil,
          columns: [map],
          total_count: non_neg_integer,
          sample_data: [map],
          created_at: DateTime.t(),
          expires_at: DateTime.t() | nil,
          deadline: integer | nil,
          access_count: non_neg_integer,
          last_accessed_at: DateTime.t() | nil,
          metadata: map,
          tenant: term,
          subject: term,
          bytes: non_neg_integer
        }

  @doc "Whether the resource has expired at `now` of its store's clock."
  @spec expired?(t, integer) :: boolean
  def expired?(%__MODULE__{deadline: nil}, _now), do: false
  def expired?(%__MODULE__{deadline: deadline}, now), do: now >= deadline

  @doc "The owner; `{nil, nil}` without an owner."
  @spec holder(t) :: {tenant :: term, subject :: term}
  def holder(%__MODULE__{tenant: tenant, subject: subject}), do: {tenant, subject}

  @doc "The key of the resource in a store."
  @spec key(t) :: {tenant :: term, id :: String.t()}
  def key(%__MODULE__{tenant: tenant, id: id}), do: {tenant, id}
end
