defmodule Stress.Hostile.Attack do
  @moduledoc "An attack on a server, which each attacking client repeats."

  @type target :: %{port: :inet.port_number(), hooks_port: :inet.port_number(), tls_port: :inet.port_number()}

  @doc "The name of the attack."
  @callback name() :: String.t()

  @doc "The number of concurrent clients."
  @callback clients() :: pos_integer()

  @doc "Creates the state of a client, once per client."
  @callback prepare(target()) :: state when state: term()

  @doc """
  Runs one attack. Returns the number of requests, the next state, and a line about a forbidden answer of the server, if
  there was one.
  """
  @callback attack(target(), state) :: {non_neg_integer(), state} | {non_neg_integer(), state, String.t()}
            when state: term()
end

defmodule Stress.Hostile.Attackers do
  @moduledoc """
  The attackers, in a separate VM.

  The VM has a lower priority: on a machine with few cores the clients would otherwise wait for the attackers' work
  instead of the server's.
  """

  alias McpServer.HttpVm

  @niceness "10"
  @files ~w(wire attackers attacks/bodies attacks/hoards attacks/places attacks/sockets attacks/tokens shares/greed shares/hoards)

  @doc "Starts the VM."
  @spec launch() :: HttpVm.t()
  def launch do
    vm = HttpVm.launch()
    for file <- @files, do: HttpVm.call(vm, Code, :require_file, ["#{file}.exs", __DIR__])
    threads = File.ls!("/proc/#{vm.os_pid}/task")
    {_text, 0} = System.cmd("renice", ["-n", @niceness, "-p" | threads], stderr_to_stdout: true)
    vm
  end

  @doc "Ends it."
  @spec stop(HttpVm.t()) :: :ok
  def stop(vm), do: HttpVm.stop(vm)

  @doc "Attacks for `duration` milliseconds; returns the number of requests and the findings. Closes all connections."
  @spec run(HttpVm.t(), [module()], Stress.Hostile.Attack.target(), pos_integer()) :: {non_neg_integer(), [String.t()]}
  def run(vm, attacks, target, duration),
    do: :peer.call(vm.peer, __MODULE__, :run_here, [attacks, target, duration], duration + 60_000)

  # Runs in the VM. The sockets of a process close when it ends.
  @doc false
  def run_here(attacks, target, duration) do
    counter = :counters.new(1, [])
    found = :ets.new(__MODULE__, [:public])
    share = length(attacks)

    clients =
      for attack <- attacks, _n <- 1..max(1, div(attack.clients(), share)) do
        spawn_monitor(fn -> go_on(attack, target, attack.prepare(target), {counter, found}) end)
      end

    Process.sleep(duration)
    for {pid, _monitor} <- clients, do: Process.exit(pid, :kill)
    for {_pid, monitor} <- clients, do: receive(do: ({:DOWN, ^monitor, :process, _pid, _reason} -> :ok))
    texts = for {text} <- :ets.tab2list(found), do: text
    :ets.delete(found)
    {:counters.get(counter, 1), texts}
  end

  defp go_on(attack, target, state, {counter, found} = notes) do
    {requests, state} = attack |> once(target, state) |> note(found)
    :counters.add(counter, 1, requests)
    go_on(attack, target, state, notes)
  end

  # After a refused or closed connection the client tries again a moment later.
  defp once(attack, target, state) do
    attack.attack(target, state)
  rescue
    _refused ->
      Process.sleep(5)
      {1, state}
  end

  defp note({requests, state, text}, found) do
    :ets.insert(found, {text})
    {requests, state}
  end

  defp note(requests_and_state, _found), do: requests_and_state
end
