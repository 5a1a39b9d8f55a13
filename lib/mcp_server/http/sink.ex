defmodule McpServer.Http.Sink do
  @moduledoc false
  # The destination of one response: the socket of the process that holds the request, the `Plug.Conn` of a web server's
  # process, or the remote end of an exchange.
  #
  # Every sink is a struct with at least `:socket` and `:account`. `:socket` is `nil` if a web server owns the process.
  # `:account` counts the mount's resources that the process has taken.

  alias McpServer.Auth.Refusal
  alias McpServer.{Call, Callers}
  alias McpServer.Http.Usage
  alias McpServer.Quota
  alias McpServer.Quota.Client

  @type t :: struct()
  @type headers :: [{String.t(), String.t()}]
  @type written :: {:ok | :closed, t()}

  @doc "Sends the complete response."
  @callback reply(t(), status :: pos_integer(), headers(), iodata()) :: t()

  @doc "Sends the head and the first bytes of a streamed response."
  @callback stream(t(), status :: pos_integer(), headers(), iodata()) :: written()

  @doc "Sends more bytes of a stream. Blocks while the peer does not read, up to the stall timeout."
  @callback chunk(t(), iodata()) :: written()

  @doc "Sends a keep-alive on a quiet stream."
  @callback keep_alive(t(), iodata()) :: written()

  @doc "Ends a stream."
  @callback finish(t()) :: t()

  @doc "Cuts the response off, so that the peer sees that it is incomplete."
  @callback cut(t()) :: t()

  @doc "The request's head, for hooks and other nodes."
  @callback head(t()) :: McpServer.Http.Pipeline.head()

  @doc "Reads the request's body, of at most so many bytes."
  @callback read_body(t(), pos_integer()) ::
              {:ok, binary(), t()} | {:error, :too_large | :timeout | :closed | :consumed | :malformed | :full, t()}

  @doc "Frees the memory of the request, before the process waits for the answer."
  @callback forget(t()) :: t()

  @doc """
  Gives back the mount's body bytes that the request has taken: the body is freed already, or counts for its call. The
  request's head is not needed any more.
  """
  @callback release(t()) :: t()

  # How often a passive socket is looked at, in milliseconds.
  @look_ms 1_000

  # The first elements of all messages to a process that holds a request.
  @own [:mcp_down, :mcp_ended, :mcp_notify, :mcp_pause, :mcp_ask, :mcp_change, :mcp_respond, :mcp_hook] ++
         [:mcp_adopted, :mcp_session_down, :mcp_disconnect, :mcp_begun]

  def reply(%module{} = sink, 401, headers, body) do
    sink = if Refusal.invalid_token_challenge?(headers), do: sink |> release() |> delay_answer(), else: sink
    module.reply(sink, 401, headers, body)
  end

  def reply(%module{} = sink, status, headers, body), do: module.reply(sink, status, headers, body)
  def stream(%module{} = sink, status, headers, first), do: module.stream(sink, status, headers, first)
  def chunk(%module{} = sink, bytes), do: module.chunk(sink, bytes)
  def keep_alive(%module{} = sink, comment), do: module.keep_alive(sink, comment)
  def finish(%module{} = sink), do: module.finish(sink)
  def cut(%module{} = sink), do: module.cut(sink)
  def head(%module{} = sink), do: module.head(sink)
  def read_body(%module{} = sink, max), do: module.read_body(sink, max)
  def forget(%module{} = sink), do: module.forget(sink)
  def release(%module{} = sink), do: module.release(sink)

  @doc "How many bytes count for the arguments of a call with this request."
  @spec argument_bytes(t()) :: non_neg_integer()
  def argument_bytes(sink) do
    bytes = body_bytes(sink)
    if Quota.long?(bytes), do: bytes, else: 0
  end

  defp body_bytes(%{body_bytes: bytes}), do: bytes
  defp body_bytes(%{body: body}) when is_binary(body), do: byte_size(body)
  defp body_bytes(_read), do: 0

  @doc """
  Writes an answer. A long one counts for its client until it is written: as long as the client does not read, its memory
  is not free.
  """
  @spec counted(t(), Client.t(), iodata(), (t() -> result)) :: result when result: var
  def counted(%{account: nil} = sink, _client, _answer, write), do: write.(sink)

  def counted(%{account: %{quota: quota}} = sink, client, answer, write) do
    bytes = IO.iodata_length(answer)

    if Quota.long?(bytes) do
      :ok = Quota.take_anyway(quota, :answer_bytes, client, bytes)
      result = write.(sink)
      :ok = Quota.give(quota, :answer_bytes, client, bytes)
      result
    else
      write.(sink)
    end
  end

  @doc """
  Writes an answer that no call has made. A principal that has left too much unread gets `refuse` in place of a long one.
  """
  @spec counted(t(), principal :: term(), iodata(), (t() -> t()), refuse :: (t() -> t())) :: t()
  def counted(sink, principal, answer, write, refuse) do
    # Most answers are short, and need no client.
    if long?(answer) do
      client = client(sink, principal)
      if behind?(sink, client), do: refuse.(sink), else: counted(sink, client, answer, write)
    else
      write.(sink)
    end
  end

  @doc "Whether an answer counts until it is written."
  @spec long?(iodata()) :: boolean()
  def long?(answer), do: Quota.long?(IO.iodata_length(answer))

  @doc "Whether the client has left so much unread that its next request is refused."
  @spec behind?(t(), Client.t()) :: boolean()
  def behind?(%{account: nil}, _client), do: false
  def behind?(%{account: %{quota: quota}}, client), do: Quota.behind?(quota, :answer_bytes, client)

  @doc "The `$callers` of what the request starts: the process of a plug and its own, or those of the server's options."
  @spec callers(t()) :: [pid()]
  def callers(%{socket: nil}), do: Callers.here()
  def callers(%{mount: %{bounds: %{callers: callers}}}), do: callers

  @doc "The peer address of a request, if known."
  @spec peer(t()) :: :inet.ip_address() | nil
  def peer(%{conn: %{remote_ip: address}}), do: address
  def peer(%{peer: {address, _port}}), do: address
  # A request that another node has forwarded.
  def peer(%{known: %{base: %{peer: address}}}), do: address
  def peer(_unknown), do: nil

  @doc "Who has the share of what a request takes: its principal, or without one the client at the address of its peer."
  @spec client(t(), principal :: term()) :: Client.t()
  def client(sink, principal), do: Client.new(principal, peer(sink))

  @doc "Who has the share of what a request takes before its principal is known: the client at the address of its peer."
  @spec address(t()) :: Client.t()
  def address(sink), do: sink |> peer() |> Client.of_peer()

  @doc "When the server ends, if the process has already been told."
  @spec ends_at(t()) :: integer() | nil
  def ends_at(%{ends_at: until}), do: until
  def ends_at(_not_ours), do: nil

  @doc """
  Waits for the next message to the holder of a request, until `due` in `now/0` time.

  `:closed` means that the peer has disconnected, `{:drain, until}` that the server ends at `until`. Bytes that a peer
  sends before its answer stay in the sink's buffer. A process that no web server owns drops unknown messages.
  """
  @spec next(t(), due :: integer() | :infinity, now :: integer()) :: {tuple() | :closed | :timeout, t()}
  def next(sink, due, now \\ now())

  def next(%{socket: nil} = sink, due, now) do
    receive do
      message when is_tuple(message) and elem(message, 0) in @own -> {message, sink}
      # The web server closes its connection itself.
      {:mcp_http_drain, until} -> {{:drain, until}, sink}
    after
      left(due, now) -> {:timeout, sink}
    end
  end

  def next(%module{socket: socket} = sink, due, now) do
    receive do
      message when is_tuple(message) and elem(message, 0) in @own -> {message, sink}
      {tag, ^socket, data} when tag in [:tcp, :ssl] -> sink |> module.early(data) |> module.count_ahead() |> next(due)
      {tag, ^socket} when tag in [:tcp_passive, :ssl_passive] -> next(%{sink | passive?: true}, due)
      {tag, ^socket} when tag in [:tcp_closed, :ssl_closed] -> {:closed, %{sink | gone?: true}}
      {tag, ^socket, _reason} when tag in [:tcp_error, :ssl_error] -> {:closed, %{sink | gone?: true}}
      {:mcp_http_drain, until} -> {{:drain, until}, module.drain(sink, until)}
      _unknown -> next(sink, due)
    after
      pause(sink, due, now) -> lapsed(sink, due)
    end
  end

  # A passive socket sends no message when its peer disconnects, so it is looked at from time to time.
  defp pause(%{passive?: false}, due, now), do: left(due, now)
  defp pause(_passive, due, now), do: min(left(due, now), @look_ms)

  defp lapsed(%{passive?: false} = sink, _due), do: {:timeout, sink}

  defp lapsed(%module{} = sink, due) do
    now = now()

    cond do
      module.left?(sink) -> {:closed, %{sink | gone?: true}}
      left(due, now) == 0 -> {:timeout, sink}
      true -> next(sink, due, now)
    end
  end

  @doc "Waits before the answer to an invalid token, if the mount gets too many of them."
  @spec delay_answer(t()) :: t()
  # The node that received the request waits.
  def delay_answer(%{account: nil} = sink), do: sink

  def delay_answer(%{account: account} = sink) do
    case Usage.delay(account) do
      0 -> sink
      delay -> wait(sink, now() + delay)
    end
  end

  defp wait(sink, due) do
    case next(sink, due) do
      {done, sink} when done in [:timeout, :closed] ->
        sink

      {message, sink} ->
        discard(message)
        wait(sink, due)
    end
  end

  defp left(:infinity, _now), do: :infinity
  defp left(due, now), do: max(due - now, 0)

  @doc "The monotonic time in milliseconds."
  @spec now() :: integer()
  def now, do: System.monotonic_time(:millisecond)

  @doc "Answers a message that came too late, because its sender may wait."
  @spec discard(tuple()) :: :ok
  def discard({:mcp_notify, tag, _pid, _gate, _message}), do: Call.reply(tag, :ok)
  def discard({:mcp_pause, tag, _pid, _retry_ms}), do: Call.reply(tag, :ok)
  def discard({:mcp_ask, tag, _pid, _requests}), do: Call.reply(tag, {:error, :closed})

  # The owner of an exchange that is over, such as a session on a node that was late.
  def discard({:mcp_respond, ref, {:own, owner}}) do
    send(owner, {:mcp_exchange, ref, :closed})
    :ok
  end

  def discard(_message), do: :ok
end
