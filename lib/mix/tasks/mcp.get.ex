defmodule Mix.Tasks.Mcp.Get do
  @shortdoc "Gets a prompt of a server"

  @moduledoc """
  Gets a prompt, and prints its messages.

      mix mcp.get MyApp.MCP explain calculation="2 + 40"
      mix mcp.get --url http://127.0.0.1:4040/mcp explain calculation="2 + 40"

  ## Options

    * `--input-json JSON` – arguments as an object
  #{Mix.McpServer.Console.options_doc()}
  #{Mix.McpServer.Console.status_doc()}
  """

  use Mix.Task

  alias McpServer.Console

  @most_words 1_000
  @usage "usage: mix mcp.get ROUTER | --url URL | --stdio COMMAND PROMPT [NAME=VALUE …] [--input-json JSON] " <>
           "[--as PRINCIPAL] [--revision R] [--json], for example mix mcp.get MyApp.MCP explain calculation=\"2 + 40\""

  @impl true
  def run(arguments) do
    Mix.McpServer.Console.run(
      arguments,
      [input_json: :string],
      {1, @most_words},
      @usage,
      fn client, [prompt | words], options -> Console.get(client, prompt, words, options) end
    )
  end
end
