defmodule McpServer.Stdio do
  @moduledoc """
  Serves a router on stdin and stdout: the transport of clients that start their servers themselves.

  ## In development

      mix mcp.stdio MyApp.MCP

  see `mix help mcp.stdio`. That is the command to put into a client's configuration.

  ## In a release

  Either without touching your supervision tree:

      bin/my_app eval "McpServer.Stdio.run(MyApp.MCP, app: :my_app)"

  or as a child of it, started with `bin/my_app start`:

      children = [
        MyApp.Repo,
        {McpServer.Stdio, router: MyApp.MCP}
      ]

  `eval` is the better choice where anything prints while the applications start: `run/2` takes stdout over
  before any of them is started, a child only when its turn comes.

  ## What belongs to the protocol

  stdout carries messages and nothing else. When it starts, the transport moves the client's stdin and
  stdout to its own descriptors. Other output of the VM (`IO.puts/1`, `Logger`, crash reports, the compiler) goes to stderr.
  Other readers of stdin get the end of input. So a VM can have one such transport, and you cannot use `iex` on the same
  terminal. Messages that the client
  sent before are not lost.

  ## Calls

  Every call runs in a process of its own, with a deadline and a bounded heap. At most `limits: [max_calls: …]` calls run at the
  same time. If a call harms its own process, only that call fails. A call that is cancelled or out of time is killed, and so are the processes
  linked to it. Processes that a handler starts without a link are its own affair, and `System.halt/1` halts.

  A call that fails is answered with an id, `Tool execution failed (error id …)`, and logged with the same id, the
  exception and its stack trace. The answer of a router that was compiled while developing says what happened as
  well: `debug_errors:` of `McpServer.Router`.

  ## When the client goes

  At the end of stdin the requests that were read are answered; calls that run get `:drain` milliseconds for
  it. Then the VM stops with status 0 (`:on_eof`). It stops as well when nobody reads stdout any more.

  ## When the VM is stopped

  At SIGTERM and `System.stop/1` nothing more is read. Calls that run or wait get `:drain` milliseconds to finish, and are
  answered. Calls that take longer are ended: a tool gets a result with `isError`; every other request gets the error
  `-32603`. Both say `The server is shutting down`. The transport of `run/2` and `mix mcp.stdio` stops before the applications
  that its calls use.

  ## Options

  Times are milliseconds, sizes bytes. None can be infinite; [Limits](limits.html) tells how large each can be, and what
  a client gets beyond it.

  #{McpServer.Options.document(McpServer.ServerOptions.stdio())}
  """

  alias McpServer.{Connection, Options, ServerOptions}
  alias McpServer.Stdio.{Server, Takeover, Transport}

  @type option :: {atom(), term()}

  @doc false
  @spec child_spec([option()]) :: Supervisor.child_spec()
  def child_spec(options) do
    shutdown = checked(options).drain + 5_000
    # At the end of stdin it ends normally and stays away; after a crash it is back for the next message.
    %{id: __MODULE__, start: {__MODULE__, :start_link, [options]}, restart: :transient, shutdown: shutdown}
  end

  defp checked(options), do: Options.check!(inspect(__MODULE__), ServerOptions.stdio(), options)

  @doc """
  Starts the transport, linked to the calling process. Usually a supervisor does.

  Returns `{:error, {:already_started, pid}}` where one runs already, and `{:error, reason}` where stdin and
  stdout cannot be taken over (`:ebadf`: they are closed). Raises `ArgumentError` for options that are unknown or wrong.
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
  Takes stdin and stdout over, starts the application, serves until the client goes, and stops the VM.

  For release scripts. Beside the options above: `:app`, the application to start with everything it needs
  (default: the router's, where it is loaded).
  """
  @spec run(module(), [option() | {:app, atom()}]) :: no_return()
  def run(router, options \\ []) do
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
    if Process.whereis(__MODULE__) == nil, do: await_end(Server.start(options))
    Process.sleep(:infinity)
  end

  defp await_end(server) do
    monitor = Process.monitor(server)

    receive do
      {:DOWN, ^monitor, :process, ^server, reason} -> stopping?() || exit(reason)
    end
  end

  defp stopping?, do: match?({:stopping, _phase}, :init.get_status())
end
