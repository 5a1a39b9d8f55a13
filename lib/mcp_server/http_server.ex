defmodule McpServer.HttpServer do
  @moduledoc """
  Serves a router over Streamable HTTP with a built-in listener: no web server and no further dependency is needed.

      children = [
        MyApp.Repo,
        {McpServer.HttpServer, router: MyApp.MCP, port: 4040}
      ]

  Clients of any protocol revision connect to `http://127.0.0.1:4040/mcp`. In a Phoenix application, or behind Bandit or
  Cowboy, use `McpServer.HttpPlug`: it follows the same protocol rules and shares most options.

  ## Who may connect

  The server listens on the loopback interface. It accepts only requests whose `Host` is loopback and whose `Origin`, if
  present, belongs to this machine. So a page of another site cannot reach it. Access from other machines needs three
  options:

      {McpServer.HttpServer,
       router: MyApp.MCP,
       ip: :any,
       port: 4040,
       allowed_hosts: ["mcp.example.com"],
       identify: &MyApp.Auth.identify/1}

  `identify:` is called with the head of each request, before the body is read. It returns the principal of the client:

  | return value | the client gets |
  |---|---|
  | `{:ok, principal}` | its answer; handlers get the principal as `conn.principal`; sessions, streams and sealed state belong to this principal only |
  | `{:ok, %McpServer.Auth{}}` | the same; `conn.auth` has scopes and claims, which may differ from request to request |
  | `{:error, :unauthorized}` | 401 with a `WWW-Authenticate` challenge |
  | `{:error, {:unauthorized, ["files:read"]}}` | 401 with a challenge that names the scopes to ask for |
  | `{:error, {:insufficient_scope, ["files:read"]}}` | 403 with a challenge that names the scopes |
  | `{:error, :invalid_request}` | 400 with a challenge: the request has two tokens, or one in the query |
  | `{:error, {:unavailable, 5}}` | 503 with `Retry-After`: the service that verifies the token does not answer |

  With `auth:` the server verifies the tokens of an authorization server: see `McpServer.Auth`.

  With `resource_metadata:` the challenge names the protected resource metadata document (RFC 9728). The server
  publishes it at `/.well-known/oauth-protected-resource`, and at this path followed by the path of `resource`:

      resource_metadata: %{
        resource: "https://mcp.example.com/mcp",
        authorization_servers: ["https://auth.example.com"]
      }

  ## TLS

  A server without a proxy can terminate TLS:

      {McpServer.HttpServer,
       router: MyApp.MCP,
       port: 8443,
       tls: [certfile: "priv/cert.pem", keyfile: "priv/key.pem"]}

  `:tls` has the options of `:ssl.listen/2`. Defaults of this server are `hibernate_after: 1_000`,
  `max_handshake_size: 32_768` (bytes; a client with many certificates may need more) and `log_level: :error`. OTP reads
  renewed files again within two minutes, without a restart. A TLS connection uses more memory than a plain one.

  ## Sessions

  Clients of 2026-07-28 need no session. Older clients open a session with `initialize`. It ends with `DELETE`, after
  `idle_timeout` without a request or an open stream, or after `session_lifetime`. A client that loses a stream can
  resume it, see `max_events`. In a cluster any node accepts requests of any session and forwards them to the session's
  node. With `config :mcp_server, secret:` sessions survive restarts and work on nodes that are not connected: see
  [Sessions and deploys](sessions.html).

  ## Shares

  Of each of these, a client may use at most `max_share` percent, and always at least one: the sessions of a node, the
  events stored for them, the bytes of subscriptions, the calls, and the streams. Beyond its share, the client gets the
  same answer as when all clients together have reached the limit. A client is a principal, or without a principal the
  address of the peer (for IPv6 the first 64 bits). Clients without a principal from a loopback address are not
  restricted: they are one user, or a proxy for all users.

  Before a request is identified, only its address is known. So one address may use at most `max_address_share` percent
  of the connections, of the bytes of bodies that are being read, and of the hooks. A loopback address may use all.

  If clients connect through a proxy on another machine, they all have its address: set
  `http: [max_address_share: 100]`, and for clients without a principal also `max_share: 100`.

  ## Several mounts and several nodes

  One router can be mounted several times, for example at `/mcp` for everybody and at `/admin` for administrators.
  Mounts do not share sessions and sealed states. Servers on several nodes with the same router and the same name are
  one mount. The default name of a server is `"http "` plus its path. The default name of a plug is `"plug "` plus its
  `:path` (usually empty). To separate two plugs of one router, or two servers with one path, give them different values
  of `:mount_name`. To share sessions between a server and a plug, give both the same `:mount_name`.

  ## Disconnects

  A client of 2026-07-28 that closes its connection cancels the request. In a session the request goes on, and the
  server stores the answer until the client resumes the stream.

  ## Stored results

  With `routes:` the server also serves the stored results of a `McpServer.DualResponse`:

      {McpServer.HttpServer,
       router: MyApp.MCP,
       routes: [{"/resources", {McpServer.DualResponse.Rest, server: MyApp.Results}}]}

  The same hosts and origins are allowed. If the route has neither `identify:` nor `authorize:`, the server's
  `identify:` is called, and its principal is the `subject` of `McpServer.DualResponse`. `McpServer.DualResponse.Rest`
  documents the requests, responses and options.

  ## Options

  Times are milliseconds, sizes bytes. No value can be infinite. [Limits](limits.html) has the largest value of each
  option and the answer beyond it.

  #{McpServer.Options.document(McpServer.ServerOptions.http_server())}
  """

  use GenServer
  use McpServer.Outline

  require Logger

  alias McpServer.{Catalog, Limit, NamedFunction, Options, Quota, ServerOptions}
  alias McpServer.Http.{Mount, Route, Sessions, Usage}
  alias McpServer.HttpServer.{Acceptor, Capacity}
  alias McpServer.Quota.Kinds

  # The interval between checks whether the router was recompiled.
  @refresh_ms 1_000
  # The interval between counts of the open connections during shutdown.
  @drain_ms 20
  # The time to write the final responses of calls that outlasted the drain time.
  @last_words_ms 1_000
  # After the drain time and this, a supervisor kills the server.
  @shutdown_ms 5_000
  # The number of processes that wait for a connection, and of connections that may wait for them.
  @acceptors 16
  @backlog 4_096
  # After `hibernate_after:` an idle connection gives back most of its memory. A message of a handshake is kept until it is
  # complete, at three times its size, and OTP would take 256 KiB of anybody; a client's certificates are one. Each failed
  # handshake would be a line in the log.
  @tls [hibernate_after: 1_000, max_handshake_size: 32 * 1024, log_level: :error]

  @type option :: {:router, module()} | {atom(), term()}

  @doc false
  @spec child_spec([option()]) :: Supervisor.child_spec()
  def child_spec(options) do
    checked = checked(options)

    %{
      id: {__MODULE__, checked.name || checked.port},
      start: {__MODULE__, :start_link, [Options.hide(ServerOptions.http_server(), options)]},
      shutdown: checked.drain + @shutdown_ms
    }
  end

  defp checked(options), do: Options.check!(inspect(__MODULE__), ServerOptions.http_server(), options)

  @doc """
  Starts the server, linked to the calling process. Usually a supervisor calls it.

  Returns `{:error, reason}` if it cannot listen: `:eaddrinuse`, `:eacces`, `:eaddrnotavail`. Returns `:ignore` with
  `config :mcp_server, serve_http: false`, which `mix mcp.stdio` sets before it starts the application. Raises
  `ArgumentError` for unknown or invalid options. Logs the address with the level `info`.
  """
  @spec start_link([option()]) :: GenServer.on_start()
  def start_link(options) do
    options = with %{ip: ip} = options <- checked(options), do: %{options | ip: ServerOptions.address(ip)}
    # Raises in the calling process, before a process is started.
    Mount.protected!(options, Catalog.fetch(options.router))
    for hook <- [:identify, :init], do: NamedFunction.check!(hook, options[hook], 1)
    _checked = mount(:unserved, options)

    if Application.get_env(:mcp_server, :serve_http, true),
      do: GenServer.start_link(__MODULE__, options, if(options.name, do: [name: options.name], else: [])),
      else: :ignore
  end

  defp mount(id, options) do
    %{Mount.new(id, options) | sockets: Map.take(options.http, ServerOptions.sockets())}
  end

  @doc "The port that the server listens on."
  @spec port(GenServer.server()) :: :inet.port_number()
  def port(server), do: GenServer.call(server, :port)

  @doc """
  The counters of the server by name, for metrics and troubleshooting.

  | name | meaning |
  |---|---|
  | `connections`, `exchanges`, `calls`, `argument_bytes`, `answer_bytes`, `streams`, `hooks`, `body_bytes`, `subscription_bytes` | in use at this moment; `exchanges` are requests that wait for a session or for stored results |
  | `accepted`, `accept_errors`, `turned_away` | connections since the start of the server: accepted, failed with a system error, refused because of `:max_connections` or `:max_address_share` |
  | `requests`, `refused` | requests since the start, and requests refused because of their head |
  | `delayed` | answers to invalid tokens that waited because of `:max_invalid_tokens` |
  | `cut` | connections that were closed because the client did not read |
  """
  @spec stats(GenServer.server()) :: %{atom() => integer()}
  def stats(server), do: GenServer.call(server, :stats)

  @impl true
  def init(options) do
    Process.flag(:trap_exit, true)
    mount = options |> id() |> mount(options) |> draining(options) |> bounded()
    mount = Mount.serving(mount, Catalog.fetch(mount.router))

    with {:ok, listener, port} <- listen(options, mount.stall_timeout) do
      Logger.info("#{inspect(mount.router)} is served on #{address(options, port)}")
      warn_open(mount, options)
      :ok = Mount.warn_of_slash(mount)
      Mount.publish(mount)
      {:ok, _supervisor} = Route.start_link(mount.routes)
      Process.send_after(self(), :refresh, @refresh_ms)
      acceptors = for _ <- 1..@acceptors, into: MapSet.new(), do: Acceptor.start(listener, mount)

      {:ok,
       %{
         mount: mount,
         drain: options.drain,
         last_words: @last_words_ms,
         listener: listener,
         port: port,
         acceptors: acceptors,
         connections: MapSet.new()
       }}
    else
      {:error, reason} -> {:stop, reason}
    end
  end

  # Sessions outlast the server's drain time, so that their calls have the full time. Then the server shuts them down.
  defp draining(mount, %{drain: drain}),
    do: %{mount | bounds: %{mount.bounds | drain: min(drain + @shutdown_ms, Limit.most(:milliseconds))}}

  defp bounded(%{sockets: sockets} = mount) do
    case Capacity.bound(sockets.max_connections) do
      {:ok, _wanted} ->
        mount

      {:fewer, room, why} ->
        Logger.warning("#{inspect(mount.router)} is served to #{why}")
        bound = Kinds.bound(:connections, %{max_connections: room, max_address_share: mount.max_address_share})
        quota = Quota.put_bound(mount.usage.quota, :connections, bound)
        %{mount | usage: %{mount.usage | quota: quota}}
    end
  end

  # With a fixed port, the id is the same after a restart.
  defp id(%{router: router, port: 0}), do: {__MODULE__, router, make_ref()}
  defp id(%{router: router, ip: ip, port: port}), do: {__MODULE__, router, {ip, port}}

  defp listen(%{port: port, tls: tls, ip: ip}, stall_timeout) do
    with {:ok, socket} <- open(tls, port, socket_options(ip, stall_timeout)), do: listener(tls, socket)
  end

  defp open(nil, port, options), do: :gen_tcp.listen(port, options)
  defp open(tls, port, options), do: :ssl.listen(port, options ++ Keyword.merge(@tls, tls))

  defp listener(nil, socket) do
    {:ok, port} = :inet.port(socket)
    {:ok, {:tcp, socket}, port}
  end

  defp listener(_tls, socket) do
    {:ok, {_address, port}} = :ssl.sockname(socket)
    {:ok, {:ssl, socket}, port}
  end

  # A client that closes its sending side may still read a response.
  defp socket_options(ip, stall_timeout) do
    family = if tuple_size(ip) == 8, do: [:inet6], else: []

    family ++
      [
        :binary,
        ip: ip,
        active: false,
        packet: :raw,
        nodelay: true,
        reuseaddr: true,
        backlog: @backlog,
        exit_on_close: false,
        send_timeout: stall_timeout,
        send_timeout_close: true
      ]
  end

  defp address(%{ip: ip, tls: tls, path: path}, port) do
    host = if tuple_size(ip) == 8, do: "[#{:inet.ntoa(ip)}]", else: :inet.ntoa(ip)
    "#{if tls, do: "https", else: "http"}://#{host}:#{port}#{path}"
  end

  defp warn_open(%{identify: nil, router: router}, %{ip: ip}) do
    if not loopback?(ip) do
      Logger.warning(
        "#{inspect(router)} is served on #{:inet.ntoa(ip)} without identify: whoever reaches this address may call its tools"
      )
    end
  end

  defp warn_open(_mount, _options), do: :ok

  defp loopback?({127, _, _, _}), do: true
  defp loopback?({0, 0, 0, 0, 0, 0, 0, 1}), do: true
  defp loopback?(_ip), do: false

  @impl true
  def handle_call(:port, _from, state), do: {:reply, state.port, state}
  def handle_call(:stats, _from, state), do: {:reply, Usage.stats(state.mount.usage), state}

  @impl true
  def handle_info({:mcp_accepted, pid}, state), do: {:noreply, accepted(state, pid)}

  def handle_info(:refresh, state) do
    Process.send_after(self(), :refresh, @refresh_ms)
    {:noreply, refresh(state, Catalog.fetch(state.mount.router))}
  end

  def handle_info({:EXIT, pid, reason}, state), do: ended(state, pid, reason)
  def handle_info(_message, state), do: {:noreply, state}

  # The acceptor has become a connection, and a new acceptor replaces it.
  defp accepted(state, pid) do
    acceptors = state.acceptors |> MapSet.delete(pid) |> MapSet.put(Acceptor.start(state.listener, state.mount))
    %{state | acceptors: acceptors, connections: MapSet.put(state.connections, pid)}
  end

  defp ended(state, pid, reason) do
    cond do
      MapSet.member?(state.connections, pid) ->
        {:noreply, %{state | connections: MapSet.delete(state.connections, pid)}}

      MapSet.member?(state.acceptors, pid) ->
        acceptors = state.acceptors |> MapSet.delete(pid) |> MapSet.put(Acceptor.start(state.listener, state.mount))
        {:noreply, %{state | acceptors: acceptors}}

      true ->
        {:stop, reason, state}
    end
  end

  # The catalogue changes only when the router is recompiled.
  defp refresh(%{mount: %{catalog: catalog}} = state, catalog), do: state
  defp refresh(state, _catalog), do: %{state | mount: Mount.renew(state.mount)}

  @impl true
  def terminate(_reason, %{mount: mount, drain: drain} = state) do
    close(state.listener)
    until = System.monotonic_time(:millisecond) + drain
    for pid <- state.connections, do: send(pid, {:mcp_http_drain, until})
    Sessions.drain(mount.id)
    state = wait(state, until, until)
    Sessions.shut_down(mount.id)
    state = wait(state, until, until + state.last_words)
    # If this process exits normally, its links do not end the connections.
    for pid <- MapSet.union(state.connections, state.acceptors), do: Process.exit(pid, :kill)
    Mount.withdraw(mount.id)
  end

  defp close({:tcp, socket}), do: :gen_tcp.close(socket)
  defp close({:ssl, socket}), do: :ssl.close(socket)

  # A connection may be accepted last, and become known only after all others got the drain message.
  defp wait(state, until, deadline) do
    if Usage.stats(state.mount.usage).connections > 0 and System.monotonic_time(:millisecond) < deadline do
      receive do
        {:mcp_accepted, pid} ->
          send(pid, {:mcp_http_drain, until})
          wait(%{state | connections: MapSet.put(state.connections, pid)}, until, deadline)
      after
        @drain_ms -> wait(state, until, deadline)
      end
    else
      state
    end
  end
end
