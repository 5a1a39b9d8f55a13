defmodule McpServer.DualResponse do
  @moduledoc """
  Results too large for a model: the answer contains a few rows, and a program fetches all of them.

  A tool that finds thousands of rows creates a *dual response*: the first rows and a link for the model, and a resource
  from which the host fetches all rows, page by page. The server stores the query (or the rows) and deletes it after a
  quarter of an hour, unless it is pinned.

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

  A tool's handler returns what `create_response/2` returns. A server of such responses is a child of your supervision tree:

      children = [
        {McpServer.DualResponse, name: MyApp.Results, base_url: "https://api.example.com/resources"}
      ]

  Creating and fetching run in the calling process. The server's process opens the store, deletes expired resources, and
  closes the store at its shutdown. Dual responses do not depend on transports or routers: a router with the statement
  `dual_responses MyApp.Results` (`McpServer.DualResponse.Router`) lets its clients read the links.

  ## Options

  Times are milliseconds, sizes bytes.

  #{McpServer.Options.document(McpServer.DualResponse.Options.table())}
  When `:max_resources` or `:max_bytes` is reached, the server deletes expired resources first, then the least recently
  used resources of the owner with most. An owner is a tenant and a subject. An owner with `:max_share` of either limit
  loses its own resources, but may always have one. Resources without an owner have no share. Pinned resources stay; if
  there are no others, creating fails. The three stores of this library support shares. With a store that does not
  implement `c:McpServer.DualResponse.Store.holders/1`, the least recently used resource of any owner is deleted.

  ## Who may read

  An id has 128 random bits and is enough to read a resource, unless the resource is bound: only the tenant and subject
  of `tenant:` or `subject:` can then read it. For all others it does not exist. `conn:` binds a resource to the result
  of `:bind`.

  ## Sorting

  A page can be sorted by columns: `%{field: "name", order: :desc}`, or a list of such maps. The library builds no
  query: it calls `execute` again with the sort order. Stored rows are sorted in memory with a stable sort. `nil` and
  missing values are last in both orders, and numbers come before strings, strings before booleans.

  ## Time

  `expires_at` is for people. Expiry uses the store's clock. The clock of `Store.ETS` is monotonic, so a change of the
  system's time does not affect expiry.
  """

  alias McpServer.DualResponse.{Access, Creation, Error, Options, Page, Paging, Resource, Response, Server, Storage}

  @typedoc "The name of a running server."
  @type server :: atom

  @typedoc "The identity of the client. `:any` is for callers that have already checked access."
  @type identity :: %{optional(:tenant) => term, optional(:subject) => term}

  @typedoc "An identity as a map, or as a keyword list such as `[subject: user.id]`."
  @type given_identity :: identity | [tenant: term, subject: term]

  @typedoc "The column to sort by, and the order."
  @type sort :: %{field: String.t(), order: :asc | :desc}

  @typedoc "`timeout` is the longest time of the query in milliseconds, in place of the server's `:query_timeout`."
  @type query :: %{
          optional(:offset) => non_neg_integer,
          optional(:limit) => pos_integer,
          optional(:sort) => sort | [sort] | nil,
          optional(:timeout) => timeout
        }

  @typedoc "The fields of a `t:query/0` and of a `t:identity/0`, together."
  @type query_options :: [
          offset: non_neg_integer,
          limit: pos_integer,
          sort: sort | [sort] | nil,
          timeout: timeout,
          tenant: term,
          subject: term
        ]

  @query [:offset, :limit, :sort, :timeout]
  @identity [:tenant, :subject]

  @doc false
  @spec child_spec(keyword) :: Supervisor.child_spec()
  def child_spec(options) do
    start = {__MODULE__, :start_link, [Options.hide(options)]}
    # A server that was shut down stays down.
    %{id: Keyword.get(options, :name, __MODULE__), start: start, restart: :transient}
  end

  @doc "Starts a server. Raises `ArgumentError` that names the invalid option."
  @spec start_link(keyword) :: GenServer.on_start()
  def start_link(options), do: options |> Options.new!() |> Server.start_link()

  @doc """
  Creates a dual response. A tool may return what this function returns: the model reads the message of an error.

  | option | meaning |
  |---|---|
  | `:name` | required: the name of the result |
  | `:execute` | required: a function of `%{offset:, limit:, sort:, tie_break:, context:}` that returns a list of maps |
  | `:count` | required: a function of no argument, or of `%{context: …}`, that returns the number of rows |
  | `:columns` | required: a list of maps with at least a `name`; `type` is `"string"`, `"number"`, `"boolean"` or `"date"`; `sortable: false` disables sorting by the column; other keys are stored |
  | `:rows` | the rows, in place of `:execute` and `:count` |
  | `:sample_size`, `:expiration`, `:persist`, `:tie_break` | in place of the server's |
  | `:sort_mode` | `:execute` or `:memory`; stored rows are sorted in memory by default |
  | `:metadata` | a map that is stored with the resource |
  | `:tenant`, `:subject` | the owner |
  | `:conn` | a `McpServer.Conn` that determines the owner |

  Data that a function captures is copied with each read of the resource, so it should be small: the parameters of the
  query, not its results. `execute` and `count` may be `{module, function, arguments}`, called with the options as last
  argument. Stores outside the node require this form. `sort` is `nil` for the sample. `context` is the identity of the
  client, so that a query can filter by tenant.

  Nothing is stored if `execute`, `count` or the store fails (`:query_execution_failed`, `:count_execution_failed`,
  `:storage_error`). Raises `ArgumentError` for invalid options.
  """
  @spec create_response(server, keyword) :: {:ok, Response.t()} | {:error, Error.t()}
  def create_response(server, options) do
    with {:ok, server} <- Storage.server(server), do: Creation.create(server, options)
  end

  @doc "The resource, or `nil` if it does not exist for this identity, if it has expired, or if the store fails."
  @spec get_resource(server, String.t(), given_identity) :: Resource.t() | nil
  def get_resource(server, id, identity \\ %{}) do
    case lookup(server, id, identity) do
      {:ok, resource} -> resource
      {:error, _error} -> nil
    end
  end

  @doc """
  The resource, or an error: `:resource_not_found`, `:resource_expired` (not deleted yet), `:resource_gone` (deleted, if
  the server keeps tombstones) or `:storage_error`.
  """
  @spec lookup(server, String.t(), given_identity | :any) :: {:ok, Resource.t()} | {:error, Error.t()}
  def lookup(server, id, identity \\ %{}) do
    identity = identity!(identity)
    with {:ok, server} <- Storage.server(server), do: Access.lookup(server, id, identity)
  end

  @doc """
  A page of a resource's rows, by default the first 100. Counts the access, and returns the rows even if the store fails
  to count it.

      DualResponse.fetch(MyApp.Results, id, limit: 10, subject: user.id)
      DualResponse.fetch(MyApp.Results, id, %{limit: 10}, %{subject: user.id})

  Takes an id, or a resource of `lookup/3`. Errors are those of `lookup/3`, `:query_execution_failed`, and
  `:invalid_request` and `:invalid_sort` for invalid queries. Raises `ArgumentError` for an unknown option.
  """
  @spec fetch(server, String.t() | Resource.t(), query | query_options, given_identity | :any) ::
          {:ok, Page.t()} | {:error, Error.t()}
  def fetch(server, resource, query \\ %{}, identity \\ %{}) do
    {query, identity} = given!(query, identity, @query)
    with {:ok, server} <- Storage.server(server), do: Paging.fetch(server, resource, query, identity)
  end

  @doc """
  All rows of a resource: their number, and a lazy enumerable of lists of rows.

      {:ok, total, pages} = DualResponse.stream(MyApp.Results, id, subject: user.id)

  The query's `:batch` is the number of rows per read; `:offset`, `:sort` and `:timeout` are those of `fetch/4`, and so
  are the two forms. Counts one access. The enumeration raises `McpServer.DualResponse.Error` if reading fails.
  """
  @spec stream(server, String.t() | Resource.t(), map | keyword, given_identity | :any) ::
          {:ok, total_count :: non_neg_integer, Enumerable.t()} | {:error, Error.t()}
  def stream(server, resource, query \\ %{}, identity \\ %{}) do
    {query, identity} = given!(query, identity, [:batch | @query -- [:limit]])
    with {:ok, server} <- Storage.server(server), do: Paging.stream(server, resource, query, identity)
  end

  defp given!(options, identity, names) when is_list(options) do
    {owner, query} = options |> Keyword.validate!(names ++ @identity) |> Keyword.split(@identity)
    {Map.new(query), if(owner == [], do: identity!(identity), else: Map.new(owner))}
  end

  defp given!(query, identity, _names), do: {query, identity!(identity)}

  defp identity!(identity) when is_list(identity), do: identity |> Keyword.validate!(@identity) |> Map.new()
  defp identity!(identity), do: identity

  @doc "Pins a resource: it does not expire. Returns `false` if it does not exist or has expired."
  @spec pin_resource(server, String.t(), given_identity) :: boolean
  def pin_resource(server, id, identity \\ %{}), do: pin(server, id, identity) == :ok

  @doc "Like `pin_resource/3`, with the error; see `lookup/3`."
  @spec pin(server, String.t(), given_identity | :any) :: :ok | {:error, Error.t()}
  def pin(server, id, identity \\ %{}) do
    identity = identity!(identity)
    with {:ok, server} <- Storage.server(server), do: Access.pin(server, id, identity)
  end

  # A client's pin of what belongs to nobody, where clients have names.
  @doc false
  @spec keep(server, String.t(), identity | :any) :: :ok | {:error, Error.t()}
  def keep(server, id, identity),
    do: with({:ok, server} <- Storage.server(server), do: Access.pin(server, id, identity, :kept))

  @doc "Deletes a resource. Returns `false` if it does not exist or has expired."
  @spec delete_resource(server, String.t(), given_identity) :: boolean
  def delete_resource(server, id, identity \\ %{}), do: delete(server, id, identity) == :ok

  @doc "Like `delete_resource/3`, with the error; see `lookup/3`."
  @spec delete(server, String.t(), given_identity | :any) :: :ok | {:error, Error.t()}
  def delete(server, id, identity \\ %{}) do
    identity = identity!(identity)
    with {:ok, server} <- Storage.server(server), do: Access.delete(server, id, identity)
  end

  @doc "The identity of a call, from the server's `:bind`."
  @spec identity(server, McpServer.Conn.t()) :: identity
  def identity(server, conn) do
    case Storage.server(server) do
      {:ok, server} -> Options.identity(server, conn)
      {:error, _not_running} -> %{}
    end
  end

  @doc """
  The description of a running server for MCP clients, `experimental.dualResponse` of the capabilities: the URL of its
  REST endpoint, and the seconds until its resources expire. `nil` if the server does not run.
  """
  @spec capability(server) :: %{String.t() => term} | nil
  def capability(server) do
    case Storage.server(server) do
      {:ok, server} -> Options.capability(server)
      {:error, _not_running} -> nil
    end
  end

  @doc "Stops a server and closes its store. Returns `:ok` also if the server does not run."
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
