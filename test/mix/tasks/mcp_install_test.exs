defmodule Mix.Tasks.Mcp.InstallTest do
  use ExUnit.Case, async: true

  import ExUnit.CaptureIO

  alias Mix.Tasks.Mcp.{Clients, Install}

  @moduletag :tmp_dir

  @router inspect(McpServer.ClientServer)

  test "a router: absolute paths, found again, taken out", %{tmp_dir: dir} do
    path = Path.join(dir, "mcp.json")
    run = fn arguments -> capture_io(fn -> Install.run(arguments ++ ["--config-path", path, "--no-compile"]) end) end

    assert run.(["cursor", @router]) == "added mcp_server to #{path}\n"
    assert %{"mcpServers" => %{"mcp_server" => entry}} = McpServer.JSON.decode!(File.read!(path))
    assert %{"command" => "/bin/sh", "args" => ["-c", script]} = entry
    assert script =~ "cd #{File.cwd!()} && PATH="
    assert String.ends_with?(script, " exec #{System.find_executable("mix")} mcp.stdio #{@router}")

    assert run.(["cursor", @router]) == "mcp_server is in #{path} already, as it should be\n"
    assert run.(["cursor", "--uninstall"]) == "removed mcp_server from #{path}; what it was is in #{path}.bak\n"
    assert run.(["cursor", "--uninstall"]) == "there is no mcp_server in #{path}\n"
  end

  test "a URL for a client that takes none from its file becomes a bridge", %{tmp_dir: dir} do
    path = Path.join(dir, "c.json")
    arguments = ["claude-desktop", "--url", "http://a/mcp", "--header", "A: b", "--name", "far", "--config-path", path]
    capture_io(fn -> Install.run(arguments) end)
    assert %{"mcpServers" => %{"far" => %{"args" => ["-c", script]}}} = McpServer.JSON.decode!(File.read!(path))
    assert String.ends_with?(script, " mcp.bridge http://a/mcp --header 'a: b'")
  end

  test "a secret comes from the environment", %{tmp_dir: dir} do
    path = Path.join(dir, "c.json")
    variable = "MCP_INSTALL_TEST_#{System.unique_integer([:positive])}"
    System.put_env(variable, "Bearer secret")
    on_exit(fn -> System.delete_env(variable) end)

    for {client, header, expected} <- [
          {"cursor", fn entry -> entry["headers"] end, %{"authorization" => "Bearer secret"}},
          {"claude-desktop", fn %{"args" => ["-c", script]} -> List.last(String.split(script, " --header ")) end,
           "'authorization: Bearer secret'"}
        ] do
      arguments = [client, "--url", "http://a/mcp", "--header-env", "Authorization=#{variable}", "--name", "far"]
      capture_io(fn -> Install.run(arguments ++ ["--config-path", path]) end)
      entry = McpServer.JSON.decode!(File.read!(path))["mcpServers"]["far"]
      assert header.(entry) == expected
      File.rm!(path)
    end
  end

  test "--print changes nothing, and a command of one's own is taken as it is", %{tmp_dir: dir} do
    path = Path.join(dir, "c.json")
    arguments = ["goose", "--command", "exec /opt/bin/mcp", "--name", "a", "--config-path", path, "--print"]

    assert capture_io(fn -> Install.run(arguments) end) == """
           extensions:
             "a":
               type: "stdio"
               name: "a"
               cmd: "/bin/sh"
               args: ["-c","exec /opt/bin/mcp"]
               enabled: true
               timeout: 300
           goose://extension?cmd=%2Fbin%2Fsh&arg=-c&arg=exec%20%2Fopt%2Fbin%2Fmcp&id=a&name=a&description=a
           """

    refute File.exists?(path)
  end

  test "what is to be pasted ends with status 1", %{tmp_dir: dir} do
    path = Path.join(dir, "settings.json")
    File.write!(path, "{\n  // mine\n}\n")
    arguments = ["zed", "--url", "http://a/mcp", "--name", "a", "--config-path", path]
    here = self()

    errors =
      capture_io(:stderr, fn ->
        printed = capture_io(fn -> send(here, {:exit, catch_exit(Install.run(arguments))}) end)
        send(here, {:printed, printed})
      end)

    # Other tests write to stderr, too.
    assert errors =~ "#{path} has comments, and is not rewritten. Put this into #{path}:\n\n"
    assert_received {:exit, {:shutdown, 1}}

    assert_received {:printed, printed}
    entry = %{"source" => "custom", "type" => "http", "url" => "http://a/mcp"}
    assert McpServer.JSON.decode!(printed) == %{"context_servers" => %{"a" => entry}}
    assert File.read!(path) == "{\n  // mine\n}\n"
  end

  test "wrong words" do
    for {arguments, sentence} <- [
          {[], "usage: mix mcp.install CLIENT"},
          {["cursor"], "usage: mix mcp.install CLIENT"},
          {["curser", "A"], "there is no client curser, did you mean cursor?\nusage: "},
          {["cursor", @router, "--url", "http://a"], "usage: mix mcp.install CLIENT"},
          {["cursor", "No.Such", "--no-compile"], "there is no module No.Such in this project"},
          {["cursor", @router, "--scope", "all", "--no-compile"], "expected --scope to be user or project, got: all\n"},
          {["cursor", "--url", "a"], "expected --url to be an http or https URL, got: a\n"},
          {["cursor", "--url", "http://a", "--name", "a;b", "--print"], "the name of a server is 1 to 64 characters"}
        ] do
      error = assert_raise Mix.Error, fn -> Install.run(arguments) end
      assert String.starts_with?(error.message, sentence)
    end

    assert_raise Mix.Error, "usage: mix mcp.clients", fn -> Clients.run(["x"]) end
  end

  test "mix mcp.clients lists every client" do
    listed = capture_io(fn -> Clients.run([]) end)
    assert listed =~ ~r/^claude-desktop – Claude Desktop\n  user: \//m
    assert listed =~ "  project: #{File.cwd!()}/.mcp.json"
    ids = for [_all, id] <- Regex.scan(~r/^([a-z-]+) – /mu, listed), do: id

    assert ids ==
             ~w(claude-desktop claude-code cursor vscode windsurf zed gemini codex goose copilot opencode cline mcp-json)
  end
end
