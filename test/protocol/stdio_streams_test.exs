defmodule McpServer.Protocol.StdioStreamsTest do
  # The stdio transport from outside: its input and its end.
  use ExUnit.Case, async: true

  @moduletag slow: "each test starts a VM"

  import McpServer.HttpCase, only: [eventually: 1]
  import McpServer.StdioPeer

  @moduletag :tmp_dir

  describe "stdin" do
    test "a ping is answered while a tool takes its time", context do
      peer = serving(context)
      write(peer, initialize(1))
      assert %{"id" => 1} = read(peer)
      file = Path.join(context.tmp_dir, "go")

      write(peer, [request(2, "tools/call", %{"name" => "await", "arguments" => %{"file" => file}}), request(3, "ping")])

      assert %{"id" => 3} = read(peer)
      # The tool has not ended before.
      File.touch!(file)
      assert %{"id" => 2} = answer = read(peer)
      assert text(answer) == "waited"
    end

    @tag req: "S3"
    test "bytes that are no message are answered, empty lines and CR LF are fine", context do
      peer = start(vm(), input: "cat", tmp_dir: context.tmp_dir)

      write_raw(peer, [
        <<0xFF, 0xFE>>,
        "\n\n\r\n",
        "nope\r\n",
        ~s({"a":"),
        0,
        ~s("}\n),
        call(1, "echo", %{"text" => "fine"}),
        "\r\n"
      ])

      messages = for _ <- 1..4, do: message(peer)
      assert Enum.map(messages, & &1["error"]["code"]) == [-32700, -32700, -32700, nil]
      assert text(List.last(messages)) == "fine"
    end

    test "a byte order mark, lines of white space, and a last line without an end are fine", context do
      file = Path.join(context.tmp_dir, "input")

      File.write!(file, [
        "\uFEFF",
        call(1, "echo", %{"text" => "first"}),
        "\n \t\r\n  \n",
        call(2, "echo", %{"text" => "last"})
      ])

      peer = start(vm(), input: "cat #{quoted(file)}", tmp_dir: context.tmp_dir)
      assert Enum.sort(for _ <- 1..2, do: text(message(peer))) == ["first", "last"]
      assert exit_status(peer) == 0
    end

    test "a byte order mark counts only at the beginning, and may come in parts", context do
      peer = start(vm(), input: "cat", tmp_dir: context.tmp_dir)
      for <<byte <- "\uFEFF">>, do: write_raw(peer, <<byte>>)
      write_raw(peer, [call(1, "echo", %{"text" => "first"}), "\n"])
      assert text(message(peer)) == "first"
      write_raw(peer, ["\uFEFF", call(2, "echo", %{"text" => "second"}), "\n"])
      assert %{"error" => %{"code" => -32700}} = message(peer)
    end

    @tag req: "S6"
    test "one byte at a time, also inside a character", context do
      peer = start(vm(), input: "cat", tmp_dir: context.tmp_dir)
      for <<byte <- call(1, "echo", %{"text" => "日本"}) <> "\n">>, do: write_raw(peer, <<byte>>)
      assert text(message(peer)) == "日本"
    end

    test "24 streams of 2.9 MB: those with a large _meta are refused, and of the others nothing is kept", context do
      peer = serving(context)
      values = Enum.map_join(1..190_000, ",", fn _value -> ~s("xxxxxxxxxxxx") end)

      version =
        ~s("io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{})

      listen = fn id, meta, params ->
        ~s({"jsonrpc":"2.0","id":#{id},"method":"subscriptions/listen","params":{"notifications":{},) <>
          ~s("x":[#{params}],"_meta":{#{version},"x":[#{meta}]}}}\n)
      end

      write_raw(peer, call(0, "peak") <> "\n")
      before = String.to_integer(text(message(peer)))

      for id <- 1..24 do
        write_raw(peer, listen.(id, values, ""))
        error = %{"code" => -32602, "message" => "Invalid params: _meta is longer than 16384 bytes"}
        assert %{"id" => ^id, "error" => ^error} = message(peer)
        write_raw(peer, listen.(id, "", values))
        assert %{"method" => "notifications/subscriptions/acknowledged"} = message(peer)
      end

      write_raw(peer, call(100, "peak") <> "\n")
      # In KiB. One such message as a term would take 8 MB, and all of them 400 MB.
      assert String.to_integer(text(message(peer))) - before < 100_000
    end

    @tag req: "S2"
    test "a line without end costs no memory, and the next one is answered", context do
      long = "head -c 300000000 /dev/zero | tr '\\000' x"
      # The VM has started before the long line begins: earlier input is read by its `:user` process.
      [up, measured] = for name <- ["up", "measured"], do: Path.join(context.tmp_dir, name)
      begin = "echo #{quoted(call(0, "touch", %{"file" => up}))}; #{until_exists(up)}"
      peaks = for id <- [1, 2], do: "echo #{quoted(call(id, "peak"))}"
      input = "{ #{begin}; #{hd(peaks)}; #{until_exists(measured)}; #{long}; echo; #{List.last(peaks)}; }"
      peer = start(vm(), input: input, tmp_dir: context.tmp_dir)
      # The file exists before the call that has made it is answered.
      assert %{0 => _touched, 1 => first} = Map.new([message(peer), message(peer)], &{&1["id"], &1})
      File.touch!(measured)
      assert %{"error" => %{"code" => -32700}} = message(peer, 60_000)
      %{"id" => 2} = last = message(peer)
      [before, peak] = for message <- [first, last], do: String.to_integer(text(message))
      assert peak - before < 40_000
      assert exit_status(peer) == 0
    end

    @tag req: "S6"
    test "100,000 requests in one go are all answered", context do
      lines = for n <- 1..100_000, do: [call(n, "echo", %{"text" => "#{n}"}), ?\n]
      file = Path.join(context.tmp_dir, "requests")
      File.write!(file, lines)
      count = ~S(grep -o '"text":"[0-9]*"' | sort -u | wc -l)
      peer = start(vm(), input: "cat #{quoted(file)}", output: count, tmp_dir: context.tmp_dir)
      assert String.trim(line(peer, 60_000)) == "100000"
      assert exit_status(peer) == 0
    end

    @tag req: "S5"
    test "a client that does not read holds back its own requests", context do
      request = call(1, "echo", %{"text" => String.duplicate("x", 1_000)})
      # After the VM has started, the client sends far more than pipes and server hold. It reads only later.
      up = Path.join(context.tmp_dir, "up")
      wait = until_exists(up)
      flood = "yes #{quoted(request)} | head -n 200000"

      input =
        "{ echo #{quoted(call(0, "touch", %{"file" => up}))}; #{wait}; #{flood}; sleep 1; echo #{quoted(call(2, "peak"))}; }"

      peer = start(vm(), input: input, output: "{ #{wait}; sleep 3; tail -n 1; }", tmp_dir: context.tmp_dir)
      last = message(peer, 60_000)
      assert last["id"] == 2
      assert String.to_integer(text(last)) < 200_000
    end
  end

  describe "the end" do
    @tag req: "S1"
    test "at the end of stdin an idle VM ends, and takes no time for calls", context do
      peer = serving(context, serve: draining(600_000))
      eof(peer)
      assert exit_status(peer) == 0
    end

    # `drain:` is in milliseconds.
    defp draining(drain), do: "McpServer.Stdio.run(McpServer.StdioRouter, app: :mcp_server, drain: #{drain})"

    @tag req: "S1"
    test "half a message is refused, and what came before it is answered", context do
      peer =
        start(vm(),
          input: "printf '%s\\n%s' #{quoted(call(1, "echo", %{"text" => "whole"}))} '{\"jsonrpc\":'",
          tmp_dir: context.tmp_dir
        )

      assert [%{"error" => %{"code" => -32_700}}, whole] =
               Enum.sort_by([message(peer), message(peer)], &(&1["id"] || 0))

      assert text(whole) == "whole"
      assert exit_status(peer) == 0
    end

    @tag req: "S1"
    test "calls that run are waited for, but not for ever", context do
      peer = serving(context)
      write(peer, call(1, "sleep", %{"ms" => 300}))
      eof(peer)
      assert text(read(peer)) == "slept 300"
      assert exit_status(peer) == 0

      # The call would take ten minutes.
      peer = serving(context, serve: draining(200))
      write(peer, call(1, "sleep", %{"ms" => 600_000}))
      started = since(0)
      eof(peer)
      assert exit_status(peer) == 0
      assert since(started) >= 200
    end

    # Earlier, the VM polled the client's pipe under a reused descriptor number. It keeps polling a descriptor that was
    # read often while events arrive, and the end of a pipe is a permanent event.
    @tag req: "S1"
    test "nothing spins after the end of stdin", context do
      flood = "yes #{quoted(call(1, "echo", %{"text" => String.duplicate("x", 30_000)}))} | head -n 60"
      file = Path.join(context.tmp_dir, "go")
      last = for line <- [call(2, "pid"), call(3, "await", %{"file" => file})], do: "; echo #{quoted(line)}"
      peer = start(vm(draining(600_000)), input: "#{flood}#{last}", tmp_dir: context.tmp_dir)
      answers = for _ <- 1..61, message = message(peer), into: %{}, do: {message["id"], message}
      server = text(answers[2])
      eventually(fn -> polled(server, 0) -- [inode(server, 0)] == [] end)
      # A busy loop takes all of the time, in each of the periods. The last work may reach into the first ones.
      assert Enum.any?(1..20, fn _period -> busy(server, 1_000) < 0.2 end)

      File.touch!(file)
      assert text(message(peer)) == "waited"
      assert exit_status(peer) == 0
    end

    # The part of the next milliseconds in which the process has a processor.
    defp busy(pid, milliseconds) do
      {started, before} = {since(0), ticks(pid)}
      Process.sleep(milliseconds)
      (ticks(pid) - before) * 10 / since(started)
    end

    defp inode(pid, descriptor), do: File.stat!("/proc/#{pid}/fd/#{descriptor}").inode

    # The files that are polled under this descriptor number.
    defp polled(pid, descriptor) do
      for set <- File.ls!("/proc/#{pid}/fdinfo"),
          {:ok, text} <- [File.read("/proc/#{pid}/fdinfo/#{set}")],
          [_line, inode] <- Regex.scan(~r/^tfd: +#{descriptor} .* ino:([0-9a-f]+)/m, text),
          do: String.to_integer(inode, 16)
    end

    # CPU time, in hundredths of a second.
    defp ticks(pid) do
      [_name, fields] = "/proc/#{pid}/stat" |> File.read!() |> String.split(") ")
      fields |> String.split() |> Enum.slice(11, 2) |> Enum.map(&String.to_integer/1) |> Enum.sum()
    end

    test "stdin may be a file, a terminal or a socket", context do
      lines = for id <- 1..100, do: [call(id, "echo", %{"text" => "#{id}"}), ?\n]
      File.write!(Path.join(context.tmp_dir, "requests"), lines)

      for command <- ["#{vm()} <requests", terminal(), socket()] do
        peer = start("sh -c #{quoted(command)}", input: "true", tmp_dir: context.tmp_dir, cd: context.tmp_dir)
        answers = for _ <- 1..100, do: String.to_integer(text(message(peer)))
        assert Enum.sort(answers) == Enum.to_list(1..100)
        assert exit_status(peer) == 0
      end
    end

    # `script` gives its command a terminal, where Control-D ends the input. The terminal echoes input until `stty
    # -echo`, and would show stderr.
    defp terminal do
      typed = "{ until [ -e ready ]; do sleep 0.1; done; cat requests; printf '\\004'; sleep 2; }"
      "#{typed} | script -qec #{quoted("stty -echo; touch ready; #{vm()} 2>/dev/null")} /dev/null"
    end

    # Perl's `socketpair`: a child writes to the other end.
    defp socket do
      pair = "socketpair(A, B, AF_UNIX, SOCK_STREAM, 0)"
      child = "if (!fork) { close A; print B `cat requests`; exit }"
      "perl -MSocket -e " <> quoted("#{pair}; #{child} close B; open STDIN, q(<&A); close A; exec @ARGV") <> " #{vm()}"
    end

    @tag req: "S4"
    test "SIGTERM ends it as it ends any VM", context do
      peer =
        serving(context,
          serve:
            "IO.puts(:stderr, \"pid=\#{System.pid()}\"); McpServer.Stdio.run(McpServer.StdioRouter, app: :mcp_server)"
        )

      [_, pid] = Regex.run(~r/pid=(\d+)/, errors(peer))
      {"", 0} = System.cmd("kill", ["-TERM", pid])
      assert_ended(peer, pid)
    end

    # The VM has ended before its stdin ends. The command that writes to it does not notice.
    defp assert_ended(peer, pid) do
      eventually(fn -> not File.dir?("/proc/#{pid}") end)
      eof(peer)
      assert exit_status(peer) == 0
      refute errors(peer) =~ "crash"
    end

    @supervised """
    {:ok, _} = Application.ensure_all_started(:mcp_server)
    transport = {McpServer.Stdio, router: McpServer.StdioRouter, limits: [max_calls: 2], drain: 1_000}
    {:ok, _} = Supervisor.start_child(McpServer.Supervisor, transport)
    Process.sleep(:infinity)
    """
    @run "McpServer.Stdio.run(McpServer.StdioRouter, app: :mcp_server, limits: [max_calls: 2], drain: 1_000)"

    for {how, serve} <- [run: @run, supervised: @supervised] do
      @tag req: "S4"
      test "at SIGTERM calls that run and calls that wait are answered (#{how})", context do
        peer = serving(context, serve: unquote(serve))
        write(peer, [call(0, "pid"), initialize(1)])
        answers = for _ <- 1..2, message = read(peer), into: %{}, do: {message["id"], message}
        write(peer, for(id <- 2..4, do: call(id, "sleep", %{"ms" => 60_000})))
        write(peer, request(5, "ping"))
        assert %{"id" => 5} = read(peer)

        {"", 0} = System.cmd("kill", ["-TERM", text(answers[0])])
        ended = for _ <- 2..4, %{"id" => id, "result" => result} = read(peer), into: %{}, do: {id, result}
        assert Map.keys(ended) == [2, 3, 4]

        for {_id, result} <- ended do
          assert %{"isError" => true, "content" => [%{"text" => "The server is shutting down"}]} = result
        end

        assert_ended(peer, text(answers[0]))
      end
    end

    @tag req: "S4"
    test "at SIGTERM calls that run and calls that wait have time to come to their end", context do
      serve = "McpServer.Stdio.run(McpServer.StdioRouter, app: :mcp_server, limits: [max_calls: 1], drain: 60_000)"
      peer = serving(context, serve: serve)
      write(peer, [call(0, "pid"), initialize(1)])
      answers = for _ <- 1..2, message = read(peer), into: %{}, do: {message["id"], message}
      write(peer, for(id <- 2..4, do: call(id, "sleep", %{"ms" => 700})))
      write(peer, request(5, "ping"))
      assert %{"id" => 5} = read(peer)

      {"", 0} = System.cmd("kill", ["-TERM", text(answers[0])])

      for id <- 2..4 do
        assert %{"id" => ^id, "result" => %{"content" => [_slept]} = result} = read(peer)
        refute result["isError"]
      end

      assert_ended(peer, text(answers[0]))
    end

    @tag req: "S4"
    test "whoever started it is killed: it ends, and nothing of it stays", context do
      file = Path.join(context.tmp_dir, "pids")
      # Only the client holds the other end of stdin.
      input = "sh -c 'echo $$ >#{file}; echo #{quoted(call(1, "pid")) |> String.replace("'", "'\\''")}; exec sleep 600'"
      peer = start(vm(), input: input, tmp_dir: context.tmp_dir)
      server = text(message(peer))
      assert File.dir?("/proc/#{server}")
      {"", 0} = System.cmd("kill", ["-KILL", String.trim(File.read!(file))])
      assert exit_status(peer) == 0
      refute File.dir?("/proc/#{server}")
      refute errors(peer) =~ "crash"
    end

    # Earlier, one of thirty servers wrote `{removed_failing_handler,default}` to stderr at its end: the supervisor of
    # `:user` reported that `:user` was killed, to handlers that had ended.
    test "`:user` is there until the end, so nobody reports its end", context do
      serve = """
      spawn(fn ->
        Process.group_leader(self(), Process.whereis(:init))
        for name <- [:user, :logger_sup], do: Process.monitor(name)
        receive(do: ({:DOWN, _monitor, :process, {name, _node}, _reason} -> :erlang.display({:ended, name})))
        receive(do: ({:DOWN, _monitor, :process, {name, _node}, _reason} -> :erlang.display({:ended, name})))
      end)

      McpServer.Stdio.run(McpServer.StdioRouter, app: :mcp_server)
      """

      peer = serving(context, serve: serve)
      eof(peer)
      assert exit_status(peer) == 0
      refute errors(peer) =~ "user"
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
      file = Path.join(context.tmp_dir, "kill")

      expression = """
      {:ok, _} = Application.ensure_all_started(:mcp_server)
      {:ok, _} = Supervisor.start_link([{McpServer.Stdio, router: McpServer.StdioRouter}], strategy: :one_for_one)
      until = fn until, condition -> condition.() || (Process.sleep(10) && until.(until, condition)) end
      until.(until, fn -> File.exists?(#{inspect(file)}) end)
      killed = Process.whereis(McpServer.Stdio)
      Process.exit(killed, :kill)
      until.(until, fn -> Process.whereis(McpServer.Stdio) not in [nil, killed] end)
      IO.puts(:stderr, "back")
      Process.sleep(:infinity)
      """

      peer = serving(context, serve: expression)
      File.touch!(file)
      eventually(fn -> errors(peer) =~ "back" end)
      write(peer, call(2, "echo", %{"text" => "again"}))
      assert text(read(peer)) == "again"
      eof(peer)
      assert exit_status(peer) == 0
    end
  end
end
