defmodule McpServer.Telemetry do
  @moduledoc """
  The events that the library emits through `:telemetry`, when that package is part of the system.

  Durations are in native time units (`System.convert_time_unit/3`). Metadata never carries payloads:
  no arguments, no results, no URIs, no text of a client or of an exception.

  ## Calls

  A call is a request that runs the router's code. Requests that the library answers alone (`ping`,
  lists, refusals) emit nothing.

  | event | measurements | metadata |
  |---|---|---|
  | `[:mcp_server, :request, :start]` | `system_time`, `monotonic_time`, `queue_time`, `processes` | call |
  | `[:mcp_server, :request, :stop]` | `duration`, `monotonic_time`, `processes` | call, `outcome` |
  | `[:mcp_server, :request, :exception]` | `duration`, `monotonic_time`, `processes` | call, `kind`, `error_id` |
  | `[:mcp_server, :request, :cancelled]` | `duration`, `monotonic_time`, `processes` | call |
  | `[:mcp_server, :arguments, :repaired]` | `count` (changes) | call, `kinds` |

  Call metadata: `router`, `transport` (`:stdio`, `:http` or `:test`), `revision`, `method`, `kind`
  (`:tool`, `:prompt`, `:resource`, `:resource_template`, `:complete_prompt`, `:complete_resource`, or
  the list's) and `name`, the declared name of the tool, prompt or resource (`nil` for lists).

    * `queue_time` – how long the request waited for a free place
    * `processes` – how many the whole VM has: where that rises with the calls of a tool, its handler leaves some behind
    * `outcome` – `:ok`, `:tool_error` (a result with `isError`), `:error` (a JSON-RPC error) or
      `:input_required`
    * `kind` of an exception – `:error`, `:throw`, `:exit`, `:killed`, `:timeout` or `:invalid_result`;
      it takes the place of the call's kind, which is then under `request_kind`
    * `kinds` – what was changed in the arguments of a tool with `repair: true`, each once: `:number` and `:boolean` (out of
      a string), `:json` (an array or object out of a string), `:list` (a value became the list of it). The event follows
      the call's `:start`; a call whose arguments fit as they were has none
    * `error_id` – the id that the log line and the answer carry

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

    * `[:mcp_server, :session, …]` – the life of a session over HTTP, or of a transport over stdio, where `revision` is
      `nil` while it has opened no session; `reason` is `:eof` (it came to its end), `:closed` (the client ended it, or
      its time was up) or `:shutdown`
    * `outcome` of a task – `:completed`, `:failed`, `:cancelled`, or `:expired` while it still ran
    * `outcome` of input – `:ok`, `:timeout`, `:closed` or `:cancelled`
    * `reason` of a refused token (`auth:`) – `:missing`, `:malformed_request`, `:scope`, `:forbidden`, `:unavailable`,
      `:verifier`, or the rule that it broke: `:too_large`, `:malformed`, `:algorithm`, `:header`, `:type`, `:issuer`, `:key`,
      `:signature`, `:expired`, `:not_yet`, `:audience`, `:claims` or `:bound`
    * `what` was discarded – `:late_notification` (after its result), `:stale_progress` (not higher than
      the last), `:filtered_log` (below the client's level), `:unread_log` (of `McpServer.notify/2`, to a client that does not read) or `:unknown_response` (an answer to
      nothing that was asked)

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
    * `reason` for which a resource was deleted – `:requested`, or `:evicted` to make room for others
    * `[:mcp_server, :dual_response, :denied]` – somebody asked for a resource that is another tenant's or subject's, and was
      told that there is none
    * `[:mcp_server, :dual_response, :expired]` – resources that were deleted because their time was up

  ## Example

      :telemetry.attach("slow-tools", [:mcp_server, :request, :stop], fn _event, measured, call, _config ->
        milliseconds = System.convert_time_unit(measured.duration, :native, :millisecond)
        if milliseconds > 500, do: Logger.warning("\#{call.name} took \#{milliseconds} ms")
      end, nil)
  """

  @compile {:no_warn_undefined, :telemetry}

  # The package's own table.
  @handlers :telemetry_handler_table

  @events [
    [:mcp_server, :request, :start],
    [:mcp_server, :request, :stop],
    [:mcp_server, :request, :exception],
    [:mcp_server, :request, :cancelled],
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
    [:mcp_server, :dual_response, :created],
    [:mcp_server, :dual_response, :fetched],
    [:mcp_server, :dual_response, :pinned],
    [:mcp_server, :dual_response, :deleted],
    [:mcp_server, :dual_response, :expired],
    [:mcp_server, :dual_response, :denied]
  ]

  @doc "Every event there is, for `:telemetry.attach_many/4`."
  @spec events() :: [[atom()]]
  def events, do: @events

  # Loads the package if it is there, so that `enabled?/0` may look without asking the code server.
  @doc false
  @spec load() :: :ok
  def load do
    _loaded? = Code.ensure_loaded?(:telemetry)
    :ok
  end

  # Whether there is anybody to tell: asked before an event is put together. Where the package is there but not
  # started it would log a warning for each event.
  @doc false
  @spec enabled?() :: boolean()
  def enabled?, do: :erlang.function_exported(:telemetry, :execute, 3) and :ets.whereis(@handlers) != :undefined

  @doc false
  @spec execute([atom()], map(), map()) :: :ok
  def execute(event, measurements, metadata) do
    if enabled?(), do: :telemetry.execute([:mcp_server | event], measurements, metadata), else: :ok
  end
end
