defmodule McpServer.Protocol.TasksTest do
  # Q6: calls as tasks. 2025-11-25 has them in its core, 2026-07-28 as an extension. Not async: all tests share the
  # number of tasks, and several tests read the log.
  use ExUnit.Case, async: false

  import McpServer.TestLog
  import McpServer.Controller
  import McpServer.HttpCase, only: [eventually: 1]
  import McpServer.Wire, only: [ask: 4, tell: 3, next: 1, silent?: 1]

  alias McpServer.{FromAddress, HttpRequests, HttpSession, Processes}
  alias McpServer.Test.Client

  @session "2025-11-25"
  @stateless "2026-07-28"
  @eras [@session, @stateless]
  @extension "io.modelcontextprotocol/tasks"
  @knows_tasks %{"elicitation" => %{}, "extensions" => %{@extension => %{}}}
  @form %{"type" => "object", "properties" => %{"name" => %{"type" => "string"}}, "required" => ["name"]}
  @accept %{"action" => "accept", "content" => %{"name" => "Ada"}}
  @timestamp ~r/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

  defmodule Handlers do
    @moduledoc false
    def run(conn, arguments), do: conn.assigns.run.(conn, arguments)
  end

  defmodule Router do
    @moduledoc false
    use McpServer.Router, name: "tasks"

    tool "plain", "Never a task", Handlers, :run
    tool "may", "May be a task", Handlers, :run, task_support: :optional, timeout: 500
    tool "later", "Becomes a task later", Handlers, :run, task_support: :optional, task_start: :handler
    tool "must", "Must be a task", Handlers, :run, task_support: :required

    tool "sum", "May be a task, and declares what it returns", Handlers, :run, task_support: :optional do
      output_field "sum", "The sum", :integer, required: true
    end

    tool "typed", "May be a task, and declares what it takes", Handlers, :run, task_support: :optional do
      input_field "n", "A number", :integer, required: true
    end
  end

  defp open(fun, revision, options \\ []) do
    defaults = [revision: revision, assigns: %{run: fun}, client_capabilities: @knows_tasks]
    Client.open(Router, Keyword.merge(defaults, options))
  end

  defp call(client, tool, more \\ %{"task" => %{}}),
    do: Client.call(client, "tools/call", Map.merge(%{"name" => tool, "arguments" => %{}}, more))

  defp create(client, tool \\ "may", more \\ %{"task" => %{}}) do
    {:ok, result} = call(client, tool, more)
    result["task"] || result
  end

  defp tasks(client, verb, id, more \\ %{}), do: Client.call(client, "tasks/" <> verb, Map.put(more, "taskId", id))

  defp get(client, id) do
    {:ok, task} = tasks(client, "get", id)
    task
  end

  # The task after it has stopped working.
  defp settled(client, id, statuses \\ ~w(completed failed cancelled)) do
    task = get(client, id)

    if task["status"] in statuses do
      task
    else
      Process.sleep(5)
      settled(client, id, statuses)
    end
  end

  defp gated do
    test = self()

    fn _conn, _arguments ->
      send(test, {:entered, self()})

      receive do
        answer -> answer
      end
    end
  end

  describe "what the server says of itself" do
    test "2025-11-25: the capability, and the tools' support" do
      client = Client.open(Router, revision: @session, initialize: false)

      params = %{
        "protocolVersion" => @session,
        "capabilities" => %{},
        "clientInfo" => %{"name" => "c", "version" => "1"}
      }

      {:ok, %{"capabilities" => capabilities}} = Client.call(client, "initialize", params)

      assert capabilities["tasks"] == %{"list" => %{}, "cancel" => %{}, "requests" => %{"tools" => %{"call" => %{}}}}
      refute is_map_key(capabilities, "extensions")
      {:ok, %{"tools" => tools}} = Client.call(client, "tools/list", %{})

      assert for(tool <- tools, do: tool["execution"]["taskSupport"]) == [
               nil,
               "optional",
               "optional",
               "required",
               "optional",
               "optional"
             ]
    end

    test "2026-07-28: the extension, and nothing in the list" do
      client = Client.open(Router, revision: @stateless)
      {:ok, %{"capabilities" => capabilities}} = Client.call(client, "server/discover", %{})

      assert capabilities["extensions"] == %{@extension => %{}}
      refute is_map_key(capabilities, "tasks")
      {:ok, %{"tools" => tools}} = Client.call(client, "tools/list", %{})
      refute Enum.any?(tools, &is_map_key(&1, "execution"))
    end

    test "a router without such a tool has no tasks" do
      client = Client.open(McpServer.RuntimeRouter, revision: @stateless, client_capabilities: @knows_tasks)
      assert {:error, %{"code" => -32601}} = tasks(client, "get", "x")
    end
  end

  describe "which calls become tasks" do
    test "2025-11-25: those that ask, where the tool allows it" do
      client = open(fn _, _ -> {:ok, [text("done")]} end, @session)

      assert {:ok, %{"task" => %{"status" => "working"}}} = call(client, "may")
      assert {:ok, %{"content" => [_]}} = call(client, "may", %{})
      assert {:ok, %{"task" => _}} = call(client, "must")
      assert {:error, %{"code" => -32601}} = call(client, "must", %{})
      assert {:error, %{"code" => -32601}} = call(client, "plain")
      assert {:ok, %{"content" => [_]}} = call(client, "plain", %{})
    end

    test "2025-11-25: the ttl is a number of milliseconds" do
      client = open(fn _, _ -> {:ok, []} end, @session)

      assert %{"ttl" => 60_000, "pollInterval" => 1_000} = create(client, "may", %{"task" => %{"ttl" => 60_000}})
      assert %{"ttl" => 300_000} = create(client)
      assert %{"ttl" => 3_600_000} = create(client, "may", %{"task" => %{"ttl" => 3_600_001}})

      for wrong <- [%{"ttl" => -1}, %{"ttl" => 1.5}, %{"ttl" => "1"}, 1] do
        assert {:error, %{"code" => -32602}} = call(client, "may", %{"task" => wrong})
      end
    end

    test "2026-07-28: all of a tool that may, for clients that declare the extension" do
      client = open(fn _, _ -> {:ok, [text("done")]} end, @stateless)

      assert {:ok, %{"resultType" => "task"} = task} = call(client, "may", %{})
      assert %{"taskId" => id, "status" => "working", "ttlMs" => 300_000, "pollIntervalMs" => 1_000} = task
      assert byte_size(id) >= 22
      assert task["createdAt"] =~ @timestamp and task["lastUpdatedAt"] =~ @timestamp
      for key <- ~w(task ttl pollInterval result error inputRequests requestState), do: refute(is_map_key(task, key))

      assert {:ok, %{"resultType" => "complete", "content" => [_]}} = call(client, "plain")
    end

    test "2026-07-28: without the extension a call is a call, or refused" do
      client = open(fn _, _ -> {:ok, [text("done")]} end, @stateless, client_capabilities: %{"extensions" => %{}})

      assert {:ok, %{"resultType" => "complete", "content" => [_]}} = call(client, "may")
      required = %{"requiredCapabilities" => %{"extensions" => %{@extension => %{}}}}
      assert {:error, %{"code" => -32021, "data" => ^required}} = call(client, "must")

      for verb <- ~w(get cancel), do: assert({:error, %{"code" => -32021}} = tasks(client, verb, "x"))
      assert {:error, %{"code" => -32021}} = tasks(client, "update", "x", %{"inputResponses" => %{}})
      listen = %{"notifications" => %{"taskIds" => ["x"]}}
      assert {:error, %{"code" => -32021}} = Client.call(client, "subscriptions/listen", listen)
    end

    test "2025-11-25: a client that asks for a task gets a task or an error, never a result" do
      client = open(fn _, _ -> {:ok, "done"} end, @session)
      params = %{"name" => "typed", "arguments" => %{"n" => "one"}, "task" => %{}}

      assert {:error, %{"code" => -32602, "message" => message, "data" => %{"problems" => [problem]}}} =
               Client.call(client, "tools/call", params)

      assert message == "Invalid params: the arguments do not fit the tool's input schema"
      assert problem["pointer"] == "/n"

      params = Map.delete(params, "task")
      assert {:ok, %{"isError" => true}} = Client.call(client, "tools/call", params)
    end

    test "2025-11-25: a handler that makes no task of its call has made one all the same" do
      for {returned, status, message} <- [
            {{:ok, [text("done")]}, "completed", nil},
            {{:error, "The user does not want it"}, "failed", "The user does not want it"}
          ] do
        client = open(fn _, _ -> returned end, @session)
        %{"taskId" => id} = create(client, "later")
        task = settled(client, id)
        assert {task["status"], task["statusMessage"]} == {status, message}
        assert {:ok, %{"content" => [%{"text" => text}], "isError" => error?}} = tasks(client, "result", id)
        assert {text, error?} == {message || "done", message != nil}
      end
    end

    test "2026-07-28: numbers of any size beside the extension change nothing" do
      extensions = %{"com.example/x" => %{"n" => Integer.pow(10, 400)}, @extension => %{}}

      client =
        open(fn _, _ -> {:ok, [text("done")]} end, @stateless, client_capabilities: %{"extensions" => extensions})

      assert {:ok, %{"resultType" => "task"}} = call(client, "may")

      for no <- [nil, true, "{}", []] do
        client = open(fn _, _ -> {:ok, []} end, @stateless, client_capabilities: %{"extensions" => %{@extension => no}})

        assert {:error, %{"code" => -32021}} = call(client, "must")
      end
    end

    test "older revisions know no tasks" do
      client = open(fn _, _ -> {:ok, [text("done")]} end, "2025-06-18")
      assert {:ok, %{"content" => [_]}} = call(client, "may")
      assert {:error, %{"code" => -32601}} = tasks(client, "get", "x")
    end

    test "each era has the other's methods not" do
      stateless = open(fn _, _ -> {:ok, []} end, @stateless)
      for verb <- ~w(result list), do: assert({:error, %{"code" => -32601}} = tasks(stateless, verb, "x"))
      session = open(fn _, _ -> {:ok, []} end, @session)
      assert {:error, %{"code" => -32601}} = tasks(session, "update", "x", %{"inputResponses" => %{}})
    end
  end

  describe "a task that ends" do
    test "2026-07-28: its result is in tasks/get" do
      client = open(gated(), @stateless)
      %{"taskId" => id} = create(client)
      assert_receive {:entered, runner}
      assert %{"status" => "working", "resultType" => "complete", "taskId" => ^id} = working = get(client, id)
      refute is_map_key(working, "result")

      send(runner, {:ok, [text("done")]})
      assert %{"status" => "completed", "result" => result} = settled(client, id)
      content = [%{"type" => "text", "text" => "done"}]
      assert result == %{"resultType" => "complete", "content" => content, "isError" => false}
    end

    test "2025-11-25: tasks/result waits for it, and says what the call would have" do
      client = open(gated(), @session)
      %{"taskId" => id} = create(client)
      assert_receive {:entered, runner}
      ask(client, 1, "tasks/result", %{"taskId" => id})
      ask(client, 2, "tasks/result", %{"taskId" => id})
      assert silent?(client)
      send(runner, {:ok, [text("done")]})

      for _waiting <- 1..2 do
        assert %{"result" => result} = next(client)
        assert %{"content" => [%{"text" => "done"}], "isError" => false, "_meta" => meta} = result
        assert meta == %{"io.modelcontextprotocol/related-task" => %{"taskId" => id}}
      end

      assert %{"status" => "completed"} = get(client, id)
    end

    test "with an error the model should read" do
      for {revision, status} <- [{@session, "failed"}, {@stateless, "completed"}] do
        client = open(fn _, _ -> {:error, "no such film"} end, revision)
        %{"taskId" => id} = create(client)
        assert %{"status" => ^status} = task = settled(client, id)

        if revision == @stateless,
          do: assert(%{"isError" => true, "content" => [%{"text" => "no such film"}]} = task["result"]),
          else: assert({:ok, %{"isError" => true}} = tasks(client, "result", id))
      end
    end

    test "with a JSON-RPC error" do
      error = McpServer.JsonRpc.Error.new(code: -32000, message: "The studio is closed", data: %{"until" => 9})

      for revision <- @eras do
        client = open(fn _, _ -> {:error, error} end, revision)
        %{"taskId" => id} = create(client)
        wire = %{"code" => -32000, "message" => "The studio is closed", "data" => %{"until" => 9}}
        assert %{"status" => "failed", "statusMessage" => "The studio is closed"} = task = settled(client, id)
        refute is_map_key(task, "result")

        if revision == @stateless,
          do: assert(task["error"] == wire),
          else: assert(tasks(client, "result", id) == {:error, wire})
      end
    end

    test "with a JSON-RPC error whose code the revision does not have" do
      error = McpServer.JsonRpc.Error.new(code: -32_050, message: "closed")

      for {revision, code} <- [{@session, -32_050}, {@stateless, -32_603}] do
        client = open(fn _, _ -> {:error, error} end, revision)
        %{"taskId" => id} = create(client)
        wire = %{"code" => code, "message" => "closed"}
        task = settled(client, id)

        if revision == @stateless,
          do: assert(task["error"] == wire),
          else: assert(tasks(client, "result", id) == {:error, wire})
      end
    end

    test "with an error whose data cannot be sent, without the data" do
      error = McpServer.JsonRpc.Error.new(code: -32000, message: "closed", data: {:not, :json})
      client = open(fn _, _ -> {:error, error} end, @stateless)
      %{"taskId" => id} = create(client)
      assert %{"status" => "failed", "error" => %{"code" => -32000, "message" => "closed"} = wire} = settled(client, id)
      refute is_map_key(wire, "data")
    end

    test "with a question that cannot be sent" do
      client = open(fn _, _ -> input_required(q: elicit(<<255>>, @form)) end, @stateless)

      capture_log(fn ->
        %{"taskId" => id} = create(client)
        assert %{"status" => "completed", "result" => %{"isError" => true}} = settled(client, id)
      end)
    end

    test "by raising, being killed, or with what cannot be sent" do
      heavy = fn _, _ -> {:ok, [text(inspect(Enum.to_list(1..5_000_000)))]} end

      for run <- [
            fn _, _ -> raise "secret" end,
            fn _, _ -> Process.exit(self(), :kill) end,
            fn _, _ -> {:ok, self()} end,
            heavy
          ] do
        client = open(run, @stateless, limits: [max_heap_bytes: 8_000_000])

        log =
          capture_log(fn ->
            %{"taskId" => id} = create(client)
            assert %{"status" => "completed", "result" => %{"isError" => true} = result} = settled(client, id)
            assert [%{"text" => "Tool execution failed (error id " <> _}] = result["content"]
          end)

        assert log =~ "error id"
      end
    end

    test "with structured content that does not fit fails" do
      client = open(fn _, _ -> {:ok, %{"sum" => "three"}} end, @stateless)

      capture_log(fn ->
        %{"taskId" => id} = create(client, "sum")
        assert %{"result" => %{"isError" => true}} = settled(client, id)
      end)

      client = open(fn _, _ -> {:ok, %{"sum" => 3}} end, @stateless)
      %{"taskId" => id} = create(client, "sum")
      assert %{"result" => %{"structuredContent" => %{"sum" => 3}}} = settled(client, id)
    end

    test "its size is bounded, on both sides of the limit" do
      # The other members of a task have at most 4 KiB.
      for {size, failed?} <- [{2_000, false}, {3_000, true}] do
        client =
          open(fn _, _ -> {:ok, [text(String.duplicate("x", size))]} end, @stateless, limits: [max_result_bytes: 7_096])

        capture_log(fn ->
          %{"taskId" => id} = create(client)
          assert %{"result" => %{"isError" => ^failed?}} = settled(client, id)
        end)
      end
    end
  end

  describe "while it runs" do
    test "its time is its own, not the tool's" do
      client = open(gated(), @stateless)
      %{"taskId" => id} = create(client)
      assert_receive {:entered, runner}
      # The tool's timeout is 500 ms.
      Process.sleep(600)
      send(runner, {:ok, []})
      assert %{"status" => "completed"} = settled(client, id)
    end

    test "progress is its status message" do
      test = self()

      run = fn conn, _arguments ->
        :ok = progress(conn, 1, 2, "half of it")
        :ok = log(conn, :info, "not sent")
        send(test, {:entered, self()})

        receive do
          answer -> answer
        end
      end

      for revision <- @eras do
        client = open(run, revision)
        %{"taskId" => id} = create(client)
        assert_receive {:entered, runner}
        assert %{"statusMessage" => "half of it"} = get(client, id)
        send(runner, {:ok, []})
        refute is_map_key(settled(client, id), "statusMessage")
        refute_received {:mcp_notification, _, _}
      end
    end

    # Earlier, cutting a text of few characters and many bytes never ended, and blocked all tasks.
    test "of a long message the beginning, and of bytes that are no text nothing" do
      test = self()

      run = fn conn, _arguments ->
        :ok = progress(conn, 1, 2, conn.assigns.message)
        send(test, {:entered, self()})

        receive do
          answer -> answer
        end
      end

      flags = String.duplicate("🇩🇪", 256)

      for {message, kept} <- [{flags, binary_part(flags, 0, 1_024)}, {"é" <> <<255>> <> "x", "é"}] do
        client = open(run, @session, assigns: %{run: run, message: message})
        %{"taskId" => id} = create(client)
        assert_receive {:entered, runner}
        assert %{"statusMessage" => ^kept} = get(client, id)
        assert {:ok, %{"tasks" => [%{"statusMessage" => ^kept}]}} = Client.call(client, "tasks/list", %{})
        send(runner, {:ok, []})
      end
    end

    test "an exception with the status of a client's mistake has its words" do
      missing = %{__struct__: Ecto.NoResultsError, __exception__: true, message: "SELECT secret"}
      client = open(fn _, _ -> :erlang.error(missing) end, @session)
      %{"taskId" => id} = create(client)
      {answer, _log} = with_log(fn -> tasks(client, "result", id) end)
      assert {:ok, %{"isError" => true, "content" => [%{"text" => "Not found"}]}} = answer
    end

    test "its processes may use what the test allowed itself" do
      test = self()
      client = open(fn _, _ -> {:ok, [text(inspect(test in Process.get(:"$callers")))]} end, @stateless)
      %{"taskId" => id} = create(client)
      assert %{"result" => %{"content" => [%{"text" => "true"}]}} = settled(client, id)
    end

    test "it goes on when its client has gone" do
      client = open(gated(), @stateless)
      %{"taskId" => id} = create(client)
      assert_receive {:entered, runner}
      Client.close(client)
      send(runner, {:ok, [text("done")]})
      assert %{"status" => "completed"} = settled(open(gated(), @stateless), id)
    end

    test "2025-11-25: a wait that is cancelled leaves it alone" do
      client = open(gated(), @session)
      %{"taskId" => id} = create(client)
      assert_receive {:entered, runner}
      ask(client, 7, "tasks/result", %{"taskId" => id})
      tell(client, "notifications/cancelled", %{"requestId" => 7})
      assert %{"status" => "working"} = get(client, id)
      send(runner, {:ok, []})
      assert %{"status" => "completed"} = settled(client, id)
    end
  end

  describe "cancelling" do
    test "ends the handler, and stays" do
      for revision <- @eras do
        client = open(gated(), revision)
        %{"taskId" => id} = create(client)
        assert_receive {:entered, runner}
        monitor = Processes.monitor(runner)

        {:ok, ack} = tasks(client, "cancel", id)

        # 2026-07-28 only acknowledges.
        if revision == @session,
          do: assert(%{"status" => "cancelled", "taskId" => ^id} = ack),
          else: assert(Map.delete(ack, "_meta") == %{"resultType" => "complete"})

        assert_receive {:DOWN, ^monitor, :process, _pid, :killed}
        assert %{"status" => "cancelled", "statusMessage" => "The task was cancelled by request."} = get(client, id)

        case revision do
          @session -> assert {:error, %{"code" => -32602}} = tasks(client, "cancel", id)
          @stateless -> assert {:ok, %{"resultType" => "complete"}} = tasks(client, "cancel", id)
        end
      end
    end

    # The result of a killed handler may arrive after the end of its task. Earlier, it completed a cancelled task, and
    # crashed the server if the task was gone.
    test "what a handler says after its task has ended means nothing" do
      client = open(gated(), @stateless)
      %{"taskId" => id} = create(client)
      {:ok, _ack} = tasks(client, "cancel", id)
      result = %McpServer.Tool.CallResult{content: [text("too late")]}
      server = Process.whereis(McpServer.Tasks.Server)

      for task <- [id, "gone"] do
        assert McpServer.Tasks.finish(task, {:result, result}) == :ok
        assert McpServer.Tasks.put_message(task, "too late") == :ok
        send(server, {:"$gen_call", {self(), make_ref()}, {:park, task, %{}}})
      end

      assert %{"status" => "cancelled", "statusMessage" => "The task was cancelled by request."} = get(client, id)
      assert Process.whereis(McpServer.Tasks.Server) == server
    end

    test "2025-11-25: whoever waits is told" do
      client = open(gated(), @session)
      %{"taskId" => id} = create(client)
      assert_receive {:entered, _runner}
      ask(client, 7, "tasks/result", %{"taskId" => id})
      ask(client, 8, "tasks/cancel", %{"taskId" => id})
      answers = Map.new([next(client), next(client)], &{&1["id"], &1})
      assert %{"result" => %{"status" => "cancelled"}} = answers[8]
      assert %{"error" => %{"code" => -32603, "message" => "The task was cancelled"}} = answers[7]
    end
  end

  describe "input" do
    defp greet(conn, _arguments) do
      case accepted(conn, "name") do
        %{"name" => name} -> {:ok, [text("Hello, #{name}! #{inspect(state(conn))}")]}
        nil -> input_required([name: elicit("Your name?", @form)], state: 1)
      end
    end

    test "2026-07-28: is asked for in tasks/get and brought by tasks/update" do
      client = open(&greet/2, @stateless)
      %{"taskId" => id} = create(client)
      assert %{"inputRequests" => requests} = waiting = settled(client, id, ["input_required"])
      refute is_map_key(waiting, "requestState")
      assert %{"name" => %{"method" => "elicitation/create", "params" => %{"message" => "Your name?"}}} = requests

      assert {:ok, ack} = tasks(client, "update", id, %{"inputResponses" => %{"name" => @accept, "other" => @accept}})
      assert Map.delete(ack, "_meta") == %{"resultType" => "complete"}
      assert %{"result" => %{"content" => [%{"text" => "Hello, Ada! 1"}]}} = settled(client, id)
    end

    test "2026-07-28: may come in parts, and a key is used once" do
      run = fn conn, _arguments ->
        case {accepted(conn, "a"), accepted(conn, "b")} do
          {%{"name" => a}, %{"name" => b}} -> if state(conn) == 2, do: {:ok, [text(a <> b)]}, else: ask_both(2)
          _nothing_yet -> ask_both(1)
        end
      end

      client = open(run, @stateless)
      %{"taskId" => id} = create(client)
      assert %{"inputRequests" => %{"a" => _, "b" => _}} = settled(client, id, ["input_required"])
      {:ok, _ack} = tasks(client, "update", id, %{"inputResponses" => %{"a" => @accept}})
      assert %{"status" => "input_required", "inputRequests" => left} = get(client, id)
      assert Map.keys(left) == ["b"]
      {:ok, _ack} = tasks(client, "update", id, %{"inputResponses" => %{"a" => @accept, "b" => @accept}})
      assert %{"inputRequests" => again} = settled(client, id, ["input_required"])
      assert Map.keys(again) == ["a#2", "b#2"]
      {:ok, _ack} = tasks(client, "update", id, %{"inputResponses" => %{"a#2" => @accept, "b#2" => @accept}})
      assert %{"result" => %{"content" => [%{"text" => "AdaAda"}]}} = settled(client, id)
    end

    defp ask_both(round), do: input_required([a: elicit("A?", @form), b: elicit("B?", @form)], state: round)

    test "2026-07-28: tasks/update without responses, or with other things, is refused" do
      client = open(&greet/2, @stateless)
      %{"taskId" => id} = create(client)
      assert {:error, %{"code" => -32602}} = tasks(client, "update", id)
      assert {:error, %{"code" => -32602}} = tasks(client, "update", id, %{"inputResponses" => []})
      settled(client, id, ["input_required"])
      assert {:error, %{"code" => -32602}} = tasks(client, "update", id, %{"inputResponses" => %{"name" => 1}})
      misfit = %{"name" => %{"action" => "accept", "content" => %{"name" => 1}}}

      assert {:error, %{"code" => -32602, "message" => text}} =
               tasks(client, "update", id, %{"inputResponses" => misfit})

      assert text ==
               ~s(Invalid params: inputResponses: the answer to "name" does not fit its form: ) <>
                 "/name: must be a string (type)"

      assert {:ok, _ack} = tasks(client, "update", id, %{"inputResponses" => %{"other" => 1}})
      assert %{"status" => "input_required"} = get(client, id)
    end

    test "2025-11-25: is asked for on the way of tasks/result, with the task's name" do
      client = open(&greet/2, @session)
      %{"taskId" => id} = create(client)
      assert %{"status" => "input_required"} = settled(client, id, ["input_required"])
      ask(client, 9, "tasks/result", %{"taskId" => id})
      assert %{"method" => "elicitation/create", "id" => asked, "params" => params} = next(client)
      assert params["_meta"] == %{"io.modelcontextprotocol/related-task" => %{"taskId" => id}}
      Client.push(client, %{"jsonrpc" => "2.0", "id" => asked, "result" => @accept})
      assert %{"id" => 9, "result" => %{"content" => [%{"text" => "Hello, Ada! 1"}]}} = next(client)
    end

    test "2025-11-25: an answer that does not fit its form ends the task in words" do
      misfit = %{"action" => "accept", "content" => %{"name" => 1}}
      client = open(&greet/2, @session, answers: %{"elicitation/create" => misfit})
      %{"taskId" => id} = create(client)
      assert {:ok, %{"isError" => true, "content" => [%{"text" => text}]}} = tasks(client, "result", id)

      assert text ==
               ~s(The client's input was refused: the answer to "name" does not fit its form: ) <>
                 "/name: must be a string (type)"
    end

    test "2025-11-25: one who waits is asked, and when it gives up the next" do
      client = open(&greet/2, @session)
      %{"taskId" => id} = create(client)
      ask(client, 8, "tasks/result", %{"taskId" => id})
      assert %{"method" => "elicitation/create"} = next(client)
      ask(client, 9, "tasks/result", %{"taskId" => id})
      assert silent?(client)
      tell(client, "notifications/cancelled", %{"requestId" => 8})
      assert_receive {:mcp_notification, "notifications/cancelled", _}
      assert %{"method" => "elicitation/create", "id" => asked} = next(client)
      Client.push(client, %{"jsonrpc" => "2.0", "id" => asked, "result" => @accept})
      assert %{"id" => 9, "result" => %{"content" => [%{"text" => "Hello, Ada! 1"}]}} = next(client)
    end

    test "that the client cannot give ends the task in words" do
      client = open(&greet/2, @stateless, client_capabilities: %{"extensions" => %{@extension => %{}}})
      %{"taskId" => id} = create(client)
      assert %{"result" => %{"isError" => true, "content" => [%{"text" => said}]}} = settled(client, id)
      assert said == "The client does not support elicitation, which this call needs"
    end
  end

  describe "a handler that decides when its call becomes a task" do
    defp greet_later(conn, _arguments) do
      case accepted(conn, "name") do
        %{"name" => name} -> as_task(fn _conn -> {:ok, [text("Hello, #{name}!")]} end)
        nil -> input_required(name: elicit("Your name?", @form))
      end
    end

    test "asks before it" do
      answers = %{"elicitation/create" => @accept}

      for revision <- @eras do
        client = open(&greet_later/2, revision, answers: answers)
        %{"taskId" => id} = task = create(client, "later")
        refute is_map_key(task, "requestState")
        settled(client, id)

        result = if revision == @stateless, do: get(client, id)["result"], else: elem(tasks(client, "result", id), 1)

        assert %{"content" => [%{"text" => "Hello, Ada!"}]} = result
      end
    end

    test "is carried out in place for a client without tasks" do
      answers = %{"elicitation/create" => @accept}
      client = open(&greet_later/2, @session, answers: answers)
      assert {:ok, %{"content" => [%{"text" => "Hello, Ada!"}]}} = call(client, "later", %{})

      client = open(&greet_later/2, @stateless, answers: answers, client_capabilities: %{"elicitation" => %{}})
      assert {:ok, %{"content" => [%{"text" => "Hello, Ada!"}]}} = call(client, "later", %{})
    end
  end

  describe "whose tasks" do
    @tag req: "SEC-06"
    test "another session's do not exist" do
      [one, other] = for _ <- 1..2, do: open(gated(), @session)
      %{"taskId" => id} = create(one)
      assert_receive {:entered, _runner}
      unknown = tasks(other, "get", "unknown")
      assert {:error, %{"code" => -32602, "message" => "Task not found"}} = unknown
      for verb <- ~w(get result cancel), do: assert(tasks(other, verb, id) == unknown)
      assert Client.call(other, "tasks/list", %{}) == {:ok, %{"tasks" => []}}
      assert {:ok, %{"tasks" => [%{"taskId" => ^id}]}} = Client.call(one, "tasks/list", %{})
      assert %{"status" => "working"} = get(one, id)
    end

    # A map in an ETS pattern also matches larger maps.
    @tag req: "SEC-06"
    test "a principal that is a part of another has its own tasks only" do
      owner = &McpServer.Tasks.owner(%{router: Router}, %McpServer.Conn{principal: &1})

      call = %{
        catalog: %{router: Router},
        request: %{McpServer.Request.blank() | task: :default, name: "t"},
        entry: %{cancel_grace: 0},
        handler: fn _conn -> Process.sleep(:infinity) end,
        max_bytes: 0
      }

      conn = %McpServer.Conn{principal: %{"tenant" => 1, "sub" => "b"}}
      {{:ok, %{id: id}}, _log} = with_log(fn -> McpServer.Tasks.create(call, conn) end)

      assert [%{id: ^id}] = McpServer.Tasks.list(owner.(conn.principal))

      for other <- [%{"tenant" => 1}, %{}, :_, %{"tenant" => 1, "sub" => :_}],
          do: assert(McpServer.Tasks.list(owner.(other)) == [])
    end

    test "the list has the newest first, in one page" do
      client = open(fn _, _ -> {:ok, []} end, @session)
      ids = for _ <- 1..3, do: Map.fetch!(create(client), "taskId") |> tap(fn _ -> Process.sleep(2) end)
      {:ok, %{"tasks" => listed} = list} = Client.call(client, "tasks/list", %{})
      assert Enum.map(listed, & &1["taskId"]) == Enum.reverse(ids)
      refute is_map_key(list, "nextCursor")
      assert {:error, %{"code" => -32602}} = Client.call(client, "tasks/list", %{"cursor" => "x"})
    end
  end

  describe "bounds" do
    # The time of these tasks ends only at the test's command.
    @long %{"task" => %{"ttl" => 3_600_000}}

    test "a task is gone when its time is over, and its handler with it" do
      client = open(gated(), @session)
      %{"taskId" => id} = create(client, "may", @long)
      assert_receive {:entered, runner}
      monitor = Processes.monitor(runner)
      ask(client, 4, "tasks/result", %{"taskId" => id})
      expire([id])
      assert_receive {:DOWN, ^monitor, :process, _pid, :killed}
      assert %{"id" => 4, "error" => %{"code" => -32602, "message" => "Task not found"}} = next(client)
      assert {:error, %{"code" => -32602}} = tasks(client, "get", id)
      # Without the test's help.
      %{"taskId" => id} = create(client, "may", %{"task" => %{"ttl" => 30}})
      eventually(fn -> match?({:error, %{"code" => -32602}}, tasks(client, "get", id)) end)
    end

    # What the timers of the tasks send.
    defp expire(ids) do
      for id <- ids, do: send(McpServer.Tasks.Server, {:expire, id})
      :sys.get_state(McpServer.Tasks.Server)
    end

    test "an owner has at most 100" do
      client = open(gated(), @session)
      ids = for _ <- 1..100, do: Map.fetch!(create(client, "may", @long), "taskId")
      on_exit(fn -> expire(ids) end)
      assert {:error, %{"code" => -32603, "message" => "Too many tasks"}} = call(client, "may")
    end

    # By its sessions alone, one client could take the tasks of all others.
    test "a client without a principal has at most 100 in all its sessions, another address has others" do
      server = FromAddress.start(router: Router, assigns: %{run: gated()})
      from = fn address -> [headers: [{"x-from", address}, {"host", "localhost"}], capabilities: @knows_tasks] end

      task = fn session ->
        params = %{"name" => "may", "arguments" => %{}, "task" => %{"ttl" => 3_600_000}}
        HttpSession.answer(session, HttpRequests.legacy("tools/call", params))
      end

      [one, other] = for _ <- 1..2, do: HttpSession.open(server, @session, from.("192.0.2.7"))
      ids = for n <- 1..100, do: task.(if(rem(n, 2) == 0, do: one, else: other))["result"]["task"]["taskId"]
      on_exit(fn -> expire(ids) end)
      for session <- [one, other], do: assert(%{"error" => %{"message" => "Too many tasks"}} = task.(session))

      third = HttpSession.open(server, @session, from.("192.0.2.8"))
      assert %{"result" => %{"task" => %{"taskId" => id}}} = task.(third)
      expire([id, id | ids])
      assert %{"result" => %{"task" => %{"taskId" => id}}} = task.(one)
      expire([id])
    end

    # One owner may use 16 of 64 MiB.
    test "the results of an owner take at most a quarter of the room there is" do
      large = String.duplicate("x", 7 * 1024 * 1024)
      owners = for _ <- 1..2, do: open(fn _, _ -> {:ok, [text(large)]} end, @session)

      outcome = fn client ->
        %{"taskId" => id} = create(client, "must", @long)
        on_exit(fn -> expire([id]) end)
        settled(client, id)["status"]
      end

      assert for(client <- [hd(owners), hd(owners), hd(owners)], do: outcome.(client)) == ~w(completed completed failed)
      assert outcome.(List.last(owners)) == "completed"
    end

    # Earlier, a client could have thousands of them read at once.
    test "an owner reads at most a quarter at once" do
      long = String.duplicate("x", 100_000)
      client = open(fn _, _ -> {:ok, [text(long)]} end, @stateless, principal: "reader")
      %{"taskId" => id} = create(client, "may", @long)
      on_exit(fn -> expire([id]) end)
      assert %{"result" => %{"content" => [%{"text" => ^long}]}} = settled(client, id)
      reader = {:principal, "reader"}
      busy = {:error, %{"code" => -32603, "message" => "Too many results of tasks are read at once"}}

      # A call that reads.
      reads = fn bytes ->
        Task.async(fn ->
          :ok = McpServer.Tasks.Server.begin_read(reader, bytes)
          receive do: (:done -> :ok)
        end)
      end

      quarter = 16 * 1024 * 1024
      other = reads.(quarter - 90_000)
      held = fn -> McpServer.Quota.held(McpServer.Quota.of_node(), :task_reads, reader) end
      eventually(fn -> held.() == quarter - 90_000 end)
      assert tasks(client, "get", id) == busy
      send(other.pid, :done)
      Task.await(other)
      eventually(fn -> held.() == 0 end)
      assert {:ok, %{"result" => %{"content" => [%{"text" => ^long}]}}} = tasks(client, "get", id)
    end

    # A million bytes of JSON may be ten million of terms, and every cancel copied them.
    test "a stored result is packed" do
      client = open(fn _, _ -> {:ok, %{"rows" => Enum.to_list(1..100_000)}} end, @session)
      words = fn -> :ets.info(McpServer.Tasks.Server, :memory) end
      before = words.()
      %{"taskId" => id} = create(client, "must", @long)
      on_exit(fn -> expire([id]) end)
      settled(client, id)
      assert words.() - before < 1_000
      assert {:ok, %{"structuredContent" => %{"rows" => [1, 2 | _]}}} = tasks(client, "result", id)
    end

    # Earlier, a task kept 4 MiB of answers to questions that nobody had asked, and the data of its client uncounted.
    test "what else a client sends with its call is not kept, or has the room of results" do
      long = String.duplicate("x", 3 * 1024 * 1024)
      client = open(gated(), @stateless, principal: "ada")
      answers = %{"never asked" => put_in(@accept, ["content", "name"], long)}
      ids = for _ <- 1..8, do: create(client, "may", Map.put(@long, "inputResponses", answers))["taskId"]
      on_exit(fn -> expire(ids) end)

      for _ <- ids do
        assert_receive {:entered, runner}
        :erlang.garbage_collect(runner)
        {:binary, binaries} = Process.info(runner, :binary)
        assert Enum.sum(for {_id, bytes, _references} <- binaries, do: bytes) < 1024 * 1024
      end

      info = %{"name" => "client", "version" => "1", "title" => String.duplicate("x", 12_000)}
      large = open(gated(), @stateless, principal: "bob", client_info: info)
      held = fn -> McpServer.Quota.held(McpServer.Quota.of_node(), :task_bytes, {:principal, "bob"}) end
      before = held.()
      %{"taskId" => other} = create(large, "may", @long)
      on_exit(fn -> expire([other]) end)
      assert (held.() - before) in 12_000..24_000
    end

    # Earlier, they counted as they are stored: small numbers took an eighth or less of what the handler gets.
    test "answers count for what they are as terms" do
      asks = fn _conn, _arguments -> input_required(a: sample("A?"), b: elicit("B?", @form)) end
      capable = Map.put(@knows_tasks, "sampling", %{})
      client = open(asks, @stateless, principal: "carl", client_capabilities: capable)
      %{"taskId" => id} = create(client, "may", @long)
      on_exit(fn -> expire([id]) end)
      settled(client, id, ["input_required"])
      node = McpServer.Quota.of_node()
      held = fn -> McpServer.Quota.held(node, :task_bytes, {:principal, "carl"}) end
      before = held.()
      zeros = List.duplicate(List.duplicate(0, 10_000), 8)
      content = %{"type" => "text", "text" => "A", "zeros" => zeros}
      answer = %{"role" => "assistant", "model" => "m", "content" => content}
      assert {:ok, _ack} = tasks(client, "update", id, %{"inputResponses" => %{"a" => answer}})
      assert held.() - before > 1_280_000
    end

    # One client may use 16 of 64 MiB.
    test "the arguments of a client's tasks, and its answers to their questions, have the room of results" do
      client = open(fn _conn, %{"a" => _} -> ask_both(1) end, @stateless, principal: "ada")
      large = %{"task" => %{"ttl" => 3_600_000}, "arguments" => %{"a" => String.duplicate("x", 6 * 1024 * 1024)}}
      [%{"taskId" => id}, %{"taskId" => other}] = for _ <- 1..2, do: create(client, "may", large)
      on_exit(fn -> expire([id, other]) end)
      assert {:error, %{"message" => "There is no room for the task"}} = call(client, "may", large)

      answer = put_in(@accept, ["content", "name"], String.duplicate("x", 3 * 1024 * 1024))
      answer = fn id, key -> tasks(client, "update", id, %{"inputResponses" => %{key => answer}}) end
      for task <- [id, other], do: settled(client, task, ["input_required"])
      assert {:ok, _ack} = answer.(id, "a")
      no_room = {:error, %{"code" => -32603, "message" => "There is no room for the answers"}}
      assert answer.(other, "a") == no_room
      # The handler has the answers until the task ends.
      assert answer.(id, "b") == no_room
      expire([other])
      assert {:ok, _ack} = answer.(id, "b")
      assert %{"status" => "input_required"} = settled(client, id, ["input_required"])
      assert {:error, %{"message" => "There is no room for the task"}} = call(client, "may", large)
      expire([id])
      assert %{"taskId" => id} = create(client, "may", large)
      expire([id])
    end

    # Calls go first.
    test "a handler runs at low priority, and may change it" do
      client = open(fn _, _ -> {:ok, [text(inspect(Process.info(self(), :priority)))]} end, @session)
      %{"taskId" => id} = create(client)
      assert {:ok, %{"content" => [%{"text" => "{:priority, :low}"}]}} = tasks(client, "result", id)
      assert {:ok, %{"content" => [%{"text" => "{:priority, :normal}"}]}} = call(client, "plain", %{})
    end

    # Earlier, an update of an ended task gave its bytes back.
    test "an ended task keeps its bytes, whatever its client sends" do
      large = String.duplicate("x", 7 * 1024 * 1024)
      client = open(fn _, _ -> {:ok, [text(large)]} end, @stateless, principal: "eve")
      # This extension's calls are tasks.
      status = fn ->
        %{"taskId" => id} = create(client, "must", @long)
        on_exit(fn -> expire([id]) end)
        status = settled(client, id)["status"]
        assert {:ok, _ack} = tasks(client, "update", id, %{"inputResponses" => %{}})
        status
      end

      assert for(_ <- 1..3, do: status.()) == ~w(completed completed failed)
    end

    test "a call that ends before its task begins leaves no process" do
      call = %{catalog: %{router: Router}, request: nil, entry: nil, handler: nil, max_bytes: 0}
      test = self()
      start = fn -> send(test, {:runner, McpServer.Tasks.Runner.start(call, %McpServer.Conn{})}) end

      creator =
        spawn(fn ->
          start.()
          Process.sleep(:infinity)
        end)

      assert_receive {:runner, runner}
      monitor = Processes.monitor(runner)
      Process.exit(creator, :kill)
      assert_receive {:DOWN, ^monitor, :process, _pid, :normal}
    end

    test "an id is at most 256 bytes" do
      client = open(gated(), @stateless)
      assert {:error, %{"message" => "Task not found"}} = tasks(client, "get", String.duplicate("x", 256))
      assert {:error, %{"code" => -32602, "message" => message}} = tasks(client, "get", String.duplicate("x", 257))
      assert message == "Invalid params: taskId is longer than 256 bytes"
    end
  end

  test "the router refuses a support it does not know, and one that is said twice" do
    for {options, said} <- [
          {[task_support: :maybe], ~r/task_support/},
          {[task_support: :optional, execution: %{}], ~r/both `task_support:` and `execution:`/}
        ] do
      source = """
      defmodule Wrong#{System.unique_integer([:positive])} do
        use McpServer.Router
        tool "t", "T", McpServer.Handlers, :echo, #{inspect(options)}
      end
      """

      assert %CompileError{line: 3} = error = catch_error(Code.compile_string(source, "router.ex"))
      assert Exception.message(error) =~ said
    end
  end
end
