defmodule McpServer.Presentation.Cache do
  @moduledoc """
  Caches results for a limited time, in a table of bounded size.

      children = [{McpServer.Presentation.Cache, name: MyApp.Results}]

      def search(conn, arguments) do
        arguments = NeedsInput.answers(conn, arguments)
        Cache.fetch(MyApp.Results, "search", arguments, :timer.minutes(5), fn -> MyApp.search(conn, arguments) end)
      end

  The key consists of the tool's name and all arguments, with the resolved format, so that each format has its own
  entry. If a result also depends on something else, such as the user, add it to the name: `{"search", user.id}`. What the
  user has filled in is in the conn: `McpServer.Presentation.NeedsInput.answers/2` makes arguments of it, or the result
  would be that of everybody who gives the same arguments. The cache stores results (`{:ok, result}`) that are neither
  failures nor questions.

  | option | default | |
  |---|---|---|
  | `name:` | required | the name of the cache |
  | `max_entries:` | 500 | when the cache is full, the entries that expire first are removed |
  | `max_entry_bytes:` | 256 KiB | larger results are not cached; measured by `:erlang.external_size/1` |

  Five minutes are a good `ttl` for searches, thirty minutes for single entries.
  """

  use GenServer

  alias McpServer.{JSON, Limit}
  alias McpServer.Presentation.Output
  alias McpServer.Tool.CallResult

  @options [max_entries: 500, max_entry_bytes: 256 * 1024]

  # Milliseconds without a result, after which the process drops the copies of those that it has stored.
  @hibernate_after 1_000

  @type name :: atom
  @type result :: {:ok, CallResult.t()} | term

  @doc "Starts a cache."
  @spec start_link(keyword) :: GenServer.on_start()
  def start_link(options) do
    {name, options} = Keyword.pop!(options, :name)
    options = Keyword.validate!(options, @options)

    Limit.check!(:max_entries, options[:max_entries], :count)
    Limit.check!(:max_entry_bytes, options[:max_entry_bytes], :bytes)

    GenServer.start_link(__MODULE__, {name, Map.new(options)}, name: name, hibernate_after: @hibernate_after)
  end

  @doc false
  def child_spec(options), do: %{id: Keyword.fetch!(options, :name), start: {__MODULE__, :start_link, [options]}}

  @doc """
  The cached result, or the result of `fun`, which is then cached for `ttl` milliseconds.

  Concurrent callers may each call `fun`. Without a running cache `fun` is called every time.
  """
  @spec fetch(name, term, map, pos_integer, (() -> result)) :: result
  def fetch(cache, tool, arguments, ttl, fun) do
    key = cache_key(tool, arguments)

    case key && lookup(cache, key) do
      {:ok, result} -> {:ok, result}
      _none -> remember(cache, key, ttl, fun.())
    end
  end

  @doc """
  The key of a result. It is equal for equal arguments in the same format, given or by default. `nil` if the format is
  invalid, or the arguments cannot be encoded as JSON.

      iex> alias McpServer.Presentation.Cache
      iex> Cache.cache_key("search", %{"q" => "a"}) == Cache.cache_key("search", %{"q" => "a", "format" => "markdown"})
      true
      iex> Cache.cache_key("search", %{"q" => "a"}) == Cache.cache_key("search", %{"q" => "a", "format" => "json"})
      false
  """
  @spec cache_key(term, map) :: binary | nil
  def cache_key(tool, arguments) do
    with {:ok, {name, _markdown?, _json?}} <- Output.format(arguments["format"]),
         {:ok, text} <- arguments |> Map.delete("format") |> JSON.encode() do
      :crypto.hash(:sha256, :erlang.term_to_binary({tool, name, text}))
    else
      _none -> nil
    end
  end

  defp lookup(cache, key) do
    case :ets.lookup(cache, key) do
      [{^key, expires_at, result}] -> if expires_at > now(), do: {:ok, result}
      [] -> nil
    end
  rescue
    # The owner of the table may be restarting.
    ArgumentError -> nil
  end

  defp remember(cache, key, ttl, {:ok, %CallResult{is_error: false} = result} = answer) when key != nil do
    if not question?(result) and fits?(cache, result), do: send_to(cache, {:put, key, now() + ttl, result})
    answer
  end

  defp remember(_cache, _key, _ttl, answer), do: answer

  # Looked at here, because the process of the cache would get a copy of the result.
  defp fits?(cache, result) do
    case :persistent_term.get({__MODULE__, cache}, :no_cache) do
      :no_cache -> false
      max_bytes -> :erlang.external_size(result) <= max_bytes
    end
  end

  # A synchronous call, so that the senders wait when there are many results.
  defp send_to(cache, message) do
    GenServer.call(cache, message)
  catch
    :exit, _gone_or_late -> :ok
  end

  defp question?(%CallResult{structured_content: %{"kind" => "needsInput:v1"}}), do: true
  defp question?(_result), do: false

  defp now, do: System.monotonic_time(:millisecond)

  @impl true
  def init({name, %{max_entry_bytes: max_bytes} = limits}) do
    :persistent_term.put({__MODULE__, name}, max_bytes)
    table = :ets.new(name, [:named_table, :protected, read_concurrency: true])
    # Sorted by expiry, so that the next entry to expire is found without a search.
    {:ok, Map.merge(limits, %{table: table, expiries: :gb_sets.new()})}
  end

  @impl true
  def handle_call({:put, key, expires_at, result}, _from, state),
    do: {:reply, :ok, state |> forget(key) |> put(key, expires_at, result) |> make_room()}

  defp put(state, key, expires_at, result) do
    :ets.insert(state.table, {key, expires_at, result})
    %{state | expiries: :gb_sets.add({expires_at, key}, state.expiries)}
  end

  defp forget(state, key) do
    case :ets.lookup(state.table, key) do
      [{^key, expires_at, _result}] -> delete(state, {expires_at, key})
      [] -> state
    end
  end

  defp make_room(state) do
    {expires_at, _key} = first = :gb_sets.smallest(state.expiries)

    if :gb_sets.size(state.expiries) > state.max_entries or expires_at <= now(),
      do: state |> delete(first) |> room_or_empty(),
      else: state
  end

  defp room_or_empty(state), do: if(:gb_sets.is_empty(state.expiries), do: state, else: make_room(state))

  defp delete(state, {_expires_at, key} = entry) do
    :ets.delete(state.table, key)
    %{state | expiries: :gb_sets.del_element(entry, state.expiries)}
  end
end
