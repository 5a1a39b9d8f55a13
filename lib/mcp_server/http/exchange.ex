defmodule McpServer.Http.Exchange do
  @moduledoc false
  # One HTTP request that another process answers, its owner: a session, the dispatcher of stored results, or another
  # node.
  #
  # The owner sends commands. The process that holds the request executes them on its sink. The owner receives
  # `{:mcp_exchange, ref, {:sent, bytes}}` when bytes of a stream were written, and `{:mcp_exchange, ref, :closed}` when
  # the peer has disconnected or does not read.

  alias McpServer.Http.{Sessions, Sink}
  alias McpServer.Protocol.HTTP
  alias McpServer.Quota
  alias McpServer.Quota.Client

  @enforce_keys [:ref, :pid]
  defstruct [:ref, :pid, :monitor]

  @typedoc "`:pid` is the process that executes the commands, `:monitor` its owner's monitor of it."
  @type t :: %__MODULE__{ref: reference(), pid: pid(), monitor: reference() | nil}

  @typedoc """
  `:client` is who a long answer counts for, if anybody. The others are the response when the owner ended without one: an
  answer, or the end of a stream that has begun. A stream is cut if its contents do not show that something is missing.
  A stream that answers requests ends with the answer as an event: without it, clients would wait for theirs.
  `:elsewhere` continues a request whose session the owner no longer has. With `:mailbox` the request waits in that of
  its owner, or on the owner's node, and counts for its client until the owner takes it from there. `:drain` is when the
  response ends if this node drains, because an owner on another node does not drain with it.
  """
  @type terms :: %{
          required(:client) => Client.t() | :none,
          required(:answer) => (() -> HTTP.answer()),
          required(:stream) => :finish | :cut | :answer,
          optional(:elsewhere) => (Sink.t() -> Sink.t()),
          optional(:mailbox) => true,
          optional(:drain) => :at_once | :at_end
        }

  # An owner that has not answered after this time is taken for stuck.
  @owner_ms 15_000
  # How long before the end of a drain the response ends, so that it is written before the connection is closed.
  @last_ms 100

  @doc """
  The terms of what was sent to a session. If the session ends without an answer, its client is told so, in answer to the
  requests with these ids.
  """
  @spec session_gone(session_id :: String.t(), Client.t(), HTTP.asked()) :: terms()
  def session_gone(id, client, asked) do
    answer = fn -> HTTP.answer_to(asked, Sessions.gone_answer(id)) end
    %{client: client, answer: answer, stream: if(asked == nil, do: :finish, else: :answer)}
  end

  @doc """
  Continues a request whose call the calling process has started and a session has adopted.

  This process also reports the call's end to the session: the call may have ended before the session monitored it.
  """
  @spec go_on(reference(), Sink.t(), owner :: pid(), terms(), call :: {pid(), reference()} | nil) :: Sink.t()
  def go_on(ref, sink, owner, terms, call) do
    exchange = exchange(ref, owner, terms, call, :infinity)
    # A client that disconnected before sends no second `:closed`.
    sink = if Map.get(sink, :gone?), do: closed(exchange, sink), else: await(exchange, sink)
    with {_pid, monitor} <- call, do: Process.demonitor(monitor, [:flush])
    sink
  end

  @doc "A new exchange, executed by the calling process."
  @spec new() :: t()
  def new, do: %__MODULE__{ref: make_ref(), pid: self()}

  @doc """
  Executes the commands of `owner`, which already has the exchange, until the exchange is over.

  `terms` give the answer if the owner ends without one. An open stream ends at `ends_at`: its owner is told that
  the peer has disconnected.
  """
  @spec run(t(), Sink.t(), owner :: pid() | nil, terms(), ends_at :: integer() | :infinity) :: Sink.t()
  def run(%__MODULE__{ref: ref}, sink, owner, terms, ends_at \\ :infinity) do
    :ok = Quota.take_anyway(sink.account.quota, :exchanges, nil, 1)
    sink = begin(exchange(ref, owner, terms, nil, ends_at), Sink.forget(sink))
    :ok = Quota.give(sink.account.quota, :exchanges, nil, 1)
    sink
  end

  defp exchange(ref, owner, terms, call, ends_at) do
    exchange = %{ref: ref, owner: owner, monitor: monitor(owner), begun?: false, terms: terms, call: call}
    Map.merge(exchange, %{ends_at: ends_at, drained_at: nil})
  end

  defp monitor(nil), do: nil
  defp monitor(pid), do: :erlang.monitor(:process, pid, tag: :mcp_down)

  # The server may have begun to drain before.
  defp begin(exchange, sink) do
    case Sink.ends_at(sink) do
      nil -> await(exchange, sink)
      until -> drain(exchange, sink, until)
    end
  end

  defp await(%{ref: ref, monitor: monitor} = exchange, sink) do
    case Sink.next(sink, due(exchange)) do
      {{:mcp_respond, ^ref, command}, sink} -> execute(command, exchange, sink)
      {{:mcp_down, ^monitor, :process, _pid, _reason}, sink} -> fail(exchange, sink)
      {:timeout, sink} -> timeout(exchange, sink)
      {:closed, sink} -> closed(exchange, sink)
      {{:drain, until}, sink} -> drain(exchange, sink, until)
      {message, sink} -> pass(message, exchange, sink)
    end
  end

  defp due(%{drained_at: until}) when until != nil, do: until
  defp due(%{monitor: nil}), do: Sink.now() + @owner_ms
  defp due(%{begun?: true, ends_at: ends_at}), do: ends_at
  defp due(_owned), do: :infinity

  # The client of a stream comes back to another node, with the id of the last event.
  defp drain(%{begun?: true, terms: %{drain: :at_once}} = exchange, sink, _until),
    do: closed(exchange, Sink.finish(sink))

  defp drain(%{terms: %{drain: _when}} = exchange, sink, until),
    do: await(%{exchange | drained_at: until - @last_ms}, sink)

  # A session of this node learns of the drain itself.
  defp drain(exchange, sink, _until), do: await(exchange, sink)

  # A stream that has begun has an owner.
  defp timeout(%{begun?: true} = exchange, sink), do: closed(exchange, Sink.finish(sink))

  # The node of the session does not answer, but it may go on: a client that hears of no session would drop it.
  defp timeout(%{owner: nil}, sink), do: answer(sink, HTTP.answer(:overloaded, 1))
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
    # The new owner has taken the request, answers it, and counts its body, which `:elsewhere` may hold.
    terms = Map.drop(exchange.terms, [:elsewhere, :mailbox])
    await(%{exchange | owner: owner, monitor: monitor(owner), terms: terms}, Sink.release(sink))
  end

  defp execute({:reply, _status, _headers, _body}, %{begun?: true} = exchange, sink), do: await(exchange, sink)

  defp execute({:reply, status, headers, body}, exchange, sink) do
    demonitor(exchange)
    sink = counted(exchange, sink, body, telling(exchange, body, &Sink.reply(&1, status, headers, body)))
    if exchange.owner, do: send(exchange.owner, {:mcp_exchange, exchange.ref, {:sent, IO.iodata_length(body)}})
    sink
  end

  defp execute({:stream, status, headers, first}, exchange, sink) do
    sent = counted(exchange, sink, first, telling(exchange, first, &Sink.stream(&1, status, headers, first)))
    written(sent, first, %{exchange | begun?: true})
  end

  # Many requests for the same missed events may come before the first of them counts.
  defp execute({:replay, status, headers, events}, %{terms: %{client: client}} = exchange, sink) do
    if Sink.long?(events) and Sink.behind?(sink, client),
      do: closed(exchange, answer(sink, HTTP.answer(:overloaded, 1))),
      else: execute({:stream, status, headers, events}, exchange, sink)
  end

  defp execute({:chunk, bytes}, exchange, sink) do
    exchange |> counted(sink, bytes, telling(exchange, bytes, &Sink.chunk(&1, bytes))) |> written(bytes, exchange)
  end

  defp execute(:finish, exchange, sink) do
    demonitor(exchange)
    if exchange.begun?, do: Sink.finish(sink), else: unanswered(exchange, sink)
  end

  defp execute(:elsewhere, %{terms: terms} = exchange, sink) do
    demonitor(exchange)
    if go_on = terms[:elsewhere], do: go_on.(sink), else: unanswered(exchange, sink)
  end

  defp execute(:abort, exchange, sink) do
    demonitor(exchange)
    Sink.cut(sink)
  end

  # A request for stored results keeps its place at their endpoint.
  defp counted(%{terms: %{client: :none}}, sink, _bytes, write), do: write.(sink)
  defp counted(%{terms: %{client: client}}, sink, bytes, write), do: Sink.counted(sink, client, bytes, write)

  # An answer has counted in the session's process until now.
  defp telling(%{terms: %{client: :none}}, _bytes, write), do: write
  defp telling(%{owner: nil}, _bytes, write), do: write

  defp telling(%{owner: owner, ref: ref}, bytes, write) do
    if Sink.long?(bytes) do
      fn sink ->
        send(owner, {:mcp_exchange, ref, {:counted, IO.iodata_length(bytes)}})
        write.(sink)
      end
    else
      write
    end
  end

  defp written({:ok, sink}, bytes, exchange) do
    send(exchange.owner, {:mcp_exchange, exchange.ref, {:sent, IO.iodata_length(bytes)}})
    await(exchange, sink)
  end

  defp written({:closed, sink}, _bytes, exchange), do: closed(exchange, sink)

  defp closed(exchange, sink) do
    leave_call(exchange)
    if exchange.owner, do: send(exchange.owner, {:mcp_exchange, exchange.ref, :closed})
    await_taking(exchange)
    demonitor(exchange)
    sink
  end

  # Otherwise a client could send and leave, and fill the mailbox of a session that is late, or the memory of its node,
  # with what counts for nobody.
  defp await_taking(%{terms: %{mailbox: true}, ref: ref, monitor: monitor}) do
    receive do
      {:mcp_respond, ^ref, _command} -> :ok
      {:mcp_down, ^monitor, :process, _pid, _reason} -> :ok
    after
      @owner_ms -> :ok
    end
  end

  defp await_taking(_exchange), do: :ok

  # The call may have ended before its owner monitored it.
  defp leave_call(%{call: nil}), do: :ok

  defp leave_call(%{call: {pid, monitor}, owner: owner}) do
    unless Process.alive?(pid) do
      receive do: ({:mcp_down, ^monitor, :process, _pid, _reason} = message -> send(owner, message))
    end
  end

  defp fail(%{begun?: true, terms: %{stream: how}} = exchange, sink) do
    demonitor(exchange)

    case how do
      :finish -> Sink.finish(sink)
      :cut -> Sink.cut(sink)
      :answer -> finish_with(sink, exchange.terms.answer.())
    end
  end

  defp fail(exchange, sink) do
    demonitor(exchange)
    unanswered(exchange, sink)
  end

  defp finish_with(sink, {_status, _headers, body}) do
    case Sink.chunk(sink, HTTP.event(nil, body)) do
      {:ok, sink} -> Sink.finish(sink)
      {:closed, sink} -> sink
    end
  end

  defp unanswered(exchange, sink), do: answer(sink, exchange.terms.answer.())

  defp answer(sink, {status, headers, body}), do: Sink.reply(sink, status, headers, body)

  defp demonitor(%{monitor: nil}), do: true
  defp demonitor(%{monitor: monitor}), do: Process.demonitor(monitor, [:flush])

  @doc "Makes the calling process the owner: it receives the exchange's events and answers it."
  @spec own(t()) :: t()
  def own(%__MODULE__{ref: ref, pid: pid} = exchange) do
    monitor = :erlang.monitor(:process, pid, tag: {:mcp_exchange_down, ref})
    tell(exchange, {:own, self()})
    %{exchange | monitor: monitor}
  end

  @doc """
  An exchange of a holder that has started a call, owned by the calling process. Tells the holder of the adoption.
  """
  @spec adopt(holder :: pid()) :: t()
  def adopt(holder) do
    ref = make_ref()
    monitor = :erlang.monitor(:process, holder, tag: {:mcp_exchange_down, ref})
    send(holder, {:mcp_adopted, self(), ref})
    %__MODULE__{ref: ref, pid: holder, monitor: monitor}
  end

  @doc "Sends the complete response."
  @spec reply(t(), pos_integer(), Sink.headers(), iodata()) :: :ok
  def reply(exchange, status, headers, body), do: leave(exchange, {:reply, status, headers, body})

  @doc "Sends the complete response of an exchange that this process owns. Returns when it is written, or cannot be."
  @spec deliver(t(), pos_integer(), Sink.headers(), iodata()) :: :ok
  def deliver(%__MODULE__{ref: ref} = exchange, status, headers, body) do
    tell(exchange, {:reply, status, headers, body})

    receive do
      {:mcp_exchange, ^ref, _sent_or_closed} -> :ok
      {{:mcp_exchange_down, ^ref}, _monitor, :process, _pid, _reason} -> :ok
    end
  end

  @doc "Opens a stream. Its head and first bytes go out in one write."
  @spec stream(t(), pos_integer(), Sink.headers(), iodata()) :: :ok
  def stream(exchange, status, headers, first), do: tell(exchange, {:stream, status, headers, first})

  @doc "Opens a stream with events that the client has missed. It is refused if it has left too much unread."
  @spec replay(t(), pos_integer(), Sink.headers(), iodata()) :: :ok
  def replay(exchange, status, headers, events), do: tell(exchange, {:replay, status, headers, events})

  @doc "Sends more bytes of a stream. Never blocks: the owner counts the bytes that were not written yet."
  @spec chunk(t(), iodata()) :: :ok
  def chunk(exchange, bytes), do: tell(exchange, {:chunk, bytes})

  @doc "Ends a stream after all its bytes."
  @spec finish(t()) :: :ok
  def finish(exchange), do: leave(exchange, :finish)

  @doc "Returns the request unanswered: its session no longer exists."
  @spec elsewhere(t()) :: :ok
  def elsewhere(exchange), do: leave(exchange, :elsewhere)

  @doc "Cuts the connection of a peer that does not read. Its process may hang in a write."
  @spec abort(t()) :: :ok
  def abort(%__MODULE__{pid: pid}) do
    Process.exit(pid, :kill)
    :ok
  end

  # The process may serve further requests, so the owner stops monitoring it.
  defp leave(%__MODULE__{monitor: monitor} = exchange, command) do
    if monitor, do: Process.demonitor(monitor, [:flush])
    tell(exchange, command)
  end

  defp tell(%__MODULE__{ref: ref, pid: pid}, command) do
    send(pid, {:mcp_respond, ref, command})
    :ok
  end
end
