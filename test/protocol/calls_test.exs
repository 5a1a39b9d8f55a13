defmodule McpServer.Protocol.CallsTest do
  # A call's life: running beside others, ending well, badly, late or not at all.
  # Not async: several tests read the log, which is everybody's.
  use ExUnit.Case, async: false
  use McpServer.Test, router: McpServer.RuntimeRouter

  import ExUnit.CaptureLog
  import McpServer.Tool.Content, only: [text: 1]
  import McpServer.Wire

  @failed ~r/\ATool execution failed \(error id ([0-9a-f]{16})\)\z/
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

    test "M17: a resource that is not found" do
      gone = answers(fn _, _ -> {:error, :not_found} end)
      error = %{"code" => -32602, "message" => "Resource not found", "data" => %{"uri" => "run://rows/7"}}
      assert read_resource("run://rows/7", gone) == {:error, error}
      assert read_resource("run://rows/7", gone ++ [revision: "2025-11-25"]) == {:error, %{error | "code" => -32002}}
    end
  end

  describe "a handler that goes wrong" do
    @failures [
      raise: quote(do: fn _, _ -> raise("secret 42") end),
      throw: quote(do: fn _, _ -> throw("secret 42") end),
      exit: quote(do: fn _, _ -> exit("secret 42") end),
      error: quote(do: fn _, _ -> :erlang.error({:big, String.duplicate("secret 42", 1_000_000)}) end),
      shutdown: quote(do: fn _, _ -> exit(:shutdown) end),
      normal: quote(do: fn _, _ -> exit(:normal) end),
      kill: quote(do: fn _, _ -> Process.exit(self(), :kill) end),
      link: quote(do: fn _, _ -> Task.async(fn -> Process.exit(self(), :kill) end) |> Task.await() end)
    ]

    for {name, fun} <- @failures do
      test "T1, T2: #{name}: a tool's result is an error with an id, and so is the log line" do
        {line, text} = failing(&call_tool("run", %{}, &1), unquote(fun))
        assert {:ok, %{"isError" => true, "content" => [%{"text" => text}]}} = text
        assert [_, id] = Regex.run(@failed, text)
        assert line =~ "MCP tools/call \"run\" failed (error id #{id}): "
        assert byte_size(line) <= 8_192
      end

      test "T1, T2: #{name}: anything else is -32603 with the id" do
        for call <- [
              &get_prompt("run", %{}, &1),
              &read_resource("run://fixed", &1),
              &complete_prompt("run", "name", "", &1)
            ] do
          {line, result} = failing(call, unquote(fun))

          assert {:error, %{"code" => -32603, "message" => "Internal error", "data" => %{"errorId" => id} = data}} =
                   result

          assert map_size(data) == 1
          assert line =~ "failed (error id #{id}): "
        end
      end
    end

    # The line of a killed call is written by a process of its own.
    defp failing(call, fun) do
      test = self()

      line =
        capture_log(fn ->
          send(test, {:result, call.(answers(fun))})
          Process.sleep(20)
        end)

      assert_received {:result, result}
      {line, result}
    end

    test "T1: what was raised reaches the log and not the client" do
      {line, {:ok, result}} = failing(&call_tool("run", %{}, &1), fn _, _ -> raise "secret 42" end)
      assert line =~ "** (RuntimeError) secret 42"
      assert line =~ "calls_test.exs"
      refute inspect(result) =~ "secret"
    end

    test "T2: killing whatever it is linked to reaches nobody" do
      run = fn _, _ ->
        for pid <- elem(Process.info(self(), :links), 1), do: Process.exit(pid, :kill)
        for pid <- Process.get(:"$ancestors", []), is_pid(pid), do: Process.exit(pid, :kill)
        {:ok, [text("alone")]}
      end

      client = open(run)
      tool(client, 1)
      assert said(next(client)) == "alone"
      tool(client, 2)
      assert said(next(client)) == "alone"
    end

    test "T2: other requests live on, 1,000 times" do
      test = self()

      run = fn
        _, %{"die" => true} -> Process.exit(self(), :kill)
        conn, arguments -> gated(test).(conn, arguments)
      end

      client = open(run)
      tool(client, "slow", "run", %{"n" => 1})
      assert_receive {:entered, 1, slow}

      capture_log(fn ->
        for id <- 1..1_000 do
          tool(client, id, "run", %{"die" => true})
          assert said(next(client)) =~ @failed
        end

        Process.sleep(20)
      end)

      send(slow, :go)
      assert %{"id" => "slow"} = answer = next(client)
      assert said(answer) == "done 1"
    end

    test "T4: garbage is an error with an id, named in the log only" do
      garbage =
        [nil, :ok, {:ok}, {1, 2, 3, 4, 5}, {:ok, nil}, {:ok, [1 | 2]}, {:ok, [self()]}, {:ok, [nil]}] ++
          [{:ok, %{a: make_ref()}}, {:ok, ~D[2020-01-01]}, {:error, :reason}, {:error, <<255>>}] ++
          [{:ok, [text(<<255>>)]}, {:ok, %{deep: deep(100_000)}}]

      for returned <- garbage do
        {line, result} = failing(&call_tool("run", %{}, &1), fn _, _ -> returned end)
        assert {:ok, %{"isError" => true, "content" => [%{"text" => text}]}} = result
        assert text =~ @failed
        assert line =~ "invalid handler result"
      end
    end

    defp deep(levels), do: Enum.reduce(1..levels, [], fn _, inner -> [inner] end)

    test "T4: of a prompt, a resource and a completion too" do
      for call <- [
            &get_prompt("run", %{}, &1),
            &read_resource("run://fixed", &1),
            &complete_prompt("run", "name", "", &1)
          ] do
        {line, result} = failing(call, fn _, _ -> {:ok, self()} end)
        assert {:error, %{"code" => -32603, "data" => %{"errorId" => _}}} = result
        assert line =~ "invalid handler result"
      end
    end

    test "output that does not fit the declared schema" do
      {line, {:ok, result}} = failing(&call_tool("sum", %{}, &1), fn _, _ -> {:ok, %{sum: "three"}} end)
      assert %{"isError" => true, "content" => [%{"text" => text}]} = result
      assert text =~ @failed
      assert line =~ "structured content does not fit the output schema"
    end

    test "T5: a result over the limit" do
      big = fn _, _ -> {:ok, [text(String.duplicate("x", 100_000))]} end
      assert {:ok, %{"isError" => false}} = call_tool("run", %{}, answers(big) ++ [max_result_bytes: 101_000])
      {line, {:ok, result}} = failing(&call_tool("run", %{}, &1 ++ [max_result_bytes: 100_000]), big)
      assert %{"isError" => true} = result
      assert line =~ "the result is larger than 100000 bytes"
    end

    test "T5: a heap over the limit ends that call alone" do
      run = fn
        _, %{"big" => true} -> {:ok, Enum.to_list(1..10_000_000)}
        _, _ -> {:ok, [text("fine")]}
      end

      client = open(run, max_heap_words: 1_000_000)

      capture_log(fn ->
        tool(client, 1, "run", %{"big" => true})
        assert said(next(client)) =~ @failed
      end)

      tool(client, 2)
      assert said(next(client)) == "fine"
    end

    test "T8: what it sends its connection is dropped" do
      run = fn conn, _ ->
        for n <- 1..10_000, do: send(conn.call.connection, {:flood, n})
        GenServer.cast(conn.call.connection, :flood)
        {:error, :unknown_call} = GenServer.call(conn.call.connection, :flood)
        {:ok, [text("flooded")]}
      end

      client = open(run)
      tool(client, 1)
      assert said(next(client)) == "flooded"
      assert Process.info(client.connection, :message_queue_len) == {:message_queue_len, 0}
    end
  end

  describe "deadlines" do
    test "T3: a call that hangs is ended at its tool's own time" do
      log =
        capture_log(fn ->
          {microseconds, result} =
            :timer.tc(fn -> call_tool("brief", %{}, answers(fn _, _ -> Process.sleep(:infinity) end)) end)

          assert {:ok, %{"isError" => true, "content" => [%{"text" => text}]}} = result
          assert text =~ @failed
          assert microseconds in 100_000..200_000
          Process.sleep(20)
        end)

      assert log =~ "timed out after 100 ms"
    end

    test "T3: a busy loop is ended as well, and its place is free again" do
      client = open(fn _, %{"n" => n} -> if n == 1, do: spin(), else: {:ok, [text("next")]} end, max_calls: 1)

      capture_log(fn ->
        tool(client, 1, "brief", %{"n" => 1})
        tool(client, 2, "brief", %{"n" => 2})
        assert %{"id" => 1} = next(client)
        assert %{"id" => 2} = answer = next(client)
        assert said(answer) == "next"
      end)
    end

    defp spin, do: spin()

    test "T3: what is no tool answers -32603" do
      slow = answers(fn _, _ -> Process.sleep(:infinity) end) ++ [timeout: 100]

      capture_log(fn ->
        for call <- [
              &get_prompt("run", %{}, &1),
              &read_resource("run://fixed", &1),
              &complete_prompt("run", "name", "", &1)
            ] do
          {microseconds, result} = :timer.tc(fn -> call.(slow) end)
          assert {:error, %{"code" => -32603}} = result
          assert microseconds in 100_000..200_000
        end
      end)
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

      refute_receive {:entered, 65, _pid}, 30
      send(hd(running), :go)
      assert_receive {:entered, 65, _pid}
      assert %{"id" => 1} = next(client)
    end

    test "nothing is read ahead without end, and still everything is answered, in 10,000 lines at once" do
      client = open(fn _, %{"n" => n} -> {:ok, [text("#{n}")]} end, max_calls: 4, max_waiting: 10)
      lines = for n <- 1..10_000, do: call_line(client, n)
      lines(client, lines)
      answers = for _ <- 1..10_000, do: next(client)
      assert Enum.sort(Enum.map(answers, & &1["id"])) == Enum.to_list(1..10_000)
      assert Enum.all?(answers, &(said(&1) == "#{&1["id"]}"))
    end

    test "waiting requests are bounded by their weight too" do
      client = open(gated(self()), max_calls: 1, max_waiting_bytes: 1_000)
      lines(client, for(n <- 1..50, do: call_line(client, n)))
      settle(client)
      state = :sys.get_state(client.connection)
      assert state.waiting.count in 1..10
      assert length(state.backlog) == 50 - 1 - state.waiting.count
    end

    defp call_line(client, n) do
      message = %{"id" => n, "method" => "tools/call", "params" => %{"name" => "run", "arguments" => %{"n" => n}}}
      McpServer.JSON.encode!(McpServer.Test.Client.complete(client, message))
    end

    test "M7: an id that is in flight is refused, and the first call completes unharmed" do
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

    test "M7: an id that waits is in flight" do
      client = open(gated(self()), max_calls: 1)
      tool(client, 1, "run", %{"n" => 1})
      tool(client, 2, "run", %{"n" => 2})
      tool(client, 2, "run", %{"n" => 3})
      assert %{"id" => 2, "error" => %{"code" => -32600}} = next(client)
    end

    test "M5: ids of either kind are told apart" do
      client = open(gated(self()))
      for {id, n} <- [{1, 1}, {"1", 2}], do: tool(client, id, "run", %{"n" => n})
      assert_receive {:entered, 1, first}
      assert_receive {:entered, 2, second}
      send(second, :go)
      assert %{"id" => "1"} = next(client)
      send(first, :go)
      assert %{"id" => 1} = next(client)
    end
  end

  describe "cancellation" do
    test "a running call is ended and nothing is sent" do
      for revision <- @eras do
        client = open(gated(self()), revision: revision)
        tool(client, 1, "run", %{"n" => 1})
        assert_receive {:entered, 1, pid}
        reference = Process.monitor(pid)
        tell(client, "notifications/cancelled", %{"requestId" => 1, "reason" => "changed my mind"})
        assert_receive {:DOWN, ^reference, :process, ^pid, :killed}
        assert silent?(client)
        assert capture_log(fn -> settle(client) end) == ""
      end
    end

    test "a waiting call never starts" do
      client = open(gated(self()), max_calls: 1)
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

    test "M25: of an unknown request it means nothing" do
      client = open(fn _, _ -> {:ok, []} end)
      for id <- [99, "99", -1], do: tell(client, "notifications/cancelled", %{"requestId" => id})
      assert silent?(client)
      tool(client, 1)
      assert %{"id" => 1} = next(client)
    end
  end

  describe "the end of the connection" do
    test "S1: after the client's last message its requests are answered" do
      client = open(gated(self()))
      for n <- 1..3, do: tool(client, n, "run", %{"n" => n})

      pids =
        for n <- 1..3,
            do:
              (
                assert_receive {:entered, ^n, pid}
                pid
              )

      send(client.connection, {:mcp_test_in, client.reference, :eof})
      assert silent?(client)
      for pid <- pids, do: send(pid, :go)
      assert Enum.sort(for _ <- 1..3, do: next(client)["id"]) == [1, 2, 3]
      assert next(client) == {:closed, :eof}
    end

    test "S1: for as long as the grace lasts" do
      client = open(gated(self()), grace: 50)
      tool(client, 1, "run", %{"n" => 1})
      assert_receive {:entered, 1, pid}
      reference = Process.monitor(pid)
      send(client.connection, {:mcp_test_in, client.reference, :eof})
      assert_receive {:DOWN, ^reference, :process, ^pid, :killed}, 200
      assert next(client) == {:closed, :eof}
    end

    test "no call outlives a connection that is killed" do
      Process.flag(:trap_exit, true)
      client = open(gated(self()))
      tool(client, 1, "run", %{"n" => 1})
      assert_receive {:entered, 1, pid}
      reference = Process.monitor(pid)
      Process.exit(client.connection, :kill)
      assert_receive {:DOWN, ^reference, :process, ^pid, :killed}
    end
  end

  test "debug_errors: the exception's text reaches the client" do
    on_exit(fn -> Application.delete_env(:mcp_server, :debug_errors) end)
    Application.put_env(:mcp_server, :debug_errors, true)

    capture_log(fn ->
      assert {:ok, %{"content" => [%{"text" => text}]}} = call_tool("run", %{}, answers(fn _, _ -> raise "boom" end))
      assert text =~ ~r/\ATool execution failed \(error id [0-9a-f]{16}\): \*\* \(RuntimeError\) boom\z/

      assert {:error, %{"data" => %{"detail" => "** (RuntimeError) boom"}}} =
               get_prompt("run", %{}, answers(fn _, _ -> raise "boom" end))
    end)
  end
end
