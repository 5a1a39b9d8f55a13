defmodule McpServer.HttpServer.Socket do
  @moduledoc false
  # The socket of a connection of `McpServer.HttpServer`: its read buffer, the state of the current request, and the
  # writing of its response.
  #
  # The socket is active for a number of packets, and this number is raised before it reaches zero. A passive socket
  # would leave the schedulers' pollset, which costs 3–5 µs per request. The number is not raised while a response is
  # awaited: then TCP holds back a client that keeps sending.

  @behaviour McpServer.Http.Sink

  alias McpServer.Http.{Mount, Sink, Usage}
  alias McpServer.HttpServer.Body
  alias McpServer.Protocol.HTTP
  alias McpServer.Quota

  @enforce_keys [:transport, :socket, :peer, :account]
  defstruct [
    :transport,
    :socket,
    :peer,
    :account,
    :mount,
    :head,
    :body,
    buffer: "",
    packets: 0,
    passive?: false,
    quick?: false,
    flow: :keep_alive,
    cors_headers: [],
    head?: false,
    gone?: false,
    ends_at: nil,
    body_bytes: 0,
    ahead_bytes: 0,
    moved_at: 0
  ]

  @typedoc "The address and port of the other end, `nil` if it has gone."
  @type peer :: {:inet.ip_address(), :inet.port_number()} | nil

  @typedoc """
  * `:mount` – the served mount, with the limits of its sockets
  * `:head` – the bytes of the current request's head, if they may be needed
  * `:body` – the framing of the request's body, until it has been read: `{framing, continue?}`
  * `:buffer` – bytes read but not used yet; `:packets` – the number of reads since the last top-up
  * `:quick?` – the client sends its next request right after an answer
  * `:flow` – whether the connection continues after the response; `:until_close` is HTTP/1.0
  * `:cors_headers` – headers of each response to a page of another origin
  * `:head?` – the request is a HEAD, whose response has no body
  * `:ends_at` – when the server ends, once it drains
  * `:body_bytes` – how many of the mount's body bytes the request has taken, those of an unfinished head included
  * `:ahead_bytes` – how many it has taken for what the peer has sent ahead of the answer, or `:refused`
  * `:moved_at` – when the peer last took sent bytes
  """
  @type t :: %__MODULE__{
          transport: :tcp | :ssl,
          socket: :gen_tcp.socket() | :ssl.sslsocket(),
          peer: peer(),
          account: Usage.t(),
          mount: Mount.t() | nil,
          head: binary() | nil,
          body: {HTTP.framing(), continue? :: boolean()} | nil,
          buffer: binary(),
          packets: non_neg_integer(),
          passive?: boolean(),
          quick?: boolean(),
          flow: :keep_alive | :close | :until_close,
          cors_headers: HTTP.headers(),
          head?: boolean(),
          gone?: boolean(),
          ends_at: integer() | nil,
          body_bytes: non_neg_integer(),
          ahead_bytes: non_neg_integer() | :refused,
          moved_at: integer()
        }

  # The option of Linux that tells the state of a connection, and the state of an open one: tcp(7).
  @ipproto_tcp 6
  @tcp_info 11
  @tcp_established 1

  # Of the plain socket. A record of TLS has up to 16 KiB.
  @active 32
  @top_up 16
  @active_records 4
  @top_up_records 2
  # What few clients send ahead of an answer is not counted.
  @uncounted 4 * 1024
  # After a longer request the rest of the buffer is copied.
  @small_request 32 * 1024
  # The stall timeout applies to each piece of this size, not to the whole answer.
  @sent_at_once 256 * 1024
  # A longer answer is written when its last part has left, and not when the driver has it all.
  @not_awaited 64 * 1024
  @last 1_024
  # How much of a refused request is still read, so that no reset discards the answer at the client.
  @lingering_bytes 32 * 1024 * 1024
  @lingering_ms 2_000
  # The rest of most requests arrives within this time, in milliseconds.
  @soon_ms 20

  @doc "Makes the socket active."
  @spec activate(t()) :: t()
  def activate(sink) do
    setopts(sink, active: active(sink))
    %{sink | packets: 0, passive?: false}
  end

  @doc """
  Waits for more bytes of the peer until `due`, or for some milliseconds.

  Returns `{:closed, sink}` if the peer has disconnected, `{:timeout, sink}` if the time is over.
  """
  @spec receive_more(t(), due :: integer() | {:within, timeout()}) :: {:ok | :closed | :timeout, t()}
  def receive_more(%{passive?: true} = sink, due), do: sink |> activate() |> receive_more(due)

  def receive_more(%{transport: transport, packets: packets} = sink, due)
      when packets >= @top_up or (transport == :ssl and packets >= @top_up_records) do
    setopts(sink, active: packets)
    receive_more(%{sink | packets: 0}, due)
  end

  def receive_more(%{socket: socket} = sink, due) do
    receive do
      {tag, ^socket, data} when tag in [:tcp, :ssl] -> {:ok, early(sink, data)}
      {tag, ^socket} when tag in [:tcp_passive, :ssl_passive] -> receive_more(%{sink | passive?: true}, due)
      {tag, ^socket} when tag in [:tcp_closed, :ssl_closed] -> {:closed, %{sink | gone?: true}}
      {tag, ^socket, _reason} when tag in [:tcp_error, :ssl_error] -> {:closed, %{sink | gone?: true}}
      {:mcp_http_drain, until} -> drained(drain(sink, until), due)
      message -> ignore(message, sink, due)
    after
      left(due) -> {:timeout, sink}
    end
  end

  @doc """
  Waits like `receive_more/2` for the rest of a request, which the peer may never send.

  If it does not come soon, the process keeps only the received bytes. A buffer that has grown has room for as much again,
  and smaller copies of it would wait for the next garbage collection.
  """
  @spec receive_rest(t(), due :: integer()) :: {:ok | :closed | :timeout, t()}
  def receive_rest(sink, due) do
    with {:timeout, sink} <- receive_more(sink, {:within, @soon_ms}) do
      sink |> compact() |> receive_more(due)
    end
  end

  @doc "Frees whatever the process does not need of the received bytes."
  @spec compact(t()) :: t()
  def compact(sink) do
    sink = %{sink | buffer: :binary.copy(sink.buffer)}
    :erlang.garbage_collect()
    sink
  end

  defp active(%{transport: :tcp}), do: @active
  defp active(%{transport: :ssl}), do: @active_records

  # A duration avoids reading the clock, which is expensive per request.
  defp left({:within, ms}), do: ms
  defp left(due), do: max(due - Sink.now(), 0)

  # A connection without a request can close immediately.
  defp drained(%{buffer: "", body: nil} = sink, _due), do: {:closed, sink}
  defp drained(sink, due), do: receive_more(sink, due)

  defp ignore(message, sink, due) do
    if is_tuple(message), do: Sink.discard(message)
    receive_more(sink, due)
  end

  @doc "Buffers bytes that arrived before they were needed."
  @spec early(t(), binary()) :: t()
  def early(%{buffer: "", packets: packets} = sink, data), do: %{sink | buffer: data, packets: packets + 1}
  def early(%{packets: packets} = sink, data), do: %{sink | buffer: sink.buffer <> data, packets: packets + 1}

  @doc """
  Counts what the peer has sent ahead of the answer that it waits for, as it counts while a request is read. Without room
  for it, it is dropped and nothing more is read: the connection ends with this answer.
  """
  @spec count_ahead(t()) :: t()
  # Bytes of the request itself are counted when its body is read.
  def count_ahead(%{body: body} = sink) when body != nil and sink.ahead_bytes != :refused, do: sink
  def count_ahead(%{ahead_bytes: :refused} = sink), do: %{sink | buffer: ""}

  def count_ahead(%{buffer: buffer, ahead_bytes: counted} = sink) when byte_size(buffer) <= counted + @uncounted,
    do: sink

  def count_ahead(%{buffer: buffer, ahead_bytes: counted} = sink) do
    case Quota.take(sink.account.quota, :body_bytes, Sink.address(sink), byte_size(buffer) - counted) do
      # The buffer has room for as much again, and may be there for long.
      :ok -> %{sink | buffer: :binary.copy(buffer), ahead_bytes: byte_size(buffer)}
      :full -> refuse_ahead(sink)
    end
  end

  defp refuse_ahead(sink) do
    sink = give_back(sink, sink.ahead_bytes)
    setopts(sink, active: false)
    # As after a body that was not read, the client gets its answer before the connection is reset.
    leave(%{sink | buffer: "", body: {:chunked, false}, ahead_bytes: :refused, passive?: true})
  end

  @doc "Begins the next request: what was sent ahead is the beginning of it."
  @spec turn(t()) :: t()
  def turn(%{ahead_bytes: 0} = sink), do: sink
  def turn(%{ahead_bytes: :refused} = sink), do: %{sink | ahead_bytes: 0}
  def turn(%{ahead_bytes: bytes} = sink), do: %{sink | ahead_bytes: 0, body_bytes: bytes}

  @doc """
  Whether the peer has disconnected, for a passive socket: unread bytes before the end of the stream hide it. The system
  is asked for the state of the connection, which only Linux tells. Elsewhere the end is noticed after the response. If
  the peer has sent more than the system buffers (128 KiB), the end arrives when the peer's system gives up.
  """
  @spec left?(t()) :: boolean()
  def left?(%{transport: transport, socket: socket}) do
    asked = [{:raw, @ipproto_tcp, @tcp_info, 1}]
    found = if transport == :tcp, do: :inet.getopts(socket, asked), else: :ssl.getopts(socket, asked)

    case {:os.type(), found} do
      {{:unix, :linux}, {:ok, [{:raw, @ipproto_tcp, @tcp_info, <<state>>}]}} -> state != @tcp_established
      {{:unix, :linux}, {:error, _closed}} -> true
      _unknown -> false
    end
  end

  @doc "Notes that the server ends at `until`. This response is the connection's last."
  @spec drain(t(), until :: integer()) :: t()
  def drain(sink, until), do: leave(%{sink | ends_at: until})

  @doc "Takes bytes off the buffer."
  @spec take(t(), non_neg_integer()) :: {binary(), t()}
  def take(%{buffer: buffer} = sink, bytes) when byte_size(buffer) == bytes, do: {buffer, %{sink | buffer: ""}}

  def take(%{buffer: buffer} = sink, bytes) do
    {taken, rest} = :erlang.split_binary(buffer, bytes)
    {taken, %{sink | buffer: detached(rest, bytes)}}
  end

  # A sub-binary keeps its whole binary alive: the next request's first bytes would keep a long body.
  defp detached(rest, before) when before > @small_request, do: :binary.copy(rest)
  defp detached(rest, _before), do: rest

  @impl Sink
  def head(%{head: head, peer: peer}), do: head |> HTTP.head_fields() |> Map.put(:peer, peer)

  @impl Sink
  defdelegate read_body(sink, max), to: Body, as: :read

  @doc "Makes the socket passive, so that `fetch/3` reads large pieces."
  @spec read_passively(t()) :: t()
  def read_passively(sink) do
    setopts(sink, active: false)
    arrived(sink)
  end

  @doc "Makes the socket active again, so that its process also learns when the peer disconnects."
  @spec read_actively(t()) :: t()
  def read_actively(sink) do
    activate(sink)
  end

  # Collects bytes that arrived before the socket was passive.
  defp arrived(%{socket: socket} = sink) do
    receive do
      {tag, ^socket, data} when tag in [:tcp, :ssl] -> sink |> early(data) |> arrived()
    after
      0 -> sink
    end
  end

  @doc """
  Reads so many bytes from a passive socket until `due`. Returns `:closed` if the peer has disconnected.

  The driver keeps a buffer that it has not filled, as long as the connection is open. For a number of bytes it fills all.
  """
  @spec fetch(t(), bytes :: pos_integer(), due :: integer()) :: {:ok, binary()} | :closed | :timeout
  def fetch(%{transport: transport, socket: socket}, bytes, due) do
    left = max(due - Sink.now(), 0)
    read = if transport == :tcp, do: :gen_tcp.recv(socket, bytes, left), else: :ssl.recv(socket, bytes, left)

    case read do
      {:ok, data} -> {:ok, data}
      {:error, :timeout} -> :timeout
      {:error, _closed} -> :closed
    end
  end

  @doc "Closes the connection after this response."
  @spec leave(t()) :: t()
  def leave(sink), do: %{sink | flow: if(sink.flow == :keep_alive, do: :close, else: sink.flow)}

  @impl Sink
  def forget(%{body_bytes: 0} = sink), do: sink

  def forget(sink) do
    :erlang.garbage_collect()
    sink
  end

  @doc "Writes an encoded response, head and body."
  @spec write(t(), iodata()) :: t()
  def write(sink, response), do: sink |> send_all(response) |> elem(1)

  @impl Sink
  def reply(sink, status, headers, body) do
    sink = settle(sink)
    length = IO.iodata_length(body)
    head = HTTP.response_head(status, headers ++ sink.cors_headers, length, sink.flow != :keep_alive)
    write(sink, if(sink.head?, do: head, else: [head, body]))
  end

  # An unread rest of the body would be read as another request: it is skipped, or the connection closes.
  defp settle(%{body: nil} = sink), do: sink
  defp settle(%{body: {:empty, _continue?}} = sink), do: %{sink | body: nil}

  defp settle(%{body: {{:length, length}, _continue?}, buffer: buffer} = sink) when byte_size(buffer) >= length,
    do: %{elem(take(sink, length), 1) | body: nil}

  defp settle(sink), do: leave(sink)

  @impl Sink
  def stream(sink, status, headers, first) do
    sink = %{settle(sink) | moved_at: Sink.now()}
    head = HTTP.response_head(status, headers ++ sink.cors_headers, framing(sink), sink.flow != :keep_alive)
    send_all(sink, [head, framed(sink, first)])
  end

  defp framing(%{flow: :until_close}), do: :until_close
  defp framing(_sink), do: :chunked

  @impl Sink
  def chunk(sink, bytes), do: send_all(sink, framed(sink, bytes))

  defp framed(%{flow: :until_close}, bytes), do: bytes

  # An empty chunk would end the response.
  defp framed(_sink, bytes) do
    case IO.iodata_length(bytes) do
      0 -> []
      length -> [Integer.to_string(length, 16), "\r\n", bytes, "\r\n"]
    end
  end

  # A peer that does not read leaves bytes in the driver's queue. They are too few to block a writer, so they are
  # checked.
  @impl Sink
  def keep_alive(sink, comment) do
    case pending(sink) do
      0 -> chunk(sink, comment)
      _some -> if Sink.now() - sink.moved_at < sink.mount.stall_timeout, do: {:ok, sink}, else: {:closed, cut(sink)}
    end
  end

  defp pending(%{transport: :ssl}), do: 0

  defp pending(%{socket: socket}) do
    case :inet.getstat(socket, [:send_pend]) do
      {:ok, [send_pend: bytes]} -> bytes
      {:error, _closed} -> 0
    end
  end

  @impl Sink
  def finish(%{flow: :until_close} = sink), do: sink
  def finish(sink), do: sink |> send_all("0\r\n\r\n") |> elem(1)

  # Also drops unsent bytes. Otherwise the system would keep trying to send them.
  @impl Sink
  def cut(sink) do
    Usage.count(sink.account, :cut)
    setopts(sink, linger: {true, 0})
    close(%{sink | gone?: true})
  end

  @doc "Closes the socket. Bytes that the peer still sends are read first, so that it can see the last answer."
  @spec close(t()) :: t()
  def close(%{gone?: false, body: body} = sink) when body != nil do
    linger(sink, Sink.now() + @lingering_ms, @lingering_bytes)
  end

  def close(%{transport: :tcp, socket: socket} = sink) do
    :gen_tcp.close(socket)
    %{sink | gone?: true}
  end

  def close(%{transport: :ssl, socket: socket} = sink) do
    :ssl.close(socket)
    %{sink | gone?: true}
  end

  defp linger(sink, due, room) do
    shutdown(sink)
    linger_on(%{sink | buffer: ""}, due, room)
  end

  defp linger_on(sink, due, room) when room > 0 do
    case receive_more(sink, due) do
      {:ok, sink} -> linger_on(%{sink | buffer: ""}, due, room - byte_size(sink.buffer))
      {_closed_or_late, sink} -> close(%{sink | body: nil})
    end
  end

  defp linger_on(sink, _due, _room), do: close(%{sink | body: nil})

  defp shutdown(%{transport: :tcp, socket: socket}), do: :gen_tcp.shutdown(socket, :write)
  defp shutdown(%{transport: :ssl, socket: socket}), do: :ssl.shutdown(socket, :write)

  @impl Sink
  def release(%{body_bytes: 0, head: nil} = sink), do: sink
  def release(%{body_bytes: 0} = sink), do: %{sink | head: nil}

  # What is still in the buffer has come ahead of this answer, and goes on counting.
  def release(%{body_bytes: bytes, body: nil, ahead_bytes: 0, buffer: buffer} = sink)
      when byte_size(buffer) > @uncounted do
    kept = min(bytes, byte_size(buffer))
    %{give_back(sink, bytes - kept) | body_bytes: 0, ahead_bytes: kept, head: nil}
  end

  def release(%{body_bytes: bytes} = sink), do: %{give_back(sink, bytes) | body_bytes: 0, head: nil}

  defp give_back(sink, bytes) do
    :ok = Quota.give(sink.account.quota, :body_bytes, Sink.address(sink), bytes)
    sink
  end

  defp send_all(%{gone?: true} = sink, _bytes), do: {:closed, sink}

  defp send_all(sink, bytes) do
    length = IO.iodata_length(bytes)

    cond do
      length <= @not_awaited -> sent(sink, send_now(sink, bytes))
      length <= @sent_at_once and sink.transport == :tcp -> sent(sink, send_whole(sink, bytes))
      true -> sent(sink, send_pieces(sink, :erlang.iolist_to_iovec(bytes), length))
    end
  end

  # The operating system usually takes all at once. What it has not taken makes the next piece wait, also an empty one.
  defp send_whole(%{socket: socket} = sink, bytes) do
    with :ok <- send_now(sink, bytes),
         {:queue_size, waiting} when waiting > 0 <- :erlang.port_info(socket, :queue_size) do
      send_now(sink, [])
    else
      {:error, _reason} = error -> error
      _all_taken_or_closed -> :ok
    end
  end

  # Nothing is copied: what many answers contain, such as a list, is in memory once. The driver takes a piece of any size
  # at once, and makes only the next one wait.
  defp send_pieces(sink, parts, left) when left > @last do
    size = min(@sent_at_once, left - @last)
    {piece, parts} = split(parts, size, [])
    with :ok <- send_now(sink, piece), do: send_pieces(sink, parts, left - size)
  end

  defp send_pieces(sink, last, _left), do: send_now(sink, last)

  defp split(parts, 0, piece), do: {Enum.reverse(piece), parts}

  defp split([part | parts], size, piece) when byte_size(part) <= size,
    do: split(parts, size - byte_size(part), [part | piece])

  defp split([part | parts], size, piece) do
    {begin, rest} = :erlang.split_binary(part, size)
    {Enum.reverse([begin | piece]), [rest | parts]}
  end

  # Only streams need the time of the last write.
  defp sent(%{moved_at: 0} = sink, :ok), do: {:ok, sink}
  defp sent(sink, :ok), do: {:ok, %{sink | moved_at: Sink.now()}}

  # The peer took nothing within the stall timeout, or it has disconnected.
  defp sent(sink, {:error, :timeout}), do: {:closed, cut(sink)}
  defp sent(sink, {:error, _closed}), do: {:closed, %{sink | gone?: true}}

  defp send_now(%{transport: :tcp, socket: socket}, bytes), do: :gen_tcp.send(socket, bytes)
  defp send_now(%{transport: :ssl, socket: socket}, bytes), do: :ssl.send(socket, bytes)

  defp setopts(%{transport: :tcp, socket: socket}, options), do: :inet.setopts(socket, options)
  defp setopts(%{transport: :ssl, socket: socket}, options), do: :ssl.setopts(socket, options)
end
