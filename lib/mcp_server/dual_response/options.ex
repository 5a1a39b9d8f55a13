defmodule McpServer.DualResponse.Options do
  @moduledoc false
  # The options of a server, checked, and where every process finds them: in `:persistent_term`, so that
  # creating and fetching need no other process, and copy nothing.

  alias McpServer.DualResponse.{Location, Store}
  alias McpServer.Limit

  @enforce_keys [:name, :base_url]
  defstruct [
    :name,
    :base_url,
    :ref,
    :uri_builder,
    :tie_break,
    :bind,
    :clock,
    :signed_urls,
    store: Store.ETS,
    store_options: [],
    default_expiration: 900_000,
    default_sample_size: 15,
    cleanup_interval: 60_000,
    uri_scheme: "resource",
    max_resources: 10_000,
    max_bytes: 256 * 1024 * 1024,
    max_share: 25,
    max_rows: 100_000,
    max_limit: 1_000,
    persist: :query,
    extend_on_access: false,
    tombstones: false,
    query_timeout: 30_000,
    max_heap_words: 64 * 1024 * 1024,
    stream_batch: 500
  ]

  @type t :: %__MODULE__{
          name: atom,
          base_url: String.t(),
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
          max_heap_words: pos_integer,
          stream_batch: pos_integer
        }

  # What is counted, or the most that it can be.
  @units %{
    cleanup_interval: :milliseconds,
    max_resources: :count,
    max_bytes: 1024 * 1024 * 1024 * 1024,
    # Percent.
    max_share: 100,
    max_rows: :count,
    max_limit: :count,
    max_heap_words: :words,
    stream_batch: 100_000
  }
  @counts Map.keys(@units)
  @names [
    :base_url,
    :bind,
    :cleanup_interval,
    :clock,
    :default_expiration,
    :default_sample_size,
    :extend_on_access,
    :max_bytes,
    :max_heap_words,
    :max_limit,
    :max_resources,
    :max_rows,
    :max_share,
    :name,
    :persist,
    :query_timeout,
    :signed_urls,
    :store,
    :stream_batch,
    :tie_break,
    :tombstones,
    :uri_builder,
    :uri_scheme
  ]

  @doc "The checked options; raises `ArgumentError` naming the one at fault."
  @spec new!(keyword) :: t
  def new!(options) do
    Keyword.keyword?(options) || raise ArgumentError, "expected a keyword list, got: #{inspect(options)}"
    Enum.each(options, fn {name, value} -> check!(name, value) end)

    is_map_key(Map.new(options), :base_url) ||
      raise ArgumentError, "base_url: is the address of the REST endpoint, and has to be given"

    {store, options} = options |> Keyword.put_new(:name, McpServer.DualResponse) |> Keyword.pop(:store, Store.ETS)
    {store, store_options} = if is_tuple(store), do: store, else: {store, []}

    __MODULE__
    |> struct!(options)
    |> Map.merge(%{store: store, store_options: store_options})
    |> Map.update!(:base_url, &String.trim_trailing(&1, "/"))
    |> check_location!()
    |> check_signature!()
  end

  defp check!(name, _value) when name not in @names do
    hint = McpServer.Suggestion.did_you_mean(to_string(name), Enum.map(@names, &to_string/1))
    stop = if hint == "", do: ".", else: hint
    raise ArgumentError, "there is no option #{inspect(name)}#{stop} The options are: #{Enum.join(@names, ", ")}"
  end

  defp check!(:name, value),
    do: (is_atom(value) and value not in [nil, true, false]) || wrong!(:name, "an atom", value)

  defp check!(:base_url, value),
    do: (is_binary(value) and Location.base_url?(value)) || wrong!(:base_url, "an http:// or https:// URL", value)

  defp check!(:store, value) do
    case value do
      module when is_atom(module) and module not in [nil, true, false] -> :ok
      {module, options} when is_atom(module) and is_list(options) -> :ok
      _other -> wrong!(:store, "a module or {module, options}", value)
    end
  end

  defp check!(name, value) when name in @counts, do: Limit.check!(name, value, @units[name])

  defp check!(:default_sample_size, value),
    do: (is_integer(value) and value >= 0) || wrong!(:default_sample_size, "a non-negative integer", value)

  defp check!(name, :infinity) when name in [:default_expiration, :query_timeout], do: :ok
  defp check!(:query_timeout, value), do: Limit.check!(:query_timeout, value, :milliseconds)

  defp check!(:default_expiration, value),
    do: duration?(value) || wrong!(:default_expiration, "a positive integer (milliseconds) or :infinity", value)

  defp check!(name, value) when name in [:extend_on_access, :tombstones],
    do:
      value == false or (is_integer(value) and value > 0) ||
        wrong!(name, "false or a positive integer (milliseconds)", value)

  defp check!(:persist, value), do: value in [:query, :rows] || wrong!(:persist, ":query or :rows", value)

  defp check!(name, value) when name in [:uri_builder, :bind],
    do: is_nil(value) or is_function(value, 1) || wrong!(name, "a function of one argument", value)

  defp check!(:clock, value),
    do: is_nil(value) or is_function(value, 0) || wrong!(:clock, "a function of no argument", value)

  defp check!(:tie_break, value),
    do: is_nil(value) or is_binary(value) || wrong!(:tie_break, "the name of a column", value)

  defp check!(_name, _value), do: :ok

  @doc "Whether a value says how long: milliseconds, or `:infinity`."
  @spec duration?(term) :: boolean
  def duration?(value), do: value == :infinity or (is_integer(value) and value > 0)

  defp wrong!(name, expected, value),
    do: raise(ArgumentError, "expected #{inspect(name)} to be #{expected}, got: #{inspect(value)}")

  # What a builder makes is looked at once, on an id that is none, rather than with the first result.
  defp check_location!(options) do
    case Location.check(options) do
      :ok -> options
      {:error, text} -> raise ArgumentError, text
    end
  end

  defp check_signature!(%{signed_urls: nil} = options), do: options

  defp check_signature!(%{signed_urls: settings} = options),
    do: %{options | signed_urls: McpServer.DualResponse.Signature.options!(settings)}

  @doc "Makes the options of a running server known."
  @spec put(t) :: :ok
  def put(%__MODULE__{name: name} = options), do: :persistent_term.put({__MODULE__, name}, options)

  @doc "The options of a server, `nil` when it does not run."
  @spec fetch(atom) :: t | nil
  def fetch(name), do: :persistent_term.get({__MODULE__, name}, nil)

  @doc "Forgets the options of a server that was shut down."
  @spec erase(atom) :: :ok
  def erase(name) do
    _existed? = :persistent_term.erase({__MODULE__, name})
    :ok
  end

  @doc "Now, in milliseconds of the store's clock."
  @spec now(t) :: integer
  def now(%__MODULE__{clock: nil, store: store}) do
    case store.clock() do
      :monotonic -> System.monotonic_time(:millisecond)
      :wall -> System.system_time(:millisecond)
    end
  end

  def now(%__MODULE__{clock: clock}), do: clock.()

  @doc "What clients are told of a server. What never expires has no time."
  @spec capability(t) :: %{String.t() => term}
  def capability(%__MODULE__{default_expiration: :infinity} = options),
    do: %{"enabled" => true, "baseUrl" => options.base_url}

  def capability(options) do
    %{"enabled" => true, "baseUrl" => options.base_url, "defaultExpiration" => div(options.default_expiration, 1_000)}
  end

  @doc "On whose behalf a call is made: what `bind:` makes of its conn, else its principal."
  @spec identity(t, term) :: McpServer.DualResponse.identity()
  def identity(%__MODULE__{bind: nil}, %{principal: principal}), do: %{tenant: nil, subject: principal}
  def identity(%__MODULE__{bind: nil}, _conn), do: %{}

  # An identity of another form would bind to nobody, and let anybody read.
  def identity(%__MODULE__{bind: bind}, conn) do
    case bind.(conn) do
      %{} = identity when is_map_key(identity, :tenant) or is_map_key(identity, :subject) ->
        identity

      _other ->
        raise ArgumentError, "bind: of dual responses has to answer a map with :tenant, :subject or both, as atoms"
    end
  end
end
