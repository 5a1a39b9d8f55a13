defmodule McpServer.Catalog.Watch do
  @moduledoc false
  # Finds out that a router has been compiled again although no request comes: fetching its catalogue announces what has
  # changed. The VM tells nobody of code that is loaded, so the fingerprints of the routers that clients listen to are
  # compared, and nothing is read from a disk.

  use GenServer

  alias McpServer.{Catalog, Changes}

  # Milliseconds.
  @interval 1_000

  @spec start_link(term()) :: GenServer.on_start()
  def start_link(_options), do: GenServer.start_link(__MODULE__, nil, name: __MODULE__)

  @impl true
  def init(nil), do: {:ok, nil, @interval}

  @impl true
  def handle_info(_timeout, nil) do
    for router <- Changes.listened_to_here(), Catalog.served?(router), do: look(router)
    {:noreply, nil, @interval}
  end

  # Requests say what is wrong with a router.
  defp look(router) do
    Catalog.fetch(router)
  rescue
    ArgumentError -> :ok
  end
end
