defmodule McpServer.Http.CapacityTest do
  # The number of connections that a server accepts in a VM with few descriptors, ports or processes.
  use McpServer.HttpCase, async: true

  alias McpServer.{HttpServer, HttpVm}

  @moduletag :capture_log

  defp list(peer), do: HttpPeer.request(peer, modern("tools/list")).status

  test "as many as there are descriptors for: 64 of 128, and the next is told" do
    vm = HttpVm.start(fds: 128, serve: [name: :starved])
    peers = for _ <- 1..64, do: HttpPeer.connect(vm.server.port)
    assert Enum.map(peers, &list/1) == List.duplicate(200, 64)
    assert %{connections: 64, turned_away: 0} = HttpVm.call(vm, HttpServer, :stats, [:starved])

    assert "HTTP/1.1 503 Service Unavailable\r\n" <> _rest = HttpPeer.until_closed(HttpPeer.connect(vm.server.port))

    # The reserve suffices: no accept failed, and existing connections are served.
    assert %{connections: 64, turned_away: 1, accept_errors: 0} = HttpVm.call(vm, HttpServer, :stats, [:starved])
    assert list(hd(peers)) == 200
  end

  for {name, options, room, asked, because} <- [
        {"descriptors", [fds: 128], 64, 65,
         "this VM may have 128 descriptors, and 64 of them are reserved. " <>
           "Raise the limit with `ulimit -n 1089` (systemd: LimitNOFILE=1089)"},
        {"ports", [fds: 4_000, emulator: ["+Q", "1024"]], 896, 897,
         "this VM may have 1_024 ports, and 128 of them are reserved. " <>
           "Raise the limit with `+Q 1921` in vm.args or in ELIXIR_ERL_OPTIONS"},
        {"processes", [fds: 4_000, emulator: ["+P", "2048"]], 448, 449,
         "this VM may have 2_048 processes, and 256 of them are reserved. " <>
           "Raise the limit with `+P 2820` in vm.args or in ELIXIR_ERL_OPTIONS"}
      ] do
    test "a server that wants more than there are #{name} for says so once, at its start" do
      vm = HttpVm.start(unquote(options))
      said = fn asked -> HttpVm.call(vm, HttpVm, :said_at_start, [[http: [max_connections: asked]]]) end
      assert said.(unquote(room)) == []

      assert said.(unquote(asked)) == [
               "McpServer.HttpRouter is served to at most #{unquote(room)} connections at once, " <>
                 "not to #{unquote(asked)} (max_connections): #{unquote(because)}, " <>
                 "or write http: [max_connections: #{unquote(room)}]"
             ]
    end
  end
end
