defmodule McpServer.Call.TraceTest do
  # The log metadata of a call: its request id, and the reason of its failure.
  use ExUnit.Case, async: true
  use McpServer.Test, router: McpServer.RuntimeRouter

  import McpServer.Controller, only: [text: 1]

  alias McpServer.{Call.Trace, Conn, HttpClient, HttpRequests, HttpServers, Processes, TestLog}
  alias McpServer.Dispatch.Failure

  defp logged_as(_conn, _arguments), do: {:ok, [text(inspect(Logger.metadata()[:request_id]))]}

  defp run(fun, options \\ []), do: call_tool("run", %{"secret" => "42"}, [assigns: %{run: fun}] ++ options)

  # Other tests log at the same time.
  defp tell(%{meta: %{crash_reason: {%ArgumentError{message: "trace_test"} = exception, stack}} = meta}, test),
    do: send(test, {:logged, exception, stack, meta.request_id})

  defp tell(_event, _test), do: :ok

  test "the process of a call logs under the JSON-RPC id" do
    client = connect(assigns: %{run: &logged_as/2})

    message =
      &%{"id" => &1, "method" => "tools/call", "params" => %{"name" => "run", "arguments" => %{"secret" => "42"}}}

    for {id, logged} <- [{7, ~s("7")}, {"a-1.b:c/d+e=f@g_", ~s("a-1.b:c/d+e=f@g_")}, {"a\nb", "nil"}, {"", "nil"}] do
      assert %{"result" => %{"content" => [%{"text" => ^logged}]}} = request(message.(id), on: client)
    end
  end

  test "a process that logs under a request id of HTTP gives it to its call" do
    Logger.metadata(request_id: "proxy-1")
    conn = Trace.capture(%Conn{})
    assert Trace.request_id(conn, 7) == "proxy-1"
    Logger.reset_metadata()
    assert Trace.capture(%Conn{}) == %Conn{}
    assert Trace.request_id(%Conn{}, String.duplicate("a", 201)) == nil
  end

  test "behind a plug the id of the HTTP request goes to the handler's process" do
    init = fn request ->
      Logger.metadata(request_id: request |> Map.fetch!(:req_headers) |> List.keyfind("x-request-id", 0) |> elem(1))
      %Conn{assigns: %{run: &logged_as/2}}
    end

    server = HttpServers.start(:plug, router: McpServer.RuntimeRouter, init: init)
    call = HttpRequests.modern("tools/call", %{"name" => "run", "arguments" => %{"secret" => "42"}})
    call = HttpRequests.with_headers(call, [{"x-request-id", "proxy-2"}])
    assert %{"result" => %{"content" => [%{"text" => ~s("proxy-2")}]}} = HttpClient.answer(server, call)
  end

  test "the Logger metadata of a call has a name of its principal, and no session that can be used" do
    principal = fn principal -> Trace.metadata(nil, nil, principal, nil)[:mcp_principal] end
    for name <- ["ada@example.com", "Ada Lovelace", "Zoë", 7, :admin], do: assert(principal.(name) == name)
    assert {principal.(%{id: 7, secret: "s"}), principal.(%{id: %{id: "ada"}})} == {7, "ada"}

    for other <- [
          nil,
          "",
          "a\nb",
          "a\u202Eb",
          "a\u2028b",
          <<255>>,
          String.duplicate("a", 201),
          {:user, 1},
          %{name: "ada"}
        ],
        do: assert(principal.(other) == nil)

    assert Trace.metadata(nil, 7, nil, "a-session") == %{request_id: "7", mcp_session: "006a7ce0e1e1"}
    assert Trace.metadata("proxy-1", 7, nil, nil) == %{request_id: "proxy-1"}
  end

  test "the Logger metadata of another process" do
    pid = Processes.waiting(fn -> Logger.metadata(tenant: "acme") end)
    assert Trace.logged(pid) == %{tenant: "acme"}
    assert Trace.logged(Processes.waiting(fn -> :ok end)) == nil
    send(pid, :stop)
    Processes.gone(pid)
    assert Trace.logged(pid) == nil
    refute_received {:DOWN, _monitor, :process, _pid, _reason}
  end

  describe "crash_reason" do
    defp crash(kind, reason), do: kind |> Failure.new(reason, [{T, :f, ["secret"], []}]) |> Failure.crash_reason()

    test "an exception with a message alone keeps its type" do
      assert crash(:error, %ArgumentError{message: ~s(not "secret")}) ==
               {%ArgumentError{message: ~s(not "...")}, [{T, :f, 1, []}]}

      assert {%RuntimeError{message: "boom"}, _stack} = crash(:error, %RuntimeError{message: "boom"})
    end

    test "what holds terms arrives as text without data" do
      for {kind, reason, text} <- [
            {:error, %KeyError{key: :a, term: %{b: "secret"}},
             "** (KeyError) key :a not found in: %{b: #String<6 bytes>}"},
            {:error, {:badmatch, "secret"}, "** (MatchError) no match of right hand side value: #String<6 bytes>"},
            {:throw, "secret", "** (throw) #String<6 bytes>"},
            {:exit, {:down, "secret"}, "** (exit) {:down, #String<6 bytes>}"}
          ],
          do: assert({%RuntimeError{message: ^text}, [{T, :f, 1, []}]} = crash(kind, reason))
    end

    @tag :capture_log
    test "the log line of a call has it, with the request id" do
      test = self()
      on_exit(TestLog.subscribe(&tell(&1, test)))
      {:ok, _result} = run(fn _, _ -> raise ArgumentError, "trace_test" end)
      assert_received {:logged, %ArgumentError{message: "trace_test"}, [_ | _], id}
      assert id =~ ~r/\A\d+\z/
    end
  end
end
