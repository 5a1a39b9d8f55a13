defmodule BookshopWeb.Router do
  @moduledoc false
  use Phoenix.Router

  pipeline :browser do
    plug :accepts, ["html"]
    plug :put_secure_browser_headers
  end

  pipeline :mcp do
    plug BookshopWeb.Customer
  end

  scope "/" do
    pipe_through :browser
    get "/", BookshopWeb.PageController, :home
  end

  scope "/mcp" do
    pipe_through :mcp

    forward "/",
            BookshopWeb.Mount,
            {McpServer.HttpPlug, router: Bookshop.MCP, identify: {BookshopWeb.Customer, :identify}}
  end

  scope "/resources" do
    pipe_through :mcp

    forward "/",
            BookshopWeb.Mount,
            {McpServer.DualResponse.Plug, server: Bookshop.Results, identify: {BookshopWeb.Customer, :identity}}
  end
end
