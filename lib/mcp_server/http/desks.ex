defmodule McpServer.Http.Desks do
  @moduledoc false
  # The desks of plugs. A plug has no place in a supervision tree, so its desk gets one here, when somebody first
  # asks for it.

  use GenServer

  alias McpServer.DualResponse.Rest
  alias McpServer.Http.{Desk, Usage}

  @supervisor McpServer.Http.MountSupervisor

  @table __MODULE__

  @doc "Makes the table in which desks are found; the calling process owns it."
  @spec create_table() :: :ok
  def create_table do
    :ets.new(@table, [:named_table, :public, read_concurrency: true])
    :ets.insert(@table, {:usage, Usage.new()})
    :ok
  end

  @doc "What the plugs of stored results have in use, which no limit is compared with: a desk counts for itself."
  @spec usage() :: Usage.t()
  def usage, do: :ets.lookup_element(@table, :usage, 2)

  @doc "The calling process is the desk with that id from now on."
  @spec enter(term()) :: :ok
  def enter(id) do
    :ets.insert(@table, {id, self()})
    :ok
  end

  @doc "Nobody looks for the desk any more."
  @spec leave(term()) :: :ok
  def leave(id) do
    :ets.delete(@table, id)
    :ok
  end

  @doc "The desk with that id, `nil` while it is being restarted."
  @spec whereis(term()) :: pid() | nil
  def whereis(id) do
    case :ets.lookup(@table, id) do
      [{_id, pid}] -> if Process.alive?(pid), do: pid
      [] -> nil
    end
  end

  @spec start_link(term()) :: GenServer.on_start()
  def start_link(_options), do: GenServer.start_link(__MODULE__, nil, name: __MODULE__)

  @doc "The endpoint of a plug's options, which `Rest.new/1` has checked, and its desk; `nil` while that is being restarted."
  @spec ensure(keyword()) :: {Rest.t(), pid() | nil}
  def ensure(options) do
    id = {__MODULE__, options}

    with %Rest{} = rest <- :persistent_term.get(id, nil), desk when desk != nil <- whereis(id) do
      {rest, desk}
    else
      _not_served -> call(id, options)
    end
  end

  defp call(id, options) do
    GenServer.call(__MODULE__, {:ensure, id, options})
  catch
    :exit, _not_there -> {Rest.new(options), nil}
  end

  @impl true
  def init(nil), do: {:ok, nil}

  # One after the other: requests that come first at the same time want the same desk.
  @impl true
  def handle_call({:ensure, id, options}, _from, state) do
    rest = :persistent_term.get(id, nil) || start(id, options)
    {:reply, {rest, whereis(id)}, state}
  end

  defp start(id, options) do
    rest = Rest.new(options)
    {:ok, _desk} = DynamicSupervisor.start_child(@supervisor, {Desk, {id, rest}})
    :persistent_term.put(id, rest)
    rest
  end
end
