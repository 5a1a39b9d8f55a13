defmodule McpServer.HttpTLSTest do
  # The listener over TLS, with certificates created by the test.
  use McpServer.HttpCase, async: true

  alias McpServer.{HttpServer, JSON}

  @moduletag :capture_log
  @moduletag :tmp_dir

  # The alerts user_canceled and close_notify.
  @farewell <<21, 3, 3, 0, 2, 1, 90, 21, 3, 3, 0, 2, 1, 0>>

  # By default `pkix_test_data` signs with SHA-1, which TLS refuses since Erlang/OTP 26.
  @signed [key: {:namedCurve, :secp256r1}, digest: :sha256]

  # Writes a new certificate for localhost to the server's files, and returns the authority that issued it.
  defp issue(dir) do
    extension = {:Extension, {2, 5, 29, 17}, false, [{:dNSName, ~c"localhost"}]}

    %{server_config: server, client_config: client} =
      :public_key.pkix_test_data(%{
        server_chain: %{root: @signed, intermediates: [], peer: @signed ++ [extensions: [extension]]},
        client_chain: %{root: @signed, intermediates: [], peer: @signed}
      })

    {kind, key} = server[:key]
    write(dir, "cert.pem", {:Certificate, server[:cert], :not_encrypted})
    write(dir, "key.pem", {kind, key, :not_encrypted})
    {server[:cert], client[:cacerts]}
  end

  defp write(dir, name, entry), do: File.write!(Path.join(dir, name), :public_key.pem_encode([entry]))

  defp serve(dir, options \\ []) do
    {cert, authorities} = issue(dir)
    tls = [certfile: Path.join(dir, "cert.pem"), keyfile: Path.join(dir, "key.pem"), log_level: :none]
    {HttpServers.start(:listener, [tls: tls] ++ options), cert, authorities}
  end

  defp connect(server, authorities) do
    options = [
      :binary,
      active: false,
      verify: :verify_peer,
      cacerts: authorities,
      server_name_indication: ~c"localhost"
    ]

    {:ok, socket} = :ssl.connect({127, 0, 0, 1}, server.port, options, 10_000)
    socket
  end

  defp ask(socket, server, request),
    do: :ok = :ssl.send(socket, HttpPeer.bytes(%HttpPeer{socket: nil, port: server.port}, request))

  # Reads until the bytes contain `ending`.
  defp until(socket, ending, read \\ "") do
    if read =~ ending do
      read
    else
      {:ok, more} = :ssl.recv(socket, 0, 30_000)
      until(socket, ending, read <> more)
    end
  end

  defp whole(socket) do
    {%{status: status} = response, body} = socket |> until("\r\n\r\n") |> HttpResponse.take()
    length = String.to_integer(HttpResponse.header(response, "content-length"))
    {status, response, rest(socket, body, length)}
  end

  defp rest(_socket, body, length) when byte_size(body) == length, do: body

  defp rest(socket, body, length) do
    {:ok, more} = :ssl.recv(socket, 0, 30_000)
    rest(socket, body <> more, length)
  end

  defp json({200, _response, body}) do
    {:ok, message} = JSON.decode(body)
    message
  end

  defp closed?(socket), do: match?({:error, _closed}, :ssl.recv(socket, 0, 30_000))
  defp in_use(server), do: server.pid |> HttpServer.stats() |> Map.take([:calls, :connections, :exchanges, :streams])
  defp unused(server), do: eventually(fn -> Enum.all?(in_use(server), fn {_name, count} -> count == 0 end) end)

  test "several calls on one connection, short and long", %{tmp_dir: dir} do
    {server, _cert, authorities} = serve(dir)
    socket = connect(server, authorities)

    for text <- ["x", String.duplicate("y", 1_000_000), "z"] do
      ask(socket, server, modern_call("echo", %{"text" => text}))
      assert HttpClient.text(json(whole(socket))) == text
    end

    :ssl.close(socket)
    unused(server)
  end

  test "a stream, whose client goes: the call ends", %{tmp_dir: dir} do
    {server, _cert, authorities} = serve(dir)
    socket = connect(server, authorities)
    ask(socket, server, modern_call("perform", HttpScript.arguments(), meta: %{"progressToken" => 1}))
    {call, _conn} = HttpScript.performing()
    HttpScript.tell(call, {:progress, 1})
    read = until(socket, "step 1")
    assert read =~ "content-type: text/event-stream"
    assert read =~ "transfer-encoding: chunked"
    :ssl.close(socket)
    HttpScript.gone(call)
    unused(server)
  end

  test "a client that disconnects cancels its call", %{tmp_dir: dir} do
    {server, _cert, authorities} = serve(dir)
    socket = connect(server, authorities)
    ask(socket, server, modern_call("perform", HttpScript.arguments()))
    {call, _conn} = HttpScript.performing()
    assert in_use(server) == %{calls: 1, connections: 1, exchanges: 0, streams: 0}
    :ssl.close(socket)
    HttpScript.gone(call)
    unused(server)
  end

  # The server stops reading after some packets, so that the end of the stream is behind unread bytes.
  test "a client that sends more and disconnects cancels its call", %{tmp_dir: dir} do
    {server, _cert, authorities} = serve(dir)
    socket = connect(server, authorities)
    ask(socket, server, modern_call("perform", HttpScript.arguments()))
    {call, _conn} = HttpScript.performing()
    for _ <- 1..64, do: :ok = :ssl.send(socket, String.duplicate("x", 512))
    :ssl.close(socket)
    HttpScript.gone(call)
    unused(server)
  end

  # Nobody counts the records that are read before they are needed. Each has up to 16 KiB.
  test "a client that sends more during its call is held back after four records", %{tmp_dir: dir} do
    {server, _cert, authorities} = serve(dir)
    socket = connect(server, authorities)
    holder = traced_holder(socket, server)
    sender = spawn_link(fn -> for _ <- 1..64, do: :ok = :ssl.send(socket, String.duplicate("x", 16_384)) end)
    assert length(records_until_passive(holder)) in 1..4
    Process.unlink(sender)
    :ssl.close(socket)
    unused(server)
  end

  test "an idle connection hibernates", %{tmp_dir: dir} do
    {server, _cert, authorities} = serve(dir)
    socket = connect(server, authorities)
    holder = traced_holder(socket, server)
    :ok = :ssl.send(socket, "x")
    assert_receive {:trace, ^holder, :receive, {:ssl, server_side, "x"}}
    # One of them decrypts. The others keep little.
    eventually(fn -> server_side |> pids() |> Enum.any?(&hibernating?/1) end)
    :ssl.close(socket)
    unused(server)
  end

  # The process that serves the connection during a call.
  defp traced_holder(socket, server) do
    ask(socket, server, modern_call("perform", HttpScript.arguments()))
    {call, _conn} = HttpScript.performing()
    {:parent, holder} = Process.info(call, :parent)
    :erlang.trace(holder, true, [:receive])
    holder
  end

  defp records_until_passive(holder) do
    receive do
      {:trace, ^holder, :receive, {:ssl, _socket, data}} -> [byte_size(data) | records_until_passive(holder)]
      {:trace, ^holder, :receive, {:ssl_passive, _socket}} -> []
    end
  end

  defp hibernating?(pid) do
    {:current_function, {_module, function, _arity}} = Process.info(pid, :current_function)
    Atom.to_string(function) =~ "hibernate"
  end

  # The processes in a socket of any version of :ssl.
  defp pids(pid) when is_pid(pid), do: [pid]
  defp pids(tuple) when is_tuple(tuple), do: tuple |> Tuple.to_list() |> pids()
  defp pids([head | tail]), do: pids(head) ++ pids(tail)
  defp pids(_other), do: []

  test "a session", %{tmp_dir: dir} do
    {server, _cert, authorities} = serve(dir)
    socket = connect(server, authorities)
    ask(socket, server, initialize())
    {200, response, _body} = whole(socket)
    id = HttpResponse.header(response, "mcp-session-id")
    ask(socket, server, of_session(legacy_call("echo", %{"text" => "x"}), id))
    assert HttpClient.text(json(whole(socket))) == "x"
    ask(socket, server, of_session(get_stream(), id))
    assert until(socket, "\r\n\r\n") =~ ~r"\AHTTP/1.1 200 OK\r\n"
    :ssl.close(socket)
    unused(server)
  end

  test "plain HTTP is closed without harm", %{tmp_dir: dir} do
    {server, _cert, authorities} = serve(dir)
    peer = HttpPeer.connect(server.port)
    HttpPeer.write(peer, HttpPeer.bytes(peer, modern("tools/list")))
    # At most a TLS alert: type 21, version 3.
    assert HttpPeer.until_closed(peer) =~ ~r/\A(\x15\x03.*)?\z/s
    unused(server)
    socket = connect(server, authorities)
    ask(socket, server, modern_call("echo", %{"text" => "x"}))
    assert HttpClient.text(json(whole(socket))) == "x"
  end

  test "a handshake that does not come to its end is closed, however it drips", %{tmp_dir: dir} do
    {server, _cert, _authorities} = serve(dir, http: [head_timeout: 500])
    silent = HttpPeer.connect(server.port)
    drip = HttpPeer.connect(server.port)
    # Announces a client hello of 512 bytes, and never completes it.
    HttpPeer.write(drip, <<22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3>>)
    dripping = drip(drip)
    assert HttpPeer.closed?(silent)
    assert dripping
    unused(server)
  end

  # Writes a byte every few milliseconds until the server closes, for at most twenty times its timeout.
  defp drip(peer, left \\ 200)
  defp drip(_peer, 0), do: false

  defp drip(peer, left) do
    case HttpPeer.raw(peer, 0, 50) do
      {:error, :timeout} ->
        HttpPeer.write(peer, <<0>>)
        drip(peer, left - 1)

      {:ok, _alert} ->
        drip(peer, left)

      {:error, _closed} ->
        true
    end
  end

  # Earlier, connections were not monitored before the end of their handshake.
  test "what a connection has taken is given back when it is killed during its handshake", %{tmp_dir: dir} do
    {server, _cert, _authorities} = serve(dir)
    peer = HttpPeer.connect(server.port)
    eventually(fn -> in_use(server).connections == 1 end)
    Process.exit(connection(server), :kill)
    unused(server)
    # Newer versions of Erlang/OTP send these alerts when there is no handshake.
    assert HttpPeer.until_closed(peer) in ["", @farewell]
  end

  test "renewed files are presented to new connections, and open ones go on", %{tmp_dir: dir} do
    {server, cert, authorities} = serve(dir)
    open = connect(server, authorities)
    assert :ssl.peercert(open) == {:ok, cert}
    {renewed, authorities} = issue(dir)
    :ssl.clear_pem_cache()
    socket = connect(server, authorities)
    assert :ssl.peercert(socket) == {:ok, renewed}

    for socket <- [socket, open] do
      ask(socket, server, modern_call("echo", %{"text" => "x"}))
      assert HttpClient.text(json(whole(socket))) == "x"
    end
  end

  test "a client that is refused reads why", %{tmp_dir: dir} do
    {server, _cert, authorities} = serve(dir)
    socket = connect(server, authorities)
    :ok = :ssl.send(socket, "POST /mcp HTTP/1.1\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n")
    assert {400, response, _body} = whole(socket)
    assert HttpResponse.header(response, "connection") == "close"
    assert closed?(socket)
    unused(server)
  end

  test "the server's end reaches a call and a connection that waits", %{tmp_dir: dir} do
    {server, _cert, authorities} = serve(dir, drain: 300)
    HttpServers.unhurried(server.pid)
    [idle, busy] = for _ <- 1..2, do: connect(server, authorities)
    ask(busy, server, modern_call("perform", HttpScript.arguments(), id: 7))
    {call, _conn} = HttpScript.performing()
    HttpServers.stop(server)
    assert {503, _response, body} = whole(busy)
    assert {:ok, %{"id" => 7, "error" => %{"message" => "The server is shutting down"}}} = JSON.decode(body)
    HttpScript.gone(call)
    assert closed?(idle)
    assert closed?(busy)
  end

  # Earlier, anybody could send half a ClientHello of 256 KiB, which cost 855 KiB each.
  test "no message of a handshake is longer than 32 KiB", %{tmp_dir: dir} do
    {server, _cert, _authorities} = serve(dir)
    {:ok, socket} = :gen_tcp.connect({127, 0, 0, 1}, server.port, [:binary, active: false])
    # A record with the beginning of a ClientHello (RFC 8446, sections 4 and 5.1).
    hello = <<1, 33_000::24, 3, 3>> <> :binary.copy(<<0>>, 16_000)
    :ok = :gen_tcp.send(socket, <<22, 3, 1, byte_size(hello)::16>> <> hello)
    # An alert, and the end: the rest is not awaited.
    assert {:ok, <<21, 3, 3, 2::16, 2, _description>>} = :gen_tcp.recv(socket, 0, 30_000)
    assert {:error, :closed} = :gen_tcp.recv(socket, 0, 30_000)
  end
end
