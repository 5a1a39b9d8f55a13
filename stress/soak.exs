defmodule Stress.Soak do
  @moduledoc """
  Half an hour of requests of every kind, at half of the server's maximum rate, on connections that open and close.

  The memory of the last third of the time must equal that of the second third within 5 %: in the first
  third, allocators reach their final size. Afterwards everything that was opened must be closed.
  """

  alias McpServer.{HttpPeer, HttpRequests}
  alias Stress.{Report, Server, Traffic}

  @clients 8
  @longest_connection 40
  # One of this many connections is cut during its answer.
  @cut_one_of 4
  @samples 60

  @doc "Runs it; `STRESS_SECONDS` sets its length."
  @spec run(boolean()) :: [{String.t(), boolean()} | {String.t(), boolean(), :timed}]
  def run(short?) do
    duration = if short?, do: 3_000, else: 1_000 * String.to_integer(System.get_env("STRESS_SECONDS", "1800"))
    server = Server.launch()
    full = rate(server, if(short?, do: 500, else: 10_000), :infinity)
    before = Server.figures(server)

    sampler = Task.async(fn -> samples(server, div(duration, @samples)) end)
    half = rate(server, duration, full / 2)
    samples = Task.await(sampler, :infinity)
    {now, missed} = Server.settled(server, Map.drop(before, [:memory, :rss]))
    Server.stop(server)

    Report.line("", ["requests/s", "at half load"])
    Report.line("rate", ["#{round(full)}", "#{round(half)}"])
    thirds = Enum.chunk_every(samples, div(@samples, 3))
    for name <- [:memory, :rss], do: Report.line("#{name}, MB", Enum.map(thirds, &megabytes(median(&1, name))))
    Report.line("at the end", for(name <- [:memory, :rss], do: megabytes(now[name])))

    [
      {Enum.join(["soak: everything is closed" | missed], "; "), missed == []},
      flat(thirds, :memory),
      flat(thirds, :rss)
    ]
  end

  defp flat([_first, second, third], name) do
    [earlier, later] = Enum.map([second, third], &median(&1, name))

    text =
      "soak: #{name} of the last third is #{Float.round(later / earlier, 3)} times that of the second, 1.05 at most"

    {text, later <= earlier * 1.05, :timed}
  end

  defp samples(server, pause) do
    for _sample <- 1..@samples do
      Process.sleep(pause)
      Server.figures(server)
    end
  end

  defp median(samples, name), do: samples |> Enum.map(& &1[name]) |> Enum.sort() |> Enum.at(div(length(samples), 2))

  # The requests a second of all clients together, measured over `duration` milliseconds.
  defp rate(server, duration, wanted) do
    pause = if wanted == :infinity, do: 0, else: @clients * 1_000 / wanted
    began = now()

    requests =
      for(
        number <- 1..@clients,
        do: Task.async(fn -> client(server.port, number, pause, {began, began + duration}) end)
      )
      |> Task.await_many(:infinity)
      |> Enum.sum()

    requests * 1_000 / (now() - began)
  end

  # `pause` is the milliseconds per request.
  defp client(port, number, pause, {began, until}, made \\ 0) do
    if now() >= until do
      made
    else
      made = made + connection(port, number * 1_000_000 + made)
      Process.sleep(max(round(began + made * pause) - now(), 0))
      client(port, number, pause, {began, until}, made)
    end
  end

  defp connection(port, first) do
    count = :rand.uniform(@longest_connection)
    Traffic.over_http(port, first..(first + count - 1))
    if :rand.uniform(@cut_one_of) == 1, do: count + cut(port), else: count
  end

  defp cut(port) do
    peer = HttpPeer.connect(port)
    :ok = HttpPeer.write(peer, HttpPeer.bytes(peer, HttpRequests.modern_call("sleep", %{"ms" => 1_000})))
    HttpPeer.cut(peer)
    1
  end

  defp now, do: System.monotonic_time(:millisecond)
  defp megabytes(bytes), do: :erlang.float_to_binary(bytes / 1_000_000, decimals: 1)
end
