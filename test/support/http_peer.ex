defmodule McpServer.HttpPeer do
  # An HTTP/1.1 client on a socket. It sends exactly the given bytes and reads the responses, so it can break the
  # protocol. Unused received bytes are in the dictionary of the process that connected.
  @moduledoc false

  alias McpServer.{HttpEvents, HttpResponse}

  @enforce_keys [:socket, :port]
  defstruct [:socket, :port]

  @type t :: %__MODULE__{socket: :gen_tcp.socket(), port: :inet.port_number()}

  @type request :: %{
          required(:method) => String.t(),
          required(:target) => String.t(),
          required(:headers) => [{String.t(), iodata()}],
          required(:body) => iodata() | nil
        }

  @timeout 30_000

  @doc "Connects to a loopback port. A small `:recbuf` gives a client that does not read a small window."
  @spec connect(:inet.port_number(), keyword()) :: t()
  def connect(port, options \\ []) do
    {:ok, socket} = :gen_tcp.connect({127, 0, 0, 1}, port, [:binary, active: false, nodelay: true] ++ options, @timeout)

    put(socket, %{buffer: "", framing: {:length, 0}, events: "", methods: :queue.new()})
    %__MODULE__{socket: socket, port: port}
  end

  @doc """
  Options of a client that does not read, with segments so small that the buffers of loopback sockets are like those of a
  network: TCP_MAXSEG of Linux.
  """
  @spec small_window(pos_integer()) :: list()
  def small_window(bytes), do: [{:recbuf, bytes}, {:raw, 6, 2, <<1_448::native-32>>}]

  @doc "Writes bytes."
  @spec write(t(), iodata()) :: :ok | {:error, term()}
  def write(peer, bytes), do: :gen_tcp.send(peer.socket, bytes)

  @doc "Writes a request. Adds `host` and `content-length` if they are missing."
  @spec send_request(t(), request()) :: :ok | {:error, term()}
  def send_request(peer, request) do
    expect(peer, request.method)
    write(peer, bytes(peer, request))
  end

  @doc "Announces the response to a request with this method, if its bytes were written by hand."
  @spec expect(t(), method :: String.t()) :: t()
  def expect(%{socket: socket} = peer, method) do
    state = get(socket)
    put(socket, %{state | methods: :queue.in(method, state.methods)})
    peer
  end

  @doc "The bytes of a request."
  @spec bytes(t(), request()) :: iodata()
  def bytes(peer, %{method: method, target: target, headers: headers, body: body}) do
    names = for {name, _value} <- headers, do: String.downcase(name)
    host = if "host" in names, do: [], else: [{"host", "127.0.0.1:#{peer.port}"}]
    framed? = body == nil or "content-length" in names or "transfer-encoding" in names
    length = if framed?, do: [], else: [{"content-length", Integer.to_string(IO.iodata_length(body))}]
    lines = for {name, value} <- host ++ headers ++ length, do: [name, ": ", value, "\r\n"]
    [method, " ", target, " HTTP/1.1\r\n", lines, "\r\n", body || ""]
  end

  @doc "Sends a request and reads its response: complete, or up to the head of an event stream."
  @spec request(t(), request()) :: HttpResponse.t()
  def request(peer, request) do
    :ok = send_request(peer, request)
    response(peer)
  end

  @doc "The next response."
  @spec response(t()) :: HttpResponse.t()
  def response(peer) do
    response = head(peer)

    cond do
      # 100 Continue comes before the final response.
      response.status == 100 -> response
      HttpResponse.events?(response) -> %{response | body: :stream}
      true -> %{response | body: rest(peer)}
    end
  end

  @doc "The next response's head. The body is left for `events/1` or `rest/1`."
  @spec head(t()) :: HttpResponse.t()
  def head(%{socket: socket} = peer) do
    state = get(socket)

    case HttpResponse.take(state.buffer) do
      {%{status: 100} = response, rest} ->
        put(socket, %{state | buffer: rest})
        response

      {response, rest} ->
        {method, methods} = next_method(state.methods)
        framing = HttpResponse.framing(response, method)
        put(socket, %{state | buffer: rest, framing: framing, events: "", methods: methods})
        response

      :more ->
        receive_more!(peer)
        head(peer)
    end
  end

  defp next_method(methods) do
    case :queue.out(methods) do
      {{:value, method}, methods} -> {method, methods}
      {:empty, _methods} -> raise "a response that nobody asked for"
    end
  end

  @doc "The unread part of the body."
  @spec rest(t()) :: binary()
  def rest(peer), do: IO.iodata_to_binary(rest(peer, []))

  defp rest(peer, read) do
    case piece(peer) do
      :end -> Enum.reverse(read)
      bytes -> rest(peer, [bytes | read])
    end
  end

  @doc "The next event, or `:end` at the end of the stream."
  @spec event(t()) :: HttpEvents.event() | :end
  def event(%{socket: socket} = peer) do
    state = get(socket)

    case HttpEvents.take(state.events) do
      {event, rest} ->
        put(socket, %{state | events: rest})
        event

      :more ->
        case piece(peer) do
          :end ->
            state.events == "" || raise("the stream ends inside an event: #{inspect(state.events)}")
            :end

          bytes ->
            state = get(socket)
            put(socket, %{state | events: state.events <> bytes})
            event(peer)
        end
    end
  end

  @doc "The next event that is not only a comment, or `:end`."
  @spec data_event(t()) :: HttpEvents.event() | :end
  def data_event(peer) do
    case event(peer) do
      %{data: nil, id: nil, retry: nil} -> data_event(peer)
      event -> event
    end
  end

  @doc "All events up to the end of the stream."
  @spec events(t()) :: [HttpEvents.event()]
  def events(peer) do
    case event(peer) do
      :end -> []
      event -> [event | events(peer)]
    end
  end

  # The next bytes of the body, without framing.
  defp piece(%{socket: socket} = peer) do
    state = get(socket)

    case {state.framing, state.buffer} do
      {{:length, 0}, _buffer} ->
        :end

      {:until_close, ""} ->
        case more(peer) do
          :ok -> piece(peer)
          {:closed, _reason} -> :end
        end

      {:until_close, bytes} ->
        put(socket, %{state | buffer: ""})
        bytes

      {{:length, _left}, ""} ->
        receive_more!(peer)
        piece(peer)

      {{:length, left}, bytes} ->
        taken = min(left, byte_size(bytes))
        {piece, buffer} = :erlang.split_binary(bytes, taken)
        put(socket, %{state | buffer: buffer, framing: {:length, left - taken}})
        piece

      {:chunked, buffer} ->
        chunk(peer, state, buffer)
    end
  end

  defp chunk(%{socket: socket} = peer, state, buffer) do
    with [line, rest] <- :binary.split(buffer, "\r\n"),
         size = String.to_integer(line, 16),
         true <- byte_size(rest) >= size + 2,
         {chunk, "\r\n" <> buffer} <- :erlang.split_binary(rest, size) do
      framing = if size == 0, do: {:length, 0}, else: :chunked
      put(socket, %{state | buffer: buffer, framing: framing})
      if size == 0, do: :end, else: chunk
    else
      _unfinished ->
        receive_more!(peer)
        piece(peer)
    end
  end

  @doc "The next received bytes, not interpreted."
  @spec raw(t(), non_neg_integer(), timeout()) :: {:ok, binary()} | {:error, term()}
  def raw(peer, length \\ 0, timeout \\ @timeout), do: :gen_tcp.recv(peer.socket, length, timeout)

  @doc "Reads until the server closes, and returns everything. A reset is also an end."
  @spec until_closed(t()) :: binary()
  def until_closed(%{socket: socket} = peer) do
    case more(peer) do
      {:closed, _reason} -> get(socket).buffer
      :ok -> until_closed(peer)
    end
  end

  @doc "Whether the server closes without sending another byte."
  @spec closed?(t()) :: boolean()
  def closed?(peer), do: until_closed(peer) == ""

  @doc "Whether the server sends nothing for some milliseconds, and the connection stays open."
  @spec silent?(t(), pos_integer()) :: boolean()
  def silent?(%{socket: socket}, milliseconds \\ 50) do
    %{buffer: buffer, events: events} = get(socket)
    buffer == "" and events == "" and :gen_tcp.recv(socket, 0, milliseconds) == {:error, :timeout}
  end

  @doc "Shuts down the sending side. Reading continues."
  @spec half_close(t()) :: :ok
  def half_close(peer), do: :gen_tcp.shutdown(peer.socket, :write)

  @doc "Closes the connection."
  @spec close(t()) :: :ok
  def close(%{socket: socket}) do
    Process.delete({__MODULE__, socket})
    :gen_tcp.close(socket)
  end

  @doc "Closes with a reset. Unread bytes are dropped, and the server notices it."
  @spec cut(t()) :: :ok
  def cut(%{socket: socket} = peer) do
    :ok = :inet.setopts(socket, linger: {true, 0})
    close(peer)
  end

  defp receive_more!(peer) do
    with {:closed, reason} <- more(peer),
         do: raise("the server has closed (#{reason}); before that came #{inspect(get(peer.socket).buffer)}")
  end

  defp more(%{socket: socket}) do
    case :gen_tcp.recv(socket, 0, @timeout) do
      {:ok, bytes} ->
        state = get(socket)
        put(socket, %{state | buffer: state.buffer <> bytes})
        :ok

      {:error, :timeout} ->
        raise "nothing within #{@timeout} ms; before that came #{inspect(get(socket).buffer)}"

      {:error, reason} ->
        {:closed, reason}
    end
  end

  defp get(socket), do: Process.get({__MODULE__, socket})
  defp put(socket, state), do: Process.put({__MODULE__, socket}, state)
end
