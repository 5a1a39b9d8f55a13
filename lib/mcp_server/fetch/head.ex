defmodule McpServer.Fetch.Head do
  @moduledoc false
  # The heads of a request and of its response. Status line and headers together are limited to 64 KiB, against servers
  # that send endless headers.

  alias McpServer.Fetch
  alias McpServer.Fetch.Socket

  @enforce_keys [:status, :headers, :bodiless?]
  defstruct [:status, :headers, :bodiless?]

  @type t :: %__MODULE__{status: 200..599, headers: [{String.t(), String.t()}], bodiless?: boolean()}

  @max_bytes 64 * 1024

  @doc "The encoded request."
  @spec request(URI.t(), McpServer.Fetch.request()) :: iodata()
  def request(uri, request) do
    framing = if request.body, do: [{"content-length", Integer.to_string(byte_size(request.body))}], else: []
    headers = [{"host", authority(uri)}, {"connection", "close"} | framing] ++ request.headers
    method = request.method |> Atom.to_string() |> String.upcase()
    lines = for {name, value} <- headers, do: [name, ": ", value, "\r\n"]
    [method, " ", path(uri), " HTTP/1.1\r\n", lines, "\r\n", request.body || ""]
  end

  defp path(uri),
    do: [if(uri.path in [nil, ""], do: "/", else: uri.path), if(uri.query, do: ["?", uri.query], else: [])]

  defp authority(%{host: host, port: port, scheme: scheme}) do
    host = if String.contains?(host, ":"), do: "[" <> host <> "]", else: host
    if port == URI.default_port(scheme), do: host, else: "#{host}:#{port}"
  end

  @doc "Reads the head of the response. Interim responses are skipped, and count towards the same limit."
  @spec read(Socket.t()) :: {:ok, t(), Socket.t()} | {:error, term()}
  def read(socket), do: read(socket, @max_bytes)

  defp read(socket, left) do
    with {:ok, size, socket} <- complete(socket, left, 0),
         {bytes, buffer} = :erlang.split_binary(socket.buffer, size),
         {:ok, head} <- parse(bytes) do
      socket = %{socket | buffer: buffer}
      if head.status in 100..199, do: after_interim(head, socket, left - size), else: {:ok, head, socket}
    end
  end

  # No request asks for a protocol switch.
  defp after_interim(%{status: 101}, _socket, _left), do: {:error, :malformed}
  defp after_interim(_head, socket, left), do: read(socket, left)

  # Reads until the empty line. The first `seen` bytes do not contain it.
  defp complete(%{buffer: buffer} = socket, left, seen) do
    from = max(seen - 3, 0)

    case :binary.match(buffer, "\r\n\r\n", scope: {from, byte_size(buffer) - from}) do
      {position, 4} when position + 4 <= left -> {:ok, position + 4, socket}
      :nomatch when byte_size(buffer) < left -> read_on(socket, left)
      _too_long -> {:error, :head_too_large}
    end
  end

  defp read_on(socket, left) do
    case Socket.read(socket) do
      {:ok, more} -> complete(more, left, byte_size(socket.buffer))
      {:error, :closed} -> {:error, :closed_early}
      {:error, reason} -> {:error, reason}
    end
  end

  defp parse(bytes) do
    with {:ok, {:http_response, {1, minor}, status, _reason}, rest} when minor in [0, 1] and status in 100..599 <-
           :erlang.decode_packet(:http_bin, bytes, []),
         {:ok, headers} <- headers(rest, []) do
      {:ok, %__MODULE__{status: status, headers: headers, bodiless?: status in [204, 304]}}
    else
      _not_http -> {:error, :malformed}
    end
  end

  # The parser returns known names as existing atoms, and creates no atoms.
  defp headers(bytes, read) do
    case :erlang.decode_packet(:httph_bin, bytes, []) do
      {:ok, {:http_header, _bit, name, _raw, value}, rest} ->
        header = {name |> to_string() |> String.downcase(), unfolded(value)}
        if Fetch.header?(header), do: headers(rest, [header | read]), else: :error

      {:ok, :http_eoh, ""} ->
        {:ok, Enum.reverse(read)}

      _malformed ->
        :error
    end
  end

  # RFC 9112, section 5.2. In time that is linear, whatever the white space.
  defp unfolded(value) do
    case :binary.split(value, "\n", [:global]) do
      [line] -> line
      lines -> Enum.map_join(lines, " ", &(&1 |> without_begin() |> without_end()))
    end
  end

  defp without_begin(<<first, rest::binary>>) when first in [?\s, ?\t], do: without_begin(rest)
  defp without_begin(line), do: line

  defp without_end(""), do: ""

  defp without_end(line) do
    if :binary.last(line) in [?\s, ?\t, ?\r],
      do: line |> binary_part(0, byte_size(line) - 1) |> without_end(),
      else: line
  end
end
