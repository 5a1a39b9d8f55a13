defmodule McpServer.Stdio do
  @moduledoc """
  Serves a router on stdin and stdout, for clients that start the server as a program.

  ## In development

      mix mcp.stdio MyApp.MCP

  see `mix help mcp.stdio`. That is the command to put into a client's configuration.

  ## In a release

  Either without a change of your supervision tree:

      bin/my_app eval "McpServer.Stdio.run(MyApp.MCP, app: :my_app)"

  or as a child of it, started with `bin/my_app start`:

      children = [
        MyApp.Repo,
        {McpServer.Stdio, router: MyApp.MCP}
      ]

  Use `eval` if any application prints while it starts: `run/2` takes over stdout before the applications start, a child
  takes it over only when the supervisor starts it.

  ## stdin and stdout

  stdout carries only messages. When the transport starts, it moves the client's stdin and stdout to new file
  descriptors. All other output of the VM (`IO.puts/1`, `Logger`, crash reports, the compiler) goes to stderr. Other
  readers of stdin get the end of input. So a VM can have one such transport, and `iex` does not work on the same
  terminal. Messages that the client sent earlier are not lost.

  ## Calls

  Every call runs in a separate process, with a deadline and a bounded heap. At most `limits: [max_calls: …]` calls run
  at the same time. If the process of a call crashes, only that call fails. A call that is cancelled or times out is
  killed with its linked processes. The library does not end processes that a handler starts without a link, and does
  not prevent `System.halt/1`.

  The answer of a failed call has an id, `Tool execution failed (error id …)`. The log line has the same id, the
  exception and its stack trace. With `debug_errors:` of `McpServer.Router`, the default in development, the answer also
  has the cause.

  ## When the client disconnects

  At the end of stdin the server answers the requests that it has read; running calls get `:drain` milliseconds to
  finish. Then the VM stops with status 0 (`:on_eof`). It also stops when the client closes stdout.

  ## When the VM is stopped

  At SIGTERM and `System.stop/1` the server stops reading. Running and waiting calls get `:drain` milliseconds to
  finish, and are answered. Calls that take longer are ended: a tool gets a result with `isError`, every other request
  the error `-32603`. The text of both is `The server is shutting down`. The transport of `run/2` and `mix mcp.stdio`
  stops before the applications that its calls use.

  ## Options

  Times are milliseconds, sizes bytes. No value can be infinite. [Limits](limits.html) has the largest value of each
  option and the answer beyond it.

  #{McpServer.Options.document(McpServer.ServerOptions.stdio())}
  """

  alias McpServer.{Catalog, Connection, Options, ServerOptions}
  alias McpServer.Stdio.{Server, Takeover, Transport}

  @type option :: {atom(), term()}

  @app [app: [{"the name of an application", &is_atom/1}]]

  @doc false
  @spec child_spec([option()]) :: Supervisor.child_spec()
  def child_spec(options) do
    shutdown = checked(options).drain + 5_000
    # At the end of stdin it ends normally and stays away; after a crash it is back for the next message.
    %{id: __MODULE__, start: {__MODULE__, :start_link, [options]}, restart: :transient, shutdown: shutdown}
  end

  defp checked(options), do: Options.check!(inspect(__MODULE__), ServerOptions.stdio(), options)

  @doc """
  Starts the transport, linked to the calling process. Usually a supervisor calls it.

  Returns `{:error, {:already_started, pid}}` if a transport is already running, and `{:error, reason}` if stdin and
  stdout cannot be taken over (`:ebadf`: they are closed). Raises `ArgumentError` for unknown or invalid options.
  """
  @spec start_link([option()]) :: GenServer.on_start()
  def start_link(options) do
    options = checked(options)
    # Nothing in front of it ends first, as the listener of a server does.
    bounds = %{ServerOptions.bounds(options) | drains?: true}
    transport = {Transport, %{on_eof: options.on_eof, max_line_bytes: bounds.max_message_bytes}}
    own = [name: __MODULE__, router: options.router, principal: options.principal]
    Connection.start_link(own ++ [transport: transport, bounds: bounds])
  end

  @doc """
  Takes over stdin and stdout, starts the application, serves until the client disconnects, and stops the VM.

  For release scripts. A further option is `:app`, the application to start with its dependencies (default: the router's
  application, if it is loaded). Raises `ArgumentError` for unknown or invalid options.
  """
  @spec run(module(), [option() | {:app, atom()}]) :: no_return()
  def run(router, options \\ []) do
    _checked = Options.check!(inspect(__MODULE__), ServerOptions.stdio() ++ @app, [router: router] ++ options)
    take_over!()
    {app, options} = Keyword.pop_lazy(options, :app, fn -> Application.get_application(router) end)
    {:ok, _started} = Application.ensure_all_started(app || :mcp_server)
    serve([router: router] ++ options)
  end

  @doc false
  @spec take_over!() :: :ok
  def take_over! do
    case Takeover.ensure() do
      {:ok, _reader, _output} -> :ok
      {:error, reason} -> raise "stdin and stdout cannot be taken over: #{inspect(reason)}"
    end
  end

  # Blocks; the end of stdin stops the VM from below.
  @doc false
  @spec serve([option()]) :: no_return()
  def serve(options) do
    # The application's own supervision tree may serve already.
    if Process.whereis(__MODULE__) == nil, do: options |> servable!() |> Server.start() |> await_end()
    Process.sleep(:infinity)
  end

  # Raised in the application that serves, the error would be hidden in the reason of its end.
  defp servable!(options) do
    _catalog = Catalog.fetch(options[:router])
    options
  end

  defp await_end(server) do
    monitor = Process.monitor(server)

    receive do
      {:DOWN, ^monitor, :process, ^server, reason} -> stopping?() || exit(reason)
    end
  end

  defp stopping?, do: match?({:stopping, _phase}, :init.get_status())
end
