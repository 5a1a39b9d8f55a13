defmodule Mix.Tasks.Mcp.Http do
  @shortdoc "Serves a router over Streamable HTTP"

  @moduledoc """
  Serves a router over Streamable HTTP, on this machine only.

      mix mcp.http MyApp.MCP --port 4040

  The task compiles and starts the application, prints one line with the URL to stderr when it accepts requests, and
  serves until SIGTERM. Then it lets running calls finish. Press Ctrl-C twice to stop it.

  In the configuration of a client that supports HTTP:

      {"mcpServers": {"my_app": {"type": "http", "url": "http://127.0.0.1:4040/mcp"}}}

  This is for development. In an application add `{McpServer.HttpServer, router: MyApp.MCP, port: 4040}` to the
  supervision tree, or `McpServer.HttpPlug` to an existing web server.

  ## Options

    * `--port PORT` – the port to listen on (4040); 0 takes a free port
    * `--timeout MS` – how long a call may run, in milliseconds (60000); a tool's `timeout:` takes precedence
    * `--no-compile` – serve the compiled router, without compiling first
    * `--no-start` – do not start the application, only its dependencies
  """

  use Mix.Task

  @port 4040
  @usage "usage: mix mcp.http ROUTER [--port PORT] [--timeout MS] [--no-compile] [--no-start], " <>
           "for example mix mcp.http MyApp.MCP"

  @impl true
  def run(arguments) do
    {name, options} = Mix.McpServer.parse!(arguments, [port: :integer], @usage)
    :ok = Mix.McpServer.start_application(options)
    router = Mix.McpServer.router!(name)
    served = [router: router, port: Keyword.get(options, :port, @port)] ++ Keyword.take(options, [:timeout])
    Mix.McpServer.Serving.run(served, &"Listening on http://127.0.0.1:#{&1}/mcp")
  end
end
