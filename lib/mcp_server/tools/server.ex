defmodule McpServer.Tools.Server do
  @moduledoc false
  # The run-time tools of all connected nodes, and the enabled or disabled tags. Only this process writes rows, and
  # calls read them. Nodes send each other every change, and all their rows when they connect. The later version wins,
  # and a change is later than the row that it replaces, whatever the clocks say. A deleted row stays without a value
  # for a while, so that a node that missed the deletion does not restore it.

  use GenServer
  use McpServer.Outline

  alias McpServer.{Catalog, Changes, Options, Quota, Recipient}
  alias McpServer.Http.Mount
  alias McpServer.Http.Session.Sealed
  alias McpServer.Quota.Client
  alias McpServer.Tools.{Guarded, OpenSessions}

  @table [
    max_tools: [:count, default: 100_000, doc: "run-time tools and tags of a node, of all routers together"],
    max_tools_per_scope: [:count, default: 1_000, doc: "run-time tools of one router, one principal or one session"],
    max_tags_per_scope: [
      :count,
      default: 100,
      doc: "tags that are enabled or disabled for one router, principal or session"
    ],
    max_bytes: [:bytes, default: 256 * 1024 * 1024, doc: "memory of all run-time tools and tags"]
  ]

  @name __MODULE__
  # Milliseconds.
  @forget_after 3_600_000
  # The router's server may start later than this process, and then the sessions end earlier: milliseconds.
  @longest_wait 3_600_000
  # Rows per message.
  @chunk 1_000

  @type key :: {router :: module(), Recipient.t(), {:tool, name :: String.t()} | {:tag, String.t()}}

  @typedoc """
  `:entry` is the entry of a declaration, as in `router.__mcp__(:tool_handlers)`. `:structs` are the structs for
  arguments. In a call `:whose` is the recipient of the tool.
  """
  @type entry :: %{
          required(:name) => String.t(),
          required(:text) => String.t(),
          required(:entry) => map(),
          required(:structs) => [module()],
          required(:tasks?) => boolean(),
          required(:digest) => binary(),
          optional(:whose) => Recipient.t()
        }

  @typedoc "A tool, or whether a tag is enabled."
  @type value :: entry() | boolean()

  @doc "The table of the options."
  @spec table() :: Options.table()
  def table, do: @table

  @doc "Makes the table. The calling process owns it."
  @spec create_table() :: :ok
  def create_table do
    :ets.new(@name, [:named_table, :public, :ordered_set, read_concurrency: true])
    :ok
  end

  @spec start_link(term()) :: GenServer.on_start()
  def start_link(_options) do
    options =
      Options.check!(
        "config :mcp_server, :run_time_tools",
        @table,
        Application.get_env(:mcp_server, :run_time_tools, [])
      )

    GenServer.start_link(@name, options, name: @name)
  end

  @doc "Stores a value on this node and all connected nodes, for this client. `nil` deletes it."
  @spec put(key(), value() | nil, Client.t()) :: :ok | {:error, String.t()}
  def put(key, value, client), do: GenServer.call(@name, {:put, key, value, client}, :infinity)

  @doc """
  Deletes the values of a session on all nodes at that time, in milliseconds of the wall clock. From then on the session
  cannot be reopened.
  """
  @spec session_over(module(), String.t() | nil, at :: integer()) :: :ok
  def session_over(router, id, at \\ 0) do
    scope = {router, {:session, id}}
    if id != nil and any?(scope), do: GenServer.abcast([node() | Node.list()], @name, {:over, scope, at})
    :ok
  end

  # Numbers sort before all keys of a scope.
  defp any?({router, whose}), do: match?({^router, ^whose, _what}, :ets.next(@name, {router, whose, 0}))

  @doc "Whether a router has had run-time tools since this node started."
  @spec used?(module()) :: boolean()
  # The application may not run while a router compiles.
  def used?(router), do: :ets.whereis(@name) != :undefined and :ets.member(@name, {:used, router})

  @doc """
  Whether a router has had run-time tools since this node started, and whether one of them may run as a task.
  """
  @spec usage(module()) :: :none | :without_tasks | :with_tasks
  def usage(router) do
    cond do
      not used?(router) -> :none
      :ets.member(@name, {:tasks, router}) -> :with_tasks
      true -> :without_tasks
    end
  end

  @doc "The tools of a scope, sorted by name."
  @spec entries(module(), Recipient.t()) :: [{String.t(), entry()}]
  def entries(router, whose), do: for({name, %{} = entry} <- values(router, whose, :tool), do: {name, entry})

  defp values(router, whose, kind),
    do: :ets.select(@name, [{{{router, whose, {kind, :"$1"}}, :_, :"$2"}, [], [{{:"$1", :"$2"}}]}])

  @doc "The stored value of a key."
  @spec find(key()) :: {:ok, value()} | :error
  def find(key) do
    case :ets.lookup(@name, key) do
      [{_key, _version, value}] when value != nil -> {:ok, value}
      _none -> :error
    end
  end

  @impl true
  def init(options) do
    :ok = :net_kernel.monitor_nodes(true)
    for node <- Node.list(), do: GenServer.cast({@name, node}, {:rows_for, node()})
    rows = rows()
    # The table outlives this process, but its timers do not.
    rows |> Enum.uniq_by(&scope/1) |> Enum.each(&end_later(scope(&1)))
    quota = Quota.of_node(options)
    # Nobody knows any more who has put the rows.
    for kind <- [:run_time_tools, :run_time_tool_bytes], do: Quota.reset(quota, kind)
    state = %{options: options, rows: 0, bytes: 0, deleted: 0, last: 0, quota: quota, takers: %{}}
    {:ok, Enum.reduce(rows, state, &count(&2, &1, 1))}
  end

  defp rows, do: :ets.match_object(@name, {{:_, :_, :_}, :_, :_})
  defp scope({{router, whose, _what}, _version, _value}), do: {router, whose}

  # No process need have a sealed session open, so its tools end by their age.
  defp end_later({_router, {:session, id}} = scope) do
    if Sealed.sealed?(id) do
      wait = (expires_at(scope) - System.system_time(:millisecond)) |> max(0) |> min(@longest_wait)
      Process.send_after(self(), {:aged, scope}, wait)
    end
  end

  defp end_later(_scope), do: nil

  # A session is older than each of its tools.
  defp expires_at({router, whose}) do
    times = :ets.select(@name, [{{{router, whose, :_}, {:"$1", :_}, :_}, [], [:"$1"]}])
    div(Enum.min(times), 1_000) + Mount.longest_lifetime(router)
  end

  defp count(state, {_key, _version, nil}, by), do: %{state | deleted: state.deleted + by}

  defp count(state, {_key, _version, _value} = row, by),
    do: %{state | rows: state.rows + by, bytes: state.bytes + by * bytes(row)}

  # Estimates the size in the table, rather too high than too low.
  defp bytes({_key, _version, value} = row),
    do: :erlang.external_size(row) + if(is_map(value), do: byte_size(value.text), else: 0)

  @impl true
  def handle_call({:put, key, value, client}, _from, state) do
    time = time(state, key)
    row = {key, {time, node()}, value}

    with :ok <- room(state, row),
         {:ok, taken} <- take(state, row, client) do
      GenServer.abcast(Node.list(), @name, {:rows, [row]})
      # The former row is given back already.
      state = write(%{state | last: time, takers: Map.delete(state.takers, key)}, row)
      {:reply, :ok, if(taken, do: put_in(state.takers[key], taken), else: state)}
    else
      {:error, text} -> {:reply, {:error, text}, state}
    end
  end

  # Only the node that has put a row counts it for its client. A row that replaces another takes its place.
  defp take(%{takers: takers} = state, {key, _version, value} = row, client) do
    former = takers[key]
    give(state, former)
    taken = if value != nil, do: {client, bytes(row)}

    with {:error, text} <- take(state, taken) do
      take_anyway(state, former)
      {:error, text}
    end
  end

  defp take(_state, nil), do: {:ok, nil}

  defp take(%{quota: quota} = state, {client, bytes} = taken) do
    with {:tools, :ok} <- {:tools, Quota.take(quota, :run_time_tools, client, 1)},
         {:bytes, :ok} <- {:bytes, Quota.take(quota, :run_time_tool_bytes, client, bytes)} do
      {:ok, taken}
    else
      {:bytes, :full} ->
        :ok = Quota.give(quota, :run_time_tools, client, 1)
        beyond(state, :run_time_tool_bytes, "bytes of run-time tools and tags", "max_bytes")

      {:tools, :full} ->
        beyond(state, :run_time_tools, "run-time tools and tags", "max_tools")
    end
  end

  defp beyond(%{quota: quota}, kind, noun, option) do
    {_limit, share} = Quota.bound(quota, kind)
    {:error, "one client may have #{share} #{noun}, a quarter of #{option} of the configuration"}
  end

  defp take_anyway(_state, nil), do: :ok

  defp take_anyway(%{quota: quota}, {client, bytes}) do
    :ok = Quota.take_anyway(quota, :run_time_tools, client, 1)
    Quota.take_anyway(quota, :run_time_tool_bytes, client, bytes)
  end

  defp give(_state, nil), do: :ok

  defp give(%{quota: quota}, {client, bytes}) do
    :ok = Quota.give(quota, :run_time_tools, client, 1)
    Quota.give(quota, :run_time_tool_bytes, client, bytes)
  end

  # Times of one node are unique. The present row may be from a node whose clock is ahead.
  defp time(state, key) do
    present = for {_key, {time, _node}, _value} <- :ets.lookup(@name, key), do: time
    Enum.max([System.system_time(:microsecond), state.last + 1 | Enum.map(present, &(&1 + 1))])
  end

  @impl true
  def handle_cast({:rows, rows}, state) do
    {:noreply, Enum.reduce(rows, state, fn row, state -> if newer?(row), do: write(state, row), else: state end)}
  end

  def handle_cast({:rows_for, node}, state) do
    send_rows(node)
    {:noreply, state}
  end

  def handle_cast({:over, scope, at}, state) do
    Process.send_after(self(), {:over, scope}, max(at - System.system_time(:millisecond), 0))
    {:noreply, state}
  end

  @impl true
  def handle_info({:nodeup, node}, state) do
    send_rows(node)
    {:noreply, state}
  end

  # The sessions of the node have ended with it, except sealed ones. If the node still runs, it sends its rows when it
  # reconnects.
  def handle_info({:nodedown, node}, state) do
    rows = :ets.match_object(@name, {{:_, {:session, :_}, :_}, :_, :_})
    gone? = fn {{_router, {:session, id}, _what}, {_, writer}, _} -> OpenSessions.of_node?(id, writer, node) end
    {:noreply, rows |> Enum.filter(gone?) |> Enum.reduce(state, &remove(&2, &1))}
  end

  def handle_info({:over, scope}, state), do: {:noreply, end_session(state, scope)}

  def handle_info({:aged, scope}, state) do
    cond do
      over?(scope) or not any?(scope) -> {:noreply, state}
      expires_at(scope) <= System.system_time(:millisecond) -> {:noreply, end_session(state, scope)}
      true -> {:noreply, tap(state, fn _state -> end_later(scope) end)}
    end
  end

  def handle_info({:forget, key, version}, state) do
    {:noreply, Enum.reduce(:ets.match_object(@name, {key, version, nil}), state, &remove(&2, &1))}
  end

  def handle_info(_message, state), do: {:noreply, state}

  defp send_rows(node),
    do: for(rows <- Enum.chunk_every(rows(), @chunk), do: GenServer.cast({@name, node}, {:rows, rows}))

  defp newer?({{router, whose, _what} = key, version, _value}) do
    case :ets.lookup(@name, key) do
      [{_key, known, _value}] -> version > known
      [] -> not over?({router, whose})
    end
  end

  # One row marks the session as ended, instead of a row per deleted value.
  defp end_session(state, {router, whose}) do
    state = Enum.reduce(:ets.match_object(@name, {{router, whose, :_}, :_, :_}), state, &remove(&2, &1))
    insert(state, {{router, whose, :over}, {System.system_time(:microsecond), node()}, nil})
  end

  defp over?({router, whose}), do: :ets.member(@name, {router, whose, :over})

  defp remove(state, {key, _version, _value} = row) do
    :ets.delete(@name, key)
    :ok = Guarded.remove(key)
    {taken, takers} = Map.pop(state.takers, key)
    give(state, taken)
    count(%{state | takers: takers}, row, -1)
  end

  defp room(_state, {_key, _version, nil}), do: :ok

  defp room(%{options: options} = state, {{router, whose, {kind, _name}}, _version, _value} = row) do
    earlier = Enum.filter(former(row), fn {_key, _version, value} -> value != nil end)
    bytes = bytes(row) - Enum.sum(Enum.map(earlier, &bytes/1))

    cond do
      over?({router, whose}) ->
        {:error, "the session has ended"}

      earlier == [] and state.rows >= options.max_tools ->
        {:error,
         "there are #{options.max_tools} run-time tools and tags already, which is max_tools of the configuration"}

      state.bytes + bytes > options.max_bytes ->
        {:error, "the run-time tools would take more than #{options.max_bytes} bytes, max_bytes of the configuration"}

      earlier == [] ->
        room_in_scope(router, whose, kind, options)

      true ->
        :ok
    end
  end

  defp room_in_scope(router, whose, kind, options) do
    {noun, option} = if kind == :tool, do: {"run-time tools", :max_tools_per_scope}, else: {"tags", :max_tags_per_scope}
    most = Map.fetch!(options, option)

    if Enum.count(values(router, whose, kind), fn {_name, value} -> value != nil end) >= most,
      do: {:error, "there are #{most} #{noun} of this scope already, which is #{option} of the configuration"},
      else: :ok
  end

  defp former({key, _version, _value}), do: :ets.lookup(@name, key)

  # The sending node has already applied its limits. A node with lower limits stores as much as it has room for.
  defp write(state, {{router, whose, _what}, _version, value} = row) do
    if room(state, row) == :ok do
      first? = not any?({router, whose})
      earlier = for {_key, _version, value} <- former(row), do: value
      state = insert(Enum.reduce(former(row), state, &remove(&2, &1)), row)
      if first? and any?({router, whose}), do: end_later({router, whose})
      use_router(router, value)
      if List.first(earlier) != value, do: Changes.publish_here(router, :tools, whose)
      state
    else
      state
    end
  end

  # Deletion marks over the limit are dropped at once.
  defp insert(%{deleted: deleted, options: %{max_tools: most}} = state, {_key, _version, nil}) when deleted >= most,
    do: state

  defp insert(state, {key, version, value} = row) do
    if value == nil, do: Process.send_after(self(), {:forget, key, version}, @forget_after)
    :ets.insert(@name, row)
    :ok = Guarded.add(key, value)
    count(state, row, 1)
  end

  # The catalogue is rebuilt, so that its calls and lists read this table.
  defp use_router(router, %{tasks?: tasks?}) do
    used = [{{:used, router}} | if(tasks?, do: [{{:tasks, router}}], else: [])]
    if Enum.filter(used, &:ets.insert_new(@name, &1)) != [] and Catalog.served?(router), do: Catalog.fetch(router)
  rescue
    # Requests report the errors of a router.
    ArgumentError -> :ok
  end

  defp use_router(_router, _no_tool), do: :ok
end
