defmodule BookshopWeb.PageController do
  @moduledoc false
  use Phoenix.Controller, formats: [:html]

  plug :put_view, html: BookshopWeb.PageHTML
  plug :put_layout, false

  def home(conn, _params) do
    url = BookshopWeb.Endpoint.url() <> "/mcp"
    server = %{"url" => url, "headers" => %{"Authorization" => "Bearer TOKEN"}}
    cursor = %{"mcpServers" => %{"bookshop" => server}}
    code = %{"servers" => %{"bookshop" => Map.put(server, "type", "http")}}

    render(conn, :home, url: url, cursor: json(cursor), code: json(code), tools: Bookshop.MCP.__mcp__(:tools))
  end

  defp json(term), do: Jason.encode!(term, pretty: true)
end
