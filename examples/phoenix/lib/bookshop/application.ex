defmodule Bookshop.Application do
  @moduledoc false
  use Application

  @impl true
  def start(_type, _arguments) do
    url = Application.fetch_env!(:bookshop, :url) <> "/resources"
    results = {McpServer.DualResponse, name: Bookshop.Results, base_url: url}
    children = [Bookshop.Accounts, Bookshop.Orders, BookshopWeb.Endpoint, results]
    Supervisor.start_link(children, strategy: :one_for_one, name: Bookshop.Supervisor)
  end

  @impl true
  def config_change(changed, _new, removed), do: BookshopWeb.Endpoint.config_change(changed, removed)
end
