defmodule McpServer.OpenTelemetry do
  @moduledoc """
  Traces calls with OpenTelemetry, following its conventions for MCP. Spans that start inside a handler, for example of
  Ecto or Req, are children of the call's span.

  Call `setup/1` once, when your application starts. It needs the packages `opentelemetry_api` and `telemetry`; without
  an SDK (`opentelemetry`) nothing is recorded.

      # in MyApp.Application.start/2
      :ok = McpServer.OpenTelemetry.setup()

  The name of a span is the method and the tool or prompt, `tools/call search`. Its kind is `server`. If `_meta` has a
  `traceparent`, the parent is the client's span, and the span of the HTTP request is a link. Otherwise the span of the
  HTTP request is the parent.

  | attribute | |
  |---|---|
  | `mcp.method.name`, `mcp.protocol.version`, `jsonrpc.request.id` | values of the request |
  | `mcp.session.id` | a digest of the session's id, if there is a session: the id itself is a credential |
  | `gen_ai.tool.name`, `gen_ai.operation.name` | of `tools/call`; the operation is `execute_tool` |
  | `gen_ai.prompt.name` | of `prompts/get` |
  | `network.transport` | `pipe` over stdio, `tcp` over HTTP |
  | `rpc.response.status_code` | the code of a JSON-RPC error |
  | `error.type` | the code of the JSON-RPC error, `tool_error` for a result with `isError`, `cancelled`, or the kind of a failure: `error`, `exit`, `throw`, `killed`, `timeout`, `invalid_result` |
  | `mcp.resource.uri` | of `resources/read`, only with `resource_uri: true` |

  If a call times out or is cancelled, or its connection is killed, its span ends at that time. Spans hold no arguments and no results. An exception
  is recorded with its type and stack trace, as in the error log.
  """

  alias McpServer.Call.Trace
  alias McpServer.Dispatch.Failure
  alias McpServer.Telemetry.Attributes

  @compile {:no_warn_undefined,
            [:telemetry, :opentelemetry, :otel_ctx, :otel_span, :otel_tracer, :otel_propagator_text_map]}

  @handler {__MODULE__, :handler}
  @table __MODULE__
  @current {__MODULE__, :current}
  @events [[:call, :start], [:call, :stop], [:call, :exception], [:request, :exception], [:request, :cancelled]]
  @errors [:tool_error, :error]

  @options [resource_uri: false, attributes: nil]

  @doc """
  Starts to trace all calls.

    * `:resource_uri` – whether spans have `mcp.resource.uri`; URIs can hold data of users. Default `false`
    * `:attributes` – a function of the `McpServer.Conn` that returns a map of further attributes of a call, such as its
      principal: `fn conn -> %{"enduser.id" => to_string(conn.principal)} end`. If it fails, the span has none of them, and an
      error is logged

  Returns `:ok`, also for repeated calls. Raises `ArgumentError` for another option, and a `RuntimeError` if
  `opentelemetry_api` or `telemetry` is missing or not started.
  """
  @spec setup(keyword()) :: :ok
  def setup(options \\ []) do
    options = options |> Keyword.validate!(@options) |> Map.new()
    check!(options)
    # `Trace` looks at whether it is loaded.
    installed? = Code.ensure_loaded?(:otel_tracer) and McpServer.Telemetry.enabled?()

    installed? ||
      raise "McpServer.OpenTelemetry needs the packages opentelemetry_api and telemetry. " <>
              "Add {:opentelemetry_api, \"~> 1.4\"} and {:telemetry, \"~> 1.0\"} to the dependencies in mix.exs"

    _result = :telemetry.detach(@handler)
    :telemetry.attach_many(@handler, for(event <- @events, do: [:mcp_server | event]), &__MODULE__.handle/4, options)
  end

  defp check!(%{resource_uri: uri, attributes: attributes})
       when is_boolean(uri) and (attributes == nil or is_function(attributes, 1)),
       do: :ok

  defp check!(_options) do
    raise ArgumentError,
          "McpServer.OpenTelemetry.setup/1 takes resource_uri: true or false, and attributes: a function of one argument"
  end

  @doc false
  @spec create_table() :: :ok
  def create_table do
    :ets.new(@table, [:named_table, :public, write_concurrency: true])
    :ok
  end

  @doc false
  @spec handle([atom()], map(), map(), map()) :: term()
  def handle([:mcp_server, :call, :start], measured, call, options) do
    {context, links} = parent(call)
    tracer = :opentelemetry.get_application_tracer(__MODULE__)

    span =
      :otel_tracer.start_span(context, tracer, name(call), %{
        kind: :server,
        links: links,
        start_time: measured.monotonic_time,
        attributes: attributes(call, options)
      })

    token = :otel_ctx.attach(:otel_tracer.set_current_span(context, span))
    Process.put(@current, {span, token})
    # If another process ends the call, it takes the span from this table.
    :ets.insert(@table, {self(), span})
  end

  def handle([:mcp_server, :call, event], _measured, call, _options) do
    with {span, token} <- Process.delete(@current) do
      :ets.delete(@table, self())
      if event == :exception, do: record(span, call)
      :otel_span.set_attributes(span, call |> Attributes.of_end() |> present())
      if event == :exception or call.outcome in @errors, do: :otel_span.set_status(span, :error, call.error_type)
      :otel_span.end_span(span)
      :otel_ctx.detach(token)
    end
  end

  # The span of a completed call has ended already.
  def handle([:mcp_server, :request, event], _measured, call, _options) do
    with [{_pid, span}] <- :ets.take(@table, call.pid) do
      type = if event == :cancelled, do: "cancelled", else: Atom.to_string(call.kind)
      :otel_span.set_attributes(span, %{"error.type" => type})
      :otel_span.set_status(span, :error, type)
      :otel_span.end_span(span)
    end
  end

  defp parent(call) do
    http = Trace.span(call.conn)

    case :otel_propagator_text_map.extract_to(:otel_ctx.new(), call.trace_context) do
      context when http == :undefined ->
        {context, []}

      context ->
        if :otel_tracer.current_span_ctx(context) == :undefined,
          do: {:otel_tracer.set_current_span(context, http), []},
          else: {context, :opentelemetry.links([http])}
    end
  end

  defp name(%{kind: kind, method: method, name: name}) when kind in [:tool, :prompt] and name != nil,
    do: "#{method} #{name}"

  defp name(%{method: method}), do: method

  defp attributes(call, options) do
    call
    |> Attributes.of_call()
    |> Map.merge(%{"jsonrpc.request.id" => to_string(call.id), "mcp.session.id" => digest(call.session_id)})
    |> Map.merge(uri(call, options))
    |> Map.merge(own(call.conn, options))
    |> present()
  end

  defp uri(%{kind: kind, conn: %{called: %{uri: uri}}}, %{resource_uri: true})
       when kind in [:resource, :resource_template],
       do: %{"mcp.resource.uri" => uri}

  defp uri(_call, _options), do: %{}

  # Whoever reads traces must not be able to use the session.
  defp digest(nil), do: nil
  defp digest(id), do: :crypto.hash(:sha256, id) |> binary_part(0, 16) |> Base.encode16(case: :lower)

  defp own(_conn, %{attributes: nil}), do: %{}

  # `telemetry` detaches a handler that raises, and later calls would have no spans.
  defp own(conn, %{attributes: fun}) do
    %{} = fun.(conn)
  catch
    kind, reason ->
      kind |> Failure.new(reason, __STACKTRACE__) |> Failure.log("attributes: of McpServer.OpenTelemetry.setup/1")
      %{}
  end

  defp present(attributes), do: for({name, value} <- attributes, value != nil, into: %{}, do: {name, value})

  defp record(span, %{crash_reason: {exception, stacktrace}}) do
    :otel_span.add_event(span, :exception, %{
      "exception.type" => inspect(exception.__struct__),
      "exception.message" => Exception.message(exception),
      "exception.stacktrace" => Exception.format_stacktrace(stacktrace)
    })
  end

  defp record(_span, _call), do: :ok
end
