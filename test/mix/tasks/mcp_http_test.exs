defmodule Mix.Tasks.Mcp.HttpTest do
  # The HTTP tasks from outside: a separate project and VM, with its stderr and exit status.
  use ExUnit.Case, async: true

  @moduletag slow: "each test starts Mix"

  import McpServer.HttpCase, only: [eventually: 1]

  @moduletag :tmp_dir

  test "mix mcp.http says where it listens, serves, and stops at SIGTERM", context do
    project = project(context.tmp_dir)
    task = start(project, "mcp.http Fresh.MCP --port 0")
    ["Listening on http://127.0.0.1:" <> rest] = until(task, &(&1 =~ "Listening on")) |> Enum.take(-1)
    {port, "/mcp"} = Integer.parse(rest)

    assert %{"result" => %{"tools" => [%{"name" => "slow"}, %{"name" => "who"}]}} =
             port |> connect("tools/list") |> answer()

    slow = connect(port, "tools/call", %{"name" => "slow", "arguments" => %{}})
    assert "slow has been called" in until(task, &(&1 =~ "slow"))

    {:os_pid, pid} = Port.info(task, :os_pid)
    {_output, 0} = System.cmd("kill", ["-TERM", "#{pid}"])
    # The server stops. Running calls finish, and the application is still running.
    eventually(fn -> :gen_tcp.connect({127, 0, 0, 1}, port, []) == {:error, :econnrefused} end)
    File.touch!(Path.join(project, "go"))
    assert %{"result" => %{"content" => [%{"text" => "still here"}]}} = answer(slow)
    assert [] = until_exit(task, 0)
  end

  test "mix mcp.http: a mistake is one sentence and status 1", context do
    {:ok, taken} = :gen_tcp.listen(0, ip: {127, 0, 0, 1})
    {:ok, port} = :inet.port(taken)
    project = project(context.tmp_dir)

    mistakes = [
      {"Fresh.MCP --port #{port}", "port #{port} is taken: choose another one with --port, or 0 for a free one"},
      {"Fresh.Missing", "there is no module Fresh.Missing in this project"},
      {"Enum", "Enum is not a router: it does not `use McpServer.Router`"},
      {"", "usage: mix mcp.http ROUTER"},
      {"Fresh.MCP --port none", "expected --port to be an integer, got: none"},
      {"Fresh.MCP --timeout 4294967296",
       "expected --timeout to be an integer from 1 to 4_294_967_295 (milliseconds), got: 4294967296"}
    ]

    for {arguments, sentence} <- mistakes do
      assert [line] = project |> start("mcp.http " <> arguments) |> until_exit(1) |> Enum.filter(&(&1 =~ "(Mix)"))
      assert line =~ sentence
    end
  end

  test "mix mcp.playground says where the page is, serves who has the token, and stops at SIGTERM", context do
    task = start(project(context.tmp_dir), "mcp.playground Fresh.MCP --port 0 --as ada")
    [line] = task |> until(&(&1 =~ "The playground is at")) |> Enum.take(-1)

    assert [_line, port, token] =
             Regex.run(~r"\AThe playground is at http://127.0.0.1:(\d+)/playground#([\w-]{32})\z", line)

    port = String.to_integer(port)
    assert get(port, "/playground/index.html") =~ "<title>MCP playground</title>"

    assert %{"router" => "Fresh.MCP", "mints" => false} =
             port |> get("/playground/#{token}/about") |> McpServer.JSON.decode!()

    call = connect(port, "tools/call", %{"name" => "who", "arguments" => %{}}, "/#{token}/mcp")
    assert %{"result" => %{"content" => [%{"text" => ~s("ada")}]}} = answer(call)

    {:os_pid, pid} = Port.info(task, :os_pid)
    {_output, 0} = System.cmd("kill", ["-TERM", "#{pid}"])
    assert [] = until_exit(task, 0)
  end

  test "mix mcp.playground --auth makes tokens, and nobody gets in without one", context do
    task = start(project(context.tmp_dir), "mcp.playground Fresh.Scoped --port 0 --auth")
    [line] = task |> until(&(&1 =~ "The playground is at")) |> Enum.take(-1)
    [_line, port, token] = Regex.run(~r"127.0.0.1:(\d+)/playground#([\w-]+)", line)
    port = String.to_integer(port)
    who = fn access -> connect(port, "tools/call", %{"name" => "who", "arguments" => %{}}, "/#{token}/mcp", access) end
    assert %{"error" => %{"message" => "Unauthorized"}} = answer(who.([]))

    mint = fn body -> port |> post("/playground/#{token}/token", body) |> read_body() end
    assert mint.("{}") == "expected an object with subject and scopes, both strings"
    assert %{"token" => access} = McpServer.JSON.decode!(mint.(~s({"subject": "bob", "scopes": "who:ask"})))

    assert %{"result" => %{"content" => [%{"text" => text}]}} = answer(who.([{"Authorization", "Bearer " <> access}]))
    assert text =~ ~s("bob", "client"})

    {:os_pid, pid} = Port.info(task, :os_pid)
    {_output, 0} = System.cmd("kill", ["-TERM", "#{pid}"])
    until_exit(task, 0)
  end

  test "mix mcp.playground: a mistake is one sentence and status 1", context do
    {:ok, taken} = :gen_tcp.listen(0, ip: {127, 0, 0, 1})
    {:ok, port} = :inet.port(taken)
    project = project(context.tmp_dir)

    mistakes = [
      {"Fresh.MCP --port #{port}", "port #{port} is taken: choose another one with --port, or 0 for a free one"},
      {"Fresh.Missing", "there is no module Fresh.Missing in this project"},
      {"", "usage: mix mcp.playground ROUTER"},
      {"Fresh.Scoped",
       "Fresh.Scoped has `scopes:`, which only a token grants: add --auth, and make tokens on the page"},
      {"Fresh.Scoped --auth --as ada", "with --auth the token says who asks: no --as"},
      {"Fresh.MCP --auth yes", "usage: mix mcp.playground ROUTER"},
      {"Fresh.MCP --host 0.0.0.0", "there is no option --host"}
    ]

    for {arguments, sentence} <- mistakes do
      assert [line] = project |> start("mcp.playground " <> arguments) |> until_exit(1) |> Enum.filter(&(&1 =~ "(Mix)"))
      assert line =~ sentence
    end
  end

  defp connect(port, method, params \\ %{}, path \\ "/mcp", more_headers \\ []) do
    meta = %{
      "io.modelcontextprotocol/protocolVersion" => "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities" => %{}
    }

    message = %{"jsonrpc" => "2.0", "id" => 1, "method" => method, "params" => Map.put(params, "_meta", meta)}
    body = McpServer.JSON.encode!(message)

    head = [
      "POST #{path} HTTP/1.1\r\nHost: 127.0.0.1:#{port}\r\nConnection: close\r\nContent-Type: application/json\r\n",
      for({name, value} <- more_headers, do: "#{name}: #{value}\r\n"),
      "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: #{method}\r\n",
      for({"name", name} <- params, do: "Mcp-Name: #{name}\r\n"),
      "Content-Length: #{byte_size(body)}\r\n\r\n"
    ]

    exchange(port, [head, body])
  end

  defp exchange(port, bytes) do
    {:ok, socket} = :gen_tcp.connect({127, 0, 0, 1}, port, [:binary, active: false])
    :ok = :gen_tcp.send(socket, bytes)
    socket
  end

  defp get(port, path),
    do: port |> exchange("GET #{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n") |> read_body()

  defp post(port, path, body) do
    head = "POST #{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: #{byte_size(body)}\r\n\r\n"
    exchange(port, [head, body])
  end

  # On a busy machine the response may be a stream.
  defp answer(socket) do
    [_line, message] = Regex.run(~r/^(?:data: )?(\{.*\})\r?$/m, read_body(socket))
    McpServer.JSON.decode!(message)
  end

  defp read_body(socket) do
    [_head, body] = socket |> read_all() |> String.split("\r\n\r\n", parts: 2)
    body
  end

  defp read_all(socket) do
    case :gen_tcp.recv(socket, 0, 30_000) do
      {:ok, bytes} -> bytes <> read_all(socket)
      {:error, :closed} -> ""
    end
  end

  # The compiled application is on the code path. As a dependency it would be compiled again.
  defp start(project, arguments) do
    libraries = Path.join(Mix.Project.app_path(), "..")
    env = [{~c"ERL_LIBS", to_charlist(libraries)}, {~c"MIX_ENV", ~c"dev"}]
    script = "exec mix #{arguments} 2>&1 </dev/null"
    options = [:binary, :exit_status, :hide, line: 4096, args: ["-c", script], cd: project, env: env]
    Port.open({:spawn_executable, "/bin/sh"}, options)
  end

  # The lines up to the first wanted line.
  defp until(task, wanted?) do
    receive do
      {^task, {:data, {_end, line}}} -> if wanted?.(line), do: [line], else: [line | until(task, wanted?)]
      {^task, {:exit_status, status}} -> flunk("the task ended with status #{status}")
    after
      60_000 -> flunk("the task says nothing")
    end
  end

  defp until_exit(task, status) do
    receive do
      {^task, {:data, {_end, line}}} -> [line | until_exit(task, status)]
      {^task, {:exit_status, ^status}} -> []
    after
      60_000 -> flunk("the task does not end with status #{status}")
    end
  end

  defp project(folder) do
    File.mkdir_p!(Path.join(folder, "lib"))

    File.write!(Path.join(folder, "mix.exs"), """
    defmodule Fresh.MixProject do
      use Mix.Project
      def project, do: [app: :fresh, version: "0.1.0"]
      def application, do: [mod: {Fresh, []}, extra_applications: [:logger, :mcp_server]]
    end
    """)

    File.write!(Path.join(folder, "lib/fresh.ex"), """
    defmodule Fresh.MCP do
      use McpServer.Router
      tool "slow", "Waits until a file exists", Fresh, :slow
      tool "who", "Says who asks", Fresh, :who
    end

    defmodule Fresh.Scoped do
      use McpServer.Router
      tool "who", "Says who asks", Fresh, :who, scopes: ["who:ask"]
    end

    defmodule Fresh do
      use Application
      use McpServer.Controller

      def start(_type, _arguments), do: Agent.start_link(fn -> "still here" end, name: Fresh.Agent)

      def slow(_conn, _arguments) do
        IO.puts("slow has been called")
        await("go")
        {:ok, [text(Agent.get(Fresh.Agent, & &1))]}
      end

      defp await(file), do: File.exists?(file) || (Process.sleep(10) && await(file))

      def who(conn, _arguments), do: {:ok, [text(inspect(conn.principal))]}
    end
    """)

    folder
  end
end
