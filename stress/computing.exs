defmodule Stress.Computing.Router do
  @moduledoc false
  use McpServer.Router, name: "computing"

  tool "compute", "Computes for some milliseconds", Stress.Computing.Handlers, :compute
  tool "wait", "Waits for some milliseconds", Stress.Computing.Handlers, :wait
end

defmodule Stress.Computing.Handlers do
  @moduledoc false
  use McpServer.Controller

  @steps 300_000
  @wait_ms 20

  def compute(_conn, _arguments), do: {:ok, to_string(Enum.reduce(1..@steps, 0, &(&1 + &2)))}

  def wait(_conn, _arguments) do
    Process.sleep(@wait_ms)
    {:ok, "waited"}
  end
end

defmodule Stress.Computing do
  @moduledoc """
  A crowd that calls a tool that computes, twice as often as the schedulers can carry out.

  The median of the calls that run must stay below ten times that of a quiet server: the others are refused at once. A
  tool that waits, as for a database, is refused to nobody meanwhile. The server has a VM.
  """

  alias McpServer.{HttpPeer, HttpRequests, HttpServer, HttpVm}
  alias Stress.Report

  # Connections.
  @crowd 64
  @waiting 8
  # Calls.
  @quiet 100
  @times 10

  @doc "Runs it."
  @spec run(boolean()) :: [{String.t(), boolean()} | {String.t(), boolean(), :timed}]
  def run(short?) do
    duration = if short?, do: 3_000, else: 30_000
    vm = HttpVm.launch()
    HttpVm.call(vm, Code, :require_file, [__ENV__.file])
    port = HttpVm.call(vm, __MODULE__, :serve_here, [])
    quiet = median(for {200, time} <- calls("compute", port, 0, @quiet), do: time)
    # Milliseconds between the calls of a connection.
    pause = @crowd * quiet / 1_000 / System.schedulers_online() / 2
    waiting = for _ <- 1..@waiting, do: Task.async(fn -> calls("wait", port, 0, until: now() + duration) end)
    crowd = for _ <- 1..@crowd, do: Task.async(fn -> calls("compute", port, pause, until: now() + duration) end)
    computed = crowd |> Task.await_many(:infinity) |> Enum.concat()
    waited = waiting |> Task.await_many(:infinity) |> Enum.concat()
    HttpVm.stop(vm)
    report(quiet, computed, waited)
  end

  # Runs in the VM, as a child of the supervisor that `HttpVm` has started.
  @doc false
  def serve_here do
    options = [router: Stress.Computing.Router, port: 0]
    {:ok, pid} = Supervisor.start_child(HttpVm, Supervisor.child_spec({HttpServer, options}, id: :computing))
    HttpServer.port(pid)
  end

  # The status and the time in microseconds of each call, one after the other on one connection.
  defp calls(tool, port, pause, wanted) do
    peer = HttpPeer.connect(port)
    request = HttpRequests.modern_call(tool)
    results = repeat({peer, request, pause}, wanted, [])
    HttpPeer.close(peer)
    results
  end

  defp repeat(_call, 0, results), do: results
  defp repeat(call, left, results) when is_integer(left), do: repeat(call, left - 1, [once(call) | results])

  defp repeat(call, [until: due], results),
    do: if(now() < due, do: repeat(call, [until: due], [once(call) | results]), else: results)

  defp once({peer, request, pause}) do
    {time, response} = :timer.tc(fn -> HttpPeer.request(peer, request) end)
    # The moments of the crowd are not those of one clock.
    Process.sleep(max(0, round(2 * pause * :rand.uniform() - time / 1_000)))
    {response.status, time}
  end

  defp report(quiet, computed, waited) do
    ran = for {200, time} <- computed, do: time
    refused = length(computed) - length(ran)
    refused_waiting = Enum.count(waited, fn {status, _time} -> status != 200 end)
    times = Float.round(median(ran) / quiet, 1)
    Report.line("", ["quiet ms", "median ms", "ran", "refused", "waited", "refused"])

    Report.line("computing", [
      ms(quiet),
      ms(median(ran)),
      "#{length(ran)}",
      "#{refused}",
      "#{length(waited)}",
      "#{refused_waiting}"
    ])

    [
      {"computing: #{refused_waiting} of #{length(waited)} calls that wait are refused, none may be",
       refused_waiting == 0 and waited != []},
      {"computing: at twice the capacity, of which #{refused} calls are refused, the median of those that run is " <>
         "#{times} times that of a quiet server, #{@times} at most", refused > 0 and times <= @times, :timed}
    ]
  end

  defp median([]), do: 0
  defp median(times), do: times |> Enum.sort() |> Enum.at(div(length(times), 2))
  defp ms(microseconds), do: :erlang.float_to_binary(microseconds / 1_000, decimals: 2)
  defp now, do: System.monotonic_time(:millisecond)
end
