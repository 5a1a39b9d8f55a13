defmodule McpServer.OpenTelemetryTest do
  # Stand-ins for the packages are loaded while these tests run, so they are not async. The tests check the calls to the
  # packages. The spans of the real packages were checked manually.
  use ExUnit.Case, async: false
  use McpServer.Test, router: McpServer.RuntimeRouter

  import McpServer.Controller, only: [text: 1]
  import McpServer.TestLog

  alias McpServer.{OpenTelemetry, TelemetryStandIn, Wire}

  defmodule LaterRouter do
    use McpServer.Router, name: "later"

    tool "later", "May be a task", McpServer.RuntimeRouter.Handlers, :run, task_support: :optional
  end

  @parent [{"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}]

  # A context is a map, a span the pair of its name and a reference; the current context is in the process dictionary.
  @modules [
    opentelemetry:
      quote do
        def get_application_tracer(_module), do: :tracer
        def links(spans), do: spans
      end,
    otel_ctx:
      quote do
        def new, do: %{}
        def get_current, do: Process.get(:otel) || %{}
        def attach(context), do: {:previous, Process.put(:otel, context)}
        def detach({:previous, context}), do: Process.put(:otel, context)
      end,
    otel_propagator_text_map:
      quote do
        def extract_to(context, headers), do: if(headers == [], do: context, else: %{span: {:remote, headers}})
      end,
    otel_tracer:
      quote do
        def current_span_ctx, do: current_span_ctx(Process.get(:otel) || %{})
        def current_span_ctx(context), do: Map.get(context, :span, :undefined)
        def set_current_span(context, span), do: Map.put(context, :span, span)

        def start_span(context, :tracer, name, options) do
          span = {name, make_ref()}
          McpServer.OpenTelemetryTest.tell({:started, span, current_span_ctx(context), options})
          span
        end
      end,
    otel_span:
      quote do
        def set_attributes(span, attributes), do: McpServer.OpenTelemetryTest.tell({:attributes, span, attributes})
        def set_status(span, :error, text), do: McpServer.OpenTelemetryTest.tell({:failed, span, text})
        def add_event(span, :exception, attributes), do: McpServer.OpenTelemetryTest.tell({:raised, span, attributes})
        def end_span(span), do: McpServer.OpenTelemetryTest.tell({:ended, span, self()})
      end
  ]

  def tell(message), do: send(:persistent_term.get(__MODULE__), message)

  setup do
    :persistent_term.put(__MODULE__, self())
    TelemetryStandIn.load(fn event, measured, data -> OpenTelemetry.handle(event, measured, data, options()) end)
    for {module, functions} <- @modules, do: Module.create(module, functions, Macro.Env.location(__ENV__))

    on_exit(fn ->
      for {module, _functions} <- @modules do
        :code.delete(module)
        :code.purge(module)
      end

      :persistent_term.erase({__MODULE__, :options})
      :persistent_term.erase(__MODULE__)
    end)
  end

  defp options, do: :persistent_term.get({__MODULE__, :options}, %{resource_uri: false, attributes: nil})

  defp run(fun, options \\ []), do: call_tool("run", %{"secret" => "42"}, [assigns: %{run: fun}] ++ options)

  setup context do
    # Attaches only to the events that `setup/1` attaches to.
    if context[:handled] != false do
      names = [[:call, :start], [:call, :stop], [:call, :exception], [:request, :exception], [:request, :cancelled]]
      TelemetryStandIn.attach_only(for name <- names, do: [:mcp_server | name])
    end

    :ok
  end

  test "a span around the handler, below the client's, with the attributes of the conventions" do
    fun = fn _, _ -> {:ok, [text(inspect(apply(:otel_tracer, :current_span_ctx, [])))]} end
    [{name, value}] = @parent
    {:ok, %{"content" => [%{"text" => current}]}} = run(fun, meta: %{name => value})
    assert_received {:started, span, parent, %{kind: :server, links: [], attributes: attributes}}
    assert {elem(span, 0), parent, current} == {"tools/call run", {:remote, @parent}, inspect(span)}
    assert is_binary(attributes["jsonrpc.request.id"])

    assert Map.delete(attributes, "jsonrpc.request.id") == %{
             "mcp.method.name" => "tools/call",
             "mcp.protocol.version" => "2026-07-28",
             "gen_ai.tool.name" => "run",
             "gen_ai.operation.name" => "execute_tool"
           }

    assert_received {:attributes, ^span, ending}
    assert ending == %{}
    assert_received {:ended, ^span, _pid}
    refute_received {:failed, _span, _text}
    assert :ets.tab2list(OpenTelemetry) == []
  end

  test "the span of the HTTP request is the parent, or a link beside the client's" do
    http = fn conn -> %{conn | private: Map.put(conn.private, :mcp_trace, {nil, {"POST", 1}})} end

    call = %{
      method: "tools/call",
      kind: :tool,
      name: "run",
      id: 1,
      session_id: "s",
      revision: "2025-11-25",
      transport: :http
    }

    call = Map.put(call, :conn, http.(%McpServer.Conn{}))

    for {trace, expected, links} <- [{[], {"POST", 1}, []}, {@parent, {:remote, @parent}, [{"POST", 1}]}] do
      OpenTelemetry.handle(
        [:mcp_server, :call, :start],
        %{monotonic_time: 0},
        Map.put(call, :trace_context, trace),
        options()
      )

      assert_received {:started, span, ^expected, %{links: ^links, attributes: attributes}}

      assert {attributes["mcp.session.id"], attributes["network.transport"]} ==
               {"043a718774c572bd8a25adbeb1bfcd5c", "tcp"}

      done = %{outcome: :ok, error_type: nil, error_code: nil}
      OpenTelemetry.handle([:mcp_server, :call, :stop], %{}, Map.merge(call, done), options())
      assert_received {:ended, ^span, _pid}
    end
  end

  test "a result that is an error, and an error" do
    {:ok, _result} = run(fn _, _ -> {:error, "no"} end)
    assert_received {:failed, span, "tool_error"}
    assert_received {:attributes, ^span, %{"error.type" => "tool_error"} = attributes} when map_size(attributes) == 1
    {:error, _error} = get_prompt("run", %{}, assigns: %{run: fn _, _ -> {:error, "no"} end})
    assert_received {:failed, {"prompts/get run", _ref} = span, "-32603"}
    assert_received {:attributes, ^span, %{"error.type" => "-32603", "rpc.response.status_code" => "-32603"}}
  end

  test "an exception is recorded without data" do
    capture_log(fn -> {:ok, _result} = run(fn _, _ -> raise ArgumentError, ~s(cannot parse "secret") end) end)
    assert_received {:raised, span, attributes}
    assert attributes["exception.type"] == "ArgumentError"
    assert attributes["exception.message"] == ~s(cannot parse "...")
    assert attributes["exception.stacktrace"] =~ "open_telemetry_test.exs"
    assert_received {:failed, ^span, "error"}
    assert_received {:ended, ^span, _pid}
  end

  @tag :capture_log
  test "the span of a call that is ended from outside ends with it" do
    watch_log()
    {client, span} = entered()
    Wire.expire(client)
    assert_receive {:attributes, ^span, %{"error.type" => "timeout"}}
    assert_receive {:ended, ^span, _pid}
    # The row is deleted before the span ends.
    assert :ets.tab2list(OpenTelemetry) == []
    log_until("timed out after")
  end

  # A client whose only call never ends, and the call's span.
  defp entered do
    test = self()

    wait = fn _, _ ->
      send(test, {:entered, self()})
      Process.sleep(:infinity)
    end

    client = Wire.open(wait, revision: "2025-11-25")
    Wire.tool(client, 1)
    assert_receive {:entered, _pid}
    assert_received {:started, span, :undefined, _options}
    {client, span}
  end

  test "the span of a call whose connection is killed ends with it" do
    Process.flag(:trap_exit, true)
    {client, span} = entered()
    # The connection reports the call before it handles the next message.
    :sys.get_state(client.connection)
    Process.exit(client.connection, :kill)
    assert_receive {:ended, ^span, _pid}
    assert_received {:attributes, ^span, %{"error.type" => "cancelled"}}
    assert_received {:failed, ^span, "cancelled"}
    assert :ets.tab2list(OpenTelemetry) == []
  end

  test "the URI and own attributes only where they are wanted" do
    read = fn ->
      read_resource("run://rows/7",
        assigns: %{run: fn _, _ -> {:ok, %McpServer.Resource.Content{uri: "run://rows/7", text: "x"}} end}
      )
    end

    {:ok, _result} = read.()
    assert_received {:started, _span, _parent, %{attributes: attributes}}
    refute is_map_key(attributes, "mcp.resource.uri")

    :persistent_term.put({__MODULE__, :options}, %{
      resource_uri: true,
      attributes: &%{"app.router" => inspect(&1.router)}
    })

    {:ok, _result} = read.()
    assert_received {:started, _span, _parent, %{attributes: attributes}}
    assert attributes["mcp.resource.uri"] == "run://rows/7"
    assert attributes["app.router"] == "McpServer.RuntimeRouter"
  end

  test "a task continues the trace of its call" do
    test = self()

    run = fn _, _ ->
      send(test, {:current, apply(:otel_tracer, :current_span_ctx, [])})
      {:ok, []}
    end

    options = [client_capabilities: %{"extensions" => %{"io.modelcontextprotocol/tasks" => %{}}}, assigns: %{run: run}]
    {:ok, %{"resultType" => "task"}} = McpServer.Test.call_tool(LaterRouter, "later", %{}, options)
    assert_receive {:started, span, :undefined, _options}
    assert_receive {:current, ^span}
  end

  test "own attributes that fail leave the span without them" do
    for fun <- [fn conn -> %{"user" => conn.principal.id} end, fn _conn -> :none end] do
      :persistent_term.put({__MODULE__, :options}, %{resource_uri: false, attributes: fun})
      log = capture_log(fn -> {:ok, _result} = run(fn _, _ -> {:ok, []} end) end)
      assert log =~ "attributes: of McpServer.OpenTelemetry.setup/1 failed"
      assert_received {:started, span, :undefined, %{attributes: %{"gen_ai.tool.name" => "run"}}}
      assert_received {:ended, ^span, _pid}
    end
  end

  describe "setup/1" do
    test "refuses options that there are not" do
      message = ~r/\AMcpServer.OpenTelemetry.setup\/1 takes resource_uri: true or false/

      for options <- [[resource_uri: 1], [attributes: %{}]],
          do: assert_raise(ArgumentError, message, fn -> OpenTelemetry.setup(options) end)

      assert_raise ArgumentError, fn -> OpenTelemetry.setup(other: 1) end
    end

    test "says which packages are missing" do
      TelemetryStandIn.stop()

      assert_raise RuntimeError, ~r/needs the packages opentelemetry_api and telemetry/, fn ->
        OpenTelemetry.setup()
      end
    end
  end
end
