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

  TLS is the work of a proxy in front of it.

  ## Sessions

  Clients of 2026-07-28 need none. Older ones open a session with `initialize`; it ends with `DELETE`, after
  `:idle_timeout` without a request or an open stream, or after `:session_lifetime`. A client that loses a
  stream comes back for the rest of it, see `:max_events`. In a cluster any node serves any session: what reaches
  the wrong one is passed on.

  ## Shares

  No client takes all that there is for everybody. Of the sessions of a node, of the events that are stored for them and
  of the bytes of subscriptions one client has at most `:max_share` percent, and at least one; beyond it gets the answer
  of the limit itself. A client is a principal, wherever it connects from, or without one the address of its peer (of
  IPv6 the first 64 bits). Loopback addresses have no share: there is one user, or a proxy that all users come through.
  Where clients that are not authenticated come through a proxy of another address, `max_share: 100` lets it have all.

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
  | `:drain` | `5_000` | how long calls may go on when the server stops, in milliseconds |
  | `:max_body_bytes` | 4 MiB | the longest message; above 413 |
  | `:max_connections` | `16_384` | connections at once; above 503 |
  | `:max_requests` | `1_000` | calls without a session at once, for each scheduler; above 503 |
  | `:max_listeners` | `20_000` | `subscriptions/listen` streams, for each scheduler; above 429 |
  | `:max_calls` | `64` | calls of one session at once; above 429 |
  | `:max_sessions` | `10_000` | sessions of this node; above 503 |
  | `:max_sessions_per_principal` | `100` | the same for one principal |
  | `:max_share` | `25` | percent of the sessions of a node, and of the events it stores for them, that one client may have; see below |
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

  require Logger

  alias McpServer.{Catalog, Limit, Outline}
  alias McpServer.Http.{Listener, Mount, Resources, Sessions, Workers}

  @native [
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
  @own [port: 4040, ip: {127, 0, 0, 1}, drain: 5_000]
  @units %{
    max_connections: :count,
    max_head_bytes: 1024 * 1024,
    max_headers: 1_000,
    max_body_bytes_in_flight: 64 * 1024 * 1024 * 1024,
    body_min_rate: :bytes
  }
  # How often a router that was compiled again is looked for, and a worker that is being restarted.
  @refresh_ms 1_000
  @retry_ms 20

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
    settings = Map.new(Keyword.validate!(rest, @own ++ @native))
    Enum.each(settings, &check!/1)
    mount = Keyword.put_new(mount, :path, "/mcp")
    # What is wrong with it is said to the caller.
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

  defp check!({name, value}), do: Limit.check!(name, value, Map.get(@units, name, :milliseconds))

  # What its sockets are limited to, by name and default.
  @doc false
  @spec limits() :: [{atom(), pos_integer()}]
  def limits, do: @native ++ Keyword.take(@own, [:drain])

  @doc "The port that the server listens on."
  @spec port(GenServer.server()) :: :inet.port_number()
  def port(server), do: GenServer.call(server, :port)

  @doc """
  What the listener has counted since it started: `connections`, `requests`, `refused`, `streams` and others, by
  name. For metrics and for a look at night.

  `exchanges` are the requests that were handed to a process and have not ended, streams included. A server without
  clients has none.
  """
  @spec stats(GenServer.server()) :: %{atom() => non_neg_integer()}
  def stats(server), do: GenServer.call(server, :stats)

  @impl true
  def init({options, settings, resources}) do
    Process.flag(:trap_exit, true)
    mount = options |> id(settings) |> Mount.new(options) |> with_results(options, resources)
    Mount.publish(mount)
    {:ok, workers} = Workers.start_link(mount)

    state = %{
      mount: mount,
      settings: settings,
      catalog: Catalog.fetch(mount.router),
      listener: nil,
      port: nil,
      workers: %{},
      desk: nil,
      watching?: false
    }

    case listen(state) do
      {:ok, listener, port} ->
        warn_open(state)
        Process.send_after(self(), :refresh, @refresh_ms)
        {:ok, watch(%{state | listener: listener, port: port})}

      {:error, reason} ->
        # Orderly: ended by this process's exit it would log a page about a port that is taken.
        Supervisor.stop(workers)
        withdraw(mount)
        {:stop, reason}
    end
  end

  # The same when it is started again.
  defp id(options, %{port: 0}), do: {__MODULE__, options[:router], make_ref()}
  defp id(options, %{ip: ip, port: port}), do: {__MODULE__, options[:router], {ip, port}}

  defp listen(%{mount: mount, settings: settings} = state) do
    native = settings |> Map.drop([:drain]) |> Map.put(:ip, to_string(:inet.ntoa(settings.ip)))
    workers = List.to_tuple(Workers.all(mount.id))
    native = native |> Map.merge(limits(mount)) |> Map.merge(rest(mount))
    Listener.listen(workers, state.catalog, mount.policy, hooks?(mount), native)
  end

  defp rest(%{rest: nil}), do: %{}

  defp rest(%{rest: rest, id: id}),
    do: %{rest: {rest.endpoint, Resources.hooks?(rest), Workers.desk(id)}}

  defp hooks?(mount), do: mount.authorize != nil or mount.init != nil

  defp limits(mount) do
    mount
    |> Map.take([:max_body_bytes, :max_queued_bytes, :stall_timeout])
    |> Map.put(:message_limits, mount.limits)
  end

  defp warn_open(%{mount: %{authorize: nil, router: router}, settings: %{ip: ip}}) do
    if not loopback?(ip) do
      Logger.warning(
        "#{inspect(router)} is served on #{:inet.ntoa(ip)} without authorize: whoever reaches this address may call its tools"
      )
    end
  end

  defp warn_open(_state), do: :ok

  defp loopback?({127, _, _, _}), do: true
  defp loopback?({0, 0, 0, 0, 0, 0, 0, 1}), do: true
  defp loopback?(_ip), do: false

  # Tells the listener who answers, and new workers what it admits with.
  defp watch(state) do
    workers = Workers.all(state.mount.id)
    Listener.put_workers(state.listener, List.to_tuple(workers))
    new = for worker <- workers, not is_map_key(state.workers, worker), do: {worker, Process.monitor(worker)}
    for {worker, _monitor} <- new, do: send(worker, {:mcp_catalog, state.catalog})
    state = watch_desk(%{state | workers: Map.merge(state.workers, Map.new(new))}, Workers.desk(state.mount.id))
    missing? = length(workers) < Workers.count() or (state.mount.rest != nil and state.desk == nil)
    if missing?, do: watch_again(state), else: state
  end

  defp watch_desk(%{desk: desk} = state, desk), do: state
  defp watch_desk(state, nil), do: %{state | desk: nil}

  defp watch_desk(state, desk) do
    Process.monitor(desk)
    Listener.put_desk(state.listener, desk)
    %{state | desk: desk}
  end

  # Its supervisor has a worker back in a moment.
  defp watch_again(%{watching?: true} = state), do: state

  defp watch_again(state) do
    Process.send_after(self(), :workers, @retry_ms)
    %{state | watching?: true}
  end

  @impl true
  def handle_call(:port, _from, state), do: {:reply, state.port, state}
  def handle_call(:stats, _from, state), do: {:reply, Listener.stats(state.listener), state}

  @impl true
  def handle_info(:refresh, state) do
    Process.send_after(self(), :refresh, @refresh_ms)
    {:noreply, refresh(state, Catalog.fetch(state.mount.router))}
  end

  def handle_info(:workers, state), do: {:noreply, watch(%{state | watching?: false})}

  def handle_info({:DOWN, _ref, :process, worker, _reason}, state),
    do: {:noreply, watch_again(%{state | workers: Map.delete(state.workers, worker)})}

  def handle_info({:EXIT, _pid, reason}, state), do: {:stop, reason, state}
  def handle_info(_message, state), do: {:noreply, state}

  # The same catalogue as long as nobody compiles the router.
  defp refresh(%{catalog: catalog} = state, catalog), do: state

  defp refresh(state, catalog) do
    Listener.put_catalog(state.listener, catalog)
    for worker <- Workers.all(state.mount.id), do: send(worker, {:mcp_catalog, catalog})
    %{state | catalog: catalog}
  end

  @doc false
  def format_status(status), do: Outline.status(status)

  @impl true
  def terminate(_reason, %{mount: mount, settings: %{drain: grace}} = state) do
    Listener.drain(state.listener, grace)
    for worker <- Workers.all(mount.id), do: send(worker, :mcp_http_drain)
    Sessions.drain(mount.id)
    wait(state.listener, System.monotonic_time(:millisecond) + grace)
    Listener.stop(state.listener)
    withdraw(mount)
  end

  defp withdraw(mount) do
    Workers.leave(mount.id)
    Mount.withdraw(mount.id)
  end

  defp wait(listener, deadline) do
    if Listener.stats(listener).connections > 0 and System.monotonic_time(:millisecond) < deadline do
      Process.sleep(@retry_ms)
      wait(listener, deadline)
    end
  end
end
