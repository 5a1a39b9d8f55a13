defmodule McpServer.DualResponse.Rest.Dispatcher do
  @moduledoc false
  # Accepts requests for stored results, and starts a process for each, up to `max_requests`. It ends processes that
  # take too long or whose client has gone, and answers for processes that failed. Each process takes a place of its
  # client's share, once it has identified the client.

  use GenServer
  use McpServer.Outline

  alias McpServer.DualResponse.Rest
  alias McpServer.DualResponse.Rest.{Endpoint, Options, Pages, Rows, Stream}
  alias McpServer.Http.{Exchange, Overload}
  alias McpServer.{Callers, Limit, Quota, Successor}
  alias McpServer.Native.Dirty
  alias McpServer.Quota.Client

  # A resource and its sample fit into this heap, so a lookup needs no garbage collection.
  @heap_words 4_181

  # Deadlines are checked at this interval.
  @tick_ms 50

  @typedoc """
  A request that is being answered.

    * `:since` – the start of its query; `nil` while it waits for its client
    * `:phase` – `:streaming` after the head of a stream was sent; `:late` with the earlier phase after its timeout
  """
  @type entry :: %{
          exchange: Exchange.t(),
          action: Endpoint.action(),
          form: Endpoint.form(),
          since: integer() | nil,
          phase: :answering | :streaming | {:late, :answering | :streaming | :begun}
        }

  # Supervises dispatchers of plugs, which have no place in a supervision tree.
  @supervisor McpServer.Http.RouteSupervisor
  @registry McpServer.Http.Registry

  @doc "Starts a dispatcher. `:ignore` if the plug's endpoint has one already."
  @spec start_link(Rest.t()) :: GenServer.on_start()
  def start_link(%{supervised?: true} = rest), do: Successor.start(fn -> start_named(rest) end)
  def start_link(rest), do: with({:error, {:already_started, _pid}} <- start_named(rest), do: :ignore)

  defp start_named(rest), do: GenServer.start_link(__MODULE__, rest, name: via(rest))

  defp via(%{id: id}), do: {:via, Registry, {@registry, id}}

  @doc "The dispatcher of an endpoint. Starts an unsupervised one. `nil` while it is being restarted."
  @spec find(Rest.t()) :: pid() | nil
  def find(%{supervised?: supervised?} = rest) do
    GenServer.whereis(via(rest)) || if(supervised?, do: nil, else: start(rest))
  rescue
    # The registry is being restarted.
    ArgumentError -> nil
  end

  defp start(rest) do
    _started = DynamicSupervisor.start_child(@supervisor, {__MODULE__, rest})
    GenServer.whereis(via(rest))
  catch
    :exit, _not_there -> nil
  end

  @typedoc "The origin of a request: the argument of its hooks, the address of its peer, and the `$callers` of its process."
  @type origin :: {caller :: term(), peer :: :inet.ip_address() | nil, callers :: [pid()]}

  @doc "Lets the dispatcher answer a checked request. The calling process writes the response to the exchange."
  @spec answer(pid(), Exchange.t(), Endpoint.wanted(), Endpoint.selection() | nil, origin()) :: :ok
  def answer(dispatcher, exchange, wanted, selection, origin) do
    send(dispatcher, {:mcp_rest_request, exchange, wanted, selection, origin})
    :ok
  end

  @doc "Reports that a stream has begun, has sent a page and reads the next one, or waits for its client."
  @spec report(pid(), :streaming | :reading | :waiting) :: :ok
  def report(dispatcher, what) do
    send(dispatcher, {:mcp_rest_report, self(), what})
    :ok
  end

  @impl true
  def init(rest) do
    # The request processes are linked, so that they end with this process. Their exits report how they ended.
    Process.flag(:trap_exit, true)
    Options.warn_open(rest)
    pages = Pages.new(rest.max_page_bytes, rest.max_share)
    rest = %{rest | pages: pages, overload: Overload.new(), quota: Quota.new(:endpoint, rest)}
    {:ok, %{rest: rest, entries: %{}, pids: %{}, ticking?: false}}
  end

  @impl true
  def handle_info({:mcp_rest_request, exchange, wanted, selection, origin}, state) do
    {:noreply, take(state, Exchange.own(exchange), wanted, selection, origin)}
  end

  def handle_info({:mcp_rest_report, pid, what}, state), do: {:noreply, note(state, pid, what)}
  def handle_info({:mcp_exchange, ref, :closed}, state), do: {:noreply, left(state, ref)}

  def handle_info({{:mcp_exchange_down, ref}, _monitor, :process, _pid, _reason}, state),
    do: {:noreply, left(state, ref)}

  def handle_info({:EXIT, pid, reason}, %{entries: entries} = state) when is_map_key(entries, pid),
    do: {:noreply, ended(state, pid, reason)}

  # The registry ended. The next dispatcher registers again.
  def handle_info({:EXIT, _registry, reason}, state), do: {:stop, reason, state}
  def handle_info(:tick, state), do: {:noreply, tick(%{state | ticking?: false})}
  def handle_info(_message, state), do: {:noreply, state}

  defp take(%{rest: rest, entries: entries} = state, exchange, _wanted, _selection, _origin)
       when map_size(entries) >= rest.max_requests do
    reply(exchange, Rest.full(rest))
    state
  end

  defp take(%{rest: rest} = state, exchange, {action, _id, form, _capability} = wanted, selection, origin) do
    dispatcher = self()
    heap = Limit.heap(rest.max_heap_bytes, true)
    # The monitor belongs to this process.
    own = %{exchange | monitor: nil}
    serve = fn -> serve(dispatcher, rest, own, wanted, selection, origin) end
    pid = :erlang.spawn_opt(serve, [:link, max_heap_size: heap, min_heap_size: @heap_words])
    entry = %{exchange: exchange, action: action, form: form, since: now(), phase: :answering}

    ticking(%{
      state
      | entries: Map.put(state.entries, pid, entry),
        pids: Map.put(state.pids, exchange.ref, pid)
    })
  end

  defp serve(dispatcher, rest, exchange, wanted, selection, {caller, peer, callers}) do
    Callers.set(callers)
    address = Client.of_peer(peer)

    answer =
      case take_share(rest, :identifications, address) do
        :ok -> Rest.answer(rest, wanted, selection, caller, &identified(rest, &1, &2, {peer, address}))
        :full -> Rest.full(rest)
      end

    case answer do
      {:stream, status, headers, rows} ->
        Stream.run(dispatcher, rest, exchange, {status, headers}, rows)

      {_status, _headers, body} ->
        # A long page stays in memory while its client does not read.
        if Quota.long?(byte_size(body)), do: deliver(dispatcher, exchange, answer), else: reply(exchange, answer)
    end
  end

  # The client has the place until it has read the page.
  defp deliver(dispatcher, exchange, {status, headers, body}) do
    exchange = Exchange.own(exchange)
    report(dispatcher, :waiting)
    Exchange.deliver(exchange, status, headers, body)
  end

  # Whoever is identified has the share of a client in place of that of an address.
  defp identified(rest, identity, sorts?, {peer, address}) do
    if address, do: Quota.give(Quota.own(rest.quota), :identifications, address, 1)
    client = Client.new(principal(identity), peer)
    Dirty.work_for(client)
    with :ok <- take_share(rest, :requests, client), do: if(sorts?, do: sort(rest, client), else: {:ok, fn -> :ok end})
  end

  defp sort(rest, client) do
    quota = Quota.own(rest.quota)
    with :ok <- Quota.take(quota, :sorts, client, 1), do: {:ok, once(fn -> Quota.give(quota, :sorts, client, 1) end)}
  end

  defp once(fun) do
    called = :atomics.new(1, [])
    fn -> if :atomics.exchange(called, 1, 1) == 0, do: fun.(), else: :ok end
  end

  # Given back at the end of this process.
  defp take_share(_rest, _kind, nil), do: :ok
  defp take_share(rest, kind, client), do: Quota.take(Quota.own(rest.quota), kind, client, 1)

  # A signed URL identifies nobody.
  defp principal(:any), do: nil
  defp principal(identity), do: if(Enum.any?(identity, fn {_name, value} -> value != nil end), do: identity)

  defp reply(exchange, {status, headers, body}), do: Exchange.reply(exchange, status, headers, body)

  defp note(state, pid, what) do
    case state.entries do
      %{^pid => entry} -> %{state | entries: %{state.entries | pid => noted(entry, what)}}
      _ended -> state
    end
  end

  # The report arrived after the timeout. It is unknown whether the head was sent.
  defp noted(%{phase: {:late, _phase}} = entry, :streaming), do: %{entry | phase: {:late, :begun}}
  defp noted(%{phase: {:late, _phase}} = entry, _what), do: entry
  defp noted(entry, :streaming), do: %{entry | phase: :streaming, since: now()}
  defp noted(entry, :reading), do: %{entry | since: now()}
  defp noted(entry, :waiting), do: %{entry | since: nil}

  # A fetch without a client is ended. A change of a resource runs to its end.
  defp left(state, ref) do
    with %{^ref => pid} <- state.pids, %{^pid => %{action: :fetch}} <- state.entries, do: Process.exit(pid, :kill)
    state
  end

  defp ended(state, pid, reason) do
    {entry, entries} = Map.pop!(state.entries, pid)
    conclude(entry, reason)
    release(entry.exchange)
    %{state | entries: entries, pids: Map.delete(state.pids, entry.exchange.ref)}
  end

  defp conclude(_entry, :normal), do: :ok
  defp conclude(%{phase: :answering} = entry, _reason), do: reply(entry.exchange, Endpoint.refuse(:internal_error))
  # The request process owned the exchange, so the exchange was cut with it.
  defp conclude(%{phase: :streaming}, _reason), do: :ok

  defp conclude(%{phase: {:late, :begun}, exchange: exchange}, _reason), do: Exchange.abort(exchange)

  defp conclude(%{phase: {:late, :answering}} = entry, _reason),
    do: reply(entry.exchange, Endpoint.refuse(:timeout))

  defp conclude(%{phase: {:late, :streaming}, exchange: exchange}, _reason) do
    Exchange.chunk(exchange, Rows.error_line("TIMEOUT"))
    Exchange.finish(exchange)
  end

  # The process of a plug may serve other requests, so its monitor is removed.
  defp release(%Exchange{monitor: nil}), do: :ok
  defp release(%Exchange{monitor: monitor}), do: Process.demonitor(monitor, [:flush])

  defp ticking(%{ticking?: true} = state), do: state

  defp ticking(state) do
    Process.send_after(self(), :tick, @tick_ms)
    %{state | ticking?: true}
  end

  defp tick(%{entries: entries} = state) when map_size(entries) == 0, do: state

  defp tick(%{rest: rest} = state) do
    deadline = now() - rest.timeout
    entries = for {pid, entry} <- state.entries, into: %{}, do: {pid, in_time(pid, entry, deadline)}
    ticking(%{state | entries: entries})
  end

  defp in_time(pid, %{since: since} = entry, deadline) when is_integer(since) and since <= deadline,
    do: late(pid, %{entry | since: nil})

  defp in_time(_pid, entry, _deadline), do: entry

  # CSV has no place for an error line. The exchange is cut with its process.
  defp late(pid, %{phase: :streaming, form: :csv} = entry) do
    Process.exit(pid, :kill)
    entry
  end

  # This process sends the last line, so the exchange must not end with the request process.
  defp late(pid, %{phase: phase} = entry) do
    exchange = Exchange.own(entry.exchange)
    release(entry.exchange)
    Process.exit(pid, :kill)
    %{entry | exchange: exchange, phase: {:late, phase}}
  end

  defp now, do: System.monotonic_time(:millisecond)
end
