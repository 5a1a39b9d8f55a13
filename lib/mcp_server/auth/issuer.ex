defmodule McpServer.Auth.Issuer do
  @moduledoc false
  # The keys of one issuer. One process fetches them for all mounts, and token checks read a table. The keys of a tenant
  # have a process of their own, as long as the tenant has its row.
  #
  # Keys are fetched again before they expire. They are also fetched when a token names an unknown key, at most once in
  # `min_refresh`. Only one fetch runs at a time. If a fetch fails, the keys stay for `max_stale`.

  use GenServer, restart: :temporary
  use McpServer.Outline

  require Logger

  alias McpServer.Auth.{Discovery, Processes, Tenants}
  alias McpServer.Protocol.Auth

  @table __MODULE__

  # The number of callers that may wait for a fetch, unless the caller allows fewer. Anybody can invent a token with an
  # unknown key, so fewer of these may wait: each of them holds a place that other requests need.
  @max_waiting 1_000
  @max_waiting_for_newer 250
  # The longest delay after a failed fetch, in seconds.
  @most_backoff 60
  # Seconds. An issuer's maximum age is clamped to this range.
  @ages 300..86_400

  @typedoc "`:wait` is milliseconds. `:refresh`, `:min_refresh` and `:max_stale` are seconds."
  @type source :: %{
          required(:wait) => pos_integer(),
          required(:refresh) => pos_integer(),
          required(:min_refresh) => pos_integer(),
          required(:max_stale) => pos_integer(),
          optional(atom()) => term()
        }

  @typedoc "`generation` changes when the keys change."
  @type keys :: {Auth.keys(), generation :: pos_integer()}

  @doc "Makes the table. The calling process owns it."
  @spec create_table() :: :ok
  def create_table do
    :ets.new(@table, [:named_table, :public, read_concurrency: true])
    :ok
  end

  @typedoc "How many callers may wait, if it is fewer than usual."
  @type most :: pos_integer() | :any

  @doc "The known keys of an issuer. They are fetched first if there are none, and fewer than `most` callers wait."
  @spec keys(source(), most()) :: {:ok, keys()} | Processes.unavailable()
  def keys(source, most \\ :any) do
    case :ets.lookup(@table, source) do
      [{_source, keys, stale_at}] -> if now() < stale_at, do: {:ok, keys}, else: ask(source, {:keys, most})
      [] -> ask(source, {:keys, most})
    end
  end

  @doc """
  The keys after `generation`, because a token names a key that this generation lacks. The same generation means that the
  issuer has no such key: a fetch has shown it, less than `min_refresh` ago. Until one has, the keys are unavailable.
  """
  @spec newer_keys(source(), generation :: pos_integer(), most()) ::
          {:ok, keys()} | Processes.unavailable()
  def newer_keys(source, generation, most \\ :any), do: ask(source, {:newer, generation, most})

  @doc "For how many seconds the known keys are valid."
  @spec seconds_left(source()) :: non_neg_integer()
  def seconds_left(source) do
    case :ets.lookup(@table, source) do
      [{_source, _keys, stale_at}] -> max(stale_at - now(), 0)
      [] -> 0
    end
  end

  @doc "Drops the keys of an issuer. They are fetched again when needed."
  @spec forget(source()) :: :ok
  def forget(source) do
    :ok = Processes.stop(__MODULE__, source)
    withdraw(:ets.take(@table, source))
  end

  @doc """
  Drops the keys of an issuer, for all fetch options. A test's issuer may have the port of an earlier one with other
  keys.
  """
  @spec forget_url(String.t()) :: :ok
  def forget_url(url) do
    :ok = Processes.stop_url(__MODULE__, url)
    for {%{issuer: ^url} = source, _keys, _stale_at} <- :ets.tab2list(@table), do: withdraw(:ets.take(@table, source))
    :ok
  end

  defp withdraw(rows), do: Enum.each(rows, fn {_source, {keys, _generation}, _stale_at} -> Auth.withdraw(keys) end)

  defp ask(source, question), do: Processes.ask(__MODULE__, source, question, source.wait)
  defp unavailable, do: Processes.unavailable()

  @doc false
  def start_link({source, name}), do: GenServer.start_link(__MODULE__, source, name: name)

  # A tenant may lose its row while its request is on the way to this process. The row goes before the process is ended, so
  # one that starts later finds none.
  @impl true
  def init(source), do: if(Tenants.wanted?(source), do: begin(source), else: :ignore)

  # `fetched_at` is the start of the last fetch. After a failure no fetch begins before `retry_at`. `digest` identifies
  # the keys in the table, `nil` if they are of an earlier process.
  defp begin(source) do
    # The fetch is linked, so that it ends with this process.
    Process.flag(:trap_exit, true)

    state = %{
      source: source,
      fetch: nil,
      waiting: [],
      failures: 0,
      fetched_at: nil,
      retry_at: nil,
      generation: 0,
      digest: nil,
      timer: nil
    }

    case :ets.lookup(@table, source) do
      [{_source, {_keys, generation}, _stale_at}] -> {:ok, fetch(%{state | generation: generation})}
      [] -> {:ok, state}
    end
  end

  @impl true
  def handle_call({:keys, most}, from, %{fetch: nil} = state) do
    known = known(state)
    too_early? = state.retry_at != nil and now() < state.retry_at
    # The keys may have arrived meanwhile.
    if too_early? or match?({:ok, _keys}, known),
      do: {:reply, known, state},
      else: state |> fetch() |> wait({:keys, from}, most, @max_waiting)
  end

  def handle_call({:keys, most}, from, state), do: wait(state, {:keys, from}, most, @max_waiting)

  def handle_call({:newer, generation, most}, from, state) do
    cond do
      state.generation != generation -> {:reply, known(state), state}
      state.fetch != nil -> wait(state, {:newer, from}, most, @max_waiting_for_newer)
      now() - state.fetched_at < state.source.min_refresh -> {:reply, newest(state), state}
      true -> state |> fetch() |> wait({:newer, from}, most, @max_waiting_for_newer)
    end
  end

  # Callers that have given up count until the fetch ends: it has kept them waiting.
  defp room?(state, :any, usual), do: length(state.waiting) < usual
  defp room?(state, most, usual), do: length(state.waiting) < min(most, usual)

  defp wait(state, waiting, most, usual) do
    if room?(state, most, usual),
      do: {:noreply, %{state | waiting: [waiting | state.waiting]}},
      else: {:reply, unavailable(), state}
  end

  defp fetch(state) do
    source = state.source
    %{state | fetch: spawn_link(fn -> exit({:shutdown, Discovery.keys(source)}) end), fetched_at: now()}
  end

  @impl true
  def handle_info({:EXIT, fetch, reason}, %{fetch: fetch} = state) do
    state = %{state | fetch: nil}

    state =
      case reason do
        {:shutdown, {:ok, found}} -> fetched(state, found)
        {:shutdown, {:error, text}} -> failed(state, text)
        _crash -> failed(state, "the fetch crashed")
      end

    for {question, from} <- state.waiting,
        do: GenServer.reply(from, if(question == :keys, do: known(state), else: newest(state)))

    {:noreply, %{state | waiting: []}}
  end

  def handle_info(:refresh, %{fetch: nil} = state), do: {:noreply, fetch(%{state | timer: nil})}
  def handle_info(_message, state), do: {:noreply, state}

  defp fetched(%{source: source} = state, found) do
    if found.skipped > 0 and state.generation == 0,
      do: Logger.warning("#{source.issuer}: #{found.skipped} keys cannot verify tokens, and are not used")

    state = store(%{state | failures: 0, retry_at: nil}, found, now() + source.max_stale)
    age = (found.max_age || source.refresh) |> max(@ages.first) |> min(@ages.last)
    # A random time before the keys expire, so that servers do not all fetch at once.
    schedule(state, div(age * (70 + :rand.uniform(20)), 100))
  end

  # The same keys stay, and with them the tokens that they have verified.
  defp store(%{source: source, digest: digest} = state, %{digest: digest}, stale_at) do
    :ets.update_element(@table, source, {3, stale_at})
    state
  end

  # Tokens of removed keys become invalid.
  defp store(%{source: source, generation: before} = state, found, stale_at) do
    withdraw(:ets.lookup(@table, source))
    :ets.insert(@table, {source, {found.keys, before + 1}, stale_at})
    %{state | generation: before + 1, digest: found.digest}
  end

  defp failed(%{source: source} = state, text) do
    Logger.error("The keys of #{source.issuer} cannot be fetched: #{text}")
    backoff = min(Integer.pow(2, min(state.failures, 6)), @most_backoff)
    state = %{state | failures: state.failures + 1, retry_at: now() + backoff}
    # Without any keys, the next token triggers a fetch.
    if state.generation > 0, do: schedule(state, backoff), else: state
  end

  defp schedule(state, seconds) do
    if state.timer, do: Process.cancel_timer(state.timer)
    %{state | timer: Process.send_after(self(), :refresh, seconds * 1_000)}
  end

  defp known(state) do
    case :ets.lookup(@table, state.source) do
      [{_source, keys, stale_at}] -> if now() < stale_at, do: {:ok, keys}, else: unavailable()
      [] -> unavailable()
    end
  end

  # After a failed fetch nobody knows whether the issuer has other keys.
  defp newest(%{failures: 0} = state), do: known(state)
  defp newest(_failed), do: unavailable()

  defp now, do: System.monotonic_time(:second)
end
