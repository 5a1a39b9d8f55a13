defmodule McpServer.Protocol.FailuresTest do
  # Failing calls: the response, the log, and no effect on other calls. Not async: these tests read the log.
  use ExUnit.Case, async: false
  use McpServer.Test, router: McpServer.RuntimeRouter

  import McpServer.TestLog
  import McpServer.Tool.Content, only: [text: 1]
  import McpServer.Wire

  alias McpServer.Processes

  @moduletag :capture_log

  setup context do
    if context[:watch_log] == false, do: :ok, else: watch_log()
  end

  @failed ~r/\ATool execution failed \(error id ([0-9a-f]{16})\)\z/

  defp answers(fun), do: [assigns: %{run: fun}]

  defp error_id({:error, %{"data" => %{"errorId" => id}}}), do: id

  defp error_id({:ok, %{"content" => [%{"text" => text}]}}) do
    assert [_, id] = Regex.run(~r/\(error id ([0-9a-f]{16})\)/, text)
    id
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
      @tag req: ["T1", "T2"]
      test "#{name}: a tool's result is an error with an id, and so is the log line" do
        {line, text} = failing(&call_tool("run", %{}, &1), unquote(fun))
        assert {:ok, %{"isError" => true, "content" => [%{"text" => text}]}} = text
        assert [_, id] = Regex.run(@failed, text)
        assert line =~ "MCP tools/call \"run\" failed (error id #{id}): "
        assert byte_size(line) <= 8_192
      end

      @tag req: ["T1", "T2"]
      test "#{name}: anything else is -32603 with the id" do
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

    # A separate process logs the line of a killed call, so it may come after the result.
    defp failing(call, fun) do
      result = call.(answers(fun))
      {log_until("(error id #{error_id(result)})"), result}
    end

    @tag req: "T1"
    test "what was raised reaches the log and not the client" do
      {line, {:ok, result}} = failing(&call_tool("run", %{}, &1), fn _, _ -> raise "secret 42" end)
      assert line =~ "** (RuntimeError) secret 42"
      assert line =~ "failures_test.exs"
      refute inspect(result) =~ "secret"
    end

    @tag req: "T2"
    test "killing whatever it is linked to reaches nobody" do
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

    # The lines of so many failures would slow down the test's receives.
    @tag req: "T2", watch_log: false
    test "other requests live on, 10,000 times" do
      test = self()

      run = fn
        _, %{"die" => true} ->
          Process.exit(self(), :kill)

        _, _ ->
          send(test, {:entered, self()})
          receive do: (:go -> {:ok, [text("unharmed")]})
      end

      client = open(run)
      tool(client, "slow")
      assert_receive {:entered, slow}

      for id <- 1..10_000, do: tool(client, id, "run", %{"die" => true})
      assert Enum.sort(for _ <- 1..10_000, do: next(client)["id"]) == Enum.to_list(1..10_000)
      send(slow, :go)
      assert %{"id" => "slow"} = answer = next(client)
      assert said(answer) == "unharmed"
      # Separate processes write the log. The next test is not to see it.
      Processes.children_gone(client.connection)
    end

    @tag req: "T4"
    test "garbage is an error with an id, named in the log only" do
      garbage =
        [nil, :ok, {:ok}, {1, 2, 3, 4, 5}, {:ok, nil}, {:ok, [1 | 2]}, {:ok, [self()]}, {:ok, [nil]}] ++
          [{:ok, %{a: make_ref()}}, {:ok, ~D[2020-01-01]}, {:error, {:reason}}, {:error, nil}, {:error, <<255>>}] ++
          [{:ok, [text(<<255>>)]}, {:ok, %{deep: deep(100_000)}}]

      for returned <- garbage do
        {line, result} = failing(&call_tool("run", %{}, &1), fn _, _ -> returned end)
        assert {:ok, %{"isError" => true, "content" => [%{"text" => text}]}} = result
        assert text =~ @failed
        assert line =~ "invalid handler result"
      end
    end

    defp deep(levels), do: Enum.reduce(1..levels, [], fn _, inner -> [inner] end)

    @tag req: "T4"
    test "of a prompt, a resource and a completion too" do
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
      assert line =~ "what McpServer.RuntimeRouter.Handlers.run/2 returned does not fit the output schema: "
    end

    @tag req: "T5"
    test "a result over the limit" do
      big = fn _, _ -> {:ok, [text(String.duplicate("x", 100_000))]} end
      assert {:ok, %{"isError" => false}} = call_tool("run", %{}, answers(big) ++ [limits: [max_result_bytes: 101_000]])
      {line, {:ok, result}} = failing(&call_tool("run", %{}, &1 ++ [limits: [max_result_bytes: 100_000]]), big)
      assert %{"isError" => true} = result
      assert line =~ "the result is larger than 100000 bytes"
    end

    @tag req: "T5"
    test "a heap over the limit ends that call alone" do
      run = fn
        _, %{"big" => true} -> {:ok, Enum.to_list(1..10_000_000)}
        _, _ -> {:ok, [text("fine")]}
      end

      client = open(run, limits: [max_heap_bytes: 8_000_000])

      tool(client, 1, "run", %{"big" => true})
      assert said(next(client)) =~ @failed
      tool(client, 2)
      assert said(next(client)) == "fine"
    end

    @tag req: "T8"
    test "what it sends its connection is dropped" do
      run = fn conn, _ ->
        for n <- 1..10_000, do: send(conn.call.connection, {:flood, n})
        GenServer.cast(conn.call.connection, :flood)
        {:error, :unknown_call} = GenServer.call(conn.call.connection, :flood)
        {:ok, [text("flooded")]}
      end

      client = open(run)
      tool(client, 1)
      assert said(next(client)) == "flooded"
      settle(client)
      assert Process.info(client.connection, :message_queue_len) == {:message_queue_len, 0}
    end
  end

  describe "deadlines" do
    @tag req: "T3"
    test "a call that hangs is ended at its tool's own time" do
      {microseconds, {line, result}} =
        :timer.tc(fn -> failing(&call_tool("brief", %{}, &1), fn _, _ -> Process.sleep(:infinity) end) end)

      assert {:ok, %{"isError" => true, "content" => [%{"text" => text}]}} = result

      assert text =~
               ~r/\ATool execution failed \(error id [0-9a-f]{16}\): it did not finish within 100 ms. Ask for less at once, or try again later\z/

      assert microseconds >= 100_000
      assert line =~ "timed out after 100 ms"
    end

    @tag req: "T3"
    test "a busy loop is ended as well, and its place is free again" do
      client = open(fn _, %{"n" => n} -> if n == 1, do: spin(), else: {:ok, [text("next")]} end, limits: [max_calls: 1])

      tool(client, 1, "brief", %{"n" => 1})
      tool(client, 2, "run", %{"n" => 2})
      assert %{"id" => 1} = next(client)
      assert %{"id" => 2} = answer = next(client)
      assert said(answer) == "next"
    end

    defp spin, do: spin()

    @tag req: "T3"
    test "what is no tool answers -32603" do
      slow = answers(fn _, _ -> Process.sleep(:infinity) end) ++ [timeout: 100]

      for call <- [
            &get_prompt("run", %{}, &1),
            &read_resource("run://fixed", &1),
            &complete_prompt("run", "name", "", &1)
          ] do
        {microseconds, result} = :timer.tc(fn -> call.(slow) end)
        assert {:error, %{"code" => -32603}} = result
        assert microseconds >= 100_000
      end
    end
  end
end
