defmodule Mix.Tasks.Mcp.Read do
  @shortdoc "Reads a resource of a server"

  @moduledoc """
  Reads a resource, and prints its contents.

      mix mcp.read MyApp.MCP config://app
      mix mcp.read --url http://127.0.0.1:4040/mcp config://app

  ## Options

  #{Mix.McpServer.Console.options_doc()}
  #{Mix.McpServer.Console.status_doc()}
  """

  use Mix.Task

  alias McpServer.Console

  @usage "usage: mix mcp.read ROUTER | --url URL | --stdio COMMAND URI [--as PRINCIPAL] [--revision R] [--json], " <>
           "for example mix mcp.read MyApp.MCP config://app"

  @impl true
  def run(arguments) do
    Mix.McpServer.Console.run(arguments, [], {1, 1}, @usage, fn client, [uri], options ->
      Console.read(client, uri, options)
    end)
  end
end
