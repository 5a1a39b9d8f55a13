defmodule McpServer.Tasks do
  @moduledoc """
  Calls that go on after their request was answered.

  A tool that takes minutes need not keep its client waiting. Declare it with `task_support:`, and write its handler
  like any other:

      tool "render", "Renders a film", MyApp.Films, :render, task_support: :optional do
        input_field "scene", "Which scene", :string, required: true
      end

  A client that knows tasks gets the id of a task at once, asks how it stands, and fetches the result when it is
  there. Any other client waits for the result as for that of every tool; with `task_support: :required` it is refused
  instead.

  | revision | the client | how it asks |
  |---|---|---|
  | 2025-11-25 | sends `task` with the call | `tasks/get`, `tasks/result`, `tasks/list`, `tasks/cancel` |
  | 2026-07-28 | declares the extension `io.modelcontextprotocol/tasks`; every call of such a tool becomes a task | `tasks/get`, `tasks/update`, `tasks/cancel` |

  Older clients know no tasks.

  ## In the handler

  Nothing is different, but for two things. The handler runs in a process of its own that ends with the task's
  `ttl`, not with the tool's `timeout:`. And progress is not sent: the message of the last
  `McpServer.Controller.progress/4` is the task's `statusMessage`. A handler that answers
  `McpServer.Controller.input_required/2` is entered again when the client has brought what it needs.

  A handler that wants something cleared before it begins, such as a question to the client, decides itself when its
  call becomes a task. Its tool says `task_start: :handler`, and it returns `McpServer.Controller.as_task/1`:

      def render(conn, %{"scene" => scene}) do
        case accepted(conn, "sure") do
          nil -> input_required(sure: elicit("This takes an hour. Go on?", @form))
          _yes -> as_task(fn conn -> Films.render(conn, scene) end)
        end
      end

  Where the call cannot become a task the function runs in its place.

  ## Whose tasks

  A task belongs to the principal that called the tool; where nobody is authenticated, to its session; and without a
  session (2026-07-28) to whoever knows its id, 128 random bits. To everyone else it does not exist. In a cluster it
  lives on the node that took the call, and every node finds it there.

  ## Bounds

      config :mcp_server, :tasks, max_tasks: 1_000, ttl: :timer.minutes(5)

  | option | default | |
  |---|---|---|
  | `:max_tasks` | `1_000` | tasks of this node, finished ones included; more calls are refused |
  | `:max_tasks_per_owner` | `100` | the same for one owner |
  | `:ttl` | `300_000` | how long a task is kept unless the client says so, in milliseconds since it began |
  | `:max_ttl` | `3_600_000` | the longest a client may ask for, in milliseconds |
  | `:poll_interval` | `1_000` | how often clients are told to ask, in milliseconds |
  | `:max_bytes` | 64 MiB | what all kept results may take; a result beyond it fails its task |

  A task is gone when its time is over, whether it runs or has finished. Tasks do not outlive the node.
  """

  use GenServer

  alias McpServer.{Catalog, Conn, InputRequest, Telemetry}
  alias McpServer.Http.Node, as: Home
  alias McpServer.Tasks.{Entry, Runner}

  @options [
    max_tasks: 1_000,
    max_tasks_per_owner: 100,
    ttl: 300_000,
    max_ttl: 3_600_000,
    poll_interval: 1_000,
    max_bytes: 64 * 1024 * 1024
  ]

  @typedoc "Whom a task belongs to."
  @type owner :: term()

  # How long a question to another node may take.
  @remote_ms 5_000

  @doc false
  @spec start_link(term()) :: GenServer.on_start()
  def start_link(_options), do: GenServer.start_link(__MODULE__, options!(), name: __MODULE__)

  defp options! do
    options = Keyword.validate!(Application.get_env(:mcp_server, :tasks, []), @options)

    for {name, value} <- options, not (is_integer(value) and value > 0) do
      raise ArgumentError, "config :mcp_server, :tasks, expected #{inspect(name)} to be a positive integer"
    end

    Map.new(options)
  end

  # How long a task can live, in milliseconds.
  @doc false
  @spec max_ttl() :: pos_integer()
  def max_ttl, do: Application.get_env(:mcp_server, :tasks, [])[:max_ttl] || @options[:max_ttl]

  # Whose tasks those of a request are.
  @doc false
  @spec owner(Catalog.t(), Conn.t()) :: owner()
  def owner(catalog, %Conn{principal: nil, session_id: session_id}), do: {catalog.router, :session, session_id}
  def owner(catalog, %Conn{principal: principal}), do: {catalog.router, :principal, principal}

  # Begins the task of a call.
  @doc false
  @spec create(Runner.call(), Conn.t()) :: {:ok, Entry.t()} | {:error, :too_many}
  def create(call, conn) do
    # What holds for the call's process holds for the task's.
    {:max_heap_size, heap} = Process.info(self(), :max_heap_size)
    GenServer.call(__MODULE__, {:create, owner(call.catalog, conn), call, conn, heap})
  end

  @doc false
  @spec get(owner(), String.t()) :: {:ok, Entry.t()} | :not_found
  def get(owner, id) do
    case :ets.lookup(__MODULE__, id) do
      [{^id, ^owner, entry}] -> {:ok, entry}
      [_another_ones] -> :not_found
      [] -> elsewhere(id, {:get, owner, id}, @remote_ms)
    end
  end

  @doc false
  @spec list(owner()) :: [Entry.t()]
  def list(owner) do
    nodes = [node() | Node.list()]

    :erpc.multicall(nodes, __MODULE__, :local, [owner], @remote_ms)
    |> Enum.flat_map(fn
      {:ok, entries} -> entries
      _unreachable -> []
    end)
    |> Enum.sort_by(&{&1.created_at, &1.id}, &>=/2)
  end

  @doc false
  @spec local(owner()) :: [Entry.t()]
  def local(owner), do: for([entry] <- :ets.match(__MODULE__, {:_, owner, :"$1"}), do: entry)

  @doc false
  @spec cancel(owner(), String.t()) :: {:ok, Entry.t()} | {:finished, Entry.t()} | :not_found
  def cancel(owner, id), do: ask(id, {:cancel, owner, id}, @remote_ms)

  # What the client brings, by the keys of `t:Entry.t/0`.
  @doc false
  @spec answer(owner(), String.t(), %{String.t() => map()}, %{String.t() => map()}) :: {:ok, Entry.t()} | :not_found
  def answer(owner, id, responses, errors \\ %{}), do: ask(id, {:answer, owner, id, responses, errors}, @remote_ms)

  # Waits until the task has finished, or until the caller is the one who has to bring what it waits for.
  @doc false
  @spec await(owner(), String.t()) :: {:ok, Entry.t()} | :not_found
  def await(owner, id), do: ask(id, {:await, owner, id}, :infinity)

  # The handler needs something, and waits for it.
  @doc false
  @spec park(String.t(), %{String.t() => InputRequest.t()}) :: {:ok, %{String.t() => map()}, %{String.t() => map()}}
  def park(id, inputs), do: GenServer.call(__MODULE__, {:park, id, inputs}, :infinity)

  @doc false
  @spec put_message(String.t(), String.t()) :: :ok
  def put_message(id, message), do: GenServer.cast(__MODULE__, {:message, id, message})

  @doc false
  @spec finish(String.t(), Entry.outcome(), non_neg_integer()) :: :ok
  def finish(id, outcome, bytes), do: GenServer.call(__MODULE__, {:finish, id, outcome, bytes}, :infinity)

  defp ask(id, question, timeout) do
    if :ets.member(__MODULE__, id),
      do: GenServer.call(__MODULE__, question, timeout),
      else: elsewhere(id, question, timeout)
  end

  defp elsewhere(id, question, timeout) do
    case Home.of_session(id) do
      {:remote, node} -> GenServer.call({__MODULE__, node}, question, timeout)
      :unknown -> :not_found
    end
  catch
    # The other node has gone, and its tasks with it.
    :exit, _reason -> :not_found
  end

  @impl true
  def init(options) do
    # A runner is linked, so that none outlives this process; their ends arrive as messages.
    Process.flag(:trap_exit, true)
    :ets.new(__MODULE__, [:named_table, :protected, read_concurrency: true])
    {:ok, %{options: options, count: 0, bytes: 0, owners: %{}, runners: %{}, waiters: %{}, asking: %{}, sizes: %{}}}
  end

  @impl true
  def handle_call({:create, owner, %{request: request} = call, conn, heap}, _from, state) do
    of_owner = Map.get(state.owners, owner, 0)

    if state.count >= state.options.max_tasks or of_owner >= state.options.max_tasks_per_owner do
      {:reply, {:error, :too_many}, state}
    else
      entry = Entry.new(Home.session_id(), ttl(request.task, state.options), state.options.poll_interval)
      entry = %{entry | index: request.index, runner: Runner.start(entry.id, call, conn, heap)}
      put(owner, entry)
      Process.send_after(self(), {:expire, entry.id}, entry.ttl)
      Telemetry.execute([:task, :start], %{count: 1}, %{router: elem(owner, 0)})

      state = %{
        state
        | count: state.count + 1,
          owners: Map.put(state.owners, owner, of_owner + 1),
          runners: Map.put(state.runners, entry.runner, entry.id)
      }

      {:reply, {:ok, entry}, state}
    end
  end

  def handle_call({:get, owner, id}, _from, state), do: {:reply, find(owner, id), state}

  def handle_call({:cancel, owner, id}, _from, state) do
    case find(owner, id) do
      {:ok, %Entry{outcome: nil} = entry} ->
        state = stop(state, entry)
        entry = Entry.finish(entry, :cancelled)
        {:reply, {:ok, entry}, settle(state, owner, entry, 0)}

      {:ok, entry} ->
        {:reply, {:finished, entry}, state}

      :not_found ->
        {:reply, :not_found, state}
    end
  end

  def handle_call({:answer, owner, id, responses, errors}, _from, state) do
    with {:ok, entry} <- find(owner, id) do
      entry = Entry.answer(entry, responses, errors)
      put(owner, entry)
      {:reply, {:ok, entry}, resume(state, owner, entry)}
    else
      :not_found -> {:reply, :not_found, state}
    end
  end

  def handle_call({:await, owner, id}, from, state) do
    case find(owner, id) do
      {:ok, %Entry{outcome: nil}} -> {:noreply, state |> add_waiter(id, from) |> wake(id)}
      found -> {:reply, found, state}
    end
  end

  def handle_call({:park, id, inputs}, from, state) do
    [{^id, owner, entry}] = :ets.lookup(__MODULE__, id)
    put(owner, Entry.park(entry, inputs, from))
    {:noreply, wake(state, id)}
  end

  def handle_call({:finish, id, outcome, bytes}, _from, state) do
    [{^id, owner, entry}] = :ets.lookup(__MODULE__, id)

    if state.bytes + bytes > state.options.max_bytes do
      {:reply, :ok, settle(state, owner, Entry.finish(entry, Entry.no_room()), 0)}
    else
      {:reply, :ok, settle(state, owner, Entry.finish(entry, outcome), bytes)}
    end
  end

  @impl true
  def handle_cast({:message, id, message}, state) do
    case :ets.lookup(__MODULE__, id) do
      [{^id, owner, %Entry{outcome: nil} = entry}] -> put(owner, Entry.put_message(entry, message))
      _finished -> :ok
    end

    {:noreply, state}
  end

  @impl true
  def handle_info({:expire, id}, state) do
    [{^id, owner, entry}] = :ets.lookup(__MODULE__, id)
    :ets.delete(__MODULE__, id)
    {bytes, sizes} = Map.pop(state.sizes, id, 0)
    state = reply_all(stop(state, entry), id, :not_found)
    if entry.outcome == nil, do: report(owner, :expired)

    {:noreply,
     %{state | count: state.count - 1, bytes: state.bytes - bytes, sizes: sizes, owners: leave(state.owners, owner)}}
  end

  def handle_info({:EXIT, runner, reason}, state) do
    case Map.pop(state.runners, runner) do
      {nil, _runners} -> {:noreply, state}
      {id, runners} -> {:noreply, ended(%{state | runners: runners}, id, reason)}
    end
  end

  # Whoever waited has gone.
  def handle_info({:DOWN, monitor, :process, _pid, _reason}, state) do
    waiters = Map.new(state.waiters, fn {id, waiting} -> {id, List.keydelete(waiting, monitor, 0)} end)
    state = %{state | waiters: Map.reject(waiters, fn {_id, waiting} -> waiting == [] end)}

    case Enum.find(state.asking, fn {_id, asker} -> asker == monitor end) do
      nil -> {:noreply, state}
      {id, _asker} -> {:noreply, wake(%{state | asking: Map.delete(state.asking, id)}, id)}
    end
  end

  def handle_info(_message, state), do: {:noreply, state}

  # A runner reports its outcome before it ends; one that did not was killed.
  defp ended(state, id, reason) do
    case :ets.lookup(__MODULE__, id) do
      [{^id, owner, %Entry{outcome: nil} = entry}] ->
        settle(state, owner, Entry.finish(entry, Runner.killed(id, reason)), 0)

      _settled ->
        state
    end
  end

  defp find(owner, id) do
    case :ets.lookup(__MODULE__, id) do
      [{^id, ^owner, entry}] -> {:ok, entry}
      _none -> :not_found
    end
  end

  defp put(owner, entry), do: :ets.insert(__MODULE__, {entry.id, owner, entry})

  defp ttl(:default, options), do: min(options.ttl, options.max_ttl)
  defp ttl(wished, options), do: min(wished, options.max_ttl)

  defp settle(state, owner, entry, bytes) do
    put(owner, entry)
    report(owner, Entry.status(entry))
    state = %{state | bytes: state.bytes + bytes, sizes: Map.put(state.sizes, entry.id, bytes)}
    reply_all(state, entry.id, {:ok, entry})
  end

  defp report(owner, outcome),
    do: Telemetry.execute([:task, :stop], %{count: 1}, %{router: elem(owner, 0), outcome: outcome})

  defp stop(state, entry) do
    Process.unlink(entry.runner)
    Process.exit(entry.runner, :kill)
    %{state | runners: Map.delete(state.runners, entry.runner)}
  end

  # Everything that was asked for has come.
  defp resume(state, owner, %Entry{parked: parked, pending: pending} = entry) when parked != nil and pending == %{} do
    {from, responses, errors, entry} = Entry.resume(entry)
    put(owner, entry)
    GenServer.reply(from, {:ok, responses, errors})
    {asker, asking} = Map.pop(state.asking, entry.id)
    if asker, do: Process.demonitor(asker, [:flush])
    %{state | asking: asking}
  end

  defp resume(state, _owner, _entry), do: state

  defp add_waiter(state, id, {pid, _tag} = from) do
    waiter = {Process.monitor(pid), from}
    %{state | waiters: Map.update(state.waiters, id, [waiter], &(&1 ++ [waiter]))}
  end

  # One of those who wait is told to put the questions to the client; should it end, the next one is.
  defp wake(state, id) do
    with false <- is_map_key(state.asking, id),
         [{^id, _owner, %Entry{pending: pending} = entry}] when pending != %{} <- :ets.lookup(__MODULE__, id),
         {[{asker, from} | rest], waiters} <- Map.pop(state.waiters, id) do
      GenServer.reply(from, {:ok, entry})
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

  defp leave(owners, owner) do
    case owners do
      %{^owner => 1} -> Map.delete(owners, owner)
      %{^owner => count} -> Map.put(owners, owner, count - 1)
    end
  end
end
