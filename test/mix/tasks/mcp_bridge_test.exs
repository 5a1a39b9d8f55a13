defmodule Mix.Tasks.Mcp.BridgeTest do
  # The bridge from outside: another VM between this test's pipes and this test's HTTP server.
  use ExUnit.Case, async: true

  alias McpServer.{ClientServer, HttpServer, JSON}

  @moduletag :tmp_dir

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
    server = start_supervised!({HttpServer, [router: ClientServer, port: port] ++ options}, id: id)
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

    send_message(bridge, %{
      "id" => 1,
      "method" => "initialize",
      "params" => %{
        "protocolVersion" => "2025-11-25",
        "capabilities" => %{"elicitation" => %{}},
        "clientInfo" => %{"name" => "test", "version" => "1"}
      }
    })

    assert %{"result" => %{"protocolVersion" => "2025-11-25"}} = answer(bridge, 1)
    send_message(bridge, %{"method" => "notifications/initialized"})

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
    Port.close(bridge)
  end

  defp greet(bridge, %{"id" => id} = call) do
    send_message(bridge, call)
    assert %{"method" => "notifications/message"} = message(bridge)
    assert %{"method" => "elicitation/create", "id" => asked, "params" => %{"message" => "Who?"}} = message(bridge)
    answered = %{"action" => "accept", "content" => %{"name" => "Ada"}}
    send_message(bridge, %{"id" => asked, "result" => answered})
    assert %{"result" => %{"content" => [%{"text" => "Hello, Ada!"}]}} = answer(bridge, id)
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
