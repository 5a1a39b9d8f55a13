defmodule McpServer.DualResponse.Store do
  @moduledoc """
  A store for dual responses. The default is `McpServer.DualResponse.Store.ETS`.

  A store is a module with these callbacks. They run concurrently. What reads runs in the processes that create or
  fetch. What changes something runs in a process of its own, with the `$callers` of the caller: a client can leave at
  any time, and the process that serves it is killed. The change is then finished, and counts for the client. A store
  whose changes end with their process says so (`c:ends_with_caller?/1`), and is called in the process that creates or
  fetches. Only `c:init/1` and `c:close/1` run in the server's process. An exception or `{:error, reason}` of a callback
  becomes a `:storage_error`; the reason is only logged.

  `McpServer.DualResponse.StoreCase` is the test suite that every store must pass.

  ## Keys

  The key of a resource is `{tenant, id}`. The id alone is unique, and a store may find a resource by the id for any
  tenant, because the server checks the owner. The tenant allows a store to shard. Such a store finds nothing under
  another tenant, which looks the same to a client.

  ## Time

  `now` and `deadline` are milliseconds of the store's clock: `:monotonic` for a store that does not survive the node,
  else `:wall`. A resource has expired if `now >= deadline`. `c:update/4` and `c:touch/4` do not change an expired
  resource. So it can be deleted some time after `c:find_expired/3` has found it.
  """

  alias McpServer.DualResponse.Resource

  @typedoc "The result of `c:init/1`: a table, a repository."
  @type ref :: term
  @type key :: {tenant :: term, id :: String.t()}
  @type now :: integer
  @type failure :: {:error, term}
  @type size :: %{resources: non_neg_integer, bytes: non_neg_integer}

  @doc """
  Opens the store. `options` are the configured options and `:server`, the server's name.

  A server opens its store three times, under three names: its own for the results, and two for the data of sessions
  (`McpServer.DualResponse.SessionStore`). What is stored under one name is not found or counted under another.

  It is called again with the same options after a restart of the server's process. The store then still has its
  resources.
  """
  @callback init(options :: keyword) :: {:ok, ref} | failure

  @doc "The clock of `deadline`."
  @callback clock() :: :monotonic | :wall

  @doc "Whether the store can hold functions; if not, queries are `{module, function, arguments}`."
  @callback persists_closures?() :: boolean

  @doc """
  Whether no change goes on for more than a moment when the process that calls the store is killed, as in a table of the
  node's memory. A change of a database, of another process or of another node may go on. Optional; the default is
  `false`.
  """
  @callback ends_with_caller?(ref) :: boolean

  @doc """
  Saves a resource and, with `persist: :rows`, its rows (else `nil`), atomically.

  Rows may refer to larger binaries. A store in the node's memory copies them, so that the larger binaries can be freed.
  """
  @callback save(ref, Resource.t(), rows :: [map] | nil) :: {:ok, id :: String.t()} | failure

  @doc "The resource, expired or not."
  @callback get(ref, key) :: {:ok, Resource.t()} | :not_found | failure

  @doc "At most `limit` of the stored rows, from `offset` on; with `:all` all of them."
  @callback rows(ref, key, offset :: non_neg_integer, limit :: non_neg_integer | :all) ::
              {:ok, [map]} | :not_found | failure

  @doc """
  Changes fields of a resource atomically, unless it has expired at `now` or its status is `:deleted` (then `:not_found`).
  Pinning is `%{expires_at: nil, deadline: nil}`. A change of `bytes` is counted.
  """
  @callback update(ref, key, changes :: map, now) :: :ok | :not_found | failure

  @doc """
  Counts an access atomically, unless the resource has expired at `now` (then `:not_found`). `access_count` grows by
  one, and `last_accessed_at` is set from `changes`. `expires_at` and `deadline` of `changes` are also set, unless the
  resource is pinned.
  """
  @callback touch(ref, key, changes :: map, now) :: :ok | :not_found | failure

  @doc "Deletes a resource and its rows. Of several concurrent calls, one returns `:ok`."
  @callback delete(ref, key) :: :ok | :not_found | failure

  @doc "At most `limit` resources that have expired at `now`, oldest expiry first."
  @callback find_expired(ref, now, limit :: pos_integer) :: {:ok, [key]} | failure

  @doc """
  Deletes at most `limit` resources that have expired at `now`, and returns their keys. Optional, for stores that
  several nodes share: only one node reports each resource.
  """
  @callback delete_expired(ref, now, limit :: pos_integer) :: {:ok, [key]} | failure

  @doc "The number of resources, and the sum of their `bytes`."
  @callback size(ref) :: {:ok, size} | failure

  @doc "At most `limit` resources that are not pinned, least recently accessed (or created) first."
  @callback least_used(ref, limit :: pos_integer) :: {:ok, [key]} | failure

  @doc """
  The number of resources of each holder, and the sum of their `bytes`. A holder is a tenant and a subject.

  Optional, with `c:size_of/2` and `c:least_used_of/3`. Without them the least recently used resource of any holder is
  deleted. This callback is called when the store is full. The two others are called for each new resource, so they
  should not read the resources of other holders.
  """
  @callback holders(ref) ::
              {:ok, [{holder :: {tenant :: term, subject :: term}, size}]} | failure

  @doc "`c:size/1` of one holder: zero if it has nothing."
  @callback size_of(ref, holder :: {tenant :: term, subject :: term}) :: {:ok, size} | failure

  @doc "`c:least_used/2` of one holder."
  @callback least_used_of(ref, holder :: {tenant :: term, subject :: term}, limit :: pos_integer) ::
              {:ok, [key]} | failure

  @doc "Closes the store. Called once for each opening, at the shutdown of the server."
  @callback close(ref) :: :ok

  @optional_callbacks ends_with_caller?: 1, delete_expired: 3, holders: 1, size_of: 2, least_used_of: 3
end
