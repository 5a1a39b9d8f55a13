defmodule McpServer.HttpServer.Polling do
  @moduledoc false
  # Waits for the next request of a connection.
  #
  # A client that sends each request right after the last answer waits mostly for schedulers that fall asleep and wake
  # up. The process of such a connection polls for a short time before it sleeps, and other processes run meanwhile. It
  # polls only while its mount has no requests of other connections: they keep the schedulers awake.

  alias McpServer.Http.Usage
  alias McpServer.HttpServer.Socket

  # How long a process polls, and the longest pause of a quick client: microseconds.
  @poll_us 100
  # One pause in 16 is measured, because the clock is expensive per request.
  @measured_packet 1
  # A scheduler reads sockets after its processes have used up this many reductions.
  @time_slice 4_000

  @doc "Waits for more bytes of the peer for `ms` milliseconds. Returns the same results as `Socket.receive_more/2`."
  @spec await(Socket.t(), ms :: timeout()) :: {:ok | :closed | :timeout, Socket.t()}
  def await(%{quick?: true} = sink, ms) do
    with {:timeout, sink} <- poll(sink, now() + @poll_us, requests(sink)),
         do: Socket.receive_more(%{sink | quick?: false}, {:within, ms})
  end

  def await(%{packets: @measured_packet} = sink, ms) do
    since = now()
    before = requests(sink)

    with {:ok, sink} <- Socket.receive_more(sink, {:within, ms}),
         do: {:ok, %{sink | quick?: now() - since <= @poll_us and requests(sink) == before}}
  end

  def await(sink, ms), do: Socket.receive_more(sink, {:within, ms})

  defp poll(sink, until, before) do
    :erlang.bump_reductions(@time_slice)
    :erlang.yield()

    with {:timeout, sink} <- Socket.receive_more(sink, {:within, 0}) do
      if now() < until and requests(sink) == before, do: poll(sink, until, before), else: {:timeout, sink}
    end
  end

  defp requests(sink), do: Usage.total(sink.account, :requests)
  defp now, do: System.monotonic_time(:microsecond)
end
