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

  alias McpServer.HttpServer

  @port 4040
  @usage "usage: mix mcp.http ROUTER [--port PORT] [--timeout MS] [--no-compile] [--no-start], " <>
           "for example mix mcp.http MyApp.MCP"

  @impl true
  def run(arguments) do
    {name, options} = Mix.McpServer.parse!(arguments, [port: :integer], @usage)
    :ok = Mix.McpServer.start_application(options)
    router = Mix.McpServer.router!(name)
    serve([router: router, port: Keyword.get(options, :port, @port)] ++ Keyword.take(options, [:timeout]))
  end

  defp serve(options) do
    # The line below says the same.
    Logger.put_module_level(HttpServer, :warning)
    supervisor = start!(options)
    [{_id, server, _type, _modules}] = Supervisor.which_children(supervisor)
    stop_on_sigterm()
    IO.puts(:stderr, "Listening on http://127.0.0.1:#{HttpServer.port(server)}/mcp")

    receive do
      :stop -> Supervisor.stop(supervisor)
    end

    System.stop()
    Process.sleep(:infinity)
  end

  defp start!(options) do
    # A supervisor that cannot start takes its starter along, who has something better to say.
    Process.flag(:trap_exit, true)

    case Supervisor.start_link([{HttpServer, options}], strategy: :one_for_one) do
      {:ok, supervisor} -> supervisor
      {:error, {:shutdown, {:failed_to_start_child, _id, reason}}} -> Mix.raise(sentence(reason, options[:port]))
    end
  end

  defp sentence(:eaddrinuse, port), do: "port #{port} is taken: choose another one with --port, or 0 for a free one"
  defp sentence(reason, port), do: "cannot listen on port #{port}: #{inspect(reason)}"

  # Erlang's own handler would stop the application while calls still need it.
  defp stop_on_sigterm do
    task = self()

    {:ok, _id} =
      System.trap_signal(:sigterm, fn ->
        send(task, :stop)
        :ok
      end)

    :gen_event.delete_handler(:erl_signal_server, :erl_signal_handler, :trapped)
  end
end
