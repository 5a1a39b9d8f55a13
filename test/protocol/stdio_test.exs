defmodule McpServer.Protocol.StdioTest do
  # The stdio transport from outside: a separate VM, pipes, exit statuses.
  use ExUnit.Case, async: true

  @moduletag slow: "each test starts a VM"

  import McpServer.StdioPeer

  @moduletag :tmp_dir

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
      assert String.trim(line(peer, 60_000)) == "2000"
    end

    test "a message cut in two by the start of the VM is put together again", context do
      [read, taken] = for name <- ["read", "taken"], do: Path.join(context.tmp_dir, name)
      {early, late} = String.split_at(call(1, "echo", %{"text" => "äöü"}), -12)

      # The VM's `:user` process reads the first half. Since OTP 29.1 it reads nothing before it is asked to.
      first = "#{in_pieces([early], 5)}; touch #{quoted(read)}"
      input = "#{first}; #{until_exists(taken)}; echo #{quoted(late)}"

      serve = """
      until = fn until -> File.exists?(#{inspect(read)}) || (Process.sleep(10) && until.(until)) end
      until.(until)
      McpServer.Stdio.take_over!()
      File.touch!(#{inspect(taken)})
      McpServer.Stdio.run(McpServer.StdioRouter, app: :mcp_server)
      """

      peer = start(vm(serve), input: input, tmp_dir: context.tmp_dir)
      assert text(message(peer)) == "äöü"
    end

    @tag req: "S8"
    test "mix mcp.stdio: stdout is the protocol's, the compiler's output included", context do
      project = project(context.tmp_dir)
      peer = start("mix mcp.stdio Fresh.MCP", mix(context, project, nil))

      write(peer, [initialize(1), call(2, "hello")])
      assert %{"id" => 1} = read(peer, 30_000)
      assert text(read(peer)) == "Hello!"
      eof(peer)
      assert exit_status(peer) == 0
      assert errors(peer) =~ "Compiling 1 file"
      assert errors(peer) =~ "printed while compiling"
      assert errors(peer) =~ "printed while starting"

      # The application may start the stdio transport itself, with either command.
      for command <- ["mix mcp.stdio Fresh.MCP", "mix run --no-halt"] do
        options = mix(context, project, nil)
        peer = start(command, put_in(options[:env], [{"FRESH_SERVES", "yes"} | options[:env]]))
        write(peer, call(1, "hello"))
        assert text(read(peer)) == "Hello!"
        eof(peer)
        assert exit_status(peer) == 0
      end
    end

    test "mix mcp.stdio: an HTTP server in the application's tree does not open its port", context do
      {:ok, listener} = :gen_tcp.listen(0, ip: {127, 0, 0, 1})
      {:ok, taken} = :inet.port(listener)
      options = mix(context, project(context.tmp_dir), nil)
      options = put_in(options[:env], [{"FRESH_PORT", Integer.to_string(taken)} | options[:env]])

      peer = start("mix mcp.stdio Fresh.MCP --as ada", options)
      write(peer, call(1, "who"))
      assert text(read(peer, 60_000)) == "ada"
      eof(peer)
      assert exit_status(peer) == 0
    end

    @tag req: "S8"
    test "mix mcp.stdio: a dependency that compiles with a warning does not stop the start", context do
      project = project(context.tmp_dir)
      # This library's `mix.exs` would load the shell. The project has only its `ebin`, so it loads the shell itself.
      shell = Path.expand("native/stderr_shell.exs")
      mix = Path.join(project, "mix.exs")
      text = mix |> File.read!() |> String.replace("[app: :fresh,", "[deps: [{:noisy, path: \"noisy\"}], app: :fresh,")
      File.write!(mix, "Code.require_file(#{inspect(shell)})\n" <> text)
      noisy(Path.join(project, "noisy"))

      # If Mix stores warnings, it prints them again the second time.
      for time <- 1..2 do
        peer = start("mix mcp.stdio Fresh.MCP", mix(context, project, nil))
        write(peer, [initialize(1), call(2, "hello")])
        assert %{"id" => 1} = read(peer, 30_000)
        assert text(read(peer)) == "Hello!"
        eof(peer)
        assert exit_status(peer) == 0
        if time == 1, do: assert(errors(peer) =~ "==> noisy")
      end
    end

    defp noisy(folder) do
      File.mkdir_p!(Path.join(folder, "lib"))

      File.write!(Path.join(folder, "mix.exs"), """
      defmodule Noisy.MixProject do
        use Mix.Project
        def project, do: [app: :noisy, version: "0.1.0"]
      end
      """)

      # Since 1.15 Mix prints an application's name before its warnings.
      File.write!(Path.join(folder, "lib/noisy.ex"), """
      Mix.shell().print_app()

      defmodule Noisy do
        def hello(unused), do: :ok
      end
      """)
    end

    test "mix mcp.stdio: a mistake is one sentence and status 1", context do
      project = project(context.tmp_dir)

      mistakes = [
        {"Fresh.Missing", "there is no module Fresh.Missing in this project"},
        {"Enum", "Enum is not a router: it does not `use McpServer.Router`"},
        {"", "usage: mix mcp.stdio ROUTER"},
        {"Fresh.MCP --what", "there is no option --what"},
        {"Fresh.MCP --tiemout 5", "there is no option --tiemout, did you mean --timeout?"},
        {"Fresh.MCP --no-compil", "there is no option --no-compil, did you mean --no-compile?"},
        {"Fresh.MCP --timeout 0", "expected --timeout to be an integer from 1 to 4_294_967_295 (milliseconds), got: 0"}
      ]

      # The first command compiles; the others run in parallel.
      [first | others] = for {arguments, sentence} <- mistakes, do: {"mix mcp.stdio #{arguments}", sentence}
      run = fn {command, sentence} -> {start(command, mix(context, project, "true")), sentence} end
      assert_mistake(run.(first))
      for running <- Enum.map(others, run), do: assert_mistake(running)
    end

    defp assert_mistake({peer, sentence}) do
      assert exit_status(peer, 30_000) == 1
      assert [line] = errors(peer) |> String.split("\n") |> Enum.filter(&(&1 =~ "(Mix)"))
      assert line =~ sentence
    end

    test "McpServer.Stdio.run: a mistake is an ArgumentError and status 1", context do
      names = "router, assigns, timeout, principal, drain, on_eof, limits, app"

      mistakes = [
        {"McpServer.StdioRouter, app: :mcp_server, principl: :a",
         "McpServer.Stdio has no option :principl, did you mean principal? Its options are: #{names}"},
        {"McpServer.StdioRouter, ap: :mcp_server",
         "McpServer.Stdio has no option :ap, did you mean app? Its options are: #{names}"},
        {~s(McpServer.StdioRouter, app: "mcp_server"),
         ~s(expected :app to be the name of an application, got: "mcp_server")},
        {"McpServer.StdioRouter, :mcp_server", "the options of McpServer.Stdio are a keyword list"},
        {"Enum, app: :mcp_server", "Enum is not a router: it does not `use McpServer.Router`"}
      ]

      running =
        for {arguments, sentence} <- mistakes,
            do: {start(vm("McpServer.Stdio.run(#{arguments})"), tmp_dir: context.tmp_dir, input: "true"), sentence}

      for {peer, sentence} <- running do
        assert exit_status(peer, 30_000) == 1
        assert "** (ArgumentError) #{sentence}" in String.split(errors(peer), "\n")
      end
    end

    # The compiled application is on the code path. As a dependency it would be compiled again.
    defp mix(context, project, input) do
      libraries = ebin() |> Path.join("../..") |> Path.expand()
      [cd: project, tmp_dir: context.tmp_dir, input: input, env: [{"ERL_LIBS", libraries}, {"MIX_ENV", "dev"}]]
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
          serves? = System.get_env("FRESH_SERVES") == "yes"
          unless serves?, do: IO.puts("printed while starting")
          stdio = if serves?, do: [{McpServer.Stdio, router: Fresh.MCP}], else: []
          port = System.get_env("FRESH_PORT")
          http = if port, do: [{McpServer.HttpServer, router: Fresh.MCP, port: String.to_integer(port)}], else: []
          Supervisor.start_link(stdio ++ http, strategy: :one_for_one)
        end
        def who(conn, _arguments), do: {:ok, conn.principal}
        def hello(_conn, _arguments), do: {:ok, [McpServer.Tool.Content.text("Hello!")]}
      end

      defmodule Fresh.MCP do
        use McpServer.Router
        tool "hello", "Says hello", Fresh, :hello
        tool "who", "Says who asks", Fresh, :who
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
    @tag req: ["T10", "S8"]
    test "whatever prints, prints to stderr", context do
      peer =
        serving(context,
          serve: "Logger.configure(level: :debug); McpServer.Stdio.run(McpServer.StdioRouter, app: :mcp_server)"
        )

      write(peer, [call(1, "puts"), call(2, "die"), call(3, "echo", %{"text" => "pure"})])
      answers = for _ <- 1..3, message = read(peer), into: %{}, do: {message["id"], text(message)}
      assert %{1 => "printed", 2 => "Tool execution failed (error id " <> _, 3 => "pure"} = answers
      eof(peer)
      assert exit_status(peer) == 0
      for what <- ~w(puts user format binwrite display debug error), do: assert(errors(peer) =~ "stray: #{what}")
      assert errors(peer) =~ "MCP tools/call \"die\" failed"
    end

    @tag req: "S8"
    test "what is logged while it starts, crash reports and warnings go to stderr", context do
      # Like `mix mcp.stdio`: stdout is taken over before the application starts.
      serve = """
      require Logger
      McpServer.Stdio.take_over!()
      Logger.error("stray: before")
      spawn(fn -> raise "stray: started" end)
      McpServer.Stdio.run(McpServer.StdioRouter, app: :mcp_server)
      """

      peer = start(vm(serve, "--logger-otp-reports true"), tmp_dir: context.tmp_dir)
      write(peer, [call(1, "crash"), call(2, "echo", %{"text" => "pure"})])
      answers = for _ <- 1..2, message = read(peer), into: %{}, do: {message["id"], text(message)}
      assert answers == %{1 => "crashed", 2 => "pure"}
      eof(peer)
      assert exit_status(peer) == 0
      for what <- ~w(before started crash warning), do: assert(errors(peer) =~ "stray: #{what}")
    end

    @tag req: "S7"
    test "an answer is one line, whatever it says", context do
      peer = serving(context)
      text = "a\nb\r\nc\u2028d\u0000e\u0085"
      write(peer, call(1, "echo", %{"text" => text}))
      assert text(read(peer)) == text
    end

    test "answers keep their order when the client reads late", context do
      pings = ~S[perl -e 'print qq({"jsonrpc":"2.0","id":$_,"method":"ping"}\n) for 1..5000']
      ordered = ~S[(sleep 1; perl -ne '$ordered += /"id":$.,/; END { print "$ordered of $.\n" }')]
      peer = start(vm(), input: pings, output: ordered, tmp_dir: context.tmp_dir)
      assert line(peer, 60_000) == "5000 of 5000"
    end

    @tag req: "S4"
    test "a client that stops reading ends the VM, without a crash dump", context do
      # While the VM starts, its `:user` process reads all input, and `yes` writes a gigabyte a second.
      up = Path.join(context.tmp_dir, "up")
      begin = "echo #{quoted(call(0, "touch", %{"file" => up}))}; until [ -e #{up} ]; do sleep 0.1; done"

      peer =
        start(vm(),
          input: "{ #{begin}; yes #{quoted(call(1, "echo", %{"text" => "x"}))}; }",
          output: "head -n 3 >/dev/null",
          tmp_dir: context.tmp_dir,
          cd: context.tmp_dir
        )

      assert exit_status(peer) == 0
      # `head` is the last of the pipe: the VM is gone when `yes` is.
      refute errors(peer) =~ "crash dump"
      assert Path.wildcard(Path.join(context.tmp_dir, "erl_crash.dump")) == []
    end
  end
end
