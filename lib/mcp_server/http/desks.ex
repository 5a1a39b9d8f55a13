defmodule McpServer.Http.Desks do
  @moduledoc false
  # The desks of plugs. A plug has no place in a supervision tree, so its desk gets one here, when somebody first
  # asks for it.

  use GenServer

  alias McpServer.DualResponse.Rest
  alias McpServer.Http.{Desk, Workers}

  @supervisor McpServer.Http.MountSupervisor

  @spec start_link(term()) :: GenServer.on_start()
  def start_link(_options), do: GenServer.start_link(__MODULE__, nil, name: __MODULE__)

  @doc "The endpoint of a plug's options, which `Rest.new/1` has checked, and its desk; `nil` while that is being restarted."
  @spec ensure(keyword()) :: {Rest.t(), pid() | nil}
  def ensure(options) do
    id = {__MODULE__, options}

    with %Rest{} = rest <- :persistent_term.get(id, nil), desk when desk != nil <- Workers.desk(id) do
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
    {:reply, {rest, Workers.desk(id)}, state}
  end

  defp start(id, options) do
    rest = Rest.new(options)
    {:ok, _desk} = DynamicSupervisor.start_child(@supervisor, {Desk, {id, rest}})
    :persistent_term.put(id, rest)
    rest
  end
end
