defmodule McpServer.DualResponse do
  @moduledoc """
  Results too large for a model: the answer contains a few rows, and a program fetches all of them.

  A tool that finds thousands of rows creates a *dual response*: the first rows and a link for the model, and
  behind the link a resource from which the host fetches everything, page by page. The server keeps the
  query (or the rows) and forgets it after a quarter of an hour, unless it is pinned.

      iex> {:ok, _pid} = McpServer.DualResponse.start_link(name: DocResults, base_url: "https://api.example.com/resources")
      iex> rows = for id <- 1..847, do: %{"id" => id}
      iex> {:ok, response} =
      ...>   McpServer.DualResponse.create_response(DocResults,
      ...>     name: "Numbers",
      ...>     execute: fn %{offset: offset, limit: limit} -> Enum.slice(rows, offset, limit) end,
      ...>     count: fn -> length(rows) end,
      ...>     columns: [%{name: "id", type: "number"}]
      ...>   )
      iex> {response.total_count, length(response.sample)}
      {847, 15}
      iex> {:ok, page} = McpServer.DualResponse.fetch(DocResults, response.resource_id, %{offset: 800})
      iex> {page.returned_count, page.has_next}
      {47, false}
      iex> McpServer.DualResponse.shutdown(DocResults)
      :ok

  A tool's handler returns `{:ok, response}`. A server of such responses is a child of your supervision tree:

      children = [
        {McpServer.DualResponse, name: MyApp.Results, base_url: "https://api.example.com/resources"}
      ]

  Creating and fetching run in the process that calls; the server's own process opens the store, deletes what has
  expired, and closes the store when it is shut down. Nothing here knows of MCP's transports or of routers: a router
  that says `dual_responses MyApp.Results` (`McpServer.DualResponse.Router`) lets its clients read the links.

  ## Options

  Times are milliseconds, sizes bytes.

  #{McpServer.Options.document(McpServer.DualResponse.Options.table())}
  When `:max_resources` or `:max_bytes` is reached, the server deletes expired resources first, then the least
  recently used ones of the tenant and subject that have most. A tenant and subject that have `:max_share` of either
  lose resources of their own, but may always have one. Resources without owner have no share. Pinned resources stay;
  if there are no others, creating fails. The three stores of this library have shares. With a store that does not
  implement `c:McpServer.DualResponse.Store.holders/1`, the least recently used resource is deleted, whoever owns it.

  ## Who may read

  An id has 128 random bits and is all that is needed to read a resource, unless the resource is bound: a
  resource created with `tenant:` or `subject:` is found by that tenant and subject only. To everybody else
  it is as if it did not exist. `conn:` binds to what `:bind` makes of it.

  ## Sorting

  A page can be sorted by columns: `%{field: "name", order: :desc}`, or a list of such maps. The library builds no
  query: it calls `execute` again, with the order. Stored rows are sorted in memory, stably; `nil` and missing values
  last in both orders, numbers before strings before booleans.

  ## Time

  `expires_at` is for people. What expires by itself goes by the store's clock, which for `Store.ETS` is monotonic:
  setting the system's time neither ends nor prolongs anything.
  """

  alias McpServer.DualResponse.{Access, Creation, Error, Options, Page, Paging, Resource, Response, Server, Storage}

  @typedoc "The name of a running server."
  @type server :: atom

  @typedoc "On whose behalf something is asked for. `:any` is for callers that have judged that themselves."
  @type identity :: %{optional(:tenant) => term, optional(:subject) => term}

  @typedoc "By which column, and how."
  @type sort :: %{field: String.t(), order: :asc | :desc}

  @typedoc "`timeout` is how long the query may take, in milliseconds, in place of the server's `:query_timeout`."
  @type query :: %{
          optional(:offset) => non_neg_integer,
          optional(:limit) => pos_integer,
          optional(:sort) => sort | [sort] | nil,
          optional(:timeout) => timeout
        }

  @doc false
  @spec child_spec(keyword) :: Supervisor.child_spec()
  def child_spec(options) do
    start = {__MODULE__, :start_link, [Options.hide(options)]}
    # A server that was shut down is not started again.
    %{id: Keyword.get(options, :name, __MODULE__), start: start, restart: :transient}
  end

  @doc "Starts a server. Raises `ArgumentError` naming the option at fault."
  @spec start_link(keyword) :: GenServer.on_start()
  def start_link(options), do: options |> Options.new!() |> Server.start_link()

  @doc """
  Creates a dual response.

  | option | meaning |
  |---|---|
  | `:name` | required: what the result is called |
  | `:execute` | required: a function of `%{offset:, limit:, sort:, tie_break:, context:}` that answers a list of maps |
  | `:count` | required: a function of no argument, or of `%{context: …}`, that answers how many there are |
  | `:columns` | required: a list of maps with at least a `name`; `type` is `"string"`, `"number"`, `"boolean"` or `"date"`; `sortable: false` takes a column out of sorting; other keys are kept |
  | `:rows` | the rows themselves, in place of `:execute` and `:count` |
  | `:sample_size`, `:expiration`, `:persist`, `:tie_break` | in place of the server's |
  | `:sort_mode` | `:execute` or `:memory`; kept rows are sorted in memory, unless this says `:execute` |
  | `:metadata` | a map that is kept with the resource |
  | `:tenant`, `:subject` | whose it is |
  | `:conn` | a `McpServer.Conn` that says whose it is |

  What a function has captured is copied with each look at the resource, so it should be small: what the query needs
  to know, not what it found. `execute` and `count` may be `{module, function, arguments}`, called with the options as
  last argument: what a store outside the node can keep. `sort` is `nil` for the sample; `context` is the identity
  that asks, so that a query can keep to its tenant.

  Nothing is kept if `execute` or `count` fail (`:query_execution_failed`, `:count_execution_failed`), nor if the store
  does (`:storage_error`). Raises `ArgumentError` for options that are none.
  """
  @spec create_response(server, keyword) :: {:ok, Response.t()} | {:error, Error.t()}
  def create_response(server, options) do
    with {:ok, server} <- Storage.server(server), do: Creation.create(server, options)
  end

  @doc "The resource, or `nil` if there is none (or none for this identity), if it has expired, or if the store fails."
  @spec get_resource(server, String.t(), identity) :: Resource.t() | nil
  def get_resource(server, id, identity \\ %{}) do
    case lookup(server, id, identity) do
      {:ok, resource} -> resource
      {:error, _error} -> nil
    end
  end

  @doc """
  The resource, or why there is none: `:resource_not_found`, `:resource_expired` (it is still there), `:resource_gone`
  (it was deleted, and the server keeps tombstones) or `:storage_error`.
  """
  @spec lookup(server, String.t(), identity | :any) :: {:ok, Resource.t()} | {:error, Error.t()}
  def lookup(server, id, identity \\ %{}) do
    with {:ok, server} <- Storage.server(server), do: Access.lookup(server, id, identity)
  end

  @doc """
  A page of a resource's rows; 100 from the first on, unless the query says otherwise. Counts the access; the rows are given
  even if the store fails to count it.

  Takes an id, or a resource that `lookup/3` gave. Errors are those of `lookup/3`, `:query_execution_failed`, and
  `:invalid_request` and `:invalid_sort` for queries that are none.
  """
  @spec fetch(server, String.t() | Resource.t(), query, identity | :any) :: {:ok, Page.t()} | {:error, Error.t()}
  def fetch(server, resource, query \\ %{}, identity \\ %{}) do
    with {:ok, server} <- Storage.server(server), do: Paging.fetch(server, resource, query, identity)
  end

  @doc """
  All rows of a resource: how many there are, and a lazy enumerable of lists of them.

  The query's `:batch` says how many rows are read at a time, `:offset`, `:sort` and `:timeout` are those of `fetch/4`.
  Counts one access. Enumerating raises `McpServer.DualResponse.Error` where reading fails.
  """
  @spec stream(server, String.t() | Resource.t(), map, identity | :any) ::
          {:ok, total_count :: non_neg_integer, Enumerable.t()} | {:error, Error.t()}
  def stream(server, resource, query \\ %{}, identity \\ %{}) do
    with {:ok, server} <- Storage.server(server), do: Paging.stream(server, resource, query, identity)
  end

  @doc "Keeps a resource until it is deleted. `false` if there is none, or it has expired."
  @spec pin_resource(server, String.t(), identity) :: boolean
  def pin_resource(server, id, identity \\ %{}), do: pin(server, id, identity) == :ok

  @doc "As `pin_resource/3`, with the reason; see `lookup/3`."
  @spec pin(server, String.t(), identity | :any) :: :ok | {:error, Error.t()}
  def pin(server, id, identity \\ %{}) do
    with {:ok, server} <- Storage.server(server), do: Access.pin(server, id, identity)
  end

  @doc "Deletes a resource. `false` if there is none, or it has expired."
  @spec delete_resource(server, String.t(), identity) :: boolean
  def delete_resource(server, id, identity \\ %{}), do: delete(server, id, identity) == :ok

  @doc "As `delete_resource/3`, with the reason; see `lookup/3`."
  @spec delete(server, String.t(), identity | :any) :: :ok | {:error, Error.t()}
  def delete(server, id, identity \\ %{}) do
    with {:ok, server} <- Storage.server(server), do: Access.delete(server, id, identity)
  end

  @doc "On whose behalf a call is made, by the server's `:bind`."
  @spec identity(server, McpServer.Conn.t()) :: identity
  def identity(server, conn) do
    case Storage.server(server) do
      {:ok, server} -> Options.identity(server, conn)
      {:error, _not_running} -> %{}
    end
  end

  @doc """
  What MCP clients are told of a running server, as `experimental.dualResponse` of the capabilities: where its REST
  endpoint is, and after how many seconds its resources expire. `nil` when the server does not run.
  """
  @spec capability(server) :: %{String.t() => term} | nil
  def capability(server) do
    case Storage.server(server) do
      {:ok, server} -> Options.capability(server)
      {:error, _not_running} -> nil
    end
  end

  @doc "Stops a server and closes its store. To stop one that does not run is no mistake."
  @spec shutdown(server) :: :ok
  def shutdown(server) do
    GenServer.stop(server)
  catch
    :exit, _not_running -> :ok
  end

  @doc false
  @spec settings(server) :: {:ok, Options.t()} | {:error, Error.t()}
  def settings(server), do: Storage.server(server)
end
