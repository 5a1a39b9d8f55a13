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

  stdout carries messages and nothing else. When the transport starts, the client's stdin and stdout are moved
  to descriptors of its own; whatever else the VM prints from then on (`IO.puts/1`, `Logger`, crash reports,
  the compiler) appears on stderr, and whatever else reads stdin finds it at its end. So there is one such
  transport per VM, and it does not go together with an `iex` on the same terminal. Messages that the client
  sent before are not lost.

  ## Calls

  Every call runs in a process of its own, with a deadline and a bounded heap, beside up to `:max_calls` others; what it
  does to itself reaches nobody else. A call that is cancelled or out of time is killed, and so are the processes
  linked to it. Processes that a handler starts without a link are its own affair, and `System.halt/1` halts.

  A call that fails is answered with an id, `Tool execution failed (error id …)`, and logged with the same id, the
  exception and its stack trace. While developing, the answer can say what happened as well:

      # config/dev.exs
      config :mcp_server, debug_errors: true

  ## When the client goes

  At the end of stdin the requests that were read are answered; calls that run get `:grace` milliseconds for
  it. Then the VM stops with status 0 (`:on_eof`). It stops as well when nobody reads stdout any more.

  ## When the VM is stopped

  At SIGTERM and `System.stop/1` every call that runs, or was read and waits for a place, is ended and answered: a tool with a result
  that is an error, everything else with the code `-32603`. Both say `The server is shutting down`. The transport of
  `run/2` and `mix mcp.stdio` stops before the applications that its calls use.

  ## Options

  | option | default | |
  |---|---|---|
  | `:router` | required | the router to serve |
  | `:on_eof` | `:stop` | `:stop` stops the VM, `:ignore` only the transport, a function of no arguments is called |
  | `:timeout` | `60_000` | how long a call may run, in milliseconds; a tool's own `timeout:` comes first |
  | `:input_timeout` | `300_000` | how long the client may take to answer a handler's request, in milliseconds |
  | `:grace` | `5_000` | how long calls may go on after the end of stdin, in milliseconds |
  | `:max_calls` | `64` | calls that run at once; calls that wait for the client's input do not count |
  | `:max_waiting` | `1_000` | requests read ahead; after that the client waits, and none is refused |
  | `:max_waiting_bytes` | 8 MiB | the same, in bytes of the requests |
  | `:max_awaiting_input` | `1_000` | calls that wait for the client's input at once |
  | `:max_streams` | `64` | `subscriptions/listen` streams at once |
  | `:max_subscriptions` | `1_000` | subscribed resources of the session, and of each stream |
  | `:max_subscription_bytes` | 64 MiB | URIs of all subscriptions together |
  | `:max_line_bytes` | 10 MiB | the longest message; a longer one is skipped and answered with `-32700` |
  | `:max_heap_words` | 64 Mi | memory of one call, in machine words; more ends the call |
  | `:max_result_bytes` | 64 MiB | the longest answer; a longer one fails |
  | `:max_depth` | `128` | arrays and objects inside each other in a message; at most 128, as deep as answers can be |
  | `:max_values` | `200_000` | values of a message |
  | `:max_digits` | `1_024` | digits of a number |
  | `:max_id_bytes` | `256` | a request's id, or a progress token, that is a string |
  | `:max_method_bytes` | `256` | a method |
  | `:max_name_bytes` | `128` | the name of a tool or prompt |
  | `:max_uri_bytes` | `8_192` | a URI |
  | `:max_meta_bytes` | 16 KiB | `_meta`; and each of `clientInfo` and `capabilities` of `initialize` |
  | `:max_batch` | `50` | messages of a batch (2025-03-26) |
  | `:assigns` | `%{}` | what every `McpServer.Conn` has under `assigns` |

  None can be infinite. What a client gets beyond each, and how large each may be made, is told in
  [Limits](limits.html).
  """

  alias McpServer.{Connection, Limit}
  alias McpServer.Stdio.{Server, Takeover, Transport}

  @max_line_bytes 10 * 1024 * 1024

  @type option ::
          {:router, module()}
          | {:on_eof, :stop | :ignore | (() -> term())}
          | {:assigns, map()}
          | {atom(), pos_integer()}

  @doc false
  @spec child_spec([option()]) :: Supervisor.child_spec()
  def child_spec(options) do
    # At the end of stdin it ends normally and stays away; after a crash it is back for the next message.
    %{id: __MODULE__, start: {__MODULE__, :start_link, [options]}, restart: :transient, shutdown: 10_000}
  end

  @doc """
  Starts the transport, linked to the calling process. Usually a supervisor does.

  Returns `{:error, {:already_started, pid}}` where one runs already, and `{:error, reason}` where stdin and
  stdout cannot be taken over (`:ebadf`: they are closed). Raises `ArgumentError` for options that are unknown or wrong.
  """
  @spec start_link([option()]) :: GenServer.on_start()
  def start_link(options) do
    {on_eof, options} = Keyword.pop(options, :on_eof, :stop)
    {longest, options} = Keyword.pop(options, :max_line_bytes, @max_line_bytes)
    check_on_eof!(on_eof)
    Limit.check!(:max_line_bytes, longest, :bytes)

    transport = {Transport, %{on_eof: on_eof, max_line_bytes: longest}}
    Connection.start_link([name: __MODULE__, transport: transport, max_message_bytes: longest] ++ options)
  end

  defp check_on_eof!(on_eof) do
    on_eof in [:stop, :ignore] or is_function(on_eof, 0) ||
      raise ArgumentError,
            "expected :on_eof to be :stop, :ignore or a function of no arguments, got: #{inspect(on_eof)}"
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
