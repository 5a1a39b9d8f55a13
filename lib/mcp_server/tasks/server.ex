defmodule McpServer.Tasks.Server do
  @moduledoc false
  # The tasks of a node: their owners and clients, waiting processes and expiry. The status of a task is read directly from
  # the table. The node's quota counts tasks, and the bytes of their arguments, answers and results.

  use GenServer
  use McpServer.Outline

  alias McpServer.Http.Cluster.Node, as: Home
  alias McpServer.Tasks.{Entry, Runner}
  alias McpServer.Quota.Client
  alias McpServer.{Call, Conn, Options, Quota, Tasks, Telemetry}

  @table [
    max_tasks: [:count, default: 1_000, doc: "tasks of this node, finished ones included; more calls are refused"],
    max_tasks_per_owner: [
      :count,
      default: 100,
      doc: "the same for one client, in all its sessions; without principal at a loopback address, for one session"
    ],
    ttl: [
      :milliseconds,
      default: 300_000,
      doc: "how long a task is stored after its start, unless the client requests a `ttl`"
    ],
    max_ttl: [:milliseconds, default: 3_600_000, doc: "the longest `ttl` that a client may request"],
    poll_interval: [:milliseconds, default: 1_000, doc: "the polling interval that clients are told"],
    max_bytes: [
      :bytes,
      default: 64 * 1024 * 1024,
      doc:
        "size of all stored results, and of the arguments of unended tasks; a result beyond it fails its task, and a call is refused"
    ],
    max_share: [:percent, default: 25, doc: "percent of `:max_bytes` for one client"]
  ]

  @spec start_link(term()) :: GenServer.on_start()
  def start_link(_options), do: GenServer.start_link(__MODULE__, options!(), name: __MODULE__, hibernate_after: 1_000)

  defp options!, do: Options.check!("config :mcp_server, :tasks", @table, Application.get_env(:mcp_server, :tasks, []))

  @doc "The table of the options."
  @spec table() :: Options.table()
  def table, do: @table

  @doc "How long a task can live, in milliseconds."
  @spec max_ttl() :: pos_integer()
  def max_ttl, do: options!().max_ttl

  @impl true
  def init(options) do
    # Runners are linked, so that they end with this process. Their exits arrive as messages.
    Process.flag(:trap_exit, true)
    :ets.new(__MODULE__, [:named_table, :protected, read_concurrency: true])
    quota = Quota.of_node(options)
    # All tasks have ended with the process before.
    for kind <- [:tasks, :task_bytes], do: Quota.reset(quota, kind)
    {:ok, %{options: options, quota: quota, runners: %{}, waiters: %{}, asking: %{}, sizes: %{}}}
  end

  @impl true
  def handle_call({:create, owner, client, ttl, about, runner}, from, state) do
    entry = Entry.new(Home.session_id(), ttl(ttl, state.options), state.options.poll_interval)
    entry = %{Map.merge(entry, about) | runner: runner, client: client}

    with :ok <- present(from),
         :ok <- place(state, client),
         {:ok, state} <- hold_place(state, entry) do
      :ok = Runner.begin(runner, entry.id)
      put(owner, entry)
      Process.send_after(self(), {:expire, entry.id}, entry.ttl)
      Telemetry.execute([:task, :start], %{count: 1}, %{router: elem(owner, 0)})

      {:reply, {:ok, entry}, %{state | runners: Map.put(state.runners, runner, entry.id)}}
    else
      {:error, reason} -> {:reply, {:error, reason}, state}
    end
  end

  def handle_call({:cancel, owner, id}, _from, state) do
    case find(owner, id) do
      {:ok, %Entry{outcome: nil} = entry} ->
        state = stop(state, entry)
        {entry, state} = settle(state, owner, entry, :cancelled)
        {:reply, {:ok, Entry.outline(entry)}, state}

      {:ok, entry} ->
        {:reply, {:finished, Entry.outline(entry)}, state}

      :not_found ->
        {:reply, :not_found, state}
    end
  end

  def handle_call({:answer, owner, id, responses, errors}, _from, state) do
    case find(owner, id) do
      {:ok, %Entry{outcome: nil} = entry} -> answer(state, owner, Entry.answer(entry, responses, errors))
      # It has ended, and its bytes are those of its outcome.
      found -> {:reply, outline(found), state}
    end
  end

  def handle_call({:await, owner, id}, from, state) do
    case find(owner, id) do
      {:ok, %Entry{outcome: nil}} -> {:noreply, state |> add_waiter(id, from) |> wake(id)}
      found -> {:reply, outline(found), state}
    end
  end

  # A message of a killed runner may arrive after the end of its task. Then it is ignored.
  def handle_call({:park, id, inputs}, from, state) do
    with {:ok, owner, entry} <- running(id) do
      put(owner, Entry.park(entry, inputs, from))
      {:noreply, wake(state, id)}
    else
      :over -> {:noreply, state}
    end
  end

  def handle_call({:finish, id, packed}, _from, state) do
    with {:ok, owner, entry} <- running(id) do
      case hold(state, entry, byte_size(packed.stored)) do
        {:ok, state} -> {:reply, :ok, finish(state, owner, Entry.finish(entry, packed))}
        :full -> {:reply, :ok, state |> settle(owner, entry, Entry.no_room()) |> elem(1)}
      end
    else
      :over -> {:reply, :ok, state}
    end
  end

  def handle_call({:message, id, message}, _from, state) do
    with {:ok, owner, entry} <- running(id), do: put(owner, Entry.put_message(entry, message))
    {:reply, :ok, state}
  end

  @impl true
  def handle_info({:expire, id}, state) do
    case :ets.take(__MODULE__, id) do
      [{^id, owner, entry}] -> {:noreply, expire(state, owner, entry)}
      [] -> {:noreply, state}
    end
  end

  def handle_info({:EXIT, runner, reason}, state) do
    case Map.pop(state.runners, runner) do
      {nil, _runners} -> {:noreply, state}
      {id, runners} -> {:noreply, ended(%{state | runners: runners}, id, reason)}
    end
  end

  # A waiting process has ended.
  def handle_info({:DOWN, monitor, :process, _pid, _reason}, state) do
    waiters = Map.new(state.waiters, fn {id, waiting} -> {id, List.keydelete(waiting, monitor, 0)} end)
    state = %{state | waiters: Map.reject(waiters, fn {_id, waiting} -> waiting == [] end)}

    case Enum.find(state.asking, fn {_id, asker} -> asker == monitor end) do
      nil -> {:noreply, state}
      {id, _asker} -> {:noreply, wake(%{state | asking: Map.delete(state.asking, id)}, id)}
    end
  end

  def handle_info(_message, state), do: {:noreply, state}

  defp expire(state, owner, %Entry{id: id, client: client} = entry) do
    {bytes, sizes} = Map.pop(state.sizes, id, 0)
    state = reply_all(stop(state, entry), id, :not_found)
    if entry.outcome == nil, do: report(owner, :expired)
    :ok = Quota.give(state.quota, :task_bytes, client, bytes)
    :ok = Quota.give(state.quota, :tasks, client, 1)
    %{state | sizes: sizes}
  end

  @doc """
  The client that a task counts for.

  A client counts once, however many sessions own its tasks. Anonymous clients at a loopback address are told apart by
  their sessions, if they have any.
  """
  @spec client(Tasks.owner(), Conn.t()) :: Client.t()
  def client({_router, :session, nil} = _owner, conn), do: Client.new(conn.principal, conn.peer)
  def client(owner, conn), do: Client.new(conn.principal, conn.peer) || {:session, owner}

  @doc """
  Counts the bytes of an outcome that the calling process reads, until the process ends. `:busy` if its client reads too
  many at once. A short one does not count.
  """
  @spec begin_read(Client.t(), bytes :: non_neg_integer()) :: :ok | {:error, :busy}
  def begin_read(client, bytes) do
    if Quota.long?(bytes) and Quota.take(Quota.own(Quota.of_node(options!())), :task_reads, client, bytes) == :full,
      do: {:error, :busy},
      else: :ok
  end

  # The client has left before its task began. Nobody would know of the task.
  defp present({caller, _tag}), do: if(Process.alive?(caller), do: :ok, else: {:error, :gone})

  # Place and bytes are given back when the task expires.
  defp place(state, client),
    do: if(Quota.take(state.quota, :tasks, client, 1) == :full, do: {:error, :too_many}, else: :ok)

  defp hold_place(state, entry) do
    with :full <- hold(state, entry, Entry.bytes(entry)) do
      :ok = Quota.give(state.quota, :tasks, entry.client, 1)
      {:error, :no_room}
    end
  end

  # A task holds what its client has sent, until it holds its outcome.
  defp hold(state, %{id: id, client: client}, bytes) do
    held = Map.get(state.sizes, id, 0)

    if bytes > held and Quota.take(state.quota, :task_bytes, client, bytes - held) == :full do
      :full
    else
      :ok = Quota.give(state.quota, :task_bytes, client, max(held - bytes, 0))
      {:ok, %{state | sizes: Map.put(state.sizes, id, bytes)}}
    end
  end

  # Answers are stored until the last one has arrived. Then the handler has them.
  defp answer(state, owner, entry) do
    case hold(state, entry, Entry.bytes(entry)) do
      {:ok, state} -> {:reply, {:ok, Entry.outline(entry)}, answered(state, owner, entry)}
      :full -> {:reply, {:error, :no_room}, state}
    end
  end

  defp answered(state, owner, %Entry{parked: parked, pending: pending} = entry) when parked != nil and pending == %{},
    do: resume(state, owner, entry)

  defp answered(state, owner, entry) do
    put(owner, entry)
    state
  end

  # A runner reports its outcome before it ends. A runner without a report was killed.
  defp ended(state, id, reason) do
    case running(id) do
      {:ok, owner, entry} -> state |> settle(owner, entry, Runner.killed(elem(owner, 0), reason)) |> elem(1)
      :over -> state
    end
  end

  defp running(id) do
    case :ets.lookup(__MODULE__, id) do
      [{^id, owner, %Entry{outcome: nil} = entry}] -> {:ok, owner, entry}
      _ended -> :over
    end
  end

  defp find(owner, id) do
    case :ets.lookup(__MODULE__, id) do
      [{^id, ^owner, entry}] -> {:ok, entry}
      _none -> :not_found
    end
  end

  # No answer has the data of an outcome: to send them to another node takes time.
  defp outline({:ok, entry}), do: {:ok, Entry.outline(entry)}
  defp outline(:not_found), do: :not_found

  defp put(owner, entry), do: :ets.insert(__MODULE__, {entry.id, owner, entry})

  defp ttl(:default, options), do: min(options.ttl, options.max_ttl)
  defp ttl(wished, options), do: min(wished, options.max_ttl)

  # These outcomes are the node's own, and small.
  defp settle(state, owner, entry, outcome) do
    entry = Entry.finish(entry, Entry.pack(outcome))
    {:ok, state} = hold(state, entry, 0)
    {entry, finish(state, owner, entry)}
  end

  defp finish(state, owner, entry) do
    put(owner, entry)
    report(owner, Entry.status(entry))
    reply_all(state, entry.id, {:ok, Entry.outline(entry)})
  end

  defp report(owner, outcome),
    do: Telemetry.execute([:task, :stop], %{count: 1}, %{router: elem(owner, 0), outcome: outcome})

  defp stop(state, entry) do
    Process.unlink(entry.runner)
    Call.stop(entry.runner, entry.grace, :cancelled, entry.client)
    %{state | runners: Map.delete(state.runners, entry.runner)}
  end

  defp resume(state, owner, entry) do
    {from, responses, errors, entry} = Entry.resume(entry)
    {:ok, state} = hold(state, entry, Entry.bytes(entry))
    put(owner, entry)
    GenServer.reply(from, {:ok, responses, errors})
    {asker, asking} = Map.pop(state.asking, entry.id)
    if asker, do: Process.demonitor(asker, [:flush])
    %{state | asking: asking}
  end

  defp add_waiter(state, id, {pid, _tag} = from) do
    waiter = {Process.monitor(pid), from}
    %{state | waiters: Map.update(state.waiters, id, [waiter], &(&1 ++ [waiter]))}
  end

  # One waiting process sends the questions to the client. If it ends, the next one does.
  defp wake(state, id) do
    with false <- is_map_key(state.asking, id),
         [{^id, _owner, %Entry{pending: pending} = entry}] when pending != %{} <- :ets.lookup(__MODULE__, id),
         {[{asker, from} | rest], waiters} <- Map.pop(state.waiters, id) do
      GenServer.reply(from, {:ok, Entry.outline(entry)})
      waiters = if rest == [], do: waiters, else: Map.put(waiters, id, rest)
      %{state | waiters: waiters, asking: Map.put(state.asking, id, asker)}
    else
      _nobody_to_ask_or_nothing -> state
    end
  end

  defp reply_all(state, id, answer) do
    {waiting, waiters} = Map.pop(state.waiters, id, [])
    {asker, asking} = Map.pop(state.asking, id)
    if asker, do: Process.demonitor(asker, [:flush])

    for {monitor, from} <- waiting do
      Process.demonitor(monitor, [:flush])
      GenServer.reply(from, answer)
    end

    %{state | waiters: waiters, asking: asking}
  end
end
