defmodule Mix.Tasks.Mcp.BridgeTest do
  # The bridge from outside: a separate VM between this test's pipes and this test's HTTP server.
  use ExUnit.Case, async: true

  alias McpServer.{ClientServer, HttpServer, JSON, ScriptedServer}

  @moduletag :tmp_dir

  defmodule Waiting do
    use McpServer.Router, name: "waiting", version: "1.0.0"

    tool "wait", "Waits until it is cancelled", Waiting.Handlers, :wait

    defmodule Handlers do
      use McpServer.Controller

      def wait(conn, _arguments) do
        log(conn, :error, "waiting")
        Process.sleep(:infinity)
      end
    end
  end

  setup %{tmp_dir: dir} do
    File.write!(Path.join(dir, "mix.exs"), """
    defmodule Near.MixProject do
      use Mix.Project
      def project, do: [app: :near, version: "0.1.0"]
    end
    """)

    :ok
  end

  defp env, do: [{"ERL_LIBS", Path.join(Mix.Project.app_path(), "..")}, {"MIX_ENV", "dev"}]

  defp serve(id, port, options \\ []) do
    server = start_supervised!({HttpServer, options ++ [router: ClientServer, port: port]}, id: id)
    HttpServer.port(server)
  end

  defp bridge(dir, arguments, more_env \\ []) do
    env = for {name, value} <- env() ++ more_env, do: {to_charlist(name), to_charlist(value)}
    arguments = ["mcp.bridge" | arguments]
    options = [:binary, :exit_status, line: 65_536, args: arguments, cd: dir, env: env]
    Port.open({:spawn_executable, System.find_executable("mix")}, options)
  end

  defp send_message(bridge, message) when is_map(message),
    do: send_message(bridge, JSON.encode!(Map.put(message, "jsonrpc", "2.0")))

  defp send_message(bridge, line), do: Port.command(bridge, line <> "\n")

  defp message(bridge) do
    receive do
      {^bridge, {:data, {:eol, line}}} -> JSON.decode!(line)
      {^bridge, {:exit_status, status}} -> flunk("the bridge ended with status #{status}")
    after
      60_000 -> flunk("the bridge says nothing")
    end
  end

  defp answer(bridge, id) do
    case message(bridge) do
      %{"id" => ^id} = answer -> answer
      _notification -> answer(bridge, id)
    end
  end

  @meta %{
    "io.modelcontextprotocol/protocolVersion" => "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities" => %{}
  }

  test "a session: questions pass, a restart behind it goes unnoticed, and it ends with its client", %{tmp_dir: dir} do
    port = serve(:first, 0)
    bridge = bridge(dir, ["http://127.0.0.1:#{port}/mcp"])

    open(bridge, "2025-11-25")

    call = %{"method" => "tools/call", "params" => %{"name" => "greet", "arguments" => %{}}}
    greet(bridge, Map.put(call, "id", 2))
    stop_supervised!(:first)
    send_message(bridge, %{"id" => 3, "method" => "tools/list"})
    serve(:second, port)
    assert %{"result" => %{"tools" => [_, _]}} = answer(bridge, 3)
    greet(bridge, Map.put(call, "id", "four"))

    send_message(bridge, "{")
    assert %{"id" => nil, "error" => %{"code" => -32_700}} = message(bridge)
    send_message(bridge, "[]")
    assert %{"id" => nil, "error" => %{"code" => -32_600}} = message(bridge)
    send_batch(bridge, [ping(5)])
    assert %{"error" => %{"code" => -32_600}} = message(bridge)

    # Earlier, a number as the revision or the method ended the bridge, without a word.
    meta = &%{"_meta" => %{"io.modelcontextprotocol/protocolVersion" => &1}}
    send_message(bridge, %{"method" => "notifications/x", "params" => meta.(5)})
    send_message(bridge, %{"method" => 5, "params" => meta.("2026-07-28")})
    send_message(bridge, %{"id" => 6, "method" => "ping"})
    assert %{"result" => %{}} = answer(bridge, 6)
    Port.close(bridge)
  end

  defp open(bridge, revision) do
    params = %{
      "protocolVersion" => revision,
      "capabilities" => %{"elicitation" => %{}},
      "clientInfo" => %{"name" => "test", "version" => "1"}
    }

    send_message(bridge, %{"id" => 1, "method" => "initialize", "params" => params})
    assert %{"result" => %{"protocolVersion" => ^revision}} = answer(bridge, 1)
    send_message(bridge, %{"method" => "notifications/initialized"})
  end

  defp greet(bridge, %{"id" => id} = call) do
    send_message(bridge, call)
    assert %{"method" => "notifications/message"} = message(bridge)
    assert %{"method" => "elicitation/create", "id" => asked, "params" => %{"message" => "Who?"}} = message(bridge)
    answered = %{"action" => "accept", "content" => %{"name" => "Ada"}}
    send_message(bridge, %{"id" => asked, "result" => answered})
    assert %{"result" => %{"content" => [%{"text" => "Hello, Ada!"}]}} = answer(bridge, id)
  end

  defp send_batch(bridge, messages),
    do:
      send_message(
        bridge,
        JSON.encode!(Enum.map(messages, &if(is_map(&1), do: Map.put(&1, "jsonrpc", "2.0"), else: &1)))
      )

  defp ping(id), do: %{"id" => id, "method" => "ping"}
  defp pong(id), do: %{"jsonrpc" => "2.0", "id" => id, "result" => %{}}

  test "batches pass, a restart behind them included", %{tmp_dir: dir} do
    port = serve(:first, 0)
    bridge = bridge(dir, ["http://127.0.0.1:#{port}/mcp"])
    open(bridge, "2025-03-26")

    arguments = %{"region" => "r", "place" => %{"zone" => 1}}
    call = %{"id" => "c", "method" => "tools/call", "params" => %{"name" => "region", "arguments" => arguments}}
    send_batch(bridge, [ping(2), call, %{"method" => "notifications/nothing"}])
    assert [pong, %{"id" => "c", "result" => %{"content" => [%{"text" => "r/1 for nil"}]}}] = message(bridge)
    assert pong == pong(2)
    send_batch(bridge, [%{"method" => "notifications/nothing"}])

    # A batch that is too large gets one error, and so does an invalid message in a batch.
    send_batch(bridge, Enum.map(1..51, &ping/1))
    assert %{"id" => nil, "error" => %{"code" => -32_600}} = message(bridge)
    send_batch(bridge, [1])
    assert [%{"id" => nil, "error" => %{"code" => -32_600}}] = message(bridge)
    send_message(bridge, "[" <> JSON.encode!(ping(3)))
    assert %{"id" => nil, "error" => %{"code" => -32_700}} = message(bridge)

    stop_supervised!(:first)
    send_batch(bridge, [ping(4), ping(5)])
    serve(:second, port)
    assert message(bridge) == [pong(4), pong(5)]

    Port.close(bridge)
  end

  test "a request of a batch is cancelled: the array has the answers of the others", %{tmp_dir: dir} do
    port = serve(:only, 0, router: Waiting)
    bridge = bridge(dir, ["http://127.0.0.1:#{port}/mcp"])
    open(bridge, "2025-03-26")
    wait = &%{"id" => &1, "method" => "tools/call", "params" => %{"name" => "wait"}}
    cancel = &%{"method" => "notifications/cancelled", "params" => %{"requestId" => &1}}
    send_batch(bridge, [wait.("w"), ping(2)])
    assert %{"method" => "notifications/message"} = message(bridge)
    send_message(bridge, cancel.("w"))
    assert message(bridge) == [pong(2)]

    # If all requests of a batch are cancelled, no response is due.
    send_batch(bridge, [wait.("x"), wait.("y")])
    for _waiting <- 1..2, do: assert(%{"method" => "notifications/message"} = message(bridge))
    send_batch(bridge, [cancel.("x"), cancel.("y")])
    send_message(bridge, ping(3))
    assert message(bridge) == pong(3)
    Port.close(bridge)
  end

  test "answers of a batch that come one by one are one array, with an error for each that does not come", %{
    tmp_dir: dir
  } do
    event = &["data: ", JSON.encode!(&1), "\n\n"]
    note = %{"jsonrpc" => "2.0", "method" => "notifications/tools/list_changed"}
    stream = ScriptedServer.head(200, [{"content-type", "text/event-stream"}])
    whole = [stream, event.(pong(2)), event.(note), event.(pong(1))]
    server = ScriptedServer.start_with([whole, [stream, event.(pong(2))], ScriptedServer.response(500, [], "")])
    bridge = bridge(dir, [server.url])

    send_batch(bridge, [ping(1), ping(2)])
    assert %{"method" => "notifications/tools/list_changed"} = message(bridge)
    assert message(bridge) == [pong(2), pong(1)]

    send_batch(bridge, [ping(1), ping(2), ping(3)])
    cut = %{"code" => -32_603, "message" => "the server ended the stream before its answer"}
    assert message(bridge) == [pong(2) | for(id <- [1, 3], do: %{"jsonrpc" => "2.0", "id" => id, "error" => cut})]

    send_batch(bridge, [ping("a"), ping("b")])
    failed = %{"code" => -32_603, "message" => "#{server.url} answers with status 500"}
    assert message(bridge) == for(id <- ["a", "b"], do: %{"jsonrpc" => "2.0", "id" => id, "error" => failed})
    Port.close(bridge)
  end

  test "what cannot be read is replaced, or refused with the reason and the id", %{tmp_dir: dir} do
    event = &["data: ", &1, "\n\n"]
    stream = ScriptedServer.head(200, [{"content-type", "text/event-stream"}])
    reply = &~s({"jsonrpc":"2.0","id":#{&1},"result":{"x":#{&2}}})

    server =
      ScriptedServer.start_with([
        [stream, event.(reply.(1, ~S("\ud83d")))],
        [stream, event.(reply.(2, "1e400"))],
        ScriptedServer.response(200, [{"content-type", "application/json"}], reply.(3, "1e400"))
      ])

    bridge = bridge(dir, [server.url])
    send_message(bridge, %{"id" => 1, "method" => "ping"})
    assert %{"id" => 1, "result" => %{"x" => "\uFFFD"}} = message(bridge)

    for id <- [2, 3] do
      send_message(bridge, %{"id" => id, "method" => "ping"})
      assert %{"id" => ^id, "error" => %{"message" => text}} = message(bridge)
      assert text =~ ~r/\Awhat the server sent cannot be read: a number beyond the range of floats, at byte \d+\z/
    end

    Port.command(bridge, ~s({"jsonrpc":"2.0","id":4,"method":"ping","params":{"x":1e400}}\n))
    assert %{"id" => 4, "error" => %{"code" => -32_700, "message" => "a number beyond" <> _rest}} = message(bridge)
    Port.close(bridge)
  end

  test "without sessions: headers that the schema asks for, and a secret from the environment", %{tmp_dir: dir} do
    port = serve(:only, 0, identify: &__MODULE__.identify/1)
    arguments = ["http://127.0.0.1:#{port}/mcp", "--header-env", "Authorization=ADAS_TOKEN"]
    bridge = bridge(dir, arguments, [{"ADAS_TOKEN", "Bearer ada"}])
    arguments = %{"region" => "r", "place" => %{"zone" => 1}}
    params = %{"name" => "region", "arguments" => arguments, "_meta" => @meta}
    send_message(bridge, %{"id" => 1, "method" => "tools/call", "params" => params})
    assert %{"result" => %{"content" => [%{"text" => "r/1 for \"ada\""}]}} = answer(bridge, 1)
    Port.close(bridge)
  end

  test "an answer that was asked for before the end of stdin is written, and the VM stops with status 0", %{
    tmp_dir: dir
  } do
    port = serve(:only, 0)
    line = JSON.encode!(%{"jsonrpc" => "2.0", "id" => 1, "method" => "tools/list", "params" => %{"_meta" => @meta}})
    script = "echo '#{line}' | mix mcp.bridge http://127.0.0.1:#{port}/mcp"
    assert {output, 0} = System.cmd("sh", ["-c", script], cd: dir, env: env())
    assert %{"id" => 1, "result" => %{"tools" => [_, _]}} = JSON.decode!(output)
  end

  def identify(request) do
    if McpServer.HttpRequest.get_req_header(request, "authorization") == ["Bearer ada"],
      do: {:ok, "ada"},
      else: {:error, :unauthorized}
  end

  test "a wrong word is a sentence" do
    for {arguments, sentence} <- [
          {[], "usage: mix mcp.bridge URL"},
          {["http://a", "http://b"], "usage: mix mcp.bridge URL"},
          {["127.0.0.1:4040"], "expected the URL to be an http or https URL, got: 127.0.0.1:4040\n"},
          {["http://a", "--header", "secret"], "expected --header to be NAME: VALUE\n"},
          {["http://a", "--header", "a b: secret"], "--header: \"a b\" is no name of a header\n"},
          {["http://a", "--header-env", "A=NO_SUCH_VARIABLE_HERE"],
           "--header-env: there is no environment variable NO_SUCH_VARIABLE_HERE\n"}
        ] do
      error = assert_raise Mix.Error, fn -> Mix.Tasks.Mcp.Bridge.run(arguments) end
      assert String.starts_with?(error.message, sentence)
      refute error.message =~ "secret"
    end
  end
end
