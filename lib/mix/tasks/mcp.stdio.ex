defmodule Mix.Tasks.Mcp.Stdio do
  @shortdoc "Serves a router on stdin and stdout"

  @moduledoc """
  Serves a router on stdin and stdout, for clients that start the server as a program.

      mix mcp.stdio MyApp.MCP

  The task takes over stdout first. Output of the compiler and of the application goes to stderr, so the client gets
  only messages; messages that the client sends meanwhile are not lost. Then it compiles and starts the application, and
  serves until the client disconnects.

  The task also compiles dependencies, but this takes longer than most clients wait for their first answer: run
  `mix compile` once before.

  In a client's configuration:

      {"mcpServers": {"my_app": {"command": "mix", "args": ["mcp.stdio", "MyApp.MCP"], "cwd": "/path/to/my_app"}}}

  A client without the setting `cwd` can start `sh -c "cd /path/to/my_app && exec mix mcp.stdio MyApp.MCP"`.

  A `McpServer.HttpServer` in the application's supervision tree does not start, because another instance may already
  use its port.

  ## Options

    * `--timeout MS` – how long a call may run, in milliseconds (60000); a tool's `timeout:` takes precedence
  #{Mix.McpServer.Principal.option_doc()}\
    * `--no-compile` – serve the compiled router, without compiling first
    * `--no-start` – do not start the application, only its dependencies

  `McpServer.Stdio` describes the handling of stdin and stdout, and releases.
  """

  use Mix.Task

  alias McpServer.Stdio
  alias Mix.McpServer.Principal

  @usage "usage: mix mcp.stdio ROUTER [--timeout MS] [--as PRINCIPAL] [--no-compile] [--no-start], " <>
           "for example mix mcp.stdio MyApp.MCP"

  @impl true
  def run(arguments) do
    {name, options} = Mix.McpServer.parse!(arguments, Principal.switch(), @usage)
    options = Principal.parse!(options, @usage)
    Stdio.take_over!()
    # Loads OpenSSL in parallel: it takes a twentieth of the start time.
    spawn(fn -> Code.ensure_loaded(:crypto) end)
    # Each client starts its own VM, and only one VM could listen on the port.
    Application.put_env(:mcp_server, :serve_http, false)
    :ok = Mix.McpServer.start_application(options)
    served = [router: Mix.McpServer.router!(name), principal: options[:as]]
    Stdio.serve(served ++ Keyword.take(options, [:timeout]))
  end
end
