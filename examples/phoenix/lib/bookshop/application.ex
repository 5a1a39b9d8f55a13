defmodule Bookshop.Application do
  @moduledoc false
  use Application

  @impl true
  def start(_type, _arguments) do
    Supervisor.start_link([Bookshop.Orders, BookshopWeb.Endpoint], strategy: :one_for_one, name: Bookshop.Supervisor)
  end

  @impl true
  def config_change(changed, _new, removed), do: BookshopWeb.Endpoint.config_change(changed, removed)
end
