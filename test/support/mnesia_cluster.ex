defmodule McpServer.MnesiaCluster do
  # Nodes that keep dual responses in Mnesia, each in a separate VM. They get their commands over stdin and stdout, and
  # never connect by themselves. So a test can cut and restore the network between them.
  @moduledoc false

  import ExUnit.Callbacks, only: [on_exit: 1]

  alias McpServer.DualResponse.Store

  @timeout 60_000

  @enforce_keys [:peer, :node]
  defstruct [:peer, :node]

  @type t :: %__MODULE__{peer: pid, node: node}

  @doc """
  Starts a VM, connects it to others and makes it a member.

  `:name` lets a killed VM be started again. `:connect` are the other nodes. `:dir` is the folder for `:disc_copies`.
  `:member` is `false` for a node that becomes a member later.
  """
  @spec start(String.t(), keyword) :: t
  def start(name, options \\ []) do
    {:ok, peer, node} = :peer.start(peer_options(name, options))
    on_exit(fn -> stop(%__MODULE__{peer: peer, node: node}) end)
    vm = %__MODULE__{peer: peer, node: node}
    if dir = options[:dir], do: call(vm, Application, :put_env, [:mnesia, :dir, String.to_charlist(dir)])
    {:ok, _started} = call(vm, Application, :ensure_all_started, [:mcp_server])
    call(vm, Logger, :configure, [[level: :none]])
    for other <- options[:connect] || [], do: join(vm, other)
    if Keyword.get(options, :member, true), do: member(vm, Keyword.take(options, [:storage, :nodes, :wait]))
    vm
  end

  defp peer_options(name, _options) do
    otp = to_string(:code.lib_dir())
    paths = for path <- :code.get_path(), not String.starts_with?(to_string(path), otp), do: path
    alone = [~c"-connect_all", ~c"false", ~c"-kernel", ~c"dist_auto_connect", ~c"never"]
    quiet = [~c"-kernel", ~c"logger_level", ~c"emergency"]

    %{
      connection: :standard_io,
      args: [~c"-pa" | paths] ++ alone ++ quiet,
      wait_boot: @timeout,
      name: :"#{name}-#{System.pid()}",
      host: ~c"127.0.0.1",
      longnames: true
    }
  end

  @doc "Makes a VM a member, with a server that shares its resources with the other members."
  @spec member(t, keyword) :: :ok
  def member(vm, options \\ []), do: :ok = call(vm, __MODULE__, :member_here, [options])

  # Runs in the VM. The member must survive the call that starts it.
  @doc false
  def member_here(options) do
    children = [
      {Store.Mnesia, options},
      {McpServer.DualResponse, name: __MODULE__, base_url: "http://127.0.0.1/resources", store: Store.Mnesia}
    ]

    {:ok, supervisor} = Supervisor.start_link(children, strategy: :one_for_one, max_restarts: 100)
    Process.unlink(supervisor)
    :ok
  end

  @doc "Calls a function of the store in a VM: `store(vm, :get, [key])`."
  @spec store(t, atom, [term]) :: term
  def store(vm, function, arguments), do: call(vm, Store.Mnesia, function, [__MODULE__ | arguments])

  @doc "Runs a function in the VM."
  @spec call(t, module, atom, [term]) :: term
  def call(vm, module, function, arguments), do: :peer.call(vm.peer, module, function, arguments, @timeout)

  @doc "Connects two nodes, both ways."
  @spec join(t, t) :: :ok
  def join(one, other) do
    true = call(one, :net_kernel, :connect_node, [other.node])
    eventually(fn -> one.node in call(other, Node, :list, []) end)
  end

  @doc "Cuts the network between two nodes. Returns when both have noticed it."
  @spec cut(t, t) :: :ok
  def cut(one, other) do
    call(one, :erlang, :disconnect_node, [other.node])
    eventually(fn -> one.node not in call(other, Node, :list, []) end)
    alone(one, other)
    alone(other, one)
  end

  defp alone(vm, without), do: eventually(fn -> without.node not in running(vm) end)

  @doc "The nodes that a VM's Mnesia is connected to."
  @spec running(t) :: [node] | :no
  def running(vm), do: call(vm, :mnesia, :system_info, [:running_db_nodes])

  @doc "Kills a VM without a shutdown."
  @spec kill(t) :: :ok
  def kill(vm) do
    pid = to_string(call(vm, :os, :getpid, []))
    {"", 0} = System.cmd("kill", ["-KILL", pid], stderr_to_stdout: true)
    monitor = Process.monitor(vm.peer)
    receive do: ({:DOWN, ^monitor, :process, _pid, _reason} -> :ok)
  end

  @doc "Ends a VM."
  @spec stop(t) :: :ok
  def stop(vm) do
    :peer.stop(vm.peer)
  catch
    :exit, _gone -> :ok
  end

  @doc "Waits until a condition is true. An error counts as false."
  @spec eventually((() -> boolean), non_neg_integer) :: :ok
  def eventually(holds?, left \\ 400) do
    cond do
      safely(holds?) ->
        :ok

      left == 0 ->
        ExUnit.Assertions.flunk("it did not happen")

      true ->
        Process.sleep(25)
        eventually(holds?, left - 1)
    end
  end

  defp safely(holds?) do
    holds?.()
  catch
    :error, _reason -> false
  end
end
