defmodule McpServer.Processes do
  # Waits for processes, so that a test of "nothing else happens" looks after everything that could happen has happened.
  # A process sends its messages before it ends: after its end they have arrived.
  @moduledoc false

  import ExUnit.Assertions
  import McpServer.HttpCase, only: [eventually: 1]

  alias McpServer.Call.Reaper
  alias McpServer.Quota.Keeper

  # Milliseconds. Only a process that never ends takes this long.
  @patience 30_000

  @doc "A process that has run `prepare`, and lives until it is sent `:stop`."
  @spec waiting((() -> term())) :: pid()
  def waiting(prepare) do
    test = self()

    pid =
      spawn_link(fn ->
        prepare.()
        send(test, {:prepared, self()})
        receive do: (:stop -> :ok)
      end)

    assert_receive {:prepared, ^pid}, @patience
    pid
  end

  @doc "Waits for the end of a process."
  @spec gone(pid()) :: :ok
  def gone(pid) do
    monitor = Process.monitor(pid)
    assert_receive {:DOWN, ^monitor, :process, ^pid, _reason}, @patience
    :ok
  end

  @doc """
  Monitors a living process that another one will end, for a test of the reason.

  The VM may delay the signal of a monitor past messages to others, and so past the end that they cause: the reason is
  `:noproc` then. So the process itself is asked whether it knows of the monitor.
  """
  @spec monitor(pid()) :: reference()
  def monitor(pid) do
    monitor = Process.monitor(pid)
    eventually(fn -> self() in elem(Process.info(pid, :monitored_by), 1) end)
    monitor
  end

  @doc "The living processes that the process has started."
  @spec children(pid()) :: [pid()]
  def children(parent), do: for(pid <- Process.list(), Process.info(pid, :parent) == {:parent, parent}, do: pid)

  @doc "Waits for the end of the processes that the process has started so far."
  @spec children_gone(pid()) :: :ok
  def children_gone(parent), do: parent |> children() |> Enum.each(&gone/1)

  @doc "Waits until the process has ended or waits for its next message."
  @spec idle(pid()) :: :ok
  def idle(pid) do
    eventually(fn ->
      Process.info(pid, [:status, :message_queue_len]) in [nil, [status: :waiting, message_queue_len: 0]]
    end)

    :ok
  end

  @doc "Waits for the end of a process, and until the calls that it has left are reported."
  @spec reaped(pid()) :: :ok
  def reaped(pid) do
    gone(pid)
    eventually(fn -> :ets.lookup(Keeper, pid) == [] end)
    all_reported()
  end

  @doc "Waits until the calls of all processes that have ended are reported."
  @spec all_reported() :: :ok
  def all_reported do
    # The keeper removes a process's row first. Each replies when it has told the next one.
    for server <- [Keeper, Reaper], do: :sys.get_state(server)
    children_gone(Process.whereis(Reaper))
  end

  @doc "Runs `fun` in a process of its own, and waits for the end of every process that it has started."
  @spec all_gone((() -> result)) :: result when result: term()
  def all_gone(fun) do
    task = Task.async(fn -> receive(do: (:go -> fun.())) end)
    :erlang.trace(task.pid, true, [:procs, :set_on_spawn])
    send(task.pid, :go)
    result = Task.await(task, @patience)
    spawned_gone()
    result
  end

  defp spawned_gone do
    delivered = :erlang.trace_delivered(:all)
    assert_receive {:trace_delivered, :all, ^delivered}, @patience

    receive do
      {:trace, _parent, :spawn, pid, _function} -> with :ok <- gone(pid), do: spawned_gone()
    after
      0 -> :ok
    end
  end
end
