defmodule McpServer.HttpServer.Body do
  @moduledoc false
  # Reads the body of a request from a socket, within its time and minimum rate, and counts its bytes as they arrive.

  alias McpServer.Http.Sink
  alias McpServer.HttpServer.Socket
  alias McpServer.Protocol.HTTP
  alias McpServer.Quota

  # A longer body is read in large pieces.
  @small 32 * 1024
  @least_piece 8 * 1024
  @most_piece 64 * 1024

  @doc "Reads the body of the current request, of at most `max` bytes."
  @spec read(Socket.t(), max :: pos_integer()) ::
          {:ok, binary(), Socket.t()} | {:error, :too_large | :timeout | :closed | :malformed | :full, Socket.t()}
  def read(%{body: nil} = sink, _max), do: {:ok, "", sink}
  # There was no body, or what came ahead of the answer would not have been refused.
  def read(%{ahead_bytes: :refused} = sink, _max), do: {:ok, "", sink}
  def read(%{body: {:empty, _continue?}} = sink, _max), do: {:ok, "", %{sink | body: nil}}
  def read(%{body: {{:length, length}, _continue?}} = sink, max) when length > max, do: {:error, :too_large, sink}

  def read(%{body: {{:length, length}, continue?}} = sink, _max) do
    with {:ok, sink} <- await(sink, length, continue? and sink.buffer == "") do
      {body, sink} = Socket.take(sink, length)
      {:ok, body, %{sink | body: nil}}
    else
      {reason, sink} -> {:error, reason, sink}
    end
  end

  def read(%{body: {:chunked, continue?}} = sink, max) do
    sink = continue(sink, continue? and sink.buffer == "")
    decode(sink, HTTP.chunked(max), %{began: Sink.now(), bytes: 0})
  end

  @doc """
  Waits until the buffer has `length` bytes. Returns `{reason, sink}` if they do not arrive.

  With `continue?` it first sends "100 Continue" to the waiting client.
  """
  @spec await(Socket.t(), non_neg_integer(), continue? :: boolean()) ::
          {:ok, Socket.t()} | {:timeout | :closed | :full, Socket.t()}
  def await(%{buffer: buffer} = sink, length, _continue?) when byte_size(buffer) >= length, do: counted(sink, length)

  def await(sink, length, continue?) do
    sink = continue(sink, continue?)

    if length - byte_size(sink.buffer) > @small,
      do: gather_large(sink, length),
      else: gather(sink, length, Sink.now())
  end

  # Reads each piece after it was counted. Bytes of an active socket would be counted too late. A piece is not longer than
  # what has arrived, because the driver takes memory for all of it.
  defp gather_large(sink, length) do
    sink = sink |> Socket.read_passively() |> Socket.compact()
    {result, sink} = gather_pieces(sink, {[sink.buffer], byte_size(sink.buffer)}, length, Sink.now())
    {result, Socket.read_actively(sink)}
  end

  # A buffer to which each piece is appended would have room for as much again.
  defp gather_pieces(sink, {pieces, bytes}, length, _began) when bytes >= length,
    do: counted(%{sink | buffer: pieces |> Enum.reverse() |> IO.iodata_to_binary()}, length)

  defp gather_pieces(sink, {pieces, bytes}, length, began) do
    piece = min(length - bytes, bytes |> max(@least_piece) |> min(@most_piece))
    bytes = bytes + piece

    with {:ok, sink} <- reserve(sink, bytes),
         {:ok, data} <- Socket.fetch(sink, piece, body_due(sink.mount, began, bytes)) do
      gather_pieces(sink, {[data | pieces], bytes}, length, began)
    else
      :timeout -> {:timeout, sink}
      :closed -> {:closed, %{sink | gone?: true}}
      {:full, sink} -> {:full, sink}
    end
  end

  defp gather(%{buffer: buffer} = sink, length, _began) when byte_size(buffer) >= length, do: counted(sink, length)

  defp gather(sink, length, began),
    do: with({:ok, sink} <- gather_some(sink, began), do: gather(sink, length, began))

  # The wait is the last call: a frame below it could keep the buffer of before, as code of Elixir 1.20 does.
  defp gather_some(sink, began) do
    with {:ok, sink} <- reserve(sink, byte_size(sink.buffer)),
         do: Socket.receive_rest(sink, body_due(sink.mount, began, byte_size(sink.buffer)))
  end

  # The time at which a body is late: its total time is over, or its rate so far is too low.
  defp body_due(%{sockets: sockets}, began, bytes) do
    slow = max(sockets.body_grace, div(bytes * 1_000, sockets.body_min_rate))
    began + min(sockets.body_timeout, slow)
  end

  # An active socket may have read all of a long body before any of it was counted.
  defp counted(sink, length) when length <= @small, do: {:ok, sink}
  defp counted(sink, length), do: reserve(sink, length)

  @doc "Counts received bytes, and those of the piece that is read: a declared length reserves nothing."
  @spec reserve(Socket.t(), bytes :: non_neg_integer()) :: {:ok | :full, Socket.t()}
  def reserve(%{body_bytes: held} = sink, bytes) when bytes <= held, do: {:ok, sink}

  def reserve(%{body_bytes: held} = sink, bytes) do
    case Quota.take(sink.account.quota, :body_bytes, Sink.address(sink), bytes - held) do
      :ok -> {:ok, %{sink | body_bytes: bytes}}
      :full -> {:full, sink}
    end
  end

  defp continue(sink, true) do
    Socket.write(sink, HTTP.continue())
  end

  defp continue(sink, false), do: sink

  # The decoder holds the decoded bytes.
  defp decode(%{buffer: ""} = sink, decoder, progress) do
    case Socket.receive_more(sink, body_due(sink.mount, progress.began, progress.bytes)) do
      {:ok, sink} -> decode(sink, decoder, progress)
      {reason, sink} -> {:error, reason, sink}
    end
  end

  defp decode(%{buffer: buffer} = sink, decoder, %{bytes: bytes} = progress) do
    bytes = bytes + byte_size(buffer)

    with {:ok, sink} <- reserve(sink, bytes) do
      case HTTP.decode_chunks(decoder, buffer) do
        :more -> decode(%{sink | buffer: ""}, decoder, %{progress | bytes: bytes})
        {:done, body, used} -> {:ok, body, ended(sink, used)}
        {:error, reason} -> {:error, reason, sink}
      end
    else
      {reason, sink} -> {:error, reason, sink}
    end
  end

  # A proxy in front of the server may see another end of the chunked body, so the connection is closed.
  defp ended(sink, used) do
    {_chunks, sink} = Socket.take(sink, used)
    Socket.leave(%{sink | body: nil})
  end
end
