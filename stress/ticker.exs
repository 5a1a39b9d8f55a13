defmodule Stress.Ticking do
  @moduledoc """
  Y3: the delays of a 1 ms ticker while 16 processes pass the worst inputs to the native code.

  The first two lines are references for the machine and the VM: a ticker alone, and a ticker with 16 busy processes of
  plain Elixir.
  """

  alias McpServer.{HttpPeer, HttpRequests}
  alias Stress.{Inputs, Report, Ticker}

  @processes 16
  # In microseconds.
  @most_p999 20_000
  @most 100_000

  def run(short?) do
    seconds = if short?, do: 2, else: 30
    work = Inputs.work()
    Report.percentiles_heading()
    alone = [fn -> Process.sleep(10) end]
    measured("alone", alone, div(seconds, 2))
    measured("beside plain Elixir", [fn -> Enum.reduce(1..2_000, 0, &(&1 + &2)) end], div(seconds, 2))
    unless short?, do: for({name, fun} <- work, do: measured(name, [fun], 2))
    together = measured("all of them", for({_name, fun} <- work, do: fun), seconds)
    Report.line("run queue after it", ["#{idle_queue()}"])
    findings("through the public functions", together) ++ over_http(seconds) ++ [queue()]
  end

  defp measured(name, work, seconds) do
    stop_at = now() + seconds * 1_000

    workers =
      for n <- 1..@processes, do: Task.async(fn -> until(stop_at, Enum.drop(work, rem(n, length(work))), work) end)

    # The ticker starts after all workers have started.
    Process.sleep(100)
    {ticker, waited} = {Ticker.start(), Ticker.waited_for_cores()}
    Task.await_many(workers, :infinity)
    late = Ticker.stop(ticker)
    Report.percentiles(name, late, if(waited, do: ["#{Ticker.waited_for_cores() - waited}"], else: []))
  end

  defp until(stop_at, [], work), do: until(stop_at, work, work)

  defp until(stop_at, [fun | rest], work) do
    if now() < stop_at do
      fun.()
      until(stop_at, rest, work)
    end
  end

  defp findings(where, {p999, most}) do
    [
      {"Y3: #{where}: p99.9 below 20 ms (#{div(p999, 1_000)} ms)", p999 < @most_p999, :timed},
      {"Y3: #{where}: never later than 100 ms (#{div(most, 1_000)} ms)", most < @most, :timed}
    ]
  end

  # 16 clients send the same texts, and calls of the lattice, to a server of this VM.
  defp over_http(seconds) do
    {:ok, server} = McpServer.HttpServer.start_link(router: McpServer.FaultRouter, port: 0)
    port = McpServer.HttpServer.port(server)
    requests = for {_name, text} <- Inputs.texts(), byte_size(text) <= 4 * 1024 * 1024, do: HttpRequests.post(text)
    lattice = HttpRequests.modern_call("lattice", %{"value" => "hostile"})
    unanswered = :counters.new(1, [])
    work = for request <- [lattice | Enum.intersperse(requests, lattice)], do: fn -> ask(port, request, unanswered) end
    together = measured("16 clients over HTTP", work, seconds)
    pings = Task.async(fn -> pings(port, now() + seconds * 1_000) end)
    lattices = measured("16 lattices over HTTP", [fn -> ask(port, lattice, unanswered) end], seconds)
    Report.percentiles("a ping beside them", Task.await(pings, :infinity))
    GenServer.stop(server)

    findings("16 clients over HTTP", together) ++
      findings("16 lattices over HTTP", lattices) ++ [unanswered(:counters.get(unanswered, 1))]
  end

  # Measures how long another client waits, because all clients share the listener's threads.
  defp pings(port, stop_at) do
    peer = HttpPeer.connect(port)
    times = until(stop_at, fn -> :timer.tc(fn -> ping(peer) end) |> elem(0) end)
    HttpPeer.close(peer)
    times
  end

  defp ping(peer), do: %{status: 200} = HttpPeer.request(peer, HttpRequests.modern("server/discover"))

  defp until(stop_at, fun) do
    Process.sleep(1)
    if now() < stop_at, do: [fun.() | until(stop_at, fun)], else: []
  end

  defp ask(port, request, unanswered) do
    peer = HttpPeer.connect(port)
    :ok = HttpPeer.send_request(peer, request)
    true = status(peer, unanswered) in [200, 400, :unanswered]
    HttpPeer.close(peer)
  end

  defp status(peer, unanswered) do
    HttpPeer.response(peer).status
  rescue
    # No answer arrived within the timeout of a test peer.
    RuntimeError ->
      :counters.add(unanswered, 1, 1)
      :unanswered
  end

  defp unanswered(count), do: {"Y3: every client is answered within 15 s (#{count} were not)", count == 0, :timed}

  defp queue, do: {"Y3: the run queue is empty when the work is done", idle_queue() <= 1}

  # Returns the length when it is short, or after ten seconds. The calling process may be counted too.
  defp idle_queue(left \\ 100) do
    Process.sleep(100)
    length = :erlang.statistics(:total_run_queue_lengths_all)
    if length <= 1 or left == 0, do: length, else: idle_queue(left - 1)
  end

  defp now, do: System.monotonic_time(:millisecond)
end
