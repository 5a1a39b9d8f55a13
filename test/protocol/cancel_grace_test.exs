defmodule McpServer.Protocol.CancelGraceTest do
  # If its call is cancelled or times out, a handler gets a trappable exit signal before it is killed.
  use ExUnit.Case, async: true
  use McpServer.Test, router: McpServer.ConfirmRouter

  alias McpServer.{
    Conn,
    ConfirmRouter,
    HttpCase,
    HttpClient,
    HttpPeer,
    HttpRequests,
    HttpServers,
    HttpSession,
    JSON,
    Processes,
    StdioPeer,
    Wire
  }

  @eras ["2025-11-25", "2026-07-28"]

  defp start(name, revision, arguments \\ %{}) do
    client = connect(revision: revision, assigns: %{test: self()})
    params = Map.merge(%{"name" => name, "arguments" => %{}}, arguments)
    message = McpServer.Test.Client.complete(client, %{"id" => 1, "method" => "tools/call", "params" => params})
    McpServer.Test.Client.push(client, message)
    assert_receive {:started, pid}
    {client, pid, Processes.monitor(pid)}
  end

  defp cancel(client) do
    params = %{"requestId" => 1}
    :none = request(%{"method" => "notifications/cancelled", "params" => params}, on: client)
  end

  for revision <- @eras do
    @revision revision

    test "#{revision}: a cancelled handler cleans up" do
      {client, _pid, monitor} = start("slow", @revision)
      cancel(client)
      assert_receive {:cleaned_up, {:shutdown, :cancelled}}
      assert_receive {:DOWN, ^monitor, :process, _pid, _reason}
      # The client gets no response.
      refute_received {:mcp_client, _reference, %{"id" => 1}}
    end

    test "#{revision}: so does one that is out of time" do
      {client, _pid, monitor} = start("slow", @revision)
      Wire.expire(client)
      assert_receive {:cleaned_up, {:shutdown, :timeout}}
      assert_receive {:DOWN, ^monitor, :process, _pid, _reason}
      assert %{"id" => 1, "result" => %{"isError" => true}} = Wire.next(client)
    end

    test "#{revision}: one that does not end is killed, one without a grace at once" do
      for name <- ["stubborn", "plain"] do
        {client, _pid, monitor} = start(name, @revision)
        cancel(client)
        assert_receive {:DOWN, ^monitor, :process, _pid, :killed}
      end

      refute_received {:cleaned_up, _reason}
    end
  end

  test "the process of a task" do
    client = connect(revision: "2025-11-25", assigns: %{test: self()})
    params = %{"name" => "slow", "arguments" => %{}, "task" => %{}}
    answer = request(%{"id" => 1, "method" => "tools/call", "params" => params}, on: client)
    assert_receive {:started, _pid}
    id = answer["result"]["task"]["taskId"]
    answer = request(%{"id" => 2, "method" => "tasks/cancel", "params" => %{"taskId" => id}}, on: client)
    assert answer["result"]["status"] == "cancelled"
    assert_receive {:cleaned_up, {:shutdown, :cancelled}}
  end

  for kind <- [:listener, :plug] do
    @kind kind

    test "#{kind}: a client of HTTP that cancels, and one that goes" do
      server =
        HttpServers.start(@kind,
          router: ConfirmRouter,
          assigns: %{test: self()},
          http: [stream_after: 50, keep_alive: 50]
        )

      session = HttpSession.open(server)
      HttpSession.start(session, HttpRequests.legacy_call("slow"))
      assert_receive {:started, _pid}
      cancelled = HttpRequests.message("notifications/cancelled", %{"requestId" => 1}, id: nil)
      assert {%{status: 202}, []} = HttpSession.exchange(session, HttpRequests.in_session(JSON.encode!(cancelled)))
      assert_receive {:cleaned_up, {:shutdown, :cancelled}}

      {peer, %{body: :stream}} = HttpClient.open(server, HttpRequests.modern_call("slow"))
      assert_receive {:started, _pid}
      HttpPeer.close(peer)
      assert_receive {:cleaned_up, {:shutdown, :cancelled}}
    end
  end

  for revision <- @eras do
    @tag :tmp_dir
    test "#{revision}: over stdio, in a VM of its own", %{tmp_dir: tmp_dir} do
      command = StdioPeer.vm("McpServer.Stdio.run(McpServer.ConfirmRouter, app: :mcp_server)")
      peer = StdioPeer.start(command, tmp_dir: tmp_dir)
      open(peer, unquote(revision))
      file = Path.join(tmp_dir, "end")
      noted = fn text -> HttpCase.eventually(fn -> File.read(file) == {:ok, text} end) end

      StdioPeer.write(peer, call(unquote(revision), 1, "tidy", file))
      noted.("started")
      cancelled = HttpRequests.message("notifications/cancelled", %{"requestId" => 1}, id: nil)
      StdioPeer.write(peer, JSON.encode!(cancelled))
      noted.("{:shutdown, :cancelled}")

      # The next response does not belong to the first call. On a busy machine a handler's time can end before it begins.
      late = fn id ->
        File.write!(file, "not begun")
        StdioPeer.write(peer, call(unquote(revision), id, "tidy_late", file))
        assert %{"id" => ^id, "result" => %{"isError" => true}} = StdioPeer.read(peer)
        File.read!(file) != "not begun"
      end

      assert Enum.any?(2..20, late)
      noted.("{:shutdown, :timeout}")
    end
  end

  # Waits for the end of the start, so that it is not measured.
  defp open(peer, "2026-07-28") do
    StdioPeer.write(peer, StdioPeer.call("open", "bold"))
    assert %{"id" => "open"} = StdioPeer.read(peer, 30_000)
  end

  defp open(peer, revision) do
    StdioPeer.write(peer, StdioPeer.initialize("open", revision))
    assert %{"id" => "open"} = StdioPeer.read(peer, 30_000)
    StdioPeer.write(peer, JSON.encode!(HttpRequests.message("notifications/initialized", %{}, id: nil)))
  end

  defp call("2026-07-28", id, name, file), do: StdioPeer.call(id, name, %{"file" => file})

  defp call(_session_era, id, name, file),
    do: StdioPeer.request(id, "tools/call", %{"name" => name, "arguments" => %{"file" => file}})

  test "the generated callbacks have no deadline, and nothing to cancel" do
    caller = self()
    pid = spawn(fn -> ConfirmRouter.call_tool(%Conn{assigns: %{test: caller}}, "slow", %{}) end)
    assert_receive {:started, ^pid}
    Process.exit(pid, :any)
    assert_receive {:cleaned_up, :any}
  end
end
