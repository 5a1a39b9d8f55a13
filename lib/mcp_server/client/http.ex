defmodule McpServer.Client.Http do
  @moduledoc false
  # A link to a server at a URL. Each request runs in a separate process, so that an open stream blocks nothing. A
  # message without an answer is sent before any later message.
  #
  # The link knows the session. When the server has lost it, a process opens it again, and the requests that have failed
  # wait among the others. The link also knows which arguments of a tool are repeated in headers. If the tools were not
  # listed yet, it lists them.
  #
  # The processes of requests hand the messages of the server over, and wait for the owner. The link itself never does:
  # it has to hear what the owner sends meanwhile.

  use GenServer

  alias McpServer.Client.{Error, Lenient, Link}
  alias McpServer.Client.Http.{Batch, Exchange, Headers}
  alias McpServer.{Fetch, JsonRpc, Limit, Protocol}

  @enforce_keys [:url, :owner, :reference]
  defstruct [
    :url,
    :owner,
    :reference,
    :initialize,
    :listener,
    :reopening,
    :parameters,
    headers: [],
    tls: [],
    listen: false,
    paced?: true,
    retry_ms: 0,
    drain_ms: 0,
    closing?: false,
    session: %{id: nil, revision: nil},
    requests: %{}
  ]

  @max_pages 1_000
  @reopen_ms 10_000
  # What the link remembers of a server's tools.
  @max_parameters_bytes 64 * 1024 * 1024
  # The answer to a message that asks nothing is an error in a sentence, or for a batch some of them.
  @max_refusal_bytes 64 * 1024

  @doc """
  Starts the link. Options: `:url`, `:owner`, `:reference`, `:headers`, `:tls`, `:listen` (also to the session's own
  stream in the session era), `:paced?` (whether messages wait until the owner has taken the one before, `true` by
  default), `:retry_ms` (how long to retry a server that refuses connections), `:drain_ms` (how long sent requests may
  take after the end).
  """
  @spec start_link(keyword()) :: GenServer.on_start()
  def start_link(options), do: GenServer.start_link(__MODULE__, options)

  @impl true
  def init(options) do
    Process.flag(:trap_exit, true)
    {:ok, struct!(__MODULE__, options)}
  end

  @impl true
  def handle_info({:mcp_client_in, reference, {:lines, lines}}, %{reference: reference} = state),
    do: {:noreply, Enum.reduce(lines, state, &take/2)}

  def handle_info({:mcp_client_in, reference, :eof}, %{reference: reference} = state) do
    Process.send_after(self(), :drained, state.drain_ms)
    settle(%{state | closing?: true})
  end

  def handle_info(:drained, state), do: {:stop, :normal, state}

  def handle_info({:EXIT, pid, reason}, %{requests: requests} = state) when is_map_key(requests, pid) do
    {request, requests} = Map.pop!(requests, pid)
    settle(ended(reason, request, %{state | requests: requests}))
  end

  def handle_info({:EXIT, pid, reason}, %{reopening: pid} = state),
    do: settle(reopened(reason, %{state | reopening: nil}))

  def handle_info({:EXIT, owner, _reason}, %{owner: owner} = state), do: {:stop, :normal, state}
  def handle_info({:EXIT, _listener, _reason}, state), do: {:noreply, state}

  # Subscriptions are not awaited at the end.
  defp settle(state) do
    waits? = not Enum.all?(state.requests, &match?({_pid, %{message: %{"method" => "subscriptions/listen"}}}, &1))
    if state.closing? and not waits?, do: {:stop, :normal, state}, else: {:noreply, state}
  end

  @impl true
  def handle_call({:opened, message, session}, _from, state),
    do: {:reply, :ok, %{state | initialize: message, session: session}}

  # A server that has other tools each time makes the link forget those of before.
  def handle_call({:parameters, parameters}, _from, state) do
    all = Map.merge(state.parameters || %{}, parameters)
    kept = if Limit.held_bytes(all) <= @max_parameters_bytes, do: all, else: parameters
    {:reply, :ok, %{state | parameters: kept}}
  end

  def handle_call(:forget_parameters, _from, state), do: {:reply, :ok, %{state | parameters: nil}}

  defp take(line, state) do
    case Lenient.decode(line) do
      {:ok, message} when is_map(message) -> message(message, state)
      {:ok, [_ | _] = batch} -> batch(batch, state)
      {:ok, _no_message} -> refuse(state, :invalid_request, nil, "not a JSON-RPC message")
      {:error, error} -> refuse(state, :parse_error, Protocol.refused_id(line), Exception.message(error))
    end
  end

  # The link answers invalid messages itself and does not send them.
  defp refuse(state, name, id, text) do
    error = %{"code" => JsonRpc.Error.code(name), "message" => text}
    Link.deliver(state.owner, state.reference, %{"jsonrpc" => "2.0", "id" => id, "error" => error})
    state
  end

  defp message(%{"method" => "notifications/cancelled", "params" => %{"requestId" => id}} = message, state) do
    case request(state, id) do
      nil ->
        state

      {pid, %{message: waits}} ->
        if Headers.revision(waits) && is_pid(pid), do: cut(state, pid), else: state |> cancel(id) |> told(message)
    end
  end

  defp message(%{"method" => _method, "id" => _id} = message, state), do: start(state, message)
  defp message(message, state), do: told(state, message)

  defp batch(batch, state) do
    cancelled = for %{"method" => "notifications/cancelled", "params" => %{"requestId" => id}} <- batch, do: id
    state = Enum.reduce(cancelled, state, &cancel(&2, &1))
    if Batch.ids(batch) == [], do: told(state, batch), else: state |> start(batch) |> listen_after(batch)
  end

  defp request(state, id), do: Enum.find(state.requests, fn {_pid, request} -> id in Batch.ids(request.message) end)

  # In the stateless era closing the stream cancels its request. In the session era the server ends the stream.
  defp cut(state, pid) do
    Process.exit(pid, :kill)
    %{state | requests: Map.delete(state.requests, pid)}
  end

  defp cancel(state, id) do
    case request(state, id) do
      nil -> state
      {pid, request} -> put_in(state.requests[pid], %{request | cancelled: [id | request.cancelled]})
    end
  end

  # The server has nothing to tell here but errors: a stream would keep the link from its owner.
  defp told(state, message) do
    {outcome, answers} = held(context(state), message)

    for answer <- answers,
        not match?(%{"method" => _method}, answer),
        Limit.held_bytes(answer) <= @max_refusal_bytes,
        do: Link.deliver(state.owner, state.reference, answer)

    if outcome == {:error, :session_lost}, do: state, else: listen_after(state, message)
  end

  defp listen_after(state, sent) do
    opened? = Enum.any?(List.wrap(sent), &match?(%{"method" => "notifications/initialized"}, &1))
    if opened?, do: start_listener(state), else: state
  end

  defp start_listener(%{listen: true, session: %{id: id}} = state) when id != nil do
    if state.listener, do: Process.exit(state.listener, :kill)
    context = context(state)
    %{state | listener: spawn_link(fn -> Exchange.listen(context) end)}
  end

  defp start_listener(state), do: state

  defp start(state, message), do: start(state, message, state.session.id)

  # `session` is that of the first attempt, or `:repeated`.
  defp start(state, message, session) do
    link = self()
    context = context(state)
    parameters = state.parameters
    pid = spawn_link(fn -> exit({:shutdown, run(link, context, message, parameters)}) end)
    %{state | requests: Map.put(state.requests, pid, %{message: message, session: session, cancelled: []})}
  end

  defp context(state) do
    %{
      url: state.url,
      headers: state.headers,
      tls: state.tls,
      session: state.session,
      retry_ms: state.retry_ms,
      timeout: Exchange.timeout(),
      send: sender(state)
    }
  end

  defp sender(%{paced?: true} = state), do: &Link.hand_over(state.owner, state.reference, &1)
  defp sender(%{paced?: false} = state), do: &Link.deliver(state.owner, state.reference, &1)

  # The link must know a new session before its owner does, because the owner may send messages at once.
  defp run(link, context, %{"method" => "initialize"} = message, _parameters) do
    {opened, answers} = open(context, message)

    with {:ok, %{revision: revision} = session} when revision != nil <- opened,
         do: :ok = GenServer.call(link, {:opened, message, session}, :infinity)

    for answer <- answers, do: context.send.(answer)
    opened
  end

  defp run(_link, context, batch, _parameters) when is_list(batch), do: Batch.post(context, batch)

  defp run(link, context, message, parameters) do
    parameters = parameters(link, context, message, parameters)
    Exchange.post(%{context | send: &learn(&1, link, context, message)}, message, parameters)
  end

  # What an answer opens, and the answers that nobody has seen yet.
  defp open(context, initialize) do
    case held(context, initialize) do
      {{:ok, headers}, answers} ->
        opened = session(headers, answers)
        {opened, if(match?({:ok, _session}, opened), do: answers, else: [])}

      failed ->
        failed
    end
  end

  # The session that an answer opens. Without a revision the answer is a refusal.
  defp session(headers, answers) do
    id = for({"mcp-session-id", id} <- headers, do: id) |> List.last()
    revision = for(%{"result" => %{"protocolVersion" => revision}} <- answers, do: revision) |> List.last()

    # Every later request repeats both in headers.
    if Enum.all?([id, revision], &(&1 == nil or (is_binary(&1) and Fetch.visible?(&1)))),
      do: {:ok, %{id: id, revision: revision}},
      else: {:error, Error.new(:protocol, "the server's session id or protocolVersion is no visible ASCII text")}
  end

  defp held(context, message), do: Exchange.hold(context, message, [], fn _message -> true end)

  defp learn(received, link, context, message) do
    case {message, received} do
      {%{"method" => "tools/list"}, %{"result" => %{"tools" => tools}}} when is_list(tools) ->
        :ok = GenServer.call(link, {:parameters, by_name(tools)}, :infinity)

      {_message, %{"method" => "notifications/tools/list_changed"}} ->
        :ok = GenServer.call(link, :forget_parameters, :infinity)

      _nothing_of_tools ->
        :ok
    end

    context.send.(received)
  end

  defp by_name(tools), do: for(%{"name" => name} = tool <- tools, into: %{}, do: {name, Headers.parameters(tool)})

  # In the stateless era the tool's schema decides which headers its call needs.
  defp parameters(link, context, %{"method" => "tools/call", "params" => %{"name" => name}} = message, known) do
    case {Headers.revision(message), known} do
      {nil, _known} ->
        []

      {_revision, %{^name => parameters}} ->
        parameters

      {_revision, _unknown} ->
        found = tools(context, message, %{}, %{}, @max_pages)
        :ok = GenServer.call(link, {:parameters, found}, :infinity)
        Map.get(found, name, [])
    end
  end

  defp parameters(_link, _context, _message, _known), do: []

  # What the pages say of their tools. A page itself, which may be long, is dropped before the next is asked for.
  defp tools(_context, _call, _params, found, 0), do: found

  defp tools(context, call, params, found, left) do
    meta = Map.delete(call["params"]["_meta"], "progressToken")

    params = Map.put(params, "_meta", meta)
    list = %{"jsonrpc" => "2.0", "id" => "tools-#{left}", "method" => "tools/list", "params" => params}

    case held(context, list) do
      {{:ok, _headers}, [%{"result" => %{"tools" => tools} = page}]} when is_list(tools) ->
        found = Map.merge(by_name(tools), found)
        more? = page["nextCursor"] != nil and Limit.held_bytes(found) <= @max_parameters_bytes
        if more?, do: tools(context, call, %{"cursor" => page["nextCursor"]}, found, left - 1), else: found

      # The call will report the error.
      _failed ->
        found
    end
  end

  defp ended(reason, request, state) do
    # Cancelled requests need no answer.
    case Batch.wanted(request.message, request.cancelled) do
      [] -> state
      wanted -> ended(reason, wanted, request.session, state)
    end
  end

  defp ended({:shutdown, {:ok, _sent}}, _message, _session, state), do: state

  # Every answer may be 404, so each request is repeated once.
  defp ended({:shutdown, {:error, :session_lost}}, message, :repeated, state), do: failed(state, message, lost(state))

  defp ended({:shutdown, {:error, :session_lost}}, message, session, state),
    do: if(session == state.session.id, do: reopen(state, message), else: repeat(state, message))

  defp ended({:shutdown, {:error, error}}, message, _session, state), do: failed(state, message, error)
  defp ended({:shutdown, {:error, error, came}}, batch, _session, state), do: failed(state, batch, error, came)

  defp ended(_crash, message, _session, state),
    do: failed(state, message, Error.new(:closed, "the request was ended"))

  defp failed(state, message, error, came \\ [])

  defp failed(state, batch, error, came) when is_list(batch) do
    Link.deliver(state.owner, state.reference, Batch.complete(batch, came, error))
    state
  end

  defp failed(state, %{"id" => id}, error, _none) do
    Link.failed(state.owner, state.reference, id, error)
    state
  end

  # The server lost the session, for example in a restart. The request waits until there is another one.
  defp reopen(%{initialize: nil} = state, message), do: failed(state, message, lost(state))

  defp reopen(state, message) do
    waiting = %{message: message, session: state.session.id, cancelled: []}
    start_reopening(put_in(state.requests[{:waiting, System.unique_integer([:monotonic])}], waiting))
  end

  defp start_reopening(%{reopening: nil} = state) do
    context = %{context(%{state | session: %{id: nil, revision: nil}}) | timeout: @reopen_ms}
    initialize = Map.put(state.initialize, "id", "reopen-#{System.unique_integer([:positive])}")
    %{state | reopening: spawn_link(fn -> exit({:shutdown, context |> open(initialize) |> elem(0)}) end)}
  end

  defp start_reopening(state), do: state

  defp reopened(reason, state) do
    {waiting, requests} = Enum.split_with(state.requests, &match?({{:waiting, _order}, _request}, &1))
    state = %{state | requests: Map.new(requests)}
    messages = for {_key, request} <- Enum.sort(waiting), do: Batch.wanted(request.message, request.cancelled)
    repeat_all(reason, state, Enum.reject(messages, &(&1 == [])))
  end

  defp repeat_all({:shutdown, {:ok, %{revision: revision} = session}}, state, messages) when revision != nil do
    initialized = %{"jsonrpc" => "2.0", "method" => "notifications/initialized"}
    state = told(%{state | session: session, parameters: nil}, initialized)
    Enum.reduce(messages, state, &repeat(&2, &1))
  end

  defp repeat_all({:shutdown, {:error, %Error{} = error}}, state, messages), do: fail_all(state, messages, error)

  defp repeat_all(_refused, state, messages) do
    error = Error.new(:protocol, "the server opens no new session in the place of one it has lost")
    fail_all(state, messages, error)
  end

  defp fail_all(state, messages, error), do: Enum.reduce(messages, state, &failed(&2, &1, error))

  defp repeat(state, message), do: start(state, message, :repeated)

  defp lost(state), do: Error.new(:no_answer, "#{state.url} answers with status 404", 404)

  @impl true
  def terminate(_reason, state) do
    pids = [state.listener, state.reopening | Map.keys(state.requests)]
    for pid <- pids, is_pid(pid), do: Process.exit(pid, :kill)
    if state.session.id, do: Exchange.delete(context(state))
    Link.closed(state.owner, state.reference, :closed)
  end
end
