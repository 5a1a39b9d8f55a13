defmodule McpServer.HttpServer do
  @moduledoc """
  Serves a router over Streamable HTTP, on a listener of its own: no web server and no further dependency.

      children = [
        MyApp.Repo,
        {McpServer.HttpServer, router: MyApp.MCP, port: 4040}
      ]

  Clients connect to `http://127.0.0.1:4040/mcp`, with any revision of the protocol. In a Phoenix application, or
  behind Bandit or Cowboy, use `McpServer.HttpPlug`: it obeys the same rules and takes the same options.

  ## Who may connect

  It listens on the loopback interface, and answers requests for a loopback host only, whatever their origin:
  a web page that the user has open cannot reach it. To be reached by others it needs three things:

      {McpServer.HttpServer,
       router: MyApp.MCP,
       ip: {0, 0, 0, 0},
       port: 4040,
       allowed_hosts: ["mcp.example.com"],
       authorize: &MyApp.Auth.authorize/1}

  `authorize:` is called with each request's head, before its body is read, and says who asks:

  | it returns | the client gets |
  |---|---|
  | `{:ok, principal}` | its answer; handlers see the principal as `conn.principal`, and sessions, streams and sealed state are this principal's alone |
  | `{:error, :unauthorized}` | 401 with a `WWW-Authenticate` challenge |
  | `{:error, {:insufficient_scope, ["files:read"]}}` | 403 with a challenge that names the scopes |

  With `resource_metadata:` the challenge names the protected resource metadata document (RFC 9728), which is served
  at `/.well-known/oauth-protected-resource`:

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
  `:idle_timeout` without a request or an open stream, or after `:session_lifetime`. A client that loses a
  stream comes back for the rest of it, see `:max_events`. In a cluster any node serves any session: what reaches
  the wrong one is passed on.

  ## Shares

  No client takes all that there is for everybody. Of the sessions of a node, of the events that are stored for them, of
  the bytes of subscriptions, of calls without a session and of streams one client has at most `:max_share` percent, and
  at least one; beyond it gets the answer of the limit itself. A client is a principal, wherever it connects from, or
  without one the address of its peer (of IPv6 the first 64 bits). Loopback addresses have no share: there is one user,
  or a proxy that all users come through. Where clients that are not authenticated come through a proxy of another
  address, `max_share: 100` lets it have all.

  ## Several places and several nodes

  One router can be served at several places, such as `/mcp` for everybody and `/admin` for some. Sessions and sealed
  states of one place mean nothing at another. Places are told apart by their names, and servers of several nodes that
  have the same router and the same name are one place. The name is `"http "` and the path, and of `McpServer.HttpPlug`
  `"plug "` and its `:path`, of which most have none. Two plugs of one router, or two servers with one path, that
  are not to share sessions need a `:mount_name` each. So do a server and a plug that are to share them: the same one.

  ## Disconnects

  A client of 2026-07-28 that closes its connection cancels the request. In a session the request goes on, and its
  answer waits for the client to resume.

  ## Stored results

  With `resources:` the results that a `McpServer.DualResponse` keeps are served on the same port:

      {McpServer.HttpServer, router: MyApp.MCP, resources: {"/resources", MyApp.Results}}

  The same hosts and origins are let in. Where neither `identify:` nor `authorize:` is given for them, `authorize:` of
  the server is asked, and its principal is the `subject` of `McpServer.DualResponse`. `McpServer.DualResponse.Rest` has
  the requests, answers and options.

  ## Options

  | option | default | |
  |---|---|---|
  | `:router` | required | the router to serve |
  | `:port` | `4040` | `0` takes a free one: `port/1` |
  | `:ip` | `{127, 0, 0, 1}` | the address to listen on |
  | `:path` | `"/mcp"` | where it is served |
  | `:name` | none | a name to register |
  | `:mount_name` | from `:path` | a string that tells this place from others of the same router, the same on every node; see below |
  | `:allowed_hosts` | `[]` | hosts beside loopback: `"mcp.example.com"`, or with a port |
  | `:allowed_origins` | `[]` | origins beside loopback: `"https://app.example.com"` |
  | `:authorize` | none | who asks: a function of one argument, or `{module, function}`; see above |
  | `:init` | none | a function from the request's head to the `McpServer.Conn` that handlers get |
  | `:assigns` | `%{}` | what every `McpServer.Conn` has under `assigns` |
  | `:resource_metadata` | none | the document of RFC 9728, a map |
  | `:resources` | none | stored results to serve too: `{"/resources", MyApp.Results}`, or `[path: …, server: …]` with the options of `McpServer.DualResponse.Rest` |
  | `:tls` | none | options of `:ssl`, see above |
  | `:drain` | `5_000` | how long calls may go on when the server stops, in milliseconds |
  | `:max_body_bytes` | 4 MiB | the longest message; above 413 |
  | `:max_connections` | `16_384` | connections at once; above 503 |
  | `:max_requests` | `1_000` | calls without a session at once, for each scheduler; above 503 |
  | `:max_listeners` | `20_000` | `subscriptions/listen` streams, for each scheduler; above 429 |
  | `:max_hooks` | `1_000` | calls of `authorize:` and `init:` at once; above 503 |
  | `:max_calls` | `64` | calls of one session at once; above 429 |
  | `:max_sessions` | `10_000` | sessions of this node; above 503 |
  | `:max_sessions_per_principal` | `100` | the same for one principal |
  | `:max_share` | `25` | percent of sessions, stored events, calls without a session and streams that one client may have; see above |
  | `:idle_timeout` | `1_800_000` | how long a session lives unused, in milliseconds |
  | `:session_lifetime` | `86_400_000` | how long it lives at most, in milliseconds |
  | `:stream_after` | `1_000` | a call that takes longer than this gets a stream, in milliseconds |
  | `:keep_alive` | `15_000` | how often a quiet stream shows a sign of life, in milliseconds |
  | `:stall_timeout` | `30_000` | how long a client may read nothing of what it was sent, in milliseconds |
  | `:max_events`, `:max_event_bytes` | `256`, 1 MiB | events kept of each stream of a session, for resumption |
  | `:max_queued_bytes` | 1 MiB | what a stream may hold for a client that does not read; more cuts it |
  | `:max_head_bytes`, `:max_headers` | 64 KiB, `100` | a request's line and headers; above 431 |
  | `:max_body_bytes_in_flight` | 256 MiB | all bodies that are being read or judged; above 503 |
  | `:head_timeout` | `10_000` | how long a request's head may take, in milliseconds |
  | `:body_timeout` | `60_000` | how long a body may take in all, in milliseconds |
  | `:body_min_rate`, `:body_grace` | `1_024`, `5_000` | bytes a second that a body has to make, and after how many milliseconds |
  | `:connection_timeout` | `60_000` | how long a connection may wait for its next request, in milliseconds |

  And the bounds of calls and of messages, as in `McpServer.Stdio`: `:timeout`, `:input_timeout`, `:max_awaiting_input`,
  `:max_subscriptions`, `:max_subscription_bytes`, `:max_heap_words`, `:max_result_bytes`; `:max_depth`, `:max_values`, `:max_digits`, `:max_id_bytes`,
  `:max_method_bytes`, `:max_name_bytes`, `:max_uri_bytes`, `:max_meta_bytes`, `:max_batch`.

  None can be infinite. What a client gets beyond each, and how large each may be made, is told in
  [Limits](limits.html).
  """

  use GenServer
  use McpServer.Outline

  require Logger

  alias McpServer.{Catalog, Limit, NamedFunction}
  alias McpServer.DualResponse.Rest
  alias McpServer.Http.{Acceptor, Desk, Desks, Mount, Resources, Sessions, Usage}
  alias McpServer.Protocol.HTTP

  @sockets [
    max_connections: 16_384,
    max_head_bytes: 64 * 1024,
    max_headers: 100,
    max_body_bytes_in_flight: 256 * 1024 * 1024,
    head_timeout: 10_000,
    body_timeout: 60_000,
    body_grace: 5_000,
    body_min_rate: 1024,
    connection_timeout: 60_000
  ]
  @own [port: 4040, ip: {127, 0, 0, 1}, drain: 5_000, tls: nil]
  @units %{
    max_connections: :count,
    max_head_bytes: 1024 * 1024,
    max_headers: 1_000,
    max_body_bytes_in_flight: 64 * 1024 * 1024 * 1024,
    body_min_rate: :bytes
  }
  # How often a router that was compiled again is looked for.
  @refresh_ms 1_000
  # How often connections are counted while they end.
  @drain_ms 20
  # How long answers to what did not end in time may take to be written.
  @last_words_ms 1_000
  # The longest timer of the VM.
  @longest_ms 4_294_967_295
  # How many processes wait for a connection at the same time, and how many connections may wait for them.
  @acceptors 16
  @backlog 4_096

  @type option :: {:router, module()} | {atom(), term()}

  @doc false
  @spec child_spec([option()]) :: Supervisor.child_spec()
  def child_spec(options) do
    %{
      id: {__MODULE__, options[:name] || options[:port] || @own[:port]},
      start: {__MODULE__, :start_link, [options]},
      shutdown: Keyword.get(options, :drain, @own[:drain]) + 5_000
    }
  end

  @doc """
  Starts the server, linked to the calling process. Usually a supervisor does.

  Returns `{:error, reason}` where it cannot listen: `:eaddrinuse`, `:eacces`, `:eaddrnotavail`. Raises
  `ArgumentError` for options that are unknown or wrong.
  """
  @spec start_link([option()]) :: GenServer.on_start()
  def start_link(options) do
    {name, options} = Keyword.split(options, [:name])
    {resources, options} = Keyword.pop(options, :resources)
    {mount, rest} = Mount.options!(options)
    settings = Map.new(Keyword.validate!(rest, @own ++ @sockets))
    Enum.each(settings, &check!/1)
    mount = Keyword.put_new(mount, :path, "/mcp")
    # What is wrong with it is said to the caller.
    _catalog = Catalog.fetch(mount[:router])
    for hook <- [:authorize, :init], do: NamedFunction.check!(hook, mount[hook], 1)
    _checked = with_results(Mount.new(:unserved, mount), mount, resources)
    GenServer.start_link(__MODULE__, {mount, settings, resources}, name)
  end

  defp with_results(mount, options, resources), do: %{mount | rest: Resources.rest!(resources, mount, options)}

  defp check!({:port, port}) do
    port in 0..65_535 || raise ArgumentError, "expected :port to be between 0 and 65535, got: #{inspect(port)}"
  end

  defp check!({:ip, ip}) do
    (is_tuple(ip) and is_list(:inet.ntoa(ip))) or
      raise ArgumentError, "expected :ip to be an address such as {127, 0, 0, 1}, got: #{inspect(ip)}"
  end

  defp check!({:tls, nil}), do: :ok

  defp check!({:tls, options}) do
    (Keyword.keyword?(options) and options != []) ||
      raise ArgumentError,
            "expected :tls to be options of :ssl such as [certfile: \"cert.pem\", keyfile: \"key.pem\"]"
  end

  defp check!({name, value}), do: Limit.check!(name, value, Map.get(@units, name, :milliseconds))

  # What its sockets are limited to, by name and default.
  @doc false
  @spec limits() :: [{atom(), pos_integer()}]
  def limits, do: @sockets ++ Keyword.take(@own, [:drain])

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
  def init({options, settings, resources}) do
    Process.flag(:trap_exit, true)
    mount = options |> id(settings) |> Mount.new(options) |> with_results(options, resources) |> draining(settings)
    mount = served(%{mount | sockets: Map.take(settings, Keyword.keys(@sockets))}, Catalog.fetch(mount.router))

    with {:ok, listener, port} <- listen(settings, mount.stall_timeout) do
      warn_open(mount, settings)
      Mount.publish(mount)
      start_desk(mount)
      Process.send_after(self(), :refresh, @refresh_ms)
      acceptors = for _ <- 1..@acceptors, into: MapSet.new(), do: Acceptor.start(listener, mount)

      {:ok,
       %{
         mount: mount,
         settings: settings,
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
    do: %{mount | options: Keyword.put(mount.options, :grace, min(drain + @last_words_ms, @longest_ms))}

  # The same when it is started again.
  defp id(options, %{port: 0}), do: {__MODULE__, options[:router], make_ref()}
  defp id(options, %{ip: ip, port: port}), do: {__MODULE__, options[:router], {ip, port}}

  # What reads requests, and admits them with the same catalogue that they are dispatched with.
  defp served(mount, catalog) do
    limits = Map.take(mount.sockets, [:max_head_bytes, :max_headers])
    hooks? = mount.authorize != nil or mount.init != nil
    service = HTTP.service(mount.policy, catalog, mount.limits, hooks?, endpoint(mount.rest), limits)
    %{mount | catalog: catalog, service: service}
  end

  defp endpoint(%Rest{endpoint: endpoint}), do: endpoint
  defp endpoint(nil), do: nil

  defp start_desk(%{rest: nil}), do: :ok

  defp start_desk(%{id: id, rest: rest}) do
    {:ok, _supervisor} =
      Supervisor.start_link([{Desk, {id, rest}}], strategy: :one_for_one, max_restarts: 1_000, max_seconds: 5)

    :ok
  end

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

  defp warn_open(%{authorize: nil, router: router}, %{ip: ip}) do
    if not loopback?(ip) do
      Logger.warning(
        "#{inspect(router)} is served on #{:inet.ntoa(ip)} without authorize: whoever reaches this address may call its tools"
      )
    end
  end

  defp warn_open(_mount, _settings), do: :ok

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

  defp refresh(state, catalog) do
    mount = served(state.mount, catalog)
    Mount.publish(mount)
    %{state | mount: mount}
  end

  @impl true
  def terminate(_reason, %{mount: mount, settings: %{drain: drain}} = state) do
    close(state.listener)
    until = System.monotonic_time(:millisecond) + drain
    state = drain(state, until)
    Sessions.drain(mount.id)
    wait(state, until)
    Sessions.shut_down(mount.id)
    wait(state, until + @last_words_ms)
    # Where this process ends orderly, its links end nobody.
    for pid <- MapSet.union(state.connections, state.acceptors), do: Process.exit(pid, :kill)
    Desks.leave(mount.id)
    Mount.withdraw(mount.id)
  end

  defp close({:tcp, socket}), do: :gen_tcp.close(socket)
  defp close({:ssl, socket}), do: :ssl.close(socket)

  # Also those that have been accepted and not been heard of yet.
  defp drain(state, until) do
    receive do
      {:mcp_accepted, pid} -> drain(%{state | connections: MapSet.put(state.connections, pid)}, until)
    after
      0 ->
        for pid <- state.connections, do: send(pid, {:mcp_http_drain, until})
        state
    end
  end

  defp wait(state, deadline) do
    if Usage.stats(state.mount.usage).connections > 0 and System.monotonic_time(:millisecond) < deadline do
      Process.sleep(@drain_ms)
      wait(state, deadline)
    end
  end
end
