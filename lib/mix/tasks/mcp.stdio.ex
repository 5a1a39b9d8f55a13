defmodule Mix.Tasks.Mcp.Stdio do
  @shortdoc "Serves a router on stdin and stdout"

  @moduledoc """
  Serves a router on stdin and stdout, for clients that start their servers themselves.

      mix mcp.stdio MyApp.MCP

  Takes stdout over first, so whatever is compiled or printed on the way appears on stderr and the client sees
  messages only; what the client sends meanwhile is not lost. Then it compiles and starts the application, and
  serves until the client goes.

  That holds for dependencies that have to be compiled as well, but compiling all of them takes longer than most
  clients wait for their first answer: run `mix compile` once before.

  In a client's configuration:

      {"mcpServers": {"my_app": {"command": "mix", "args": ["mcp.stdio", "MyApp.MCP"], "cwd": "/path/to/my_app"}}}

  A client that knows no `cwd` can start `sh -c "cd /path/to/my_app && exec mix mcp.stdio MyApp.MCP"`.

  A `McpServer.HttpServer` in the application's supervision tree does not start: its port may be that of the server which
  runs already.

  ## Options

    * `--timeout MS` – how long a call may run, in milliseconds (60000); a tool's own `timeout:` comes first
    * `--principal NAME` – who the client is: handlers and `authorize:` find the name in `conn.principal`
    * `--no-compile` – serve what is compiled
    * `--no-start` – do not start the application, only what it is built on

  See `McpServer.Stdio` for what happens to stdin and stdout, and for releases.
  """

  use Mix.Task

  alias McpServer.Stdio

  @usage "usage: mix mcp.stdio ROUTER [--timeout MS] [--principal NAME] [--no-compile] [--no-start], " <>
           "for example mix mcp.stdio MyApp.MCP"

  @impl true
  def run(arguments) do
    {name, options} = Mix.McpServer.parse!(arguments, [principal: :string], @usage)
    Stdio.take_over!()
    # Meanwhile: a twentieth of what follows is spent on OpenSSL.
    spawn(fn -> Code.ensure_loaded(:crypto) end)
    # Each client starts a VM of its own, and only one of them could have the port.
    Application.put_env(:mcp_server, :serve_http, false)
    :ok = Mix.McpServer.start_application(options)
    Stdio.serve([router: Mix.McpServer.router!(name)] ++ Keyword.take(options, [:timeout, :principal]))
  end
end
