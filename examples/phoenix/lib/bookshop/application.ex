defmodule Bookshop.Application do
  @moduledoc false
  use Application

  @impl true
  def start(_type, _arguments) do
    children = [
      Bookshop.Repo,
      BookshopWeb.Endpoint,
      {McpServer.DualResponse, name: Bookshop.Results, base_url: {BookshopWeb.Endpoint, "/resources"}},
      # The last child stops first: sessions and streams end before the endpoint closes their connections.
      {McpServer.HttpPlug.Drainer, router: Bookshop.MCP}
    ]

    Supervisor.start_link(children, strategy: :one_for_one, name: Bookshop.Supervisor)
  end

  @impl true
  def config_change(changed, _new, removed), do: BookshopWeb.Endpoint.config_change(changed, removed)
end
