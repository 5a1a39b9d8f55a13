defmodule Bench.Http.Client do
  @moduledoc "A minimal HTTP client: sends one request, and holds streams open."

  alias Bench.Http.Request

  @timeout 30_000

  @type response :: %{status: pos_integer(), headers: %{String.t() => String.t()}, body: String.t()}

  @doc "Sends one request on a new connection."
  @spec post(:inet.port_number(), Request.t(), String.t() | nil) :: response()
  def post(port, request, session \\ nil) do
    socket = send_request(port, request, session, [{"Connection", "close"}])
    [head, body] = socket |> read_all([]) |> String.split("\r\n\r\n", parts: 2)
    [status_line | lines] = String.split(head, "\r\n")
    ["HTTP/1.1", status | _reason] = String.split(status_line, " ", parts: 3)
    headers = Map.new(lines, &header/1)
    body = if headers["transfer-encoding"] == "chunked", do: unchunked(body), else: body
    %{status: String.to_integer(status), headers: headers, body: body}
  end

  @doc "Opens a stream, and returns its connection after the first event."
  @spec open_stream(:inet.port_number(), Request.t()) :: :gen_tcp.socket()
  def open_stream(port, request) do
    socket = send_request(port, request, nil, [])
    await_event(socket, "")
    socket
  end

  @doc "A connection that stays open after the answer to a request."
  @spec open_connection(:inet.port_number(), Request.t()) :: :gen_tcp.socket()
  def open_connection(port, request) do
    socket = send_request(port, request, nil, [])
    {:ok, "HTTP/1.1 200" <> _rest} = :gen_tcp.recv(socket, 0, @timeout)
    socket
  end

  @doc "Opens a connection without a request; returns a function that closes it."
  @spec connect(:inet.port_number()) :: (() -> :ok)
  def connect(port) do
    {:ok, socket} = :gen_tcp.connect({127, 0, 0, 1}, port, [:binary, active: false], @timeout)
    fn -> :gen_tcp.close(socket) end
  end

  @doc "The same over TLS, with a new handshake."
  @spec connect_encrypted(:inet.port_number()) :: (() -> :ok)
  def connect_encrypted(port) do
    options = [:binary, active: false, verify: :verify_none, log_level: :error]
    {:ok, socket} = :ssl.connect({127, 0, 0, 1}, port, options, @timeout)
    fn -> :ssl.close(socket) end
  end

  @doc "Whether a connection is still open."
  @spec open?(:gen_tcp.socket()) :: boolean()
  def open?(socket), do: :gen_tcp.recv(socket, 0, 0) != {:error, :closed}

  defp send_request(port, request, session, headers) do
    {:ok, socket} = :gen_tcp.connect({127, 0, 0, 1}, port, [:binary, active: false, nodelay: true], @timeout)
    session = if session, do: [{"Mcp-Session-Id", session}], else: []
    length = {"Content-Length", Integer.to_string(byte_size(request.body))}
    headers = [{"Host", "127.0.0.1:#{port}"}, length | request.headers] ++ session ++ headers
    lines = for {name, value} <- headers, do: [name, ": ", value, "\r\n"]
    :ok = :gen_tcp.send(socket, ["POST /mcp HTTP/1.1\r\n", lines, "\r\n", request.body])
    socket
  end

  defp read_all(socket, read) do
    case :gen_tcp.recv(socket, 0, @timeout) do
      {:ok, bytes} -> read_all(socket, [read | bytes])
      {:error, :closed} -> IO.iodata_to_binary(read)
    end
  end

  defp header(line) do
    [name, value] = String.split(line, ":", parts: 2)
    {String.downcase(name), String.trim(value)}
  end

  defp unchunked(body) do
    [size, rest] = String.split(body, "\r\n", parts: 2)

    case String.to_integer(size, 16) do
      0 -> ""
      size -> binary_part(rest, 0, size) <> unchunked(binary_part(rest, size + 2, byte_size(rest) - size - 2))
    end
  end

  # An event and the head both end with an empty line.
  defp await_event(socket, read) do
    {:ok, bytes} = :gen_tcp.recv(socket, 0, @timeout)
    read = read <> bytes

    case String.split(read, "\r\n\r\n", parts: 2) do
      ["HTTP/1.1 200" <> _head, events] -> events =~ ~r/\r?\n\r?\n/ || await_event(socket, read)
      [_half_a_head] -> await_event(socket, read)
    end
  end
end
