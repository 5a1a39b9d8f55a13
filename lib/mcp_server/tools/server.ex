defmodule McpServer.Tools.Server do
  @moduledoc false
  # The run-time tools of all connected nodes, on each of them. A row is written by this process alone, and read by
  # calls. Nodes send each other what is put here, and all they have when they meet; the later version wins. What was
  # deleted stays as a row without an entry for a while, so that a node that did not hear of it does not bring it back.

  use GenServer
  use McpServer.Outline

  alias McpServer.{Catalog, Changes, Options, Recipient}

  @table [
    max_tools: [:count, default: 100_000, doc: "run-time tools that a node keeps, of all routers together"],
    max_tools_per_scope: [:count, default: 1_000, doc: "those of one router, one principal or one session"],
    max_bytes: [:bytes, default: 256 * 1024 * 1024, doc: "what their JSON texts may take together"]
  ]

  @name __MODULE__
  # Milliseconds.
  @forget_after 3_600_000
  # Rows a message.
  @chunk 1_000

  @type key :: {router :: module(), Recipient.t(), name :: String.t()}
  @type entry :: %{text: String.t(), digest: binary(), handler: McpServer.Tools.handler(), name: String.t()}

  @doc "What options there are."
  @spec table() :: Options.table()
  def table, do: @table

  @doc "Makes the table; the calling process owns it."
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

  @doc "Puts a tool on this node and on those that are connected; `nil` deletes it."
  @spec put(key(), entry() | nil) :: :ok | {:error, String.t()}
  def put(key, entry), do: GenServer.call(@name, {:put, key, entry}, :infinity)

  @doc "Whether a router has had run-time tools since this node started."
  @spec used?(module()) :: boolean()
  # While a router compiles the application may not run.
  def used?(router), do: :ets.whereis(@name) != :undefined and :ets.member(@name, {:used, router})

  @doc "The tools of a scope, by their names, sorted."
  @spec entries(module(), Recipient.t()) :: [{String.t(), entry()}]
  def entries(router, whose) do
    rows = :ets.select(@name, [{{{router, whose, :"$1"}, :_, :"$2"}, [], [{{:"$1", :"$2"}}]}])
    for {name, %{} = entry} <- rows, do: {name, entry}
  end

  @doc "A tool."
  @spec find(key()) :: {:ok, entry()} | :error
  def find(key) do
    case :ets.lookup(@name, key) do
      [{_key, _version, %{} = entry}] -> {:ok, entry}
      _none -> :error
    end
  end

  @impl true
  def init(options) do
    :ok = :net_kernel.monitor_nodes(true)
    for node <- Node.list(), do: GenServer.cast({@name, node}, {:rows_for, node()})
    {:ok, recount(%{options: options, tools: 0, bytes: 0, last: 0})}
  end

  # The table outlives this process.
  defp recount(state) do
    for {{_router, _whose, _name}, _version, %{text: text}} <- :ets.tab2list(@name), reduce: state do
      state -> %{state | tools: state.tools + 1, bytes: state.bytes + byte_size(text)}
    end
  end

  @impl true
  def handle_call({:put, key, entry}, _from, state) do
    case room(state, key, entry) do
      :ok ->
        # Two of one node never have the same time.
        time = max(System.system_time(:microsecond), state.last + 1)
        row = {key, {time, node()}, entry}
        GenServer.abcast(Node.list(), @name, {:rows, [row]})
        {:reply, :ok, write(%{state | last: time}, row)}

      {:error, text} ->
        {:reply, {:error, text}, state}
    end
  end

  @impl true
  def handle_cast({:rows, rows}, state) do
    {:noreply, Enum.reduce(rows, state, fn row, state -> if newer?(row), do: write(state, row), else: state end)}
  end

  def handle_cast({:rows_for, node}, state) do
    send_rows(node)
    {:noreply, state}
  end

  @impl true
  def handle_info({:nodeup, node}, state) do
    send_rows(node)
    {:noreply, state}
  end

  def handle_info({:forget, key, version}, state) do
    :ets.match_delete(@name, {key, version, nil})
    {:noreply, state}
  end

  def handle_info(_message, state), do: {:noreply, state}

  defp send_rows(node) do
    rows = for {{_router, _whose, _name}, _version, _entry} = row <- :ets.tab2list(@name), do: row
    for rows <- Enum.chunk_every(rows, @chunk), do: GenServer.cast({@name, node}, {:rows, rows})
  end

  defp newer?({key, version, _entry}) do
    case :ets.lookup(@name, key) do
      [{_key, known, _entry}] -> version > known
      [] -> true
    end
  end

  defp room(_state, _key, nil), do: :ok

  defp room(%{options: options} = state, {router, whose, _name} = key, entry) do
    {tools, bytes} = kept(key)

    cond do
      state.tools - tools >= options.max_tools ->
        {:error, "there are #{options.max_tools} run-time tools already, which is max_tools of the configuration"}

      state.bytes - bytes + byte_size(entry.text) > options.max_bytes ->
        {:error, "the run-time tools would take more than #{options.max_bytes} bytes, max_bytes of the configuration"}

      tools == 0 and length(entries(router, whose)) >= options.max_tools_per_scope ->
        {:error,
         "there are #{options.max_tools_per_scope} run-time tools of this scope already, which is max_tools_per_scope " <>
           "of the configuration"}

      true ->
        :ok
    end
  end

  defp kept(key) do
    case find(key) do
      {:ok, %{text: text}} -> {1, byte_size(text)}
      :error -> {0, 0}
    end
  end

  # What other nodes put has been bounded there; a node with lower bounds keeps what it has room for.
  defp write(state, {{router, whose, _name} = key, version, entry} = row) do
    if room(state, key, entry) == :ok do
      {tools, bytes} = kept(key)
      :ets.insert(@name, row)
      if entry == nil, do: Process.send_after(self(), {:forget, key, version}, @forget_after)
      use_router(router)
      if entry != nil or tools > 0, do: Changes.publish_here(router, :tools, whose)
      {new_tools, new_bytes} = if entry, do: {1, byte_size(entry.text)}, else: {0, 0}
      %{state | tools: state.tools - tools + new_tools, bytes: state.bytes - bytes + new_bytes}
    else
      state
    end
  end

  # The catalogue is built once more: from now on its calls and lists look here.
  defp use_router(router) do
    if :ets.insert_new(@name, {{:used, router}}) and Catalog.served?(router), do: Catalog.fetch(router)
  rescue
    # Requests say what is wrong with a router.
    ArgumentError -> :ok
  end
end
