defmodule Mix.Tasks.Mcp.List do
  @shortdoc "Lists what a server has"

  @moduledoc """
  Lists the tools, prompts, resources and templates of a server, with their arguments.

      mix mcp.list MyApp.MCP
      mix mcp.list --url http://127.0.0.1:4040/mcp
      mix mcp.list --stdio "mix mcp.stdio MyApp.MCP"

  Arguments stand as `mix mcp.call` and `mix mcp.get` take them, those that may be left out in brackets:

      calculator 0.1.0 (MCP 2026-07-28)

      Tools
        add a=number b=number
          Adds two numbers

  A router is served within the task, and what the list shows depends on who asks: `--as`.

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
