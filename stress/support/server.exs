defmodule Stress.Server do
  @moduledoc """
  A server in a separate VM, and its use of resources.

  It has three endpoints: an open one, one with a slow hook, and one over TLS.
  """

  alias McpServer.{HttpPeer, HttpRequests, HttpRouter, HttpServer, HttpVm}

  @enforce_keys [:vm, :port, :hooks_port, :tls_port]
  defstruct [:vm, :port, :hooks_port, :tls_port]

  @type ports :: %{port: :inet.port_number(), hooks_port: :inet.port_number(), tls_port: :inet.port_number()}
  @type t :: %__MODULE__{
          vm: HttpVm.t(),
          port: :inet.port_number(),
          hooks_port: :inet.port_number(),
          tls_port: :inet.port_number()
        }
  @type figures :: %{atom() => non_neg_integer()}

  # An unused session expires within the five seconds.
  @options [http: [idle_timeout: 2_000, max_calls: 200]]
  @hook_ms 1_000

  # In addition to 5 %: memory that allocators keep for a moment.
  @slack %{memory: 4_000_000, rss: 16_000_000}
  @settling_ms 5_000
  @look_ms 250

  @doc "Starts it."
  @spec launch() :: t()
  def launch do
    vm = HttpVm.launch(serve: @options)
    HttpVm.call(vm, Code, :require_file, [__ENV__.file])
    HttpVm.call(vm, __MODULE__, :load_here, [])
    hooks_port = HttpVm.call(vm, __MODULE__, :serve_hooks, [])
    tls_port = HttpVm.call(vm, __MODULE__, :serve_tls, [])
    server = %__MODULE__{vm: vm, port: vm.server.port, hooks_port: hooks_port, tls_port: tls_port}
    # The first requests start processes, so they run before the measurements.
    200 = HttpPeer.request(HttpPeer.connect(hooks_port), HttpRequests.modern_call("echo", %{"text" => "x"})).status
    figures(server)
    server
  end

  @doc "The ports of its endpoints."
  @spec ports(t()) :: ports()
  def ports(server), do: Map.take(server, [:port, :hooks_port, :tls_port])

  @doc "Stops it, if it is still alive."
  @spec stop(t()) :: :ok
  def stop(server), do: HttpVm.stop(server.vm)

  # Runs in the VM. Loads all modules, as a release does at its start; else the first use of a module creates atoms.
  @doc false
  def load_here do
    for application <- [:kernel, :stdlib, :crypto, :asn1, :public_key, :ssl, :elixir, :logger, :mcp_server] do
      Application.load(application)
      {:ok, modules} = :application.get_key(application, :modules)
      # Some modules are for other systems.
      _loaded_or_not = :code.ensure_modules_loaded(modules)
    end

    :ok
  end

  # Run in the VM, as children of the supervisor that `HttpVm` has started.
  @doc false
  def serve_hooks, do: serve(:hooks, identify: {__MODULE__, :ponder})

  # Runs in the VM. By default `pkix_test_data` signs with SHA-1, which TLS refuses since Erlang/OTP 26.
  @doc false
  def serve_tls do
    signed = [key: {:namedCurve, :secp256r1}, digest: :sha256]
    chain = %{root: signed, intermediates: [], peer: signed}
    %{server_config: config} = :public_key.pkix_test_data(%{server_chain: chain, client_chain: chain})
    serve(:tls, tls: [log_level: :none] ++ Keyword.take(config, [:cert, :key]))
  end

  defp serve(id, options) do
    options = [router: HttpRouter, port: 0] ++ options ++ @options
    {:ok, pid} = Supervisor.start_child(HttpVm, Supervisor.child_spec({HttpServer, options}, id: id))
    HttpServer.port(pid)
  end

  # Runs in the VM.
  @doc false
  def ponder(_head) do
    Process.sleep(@hook_ms)
    {:ok, "somebody"}
  end

  @doc "The VM's current use of resources."
  @spec figures(t()) :: figures()
  def figures(server), do: HttpVm.call(server.vm, __MODULE__, :figures_here, [])

  @doc "Starts recording the VM's peak use."
  @spec watch(t()) :: :ok
  def watch(server), do: HttpVm.call(server.vm, __MODULE__, :watch_here, [])

  @doc "Returns the peak use, and stops recording."
  @spec peak(t()) :: figures()
  def peak(server), do: HttpVm.call(server.vm, __MODULE__, :peak_here, [])

  # Runs in the VM.
  @doc false
  def watch_here do
    Process.register(spawn(fn -> note(usage()) end), __MODULE__)
    :ok
  end

  # Runs in the VM.
  @doc false
  def peak_here do
    watcher = Process.whereis(__MODULE__)
    monitor = Process.monitor(watcher)
    send(watcher, {:enough, self()})
    peak = receive do: ({:peak, peak} -> peak)
    receive do: ({:DOWN, ^monitor, :process, _pid, _reason} -> peak)
  end

  defp note(peak) do
    receive do
      {:enough, caller} -> send(caller, {:peak, peak})
    after
      100 -> note(Map.merge(peak, usage(), fn _name, one, other -> max(one, other) end))
    end
  end

  # Runs in the VM.
  @doc false
  def figures_here do
    # This does not wait for processes that end a moment later, such as the process of this call.
    Map.merge(usage(), %{
      ports: :erlang.system_info(:port_count),
      atoms: :erlang.system_info(:atom_count),
      open: open()
    })
  end

  defp usage do
    %{
      memory: :erlang.memory(:total),
      rss: resident(),
      processes: :erlang.system_info(:process_count)
    }
  end

  defp resident do
    [_line, kibibytes] = Regex.run(~r/^VmRSS:\s+(\d+) kB$/m, File.read!("/proc/self/status"))
    String.to_integer(kibibytes) * 1024
  end

  # The servers' counters of current use; their other counters only grow.
  @in_use [:connections, :exchanges, :calls, :streams, :hooks, :body_bytes]

  defp open do
    servers = for {_id, pid, _type, _modules} <- Supervisor.which_children(HttpVm), do: pid
    servers |> Enum.flat_map(&(&1 |> HttpServer.stats() |> Map.take(@in_use) |> Map.values())) |> Enum.sum()
  end

  @doc """
  Waits until the VM's use is as before, up to a number of milliseconds. Returns the use, and the names of the higher
  figures.
  """
  @spec settled(t(), figures(), pos_integer()) :: {figures(), [String.t()]}
  def settled(server, before, patience \\ @settling_ms), do: look(server, before, div(patience, @look_ms))

  defp look(server, before, left) do
    now = figures(server)

    case for {name, then} <- before, now[name] > most(name, then), do: "#{name} #{then} -> #{now[name]}" do
      missed when missed == [] or left == 0 ->
        {now, missed}

      _yet ->
        Process.sleep(@look_ms)
        look(server, before, left - 1)
    end
  end

  defp most(name, before) when is_map_key(@slack, name), do: div(before * 105, 100) + @slack[name]
  defp most(_count, before), do: before
end
