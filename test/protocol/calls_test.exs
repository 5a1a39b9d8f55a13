defmodule McpServer.Protocol.CallsTest do
  # The lifecycle of calls: concurrency, success, failure, timeout and hanging. Not async: several tests read the log.
  use ExUnit.Case, async: false
  use McpServer.Test, router: McpServer.RuntimeRouter

  import McpServer.TestLog
  import McpServer.Tool.Content, only: [text: 1]
  import McpServer.Wire

  alias McpServer.JsonRpc.Error
  alias McpServer.Processes

  @eras ["2025-11-25", "2026-07-28"]

  # Calls block until the test sends them `:go`.
  defp gated(test) do
    fn _conn, arguments ->
      send(test, {:entered, arguments["n"], self()})

      receive do
        :go -> {:ok, [text("done #{arguments["n"]}")]}
      end
    end
  end

  defp answers(fun), do: [assigns: %{run: fun}]

  describe "a handler that answers" do
    test "gets who asks, in both eras" do
      test = self()

      run = fn conn, _arguments ->
        send(test, {:conn, conn})
        {:ok, []}
      end

      for revision <- @eras do
        {:ok, _result} = call_tool("run", %{}, answers(run) ++ [revision: revision])
        assert_received {:conn, conn}
        assert %{protocol_version: ^revision, client_info: %{"name" => "mcp_server_test"}} = conn
        assert %{"sampling" => %{}} = conn.client_capabilities
        assert conn.router == McpServer.RuntimeRouter
        assert is_nil(conn.session_id) == (revision == "2026-07-28")
      end
    end

    test "prompts, resources, templates and completions" do
      message = McpServer.Controller.message("user", "hi")
      content = McpServer.Controller.content("c", "run://fixed", text: "t")
      completion = McpServer.Controller.completion(["a"])

      for revision <- @eras do
        over = &(answers(&1) ++ [revision: revision])

        assert {:ok, %{"messages" => [%{"role" => "user"}]}} =
                 get_prompt("run", %{"name" => "n"}, over.(fn _, _ -> [message] end))

        assert {:ok, %{"contents" => [%{"text" => "t"}]}} =
                 read_resource("run://fixed", over.(fn _, %{} -> content end))

        assert {:ok, %{"contents" => [_]}} =
                 read_resource("run://rows/7", over.(fn _, %{"id" => "7"} -> {:ok, content} end))

        complete = fn _, {"name", "a"} -> completion end
        assert {:ok, %{"values" => ["a"]}} = complete_prompt("run", "name", "a", over.(complete))
        complete = fn _, {"id", "1"} -> {:ok, completion} end
        assert {:ok, %{"values" => ["a"]}} = complete_resource("run://rows/{id}", "id", "1", over.(complete))
      end
    end

    test "structured output has its JSON as text beside it" do
      assert {:ok,
              %{"structuredContent" => %{"sum" => 3}, "content" => [%{"text" => ~s({"sum":3})}], "isError" => false}} =
               call_tool("sum", %{}, answers(fn _, _ -> {:ok, %{sum: 3}} end))
    end

    test "its processes may use what the test allowed itself" do
      test = self()
      run = fn _, _ -> {:ok, [text(inspect(test in Process.get(:"$callers")))]} end
      assert {:ok, %{"content" => [%{"text" => "true"}]}} = call_tool("run", %{}, answers(run))
    end
  end

  describe "a handler that fails on purpose" do
    test "a tool's words are the result" do
      for revision <- @eras do
        assert {:ok, %{"isError" => true, "content" => [%{"type" => "text", "text" => "no such city"}]}} =
                 call_tool("run", %{}, answers(fn _, _ -> {:error, "no such city"} end) ++ [revision: revision])
      end
    end

    test "a prompt's or a completion's words are the error's message" do
      no = fn _, _ -> {:error, "no"} end
      assert {:error, %{"code" => -32603, "message" => "no"}} = get_prompt("run", %{}, answers(no))
      assert {:error, %{"code" => -32603, "message" => "no"}} = complete_prompt("run", "name", "", answers(no))
      assert {:error, %{"code" => -32603, "message" => "no"}} = read_resource("run://fixed", answers(no))
    end

    @tag req: "M17"
    test "a resource that is not found" do
      gone = answers(fn _, _ -> {:error, :not_found} end)
      error = %{"code" => -32602, "message" => "Resource not found", "data" => %{"uri" => "run://rows/7"}}
      assert read_resource("run://rows/7", gone) == {:error, error}
      assert read_resource("run://rows/7", gone ++ [revision: "2025-11-25"]) == {:error, %{error | "code" => -32002}}
    end

    @tag req: "M17"
    test "a resource that is not found, by its code" do
      gone = answers(fn _, _ -> {:error, Error.new(code: -32_002, message: "Gone")} end)
      error = %{"code" => -32602, "message" => "Gone", "data" => %{"uri" => "run://rows/7"}}
      assert read_resource("run://rows/7", gone) == {:error, error}
      assert read_resource("run://rows/7", gone ++ [revision: "2025-11-25"]) == {:error, %{error | "code" => -32002}}
      assert call_tool("run", %{}, gone) == {:error, %{"code" => -32602, "message" => "Gone"}}
    end

    test "a code that only some revisions have" do
      data = %{"requiredCapabilities" => %{"sampling" => %{}}, "elicitations" => []}

      for {code, sent} <- [
            {-32_000, [-32_000, -32_000, -32_000]},
            {-32_002, [-32_002, -32_002, -32_602]},
            {-32_021, [-32_021, -32_021, -32_021]},
            {-32_042, [-32_603, -32_042, -32_603]},
            {-32_050, [-32_050, -32_050, -32_603]},
            {-32_602, [-32_602, -32_602, -32_602]},
            {7, [7, 7, 7]}
          ],
          {revision, expected} <- Enum.zip(["2025-06-18" | @eras], sent) do
        run = fn _, _ -> {:error, Error.new(code: code, message: "no", data: data)} end
        options = answers(run) ++ [revision: revision]
        error = {:error, %{"code" => expected, "message" => "no", "data" => data}}
        assert {code, revision, call_tool("run", %{}, options)} == {code, revision, error}
        assert {code, revision, get_prompt("run", %{}, options)} == {code, revision, error}
        assert {code, revision, read_resource("run://fixed", options)} == {code, revision, error}
      end
    end
  end

  describe "side by side" do
    test "a ping and a list are answered while a tool runs" do
      for revision <- ["2025-11-25"] do
        client = open(gated(self()), revision: revision)
        tool(client, 1, "run", %{"n" => 1})
        assert_receive {:entered, 1, pid}
        ask(client, 2, "ping")
        ask(client, 3, "tools/list")
        assert %{"id" => 2, "result" => %{}} = next(client)
        assert %{"id" => 3, "result" => %{"tools" => [_ | _]}} = next(client)
        send(pid, :go)
        assert %{"id" => 1} = next(client)
      end
    end

    test "64 run at once, the others wait and none is refused" do
      client = open(gated(self()))
      for n <- 1..200, do: tool(client, n, "run", %{"n" => n})

      running =
        for n <- 1..64,
            do:
              (
                assert_receive {:entered, ^n, pid}
                pid
              )

      # The connection has seen all requests.
      assert Enum.sort(Map.keys(settled(client).calls)) == Enum.sort(running)
      refute_received {:entered, 65, _pid}
      send(hd(running), :go)
      assert_receive {:entered, 65, _pid}
      assert %{"id" => 1} = next(client)
    end

    test "nothing is read ahead without end, and still everything is answered, in 10,000 lines at once" do
      client = open(fn _, %{"n" => n} -> {:ok, [text("#{n}")]} end, limits: [max_calls: 4, max_waiting: 10])
      lines = for n <- 1..10_000, do: call_line(client, n)
      lines(client, lines)
      answers = for _ <- 1..10_000, do: next(client)
      assert Enum.sort(Enum.map(answers, & &1["id"])) == Enum.to_list(1..10_000)
      assert Enum.all?(answers, &(said(&1) == "#{&1["id"]}"))
    end

    test "waiting requests are bounded by their weight too" do
      client = open(gated(self()), limits: [max_calls: 1, max_waiting_bytes: 1_000])
      lines(client, for(n <- 1..50, do: call_line(client, n)))
      state = settled(client)
      assert state.waiting.count in 1..10
      assert length(state.backlog) == 50 - 1 - state.waiting.count
    end

    test "while every place is taken, what needs none is heard behind more calls than there are places" do
      client = open(gated(self()), limits: [max_calls: 2])
      list = line(client, %{"id" => 100, "method" => "tools/list"})
      lines(client, for(n <- 1..20, do: call_line(client, n)) ++ [list])
      assert_receive {:entered, 1, first}
      assert_receive {:entered, 2, _second}
      assert %{"id" => 100, "result" => %{"tools" => [_ | _]}} = next(client)
      refute_received {:entered, 3, _third}
      send(first, :go)
      assert %{"id" => 1} = next(client)
      assert_receive {:entered, 3, _third}
    end

    test "handlers that never stop to talk do not keep the client from being heard" do
      talk = fn conn, _arguments ->
        Enum.each(Stream.iterate(1, &(&1 + 1)), &McpServer.Controller.progress(conn, &1))
      end

      client = open(talk, limits: [max_calls: 2])

      calls =
        for id <- 1..2 do
          params = %{"name" => "run", "arguments" => %{}, "_meta" => %{"progressToken" => id}}
          line(client, %{"id" => id, "method" => "tools/call", "params" => params})
        end

      list = line(client, %{"id" => 100, "method" => "tools/list"})
      lines(client, calls ++ for(n <- 3..20, do: call_line(client, n)) ++ [list])
      assert %{"id" => 100, "result" => %{"tools" => [_ | _]}} = next(client)
    end

    defp line(client, message), do: McpServer.JSON.encode!(McpServer.Test.Client.complete(client, message))

    defp call_line(client, n) do
      message = %{"id" => n, "method" => "tools/call", "params" => %{"name" => "run", "arguments" => %{"n" => n}}}
      line(client, message)
    end

    @tag req: "M7"
    test "an id that is in flight is refused, and the first call completes unharmed" do
      for revision <- @eras do
        client = open(gated(self()), revision: revision)
        tool(client, 7, "run", %{"n" => 1})
        assert_receive {:entered, 1, pid}
        tool(client, 7, "run", %{"n" => 2})
        assert %{"id" => 7, "error" => %{"code" => -32600}} = next(client)
        refute_received {:entered, 2, _pid}
        send(pid, :go)
        assert %{"id" => 7} = first = next(client)
        assert said(first) == "done 1"
        tool(client, 7, "run", %{"n" => 3})
        assert_receive {:entered, 3, pid}
        send(pid, :go)
        assert said(next(client)) == "done 3"
      end
    end

    @tag req: "M7"
    test "an id that is in flight is refused for requests without a call, too" do
      requests = %{
        "2025-11-25" => [
          {"ping", %{}},
          {"prompts/list", %{}},
          {"logging/setLevel", %{"level" => "info"}},
          {"resources/subscribe", %{"uri" => "run://fixed"}},
          {"resources/unsubscribe", %{"uri" => "run://fixed"}},
          {"no/such", %{}}
        ],
        "2026-07-28" => [{"server/discover", %{}}, {"prompts/list", %{}}, {"no/such", %{}}]
      }

      for revision <- @eras, id <- [7, "a\","], {method, params} <- requests[revision] do
        client = open(gated(self()), revision: revision)
        tool(client, id, "run", %{"n" => 1})
        assert_receive {:entered, 1, pid}
        ask(client, id, method, params)
        assert %{"id" => ^id, "error" => %{"code" => -32600, "message" => message}} = next(client)
        assert message == "Invalid request: a request with this id is still in flight"
        ask(client, 8, method, params)
        assert %{"id" => 8} = next(client)
        send(pid, :go)
        assert %{"id" => ^id, "result" => _} = next(client)
        ask(client, id, method, params)
        answer = next(client)
        assert {method, answer["id"], answer["error"]["code"]} == {method, id, if(method == "no/such", do: -32601)}
      end
    end

    @tag req: "M7"
    test "an id that waits is in flight" do
      client = open(gated(self()), limits: [max_calls: 1])
      tool(client, 1, "run", %{"n" => 1})
      tool(client, 2, "run", %{"n" => 2})
      tool(client, 2, "run", %{"n" => 3})
      assert %{"id" => 2, "error" => %{"code" => -32600}} = next(client)
    end

    @tag req: "M8"
    test "the same id from 300 clients, each gets its own answer" do
      clients = for n <- 1..300, do: {n, open(fn _, %{"n" => n} -> {:ok, [text("for #{n}")]} end)}
      for {n, client} <- clients, do: tool(client, 1, "run", %{"n" => n})
      for {n, client} <- Enum.shuffle(clients), do: assert(said(next(client)) == "for #{n}")
    end

    @tag req: "M5"
    test "ids of either kind are told apart" do
      client = open(gated(self()))
      for {id, n} <- [{1, 1}, {"1", 2}], do: tool(client, id, "run", %{"n" => n})
      assert_receive {:entered, 1, first}
      assert_receive {:entered, 2, second}
      send(second, :go)
      assert %{"id" => "1"} = next(client)
      send(first, :go)
      assert %{"id" => 1} = next(client)
    end

    # Earlier, each end of a call searched all messages in the mailbox.
    test "a connection that is crowded takes its messages as they come" do
      client = open(gated(self()), revision: "2025-11-25")
      [first, last] = for n <- 1..2, do: tool(client, n, "run", %{"n" => n}) && entered(n)
      :erlang.suspend_process(client.connection)
      finish(first)
      for n <- 10..309, do: ask(client, n, "ping")
      finish(last)
      :erlang.resume_process(client.connection)
      assert for(_message <- 1..302, do: next(client)["id"]) == [1 | Enum.to_list(10..309)] ++ [2]
    end

    defp entered(n) do
      assert_receive {:entered, ^n, pid}
      pid
    end

    defp finish(pid) do
      monitor = Process.monitor(pid)
      send(pid, :go)
      assert_receive {:DOWN, ^monitor, :process, ^pid, _reason}
    end
  end

  describe "cancellation" do
    test "a running call is ended and nothing is sent" do
      watch_log()

      for revision <- @eras do
        client = open(gated(self()), revision: revision)
        tool(client, 1, "run", %{"n" => 1})
        assert_receive {:entered, 1, pid}
        reference = Processes.monitor(pid)
        tell(client, "notifications/cancelled", %{"requestId" => 1, "reason" => "changed my mind"})
        assert_receive {:DOWN, ^reference, :process, ^pid, :killed}
        assert silent?(client)
        # A separate process would write the line of a failed call.
        Processes.children_gone(client.connection)
        refute logged() =~ "failed (error id"
      end
    end

    test "a waiting call never starts" do
      client = open(gated(self()), limits: [max_calls: 1])
      for n <- 1..3, do: tool(client, n, "run", %{"n" => n})
      assert_receive {:entered, 1, first}
      tell(client, "notifications/cancelled", %{"requestId" => 2})
      settle(client)
      send(first, :go)
      assert %{"id" => 1} = next(client)
      assert_receive {:entered, 3, third}
      send(third, :go)
      assert %{"id" => 3} = next(client)
      refute_received {:entered, 2, _pid}
    end

    test "an answer that was on its way is not sent" do
      client = open(fn _, _ -> {:ok, [text("too late")]} end)
      :sys.suspend(client.connection)
      tool(client, 1)
      tell(client, "notifications/cancelled", %{"requestId" => 1})
      :sys.resume(client.connection)
      assert silent?(client)
      tool(client, 1)
      assert said(next(client)) == "too late"
    end

    @tag req: "M25"
    test "of an unknown request it means nothing" do
      client = open(fn _, _ -> {:ok, []} end)
      for id <- [99, "99", -1], do: tell(client, "notifications/cancelled", %{"requestId" => id})
      assert silent?(client)
      tool(client, 1)
      assert %{"id" => 1} = next(client)
    end
  end

  describe "the end of the connection" do
    @tag req: "S1"
    test "after the client's last message its requests are answered" do
      client = open(gated(self()))
      for n <- 1..3, do: tool(client, n, "run", %{"n" => n})

      pids =
        for n <- 1..3,
            do:
              (
                assert_receive {:entered, ^n, pid}
                pid
              )

      send(client.connection, {:mcp_client_in, client.reference, :eof})
      assert silent?(client)
      for pid <- pids, do: send(pid, :go)
      assert Enum.sort(for _ <- 1..3, do: next(client)["id"]) == [1, 2, 3]
      assert next(client) == {:closed, :eof}
    end

    @tag req: "S1"
    test "for as long as the grace lasts" do
      client = open(gated(self()), drain: 50)
      tool(client, 1, "run", %{"n" => 1})
      assert_receive {:entered, 1, pid}
      reference = Processes.monitor(pid)
      send(client.connection, {:mcp_client_in, client.reference, :eof})
      assert_receive {:DOWN, ^reference, :process, ^pid, :killed}
      assert next(client) == {:closed, :eof}
    end

    @tag req: "S4"
    test "a server that stops answers what runs and what waits, in both eras and of every kind" do
      Process.flag(:trap_exit, true)

      for revision <- @eras do
        client = open(gated(self()), revision: revision, limits: [max_calls: 1])
        tool(client, 1, "run", %{"n" => 1})
        assert_receive {:entered, 1, pid}
        reference = Processes.monitor(pid)
        ask(client, 2, "prompts/get", %{"name" => "run", "arguments" => %{"name" => "n"}})
        GenServer.stop(client.connection, :shutdown)

        assert %{"id" => 1, "result" => %{"isError" => true, "content" => [%{"text" => text}]}} = next(client)
        assert text == "The server is shutting down"
        assert %{"id" => 2, "error" => %{"code" => -32603, "message" => ^text}} = next(client)
        assert_receive {:DOWN, ^reference, :process, ^pid, :killed}
      end
    end

    @tag req: "S1"
    test "what has not started by then never does" do
      client = open(gated(self()), drain: 50, limits: [max_calls: 1, max_waiting: 1])
      lines(client, for(n <- 1..5, do: call_line(client, n)))
      assert_receive {:entered, 1, _pid}
      send(client.connection, {:mcp_client_in, client.reference, :eof})
      assert next(client) == {:closed, :eof}
      refute_received {:entered, _n, _pid}
    end

    @tag :capture_log
    test "a connection that crashes does not tell the log what passed through it" do
      Process.flag(:trap_exit, true)
      client = open(gated(self()), limits: [max_calls: 1])
      for id <- 1..2, do: tool(client, id, "run", %{"n" => id, "password" => "secret 42"})
      assert_receive {:entered, 1, _pid}
      watch_log()
      :sys.replace_state(client.connection, &%{&1 | outbox: nil})
      tool(client, 1, "run", %{"password" => "secret 42"})
      # The reaper ends the calls. Whoever could write a line has ended then.
      Processes.reaped(client.connection)
      Processes.children_gone(client.connection)
      log = logged()
      assert log =~ "McpServer.RuntimeRouter"
      refute log =~ "secret"
    end

    test "no call outlives a connection that is killed" do
      Process.flag(:trap_exit, true)
      client = open(gated(self()))
      tool(client, 1, "run", %{"n" => 1})
      assert_receive {:entered, 1, pid}
      reference = Processes.monitor(pid)
      Process.exit(client.connection, :kill)
      assert_receive {:DOWN, ^reference, :process, ^pid, :killed}
    end
  end
end
