defmodule BookshopWeb.Router do
  @moduledoc false
  use Phoenix.Router

  pipeline :browser do
    plug :accepts, ["html"]
    plug :put_secure_browser_headers
  end

  scope "/" do
    pipe_through :browser
    get "/", BookshopWeb.PageController, :home
  end

  # No pipeline: clients of MCP are no browsers.
  forward "/mcp",
          BookshopWeb.Mount,
          {McpServer.HttpPlug, router: Bookshop.MCP, identify: {BookshopWeb.Auth, :identify}}

  forward "/resources",
          BookshopWeb.Mount,
          {McpServer.DualResponse.Plug, server: Bookshop.Results, identify: {BookshopWeb.Auth, :identify}}
end
