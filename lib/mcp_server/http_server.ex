defmodule McpServer.HttpServer do
  @moduledoc """
  Serves a router over Streamable HTTP, on a listener of its own: no web server and no further dependency.

      children = [
        MyApp.Repo,
        {McpServer.HttpServer, router: MyApp.MCP, port: 4040}
      ]

  Clients connect to `http://127.0.0.1:4040/mcp`, with any revision of the protocol. In a Phoenix application, or
  behind Bandit or Cowboy, use `McpServer.HttpPlug`: it follows the same rules of the protocol and shares most options.

  ## Who may connect

  It listens on the loopback interface, and answers only requests whose `Host` is loopback and whose `Origin`, if there is
  one, is of this machine: a page of another site cannot reach it. To be reached by others it needs three things:

      {McpServer.HttpServer,
       router: MyApp.MCP,
       ip: :any,
       port: 4040,
       allowed_hosts: ["mcp.example.com"],
       identify: &MyApp.Auth.identify/1}

  `identify:` is called with each request's head, before its body is read, and says who asks:

  | it returns | the client gets |
  |---|---|
  | `{:ok, principal}` | its answer; handlers see the principal as `conn.principal`, and sessions, streams and sealed state are this principal's alone |
  | `{:ok, %McpServer.Auth{}}` | the same; `conn.auth` has scopes and claims, which may differ from request to request |
  | `{:error, :unauthorized}` | 401 with a `WWW-Authenticate` challenge |
  | `{:error, {:unauthorized, ["files:read"]}}` | 401 with a challenge that names the scopes to ask for |
  | `{:error, {:insufficient_scope, ["files:read"]}}` | 403 with a challenge that names the scopes |
  | `{:error, :invalid_request}` | 400 with a challenge: there are two tokens, or one in the query |
  | `{:error, {:unavailable, 5}}` | 503 with `Retry-After`: whoever could check the token does not answer |

  With `auth:` the server checks the tokens of an authorization server itself: `McpServer.Auth`.

  With `resource_metadata:` the challenge names the protected resource metadata document (RFC 9728). It is served at
  `/.well-known/oauth-protected-resource`, and at this path followed by that of `resource`:

      resource_metadata: %{
        resource: "https://mcp.example.com/mcp",
        authorization_servers: ["https://auth.example.com"]
      }

  ## TLS

  Without a proxy in front of it, the server speaks TLS itself:

      {McpServer.HttpServer,
       router: MyApp.MCP,
       port: 8443,
       tls: [certfile: "priv/cert.pem", keyfile: "priv/key.pem"]}

  `:tls` has the options of `:ssl.listen/2`. Renewed files are read again within two minutes, without a restart: that is
  how long OTP keeps them. A TLS connection takes more memory than a plain one.

  ## Sessions

  Clients of 2026-07-28 need none. Older ones open a session with `initialize`; it ends with `DELETE`, after
  `idle_timeout` without a request or an open stream, or after `session_lifetime`. A client that loses a
  stream comes back for the rest of it, see `max_events`. In a cluster any node serves any session: what reaches
  the wrong one is passed on. With `config :mcp_server, secret:` sessions outlive restarts and work on nodes that are not
  connected: see [Sessions and deploys](sessions.html).

  ## Shares

  A client may use at most `max_share` percent, but always at least one, of each of these: the sessions of a node, the
  events stored for them, the bytes of subscriptions, the calls without a session, and the streams. Beyond that it gets
  the same answer as at the full limit. A client is a principal, wherever it connects from, or without one the address
  of its peer (of IPv6 the first 64 bits). Clients without a principal from a loopback address are not restricted: there
  is one user, or a proxy that all users come through. If clients without authentication come through a proxy on another
  machine, all of them are one client: set `http: [max_share: 100]`.

  ## Several mounts and several nodes

  One router can be mounted several times, such as at `/mcp` for everybody and at `/admin` for some. Sessions and sealed
  states of one mount are unknown to another. Servers of several nodes with the same router and the same name are one mount.
  The default name is `"http "` plus the path, and of `McpServer.HttpPlug` `"plug "` plus its `:path` (usually empty). To
  separate two plugs of one router, or two servers with one path, give each its own `:mount_name`. To share sessions between
  a server and a plug, give both the same `:mount_name`.

  ## Disconnects

  A client of 2026-07-28 that closes its connection cancels the request. In a session the request goes on, and its
  answer waits for the client to resume.

  ## Stored results

  With `routes:` the results that a `McpServer.DualResponse` keeps are served on the same port:

      {McpServer.HttpServer,
       router: MyApp.MCP,
       routes: [{"/resources", {McpServer.DualResponse.Rest, server: MyApp.Results}}]}

  The same hosts and origins are let in. Where neither `identify:` nor `authorize:` is given for them, `identify:` of
  the server is asked, and its principal is the `subject` of `McpServer.DualResponse`. `McpServer.DualResponse.Rest` has
  the requests, answers and options.

  ## Options

  Times are milliseconds, sizes bytes. None can be infinite; [Limits](limits.html) tells how large each can be, and what
  a client gets beyond it.

  #{McpServer.Options.document(McpServer.ServerOptions.http_server())}
  """

  use GenServer
  use McpServer.Outline

  require Logger

  alias McpServer.{Catalog, Limit, NamedFunction, Options, ServerOptions}
  alias McpServer.Http.{Mount, Route, Sessions, Usage}
  alias McpServer.HttpServer.{Acceptor, Capacity}

  # How often a router that was compiled again is looked for.
  @refresh_ms 1_000
  # How often connections are counted while they end.
  @drain_ms 20
  # How long answers to what did not end in time may take to be written.
  @last_words_ms 1_000
  # How many processes wait for a connection at the same time, and how many connections may wait for them.
  @acceptors 16
  @backlog 4_096

  @type option :: {:router, module()} | {atom(), term()}

  @doc false
  @spec child_spec([option()]) :: Supervisor.child_spec()
  def child_spec(options) do
    checked = checked(options)

    %{
      id: {__MODULE__, checked.name || checked.port},
      start: {__MODULE__, :start_link, [Options.hide(ServerOptions.http_server(), options)]},
      shutdown: checked.drain + 5_000
    }
  end

  defp checked(options), do: Options.check!(inspect(__MODULE__), ServerOptions.http_server(), options)

  @doc """
  Starts the server, linked to the calling process. Usually a supervisor does.

  Returns `{:error, reason}` where it cannot listen: `:eaddrinuse`, `:eacces`, `:eaddrnotavail`; `:ignore` with
  `config :mcp_server, serve_http: false`, which `mix mcp.stdio` sets before it starts the application. Raises
  `ArgumentError` for options that are unknown or wrong. The log has one line of the level `info` with the address.
  """
  @spec start_link([option()]) :: GenServer.on_start()
  def start_link(options) do
    options = with %{ip: ip} = options <- checked(options), do: %{options | ip: ServerOptions.address(ip)}
    # What is wrong with it is said to the caller.
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
  What the server has counted, by name. For metrics and for troubleshooting.

  | name | what |
  |---|---|
  | `connections`, `exchanges`, `calls`, `streams`, `hooks`, `body_bytes` | in use at this moment; `exchanges` are requests that wait for a session or for stored results |
  | `accepted`, `accept_errors`, `turned_away` | connections since the server started: accepted, not accepted for an error of the system, refused for `:max_connections` |
  | `requests`, `refused` | requests since then, and those refused by their head |
  | `cut` | connections that were cut because their client took nothing |
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
      Mount.publish(mount)
      {:ok, _supervisor} = Route.start_link(mount.routes)
      Process.send_after(self(), :refresh, @refresh_ms)
      acceptors = for _ <- 1..@acceptors, into: MapSet.new(), do: Acceptor.start(listener, mount)

      {:ok,
       %{
         mount: mount,
         drain: options.drain,
         listener: listener,
         port: port,
         acceptors: acceptors,
         connections: MapSet.new()
       }}
    else
      {:error, reason} -> {:stop, reason}
    end
  end

  # A session's calls have as long as all others, and its own end comes behind the server's.
  defp draining(mount, %{drain: drain}),
    do: %{mount | bounds: %{mount.bounds | drain: min(drain + @last_words_ms, Limit.most(:milliseconds))}}

  defp bounded(%{sockets: sockets} = mount) do
    case Capacity.bound(sockets.max_connections) do
      {:ok, _wanted} ->
        mount

      {:fewer, room, why} ->
        Logger.warning("#{inspect(mount.router)} is served to #{why}")
        %{mount | sockets: %{sockets | max_connections: room}}
    end
  end

  # The same when it is started again.
  defp id(%{router: router, port: 0}), do: {__MODULE__, router, make_ref()}
  defp id(%{router: router, ip: ip, port: port}), do: {__MODULE__, router, {ip, port}}

  defp listen(%{port: port, tls: tls, ip: ip}, stall_timeout) do
    with {:ok, socket} <- open(tls, port, socket_options(ip, stall_timeout)), do: listener(tls, socket)
  end

  defp open(nil, port, options), do: :gen_tcp.listen(port, options)
  defp open(tls, port, options), do: :ssl.listen(port, options ++ tls)

  defp listener(nil, socket) do
    {:ok, port} = :inet.port(socket)
    {:ok, {:tcp, socket}, port}
  end

  defp listener(_tls, socket) do
    {:ok, {_address, port}} = :ssl.sockname(socket)
    {:ok, {:ssl, socket}, port}
  end

  # A client that closes its side may still read an answer.
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

  # It has become a connection, and another waits in its place.
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

  # The same catalogue as long as nobody compiles the router.
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
    state = wait(state, until, until + @last_words_ms)
    # Where this process ends orderly, its links end nobody.
    for pid <- MapSet.union(state.connections, state.acceptors), do: Process.exit(pid, :kill)
    Mount.withdraw(mount.id)
  end

  defp close({:tcp, socket}), do: :gen_tcp.close(socket)
  defp close({:ssl, socket}), do: :ssl.close(socket)

  # A connection may be accepted at the last moment, and heard of after all others were told.
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
