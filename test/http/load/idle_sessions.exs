# What an idle session takes, with client data of one's choice. The server is a VM of its own.
#
#     MIX_ENV=test mix run test/http/load/idle_sessions.exs [sessions]
#
# Prints for each size of `clientInfo` and `capabilities` the memory of a session: its process, what the VM has more
# of it in all, and in binaries.

alias McpServer.{HttpPeer, HttpRequests, HttpVm, JSON}

sessions =
  case System.argv() do
    [] -> 1_000
    [count] -> String.to_integer(count)
  end

# Many short values: as terms they take ten times as much.
filled = fn object, bytes ->
  room = bytes - byte_size(JSON.encode!(object)) - 6
  Map.put(object, "x", List.duplicate([], div(room, 3)))
end

settled = fn vm ->
  for pid <- HttpVm.call(vm, :erlang, :processes, []), do: HttpVm.call(vm, :erlang, :garbage_collect, [pid])
  Map.new(HttpVm.call(vm, :erlang, :memory, [[:total, :processes, :binary]]))
end

processes = fn vm ->
  for {_id, pid, _type, _modules} <-
        HttpVm.call(vm, DynamicSupervisor, :which_children, [McpServer.Http.SessionSupervisor]),
      do: elem(HttpVm.call(vm, :erlang, :process_info, [pid, :memory]), 1)
end

for bytes <- [0, 128, 4_096, 16_384] do
  vm = HttpVm.launch(serve: [http: [max_sessions: sessions + 10]])
  before = settled.(vm)
  info = %{"name" => "idle", "version" => "1"}
  data = if bytes == 0, do: [info: info], else: [info: filled.(info, bytes), capabilities: filled.(%{}, bytes)]
  request = HttpRequests.initialize("2025-11-25", data)

  for _ <- 1..sessions do
    peer = HttpPeer.connect(vm.server.port)
    %{status: 200} = HttpPeer.request(peer, request)
    HttpPeer.close(peer)
  end

  # A connection that rests gives its memory back after two seconds.
  Process.sleep(4_000)
  each = processes.(vm)
  held = settled.(vm)
  of = fn key -> Float.round((held[key] - before[key]) / sessions / 1024, 1) end

  IO.puts(
    "#{bytes} bytes each: process #{Float.round(Enum.sum(each) / length(each) / 1024, 1)} KiB " <>
      "(largest #{Float.round(Enum.max(each) / 1024, 1)}), in all #{of.(:total)} KiB, of which binaries #{of.(:binary)} KiB"
  )

  HttpVm.stop(vm)
end
