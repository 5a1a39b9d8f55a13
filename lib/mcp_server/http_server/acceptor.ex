defmodule McpServer.HttpServer.Acceptor do
  @moduledoc false
  # Accepts a connection, and then serves it in the same process, so that no socket is handed over.
  #
  # The server's process then starts the next acceptor, and is linked to both.

  alias McpServer.Call.Reaper
  alias McpServer.Http.{Mount, Usage}
  alias McpServer.HttpServer.{Connection, Socket}
  alias McpServer.Limit
  alias McpServer.Protocol.HTTP

  # Milliseconds before the next attempt when the system has no descriptors left.
  @retry_ms 50
  # The time to send the refusal of a connection, in milliseconds.
  @refusal_ms 1_000

  # A small heap suffices for most connections. It may grow to the heap limit of a call.
  @options [min_heap_size: 233, fullsweep_after: 20]

  @type listener :: {:tcp, :gen_tcp.socket()} | {:ssl, :ssl.sslsocket()}

  @doc "Starts an acceptor, linked to the calling process. It sends `{:mcp_accepted, pid}` when it serves."
  @spec start(listener(), Mount.t()) :: pid()
  def start(listener, mount) do
    heap = Limit.heap(mount.bounds.max_heap_bytes, true)
    :erlang.spawn_opt(__MODULE__, :accept, [self(), listener, mount.id], [:link, {:max_heap_size, heap} | @options])
  end

  @doc false
  # The process may wait for long. It waits outside our modules, so that their code can be replaced meanwhile.
  def accept(server, listener, mount_id) do
    :lists.foldl(&__MODULE__.step/2, nil, [{:accept, listener}, {:serve, server, listener, mount_id}])
  end

  @doc false
  def step({:accept, {:tcp, listen}}, nil), do: :gen_tcp.accept(listen)
  def step({:accept, {:ssl, listen}}, nil), do: :ssl.transport_accept(listen)
  def step({:serve, _server, _listener, _mount_id}, {:error, :closed}), do: :ok
  def step({:serve, _server, _listener, mount_id}, {:error, _reason}), do: failed(mount_id)
  def step({:serve, server, listener, mount_id}, {:ok, socket}), do: serve(server, listener, mount_id, socket)

  # A failed acceptor ends, and the server starts another one. Otherwise its stack would grow with each attempt.
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
        turn_away(transport, socket, account)
    end
  end

  defp opened(:tcp, socket, account, _mount) do
    peer = with {:ok, peer} <- :inet.peername(socket), do: peer, else: (_gone -> nil)
    {:ok, %Socket{transport: :tcp, socket: socket, peer: peer, account: account}}
  end

  # The client must complete the handshake within `head_timeout`.
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

  # Closes without an answer: a handshake would cost more than it saves.
  defp turn_away(:ssl, socket, _account), do: :ssl.close(socket)

  defp turn_away(:tcp, socket, account) do
    {status, headers, body} = HTTP.answer(:overloaded, Usage.retry_after(account))
    :inet.setopts(socket, send_timeout: @refusal_ms)
    _sent = :gen_tcp.send(socket, [HTTP.response_head(status, headers, IO.iodata_length(body), true), body])
    :gen_tcp.close(socket)
  end
end
