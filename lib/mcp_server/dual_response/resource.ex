defmodule McpServer.DualResponse.Resource do
  @moduledoc """
  What a store keeps of a dual response: a query that can be run again, or the rows themselves, and
  how long.

  | field | meaning |
  |---|---|
  | `id` | 128 random bits, URL-safe |
  | `name` | what it is called towards people and models |
  | `query` | `%{execute: …, count: …}`: functions or `{module, function, arguments}`; `nil` where the rows are kept |
  | `persist` | `:query` or `:rows` |
  | `status` | `:ready`, or `:deleted` for what a server with tombstones remembers of a deleted resource |
  | `sort_mode` | `:execute`: a sorted page runs the query again; `:memory`: it sorts the kept rows |
  | `tie_break` | the column that decides between equal rows |
  | `columns` | the columns, as they were given |
  | `total_count` | how many rows there are |
  | `sample_data` | the first rows |
  | `created_at` | `DateTime` in UTC, whole seconds |
  | `expires_at` | `DateTime` or, when pinned, `nil` |
  | `deadline` | the same in milliseconds of the store's own clock (`c:McpServer.DualResponse.Store.clock/0`): what expiry goes by |
  | `access_count` | how many pages were fetched, 0 to begin with |
  | `last_accessed_at` | `DateTime` of the last of them, `nil` to begin with |
  | `metadata` | whatever its creator gave |
  | `tenant`, `subject` | whose it is; `nil` where the id alone is enough |
  | `bytes` | how much the resource and its rows take in Erlang's external format |

  Stored rows are read with `c:McpServer.DualResponse.Store.rows/4`: they are no field, so that a look at
  a resource does not copy them.
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

  @typedoc "A function, or a reference to one that outlives the node: the options are its last argument."
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

  @doc "Whether the resource's time is up, at `now` of its store's clock."
  @spec expired?(t, integer) :: boolean
  def expired?(%__MODULE__{deadline: nil}, _now), do: false
  def expired?(%__MODULE__{deadline: deadline}, now), do: now >= deadline

  @doc "Whose it is; what is nobody's has `{nil, nil}`."
  @spec holder(t) :: {tenant :: term, subject :: term}
  def holder(%__MODULE__{tenant: tenant, subject: subject}), do: {tenant, subject}

  @doc "What a store finds the resource by."
  @spec key(t) :: {tenant :: term, id :: String.t()}
  def key(%__MODULE__{tenant: tenant, id: id}), do: {tenant, id}
end
