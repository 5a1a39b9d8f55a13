defmodule McpServer.HttpServer.Acceptor do
  @moduledoc false
  # Accepts a connection, and then serves it in the same process, so that no socket is handed over.
  #
  # The server's process then starts the next acceptor, and is linked to both.

  alias McpServer.Http.{Mount, Usage}
  alias McpServer.HttpServer.{Connection, Socket}
  alias McpServer.Limit
  alias McpServer.Protocol.HTTP
  alias McpServer.Quota
  alias McpServer.Quota.{Client, Keeper}

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
    peer = peer(transport, socket)

    case admit(mount.usage, peer) do
      {:ok, account} ->
        send(server, {:mcp_accepted, self()})
        sink = %Socket{transport: transport, socket: socket, peer: peer, account: account}
        with {:ok, sink} <- opened(sink, mount), do: Connection.serve(sink, mount_id)

      :full ->
        turn_away(transport, socket, mount.usage)
    end
  end

  @doc "Takes the place of a connection with a peer, for the calling process."
  @spec admit(Usage.t(), Socket.peer()) :: {:ok, Usage.t()} | :full
  def admit(usage, peer) do
    client = Client.of_peer(address(peer))

    case Quota.take(usage.quota, :connections, client, 1) do
      :ok ->
        # Only now is the process watched, because floods of connections are refused.
        account = Usage.own(usage)
        :ok = Quota.adopt(account.quota, :connections, client, 1)
        Usage.count(usage, :accepted)
        {:ok, account}

      :full ->
        Usage.count(usage, :turned_away)
        :full
    end
  end

  defp peer(:tcp, socket), do: with({:ok, peer} <- :inet.peername(socket), do: peer, else: (_gone -> nil))
  defp peer(:ssl, socket), do: with({:ok, peer} <- :ssl.peername(socket), do: peer, else: (_gone -> nil))

  defp address({address, _port}), do: address
  defp address(nil), do: nil

  defp opened(%{transport: :tcp} = sink, _mount), do: {:ok, sink}

  # The client must complete the handshake within `head_timeout`.
  defp opened(%{transport: :ssl, socket: socket} = sink, mount) do
    case :ssl.handshake(socket, mount.sockets.head_timeout) do
      {:ok, socket} ->
        {:ok, %{sink | socket: socket}}

      {:error, _reason} ->
        :ssl.close(socket)
        Keeper.leave()
    end
  end

  # Closes without an answer: a handshake would cost more than it saves.
  defp turn_away(:ssl, socket, _usage), do: :ssl.close(socket)

  defp turn_away(:tcp, socket, usage) do
    {status, headers, body} = HTTP.answer(:overloaded, Usage.retry_after(usage))
    :inet.setopts(socket, send_timeout: @refusal_ms)
    _sent = :gen_tcp.send(socket, [HTTP.response_head(status, headers, IO.iodata_length(body), true), body])
    :gen_tcp.close(socket)
  end
end
