defmodule Stress.Ceiling do
  @moduledoc """
  Y4: a VM with 1 GiB of address space, and clients whose requests need the most memory. The VM survives, refuses
  requests with 413 and 503, and answers after the clients have left.

  `ulimit -v` counts reserved memory too, so flags make the VM reserve less: 64 MiB instead of 1 GiB
  for literals (`+MIscs`), two threads for files instead of ten (`+SDio`), two arenas of the C library. The server has
  the limits of a small machine: at most 48 connections, 4 calls for each scheduler, 32 MiB for each call. A handler's
  large binaries are on no heap, so no limit of the VM applies to them: these handlers create 7 MB each.
  """

  alias McpServer.{FaultServer, HttpPeer, HttpRequests}
  alias Stress.{Inputs, Report}

  @clients 32
  @limit "export MALLOC_ARENA_MAX=2; ulimit -v 1048576"
  @flags "--erl '+MIscs 64 +SDio 2'"
  @bounds [limits: [max_heap_bytes: 32_000_000, max_result_bytes: 8_000_000], http: [max_connections: 48, max_calls: 4]]
  @mib 1024 * 1024

  def run(short?) do
    seconds = if short?, do: 4, else: 60
    tmp_dir = Path.join(System.tmp_dir!(), "stress-#{System.unique_integer([:positive])}")
    File.mkdir_p!(tmp_dir)
    server = FaultServer.start(:http, tmp_dir, [limit: @limit, flags: @flags, logger: :none] ++ @bounds)
    statuses = flood(server.http.port, seconds)
    for {status, count} <- Enum.sort(statuses), do: Report.line("status #{status}", ["#{count}"])
    {alive?, peak} = still_there(server, 100)
    Report.line("most memory, MiB", ["#{div(peak, 1024)}"])
    File.rm_rf!(tmp_dir)

    [
      {"Y4: it lives and answers under 1 GiB of address space", alive?},
      {"Y4: 413 and 503 are given out", is_map_key(statuses, 413) and is_map_key(statuses, 503)},
      {"Y4: nothing else goes wrong",
       Map.keys(statuses) -- [200, 400, 413, 503, :closed] == [] and is_map_key(statuses, 200)}
    ]
  end

  defp flood(port, seconds) do
    stop_at = now() + seconds * 1_000
    requests = requests()

    for client <- 1..@clients do
      Task.async(fn -> until(stop_at, port, Enum.drop(requests, rem(client, length(requests))), requests, []) end)
    end
    |> Task.await_many(:infinity)
    |> Enum.concat()
    |> Enum.frequencies()
  end

  defp requests do
    bodies = for {_name, text} <- Inputs.texts(), byte_size(text) <= 4 * @mib, do: HttpRequests.post(text)
    call = &HttpRequests.modern_call/2

    bodies ++
      [
        HttpRequests.post(String.duplicate("x", 4 * @mib + 1)),
        call.("greedy", %{}),
        call.("large", %{"bytes" => 7_000_000}),
        call.("sleep", %{"ms" => 500}),
        call.("garbage", %{"how" => "1,000,000 deep"}),
        call.("lattice", %{"value" => "hostile"}),
        call.("echo", %{"text" => String.duplicate("é", @mib)})
      ]
  end

  defp until(stop_at, port, [], requests, seen), do: until(stop_at, port, requests, requests, seen)

  defp until(stop_at, port, [request | rest], requests, seen) do
    if now() < stop_at, do: until(stop_at, port, rest, requests, [ask(port, request) | seen]), else: seen
  end

  # A server that refuses a body closes the connection, perhaps before the body was sent.
  defp ask(port, request) do
    peer = HttpPeer.connect(port)

    try do
      HttpPeer.send_request(peer, request)
      response = HttpPeer.response(peer)
      if response.body == :stream, do: HttpPeer.events(peer)
      response.status
    rescue
      RuntimeError -> :closed
    after
      HttpPeer.close(peer)
    end
  end

  defp still_there(server, left) do
    case FaultServer.call(server, "peak") do
      %{"result" => %{"isError" => false}} = answer ->
        {FaultServer.stop(server) == 0, String.to_integer(FaultServer.text(answer))}

      _busy when left > 0 ->
        Process.sleep(100)
        still_there(server, left - 1)
    end
  end

  defp now, do: System.monotonic_time(:millisecond)
end
