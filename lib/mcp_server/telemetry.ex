defmodule McpServer.Telemetry do
  @moduledoc """
  The events that the library emits through `:telemetry`, if that package is installed.

  Durations are in native time units (`System.convert_time_unit/3`). Metadata has no payloads: no arguments, no results,
  no URIs, no text of an exception. It has ids of the client and its principal, and in `[:mcp_server, :call, …]` the
  client's name, the trace context and the `conn`. The library builds no event without an attached handler.

  `metrics/1` returns metrics for reporters, `attach_default_logger/1` logs a line for each call, and
  `McpServer.OpenTelemetry` creates spans of calls. The guide [Observability](observability.md) shows them together.

  ## Calls

  A call is a request that runs the router's code. Requests that the core answers alone (`ping`, lists, refusals) emit
  no events. `measure/0` counts them.

  | event | measurements | metadata |
  |---|---|---|
  | `[:mcp_server, :request, :start]` | `system_time`, `monotonic_time`, `queue_time`, `processes` | call |
  | `[:mcp_server, :request, :stop]` | `duration`, `monotonic_time`, `processes` | call, `outcome` |
  | `[:mcp_server, :request, :exception]` | `duration`, `monotonic_time`, `processes` | call, `kind`, `error_id` |
  | `[:mcp_server, :request, :cancelled]` | `duration`, `monotonic_time`, `processes` | call |
  | `[:mcp_server, :operation, :stop]` | `duration` | call, `error_type` |
  | `[:mcp_server, :arguments, :repaired]` | `count` (changes) | call, `kinds` |
  | `[:mcp_server, :call, :start]` | `system_time`, `monotonic_time` | call, handler |
  | `[:mcp_server, :call, :stop]` | `duration`, `monotonic_time`, `result_bytes`, `content_bytes` | call, handler, `outcome`, `error_type`, `spilled` |
  | `[:mcp_server, :call, :exception]` | the same | call, handler, `kind`, `error_id`, `error_type`, `crash_reason` |

  Call metadata: `router`, `transport` (`:stdio`, `:http` or `:test`), `revision`, `method`, `kind` (`:tool`, `:prompt`,
  `:resource`, `:resource_template`, `:complete_prompt`, `:complete_resource`, or the list's), `name`, the declared name
  of the tool, prompt or resource (`nil` for lists), `id`, the JSON-RPC id, `request_id`, the call's id in the log, `pid`,
  the call's process, `principal` and `session_id` (`nil` without), and `logger_metadata`, a map. Events at the end of a
  call have `error_code`, the code of its JSON-RPC error or `nil`.

  `logger_metadata` is the Logger metadata of the call's process: `:request_id`, `:mcp_principal`, `:mcp_session`, and at
  the end of the call whatever its handler has added. A process that was killed from outside or that needs longer than
  100 ms to answer has only the first three.

  The events `[:mcp_server, :call, …]` are executed in the process of the call, before and after the handler. A call
  that is killed, by its deadline or by its client, emits neither `[:mcp_server, :call, :stop]` nor
  `[:mcp_server, :call, :exception]`. It emits `[:mcp_server, :request, :exception]` or
  `[:mcp_server, :request, :cancelled]` with the same `pid`. Every call emits one `[:mcp_server, :operation, :stop]` at
  its end. A call is reported as cancelled if its connection is killed. The event is missing if the node stops, or if the
  connection is killed while it reports the start or the end of the call.

  Handler metadata: `client` (a map with the strings `"name"` and `"version"`), `trace_context`
  (`McpServer.Conn.trace_context/1`), `repairs`, and `conn`, the `McpServer.Conn`. Its `called` has the arguments and
  the URI: do not log more of it than `inspect/1` shows.

    * `error_type` – `nil` for a success, else `"tool_error"`, the code of a JSON-RPC error, `"cancelled"`, or the kind of
      an exception
    * `result_bytes` – of the whole answer; `content_bytes` – of the texts and the data in the content of a tool's result
    * `spilled` – whether the result was larger than the tool's `result_budget:` and was stored
    * `crash_reason` – an exception and a stack trace, without data of the client
    * `queue_time` – how long the request waited until it could run
    * `processes` – number of processes of the VM; if it rises with the calls of a tool, its handler leaks processes
    * `outcome` – `:ok`, `:tool_error` (a result with `isError`), `:error` (a JSON-RPC error) or
      `:input_required`
    * `kind` of an exception – `:error`, `:throw`, `:exit`, `:killed`, `:timeout` or `:invalid_result`; the call's kind
      is then under `request_kind`
    * `kinds` – the repairs in the arguments of a tool with `repair: true`, each once: `:number` and `:boolean` (from a
      string), `:json` (an array or object from a string), `:list` (a list from one value). The event follows the call's
      `:start`; a call with valid arguments does not emit it
    * `error_id` – the id in the log line and in the answer

  ## Peers

  | event | measurements | metadata |
  |---|---|---|
  | `[:mcp_server, :session, :start]` | `system_time` | `router`, `transport`, `revision` |
  | `[:mcp_server, :session, :stop]` | `duration` | `router`, `transport`, `revision`, `reason` |
  | `[:mcp_server, :subscription, :start]` | `count` | `router`, `transport`, `revision` |
  | `[:mcp_server, :subscription, :stop]` | `count` | `router`, `transport`, `revision` |
  | `[:mcp_server, :input, :start]` | `count` (requests put to the client) | `router`, `transport`, `revision` |
  | `[:mcp_server, :input, :stop]` | `duration` | `router`, `transport`, `revision`, `outcome` |
  | `[:mcp_server, :task, :start]` | `count` | `router` |
  | `[:mcp_server, :task, :stop]` | `count` | `router`, `outcome` |
  | `[:mcp_server, :discarded]` | `count` | `router`, `transport`, `what` |
  | `[:mcp_server, :auth, :refused]` | `count` | `reason` |

    * `[:mcp_server, :session, …]` – the lifetime of a session over HTTP, or of a transport over stdio, where `revision`
      is `nil` until the client opens a session; `reason` is `:eof` (end of input), `:closed` (ended by the client, or
      expired) or `:shutdown`
    * `outcome` of a task – `:completed`, `:failed`, `:cancelled`, or `:expired` while it still ran
    * `outcome` of input – `:ok`, `:timeout`, `:closed` or `:cancelled`
    * `reason` of a refused token (`auth:`) – `:missing`, `:malformed_request`, `:scope`, `:forbidden`, `:unavailable`,
      `:verifier`, or the violated rule: `:too_large`, `:malformed`, `:algorithm`, `:header`, `:type`, `:issuer`,
      `:key`, `:signature`, `:expired`, `:not_yet`, `:audience`, `:claims` or `:bound`
    * `what` was discarded – `:late_notification` (after its result), `:stale_progress` (not higher than the last),
      `:filtered_log` (below the client's level), `:unread_log` (of `McpServer.notify/2`, to a client that does not
      read) or `:unknown_response` (an answer without a request)

  ## Measurements

  | event | measurements | metadata |
  |---|---|---|
  | `[:mcp_server, :usage]` | `calls`, `sessions` (over HTTP), `listeners` (for changes), `tasks` | |
  | `[:mcp_server, :core]` | `ping`, `discover`, `list`, `initialize`, `parse_error`, `invalid_request`, `method_not_found`, `invalid_params`, `other_error`, `http` | |

    * `[:mcp_server, :usage]` – current numbers on this node
    * `[:mcp_server, :core]` – number of messages that the core has answered alone since the library was loaded, by kind
      of result or error; `http` counts refused request heads

  Only `measure/0` emits them.

  ## Dual responses

  | event | measurements | metadata |
  |---|---|---|
  | `[:mcp_server, :dual_response, :created]` | `rows` (in all), `bytes` (kept) | `server`, `store`, `persist` |
  | `[:mcp_server, :dual_response, :fetched]` | `rows` (of the page), `duration` | `server`, `store`, `persist` |
  | `[:mcp_server, :dual_response, :pinned]` | `count` | `server`, `store` |
  | `[:mcp_server, :dual_response, :deleted]` | `count` | `server`, `store`, `reason` |
  | `[:mcp_server, :dual_response, :expired]` | `count` | `server`, `store` |
  | `[:mcp_server, :dual_response, :denied]` | `count` | `server`, `store` |

    * `server` and `store` – the name of the `McpServer.DualResponse` and the module of its store
    * `reason` of a deletion – `:requested`, or `:evicted` to make room for others
    * `[:mcp_server, :dual_response, :denied]` – a client asked for a resource of another tenant or subject, and got
      "not found"
    * `[:mcp_server, :dual_response, :expired]` – resources that were deleted because they expired

  ## Example

      :telemetry.attach("slow-tools", [:mcp_server, :request, :stop], fn _event, measured, call, _config ->
        milliseconds = System.convert_time_unit(measured.duration, :native, :millisecond)
        if milliseconds > 500, do: Logger.warning("\#{call.name} took \#{milliseconds} ms")
      end, nil)
  """

  alias McpServer.Telemetry.{DefaultLogger, Metrics, Usage}

  @compile {:no_warn_undefined, [:telemetry, :telemetry_handler_table]}

  # A process and module of the package, which know the attached handlers.
  @handlers :telemetry_handler_table

  @levels [:emergency, :alert, :critical, :error, :warning, :notice, :info, :debug]

  @events [
    [:mcp_server, :request, :start],
    [:mcp_server, :request, :stop],
    [:mcp_server, :request, :exception],
    [:mcp_server, :request, :cancelled],
    [:mcp_server, :operation, :stop],
    [:mcp_server, :call, :start],
    [:mcp_server, :call, :stop],
    [:mcp_server, :call, :exception],
    [:mcp_server, :arguments, :repaired],
    [:mcp_server, :session, :start],
    [:mcp_server, :session, :stop],
    [:mcp_server, :subscription, :start],
    [:mcp_server, :subscription, :stop],
    [:mcp_server, :input, :start],
    [:mcp_server, :input, :stop],
    [:mcp_server, :task, :start],
    [:mcp_server, :task, :stop],
    [:mcp_server, :discarded],
    [:mcp_server, :auth, :refused],
    [:mcp_server, :usage],
    [:mcp_server, :core],
    [:mcp_server, :dual_response, :created],
    [:mcp_server, :dual_response, :fetched],
    [:mcp_server, :dual_response, :pinned],
    [:mcp_server, :dual_response, :deleted],
    [:mcp_server, :dual_response, :expired],
    [:mcp_server, :dual_response, :denied]
  ]

  @doc "All events, for `:telemetry.attach_many/4`."
  @spec events() :: [[atom()]]
  def events, do: @events

  @doc """
  Metrics for the reporters of the package `telemetry_metrics`: LiveDashboard, PromEx, Prometheus, StatsD.

  `mcp.server.operation.duration` and `mcp.server.session.duration` have the names and buckets of OpenTelemetry's
  conventions for MCP, in seconds. The other metrics are the last values of `measure/0`.

    * `:tags` – `:underscores` (default, required by Prometheus: `mcp_method_name`) or `:dots`, the names of the
      attributes in the conventions (`:"mcp.method.name"`)

  Raises a `RuntimeError` without the package, and `ArgumentError` for another option.

      # in MyAppWeb.Telemetry
      def metrics, do: McpServer.Telemetry.metrics() ++ [...]
      defp periodic_measurements, do: [{McpServer.Telemetry, :measure, []}]
  """
  @spec metrics(tags: :underscores | :dots) :: [struct()]
  def metrics(options \\ []) do
    [tags: tags] = Keyword.validate!(options, tags: :underscores)
    tags in [:underscores, :dots] || raise ArgumentError, "tags: is :underscores or :dots, got: #{inspect(tags)}"

    Code.ensure_loaded?(Elixir.Telemetry.Metrics) ||
      raise "McpServer.Telemetry.metrics/1 needs the package telemetry_metrics. " <>
              "Add {:telemetry_metrics, \"~> 1.0\"} to the dependencies in mix.exs"

    Metrics.definitions(tags)
  end

  @doc """
  Emits the current values, for `:telemetry_poller` or a timer of your own. Returns `:ok`.

  A measurement visits all processes of the node to count `calls`, so leave some seconds between two measurements.
  """
  @spec measure() :: :ok
  def measure do
    if attached?([:usage]), do: execute([:usage], Usage.usage(), %{})
    if attached?([:core]), do: execute([:core], McpServer.Protocol.answered_alone(), %{})
    :ok
  end

  @doc """
  Logs a line at the end of each call: `MCP tools/call "search" ok in 12.3 ms`. The metadata of the line has the
  `request_id`.

    * `:level` – the level of the line, default `:info`

  Returns `:ok`, or `{:error, :already_exists}`. Raises a `RuntimeError` if `telemetry` is missing or not started, and
  `ArgumentError` for another option.
  """
  @spec attach_default_logger(level: Logger.level()) :: :ok | {:error, :already_exists}
  def attach_default_logger(options \\ []) do
    [level: level] = Keyword.validate!(options, level: :info)

    level in @levels || raise ArgumentError, "level: is one of #{inspect(@levels)}, got: #{inspect(level)}"

    enabled?() ||
      raise "McpServer.Telemetry.attach_default_logger/1 needs the package telemetry, started. " <>
              "Add {:telemetry, \"~> 1.0\"} to the dependencies in mix.exs"

    DefaultLogger.attach(level)
  end

  @doc "Ends `attach_default_logger/1`. Returns `:ok`, or `{:error, :not_found}`."
  @spec detach_default_logger() :: :ok | {:error, :not_found}
  def detach_default_logger, do: if(enabled?(), do: DefaultLogger.detach(), else: {:error, :not_found})

  # Loads the package if it exists, so that `enabled?/0` need not call the code server.
  @doc false
  @spec load() :: :ok
  def load do
    _loaded? = Code.ensure_loaded?(:telemetry)
    :ok
  end

  # If the package is present but not started, it would log a warning for each event.
  @doc false
  @spec enabled?() :: boolean()
  def enabled?, do: :erlang.function_exported(:telemetry, :execute, 3) and :erlang.whereis(@handlers) != :undefined

  # Whether an event has a handler. Checked before the event is built.
  @doc false
  @spec attached?([atom()]) :: boolean()
  def attached?(event), do: enabled?() and @handlers.list_for_event([:mcp_server | event]) != []

  @doc false
  @spec execute([atom()], map(), map()) :: :ok
  def execute(event, measurements, metadata) do
    if enabled?(), do: :telemetry.execute([:mcp_server | event], measurements, metadata), else: :ok
  end
end
