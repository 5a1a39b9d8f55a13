defmodule McpServer.Protocol.NotificationsTest do
  # Progress and log messages of calls.
  use ExUnit.Case, async: true
  use McpServer.Test, router: McpServer.RuntimeRouter

  import McpServer.Controller
  import McpServer.Wire, only: [open: 2, tool: 2, next: 1, settle: 1]

  @eras ["2025-06-18", "2026-07-28"]

  defp answers(fun), do: [assigns: %{run: fun}]

  defp received(method, found \\ []) do
    receive do
      {:mcp_notification, ^method, params} -> received(method, [params | found])
    after
      0 -> Enum.reverse(found)
    end
  end

  describe "progress" do
    @counting quote(
                do: fn conn, _arguments ->
                  for n <- [0, 1, 1, 0.5, 2.5, 2], do: progress(conn, n, 3, "step #{n}")
                  {:ok, []}
                end
              )

    test "goes out with the client's token, as long as it grows" do
      for revision <- @eras, token <- ["t", 7] do
        {:ok, _result} =
          call_tool("run", %{}, answers(unquote(@counting)) ++ [revision: revision, progress_token: token])

        assert received("notifications/progress") == [
                 %{"progressToken" => token, "progress" => 0, "total" => 3, "message" => "step 0"},
                 %{"progressToken" => token, "progress" => 1, "total" => 3, "message" => "step 1"},
                 %{"progressToken" => token, "progress" => 2.5, "total" => 3, "message" => "step 2.5"}
               ]
      end
    end

    test "has no message before 2025-03-26" do
      {:ok, _result} =
        call_tool("run", %{}, answers(unquote(@counting)) ++ [revision: "2024-11-05", progress_token: "t"])

      assert [%{"progress" => 0} = first | _] = received("notifications/progress")
      refute is_map_key(first, "message")
    end

    test "stays at home without a token" do
      for revision <- @eras do
        {:ok, _result} = call_tool("run", %{}, answers(unquote(@counting)) ++ [revision: revision])
        assert received("notifications/progress") == []
      end
    end

    test "comes before the result, from any process of the call" do
      run = fn conn, _arguments ->
        1..20 |> Task.async_stream(fn n -> progress(conn, n) end, max_concurrency: 1) |> Stream.run()
        {:ok, []}
      end

      client = open(run, progress_token: 1)
      tool(client, 1)
      assert %{"id" => 1} = next(client)
      assert Enum.map(received("notifications/progress"), & &1["progress"]) == Enum.to_list(1..20)
    end

    @tag req: "T6"
    test "after the result it is dropped" do
      test = self()

      run = fn conn, _arguments ->
        spawn(fn ->
          receive do
            :late -> send(test, {:late, progress(conn, 9), log(conn, :error, "late")})
          end
        end)
        |> then(&send(test, {:straggler, &1}))

        {:ok, []}
      end

      client = open(run, progress_token: 1, log_level: :debug)
      tool(client, 1)
      assert %{"id" => 1} = next(client)
      assert_receive {:straggler, pid}
      send(pid, :late)
      assert_receive {:late, :ok, :ok}
      settle(client)
      assert received("notifications/progress") == []
      assert received("notifications/message") == []
    end

    @tag req: "T6"
    test "50,000 in a row are no burden, and the result is never lost" do
      run = fn conn, _arguments ->
        for n <- 1..50_000, do: progress(conn, n)
        {:ok, [text("#{elem(Process.info(conn.call.connection, :message_queue_len), 1)}")]}
      end

      options = answers(run) ++ [progress_token: 1, receive_timeout: 60_000]
      assert {:ok, %{"content" => [%{"text" => queue}]}} = call_tool("run", %{}, options)
      assert String.to_integer(queue) < 10
      assert length(received("notifications/progress")) == 50_000
    end

    test "to a connection that is gone it says so" do
      test = self()

      run = fn conn, _arguments ->
        send(test, {:conn, conn})
        {:ok, []}
      end

      {:ok, _result} = call_tool("run", %{}, answers(run) ++ [progress_token: 1])
      assert_received {:conn, conn}
      assert McpServer.Call.notify(conn, :progress, %{progress: 1}) == {:error, :closed}
    end
  end

  describe "log messages" do
    @logging quote(
               do: fn conn, _arguments ->
                 for level <- ~w(debug info notice warning error critical alert emergency),
                     do: log(conn, level, %{"n" => level}, logger: "l")

                 {:ok, []}
               end
             )

    test "session era: info and above, until the client says otherwise" do
      for revision <- ["2024-11-05", "2025-11-25"] do
        {:ok, _result} = call_tool("run", %{}, answers(unquote(@logging)) ++ [revision: revision])

        assert [%{"level" => "info", "logger" => "l", "data" => %{"n" => "info"}} | rest] =
                 received("notifications/message")

        assert length(rest) == 6

        {:ok, _result} = call_tool("run", %{}, answers(unquote(@logging)) ++ [revision: revision, log_level: :error])
        assert ~w(error critical alert emergency) == Enum.map(received("notifications/message"), & &1["level"])
      end
    end

    test "stateless era: only for a request that names a level, and only for that request" do
      client = connect(answers(unquote(@logging)))
      {:ok, _result} = call_tool("run", %{}, on: client)
      assert received("notifications/message") == []
      {:ok, _result} = call_tool("run", %{}, on: client, log_level: "alert")
      assert ~w(alert emergency) == Enum.map(received("notifications/message"), & &1["level"])
      {:ok, _result} = call_tool("run", %{}, on: client)
      assert received("notifications/message") == []
    end

    test "every level of the specification can be asked for, and no other" do
      for level <- ~w(debug info notice warning error critical alert emergency),
          revision <- ["2025-11-25", "2026-07-28"] do
        options = answers(unquote(@logging)) ++ [revision: revision, log_level: level]
        assert {:ok, %{"isError" => false}} = call_tool("run", %{}, options)
        assert [%{"level" => ^level} | _more_severe] = received("notifications/message")
      end

      assert {:error, %{"code" => -32602, "message" => message}} =
               call_tool("run", %{}, answers(unquote(@logging)) ++ [log_level: "notification"])

      assert message ==
               "Invalid params: io.modelcontextprotocol/logLevel must be one of " <>
                 "debug, info, notice, warning, error, critical, alert, emergency"
    end

    test "data that cannot be JSON costs the handler an error and the client nothing" do
      test = self()

      run = fn conn, _arguments ->
        send(test, log(conn, :error, self()))
        {:ok, []}
      end

      assert {:ok, %{"isError" => false}} = call_tool("run", %{}, answers(run) ++ [log_level: :debug])
      assert_received {:error, %McpServer.JSON.EncodeError{}}
      assert received("notifications/message") == []
    end
  end
end
