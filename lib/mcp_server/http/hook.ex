defmodule McpServer.Http.Hook do
  @moduledoc false
  # Runs `identify:` and `init:` of a mount: user code that sees a request before its handler does.
  #
  # Hooks are counted like calls. On `McpServer.HttpServer` each hook runs in a separate process with a heap limit and a
  # deadline, and ends when its client disconnects. Under a plug it runs in the request's process, as plugs do.

  require Logger

  alias McpServer.{Auth, Callers, Conn, HttpRequest, Limit, Outline, Quota}
  alias McpServer.Auth.{Refusal, Verification}
  alias McpServer.Call.Trace
  alias McpServer.Dispatch.Failure
  alias McpServer.Http.{Mount, Pipeline, Sink, Usage}
  alias McpServer.Http.Cluster.FarSink
  alias McpServer.Protocol.HTTP

  # A hook that takes longer than this is killed, and its request does not get in.
  @hook_ms 30_000
  @max_heap_bytes 64 * 1024 * 1024

  @type result(value) :: {:ok, value, Sink.t()} | {:answer, HTTP.answer(), Sink.t()} | {:closed, Sink.t()}

  @typedoc "The principal of a request, and the grants of its token."
  @type identity :: %{required(:principal) => term(), required(:auth) => Auth.t() | nil, optional(atom()) => term()}

  @doc "Identifies the principal of a request."
  @spec identify(Mount.t(), Sink.t()) :: result(identity())
  def identify(_mount, %FarSink{known: known} = sink), do: {:ok, Map.take(known, [:principal, :auth]), sink}
  def identify(%{identify: nil}, sink), do: {:ok, %{principal: nil, auth: nil}, sink}

  def identify(mount, sink) do
    with {:ok, verdict, sink} <- run(mount, :identify, sink), do: verdict(verdict, mount, sink)
  end

  defp verdict({:ok, %Auth{principal: principal} = auth}, _mount, sink),
    do: {:ok, %{principal: principal, auth: auth}, sink}

  defp verdict({:ok, principal}, _mount, sink), do: {:ok, %{principal: principal, auth: nil}, sink}

  defp verdict({:error, %Refusal{} = refusal}, mount, sink) do
    challenge = Mount.challenge(mount, refusal.error, refusal.scopes)
    {status, headers, body} = HTTP.answer(refusal.kind, Map.put(challenge, :description, refusal.description))
    {:answer, {status, headers ++ Refusal.headers(refusal), body}, sink}
  end

  defp verdict({:error, {:insufficient_scope, scopes}}, mount, sink),
    do: refused(:forbidden, Mount.challenge(mount, "insufficient_scope", scopes), sink)

  defp verdict({:error, :unauthorized}, mount, sink), do: verdict({:error, {:unauthorized, []}}, mount, sink)

  defp verdict({:error, {:unauthorized, scopes}}, mount, sink),
    do: refused(:unauthorized, Mount.challenge(mount, if(token?(sink), do: "invalid_token"), scopes), sink)

  defp verdict({:error, :invalid_request}, mount, sink),
    do: refused(:invalid_authorization, Mount.challenge(mount, "invalid_request", []), sink)

  defp verdict({:error, {:unavailable, seconds}}, _mount, sink) when seconds in 1..86_400,
    do: refused(:authorization_unavailable, seconds, sink)

  defp verdict(other, mount, sink) do
    Logger.error(
      "MCP identify: #{named(mount.identify)} returned #{Outline.of(other)}. It returns {:ok, principal}, " <>
        ~S'{:ok, %McpServer.Auth{}}, {:error, :unauthorized}, {:error, {:unauthorized, ["scope"]}}, ' <>
        ~S'{:error, {:insufficient_scope, ["scope"]}}, {:error, :invalid_request} or {:error, {:unavailable, seconds}}.'
    )

    refused(:internal_error, nil, sink)
  end

  defp refused(kind, details, sink), do: {:answer, HTTP.answer(kind, details), sink}

  @doc "Answers a client without a token that requests something that needs one."
  @spec unidentified(Mount.t(), Sink.t()) :: Sink.t()
  def unidentified(%{auth: plan} = mount, sink) do
    {:answer, {status, headers, body}, sink} = verdict({:error, Verification.refuse_missing(plan)}, mount, sink)
    Sink.reply(sink, status, headers, body)
  end

  # The challenge can call a token invalid only if the request has a bearer token.
  defp token?(sink) do
    Enum.any?(Sink.head(sink).headers, fn {name, value} ->
      String.downcase(name) == "authorization" and value =~ ~r/\Abearer +[^ ]/i
    end)
  end

  @doc """
  Continues with the handler's initial conn: it has a plug's assigns, or the changes of `init:`.

  A request whose hook fails is answered here.
  """
  @spec with_base(map(), Sink.t(), (Conn.t(), Sink.t() -> Sink.t())) :: Sink.t()
  def with_base(%{mount: mount} = request, sink, fun) do
    case base(mount, request, sink) do
      {:ok, base, sink} -> fun.(captured(base, sink), sink)
      {:answer, {status, headers, body}, sink} -> Sink.reply(sink, status, headers, body)
      {:closed, sink} -> sink
    end
  end

  # The process of the request is on another node.
  defp captured(base, %FarSink{}), do: base
  defp captured(base, sink), do: base |> Trace.capture() |> Callers.carry(Sink.callers(sink))

  defp base(_mount, _identity, %FarSink{known: %{base: base}} = sink), do: {:ok, base, sink}
  defp base(%{init: nil} = mount, identity, sink), do: {:ok, Pipeline.conn(mount, sink, identity), sink}

  defp base(mount, identity, sink) do
    with {:ok, base, sink} <- run(mount, :init, sink), do: initialized(base, mount, identity, sink)
  end

  # The owner of a session is known before `init:` is called. So a principal of `init:` would own none, and any client
  # with the session's id could use the session.
  defp initialized(%Conn{} = base, mount, %{principal: principal, auth: auth}, sink) do
    if base.principal in [nil, principal] and base.auth in [nil, auth] do
      known = %{principal: principal, auth: auth, mount: mount.name, transport: :http, peer: Sink.peer(sink)}
      {:ok, Map.merge(base, known), sink}
    else
      Logger.error(
        "MCP init: #{named(mount.init)} returned a conn with a principal or auth. Only identify: or auth: names the " <>
          "client: return {:ok, principal} from identify:, and leave both out of init:."
      )

      refused(:internal_error, nil, sink)
    end
  end

  defp initialized(other, mount, _identity, sink), do: not_a_conn(other, mount.init, sink)

  defp not_a_conn(other, hook, sink) do
    Logger.error("MCP init: #{named(hook)} returned #{Outline.of(other)}. It returns a %McpServer.Conn{}.")
    refused(:internal_error, nil, sink)
  end

  defp named({module, function}), do: Exception.format_mfa(module, function, 1)
  defp named(function), do: inspect(function)

  defp run(mount, name, sink) do
    client = Sink.address(sink)

    case Quota.take(sink.account.quota, :hooks, client, 1) do
      :ok ->
        result = carry_out(name, Map.fetch!(mount, name), sink)
        :ok = Quota.give(sink.account.quota, :hooks, client, 1)
        result

      :full ->
        {:answer, HTTP.answer(:overloaded, Usage.retry_after(mount.usage)), sink}
    end
  end

  # The web server owns this process, and plugs rely on its process dictionary: the hook must run here.
  defp carry_out(name, hook, %{socket: nil} = sink) do
    {:ok, timer} = :timer.kill_after(@hook_ms)
    result = call(name, hook, Sink.head(sink))
    # The process serves other requests after this one.
    :timer.cancel(timer)
    ended(result, sink)
  end

  defp carry_out(name, hook, sink) do
    head = Sink.head(sink)
    heap = Limit.heap(@max_heap_bytes, true)
    options = [{:monitor, [tag: :mcp_down]}, max_heap_size: heap]
    callers = Sink.callers(sink)

    work = fn ->
      Callers.set(callers)
      exit({:shutdown, {:mcp_hook, call(name, hook, head)}})
    end

    {pid, monitor} = :erlang.spawn_opt(work, options)
    await(pid, monitor, Sink.now() + @hook_ms, sink)
  end

  defp await(pid, monitor, due, sink) do
    case Sink.next(sink, due) do
      {{:mcp_down, ^monitor, :process, _pid, {:shutdown, {:mcp_hook, result}}}, sink} -> ended(result, sink)
      {{:mcp_down, ^monitor, :process, _pid, _killed}, sink} -> ended(:failed, sink)
      {:closed, sink} -> {:closed, stop(pid, monitor, sink)}
      {:timeout, sink} -> ended(:failed, stop(pid, monitor, sink))
      {message, sink} -> pass(message, {pid, monitor, due}, sink)
    end
  end

  defp pass(message, {pid, monitor, due}, sink) do
    Sink.discard(message)
    await(pid, monitor, due, sink)
  end

  defp stop(pid, monitor, sink) do
    Process.exit(pid, :kill)
    Process.demonitor(monitor, [:flush])
    sink
  end

  defp ended({:ok, value}, sink), do: {:ok, value, sink}
  defp ended(:failed, sink), do: refused(:internal_error, nil, sink)

  # An exception can contain the hook's argument. So no header may reach the log.
  defp call(name, hook, head) do
    {:ok, Mount.call_hook(hook, Map.get_lazy(head, :plug, fn -> HttpRequest.new(head) end))}
  catch
    kind, reason ->
      Failure.log(Failure.new(kind, reason, __STACKTRACE__, head), "#{name}: of an HTTP request")
      :failed
  end
end
