defmodule McpServer.TelemetryTest do
  # A stand-in for the package is loaded while these tests run, so they are not async.
  use ExUnit.Case, async: false
  use McpServer.Test, router: McpServer.RuntimeRouter

  import McpServer.Controller
  import McpServer.HttpCase, only: [eventually: 1]
  import McpServer.TestLog

  alias McpServer.{Processes, Telemetry, TelemetryStandIn, Wire}

  @call_keys [:id, :kind, :logger_metadata, :method, :name, :pid, :principal, :request_id] ++
               [:revision, :router, :session_id, :transport]

  setup do
    test = self()
    TelemetryStandIn.load(fn event, measurements, metadata -> send(test, {event, measurements, metadata}) end)
  end

  defp run(fun, options \\ []), do: call_tool("run", %{"secret" => "42"}, [assigns: %{run: fun}] ++ options)

  test "without the package nothing is emitted, and nothing put together" do
    assert Telemetry.enabled?()
    :code.delete(:telemetry)
    :code.purge(:telemetry)
    refute Telemetry.enabled?()
    assert Telemetry.execute([:discarded], %{count: 1}, %{}) == :ok
    assert {:ok, _result} = run(fn _, _ -> {:ok, []} end)
    refute_received {[:mcp_server | _], _, _}
  end

  # Earlier, each event logged a warning.
  test "with the package on the code path but not started, nothing is emitted" do
    TelemetryStandIn.stop()
    refute Telemetry.enabled?()
    assert {:ok, _result} = run(fn _, _ -> {:ok, []} end)
    refute_received {[:mcp_server | _], _, _}
  end

  test "arguments that were repaired are counted, and arguments that fit are not" do
    for {arguments, count, kinds} <- [
          {%{"seats" => "2"}, 1, [:number]},
          {%{"seats" => "2", "rows" => "[1, 2]", "more" => "3"}, 4, [:json, :list, :number]}
        ] do
      {:ok, %{"isError" => false}} = McpServer.Test.call_tool(McpServer.MendingRouter, "book", arguments)
      assert_received {[:mcp_server, :request, :start], _measurements, call}
      assert_received {[:mcp_server, :arguments, :repaired], %{count: ^count}, repaired}
      assert {Enum.sort(repaired.kinds), Map.delete(repaired, :kinds)} == {kinds, call}
    end

    {:ok, %{"isError" => false}} = McpServer.Test.call_tool(McpServer.MendingRouter, "book", %{"seats" => 2})
    {:ok, %{"isError" => true}} = McpServer.Test.call_tool(McpServer.MendingRouter, "book", %{"seats" => "two"})
    refute_received {[:mcp_server, :arguments, :repaired], _measurements, _metadata}
  end

  test "a call: start, stop, and how it ended" do
    for {answer, outcome} <- [{{:ok, []}, :ok}, {{:error, "no"}, :tool_error}] do
      {:ok, _result} = run(fn _, _ -> answer end)
      assert_received {[:mcp_server, :request, :start], started, call}
      assert %{monotonic_time: at, system_time: _, queue_time: queue} = started
      assert queue >= 0
      assert Enum.sort(Map.keys(call)) == @call_keys

      assert %{
               router: McpServer.RuntimeRouter,
               transport: :test,
               revision: "2026-07-28",
               method: "tools/call",
               kind: :tool,
               name: "run"
             } = call

      assert_received {[:mcp_server, :request, :stop], %{duration: duration, monotonic_time: ended}, stopped}
      assert duration == ended - at
      assert stopped == Map.merge(call, %{outcome: outcome, error_code: nil})
    end
  end

  @tag req: "T9"
  test "the processes that a handler leaves behind are counted" do
    test = self()

    leave = fn _, _ ->
      send(test, {:left, for(_ <- 1..1_000, do: spawn(fn -> Process.sleep(:infinity) end))})
      {:ok, []}
    end

    # More processes of the VM may start or end during a measurement.
    eventually(fn ->
      {:ok, _result} = run(leave)
      assert_received {[:mcp_server, :request, :start], %{processes: before}, _call}
      assert_received {[:mcp_server, :request, :stop], %{processes: now}, _call}
      assert_received {:left, pids}
      for pid <- pids, do: Process.exit(pid, :kill)
      Enum.each(pids, &Processes.gone/1)
      (now - before) in 990..1_010
    end)
  end

  test "outcomes: an error, a request for input" do
    {:error, _error} = get_prompt("run", %{}, assigns: %{run: fn _, _ -> {:error, "no"} end})
    assert_received {[:mcp_server, :request, :stop], _, %{outcome: :error, kind: :prompt, name: "run"}}
    {:input_required, _} = run(fn _, _ -> input_required(a: list_roots()) end)
    assert_received {[:mcp_server, :request, :stop], _, %{outcome: :input_required}}
  end

  @tag :capture_log
  test "a failure: its kind, and the id that log and answer carry" do
    failures = [
      error: fn _, _ -> raise "secret" end,
      throw: fn _, _ -> throw("secret") end,
      exit: fn _, _ -> exit("secret") end,
      killed: fn _, _ -> Process.exit(self(), :kill) end,
      invalid_result: fn _, _ -> :secret end
    ]

    watch_log()

    for {kind, fun} <- failures do
      assert {:ok, %{"content" => [%{"text" => text}]}} = run(fun)

      assert_received {[:mcp_server, :request, :exception], %{duration: _},
                       %{kind: ^kind, request_kind: :tool, error_id: id}}

      assert text =~ id
      assert log_until("(error id #{id})") =~ ~s(MCP tools/call "run" failed)
    end

    call_tool("brief", %{}, assigns: %{run: fn _, _ -> Process.sleep(:infinity) end})
    assert_received {[:mcp_server, :request, :exception], _, %{kind: :timeout, error_id: id}}
    assert log_until("(error id #{id})") =~ ~s(MCP tools/call "brief" failed)
  end

  test "no payload in any metadata: a resource is its declared name, not its URI" do
    {:error, _} = read_resource("run://rows/secret", assigns: %{run: fn _, _ -> {:error, :not_found} end})
    {:ok, _result} = run(fn _, _ -> {:ok, [text("secret")]} end)
    assert_received {[:mcp_server, :request, :stop], _, %{name: "row", kind: :resource_template}}
    {:messages, messages} = Process.info(self(), :messages)
    refute inspect(messages, limit: :infinity) =~ "secret"
  end

  describe "events in the process of a call" do
    test "start and stop come around the handler, with who calls and what it got" do
      test = self()
      fun = fn _, _ -> {:ok, [text(inspect(self()))]} end
      TelemetryStandIn.handle(fn event, _measured, data -> send(test, {event, self(), data}) end)
      meta = %{"traceparent" => "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
      {:ok, %{"content" => [%{"text" => pid}]}} = run(fun, meta: meta, client_info: %{"name" => "c", "version" => "1"})
      assert_received {[:mcp_server, :call, :start], ran_in, started}
      assert_received {[:mcp_server, :call, :stop], ^ran_in, stopped}
      assert {inspect(ran_in), started.pid} == {pid, ran_in}
      assert Enum.sort(@call_keys) -- Map.keys(started) == []
      assert started.request_id == Integer.to_string(started.id)
      assert {started.client, started.session_id} == {%{"name" => "c", "version" => "1"}, nil}
      assert started.trace_context == [{"traceparent", meta["traceparent"]}]
      assert started.conn.called.arguments == %{"secret" => "42"}
      refute inspect(started.conn) =~ "42"
      about = %{outcome: :ok, error_type: nil, error_code: nil, spilled: false}
      assert Map.take(stopped, Map.keys(about)) == about
    end

    test "bytes of the answer and of its content" do
      {:ok, result} = run(fn _, _ -> {:ok, [text("four"), McpServer.Tool.Content.image("png", "image/png")]} end)
      assert %{"content" => [_text, %{"data" => "cG5n"}]} = result
      assert_received {[:mcp_server, :call, :stop], %{result_bytes: bytes, content_bytes: 7}, _}
      assert bytes > 100
    end

    test "a failure has its reason without data" do
      capture_log(fn ->
        {:ok, _result} = run(fn _, _ -> raise KeyError, key: :a, term: %{token: "secret"} end)
      end)

      assert_received {[:mcp_server, :call, :exception], %{duration: _}, %{kind: :error, error_type: "error"} = failed}
      assert {%RuntimeError{message: text}, [_ | _]} = failed.crash_reason
      assert text == "** (KeyError) key :a not found in: %{token: #String<6 bytes>}"
    end

    test "the code of a JSON-RPC error" do
      {:error, %{"code" => code}} = get_prompt("run", %{}, assigns: %{run: fn _, _ -> {:error, "no"} end})
      assert_received {[:mcp_server, :call, :stop], _, %{outcome: :error, error_code: ^code, error_type: type}}
      assert_received {[:mcp_server, :operation, :stop], %{duration: _}, %{error_code: ^code, error_type: ^type}}
      assert {code, type} == {-32603, "-32603"}
    end

    @tag :capture_log
    test "a call that is ended from outside has one end, and no stop of its own" do
      watch_log()
      {client, pid} = entered()
      Wire.expire(client)
      assert_receive {[:mcp_server, :request, :exception], _, %{kind: :timeout, pid: ^pid, error_id: id}}
      assert_receive {[:mcp_server, :operation, :stop], _, %{pid: ^pid, error_type: "timeout"}}
      assert_received {[:mcp_server, :call, :start], _, %{pid: ^pid}}
      assert Wire.said(Wire.next(client)) =~ id
      assert log_until("(error id #{id})") =~ "timed out after"
      McpServer.Test.disconnect(client)
      assert_no_other_end(client, pid)
      refute_received {[:mcp_server, :call, :exception], _, %{pid: ^pid}}
    end

    # A client, and the process of its only call, which never ends.
    defp entered(options \\ []) do
      test = self()

      wait = fn _, _ ->
        send(test, {:entered, self()})
        Process.sleep(:infinity)
      end

      client = Wire.open(wait, options)
      Wire.tool(client, 1)
      assert_receive {:entered, pid}
      {client, pid}
    end

    # The first end has been received, and the connection is ending. These processes could report another one.
    defp assert_no_other_end(client, call) do
      for pid <- [call, client.connection], do: Processes.reaped(pid)
      refute_received {[:mcp_server, :operation, :stop], _, %{pid: ^call}}
      refute_received {[:mcp_server, :call, :stop], _, %{pid: ^call}}
    end

    @tag :capture_log
    test "a call whose connection is killed, or stops waiting for it, has one end" do
      Process.flag(:trap_exit, true)
      test = self()

      TelemetryStandIn.handle(fn event, measured, about ->
        send(test, {event, Map.put(measured, :by, self()), about})
      end)

      for {stop, by_itself?} <- [
            {&Process.exit(&1.connection, :kill), false},
            {&send(&1.connection, {:mcp_client_in, &1.reference, :eof}), true},
            {&Process.exit(&1.connection, :boom), true}
          ] do
        {client, pid} = entered(revision: "2025-11-25", drain: 20)
        assert_receive {[:mcp_server, :request, :start], _, %{pid: ^pid} = call}
        stop.(client)
        cancelled = Map.put(call, :error_code, nil)
        assert_receive {[:mcp_server, :request, :cancelled], %{duration: _, by: by}, ^cancelled}
        assert by == client.connection == by_itself?
        ended = Map.put(cancelled, :error_type, "cancelled")
        assert_receive {[:mcp_server, :operation, :stop], %{duration: _}, ^ended}
        assert_no_other_end(client, pid)
      end
    end

    test "nothing is put together where nobody is attached" do
      TelemetryStandIn.attach_only([[:mcp_server, :session, :stop]])
      {:ok, _result} = run(fn _, _ -> {:ok, inspect(Process.get_keys())} end)
      refute_received {[:mcp_server, :call, _], _, _}
      refute_received {[:mcp_server, :request, _], _, _}
      refute_received {[:mcp_server, :operation, _], _, _}
    end
  end

  describe "measure/0" do
    test "says what there is, and how the core has answered alone" do
      client = connect(revision: "2025-11-25", assigns: %{})
      before = core()

      for method <- ["ping", "tools/list", "no/such"],
          do: %{"id" => 1} = request(%{"jsonrpc" => "2.0", "id" => 1, "method" => method}, on: client)

      later = core()

      assert for({name, count} <- later, count != before[name], do: {name, count - before[name]}) |> Enum.sort() ==
               [list: 1, method_not_found: 1, ping: 1]

      assert_received {[:mcp_server, :usage], %{calls: _, listeners: _, sessions: _, tasks: _}, %{}}
    end

    test "counts the calls that run" do
      # A call of an earlier test may end between the two measurements.
      eventually(fn ->
        others = calls(Telemetry.measure())
        {:ok, _result} = run(fn _, _ -> {Telemetry.measure(), []} end)
        calls(:ok) == others + 1
      end)
    end

    defp calls(:ok) do
      assert_received {[:mcp_server, :usage], %{calls: calls}, %{}}
      calls
    end

    defp core do
      :ok = Telemetry.measure()
      assert_received {[:mcp_server, :core], counts, %{}}
      counts
    end
  end

  describe "attach_default_logger/1" do
    test "its line has names and the outcome, and the Logger metadata of the call's process" do
      line = fn call ->
        test = self()
        finish = subscribe(&if(&1.meta.pid == test, do: send(test, {:line, &1})))

        McpServer.Telemetry.DefaultLogger.handle(
          [],
          %{duration: System.convert_time_unit(2, :millisecond, :native)},
          call,
          :warning
        )

        finish.()
        assert_received {:line, %{level: :warning, msg: {:string, text}, meta: meta}}
        {IO.chardata_to_string(text), meta[:request_id], meta[:tenant]}
      end

      metadata = %{request_id: "7", tenant: "acme"}

      assert line.(%{method: "tools/call", name: "run", error_type: nil, logger_metadata: metadata}) ==
               {~s(MCP tools/call "run" ok in 2.0 ms), "7", "acme"}

      assert line.(%{method: "tools/list", name: nil, error_type: "cancelled", logger_metadata: %{}}) ==
               {"MCP tools/list cancelled in 2.0 ms", nil, nil}
    end

    test "refuses a level that there is not" do
      assert_raise ArgumentError, ~r/\Alevel: is one of .*, got: :loud\z/, fn ->
        Telemetry.attach_default_logger(level: :loud)
      end
    end

    test "needs telemetry" do
      TelemetryStandIn.stop()
      assert_raise RuntimeError, ~r/needs the package telemetry, started/, fn -> Telemetry.attach_default_logger() end
      assert Telemetry.detach_default_logger() == {:error, :not_found}
    end
  end

  describe "metrics/1" do
    test "has the names, units and buckets of the conventions" do
      stand_in_metrics()

      assert [operation, session | values] = Telemetry.metrics()

      assert {operation.name, operation.event_name} ==
               {"mcp.server.operation.duration", [:mcp_server, :operation, :stop]}

      assert {session.name, session.event_name} == {"mcp.server.session.duration", [:mcp_server, :session, :stop]}
      assert operation.unit == {:native, :second}
      buckets = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]
      assert operation.reporter_options == [buckets: buckets, bucket_size: 1]
      assert session.tags == [:mcp_protocol_version, :network_transport]
      assert [:mcp_server, :core, :ping] in Enum.map(values, & &1.name)

      call = %{
        method: "tools/call",
        name: "run",
        revision: "2025-11-25",
        transport: :stdio,
        error_type: "-32602",
        error_code: -32602
      }

      assert operation.tag_values.(call) == %{
               mcp_method_name: "tools/call",
               gen_ai_tool_name: "run",
               gen_ai_operation_name: "execute_tool",
               gen_ai_prompt_name: "",
               mcp_protocol_version: "2025-11-25",
               network_transport: "pipe",
               error_type: "-32602",
               rpc_response_status_code: "-32602"
             }

      assert Enum.sort(Map.keys(operation.tag_values.(call))) == Enum.sort(operation.tags)
      [dotted | _rest] = Telemetry.metrics(tags: :dots)
      assert hd(dotted.tags) == :"mcp.method.name"
    end

    test "refuses other tags, and says which package is missing" do
      assert_raise ArgumentError, "tags: is :underscores or :dots, got: :none", fn -> Telemetry.metrics(tags: :none) end
      assert_raise RuntimeError, ~r/needs the package telemetry_metrics/, fn -> Telemetry.metrics() end
    end

    defp stand_in_metrics do
      Module.create(
        Elixir.Telemetry.Metrics,
        quote do
          def distribution(name, options), do: Map.new([name: name] ++ options)
          def last_value(name), do: %{name: name}
        end,
        Macro.Env.location(__ENV__)
      )

      on_exit(fn ->
        :code.delete(Elixir.Telemetry.Metrics)
        :code.purge(Elixir.Telemetry.Metrics)
      end)
    end
  end

  test "a cancelled call" do
    client = Wire.open(fn _, _ -> Process.sleep(:infinity) end)
    Wire.tool(client, 1)
    assert_receive {[:mcp_server, :request, :start], _, _}
    Wire.tell(client, "notifications/cancelled", %{"requestId" => 1})
    assert_receive {[:mcp_server, :request, :cancelled], %{duration: _}, %{name: "run"}}
  end

  test "a session, and the transport's end" do
    client = connect(revision: "2025-06-18", assigns: %{})
    assert_received {[:mcp_server, :session, :start], %{system_time: _}, %{revision: "2025-06-18", transport: :test}}
    McpServer.Test.disconnect(client)
    assert_received {[:mcp_server, :session, :stop], %{duration: _}, %{revision: "2025-06-18", reason: :eof}}
  end

  test "input: asked and answered" do
    fun = fn conn, _ -> if input(conn, "a"), do: {:ok, []}, else: input_required(a: list_roots(), b: list_roots()) end
    {:ok, _result} = run(fun, revision: "2025-11-25", answers: %{"roots/list" => %{"roots" => []}})
    assert_received {[:mcp_server, :input, :start], %{count: 2}, %{revision: "2025-11-25"}}
    assert_received {[:mcp_server, :input, :stop], %{duration: _}, %{outcome: :ok}}
  end

  test "streams" do
    client = Wire.open(fn _, _ -> {:ok, []} end)
    Wire.ask(client, 1, "subscriptions/listen", %{"notifications" => %{}})
    assert_receive {[:mcp_server, :subscription, :start], %{count: 1}, %{transport: :test}}
    Wire.tell(client, "notifications/cancelled", %{"requestId" => 1})
    assert_receive {[:mcp_server, :subscription, :stop], %{count: 1}, _}
  end

  test "what is discarded is counted" do
    stale = fn conn, _ ->
      for n <- [2, 1], do: progress(conn, n)
      log(conn, :debug, "x")
      {:ok, []}
    end

    client = connect(revision: "2025-11-25", progress_token: 1, assigns: %{run: stale})
    {:ok, _result} = call_tool("run", %{}, on: client)
    assert_received {[:mcp_server, :discarded], %{count: 1}, %{what: :stale_progress}}
    assert_received {[:mcp_server, :discarded], %{count: 1}, %{what: :filtered_log}}
    McpServer.Test.Client.push(client, %{"jsonrpc" => "2.0", "id" => 99, "result" => %{}})
    assert_receive {[:mcp_server, :discarded], %{count: 1}, %{what: :unknown_response}}
  end

  describe "dual responses" do
    import McpServer.DualResponses, only: [server: 0, server: 1, create!: 2, create!: 3, clock: 0]

    alias McpServer.DualResponse
    alias McpServer.DualResponse.Store.ETS

    test "created, fetched, pinned and deleted" do
      name = server()
      id = create!(name, 20).resource_id

      assert_received {[:mcp_server, :dual_response, :created], %{rows: 20, bytes: bytes},
                       %{server: ^name, store: ETS, persist: :query}}

      assert bytes == DualResponse.get_resource(name, id).bytes
      {:ok, _page} = DualResponse.fetch(name, id, %{limit: 5})

      assert_received {[:mcp_server, :dual_response, :fetched], %{rows: 5, duration: duration},
                       %{server: ^name, persist: :query}}

      assert duration > 0
      assert DualResponse.pin_resource(name, id)
      assert_received {[:mcp_server, :dual_response, :pinned], %{count: 1}, %{server: ^name}}
      assert DualResponse.delete_resource(name, id)
      assert_received {[:mcp_server, :dual_response, :deleted], %{count: 1}, %{server: ^name, reason: :requested}}
      refute DualResponse.delete_resource(name, id)
      refute_received {[:mcp_server, :dual_response, _event], _measured, _metadata}
    end

    @tag req: "Q5"
    test "denied, which names neither the resource nor who asked" do
      name = server()
      id = create!(name, 1, tenant: "acme-secret", subject: "ada-secret").resource_id
      assert DualResponse.get_resource(name, id, %{tenant: "acme-secret", subject: "eve-secret"}) == nil
      assert_received {[:mcp_server, :dual_response, :denied], %{count: 1}, metadata}
      assert metadata == %{server: name, store: ETS}
      assert DualResponse.get_resource(name, "unknown") == nil
      refute_received {[:mcp_server, :dual_response, :denied], _measured, _metadata}
    end

    test "expired, by the cleanup and to make room; evicted" do
      {clock, pass} = clock()
      name = server(clock: clock, max_resources: 3)
      for _ <- 1..3, do: create!(name, 1)
      pass.(900_000)
      send(name, :sweep)
      :sys.get_state(name)
      assert_received {[:mcp_server, :dual_response, :expired], %{count: 3}, %{server: ^name}}
      for _ <- 1..3, do: create!(name, 1)
      pass.(900_000)
      create!(name, 1)
      assert_received {[:mcp_server, :dual_response, :expired], %{count: 3}, %{server: ^name}}
      refute_received {[:mcp_server, :dual_response, :deleted], _measured, _metadata}
      for _ <- 1..3, do: create!(name, 1)
      assert_received {[:mcp_server, :dual_response, :deleted], %{count: 1}, %{server: ^name, reason: :evicted}}
    end
  end

  test "every event is in the list for attach_many" do
    assert length(Telemetry.events()) == 27
    assert Enum.all?(Telemetry.events(), &match?([:mcp_server | _], &1))
  end
end
