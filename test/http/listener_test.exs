defmodule McpServer.HttpListenerTest do
  # Features of the listener alone: its limits, its start and its stop.
  use McpServer.HttpCase, async: true

  import McpServer.HttpRequests
  import McpServer.TestLog

  alias McpServer.{HttpRouter, HttpServer, Processes}

  @moduletag :capture_log

  defp echo, do: modern_call("echo", %{"text" => "x"})

  describe "start" do
    test "says why it cannot listen" do
      server = HttpServers.start(:listener)
      watch_log()

      start = fn ->
        Process.flag(:trap_exit, true)
        HttpServer.start_link(router: HttpRouter, port: server.port)
      end

      # Processes that it has started would log their end.
      assert Processes.all_gone(start) == {:error, :eaddrinuse}
      refute logged() =~ "{{127, 0, 0, 1}, #{server.port}}"
    end

    test "wrong options are mistakes of the caller" do
      for {options, text} <- [
            {[router: HttpRouter, port: 70_000], "port"},
            {[router: HttpRouter, ip: "localhost"], ~s(expected :ip to be :loopback or :any or an address such as )},
            {[router: HttpRouter, ip: "127.1"], "ip"},
            {[router: HttpRouter, ip: "\xFF"], "ip"},
            {[router: HttpRouter, ip: {127, 0, 0}], "ip"},
            {[router: HttpRouter, ip: nil], "ip"},
            {[router: HttpRouter, http: [max_sessions: 0]], "max_sessions"},
            {[router: HttpRouter, http: [max_sessions: :infinity]], "max_sessions"},
            {[router: HttpRouter, identify: 1], "identify"},
            {[router: HttpRouter, allowed_hosts: "mcp.example.com"], "allowed_hosts"},
            {[router: HttpRouter, allowed_origins: ["mcp.example.com"]], "mcp.example.com"},
            {[router: HttpRouter, path: "mcp"], "path"},
            {[router: HttpRouter, resource_metadata: %{}], "resource_metadata"},
            {[router: HttpRouter, no_such_option: 1], "no_such_option"},
            {[port: 0], "router"}
          ] do
        Process.flag(:trap_exit, true)

        said =
          try do
            {:error, {error, _stacktrace}} = HttpServer.start_link(options)
            Exception.message(error)
          rescue
            error in ArgumentError -> Exception.message(error)
          end

        assert {options, said =~ text} == {options, true}
      end
    end

    @tag req: "SEC-01"
    test "it listens on the loopback interface only" do
      server = HttpServers.start(:listener)
      {:ok, addresses} = :inet.getifaddrs()

      for {_name, flags} <- addresses, {:addr, {_, _, _, _} = ip} <- flags, elem(ip, 0) != 127 do
        assert {:error, _refused} = :gen_tcp.connect(ip, server.port, [], 1_000)
      end
    end

    test "at an address of any spelling that Bandit and OTP know, or as a string" do
      for {ip, address} <- [
            {:loopback, {127, 0, 0, 1}},
            {{127, 0, 0, 1}, {127, 0, 0, 1}},
            {"127.0.0.2", {127, 0, 0, 2}},
            {:any, {127, 0, 0, 3}}
          ] do
        options = [router: HttpRouter, port: 0, ip: ip, identify: &__MODULE__.anybody/1]
        {:ok, server} = HttpServer.start_link(options)
        assert {^ip, {:ok, _socket}} = {ip, :gen_tcp.connect(address, HttpServer.port(server), [])}
        GenServer.stop(server)
      end
    end

    test "at another path" do
      server = HttpServers.start(:listener, path: "/api/tools")
      assert {%{status: 200}, _} = HttpClient.exchange(server, %{echo() | target: "/api/tools"})
      assert {%{status: 404}, _} = HttpClient.exchange(server, echo())
    end
  end

  describe "bounds" do
    test "no more connections than there may be" do
      server = HttpServers.start(:listener, http: [max_connections: 3])
      peers = for _ <- 1..3, do: HttpPeer.connect(server.port)
      for peer <- peers, do: assert(HttpPeer.request(peer, echo()).status == 200)
      refused = HttpPeer.connect(server.port)
      HttpPeer.send_request(refused, echo())
      assert HttpPeer.until_closed(refused) =~ ~r{\A(HTTP/1.1 503 .*)?\z}s
      # Existing connections are served, and a freed place can be taken.
      for peer <- peers, do: assert(HttpPeer.request(peer, echo()).status == 200)
      HttpPeer.close(hd(peers))
      eventually(fn -> HttpServer.stats(server.pid).connections == 2 end)
      assert HttpPeer.request(HttpPeer.connect(server.port), echo()).status == 200
    end

    test "no more calls without a session than there may be" do
      server = HttpServers.start(:listener, http: [max_calls: 1])
      # One call for each scheduler, on any of them.
      most = System.schedulers_online()

      running =
        for n <- 1..most do
          peer = HttpClient.start(server, modern_call("perform", HttpScript.arguments(n), id: n))
          {call, _conn} = HttpScript.performing(n)
          {peer, call}
        end

      {response, [message]} = HttpClient.exchange(server, modern_call("echo", %{"text" => "x"}, id: 99))
      assert response.status == 503
      assert String.to_integer(HttpResponse.header(response, "retry-after")) > 0
      assert %{"id" => 99, "error" => %{"code" => -32603}} = message
      # Requests that need no place are served.
      assert {%{status: 200}, _} = HttpClient.exchange(server, modern("tools/list"))

      for {peer, call} <- running do
        HttpScript.tell(call, {:answer, "done"})
        assert [%{"result" => _}] = HttpClient.messages(peer, HttpPeer.response(peer))
      end

      # A place is free some time after its answer has arrived.
      eventually(fn -> HttpServer.stats(server.pid).calls == 0 end)
      assert {%{status: 200}, _} = HttpClient.exchange(server, echo())
    end

    test "a connection that waits too long for its next request is closed" do
      server = HttpServers.start(:listener, http: [connection_timeout: 1_000])
      peer = HttpPeer.connect(server.port)
      assert HttpPeer.request(peer, echo()).status == 200
      assert HttpPeer.closed?(peer)
    end

    test "a large answer goes through to a client that reads slowly" do
      server = HttpServers.start(:listener)
      text = String.duplicate("x", 4_000_000)
      peer = HttpClient.start(server, modern_call("echo", %{"text" => text}), recbuf: 65_536)
      Process.sleep(200)
      assert [answer] = HttpClient.messages(peer, HttpPeer.response(peer))
      assert HttpClient.text(answer) == text
    end
  end

  describe "the end" do
    test "lets calls finish, within the grace" do
      server = HttpServers.start(:listener)
      session = HttpSession.open(server)

      running =
        for {tag, peer} <- [
              {"modern", HttpClient.start(server, modern_call("perform", HttpScript.arguments("modern")))},
              {"session", HttpSession.start(session, legacy_call("perform", HttpScript.arguments("session")))}
            ] do
          {call, _conn} = HttpScript.performing(tag)
          {peer, call}
        end

      stop = Task.async(fn -> GenServer.stop(server.pid, :shutdown) end)
      eventually(fn -> match?({:error, _}, :gen_tcp.connect({127, 0, 0, 1}, server.port, [], 100)) end)

      for {peer, call} <- running do
        HttpScript.tell(call, {:answer, "finished"})
        assert [answer] = HttpClient.messages(peer, HttpPeer.response(peer))
        assert HttpClient.text(answer) == "finished"
      end

      assert Task.await(stop, 30_000) == :ok
    end

    test "and no longer" do
      server = HttpServers.start(:listener, drain: 200)
      peer = HttpClient.start(server, modern_call("perform", HttpScript.arguments()))
      {call, _conn} = HttpScript.performing()
      HttpServers.stop(server)
      HttpScript.gone(call)
      # The client may get a response, and its connection is closed in any case.
      assert HttpPeer.until_closed(peer) =~ ~r{\A(HTTP/1.1 [25]\d\d .*)?\z}s
    end

    test "closes what is idle, and the streams" do
      server = HttpServers.start(:listener)
      idle = HttpPeer.connect(server.port)
      assert HttpPeer.request(idle, echo()).status == 200
      stream = HttpSession.get(HttpSession.open(server))
      HttpServers.stop(server)
      assert HttpPeer.closed?(idle)
      assert HttpClient.message(stream) == :end
    end

    test "by a kill closes everything at once, and the port is free" do
      Process.flag(:trap_exit, true)
      {:ok, pid} = HttpServer.start_link(router: HttpRouter, port: 0)
      port = HttpServer.port(pid)
      idle = HttpPeer.connect(port)
      Process.exit(pid, :kill)
      assert HttpPeer.closed?(idle)
      eventually(fn -> match?({:ok, _pid}, HttpServer.start_link(router: HttpRouter, port: port)) end)
    end
  end

  describe "init" do
    @init [init: &__MODULE__.conn/1]

    both "makes the handler's conn from the request", @init, %{server: server} do
      request = modern_call("whoami", %{}, headers: [{"x-tenant", "seven"}])
      assert HttpClient.text(HttpClient.answer(server, request)) =~ ~s(tenant: "seven")
    end
  end

  @doc false
  def anybody(_request), do: {:ok, "anybody"}

  @doc false
  def conn(request) do
    {_name, tenant} = List.keyfind(request.req_headers, "x-tenant", 0, {"x-tenant", nil})
    %McpServer.Conn{assigns: %{tenant: tenant}}
  end
end
