defmodule McpServer.Http.Mounts do
  @moduledoc false
  # The mounts of plugs. A plug has no place in a supervision tree, so its workers get one here, when
  # somebody first asks for it.

  use GenServer

  alias McpServer.Http.{Mount, Workers}

  @supervisor McpServer.Http.MountSupervisor

  @spec start_link(term()) :: GenServer.on_start()
  def start_link(_options), do: GenServer.start_link(__MODULE__, nil, name: __MODULE__)

  @doc "The mount of a plug's options, which `Mount.options!/1` has checked; `:restarting` for a moment after a crash."
  @spec ensure(keyword()) :: {:ok, Mount.t()} | :restarting
  def ensure(options) do
    id = {:plug, options}

    with {:ok, mount} <- Mount.fetch(id), pid when pid != nil <- Workers.pick(id) do
      {:ok, mount}
    else
      _not_served -> call({:ensure, id, options})
    end
  end

  defp call(request) do
    {:ok, GenServer.call(__MODULE__, request)}
  catch
    :exit, _not_there -> :restarting
  end

  @impl true
  def init(nil), do: {:ok, nil}

  # One after the other: requests that come first at the same time want the same mount.
  @impl true
  def handle_call({:ensure, id, options}, _from, state) do
    mount =
      case Mount.fetch(id) do
        {:ok, mount} -> mount
        :error -> Mount.new(id, options)
      end

    # A worker that is missing for a moment is being restarted.
    if Workers.all(id) == [], do: {:ok, _workers} = DynamicSupervisor.start_child(@supervisor, {Workers, mount})
    Mount.publish(mount)
    {:reply, mount, state}
  end
end
