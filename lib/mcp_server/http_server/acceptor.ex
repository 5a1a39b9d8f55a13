defmodule McpServer.HttpServer.Acceptor do
  @moduledoc false
  # Accepts a connection, and becomes the process that serves it: there is nothing to hand over.
  #
  # The server's process starts another acceptor in its place, and is linked to both.

  alias McpServer.Call.Reaper
  alias McpServer.Http.{Mount, Usage}
  alias McpServer.HttpServer.{Connection, Socket}
  alias McpServer.Limit
  alias McpServer.Protocol.HTTP

  # Milliseconds before the next attempt where the system has no descriptor left.
  @retry_ms 50
  # How long a client that finds no room may take to read that.
  @refusal_ms 1_000

  # Most connections live with these; a large process has all that a call may have.
  @options [min_heap_size: 233, fullsweep_after: 20]

  @type listener :: {:tcp, :gen_tcp.socket()} | {:ssl, :ssl.sslsocket()}

  @doc "Starts an acceptor, linked to the calling process, which is told `{:mcp_accepted, pid}` once it serves."
  @spec start(listener(), Mount.t()) :: pid()
  def start(listener, mount) do
    heap = Limit.heap(mount.bounds.max_heap_bytes, true)
    :erlang.spawn_opt(__MODULE__, :accept, [self(), listener, mount.id], [:link, {:max_heap_size, heap} | @options])
  end

  @doc false
  # No function of ours is entered while it waits, which may be for long: its code can be replaced meanwhile.
  def accept(server, listener, mount_id) do
    :lists.foldl(&__MODULE__.step/2, nil, [{:accept, listener}, {:serve, server, listener, mount_id}])
  end

  @doc false
  def step({:accept, {:tcp, listen}}, nil), do: :gen_tcp.accept(listen)
  def step({:accept, {:ssl, listen}}, nil), do: :ssl.transport_accept(listen)
  def step({:serve, _server, _listener, _mount_id}, {:error, :closed}), do: :ok
  def step({:serve, _server, _listener, mount_id}, {:error, _reason}), do: failed(mount_id)
  def step({:serve, server, listener, mount_id}, {:ok, socket}), do: serve(server, listener, mount_id, socket)

  # Whoever cannot serve ends, and the server starts another: one that went on would do so on a growing stack.
  defp failed(mount_id) do
    with {:ok, mount} <- Mount.fetch(mount_id) do
      Usage.count(mount.usage, :accept_errors)
      Process.sleep(@retry_ms)
    end
  end

  defp serve(server, {transport, _listen}, mount_id, socket) do
    {:ok, mount} = Mount.fetch(mount_id)
    account = Usage.account(mount.usage)

    case Usage.take(account, :connections, 1, mount.sockets.max_connections) do
      :ok ->
        :ok = Reaper.watch(account)
        Usage.count(account, :accepted)
        send(server, {:mcp_accepted, self()})
        with {:ok, sink} <- opened(transport, socket, account, mount), do: Connection.serve(sink, mount_id)

      :full ->
        Usage.count(account, :turned_away)
        turn_away(transport, socket)
    end
  end

  defp opened(:tcp, socket, account, _mount) do
    peer = with {:ok, peer} <- :inet.peername(socket), do: peer, else: (_gone -> nil)
    {:ok, %Socket{transport: :tcp, socket: socket, peer: peer, account: account}}
  end

  # The handshake is the client's to make, within the time that it has for a head.
  defp opened(:ssl, socket, account, mount) do
    case :ssl.handshake(socket, mount.sockets.head_timeout) do
      {:ok, socket} ->
        peer = with {:ok, peer} <- :ssl.peername(socket), do: peer, else: (_gone -> nil)
        {:ok, %Socket{transport: :ssl, socket: socket, peer: peer, account: account}}

      {:error, _reason} ->
        :ssl.close(socket)
        Usage.close(account)
    end
  end

  # Without TLS: a handshake would cost more than what it refuses.
  defp turn_away(:ssl, socket), do: :ssl.close(socket)

  defp turn_away(:tcp, socket) do
    {status, headers, body} = HTTP.answer(:overloaded, 1)
    :inet.setopts(socket, send_timeout: @refusal_ms)
    _sent = :gen_tcp.send(socket, [HTTP.response_head(status, headers, IO.iodata_length(body), true), body])
    :gen_tcp.close(socket)
  end
end
