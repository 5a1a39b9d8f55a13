defmodule McpServer.ClientTest do
  # The client of the Mix tasks, over each transport, in each era.
  use ExUnit.Case, async: true

  alias McpServer.{Client, HttpServer}
  alias McpServer.Client.{Command, Error}
  alias McpServer.Client.Http.Exchange
  alias McpServer.ClientServer, as: Server

  @answers %{"elicitation/create" => %{"action" => "accept", "content" => %{"name" => "Ada"}}}
  @revisions [nil, "2026-07-28", "2025-11-25", "2025-06-18"]

  # The command that starts this test's server in a separate VM.
  defp command do
    ebin = :mcp_server |> :code.lib_dir() |> Path.join("ebin")
    "elixir -pa '#{ebin}' -e 'McpServer.Stdio.run(McpServer.ClientServer)'"
  end

  defp targets do
    server = start_supervised!({HttpServer, router: Server, port: 0}, id: make_ref())
    [router: Server, url: "http://127.0.0.1:#{HttpServer.port(server)}/mcp"]
  end

  test "each link and revision: questions, progress, log messages" do
    for target <- targets(), revision <- @revisions do
      here = self()

      client =
        Client.open(target,
          revision: revision,
          answers: @answers,
          progress_token: "p",
          log_level: :warning,
          notify: &send(here, {:told, &1, &2})
        )

      assert client.revision == revision || "2026-07-28"
      assert {:ok, tools} = Client.list(client, "tools/list", "tools")
      assert Enum.map(tools, & &1["name"]) == ["greet", "region"]

      assert {:ok, %{"content" => [%{"text" => "Hello, Ada!"}]}} =
               Client.call(client, "tools/call", %{"name" => "greet", "arguments" => %{}})

      assert_received {:told, "notifications/progress", %{"progress" => 1, "total" => 2, "progressToken" => "p"}}
      assert_received {:told, "notifications/message", %{"level" => "warning", "data" => "about to ask"}}
      assert Client.close(client) == :ok
    end
  end

  test "headers repeat what a tool's schema says, whoever listed the tools" do
    [_router, url] = targets()
    arguments = %{"region" => " süd ", "place" => %{"zone" => 7}}

    for listed? <- [true, false] do
      client = Client.open(url, revision: "2026-07-28")
      if listed?, do: {:ok, _tools} = Client.list(client, "tools/list", "tools")

      assert {:ok, %{"content" => [%{"text" => " süd /7 for nil"}]}} =
               Client.call(client, "tools/call", %{"name" => "region", "arguments" => arguments})

      assert Client.close(client) == :ok
    end
  end

  test "the principal of a link in the same VM" do
    client = Client.open({:router, Server}, principal: "ada")
    arguments = %{"region" => "r", "place" => %{"zone" => 1}}

    assert {:ok, %{"content" => [%{"text" => "r/1 for \"ada\""}]}} =
             Client.call(client, "tools/call", %{"name" => "region", "arguments" => arguments})

    Client.close(client)
  end

  test "a session that the server has lost is opened anew" do
    [_router, {:url, url} = target] = targets()
    client = Client.open(target, revision: "2025-11-25")
    %{session: session} = :sys.get_state(client.connection)
    :ok = Exchange.delete(%{url: url, headers: [], tls: [], session: session})
    assert {:ok, [_, _]} = Client.list(client, "tools/list", "tools")
    assert %{session: %{revision: "2025-11-25", id: id}} = :sys.get_state(client.connection)
    assert is_binary(id) and id != session.id
    assert Client.close(client) == :ok
  end

  test "a server that is being restarted is tried again" do
    server = start_supervised!({HttpServer, router: Server, port: 0}, id: :first)
    port = HttpServer.port(server)
    client = Client.open({:url, "http://127.0.0.1:#{port}/mcp"}, revision: "2025-11-25", retry_ms: 10_000)
    :ok = stop_supervised(:first)
    Client.push(client, Client.complete(client, %{"id" => 1, "method" => "tools/list"}))
    start_supervised!({HttpServer, router: Server, port: port}, id: :second)
    assert %{"result" => %{"tools" => [_, _]}} = Client.await_answer(client, 1, &match?(%{"id" => 1}, &1))
    assert Client.close(client) == :ok
  end

  test "what cannot be reached, and who is refused, is said in a sentence" do
    {:ok, taken} = :gen_tcp.listen(0, ip: {127, 0, 0, 1})
    {:ok, port} = :inet.port(taken)
    :ok = :gen_tcp.close(taken)
    url = "http://127.0.0.1:#{port}/mcp"

    error = assert_raise Error, fn -> Client.open({:url, url}, revision: nil) end
    assert {error.kind, error.message} == {:unreachable, "#{url} cannot be reached: Nobody listens there"}

    refusing =
      start_supervised!({HttpServer, router: Server, port: 0, identify: fn _request -> {:error, :unauthorized} end},
        id: make_ref()
      )

    url = "http://127.0.0.1:#{HttpServer.port(refusing)}/mcp"
    error = assert_raise Error, fn -> Client.open({:url, url}, revision: nil) end
    assert {error.kind, error.status} == {:refused, 401}
  end

  test "a command: its questions, its end, and what is no message" do
    client = Client.open({:command, command()}, revision: nil, answers: @answers, receive_timeout: 60_000)
    assert {:ok, %{"content" => [%{"text" => "Hello, Ada!"}]}} = Client.call(client, "tools/call", %{"name" => "greet"})
    monitor = Process.monitor(client.connection)
    assert Client.close(client) == :ok
    assert_receive {:DOWN, ^monitor, :process, _pid, :normal}

    failing = {:command, "sh -c 'read line; exit 3'"}
    error = assert_raise Error, fn -> Client.open(failing, revision: nil, receive_timeout: 60_000) end
    assert {error.kind, error.message} == {:closed, "the command ended with status 3 before it answered"}
  end

  @tag slow: "waits until the client gives the command up"
  test "a command that closes its stdin answers no more" do
    reference = make_ref()
    command = "sh -c 'exec 0<&-; echo []; exec sleep 60'"
    {:ok, link} = Command.start_link(command: command, owner: self(), reference: reference)
    # Its stdin is closed when its line arrives. A failed write closes the port without an exit status.
    assert_receive {:mcp_client, ^reference, [], _receipt}, 60_000
    monitor = Process.monitor(link)
    send(link, {:mcp_client_in, reference, {:lines, [~s({"id":1,"method":"ping"})]}})
    assert_receive {:mcp_client, ^reference, {:failed, 1, error}}, 60_000
    assert {error.kind, error.message} == {:closed, "the command ended or closed its stdin before it answered"}
    assert_receive {:DOWN, ^monitor, :process, ^link, :normal}, 60_000
  end
end
