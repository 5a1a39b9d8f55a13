defmodule Mix.Tasks.Mcp.Call do
  @shortdoc "Calls a tool of a server"

  @moduledoc """
  Calls a tool, and prints its result.

      mix mcp.call MyApp.MCP add a=2 b=40
      mix mcp.call MyApp.MCP search --input-json '{"query": "elixir", "limit": 3}'
      mix mcp.call --url http://127.0.0.1:4040/mcp add a=2 b=40

  The tool's schema determines the type of each argument: `a=2` is a number for the type `number`, and a text for
  `string`. Write a list element by element, `tags=x tags=y`, or as JSON; write an object as JSON. Arguments of the
  command line take precedence over `--input-json`. `mix mcp.list` shows the tools and their arguments.

  Progress, log messages and the status of a task are printed as they arrive. Questions of the server (elicitation,
  sampling) appear at the terminal. Without a terminal the client has no support for questions.

  ## Options

    * `--input-json JSON` – arguments as an object
    * `--task` – run the call as a task, and wait for it; tools with `task_support: :required` need it
  #{Mix.McpServer.Console.options_doc()}
  #{Mix.McpServer.Console.status_doc()}
  """

  use Mix.Task

  alias McpServer.Console

  @switches [input_json: :string, task: :boolean]
  @most_words 1_000
  @usage "usage: mix mcp.call ROUTER | --url URL | --stdio COMMAND TOOL [NAME=VALUE …] [--input-json JSON] [--task] " <>
           "[--as PRINCIPAL] [--revision R] [--json], for example mix mcp.call MyApp.MCP add a=2 b=40"

  @impl true
  def run(arguments) do
    Mix.McpServer.Console.run(arguments, @switches, {1, @most_words}, @usage, fn client, [tool | words], options ->
      Console.call(client, tool, words, options)
    end)
  end
end
