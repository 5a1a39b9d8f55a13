defmodule McpServer.Log do
  alias McpServer.Options

  @table [
    level: [
      {:in, [:debug, :info, :notice, :warning, :error]},
      default: :info,
      doc: "the log level of the lines"
    ],
    arguments: [{:in, [true, false]}, default: false, doc: "whether the line shows the arguments, shortened"]
  ]

  @moduledoc """
  A `McpServer.Plug` that logs one line with `Logger` for each return of a handler.

      plug McpServer.Log, level: :debug

  A line looks like `MCP tool "search": ok in 12 ms`. In place of `ok` there can be `error` (the handler's
  `{:error, …}`, or a result with `is_error`), `input_required`, `task` (the rest of the work becomes a task) or
  `raised RuntimeError`. The duration includes the handler and the plugs after this one.

  The line says what the handler did, not how the call ended:

  | call | lines |
  |---|---|
  | ends at its timeout, or is cancelled | none, unless the handler returns within `cancel_grace:` |
  | has a result that the library refuses afterwards, such as one that its output schema does not allow | `ok`, and the log line of the failure |
  | asks the client | `input_required` each time it asks, then the line of the result |
  | continues as a task | `task`, then the line of the task |

  `McpServer.Telemetry.attach_default_logger/1` logs one line at the end of each request, however it ended. It needs the
  package `telemetry`.

  #{Options.document(@table)}

  Arguments are data of the client, so they are not logged by default. Logged arguments are cut to 1 KiB.
  """

  @behaviour McpServer.Plug

  require Logger

  alias McpServer.Tool.CallResult

  @max_argument_bytes 1_024

  @impl true
  def init(options), do: Options.check!("McpServer.Log", @table, options)

  @impl true
  def call(%{called: called} = conn, next, options) do
    since = System.monotonic_time()

    try do
      next.(conn)
    catch
      kind, reason ->
        write(options, called, raised(kind, reason), since)
        :erlang.raise(kind, reason, __STACKTRACE__)
    else
      returned ->
        write(options, called, outcome(returned), since)
        returned
    end
  end

  defp write(options, called, outcome, since) do
    Logger.log(options.level, fn ->
      ms = System.convert_time_unit(System.monotonic_time() - since, :native, :millisecond)
      "MCP #{called.kind} #{inspect(called.name)}: #{outcome} in #{ms} ms#{arguments(options, called)}"
    end)
  end

  defp outcome({:error, _reason}), do: "error"
  defp outcome({:ok, %CallResult{is_error: true}}), do: "error"
  defp outcome(%CallResult{is_error: true}), do: "error"
  defp outcome({:input_required, _inputs, _state}), do: "input_required"
  defp outcome({:task, _fun}), do: "task"
  defp outcome(_result), do: "ok"

  defp raised(:error, %module{}), do: "raised #{inspect(module)}"
  defp raised(:error, _reason), do: "raised an error"
  defp raised(:throw, _reason), do: "threw"
  defp raised(:exit, _reason), do: "exited"

  defp arguments(%{arguments: false}, _called), do: ""

  defp arguments(_shown, %{arguments: arguments}) do
    text = inspect(arguments, limit: 50, printable_limit: 200)

    if byte_size(text) <= @max_argument_bytes,
      do: ", #{text}",
      else: ", #{String.slice(text, 0, @max_argument_bytes)} …"
  end
end
