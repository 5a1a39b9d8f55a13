defmodule McpServer.Http.RowStream do
  @moduledoc false
  # Sends a stream as fast as its client takes it: the next part is made once nearly all of the last one has left.

  alias McpServer.Dispatch.Failure
  alias McpServer.Http.{Desk, Exchange}

  # What may be on its way while the next part is made.
  @window 64 * 1024

  @doc "Carries the response out in the calling process; returns when it is sent, or the client has gone. Exits when it has to be cut."
  @spec run(pid(), Exchange.t(), pos_integer(), Exchange.headers(), Enumerable.t()) :: :ok
  def run(desk, exchange, status, headers, parts) do
    with {:ok, exchange} <- Exchange.own(exchange) do
      Desk.report(desk, :streaming)
      send_all(%{desk: desk, exchange: exchange, waiting: 0, head: {status, headers}}, parts)
    end

    :ok
  end

  defp send_all(stream, parts) do
    case Enum.reduce_while(parts, stream, &send_part/2) do
      :closed -> :ok
      stream -> Exchange.finish(stream.exchange)
    end
  catch
    # With its owner the exchange is cut, so that what was sent does not pass for the whole.
    kind, reason ->
      Failure.log(Failure.new(kind, reason, __STACKTRACE__), "stream of a stored result")
      exit(:cut)
  end

  defp send_part(part, stream) do
    with :ok <- put(stream, part),
         stream = %{stream | head: nil, waiting: stream.waiting + IO.iodata_length(part)},
         {:ok, stream} <- drain(stream) do
      {:cont, stream}
    else
      :closed -> {:halt, :closed}
    end
  end

  defp put(%{head: {status, headers}, exchange: exchange}, part), do: Exchange.stream(exchange, status, headers, part)
  defp put(%{exchange: exchange}, part), do: Exchange.chunk(exchange, part)

  defp drain(%{waiting: waiting} = stream) when waiting <= @window do
    Desk.report(stream.desk, :reading)
    {:ok, stream}
  end

  defp drain(stream) do
    Desk.report(stream.desk, :waiting)
    await(stream)
  end

  defp await(%{waiting: waiting} = stream) when waiting <= @window, do: drain(stream)

  defp await(%{exchange: %{ref: ref}} = stream) do
    receive do
      {:mcp_exchange, ^ref, {:sent, bytes}} -> await(%{stream | waiting: stream.waiting - bytes})
      {:mcp_exchange, ^ref, :closed} -> :closed
      {{:mcp_exchange_down, ^ref}, _monitor, :process, _pid, _reason} -> :closed
    end
  end
end
