defmodule McpServer.Http.Pipeline do
  @moduledoc false
  # Serves a request that was not answered while it was read: identifies its principal, finds its session, reads and
  # admits its body, and answers it here or in its session. A refused request leaves no state.
  #
  # The pipeline runs in the process that holds the request. The response goes to `sink`.

  require Logger

  alias McpServer.{Auth, Catalog, Conn, Request}
  alias McpServer.Connection.{Calls, InFlight}
  alias McpServer.Http.{Exchange, Hook, Mount, SessionCall, Sessions, Sink, StatelessCall, Usage}
  alias McpServer.Http.Cluster.{FarSink, Proxy}
  alias McpServer.Native.Dirty
  alias McpServer.Protocol.HTTP

  @typedoc "A request's head. `:plug` is the `Plug.Conn` of the request."
  @type head :: %{
          required(:method) => String.t(),
          required(:target) => String.t(),
          required(:headers) => [{String.t(), String.t()}],
          optional(:authority) => String.t() | nil,
          optional(:peer) => {:inet.ip_address(), :inet.port_number()} | nil,
          optional(:plug) => map()
        }

  @doc "Serves a request whose head was not checked yet."
  @spec serve(Mount.t(), Sink.t()) :: Sink.t()
  def serve(mount, sink) do
    case HTTP.check_head(mount.policy, Sink.head(sink)) do
      {:ok, accepted, context} -> accepted(mount, sink, accepted, context)
      {:answer, status, headers, body} -> Sink.reply(sink, status, headers, body)
      {:unfit, answer, cors_headers} -> unfit(mount, sink, answer, cors_headers)
    end
  end

  @doc """
  Refuses a request whose head is for this endpoint, but wrong. The client is identified first: without credentials it
  learns where to get them, whatever else is wrong (RFC 6750 section 3). Clients probe with a GET.
  """
  @spec unfit(Mount.t(), Sink.t(), HTTP.answer(), HTTP.headers()) :: Sink.t()
  def unfit(mount, sink, {status, _headers, _body} = refusal, cors_headers) do
    case Hook.identify(mount, %{sink | cors_headers: cors_headers}) do
      {:ok, _identity, sink} ->
        HTTP.count_refusal(status)
        reply(sink, refusal)

      {:answer, answer, sink} ->
        reply(sink, answer)

      {:closed, sink} ->
        sink
    end
  end

  @doc "Serves a request whose head was accepted."
  @spec accepted(Mount.t(), Sink.t(), HTTP.accepted_head(), HTTP.context()) :: Sink.t()
  def accepted(mount, sink, accepted, context) do
    case Hook.identify(mount, %{sink | cors_headers: context.cors_headers}) do
      {:ok, identity, sink} ->
        identified(mount, sink, identity, accepted, context)

      {:answer, answer, sink} ->
        reply(sink, answer)

      {:closed, sink} ->
        sink
    end
  end

  @doc "Serves a request whose head was accepted and whose principal is known."
  @spec identified(Mount.t(), Sink.t(), Hook.identity(), HTTP.accepted_head(), HTTP.context()) :: Sink.t()
  def identified(mount, sink, identity, accepted, context) do
    Dirty.work_for(identity.principal, Sink.peer(sink))
    request = Map.merge(identity, %{mount: mount, accepted: accepted, context: context})
    find(request, %{sink | cors_headers: context.cors_headers})
  end

  @doc "Serves a request whose principal is known. The head alone decides which session it belongs to."
  @spec find(map(), Sink.t()) :: Sink.t()
  def find(%{context: %{session_id: nil}} = request, sink), do: with_body(request, sink, &admit(request, nil, &1, &2))

  def find(%{context: %{session_id: id, verb: verb}} = request, sink) do
    case Sessions.find(id, request.mount, request.principal, Sink.peer(sink)) do
      {:ok, pid, context} -> in_session(request, verb, {pid, context}, sink)
      {:remote, node} -> forward(node, id, request, sink)
      :unknown -> reply(sink, HTTP.answer(:session_not_found))
      :unreachable -> reply(sink, HTTP.answer(:overloaded, 1))
      {:error, :too_many} -> reply(sink, HTTP.answer(:too_many_sessions, 60))
    end
  end

  # Long answers are written here, so what their client leaves unread counts here.
  defp forward(node, id, request, sink) do
    if Sink.behind?(sink, Sink.client(sink, request.principal)),
      do: overloaded(request.mount, sink),
      else: Proxy.forward(node, id, request, sink)
  end

  # The events that a client has missed may be long.
  defp in_session(%{mount: mount, context: context} = request, :get, {pid, _facts}, sink) do
    listen = &{:mcp_http_listen, &1, context.last_event_id}

    if Sink.behind?(sink, Sink.client(sink, request.principal)),
      do: overloaded(mount, sink),
      else: hand(sink, request, pid, listen, ends_at(mount, request.auth))
  end

  defp in_session(request, :delete, {pid, _facts}, sink),
    do: hand(sink, request, pid, &{:mcp_http_end, &1})

  defp in_session(request, :post, session, sink), do: with_body(request, sink, &admit(request, session, &1, &2))

  @doc "Reads the body and continues with it. An unreadable body is refused."
  @spec with_body(map(), Sink.t(), (binary(), Sink.t() -> Sink.t())) :: Sink.t()
  # The body was already read for an earlier attempt.
  def with_body(%{body: body}, sink, fun), do: fun.(body, sink)

  def with_body(%{mount: mount}, sink, fun) do
    case Sink.read_body(sink, mount.bounds.max_message_bytes) do
      {:ok, body, sink} -> fun.(body, sink)
      {:error, :closed, sink} -> sink
      {:error, reason, sink} -> reply(sink, body_answer(reason, mount))
    end
  end

  defp body_answer(:too_large, mount), do: HTTP.answer(:payload_too_large, mount.bounds.max_message_bytes)
  defp body_answer(:timeout, _mount), do: HTTP.answer(:request_timeout)
  defp body_answer(:malformed, _mount), do: HTTP.answer(:malformed)
  defp body_answer(:full, mount), do: HTTP.answer(:overloaded, Usage.retry_after(mount.usage))
  defp body_answer(:consumed, _mount), do: HTTP.answer(:internal_error)

  defp admit(request, session, body, sink) do
    mount = request.mount
    catalog = mount.catalog || Catalog.fetch(mount.router)
    revision = with {_pid, context} <- session, do: context.revision
    outcome = HTTP.admit(catalog, request.accepted, revision, body, mount.limits, anonymous(request))

    if token_required?(outcome),
      do: Hook.unidentified(mount, sink),
      else: deliver(outcome, request, session, catalog, sink)
  end

  # A client that `auth:` accepted without a token.
  defp anonymous(%{mount: %{auth: %{anonymous: open}}, auth: nil}) when open != false, do: open
  defp anonymous(_identified), do: nil

  defp token_required?({:batch, outcomes}), do: :token_required in outcomes
  defp token_required?(outcome), do: outcome == :token_required

  @doc "Answers an admitted message, or passes it to its session."
  @spec deliver(HTTP.outcome(), map(), {pid(), Sessions.context()} | nil, Catalog.t(), Sink.t()) :: Sink.t()
  def deliver({:reply, status, reply}, %{mount: mount, principal: principal}, session, _catalog, sink) do
    {status, reply} = claimed(session, status, reply)
    Sink.counted(sink, principal, reply, &Sink.reply(&1, status, Mount.json(), reply), &overloaded(mount, &1))
  end

  def deliver(:ignore, _request, _session, _catalog, sink), do: Sink.reply(sink, 202, [], [])

  def deliver({:open, _reply, _opening} = opened, request, nil, _catalog, sink),
    do: open(request.mount, opened, request.principal, sink)

  def deliver({:request, admitted}, request, nil, catalog, sink) do
    Hook.with_base(request, sink, fn base, sink ->
      StatelessCall.serve(request.mount, admitted, origin(request, catalog, base), sink)
    end)
  end

  # A notification without a session has no receiver.
  def deliver(_notification, _request, nil, _catalog, sink), do: Sink.reply(sink, 202, [], [])

  def deliver(outcome, request, session, catalog, sink) do
    Hook.with_base(request, sink, fn base, sink ->
      run_in_session(outcome, request, session, origin(request, catalog, base), sink)
    end)
  end

  @doc "Refuses a request for now."
  @spec overloaded(Mount.t(), Sink.t()) :: Sink.t()
  def overloaded(mount, sink), do: reply(sink, HTTP.answer(:overloaded, Usage.retry_after(mount.usage)))

  defp claimed(nil, status, reply), do: {status, reply}

  # An answer of the core also counts as use of the session, and its id must be free there.
  defp claimed({pid, %{in_flight: in_flight, revision: revision}}, status, reply) do
    InFlight.seen(in_flight)

    case InFlight.taken_id(in_flight, pid, reply) do
      :free -> {status, reply}
      {:ok, id} -> {400, Calls.duplicate(%{id: id, revision: revision})}
    end
  end

  # Requests that the session's process answers.
  @of_session [:set_level, :subscribe, :unsubscribe]

  @doc """
  Runs a request that was admitted with `revision`, in the session with that id.

  `:other` means that the request must be checked again: this node has no such session, or the session's process
  answers.
  """
  @spec call(Mount.t(), Request.t(), {id :: String.t(), revision :: String.t()}, StatelessCall.origin(), Sink.t()) ::
          Sink.t() | :other
  def call(_mount, %{kind: kind}, _session, _origin, _sink) when kind in @of_session, do: :other

  def call(mount, request, {id, revision}, origin, sink) do
    case Sessions.find_alive(id, Mount.place(mount), origin.principal) do
      {:ok, pid, %{revision: ^revision} = context} ->
        SessionCall.serve(mount, request, origin, {id, pid, context}, sink)

      _another ->
        :other
    end
  end

  # Most calls send only their result. Their holder runs them, if it is a process of this node.
  defp run_in_session({:request, %{kind: kind} = admitted} = outcome, request, {pid, context}, origin, sink)
       when kind not in @of_session and not is_struct(sink, FarSink) do
    session = {request.context.session_id, pid, context}

    with :other <- SessionCall.serve(request.mount, admitted, origin, session, sink),
         do: to_session(outcome, request, pid, origin, sink)
  end

  defp run_in_session(outcome, request, {pid, _facts}, origin, sink),
    do: to_session(outcome, request, pid, origin, sink)

  defp to_session(outcome, request, pid, origin, sink) do
    origin = Map.put(origin, :bytes, Sink.argument_bytes(sink))
    hand(sink, Map.put(request, :asked, HTTP.asked(outcome)), pid, &{:mcp_http_request, &1, outcome, origin})
  end

  defp origin(request, catalog, base),
    do: origin(request.mount, catalog, request, base, request.context.events)

  @doc "The origin of a request. `base` is the initial conn of its handler, possibly changed by `init:`."
  @spec origin(Mount.t(), Catalog.t(), Hook.identity(), Conn.t(), events? :: boolean()) :: StatelessCall.origin()
  def origin(mount, catalog, %{principal: principal, auth: auth}, base, events?),
    do: %{catalog: catalog, base: base, events?: events?, principal: principal, listen_until: ends_at(mount, auth)}

  @doc "When a listening stream of the request ends: with its token."
  @spec ends_at(Mount.t(), Auth.t() | nil) :: integer() | :infinity
  def ends_at(mount, auth) do
    with left when is_integer(left) <- Auth.stream_ms(auth, mount.auth), do: Sink.now() + left
  end

  # Passes the request to the session's process, and executes its commands at most until `ends_at`.
  defp hand(sink, request, pid, message, ends_at \\ :infinity)

  defp hand(%FarSink{exchange: exchange} = sink, _request, pid, message, _ends_at) do
    send(pid, message.(exchange))
    sink
  end

  defp hand(sink, %{principal: principal, context: %{session_id: id}} = request, pid, message, ends_at) do
    exchange = Exchange.new()
    send(pid, message.(exchange))
    terms = id |> Exchange.session_gone(Sink.client(sink, principal), request[:asked]) |> Map.put(:mailbox, true)
    Exchange.run(exchange, sink, pid, terms, ends_at)
  end

  @doc "Opens the session of an `initialize` request, and answers the request."
  @spec open(Mount.t(), {:open, iodata(), McpServer.Protocol.opening()}, principal :: term(), Sink.t()) :: Sink.t()
  def open(mount, {:open, reply, opening}, principal, sink) do
    warn_of_missing_owner(mount, assigns(sink))

    case Sessions.open(mount, opening, principal, Sink.peer(sink)) do
      {:ok, id} -> Sink.reply(sink, 200, [{"mcp-session-id", id} | Mount.json()], reply)
      {:error, :too_many} -> refuse_opening(sink, opening, HTTP.answer(:too_many_sessions, 60))
      :unreachable -> refuse_opening(sink, opening, HTTP.answer(:overloaded, Usage.retry_after(mount.usage)))
    end
  end

  defp refuse_opening(sink, %{id: id}, answer), do: reply(sink, HTTP.answer_to(id, answer))

  # Plugs before this one know the user, but the session belongs to whoever has its id.
  defp warn_of_missing_owner(%{identify: nil, id: id, router: router}, assigns) do
    with name when name != nil <- Enum.find([:current_scope, :current_user], &(assigns[&1] != nil)),
         key = {__MODULE__, :warned, id},
         false <- :persistent_term.get(key, false) do
      :persistent_term.put(key, true)

      Logger.warning(
        "MCP: #{inspect(router)} is served without identify:, though the request has conn.assigns.#{name}. Its " <>
          "sessions belong to nobody: who knows the id of a session can use it. Give McpServer.HttpPlug an identify: " <>
          "that returns {:ok, id} for this user. Logged once."
      )
    end
  end

  defp warn_of_missing_owner(_mount, _assigns), do: :ok

  defp reply(sink, {status, headers, body}), do: Sink.reply(sink, status, headers, body)

  @doc "The assigns that earlier plugs have set."
  @spec assigns(Sink.t()) :: map()
  def assigns(%{conn: %{assigns: assigns}}), do: assigns
  def assigns(_socket), do: %{}

  @doc "The initial conn of a handler, from the mount, the peer and the identity."
  @spec conn(Mount.t(), Sink.t(), Hook.identity()) :: Conn.t()
  def conn(mount, sink, identity) do
    base = Mount.base(mount, Sink.peer(sink), identity)
    %Conn{base | assigns: Map.merge(base.assigns, assigns(sink))}
  end
end
