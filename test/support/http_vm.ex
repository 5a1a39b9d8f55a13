defmodule McpServer.HttpVm do
  # A server in a separate VM, which a test may kill, stop, starve, or connect to others.
  #
  # The VM gets its commands over stdin and stdout, so the test's VM needs no distribution. It ends with the test that
  # started it.
  @moduledoc false

  import ExUnit.Callbacks, only: [on_exit: 1]

  alias McpServer.Http.Exchange
  alias McpServer.Http.Cluster.Proxy
  alias McpServer.{HttpServers, Quota}
  alias McpServer.Test.PlugServer

  @compile {:no_warn_undefined, [McpServer.HttpServer, PlugServer]}

  @enforce_keys [:peer, :server, :os_pid, :node]
  defstruct [:peer, :server, :os_pid, :node]

  @type t :: %__MODULE__{peer: pid(), server: HttpServers.t(), os_pid: String.t(), node: node()}

  @timeout 60_000

  @doc """
  Starts a VM with a server.

  `:kind` is the listener or the plug, and `:serve` its options. `:name` makes the VM a node that others can connect to.
  `:secret` is the secret of its cluster, `:env` more of its configuration, `:fds` its maximum number of descriptors, `:emulator` flags of the VM. A `:lazy`
  VM loads code when it needs it, which takes half of the time.
  """
  @spec start(keyword()) :: t()
  def start(options \\ []) do
    serve = HttpServers.patient(options[:serve] || [])
    vm = options |> Keyword.put(:serve, serve) |> launch()
    on_exit(fn -> stop(vm) end)
    vm
  end

  @doc "Starts a VM outside of a test. It runs until `stop/1`, or until this VM ends."
  @spec launch(keyword()) :: t()
  def launch(options \\ []) do
    # Not linked, because the caller must survive a VM that is killed.
    {:ok, peer, node} = :peer.start(peer_options(options))
    vm = %__MODULE__{peer: peer, server: nil, os_pid: nil, node: node}
    {:ok, _started} = call(vm, Application, :ensure_all_started, [:elixir])
    if secret = options[:secret], do: call(vm, Application, :put_env, [:mcp_server, :secret, secret])
    for {key, value} <- options[:env] || [], do: call(vm, Application, :put_env, [:mcp_server, key, value])
    {:ok, _started} = call(vm, Application, :ensure_all_started, [:mcp_server])
    unless options[:lazy], do: call(vm, __MODULE__, :load, [])
    call(vm, Logger, :configure, [[level: :none]])
    kind = options[:kind] || :listener
    if kind == :plug, do: load_plug(vm)
    serve = Keyword.put_new(options[:serve] || [], :router, McpServer.HttpRouter)
    port = call(vm, __MODULE__, :serve, [kind, serve])
    os_pid = to_string(call(vm, :os, :getpid, []))
    %{vm | server: %HttpServers{kind: kind, port: port}, os_pid: os_pid}
  end

  # The plug's server is a script, so the first VM compiles it for the others.
  defp load_plug(vm) do
    case :persistent_term.get(PlugServer, nil) do
      nil -> :persistent_term.put(PlugServer, call(vm, __MODULE__, :compile_plug, []))
      modules -> for {module, code} <- modules, do: call(vm, :code, :load_binary, [module, ~c"nowhere", code])
    end
  end

  # Runs in the VM.
  @doc false
  def compile_plug do
    Code.put_compiler_option(:tracers, [__MODULE__])
    Code.require_file("plug_server.exs", __DIR__)
    Code.put_compiler_option(:tracers, [])
    compiled()
  end

  @doc false
  def trace({:on_module, code, _none}, env) do
    send(self(), {:compiled, env.module, code})
    :ok
  end

  def trace(_event, _env), do: :ok

  defp compiled do
    receive do
      {:compiled, module, code} -> [{module, code} | compiled()]
    after
      0 -> []
    end
  end

  @doc "A node without this library."
  @spec bare_options(String.t()) :: map()
  def bare_options(name), do: %{connection: :standard_io, name: node_name(name), host: ~c"127.0.0.1", longnames: true}

  defp node_name(name), do: :"#{name}-#{System.unique_integer([:positive])}-#{System.pid()}"

  defp peer_options(options) do
    otp = to_string(:code.lib_dir())
    paths = for path <- :code.get_path(), not String.starts_with?(to_string(path), otp), do: path
    flags = Enum.map(options[:emulator] || [], &to_charlist/1)

    arguments =
      flags ++ [~c"-pa" | paths] ++ [~c"-connect_all", ~c"false", ~c"-kernel", ~c"logger_level", ~c"emergency"]

    peer = %{connection: :standard_io, args: arguments, wait_boot: @timeout}
    peer = if fds = options[:fds], do: Map.put(peer, :exec, starved(fds)), else: peer
    name = options[:name] && node_name(options[:name])
    if name, do: Map.merge(peer, %{name: name, host: ~c"127.0.0.1", longnames: true}), else: peer
  end

  defp starved(fds), do: {~c"/bin/sh", [~c"-c", ~c"ulimit -n #{fds}; exec erl \"$@\"", ~c"sh"]}

  @doc "Runs a function in the VM."
  @spec call(t(), module(), atom(), [term()]) :: term()
  def call(vm, module, function, arguments), do: :peer.call(vm.peer, module, function, arguments, @timeout)

  # Runs in the VM. Loads all code, as a release does at its start. A VM without descriptors could not load it later.
  @doc false
  def load do
    {:ok, modules} = :application.get_key(:mcp_server, :modules)
    :code.ensure_modules_loaded(modules)
  end

  # Runs in the VM. The server must survive the call that starts it.
  @doc false
  def serve(kind, options) do
    caller = self()

    {pid, monitor} =
      spawn_monitor(fn ->
        send(caller, {:serving, self(), serve_here(kind, options)})
        Process.sleep(:infinity)
      end)

    receive do
      {:serving, ^pid, port} -> port
      {:DOWN, ^monitor, :process, ^pid, reason} -> exit(reason)
    end
  end

  defp serve_here(:listener, options) do
    options = Keyword.put_new_lazy(options, :port, &free_port/0)
    children = [{McpServer.HttpServer, options}]
    {:ok, _supervisor} = Supervisor.start_link(children, strategy: :one_for_one, max_restarts: 10_000, name: __MODULE__)
    options[:port]
  end

  defp serve_here(:plug, options), do: PlugServer.start(options[:router], options)

  @doc "`identify:` of a VM: the principal is the bearer token, or `nil` without one."
  def identify(request) do
    headers = Map.get(request, :req_headers) || request.headers

    case List.keyfind(headers, "authorization", 0) do
      {_name, "Bearer " <> principal} -> {:ok, principal}
      nil -> {:ok, nil}
    end
  end

  # Runs in the VM.
  @doc false
  def stop_serving, do: Supervisor.stop(__MODULE__)

  # A fixed port, so that it is the same after a restart. Linux gives ports from 32,768 on to others meanwhile.
  defp free_port do
    port = 20_000 + :rand.uniform(10_000)

    case :gen_tcp.listen(port, ip: {127, 0, 0, 1}) do
      {:ok, socket} ->
        :gen_tcp.close(socket)
        port

      {:error, :eaddrinuse} ->
        free_port()
    end
  end

  # Runs in the VM. Returns the server's log texts of its start.
  @doc false
  def said_at_start(options) do
    # The test must print none of the log.
    for other <- :logger.get_handler_ids(), do: :logger.remove_handler(other)
    :ok = :logger.add_handler(__MODULE__, __MODULE__, %{config: %{listener: self()}})
    :ok = :logger.set_primary_config(:level, :warning)
    {:ok, server} = McpServer.HttpServer.start_link(options ++ [router: McpServer.HttpRouter, port: 0])
    GenServer.stop(server)
    :ok = :logger.remove_handler(__MODULE__)
    said()
  end

  # The handler's callback. It runs in the process that logs.
  @doc false
  def log(event, %{config: %{listener: listener}}),
    do: send(listener, {__MODULE__, IO.chardata_to_string(:logger_formatter.format(event, %{template: [:msg]}))})

  defp said do
    receive do
      {__MODULE__, text} -> [text | said()]
    after
      0 -> []
    end
  end

  # Runs in the VM. Occupies descriptors for the rest of its life.
  @doc false
  def open_files(count) do
    caller = self()

    keeper =
      spawn(fn ->
        files = for _ <- 1..count, do: File.open!("/dev/null", [:read, :raw])
        send(caller, {:opened, self(), length(files)})
        receive do: (:close -> files)
      end)

    receive do: ({:opened, ^keeper, ^count} -> :ok)
  end

  # Runs in the VM. Returns the number of running handler calls.
  @doc false
  def running_calls do
    Enum.count(
      Process.list(),
      &match?({:initial_call, {McpServer.Call, :run, _arity}}, Process.info(&1, :initial_call))
    )
  end

  @doc "Sends the VM a signal."
  @spec signal(t(), String.t()) :: :ok
  def signal(vm, name) do
    {"", 0} = System.cmd("kill", ["-#{name}", vm.os_pid], stderr_to_stdout: true)
    :ok
  end

  @doc "The processor time of the VM, in hundredths of a second."
  @spec ticks(t()) :: non_neg_integer()
  def ticks(vm) do
    [_name, rest] = "/proc/#{vm.os_pid}/stat" |> File.read!() |> String.split(") ")
    fields = String.split(rest)
    String.to_integer(Enum.at(fields, 11)) + String.to_integer(Enum.at(fields, 12))
  end

  @doc "Ends the VM."
  @spec stop(t()) :: :ok
  def stop(vm) do
    :peer.stop(vm.peer)
  catch
    :exit, _gone -> :ok
  end

  @doc "Connects two nodes."
  @spec connect(t(), t()) :: :ok
  def connect(one, other) do
    true = call(one, :net_kernel, :connect_node, [other.node])
    :ok
  end

  # Runs in the VM. Returns every process that our supervisors would restart, with its id.
  @doc false
  def supervised do
    # A plug has no supervisor except the library's.
    for root <- [McpServer.Supervisor, __MODULE__], pid = Process.whereis(root), entry <- below(pid), do: entry
  end

  defp below(supervisor) do
    for {id, pid, type, _modules} <- Supervisor.which_children(supervisor), is_pid(pid) do
      [{id, pid} | if(type == :supervisor, do: below(pid), else: [])]
    end
    |> List.flatten()
  catch
    # The supervisor has just ended.
    :exit, _reason -> []
  end

  # Runs in the VM. Kills one of these processes, chosen by a number.
  @doc false
  def kill(number) do
    case supervised() do
      # The killed supervisor is not yet restarted.
      [] ->
        Process.sleep(5)
        kill(number)

      all ->
        {id, pid} = Enum.at(all, rem(number, length(all)))
        Process.exit(pid, :kill)
        inspect(id)
    end
  end

  # Runs in the VM. Kills the registry of sessions, whose partition ends only when its successor waits for it.
  @doc false
  def kill_registry do
    [{_id, partition, _type, _modules}] = Supervisor.which_children(McpServer.Http.Registry)
    :erlang.suspend_process(partition)
    McpServer.Http.Registry |> Process.whereis() |> Process.exit(:kill)
    supervisor = Process.whereis(McpServer.HttpServer.Supervisor)
    await(fn -> {:process, partition} in (supervisor |> Process.info(:monitors) |> elem(1)) end)
    :erlang.resume_process(partition)
    :ok
  end

  # Runs in the VM. Returns the status of a request that another node claims to have forwarded.
  @doc false
  def serve_forwarded(id, %{known: known} = head) do
    exchange = Exchange.new()
    Proxy.serve(exchange, id, Map.delete(head, :known), known, "{}")
    receive do: ({:mcp_respond, _ref, {:reply, status, _headers, _body}} -> status)
  end

  # Runs in the VM. Returns the new scope when it was restarted.
  @doc false
  def kill_scope do
    scope = Process.whereis(McpServer.Changes)
    Process.exit(scope, :kill)
    await(fn -> Process.whereis(McpServer.Changes) not in [nil, scope] end)
    Process.whereis(McpServer.Changes)
  end

  # Runs in the VM. Whether its scope has met that of another node, after it heard of the end of an earlier one.
  @doc false
  def met?(scope) do
    {:monitors, monitors} = McpServer.Changes |> Process.whereis() |> Process.info(:monitors)
    {:process, scope} in monitors
  end

  defp await(condition) do
    unless condition.() do
      Process.sleep(5)
      await(condition)
    end

    :ok
  end

  # Runs in the VM. Returns how much of a kind all clients have in the quota of the node.
  @doc false
  def held(kind), do: Quota.held(Quota.of_node(), kind)

  # Runs in the VM. The statistics of its listener.
  @doc false
  def stats do
    [{_id, listener, _type, _modules}] = Supervisor.which_children(__MODULE__)
    McpServer.HttpServer.stats(listener)
  end

  # Runs in the VM. Kills one session.
  @doc false
  def kill_a_session do
    [{_id, pid, _type, _modules} | _others] = DynamicSupervisor.which_children(McpServer.Http.SessionSupervisor)
    Process.exit(pid, :kill)
  end

  @doc "The number of the VM's processes, and its memory in bytes after a garbage collection."
  @spec used(t()) :: %{processes: pos_integer(), memory: pos_integer()}
  def used(vm) do
    call(vm, __MODULE__, :collect_garbage, [])
    %{processes: length(call(vm, :erlang, :processes, [])), memory: call(vm, :erlang, :memory, [:total])}
  end

  # Runs in the VM.
  @doc false
  def collect_garbage, do: Enum.each(Process.list(), &:erlang.garbage_collect/1)
end
