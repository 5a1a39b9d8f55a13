defmodule Stress.Calls do
  @moduledoc """
  A million calls of every kind, half of them over HTTP and half over stdio, each half to a separate VM.
  Each call has at least ten unknown names. Afterwards no atom is new, and processes, ports, tables
  and memory are as after the first ten thousand calls.
  """

  alias McpServer.{FaultServer, JSON, StdioPeer}
  alias Stress.{Report, Traffic}

  @clients 16
  # OTP's socket driver keeps some buffers of 1,512 bytes for the next connections: four in 60,000 calls.
  @slack %{"binary" => 16 * 1_512}
  @counts ~w(processes ports tables)
  @bytes ~w(memory binary)

  def run(short?) do
    calls = if short?, do: 4_000, else: 500_000
    first = if short?, do: 2_000, else: 10_000
    Enum.flat_map(FaultServer.transports(), &over(&1, first, calls))
  end

  defp over(transport, first, calls) do
    tmp_dir = Path.join(System.tmp_dir!(), "stress-#{System.unique_integer([:positive])}")
    File.mkdir_p!(tmp_dir)
    # The logs of failing tools are not measured.
    server = FaultServer.start(transport, tmp_dir, logger: :none)
    FaultServer.figures(server)
    send_all(server, 1..first)
    before = settled(server)
    {microseconds, :ok} = :timer.tc(fn -> send_all(server, (first + 1)..(first + calls)) end)
    now = settled(server, before)
    Report.line("over #{transport}", ["#{calls} calls", "#{div(calls * 1_000_000, microseconds)}/s"])
    Report.figures(before, now)
    status = FaultServer.stop(server)
    File.rm_rf!(tmp_dir)
    findings(transport, calls, before, now, status)
  end

  defp findings(transport, calls, before, now, status) do
    text = "#{calls} calls over #{transport}:"

    [
      {"#{text} no atom is new (#{now["atoms"] - before["atoms"]})", now["atoms"] == before["atoms"]},
      {"#{text} processes, ports and tables are as before", Enum.all?(@counts, &within?(&1, before, now))},
      {"#{text} memory is within 5 %, and so are binaries", Enum.all?(@bytes, &within?(&1, before, now))},
      {"#{text} the VM ends with status 0", status == 0}
    ]
  end

  # Closed connections and answered calls need a moment to end.
  defp settled(server) do
    Process.sleep(2_000)
    FaultServer.figures(server)
  end

  # On a busy machine the moment is longer.
  defp settled(server, before, left \\ 15) do
    now = settled(server)

    if left == 0 or Enum.all?(@counts ++ @bytes, &within?(&1, before, now)),
      do: now,
      else: settled(server, before, left - 1)
  end

  defp within?(name, before, now) when name in @counts, do: now[name] <= before[name]
  defp within?(name, before, now), do: now[name] <= div(before[name] * 105, 100) + Map.get(@slack, name, 0)

  defp send_all(%{transport: :http, http: http}, numbers) do
    for client <- 1..@clients do
      own = Stream.filter(numbers, &(rem(&1, @clients) == client - 1))
      Task.async(fn -> Traffic.over_http(http.port, own) end)
    end
    |> Task.await_many(:infinity)

    :ok
  end

  defp send_all(%{transport: :stdio, peer: peer}, numbers) do
    numbers |> Stream.chunk_every(500) |> Enum.each(&exchange(peer, &1))
  end

  # Sends some hundred lines at once, then reads their answers: the server stops reading from a client that never reads.
  defp exchange(peer, numbers) do
    requests = Enum.map(numbers, &Traffic.request/1)
    StdioPeer.write_raw(peer, for({request, _answered?} <- requests, do: [request.body, ?\n]))
    answers(peer, Enum.count(requests, fn {_request, answered?} -> answered? end))
  end

  defp answers(_peer, 0), do: :ok

  defp answers(peer, left) do
    case JSON.decode!(StdioPeer.line(peer, 120_000)) do
      %{"method" => "notifications/" <> _progress} -> answers(peer, left)
      _answer -> answers(peer, left - 1)
    end
  end
end
