defmodule McpServer.Protocol.StdioTest do
  # The stdio transport from outside: a VM of its own, pipes, exit statuses.
  use ExUnit.Case, async: true

  import McpServer.StdioPeer

  @moduletag :tmp_dir

  # A VM that serves and has answered: what follows is not start-up.
  defp serving(context, options \\ []) do
    {expression, options} = Keyword.pop(options, :serve, "McpServer.Stdio.run(McpServer.StdioRouter, app: :mcp_server)")
    peer = start(vm(expression), [tmp_dir: context.tmp_dir] ++ options)
    write(peer, call("up", "echo", %{"text" => "up"}))
    assert %{"id" => "up"} = read(peer)
    peer
  end

  defp text(%{"result" => %{"content" => [%{"text" => text}]}}), do: text

  defp since(milliseconds), do: System.monotonic_time(:millisecond) - milliseconds

  describe "start" do
    test "what the client wrote before the VM was up is answered", context do
      peer = start(vm(), tmp_dir: context.tmp_dir)
      write(peer, [initialize(1), call(2, "echo", %{"text" => "é\u2028"})])
      assert %{"id" => 1, "result" => %{"protocolVersion" => "2025-06-18"}} = read(peer)
      assert text(read(peer)) == "é\u2028"
      eof(peer)
      assert exit_status(peer) == 0
    end

    test "nothing is lost when the client writes more than a pipe holds before that", context do
      input = "yes #{quoted(call(1, "echo", %{"text" => String.duplicate("x", 10_000)}))} | head -n 2000"
      peer = start(vm(), input: input, output: "wc -l", tmp_dir: context.tmp_dir)
      assert String.trim(next_line(peer, 60_000)) == "2000"
    end

    test "a message cut in two by the start of the VM is put together again", context do
      peer = start(vm("Process.sleep(300); McpServer.Stdio.run(McpServer.StdioRouter, app: :mcp_server)"),
        input: "cat", tmp_dir: context.tmp_dir)
      line = call(1, "echo", %{"text" => "äöü"}) <> "\n"
      {early, late} = String.split_at(line, -12)
      write_raw(peer, early)
      Process.sleep(1_500)
      write_raw(peer, late)
      {:ok, message} = McpServer.JSON.decode(next_line(peer))
      assert text(message) == "äöü"
    end

    test "mix mcp.stdio: stdout is the protocol's, the compiler's output included", context do
      project = project(context.tmp_dir)
      libraries = ebin() |> Path.join("../..") |> Path.expand()
      peer = start("mix mcp.stdio Fresh.MCP", cd: project, tmp_dir: context.tmp_dir, env: [{"ERL_LIBS", libraries}, {"MIX_ENV", "dev"}])
      write(peer, [initialize(1), call(2, "hello")])
      assert %{"id" => 1} = read(peer, 30_000)
      assert text(read(peer)) == "Hello!"
      eof(peer)
      assert exit_status(peer) == 0
      assert errors(peer) =~ "Compiling 1 file"
      assert errors(peer) =~ "printed while compiling"
      assert errors(peer) =~ "printed while starting"
    end

    test "mix mcp.stdio: a mistake is one sentence and status 1", context do
      project = project(context.tmp_dir)
      libraries = ebin() |> Path.join("../..") |> Path.expand()
      env = [{"ERL_LIBS", libraries}, {"MIX_ENV", "dev"}]

      for {arguments, sentence} <- [
            {"Fresh.Missing", "there is no module Fresh.Missing in this project"},
            {"Enum", "Enum is not a router: it does not `use McpServer.Router`"},
            {"", "usage: mix mcp.stdio ROUTER"},
            {"Fresh.MCP --what", "usage: mix mcp.stdio ROUTER"}
          ] do
        peer = start("mix mcp.stdio #{arguments}", cd: project, tmp_dir: context.tmp_dir, env: env, input: "true")
        assert exit_status(peer, 30_000) == 1
        assert errors(peer) |> String.split("\n") |> Enum.filter(&(&1 =~ "(Mix)")) |> hd() =~ sentence
      end
    end

    defp project(folder) do
      project = Path.join(folder, "fresh")
      File.mkdir_p!(Path.join(project, "lib"))

      File.write!(Path.join(project, "mix.exs"), """
      defmodule Fresh.MixProject do
        use Mix.Project
        def project, do: [app: :fresh, version: "0.1.0"]
        def application, do: [mod: {Fresh, []}, extra_applications: [:logger, :mcp_server]]
      end
      """)

      File.write!(Path.join(project, "lib/fresh.ex"), """
      defmodule Fresh do
        use Application
        IO.puts("printed while compiling")
        def start(_type, _arguments) do
          IO.puts("printed while starting")
          Supervisor.start_link([], strategy: :one_for_one)
        end
        def hello(_conn, _arguments), do: {:ok, [McpServer.Tool.Content.text("Hello!")]}
      end

      defmodule Fresh.MCP do
        use McpServer.Router
        tool "hello", "Says hello", Fresh, :hello
      end
      """)

      project
    end

    test "as a child of a supervision tree", context do
      expression = """
      {:ok, _} = Application.ensure_all_started(:mcp_server)
      {:ok, _} = Supervisor.start_link([{McpServer.Stdio, router: McpServer.StdioRouter}], strategy: :one_for_one)
      Process.sleep(:infinity)
      """

      peer = serving(context, serve: expression)
      eof(peer)
      assert exit_status(peer) == 0
    end
  end

  describe "stdout" do
    test "T10, S8: whatever prints, prints to stderr", context do
      peer = serving(context, serve: "Logger.configure(level: :debug); McpServer.Stdio.run(McpServer.StdioRouter, app: :mcp_server)")
      write(peer, [call(1, "puts"), call(2, "die"), call(3, "echo", %{"text" => "pure"})])
      answers = for _ <- 1..3, message = read(peer), into: %{}, do: {message["id"], text(message)}
      assert %{1 => "printed", 2 => "Tool execution failed (error id " <> _, 3 => "pure"} = answers
      eof(peer)
      assert exit_status(peer) == 0
      for what <- ~w(puts user format binwrite display debug error), do: assert(errors(peer) =~ "stray: #{what}")
      assert errors(peer) =~ "MCP tools/call \"die\" failed"
    end

    test "S7: an answer is one line, whatever it says", context do
      peer = serving(context)
      text = "a\nb\r\nc\u2028d\u0000e\u0085"
      write(peer, call(1, "echo", %{"text" => text}))
      assert text(read(peer)) == text
    end

    test "S4: a client that stops reading ends the VM, without a crash dump", context do
      peer = start(vm(), input: "yes #{quoted(call(1, "echo", %{"text" => "x"}))}", output: "head -n 3 >/dev/null", tmp_dir: context.tmp_dir, cd: context.tmp_dir)
      assert exit_status(peer) == 0
      # `head` is the last of the pipe: the VM is gone when `yes` is.
      refute errors(peer) =~ "crash dump"
      assert Path.wildcard(Path.join(context.tmp_dir, "erl_crash.dump")) == []
    end
  end

  describe "stdin" do
    test "a ping is answered while a tool takes its time", context do
      peer = serving(context)
      write(peer, initialize(1))
      assert %{"id" => 1} = read(peer)
      started = since(0)
      write(peer, [request(2, "tools/call", %{"name" => "sleep", "arguments" => %{"ms" => 1_000}}), request(3, "ping")])
      assert %{"id" => 3} = read(peer)
      assert since(started) < 500
      assert text(read(peer)) == "slept 1000"
      assert since(started) >= 1_000
    end

    test "S3: bytes that are no message are answered, empty lines and CR LF are fine", context do
      peer = start(vm(), input: "cat", tmp_dir: context.tmp_dir)
      write_raw(peer, [<<0xFF, 0xFE>>, "\n\n\r\n", "nope\r\n", ~s({"a":"), 0, ~s("}\n), call(1, "echo", %{"text" => "fine"}), "\r\n"])
      messages = for _ <- 1..4, {:ok, message} = McpServer.JSON.decode(next_line(peer)), do: message
      assert Enum.map(messages, & &1["error"]["code"]) == [-32700, -32700, -32700, nil]
      assert text(List.last(messages)) == "fine"
    end

    test "S6: one byte at a time", context do
      peer = start(vm(), input: "cat", tmp_dir: context.tmp_dir)
      for <<byte <- call(1, "echo", %{"text" => "日本"}) <> "\n">>, do: write_raw(peer, <<byte>>)
      {:ok, message} = McpServer.JSON.decode(next_line(peer))
      assert text(message) == "日本"
    end

    test "S2: a line without end costs no memory, and the next one is answered", context do
      long = "head -c 300000000 /dev/zero | tr '\\000' x"
      # The VM is up when the long line begins: what comes before that, its `:user` reads.
      input = "{ echo #{quoted(call(1, "peak"))}; sleep 2; #{long}; echo; echo #{quoted(call(2, "peak"))}; }"
      peer = start(vm(), input: input, tmp_dir: context.tmp_dir)
      {:ok, %{"id" => 1} = first} = McpServer.JSON.decode(next_line(peer))
      assert {:ok, %{"error" => %{"code" => -32700}}} = McpServer.JSON.decode(next_line(peer))
      {:ok, %{"id" => 2} = last} = McpServer.JSON.decode(next_line(peer))
      [before, peak] = for message <- [first, last], do: String.to_integer(text(message))
      assert peak - before < 40_000
      assert exit_status(peer) == 0
    end

    test "100,000 requests in a row are all answered", context do
      lines = for n <- 1..100_000, do: [call(n, "echo", %{"text" => "#{n}"}), ?\n]
      file = Path.join(context.tmp_dir, "requests")
      File.write!(file, lines)
      count = ~S(grep -o '"text":"[0-9]*"' | sort -u | wc -l)
      peer = start(vm(), input: "cat #{quoted(file)}", output: count, tmp_dir: context.tmp_dir)
      assert String.trim(next_line(peer, 60_000)) == "100000"
      assert exit_status(peer) == 0
    end

    test "S5: a client that does not read holds back its own requests", context do
      request = call(1, "echo", %{"text" => String.duplicate("x", 1_000)})
      # Far more than pipes and server hold, once the VM is up; the reader looks only after a while.
      input = "{ sleep 1; yes #{quoted(request)} | head -n 200000; sleep 1; echo #{quoted(call(2, "peak"))}; }"
      peer = start(vm(), input: input, output: "{ sleep 3; tail -n 1; }", tmp_dir: context.tmp_dir)
      {:ok, last} = McpServer.JSON.decode(next_line(peer, 60_000))
      assert last["id"] == 2
      assert String.to_integer(text(last)) < 200_000
    end
  end

  describe "the end" do
    test "S1: at the end of stdin an idle VM is gone within a second", context do
      peer = serving(context)
      started = since(0)
      eof(peer)
      assert exit_status(peer) == 0
      assert since(started) < 1_000
    end

    test "S1: half a line is not answered", context do
      peer = start(vm(), input: "printf '%s\\n%s' #{quoted(call(1, "echo", %{"text" => "whole"}))} '{\"jsonrpc\":'", tmp_dir: context.tmp_dir)
      {:ok, message} = McpServer.JSON.decode(next_line(peer))
      assert text(message) == "whole"
      assert exit_status(peer) == 0
    end

    test "S1: calls that run are waited for, but not for ever", context do
      peer = serving(context)
      write(peer, call(1, "sleep", %{"ms" => 300}))
      eof(peer)
      assert text(read(peer)) == "slept 300"
      assert exit_status(peer) == 0

      peer = serving(context, serve: "McpServer.Stdio.run(McpServer.StdioRouter, app: :mcp_server, grace: 200)")
      write(peer, call(1, "sleep", %{"ms" => 60_000}))
      started = since(0)
      eof(peer)
      assert exit_status(peer) == 0
      assert since(started) in 200..1_200
    end

    test "S4: SIGTERM ends it as it ends any VM", context do
      peer = serving(context, serve: "IO.puts(:stderr, \"pid=\#{System.pid()}\"); McpServer.Stdio.run(McpServer.StdioRouter, app: :mcp_server)")
      [_, pid] = Regex.run(~r/pid=(\d+)/, errors(peer))
      {"", 0} = System.cmd("kill", ["-TERM", pid])
      # The pipe in front notices with the next byte.
      Process.sleep(1_500)
      write_raw(peer, "\n\n")
      assert exit_status(peer) == 0
      refute errors(peer) =~ "crash"
    end

    test "on_eof: a function of the user's", context do
      expression = """
      {:ok, _} = Application.ensure_all_started(:mcp_server)
      {:ok, _} = McpServer.Stdio.start_link(router: McpServer.StdioRouter, on_eof: fn -> System.halt(7) end)
      Process.sleep(:infinity)
      """

      peer = serving(context, serve: expression)
      eof(peer)
      assert exit_status(peer) == 7
    end

    test "a connection that crashes is back for the next message", context do
      expression = """
      {:ok, _} = Application.ensure_all_started(:mcp_server)
      {:ok, _} = Supervisor.start_link([{McpServer.Stdio, router: McpServer.StdioRouter}], strategy: :one_for_one)
      Process.sleep(700)
      Process.exit(Process.whereis(McpServer.Stdio), :kill)
      Process.sleep(:infinity)
      """

      peer = serving(context, serve: expression)
      Process.sleep(1_200)
      write(peer, call(2, "echo", %{"text" => "again"}))
      assert text(read(peer)) == "again"
      eof(peer)
      assert exit_status(peer) == 0
    end
  end

  # A line that the tests of broken input check by hand.
  defp next_line(%{port: port} = peer, timeout \\ 15_000) do
    receive do
      {^port, {:data, {:eol, line}}} -> line
      {^port, {:exit_status, status}} -> flunk("exited with #{status}: #{errors(peer)}")
    after
      timeout -> flunk("no line within #{timeout} ms; stderr: #{errors(peer)}")
    end
  end
end
