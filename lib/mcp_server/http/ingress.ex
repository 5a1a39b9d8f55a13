defmodule McpServer.Http.Ingress do
  @moduledoc false
  # The way of a request that needs the user's code or a session before it can be answered: judged by its
  # head, its principal asked for, its session found, its body read and admitted, and handed to whoever
  # answers it. Nothing is kept of one that is refused on the way.

  require Logger

  alias McpServer.{Catalog, Conn, Outline}
  alias McpServer.Dispatch.Failure
  alias McpServer.Http.{Exchange, Listener, Mount, Proxy, Sessions, Workers}
  alias McpServer.HttpRequest
  alias McpServer.Protocol.HTTP

  @typedoc """
  A request's head; `:plug` is the `Plug.Conn` it came as, `:known` what another node has found out already.
  """
  @type head :: %{
          required(:method) => String.t(),
          required(:target) => String.t(),
          required(:headers) => [{String.t(), String.t()}],
          optional(:authority) => String.t() | nil,
          optional(:peer) => {:inet.ip_address(), :inet.port_number()} | nil,
          optional(:plug) => map(),
          optional(:known) => Proxy.known()
        }

  @typedoc "Reads the body, of at most so many bytes."
  @type reader(state) ::
          (pos_integer(), state ->
             {:ok, binary(), state} | {:error, :too_large | :timeout | :closed | :consumed, state})

  # A hook that takes longer than this never lets anybody in.
  @hook_ms 30_000
  @max_heap_words 8 * 1024 * 1024

  @doc "Runs `fun` in a process of its own, to which the exchange belongs: whatever becomes of it concerns no other."
  @spec start(Exchange.t(), (() -> term())) :: :ok
  def start(exchange, fun) do
    heap = %{size: @max_heap_words, kill: true, error_logger: true}
    _pid = :erlang.spawn_opt(fn -> guarded(exchange, fun) end, max_heap_size: heap)
    :ok
  end

  # The exchange notices that its owner is gone and answers; the log says why.
  defp guarded(exchange, fun) do
    with {:ok, _exchange} <- Exchange.own(exchange), do: fun.()
  catch
    kind, reason -> Failure.log(Failure.new(kind, reason, __STACKTRACE__), "HTTP request")
  end

  @doc "Serves a request of the listener; its head has been judged, its body perhaps not read."
  @spec serve_native(Mount.t(), Exchange.t(), {HTTP.screened(), HTTP.facts()}, head(), binary() | :unread) :: term()
  def serve_native(mount, exchange, screened, head, body),
    do: admitted(mount, exchange, screened, head, &read_native(exchange, body, &1, &2), nil)

  # The listener has answered by the time it says that a body cannot be read.
  defp read_native(exchange, :unread, _max, state) do
    case Listener.read_body(exchange) do
      {:ok, body} -> {:ok, body, state}
      {:error, _status} -> {:error, :answered, state}
    end
  end

  defp read_native(_exchange, body, _max, state), do: {:ok, body, state}

  @doc """
  Serves a request in the calling process, up to where somebody else answers it.

  `state` is what `read` works with; it is returned as the last reading left it.
  """
  @spec serve(Mount.t(), Exchange.t(), head(), reader(state), state) :: state when state: term()
  def serve(mount, exchange, head, read, state) do
    case HTTP.screen(mount.policy, head) do
      {:ok, screened, facts} -> admitted(mount, exchange, {screened, facts}, head, read, state)
      {:answer, status, headers, body} -> answer(exchange, {status, headers, body}, state)
    end
  end

  defp admitted(mount, exchange, screened, head, read, state) do
    case principal(mount, head) do
      {:ok, principal} ->
        request = %{mount: mount, exchange: exchange, head: head, principal: principal, screened: screened}
        dispatch(request, read, state)

      {:refused, answer} ->
        answer(exchange, answer, state)
    end
  end

  defp principal(_mount, %{known: %{principal: principal}}), do: {:ok, principal}
  defp principal(%Mount{authorize: nil}, _head), do: {:ok, nil}

  defp principal(mount, head) do
    case hook("authorize:", mount.authorize, head) do
      {:ok, {:ok, principal}} ->
        {:ok, principal}

      {:ok, {:error, {:insufficient_scope, scopes}}} ->
        refused(:forbidden, Mount.challenge(mount, "insufficient_scope", scopes))

      {:ok, {:error, :unauthorized}} ->
        refused(:unauthorized, Mount.challenge(mount, if(token?(head), do: "invalid_token"), []))

      {:ok, other} ->
        broken("authorize: returned #{Outline.of(other)}")

      :failed ->
        refused(:internal_error, nil)
    end
  end

  defp refused(kind, details), do: {:refused, HTTP.answer(kind, details)}

  defp broken(what) do
    Logger.error(
      "MCP #{what}, expected {:ok, principal}, {:error, :unauthorized} or {:error, {:insufficient_scope, scopes}}"
    )

    refused(:internal_error, nil)
  end

  defp token?(head), do: Enum.any?(head.headers, fn {name, _value} -> String.downcase(name) == "authorization" end)

  # What a hook raises with can hold what it was given: no header reaches the log.
  defp hook(name, hook, head) do
    {:ok, timer} = :timer.kill_after(@hook_ms)

    try do
      {:ok, Mount.call_hook(hook, Map.get_lazy(head, :plug, fn -> HttpRequest.new(head) end))}
    catch
      kind, reason ->
        Failure.log(Failure.new(kind, reason, __STACKTRACE__, head), "#{name} of an HTTP request")
        :failed
    after
      # A plug's process serves other requests once this one is over.
      :timer.cancel(timer)
    end
  end

  # Where it belongs, from the head alone.
  defp dispatch(%{screened: {_screened, %{session_id: nil}}} = request, read, state),
    do: with_body(request, read, state, &admit(request, nil, &1, &2))

  defp dispatch(%{screened: {_screened, %{session_id: id} = facts}} = request, read, state) do
    case Sessions.find(id, Mount.place(request.mount), request.principal) do
      {:ok, pid, revision} -> in_session(request, facts.verb, {pid, revision}, read, state)
      {:remote, node} when not is_map_key(request.head, :known) -> elsewhere(request, node, id, read, state)
      :unreachable -> answer(request.exchange, HTTP.answer(:overloaded, 1), state)
      _unknown -> answer(request.exchange, HTTP.answer(:session_not_found), state)
    end
  end

  defp elsewhere(request, node, id, read, state) do
    with_body(request, read, state, fn body, state ->
      with_base(request, state, fn base ->
        known = %{principal: request.principal, place: Mount.place(request.mount), base: base}
        Proxy.forward(node, request.exchange, id, request.head, known, body)
        state
      end)
    end)
  end

  defp in_session(request, :get, {pid, _revision}, _read, state) do
    {_screened, facts} = request.screened
    hand(request, pid, {:mcp_http_listen, request.exchange, facts.last_event_id}, state)
  end

  defp in_session(request, :delete, {pid, _revision}, _read, state),
    do: hand(request, pid, {:mcp_http_end, request.exchange}, state)

  defp in_session(request, :post, session, read, state),
    do: with_body(request, read, state, &admit(request, session, &1, &2))

  defp with_body(request, read, state, fun) do
    case read.(request.mount.max_body_bytes, state) do
      {:ok, body, state} -> fun.(body, state)
      {:error, :answered, state} -> state
      {:error, reason, state} -> answer(request.exchange, body_answer(reason, request.mount), state)
    end
  end

  defp body_answer(:too_large, mount), do: HTTP.answer(:payload_too_large, mount.max_body_bytes)
  defp body_answer(:timeout, _mount), do: HTTP.answer(:request_timeout)
  defp body_answer(:closed, _mount), do: HTTP.answer(:request_timeout)
  defp body_answer(:consumed, _mount), do: HTTP.answer(:internal_error)

  defp admit(request, session, body, state) do
    catalog = Catalog.fetch(request.mount.router)
    {screened, facts} = request.screened
    revision = with {_pid, revision} <- session, do: revision

    case HTTP.admit(catalog, screened, revision, body, request.mount.limits) do
      {:reply, status, reply} ->
        seen(session)
        answer(request.exchange, {status, [{"content-type", "application/json"}], reply}, state)

      :ignore ->
        answer(request.exchange, {202, [], ""}, state)

      {:open, _reply, _opening} = opened ->
        open(request.mount, request.exchange, opened, request.principal, peer(request.head))
        state

      outcome ->
        with_base(request, state, fn base ->
          origin = %{catalog: catalog, base: base, bytes: byte_size(body), events?: facts.events}
          deliver(request, session, outcome, origin, state)
        end)
    end
  end

  # A client that is only answered from here uses its session all the same.
  defp seen(nil), do: :ok
  defp seen({pid, _revision}), do: send(pid, :mcp_http_seen)

  defp deliver(request, {pid, _revision}, outcome, origin, state),
    do: hand(request, pid, {:mcp_http_request, request.exchange, outcome, origin}, state)

  defp deliver(request, nil, {:request, _request} = outcome, origin, state) do
    worker = Workers.pick(request.mount.id)
    hand(request, worker, {:mcp_http_request, request.exchange, outcome, origin}, state)
  end

  # A notification that belongs to no session concerns nobody.
  defp deliver(request, nil, _notification, _origin, state), do: answer(request.exchange, {202, [], ""}, state)

  # Who is gone since it was found cannot say so itself.
  defp hand(request, pid, message, state) do
    case if(pid, do: Exchange.give(request.exchange, pid), else: :gone) do
      :ok ->
        send(pid, message)
        state

      :gone ->
        answer(request.exchange, gone(request.screened), state)

      :closed ->
        state
    end
  end

  defp gone({_screened, %{session_id: nil}}), do: HTTP.answer(:overloaded, 1)
  defp gone(_in_session), do: HTTP.answer(:session_not_found)

  @doc "Opens the session that an `initialize` asks for, and answers it."
  @spec open(Mount.t(), Exchange.t(), {:open, iodata(), McpServer.Protocol.opening()}, principal :: term(), peer) ::
          :ok | :closed
        when peer: :inet.ip_address() | nil
  def open(mount, exchange, {:open, reply, opening}, principal \\ nil, peer \\ nil) do
    case Sessions.open(mount, opening, principal, peer) do
      {:ok, id} ->
        headers = [{"content-type", "application/json"}, {"mcp-session-id", id}]
        Exchange.reply(exchange, 200, headers, reply)

      {:error, :too_many} ->
        {status, headers, body} = HTTP.answer(:too_many_sessions, 60)
        Exchange.reply(exchange, status, headers, body)
    end
  end

  # What the handler's conn starts from: of a plug its assigns, or what `init:` makes of it.
  defp with_base(%{mount: mount, principal: principal, head: head} = request, state, fun) do
    case base(mount, head) do
      {:ok, %Conn{} = base} -> fun.(%Conn{base | principal: principal || base.principal, mount: mount.name})
      :failed -> answer(request.exchange, HTTP.answer(:internal_error), state)
      {:ok, other} -> answer(request.exchange, no_conn(other), state)
    end
  end

  defp base(_mount, %{known: %{base: base}}), do: {:ok, base}
  defp base(%{init: nil} = mount, head), do: {:ok, with_assigns(Mount.base(mount), head)}
  defp base(mount, head), do: hook("init:", mount.init, head)

  defp peer(%{plug: %{remote_ip: address}}), do: address
  defp peer(%{peer: {address, _port}}), do: address
  defp peer(_unknown), do: nil

  defp with_assigns(base, %{plug: %{assigns: assigns}}), do: %Conn{base | assigns: Map.merge(base.assigns, assigns)}
  defp with_assigns(base, _head), do: base

  defp no_conn(other) do
    Logger.error("MCP init: returned #{Outline.of(other)}, expected a %McpServer.Conn{}")
    HTTP.answer(:internal_error)
  end

  defp answer(exchange, {status, headers, body}, state) do
    Exchange.reply(exchange, status, headers, body)
    state
  end
end
