defmodule Institutions.Application do
  @moduledoc """
  The data, the stored results, and one HTTP server for MCP and for the rows. It listens on `PORT`, else on 4050.
  """
  use Application

  @impl true
  def start(_type, _arguments) do
    port = Application.get_env(:institutions, :port) || String.to_integer(System.get_env("PORT", "4050"))
    base_url = "http://127.0.0.1:#{port}/resources"
    results = Application.get_env(:institutions, :results, [])

    children = [
      Institutions.Table,
      {McpServer.DualResponse, [name: Institutions.Results, base_url: base_url, tie_break: "id"] ++ results},
      {McpServer.HttpServer,
       router: Institutions.MCP,
       port: port,
       routes: [{"/resources", {McpServer.DualResponse.Rest, server: Institutions.Results}}]}
    ]

    Supervisor.start_link(children, strategy: :one_for_one, name: Institutions.Supervisor)
  end
end
