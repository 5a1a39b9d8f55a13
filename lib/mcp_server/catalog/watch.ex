defmodule McpServer.Catalog.Watch do
  @moduledoc false
  # Detects that a router has been recompiled, even without requests: fetching its catalogue announces changed lists.
  # The VM does not announce loaded code. So the fingerprints of routers with listening clients are compared, without
  # disk access.

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

  # Requests report the errors of a router.
  defp look(router) do
    Catalog.fetch(router)
  rescue
    ArgumentError -> :ok
  end
end
