defmodule McpServer.HttpServer.Socket do
  @moduledoc false
  # A connection of the own server, as the process that holds its socket sees it: what was read ahead, how far the
  # request at hand has come, and how its response is written.
  #
  # The socket is active for a number of packets and topped up before they are used up: one that turns passive leaves
  # the schedulers' pollset, which costs 3–5 µs a request. Nothing is topped up while a response is awaited, so a client
  # that sends on has at most so many packets in the buffer before TCP holds it back.

  @behaviour McpServer.Http.Sink

  alias McpServer.Http.{Mount, Sink, Usage}
  alias McpServer.HttpServer.Body
  alias McpServer.Protocol.HTTP

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
    flow: :keep_alive,
    cors_headers: [],
    head?: false,
    gone?: false,
    ends_at: nil,
    body_bytes: 0,
    moved_at: 0
  ]

  @typedoc """
  * `:mount` – what is served, and the limits of its sockets
  * `:head` – the bytes of the head of the request at hand, where somebody may ask for it
  * `:body` – how the request's body is framed, until it has been read: `{framing, continue?}`
  * `:buffer` – what has been read and not used; `:packets` – how many reads since the last top-up
  * `:flow` – whether the connection goes on after the response; `:until_close` is HTTP/1.0
  * `:cors_headers` – what each response has for a page of another origin
  * `:head?` – the request is a HEAD, whose response has no body
  * `:ends_at` – when the server ends, once it is about to
  * `:body_bytes` – how much of the mount's room the request's body takes
  * `:moved_at` – when the peer last took what it was sent
  """
  @type t :: %__MODULE__{
          transport: :tcp | :ssl,
          socket: :gen_tcp.socket() | :ssl.sslsocket(),
          peer: {:inet.ip_address(), :inet.port_number()} | nil,
          account: Usage.t(),
          mount: Mount.t() | nil,
          head: binary() | nil,
          body: {HTTP.framing(), continue? :: boolean()} | nil,
          buffer: binary(),
          packets: non_neg_integer(),
          passive?: boolean(),
          flow: :keep_alive | :close | :until_close,
          cors_headers: HTTP.headers(),
          head?: boolean(),
          gone?: boolean(),
          ends_at: integer() | nil,
          body_bytes: non_neg_integer(),
          moved_at: integer()
        }

  @active 32
  @top_up 16
  # What is left of a buffer is copied behind a request that was longer.
  @small_request 32 * 1024
  @large_piece 64 * 1024
  @small_piece 1_460
  # A peer has the stall timeout for each piece of an answer, and not for all of it.
  @sent_at_once 256 * 1024
  # What is read of a request that was refused, so that its client sees the answer: a reset would discard it.
  @lingering_bytes 32 * 1024 * 1024
  @lingering_ms 2_000

  @doc "Lets the peer's bytes come."
  @spec activate(t()) :: t()
  def activate(sink) do
    setopts(sink, active: @active)
    %{sink | packets: 0, passive?: false}
  end

  @doc """
  Waits for more of the peer's bytes until `due`, or for so many milliseconds.

  `{:closed, sink}` when the peer has gone, `{:timeout, sink}` when the time is up.
  """
  @spec receive_more(t(), due :: integer() | {:within, timeout()}) :: {:ok | :closed | :timeout, t()}
  def receive_more(%{passive?: true} = sink, due), do: sink |> activate() |> receive_more(due)

  def receive_more(%{packets: packets} = sink, due) when packets >= @top_up do
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

  # To read the clock costs more than what a request asks of it.
  defp left({:within, ms}), do: ms
  defp left(due), do: max(due - Sink.now(), 0)

  # Nobody waits for anything on a connection without a request.
  defp drained(%{buffer: "", body: nil} = sink, _due), do: {:closed, sink}
  defp drained(sink, due), do: receive_more(sink, due)

  defp ignore(message, sink, due) do
    if is_tuple(message), do: Sink.discard(message)
    receive_more(sink, due)
  end

  @doc "Bytes that came before they were asked for."
  @spec early(t(), binary()) :: t()
  def early(%{buffer: ""} = sink, data), do: %{sink | buffer: data, packets: sink.packets + 1}
  def early(sink, data), do: %{sink | buffer: sink.buffer <> data, packets: sink.packets + 1}

  @doc "The server ends at a time: this response is the connection's last."
  @spec drain(t(), until :: integer()) :: t()
  def drain(sink, until), do: leave(%{sink | ends_at: until})

  @doc "Takes bytes off the buffer."
  @spec take(t(), non_neg_integer()) :: {binary(), t()}
  def take(%{buffer: buffer} = sink, bytes) when byte_size(buffer) == bytes, do: {buffer, %{sink | buffer: ""}}

  def take(%{buffer: buffer} = sink, bytes) do
    {taken, rest} = :erlang.split_binary(buffer, bytes)
    {taken, %{sink | buffer: detached(rest, bytes)}}
  end

  # A part of a binary keeps all of it: a long body is not to stay for the first bytes of the next request.
  defp detached(rest, before) when before > @small_request, do: :binary.copy(rest)
  defp detached(rest, _before), do: rest

  @impl Sink
  def head(%{head: head, peer: peer}), do: head |> HTTP.head_fields() |> Map.put(:peer, peer)

  @impl Sink
  defdelegate read_body(sink, max), to: Body, as: :read

  @doc "Nothing comes by itself any more: `fetch/2` reads large pieces."
  @spec read_passively(t()) :: t()
  def read_passively(sink) do
    setopts(sink, active: false, buffer: @large_piece)
    arrived(sink)
  end

  @doc "The peer's bytes come by themselves again, and so does the news that it has gone."
  @spec read_actively(t()) :: t()
  def read_actively(sink) do
    setopts(sink, buffer: @small_piece)
    activate(sink)
  end

  # What had come before the socket was passive.
  defp arrived(%{socket: socket} = sink) do
    receive do
      {tag, ^socket, data} when tag in [:tcp, :ssl] -> sink |> early(data) |> arrived()
    after
      0 -> sink
    end
  end

  @doc "Reads from a passive socket until `due`; returns what `receive_more/2` does."
  @spec fetch(t(), due :: integer()) :: {:ok | :closed | :timeout, t()}
  def fetch(%{transport: transport, socket: socket} = sink, due) do
    left = max(due - Sink.now(), 0)
    read = if transport == :tcp, do: :gen_tcp.recv(socket, 0, left), else: :ssl.recv(socket, 0, left)

    case read do
      {:ok, data} -> {:ok, early(sink, data)}
      {:error, :timeout} -> {:timeout, sink}
      {:error, _closed} -> {:closed, %{sink | gone?: true}}
    end
  end

  @doc "This response is the connection's last."
  @spec leave(t()) :: t()
  def leave(sink), do: %{sink | flow: if(sink.flow == :keep_alive, do: :close, else: sink.flow)}

  @impl Sink
  def forget(%{body_bytes: 0} = sink), do: sink

  def forget(sink) do
    :erlang.garbage_collect()
    sink
  end

  @doc "A finished response, head and body in one."
  @spec write(t(), iodata()) :: t()
  def write(sink, response), do: sink |> send_all(response) |> elem(1)

  @impl Sink
  def reply(sink, status, headers, body) do
    sink = settle(sink)
    length = IO.iodata_length(body)
    head = HTTP.response_head(status, headers ++ sink.cors_headers, length, sink.flow != :keep_alive)
    write(sink, if(sink.head?, do: head, else: [head, body]))
  end

  # The end of what was not read of the request would be taken for another one.
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

  # An empty chunk would be the end.
  defp framed(_sink, bytes) do
    case IO.iodata_length(bytes) do
      0 -> []
      length -> [Integer.to_string(length, 16), "\r\n", bytes, "\r\n"]
    end
  end

  # A peer that takes nothing leaves bytes in the driver's queue, which are too few to hold back a writer.
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

  # Also drops what the peer did not take: otherwise the system would go on offering it.
  @impl Sink
  def cut(sink) do
    Usage.count(sink.account, :cut)
    setopts(sink, linger: {true, 0})
    close(%{sink | gone?: true})
  end

  @doc "Closes the socket. What the peer is still sending is read first: else it may never see the last answer."
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
  def release(%{body_bytes: 0} = sink), do: sink

  def release(%{body_bytes: bytes} = sink) do
    Usage.give(sink.account, :body_bytes, bytes)
    %{sink | body_bytes: 0}
  end

  defp send_all(%{gone?: true} = sink, _bytes), do: {:closed, sink}

  defp send_all(sink, bytes) do
    if IO.iodata_length(bytes) <= @sent_at_once,
      do: sent(sink, send_now(sink, bytes)),
      else: sent(sink, send_pieces(sink, IO.iodata_to_binary(bytes)))
  end

  defp send_pieces(sink, <<piece::binary-size(@sent_at_once), rest::binary>>) when rest != "" do
    with :ok <- send_now(sink, piece), do: send_pieces(sink, rest)
  end

  defp send_pieces(sink, last), do: send_now(sink, last)

  defp sent(sink, :ok), do: {:ok, %{sink | moved_at: moved(sink)}}

  # Nothing of it reached the peer in all the time it has for that, or the peer is gone.
  defp sent(sink, {:error, :timeout}), do: {:closed, cut(sink)}
  defp sent(sink, {:error, _closed}), do: {:closed, %{sink | gone?: true}}

  # Only streams are asked how long they have been quiet.
  defp moved(%{moved_at: 0}), do: 0
  defp moved(_sink), do: Sink.now()

  defp send_now(%{transport: :tcp, socket: socket}, bytes), do: :gen_tcp.send(socket, bytes)
  defp send_now(%{transport: :ssl, socket: socket}, bytes), do: :ssl.send(socket, bytes)

  defp setopts(%{transport: :tcp, socket: socket}, options), do: :inet.setopts(socket, options)
  defp setopts(%{transport: :ssl, socket: socket}, options), do: :ssl.setopts(socket, options)
end
