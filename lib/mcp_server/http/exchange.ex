defmodule McpServer.Http.Exchange do
  @moduledoc false
  # One HTTP request whose response somebody else gives: a session, the dispatcher of stored results, or another node.
  #
  # The process that holds the request carries the exchange out: its owner sends commands, and the process executes them
  # on its sink. The owner is told `{:mcp_exchange, ref, {:sent, bytes}}` when bytes of a stream have been taken,
  # and `{:mcp_exchange, ref, :closed}` when the peer is gone or takes no more.

  alias McpServer.Http.{Sessions, Sink, Usage}
  alias McpServer.Protocol.HTTP

  @enforce_keys [:ref, :pid]
  defstruct [:ref, :pid, :monitor]

  @typedoc "`:pid` is the process that carries the exchange out, `:monitor` its owner's."
  @type t :: %__MODULE__{ref: reference(), pid: pid(), monitor: reference() | nil}

  @typedoc """
  What the peer gets when nobody is left to answer: an answer, or, once a stream has begun, its end. A stream whose
  contents do not say that something is missing is cut. `:elsewhere` goes on with a request whose session the owner has no
  longer.
  """
  @type failure :: %{
          required(:answer) => (() -> HTTP.answer()),
          required(:stream) => :finish | :cut,
          optional(:elsewhere) => (Sink.t() -> Sink.t())
        }

  # An owner that has not answered an exchange it was given never will.
  @owner_ms 15_000

  @doc "What the peer gets when its session ends without an answer."
  @spec session_gone(session_id :: String.t()) :: failure()
  def session_gone(id), do: %{answer: fn -> Sessions.gone_answer(id) end, stream: :finish}

  @doc """
  Goes on with a request whose call the calling process has started, and a session has adopted.

  The session hears of the call's end from here too: the call may have ended before the session could watch it.
  """
  @spec go_on(reference(), Sink.t(), owner :: pid(), failure(), call :: {pid(), reference()} | nil) :: Sink.t()
  def go_on(ref, sink, owner, on_failure, call) do
    exchange = exchange(ref, owner, on_failure, call, :infinity)
    # A client that went before says so no more.
    sink = if Map.get(sink, :gone?), do: closed(exchange, sink), else: await(exchange, sink)
    with {_pid, monitor} <- call, do: Process.demonitor(monitor, [:flush])
    sink
  end

  @doc "An exchange that the calling process carries out."
  @spec new() :: t()
  def new, do: %__MODULE__{ref: make_ref(), pid: self()}

  @doc """
  Executes the commands of `owner`, which knows of the exchange, until the exchange is over.

  `on_failure` gives the answer where the owner ends without one. At `ends_at` a stream that has begun ends, and for its
  owner the peer has gone.
  """
  @spec run(t(), Sink.t(), owner :: pid() | nil, failure(), ends_at :: integer() | :infinity) :: Sink.t()
  def run(%__MODULE__{ref: ref}, sink, owner, on_failure, ends_at \\ :infinity) do
    Usage.take(sink.account, :exchanges, 1, :infinity)
    sink = await(exchange(ref, owner, on_failure, nil, ends_at), Sink.forget(sink))
    Usage.give(sink.account, :exchanges, 1)
    sink
  end

  defp exchange(ref, owner, on_failure, call, ends_at) do
    exchange = %{ref: ref, owner: owner, monitor: monitor(owner), begun?: false, on_failure: on_failure, call: call}
    Map.put(exchange, :ends_at, ends_at)
  end

  defp monitor(nil), do: nil
  defp monitor(pid), do: :erlang.monitor(:process, pid, tag: :mcp_down)

  defp await(%{ref: ref, monitor: monitor} = exchange, sink) do
    case Sink.next(sink, due(exchange)) do
      {{:mcp_respond, ^ref, command}, sink} -> execute(command, exchange, sink)
      {{:mcp_down, ^monitor, :process, _pid, _reason}, sink} -> fail(exchange, sink)
      {:timeout, sink} -> timeout(exchange, sink)
      {:closed, sink} -> closed(exchange, sink)
      {message, sink} -> pass(message, exchange, sink)
    end
  end

  defp due(%{monitor: nil}), do: Sink.now() + @owner_ms
  defp due(%{begun?: true, ends_at: ends_at}), do: ends_at
  defp due(_owned), do: :infinity

  # Once a stream has begun, its owner is known.
  defp timeout(%{begun?: true} = exchange, sink), do: closed(exchange, Sink.finish(sink))
  defp timeout(exchange, sink), do: fail(exchange, sink)

  defp pass({:mcp_down, monitor, :process, _pid, _reason} = message, %{call: {_call, monitor}} = exchange, sink) do
    send(exchange.owner, message)
    await(%{exchange | call: nil}, sink)
  end

  defp pass({:mcp_ended, pid, _result} = message, %{call: {pid, _monitor}} = exchange, sink) do
    send(exchange.owner, message)
    await(exchange, sink)
  end

  defp pass(message, exchange, sink) do
    Sink.discard(message)
    await(exchange, sink)
  end

  defp execute({:own, owner}, exchange, sink) do
    demonitor(exchange)
    # Who owns it answers it: what would send the request elsewhere may hold its body.
    on_failure = Map.delete(exchange.on_failure, :elsewhere)
    await(%{exchange | owner: owner, monitor: monitor(owner), on_failure: on_failure}, sink)
  end

  defp execute({:reply, _status, _headers, _body}, %{begun?: true} = exchange, sink), do: await(exchange, sink)

  defp execute({:reply, status, headers, body}, exchange, sink) do
    demonitor(exchange)
    Sink.reply(sink, status, headers, body)
  end

  defp execute({:stream, status, headers, first}, exchange, sink),
    do: written(Sink.stream(sink, status, headers, first), first, %{exchange | begun?: true})

  defp execute({:chunk, bytes}, exchange, sink), do: written(Sink.chunk(sink, bytes), bytes, exchange)

  defp execute(:finish, exchange, sink) do
    demonitor(exchange)
    if exchange.begun?, do: Sink.finish(sink), else: unanswered(exchange, sink)
  end

  defp execute(:elsewhere, %{on_failure: on_failure} = exchange, sink) do
    demonitor(exchange)
    if go_on = on_failure[:elsewhere], do: go_on.(sink), else: unanswered(exchange, sink)
  end

  defp execute(:abort, exchange, sink) do
    demonitor(exchange)
    Sink.cut(sink)
  end

  defp written({:ok, sink}, bytes, exchange) do
    send(exchange.owner, {:mcp_exchange, exchange.ref, {:sent, IO.iodata_length(bytes)}})
    await(exchange, sink)
  end

  defp written({:closed, sink}, _bytes, exchange), do: closed(exchange, sink)

  defp closed(exchange, sink) do
    demonitor(exchange)
    leave_call(exchange)
    if exchange.owner, do: send(exchange.owner, {:mcp_exchange, exchange.ref, :closed})
    sink
  end

  # A call that has ended may have done so before its owner could watch it.
  defp leave_call(%{call: nil}), do: :ok

  defp leave_call(%{call: {pid, monitor}, owner: owner}) do
    unless Process.alive?(pid) do
      receive do: ({:mcp_down, ^monitor, :process, _pid, _reason} = message -> send(owner, message))
    end
  end

  defp fail(%{begun?: true, on_failure: %{stream: how}} = exchange, sink) do
    demonitor(exchange)
    if how == :cut, do: Sink.cut(sink), else: Sink.finish(sink)
  end

  defp fail(exchange, sink) do
    demonitor(exchange)
    unanswered(exchange, sink)
  end

  defp unanswered(exchange, sink) do
    {status, headers, body} = exchange.on_failure.answer.()
    Sink.reply(sink, status, headers, body)
  end

  defp demonitor(%{monitor: nil}), do: true
  defp demonitor(%{monitor: monitor}), do: Process.demonitor(monitor, [:flush])

  @doc "From now on the calling process is told what becomes of the exchange, and answers it."
  @spec own(t()) :: t()
  def own(%__MODULE__{ref: ref, pid: pid} = exchange) do
    monitor = :erlang.monitor(:process, pid, tag: {:mcp_exchange_down, ref})
    tell(exchange, {:own, self()})
    %{exchange | monitor: monitor}
  end

  @doc "The same for a request whose holder has started a call: it is told that the calling process has adopted it."
  @spec adopt(holder :: pid()) :: t()
  def adopt(holder) do
    ref = make_ref()
    monitor = :erlang.monitor(:process, holder, tag: {:mcp_exchange_down, ref})
    send(holder, {:mcp_adopted, self(), ref})
    %__MODULE__{ref: ref, pid: holder, monitor: monitor}
  end

  @doc "The whole response at once."
  @spec reply(t(), pos_integer(), Sink.headers(), iodata()) :: :ok
  def reply(exchange, status, headers, body), do: leave(exchange, {:reply, status, headers, body})

  @doc "Opens a stream, its first bytes in the same write as its head."
  @spec stream(t(), pos_integer(), Sink.headers(), iodata()) :: :ok
  def stream(exchange, status, headers, first), do: tell(exchange, {:stream, status, headers, first})

  @doc "More bytes of a stream. Never blocks: the owner counts what has not been taken yet."
  @spec chunk(t(), iodata()) :: :ok
  def chunk(exchange, bytes), do: tell(exchange, {:chunk, bytes})

  @doc "Ends a stream once everything is sent."
  @spec finish(t()) :: :ok
  def finish(exchange), do: leave(exchange, :finish)

  @doc "The owner cannot answer: the session of the request is not there any more."
  @spec elsewhere(t()) :: :ok
  def elsewhere(exchange), do: leave(exchange, :elsewhere)

  @doc "Cuts the connection: the peer takes nothing. Its process may hang in a write."
  @spec abort(t()) :: :ok
  def abort(%__MODULE__{pid: pid}) do
    Process.exit(pid, :kill)
    :ok
  end

  # The process may serve further requests; this one no longer depends on it.
  defp leave(%__MODULE__{monitor: monitor} = exchange, command) do
    if monitor, do: Process.demonitor(monitor, [:flush])
    tell(exchange, command)
  end

  defp tell(%__MODULE__{ref: ref, pid: pid}, command) do
    send(pid, {:mcp_respond, ref, command})
    :ok
  end
end
