defmodule Mix.Tasks.Mcp.List do
  @shortdoc "Lists the tools, prompts and resources of a server"

  @moduledoc """
  Lists the tools, prompts, resources and templates of a server, with their arguments.

      mix mcp.list MyApp.MCP
      mix mcp.list --url http://127.0.0.1:4040/mcp
      mix mcp.list --stdio "mix mcp.stdio MyApp.MCP"

  Arguments have the form of `mix mcp.call` and `mix mcp.get`; optional arguments are in brackets:

      calculator 0.1.0 (MCP 2026-07-28)

      Tools
        add a=number b=number
          Adds two numbers

  The task serves a router in the same VM. The list may depend on the principal, `--as`.

  ## Options

  #{Mix.McpServer.Console.options_doc()}
  #{Mix.McpServer.Console.status_doc()}
  """

  use Mix.Task

  alias McpServer.Console

  @usage "usage: mix mcp.list ROUTER | --url URL | --stdio COMMAND [--as PRINCIPAL] [--revision R] [--json], " <>
           "for example mix mcp.list MyApp.MCP"

  @impl true
  def run(arguments) do
    Mix.McpServer.Console.run(arguments, [], {0, 0}, @usage, fn client, [], options -> Console.list(client, options) end)
  end
end
