defmodule McpServer.HttpAddressSharesTest do
  # What an address has before a request is identified. A client of a test is at a loopback address, which has no share:
  # so these tests name another one where the server would ask the socket.
  use McpServer.HttpCase, async: true

  import McpServer.HttpRequests

  alias McpServer.{Conn, FromAddress}
  alias McpServer.Http.Cluster.FarSink
  alias McpServer.Http.{Exchange, Sink, Usage}
  alias McpServer.HttpServer.{Acceptor, Body, Socket}
  alias McpServer.Native.Dirty
  alias McpServer.Quota

  @eve {192, 0, 2, 7}
  @ada {198, 51, 100, 3}
  @loopback {127, 0, 0, 1}

  # The answer to a connection, and the process that serves it.
  defp connect(usage, address) do
    {:ok, process} = Agent.start_link(fn -> nil end)
    answer = Agent.get(process, fn nil -> with {:ok, _account} <- Acceptor.admit(usage, {address, 1}), do: :ok end)
    {answer, process}
  end

  test "of connections, of one address, go to others, and are given back" do
    usage = Usage.new(%{max_connections: 8, max_address_share: 25})
    [{:ok, first}, {:ok, second}, {:full, _turned_away}] = for _ <- 1..3, do: connect(usage, @eve)
    assert for(_ <- 1..2, do: elem(connect(usage, @ada), 0)) == [:ok, :ok]
    assert for(_ <- 1..5, do: elem(connect(usage, @loopback), 0)) == [:ok, :ok, :ok, :ok, :full]
    for process <- [first, second], do: Agent.stop(process)
    eventually(fn -> Quota.held(usage.quota, :connections) == 6 end)
    assert for(_ <- 1..3, do: elem(connect(usage, @eve), 0)) == [:ok, :ok, :full]
    assert %{accepted: 10, turned_away: 3} = Usage.stats(usage)
  end

  # Reads the body of a request from an address, of which only the first bytes arrive.
  defp read(usage, address, length, arrived) do
    Task.async(fn ->
      {:ok, listener} = :gen_tcp.listen(0, [:binary, ip: @loopback, active: false])
      {:ok, port} = :inet.port(listener)
      {:ok, client} = :gen_tcp.connect(@loopback, port, [:binary, active: false])
      {:ok, socket} = :gen_tcp.accept(listener)
      :ok = :gen_tcp.send(client, String.duplicate(" ", arrived))
      patient = %{sockets: %{body_grace: 60_000, body_min_rate: 1, body_timeout: 60_000}}
      sink = %Socket{transport: :tcp, socket: socket, peer: {address, 1}, account: Usage.own(usage), mount: patient}
      {answer, _sink} = sink |> Socket.activate() |> Body.await(length, false)
      answer
    end)
  end

  test "of body bytes, of one address, go to others, and are given back" do
    usage = Usage.new(%{max_body_bytes_in_flight: 100_000, max_address_share: 50, max_message_bytes: 40_000})
    held = fn -> {Quota.held(usage.quota, :body_bytes), Quota.held(usage.quota, :body_bytes, {:peer, @eve})} end

    waits = read(usage, @eve, 50_000, 49_999)
    eventually(fn -> held.() == {50_000, 50_000} end)
    assert Task.await(read(usage, @eve, 20, 10)) == :full
    assert Task.await(read(usage, @ada, 40_000, 40_000)) == :ok
    assert Task.await(read(usage, @ada, 60_000, 50_001)) == :full
    eventually(fn -> held.() == {50_000, 50_000} end)
    Task.shutdown(waits, :brutal_kill)
    eventually(fn -> held.() == {0, 0} end)
    assert Task.await(read(usage, @eve, 40_000, 40_000)) == :ok
  end

  test "of body bytes hold the longest body that the server accepts" do
    usage = Usage.new(%{max_body_bytes_in_flight: 100_000, max_address_share: 1, max_message_bytes: 40_000})
    waits = read(usage, @eve, 40_000, 39_999)
    eventually(fn -> Quota.held(usage.quota, :body_bytes, {:peer, @eve}) == 40_000 end)
    assert Task.await(read(usage, @eve, 20, 1)) == :full
    Task.shutdown(waits, :brutal_kill)
  end

  @doc false
  # Tells the test that it runs, and waits until the test lets it go on.
  def hold(request) do
    {_name, test} = List.keyfind(request.req_headers, "x-test", 0)
    send(test |> String.to_charlist() |> :erlang.list_to_pid(), {:hook, self()})
    receive do: (:go_on -> {:ok, "someone"})
  end

  test "of hooks, of one address, go to others, and are given back" do
    server =
      FromAddress.start(
        router: McpServer.HttpRouter,
        identify: &__MODULE__.hold/1,
        http: [max_hooks: 4, max_address_share: 25]
      )

    test = self() |> :erlang.pid_to_list() |> to_string()

    start = fn address ->
      request = with_headers(modern("tools/list"), [{"x-from", to_string(:inet.ntoa(address))}, {"x-test", test}])
      HttpClient.start(server, request)
    end

    enter = fn address ->
      peer = start.(address)
      assert_receive {:hook, hook}, 30_000
      {peer, hook}
    end

    leave = fn {peer, hook} ->
      send(hook, :go_on)
      HttpPeer.response(peer).status
    end

    eve = enter.(@eve)
    assert HttpPeer.response(start.(@eve)).status == 503
    ada = enter.(@ada)
    others = for _ <- 1..2, do: enter.(@loopback)
    assert HttpPeer.response(start.(@loopback)).status == 503
    statuses = for entered <- [eve, ada | others], do: leave.(entered)
    assert Enum.uniq(statuses) == [200]
    assert leave.(enter.(@eve)) == 200
  end

  # Earlier, all sessions without a principal took turns as one client.
  test "of long native work, of a session, are those of its client" do
    server = FromAddress.start(router: McpServer.HttpRouter)
    from = fn address -> [{"x-from", to_string(:inet.ntoa(address))}, {"host", "localhost"}] end

    for {address, client} <- [{@eve, {:peer, @eve}}, {@loopback, nil}] do
      {session, _in_flight} = HttpSession.process(HttpSession.open(server, "2025-11-25", headers: from.(address)).id)
      {:dictionary, dictionary} = Process.info(session, :dictionary)
      assert {Dirty, {:client, ^client}} = List.keyfind(dictionary, Dirty, 0)
    end
  end

  test "of a request that another node has forwarded are those of its client's address" do
    known = %{principal: nil, auth: nil, base: %Conn{peer: @eve}}
    sink = %FarSink{exchange: Exchange.new(), head: %{}, body: "", known: known}
    assert {Sink.client(sink, nil), Sink.client(sink, "ada")} == {{:peer, @eve}, {:principal, "ada"}}
    assert Sink.address(sink) == {:peer, @eve}
  end
end
