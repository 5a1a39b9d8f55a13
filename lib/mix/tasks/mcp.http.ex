defmodule Mix.Tasks.Mcp.Http do
  @shortdoc "Serves a router over Streamable HTTP"

  @moduledoc """
  Serves a router over Streamable HTTP, on this machine only.

      mix mcp.http MyApp.MCP --port 4040

  Compiles and starts the application, prints one line with the URL to stderr when it takes requests, and serves until
  it gets SIGTERM; then it lets the running calls finish. Ctrl-C is Erlang's own: press it twice.

  In the configuration of a client that speaks HTTP:

      {"mcpServers": {"my_app": {"type": "http", "url": "http://127.0.0.1:4040/mcp"}}}

  This is for development. In an application `{McpServer.HttpServer, router: MyApp.MCP, port: 4040}` belongs in the
  supervision tree, and `McpServer.HttpPlug` into a web server that is there already.

  ## Options

    * `--port PORT` – where to listen (4040); 0 takes a free port
    * `--timeout MS` – how long a call may run, in milliseconds (60000); a tool's own `timeout:` comes first
    * `--no-compile` – serve what is compiled
    * `--no-start` – do not start the application, only what it is built on
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
