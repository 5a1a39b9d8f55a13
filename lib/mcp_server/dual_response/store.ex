defmodule McpServer.DualResponse.Store do
  @moduledoc """
  Where dual responses are kept. `McpServer.DualResponse.Store.ETS` is the default.

  A store is a module with these callbacks. They are called in the process that creates or fetches, many
  at a time; only `c:init/1` and `c:close/1` run in the server's process. Whatever a callback raises or
  answers with `{:error, reason}` becomes a `:storage_error`; the reason goes to the log only.

  `McpServer.DualResponse.StoreCase` is the test suite that every store has to pass.

  ## Keys

  A resource is found by `{tenant, id}`. The id alone is unique, and a store finds a resource by it whatever the tenant;
  the server checks the owner. The tenant is given so that a store can shard by it. Such a store finds nothing under
  another tenant, which looks the same to a client.

  ## Time

  `now` and `deadline` are milliseconds of the store's clock: `:monotonic` for what does not outlive the node, else
  `:wall`. A resource has expired when `now >= deadline`. An expired resource stays expired: neither `c:update/4` nor
  `c:touch/4` changes it. So it can be deleted some time after `c:find_expired/3` has found it.
  """

  alias McpServer.DualResponse.Resource

  @typedoc "What `c:init/1` gave: a table, a repository."
  @type ref :: term
  @type key :: {tenant :: term, id :: String.t()}
  @type now :: integer
  @type failure :: {:error, term}

  @doc """
  Opens the store. `options` are those given with the module, and `:server`, the server's name.

  It is called again with the same options whenever the server's process was restarted, and then answers
  with what the store already holds.
  """
  @callback init(options :: keyword) :: {:ok, ref} | failure

  @doc "Which clock `deadline` is of."
  @callback clock() :: :monotonic | :wall

  @doc "Whether the store can keep functions; if not, queries are given as `{module, function, arguments}`."
  @callback persists_closures?() :: boolean

  @doc """
  Keeps a resource and, where it is one of `persist: :rows`, its rows (else `nil`): all of it, or nothing.

  Rows may be parts of larger binaries; a store in the node's own memory copies them, so as not to keep those.
  """
  @callback save(ref, Resource.t(), rows :: [map] | nil) :: {:ok, id :: String.t()} | failure

  @doc "The resource, expired or not."
  @callback get(ref, key) :: {:ok, Resource.t()} | :not_found | failure

  @doc "At most `limit` of the kept rows, from `offset` on; all of those with `:all`."
  @callback rows(ref, key, offset :: non_neg_integer, limit :: non_neg_integer | :all) ::
              {:ok, [map]} | :not_found | failure

  @doc """
  Changes fields of a resource, in one step, unless it has expired at `now` (then `:not_found`).
  Pinning is `%{expires_at: nil, deadline: nil}`.
  """
  @callback update(ref, key, changes :: map, now) :: :ok | :not_found | failure

  @doc """
  Counts an access, in one step, unless the resource has expired at `now` (then `:not_found`):
  `access_count` grows by one, `last_accessed_at` is that of `changes`. With `expires_at` and `deadline`
  among the changes, those are set too, unless the resource is pinned.
  """
  @callback touch(ref, key, changes :: map, now) :: :ok | :not_found | failure

  @doc "Deletes a resource and its rows. Of several at a time, one is answered `:ok`."
  @callback delete(ref, key) :: :ok | :not_found | failure

  @doc "At most `limit` resources that have expired at `now`, those first that did so first."
  @callback find_expired(ref, now, limit :: pos_integer) :: {:ok, [key]} | failure

  @doc """
  Deletes at most `limit` resources that have expired at `now`, and says which. Optional, for stores that
  several nodes share: each resource is reported by one of them.
  """
  @callback delete_expired(ref, now, limit :: pos_integer) :: {:ok, [key]} | failure

  @doc "How many resources there are, and the sum of their `bytes`."
  @callback size(ref) :: {:ok, %{resources: non_neg_integer, bytes: non_neg_integer}} | failure

  @doc "At most `limit` resources that are not pinned, those first whose last access (or creation) is longest ago."
  @callback least_used(ref, limit :: pos_integer) :: {:ok, [key]} | failure

  @doc """
  How many resources each holder has, and the sum of their `bytes`. A holder is a tenant and a subject.

  Optional, with `c:least_used_of/3`: without them the resource that was not used for longest gives way, whoever it
  belongs to.
  """
  @callback holders(ref) ::
              {:ok, [{{tenant :: term, subject :: term}, %{resources: non_neg_integer, bytes: non_neg_integer}}]}
              | failure

  @doc "`c:least_used/2` of one holder."
  @callback least_used_of(ref, {tenant :: term, subject :: term}, limit :: pos_integer) :: {:ok, [key]} | failure

  @doc "Closes the store, once, when the server is shut down."
  @callback close(ref) :: :ok

  @optional_callbacks delete_expired: 3, holders: 1, least_used_of: 3
end
