defmodule McpServer.DualResponse.Rest.Stream do
  @moduledoc false
  # Sends a stream at the speed of its client: the next part is built when most of the last part has left.
  #
  # A slow client is cut off, because it occupies one of the dispatcher's places. Only the time that the stream waits
  # for the client counts, so a slow query cuts off no client.

  alias McpServer.Dispatch.Failure
  alias McpServer.DualResponse.Rest
  alias McpServer.DualResponse.Rest.Dispatcher
  alias McpServer.Http.{Exchange, Sink}
  alias McpServer.Limit

  # The maximum number of bytes in transit while the next part is built.
  @window 64 * 1024

  @doc "Sends the response from the calling process. Returns at its end, or when the client has gone. Exits to cut it."
  @spec run(pid(), Rest.t(), Exchange.t(), {pos_integer(), Sink.headers()}, Enumerable.t()) :: :ok
  def run(dispatcher, rest, exchange, head, parts) do
    exchange = Exchange.own(exchange)
    Dispatcher.report(dispatcher, :streaming)

    send_all(
      %{dispatcher: dispatcher, rest: rest, exchange: exchange, waiting: 0, taken: 0, waited: 0, head: head},
      parts
    )

    :ok
  end

  defp send_all(stream, parts) do
    case reduce(stream, parts) do
      :closed -> :ok
      # The exchange is cut with its owner, so that a client does not take the sent part for the complete result.
      :cut -> exit(:cut)
      stream -> Exchange.finish(stream.exchange)
    end
  end

  defp reduce(stream, parts) do
    Enum.reduce_while(parts, stream, &send_part/2)
  catch
    kind, reason ->
      Failure.log(Failure.new(kind, reason, __STACKTRACE__), "stream of a stored result")
      :cut
  end

  defp send_part(part, stream) do
    with :ok <- put(stream, part),
         stream = %{stream | head: nil, waiting: stream.waiting + IO.iodata_length(part)},
         {:ok, stream} <- drain(stream) do
      {:cont, stream}
    else
      ended -> {:halt, ended}
    end
  end

  defp put(%{head: {status, headers}, exchange: exchange}, part), do: Exchange.stream(exchange, status, headers, part)
  defp put(%{exchange: exchange}, part), do: Exchange.chunk(exchange, part)

  defp drain(%{waiting: waiting} = stream) when waiting <= @window do
    Dispatcher.report(stream.dispatcher, :reading)
    {:ok, stream}
  end

  defp drain(stream) do
    Dispatcher.report(stream.dispatcher, :waiting)
    await(stream, now())
  end

  defp await(%{waiting: waiting} = stream, since) when waiting <= @window,
    do: drain(%{stream | waited: stream.waited + now() - since})

  defp await(%{exchange: %{ref: ref}} = stream, since) do
    receive do
      {:mcp_exchange, ^ref, {:sent, bytes}} ->
        await(%{stream | waiting: stream.waiting - bytes, taken: stream.taken + bytes}, since)

      {:mcp_exchange, ^ref, :closed} ->
        :closed

      {{:mcp_exchange_down, ^ref}, _monitor, :process, _pid, _reason} ->
        :closed
    after
      (patience(stream) - (now() - since)) |> max(0) |> min(Limit.most(:milliseconds)) -> :cut
    end
  end

  # The time that the stream may still wait for its client, in milliseconds.
  defp patience(%{rest: rest} = stream),
    do: rest.stream_grace + div(stream.taken * 1_000, rest.stream_min_rate) - stream.waited

  defp now, do: System.monotonic_time(:millisecond)
end
