defmodule McpServer.DualResponse.Options do
  @moduledoc false
  # The checked options of a server. They are in `:persistent_term`, so every process reads them without a copy and
  # without another process.

  require Logger

  alias McpServer.DualResponse.{Location, Signature, Store}

  @kibi 1024
  @mebi 1024 * @kibi

  @doc "The schema of the options."
  @spec table() :: McpServer.Options.table()
  def table do
    duration = {"a positive integer (milliseconds)", &(is_integer(&1) and &1 > 0)}

    [
      base_url: [
        {"an http:// or https:// URL, or {endpoint, path}", &Location.base_url?/1},
        required: true,
        doc:
          "the URL of the REST endpoint, http or https, or `{MyAppWeb.Endpoint, \"/resources\"}`: a path below the URL " <>
            "of a Phoenix endpoint"
      ],
      name: [:name, default: McpServer.DualResponse, doc: "the server's name, under which its process is registered"],
      store: [
        {"a module or {module, options}", &store?/1},
        default: Store.ETS,
        doc: "the store, a module or `{module, options}`"
      ],
      default_expiration: [
        {:or, [:infinity], duration},
        default: 900_000,
        doc: "how long a resource is stored, or `:infinity`"
      ],
      default_sample_size: [
        {"a non-negative integer", &(is_integer(&1) and &1 >= 0)},
        default: 15,
        doc: "rows of a sample"
      ],
      cleanup_interval: [:milliseconds, default: 60_000, doc: "how often expired resources are deleted"],
      # The core says which schemes are valid.
      uri_scheme: [
        :any,
        default: "resource",
        doc: "the scheme of a resource's URI, `resource://id`; not `file`, `data`, `javascript` or `ui`"
      ],
      uri_builder: [{:or, [nil], {:function, 1}}, doc: "a function from id to URI, in place of the scheme"],
      persist: [
        {:in, [:query, :rows]},
        default: :query,
        doc: "`:rows` stores the rows, `:query` runs the query for each page"
      ],
      tie_break: [
        {:or, [nil], :string},
        doc: "the column that orders rows with equal sort keys"
      ],
      extend_on_access: [
        {:or, [false], duration},
        default: false,
        doc: "how long a resource is stored after each fetch"
      ],
      tombstones: [
        {:or, [false], duration},
        default: false,
        doc: "how long the deletion of a resource is remembered"
      ],
      bind: [
        {:or, [nil], {:function, 1}},
        shown: "the principal is the subject",
        doc: "a function from `McpServer.Conn` to `%{tenant: …, subject: …}`"
      ],
      max_resources: [:count, default: 10_000, doc: "number of stored resources"],
      max_bytes: [
        {:bytes, 1024 * 1024 * @mebi},
        default: 256 * @mebi,
        doc: "size of all resources in Erlang's external format"
      ],
      max_share: [
        :percent,
        default: 25,
        doc: "percent of `:max_resources` and of `:max_bytes` that one tenant and subject may have"
      ],
      max_rows: [:count, default: 100_000, doc: "rows of a query that are read and stored"],
      max_limit: [:count, default: 1_000, doc: "largest number of rows of a page"],
      query_timeout: [
        {:or, [:infinity], :milliseconds},
        default: 30_000,
        doc: "how long `execute` or `count` may take; `:infinity` runs them in the calling process"
      ],
      max_heap_bytes: [
        {:bytes, 32 * 1024 * @mebi},
        default: 512 * @mebi,
        misnamed: [:max_heap_words],
        doc: "memory of the process that runs `execute` or `count`"
      ],
      stream_batch: [{:count, 100_000}, default: 500, doc: "rows per read of a stream or a snapshot"],
      signed_urls: [
        :any,
        secret: true,
        doc: "signs the URL of a resource: see `McpServer.DualResponse.Plug`"
      ],
      clock: [
        {:or, [nil], {:function, 0}},
        shown: "the store's",
        doc: "a function that returns the time in milliseconds, for tests"
      ]
    ]
  end

  defp store?({module, options}), do: store?(module) and is_list(options)
  defp store?(module), do: is_atom(module) and module not in [nil, true, false]

  @enforce_keys [:name, :base_url]
  defstruct [
    :ref,
    :store_options,
    :base_url,
    :name,
    :store,
    :default_expiration,
    :default_sample_size,
    :cleanup_interval,
    :uri_scheme,
    :uri_builder,
    :persist,
    :tie_break,
    :extend_on_access,
    :tombstones,
    :bind,
    :max_resources,
    :max_bytes,
    :max_share,
    :max_rows,
    :max_limit,
    :query_timeout,
    :max_heap_bytes,
    :stream_batch,
    :signed_urls,
    :clock
  ]

  @type t :: %__MODULE__{
          name: atom,
          base_url: String.t() | {module, String.t()},
          ref: Store.ref(),
          uri_builder: (String.t() -> String.t()) | nil,
          tie_break: String.t() | nil,
          bind: (term -> map) | nil,
          clock: (() -> integer) | nil,
          signed_urls: keyword | map | nil,
          store: module,
          store_options: keyword,
          default_expiration: pos_integer | :infinity,
          default_sample_size: non_neg_integer,
          cleanup_interval: pos_integer,
          uri_scheme: String.t(),
          max_resources: pos_integer,
          max_bytes: pos_integer,
          max_share: 1..100,
          max_rows: pos_integer,
          max_limit: pos_integer,
          persist: :query | :rows,
          extend_on_access: false | pos_integer,
          tombstones: false | pos_integer,
          query_timeout: timeout,
          max_heap_bytes: pos_integer,
          stream_batch: pos_integer
        }

  @doc "The checked options. Raises `ArgumentError` with the name of a wrong option."
  @spec new!(keyword) :: t
  def new!(options) do
    options = McpServer.Options.check!("McpServer.DualResponse", table(), options)
    {store, store_options} = if is_tuple(options.store), do: options.store, else: {options.store, []}

    __MODULE__
    |> struct!(options)
    |> Map.merge(%{store: store, store_options: store_options})
    |> Map.update!(:base_url, &without_slash/1)
    |> check_location!()
    |> check_signature!()
  end

  defp without_slash({endpoint, path}), do: {endpoint, without_slash(path)}
  defp without_slash(url), do: String.trim_trailing(url, "/")

  @doc "The options without secrets, for the child specification, which supervisors print."
  @spec hide(keyword) :: keyword
  def hide(options), do: McpServer.Options.hide(table(), options)

  @doc "Whether a value is a duration: milliseconds, or `:infinity`."
  @spec duration?(term) :: boolean
  def duration?(value), do: value == :infinity or (is_integer(value) and value > 0)

  # The builder is checked once at the start, with a sample id, and not with the first result.
  defp check_location!(options) do
    case Location.check(options) do
      :ok -> options
      {:error, text} -> raise ArgumentError, text
    end
  end

  defp check_signature!(%{signed_urls: nil} = options), do: options

  defp check_signature!(%{signed_urls: settings} = options),
    do: %{options | signed_urls: Signature.options!(settings)}

  @typedoc "The name of a server, or that with one of its rooms for the data of sessions."
  @type key :: atom | {server :: atom, :values | :ended}

  @doc "Stores the options of a running server."
  @spec put(key, t) :: :ok
  def put(key, %__MODULE__{} = options), do: :persistent_term.put({__MODULE__, key}, options)

  @doc "The options of a server. `nil` if it does not run."
  @spec fetch(key) :: t | nil
  def fetch(key), do: :persistent_term.get({__MODULE__, key}, nil)

  @doc "Deletes the options of a server that was shut down."
  @spec erase(key) :: :ok
  def erase(key) do
    _existed? = :persistent_term.erase({__MODULE__, key})
    :ok
  end

  @doc "The current time in milliseconds of the store's clock."
  @spec now(t) :: integer
  def now(%__MODULE__{clock: nil, store: store}) do
    case store.clock() do
      :monotonic -> System.monotonic_time(:millisecond)
      :wall -> System.system_time(:millisecond)
    end
  end

  def now(%__MODULE__{clock: clock}), do: clock.()

  @doc "The description of a server for clients. A time of `:infinity` is left out."
  @spec capability(t) :: %{String.t() => term}
  def capability(%__MODULE__{default_expiration: :infinity} = options),
    do: %{"enabled" => true, "baseUrl" => Location.base_url(options)}

  def capability(options) do
    %{
      "enabled" => true,
      "baseUrl" => Location.base_url(options),
      "defaultExpiration" => div(options.default_expiration, 1_000)
    }
  end

  @doc "Logs a warning if the application runs in production, and its clients are sent to an address of this machine."
  @spec warn_local(t) :: :ok
  def warn_local(options) do
    if production?() and Location.local?(options) do
      Logger.warning(
        "The results of #{inspect(options.name)} have the base_url: #{options.base_url}, which clients on other " <>
          "machines cannot reach. Write the public URL, or {MyAppWeb.Endpoint, \"/resources\"} for that of Phoenix."
      )
    end

    :ok
  end

  @doc "Whether the application runs in production: as a release, which has no Mix, or in Mix's environment `:prod`."
  @spec production?() :: boolean
  def production?, do: not List.keymember?(Application.started_applications(), :mix, 0) or Mix.env() == :prod

  @doc "The identity of a call: the result of `bind:` for its conn, else its principal."
  @spec identity(t, term) :: McpServer.DualResponse.identity()
  def identity(%__MODULE__{bind: nil}, %{principal: principal}), do: %{tenant: nil, subject: principal}
  def identity(%__MODULE__{bind: nil}, _conn), do: %{}

  # An invalid identity would leave the resource unbound, so every client could read it.
  def identity(%__MODULE__{bind: bind}, conn) do
    case bind.(conn) do
      %{} = identity when is_map_key(identity, :tenant) or is_map_key(identity, :subject) ->
        identity

      _other ->
        raise ArgumentError, "bind: of dual responses has to answer a map with :tenant, :subject or both, as atoms"
    end
  end
end
