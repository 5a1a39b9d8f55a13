defmodule Mix.Tasks.Mcp.Call do
  @shortdoc "Calls a tool of a server"

  @moduledoc """
  Calls a tool, and prints what it returns.

      mix mcp.call MyApp.MCP add a=2 b=40
      mix mcp.call MyApp.MCP search --input-json '{"query": "elixir", "limit": 3}'
      mix mcp.call --url http://127.0.0.1:4040/mcp add a=2 b=40

  Each argument gets the type that the tool's schema says: `a=2` is a number where it says `number`, and a text where it
  says `string`. A list is given element by element, `tags=x tags=y`, or as JSON; an object is given as JSON. Words come
  before the same arguments of `--input-json`. `mix mcp.list` shows the tools and their arguments.

  What the server reports meanwhile is printed as it comes: progress, log messages, the status of a task. What it asks for
  (elicitation, sampling) is asked at the terminal. Without a terminal it is told that it cannot ask.

  ## Options

    * `--input-json JSON` – arguments as an object
    * `--task` – let the call go on as a task, and wait for it; tools with `task_support: :required` need it
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
