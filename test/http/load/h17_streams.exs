# H17 with figures of one's choice: sessions with an open stream each, one event a second to all of them, then
# all of them cut at once. The server is a VM of its own.
#
#     MIX_ENV=test mix run test/http/load/h17_streams.exs [streams] [seconds]
#
# Prints what was lost, the delays, the server's memory, and how long it took to forget everything.

alias McpServer.{Changes, HttpRouter, HttpVm, Load}

defmodule McpServer.Load do
  alias McpServer.{HttpPeer, HttpSession, HttpVm}

  # The server's memory and processes, as it sees them, and as the system does.
  def used(vm) do
    [_, kibibytes] = Regex.run(~r/VmRSS:\s+(\d+) kB/, File.read!("/proc/#{vm.os_pid}/status"))
    used = HttpVm.used(vm)
    %{beam: div(used.memory, 1024), resident: String.to_integer(kibibytes), processes: used.processes}
  end

  # A client: opens a session and its stream, and notes when each event came.
  def client(server, parent) do
    peer = HttpSession.get(HttpSession.open(server))
    send(parent, :open)
    send(parent, {:seen, listen(peer, [])})
  end

  defp listen(peer, came) do
    receive do
      :cut ->
        HttpPeer.cut(peer)
        Enum.reverse(came)
    after
      0 ->
        case HttpPeer.raw(peer, 0, 100) do
          {:ok, bytes} ->
            now = System.monotonic_time(:microsecond)
            listen(peer, for(_ <- :binary.matches(bytes, "list_changed"), do: now) ++ came)

          {:error, :timeout} ->
            listen(peer, came)

          {:error, _closed} ->
            Enum.reverse(came)
        end
    end
  end

  def until(fun, left \\ 1_200) do
    if fun.() or left == 0 do
      :ok
    else
      Process.sleep(50)
      until(fun, left - 1)
    end
  end
end

[streams, seconds] =
  case Enum.map(System.argv(), &String.to_integer/1) do
    [] -> [2_000, 10]
    [streams] -> [streams, 10]
    both -> both
  end

vm = HttpVm.launch(serve: [http: [max_sessions: streams + 10, idle_timeout: 30_000]])
before = Load.used(vm)
parent = self()

clients =
  for some <- Enum.chunk_every(1..streams, 100) do
    clients = for _ <- some, do: spawn_link(fn -> Load.client(vm.server, parent) end)
    for _ <- clients, do: receive(do: (:open -> :ok))
    clients
  end

clients = List.flatten(clients)
held = Load.used(vm)

IO.puts(
  "#{streams} streams: #{held.beam - before.beam} KiB of the BEAM, #{held.resident - before.resident} KiB resident"
)

published =
  for _ <- 1..seconds do
    at = System.monotonic_time(:microsecond)
    HttpVm.call(vm, Changes, :tools_changed, [HttpRouter])
    Process.sleep(1_000)
    at
  end

for client <- clients, do: send(client, :cut)
seen = for _ <- clients, do: receive(do: ({:seen, came} -> came))
cut_at = System.monotonic_time(:millisecond)

delays = Enum.sort(for came <- seen, {at, came} <- Enum.zip(published, came), do: came - at)
at = fn share -> Enum.at(delays, trunc(length(delays) * share)) end
IO.puts("#{length(delays)} events, #{streams * seconds - length(delays)} lost")
IO.puts("delay: p50 #{at.(0.5)} µs, p99 #{at.(0.99)} µs, longest #{List.last(delays)} µs")

Load.until(fn -> length(HttpVm.call(vm, :erlang, :processes, [])) <= before.processes end)
left = Load.used(vm)

IO.puts(
  "forgotten after #{System.monotonic_time(:millisecond) - cut_at} ms: #{left.processes - before.processes} processes, " <>
    "#{left.beam - before.beam} KiB of the BEAM and #{left.resident - before.resident} KiB resident are left"
)

HttpVm.stop(vm)
