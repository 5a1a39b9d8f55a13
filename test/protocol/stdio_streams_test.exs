defmodule McpServer.Protocol.StdioStreamsTest do
  # The stdio transport from outside: what comes in, and how it ends.
  use ExUnit.Case, async: true

  import McpServer.StdioPeer

  @moduletag :tmp_dir

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

    test "S6: one byte at a time, also inside a character", context do
      peer = start(vm(), input: "cat", tmp_dir: context.tmp_dir)
      for <<byte <- call(1, "echo", %{"text" => "日本"}) <> "\n">>, do: write_raw(peer, <<byte>>)
      assert text(message(peer)) == "日本"
    end

    test "S2: a line without end costs no memory, and the next one is answered", context do
      long = "head -c 300000000 /dev/zero | tr '\\000' x"
      # The VM is up when the long line begins: what comes before that, its `:user` reads.
      up = Path.join(context.tmp_dir, "up")
      begin = "echo #{quoted(call(0, "touch", %{"file" => up}))}; until [ -e #{up} ]; do sleep 0.1; done"
      peaks = for id <- [1, 2], do: "echo #{quoted(call(id, "peak"))}"
      input = "{ #{begin}; #{hd(peaks)}; sleep 1; #{long}; echo; #{List.last(peaks)}; }"
      peer = start(vm(), input: input, tmp_dir: context.tmp_dir)
      assert %{"id" => 0} = message(peer)
      %{"id" => 1} = first = message(peer)
      assert %{"error" => %{"code" => -32700}} = message(peer, 60_000)
      %{"id" => 2} = last = message(peer)
      [before, peak] = for message <- [first, last], do: String.to_integer(text(message))
      assert peak - before < 40_000
      assert exit_status(peer) == 0
    end

    test "S6: 100,000 requests in one go are all answered", context do
      lines = for n <- 1..100_000, do: [call(n, "echo", %{"text" => "#{n}"}), ?\n]
      file = Path.join(context.tmp_dir, "requests")
      File.write!(file, lines)
      count = ~S(grep -o '"text":"[0-9]*"' | sort -u | wc -l)
      peer = start(vm(), input: "cat #{quoted(file)}", output: count, tmp_dir: context.tmp_dir)
      assert String.trim(line(peer, 60_000)) == "100000"
      assert exit_status(peer) == 0
    end

    test "S5: a client that does not read holds back its own requests", context do
      request = call(1, "echo", %{"text" => String.duplicate("x", 1_000)})
      # Far more than pipes and server hold, once the VM is up; the reader looks only after a while.
      up = Path.join(context.tmp_dir, "up")
      wait = "until [ -e #{up} ]; do sleep 0.1; done"
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
    test "S1: at the end of stdin an idle VM is gone within a second", context do
      # A second is generous, unless the machine is busy with something else: then it gets another chance.
      assert Enum.any?(1..4, fn _attempt ->
               peer = serving(context)
               started = since(0)
               eof(peer)
               assert exit_status(peer) == 0
               since(started) < 1_000
             end)
    end

    test "S1: half a line is not answered", context do
      peer =
        start(vm(),
          input: "printf '%s\\n%s' #{quoted(call(1, "echo", %{"text" => "whole"}))} '{\"jsonrpc\":'",
          tmp_dir: context.tmp_dir
        )

      assert text(message(peer)) == "whole"
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
      assert since(started) in 200..30_000
    end

    test "S4: SIGTERM ends it as it ends any VM", context do
      peer =
        serving(context,
          serve:
            "IO.puts(:stderr, \"pid=\#{System.pid()}\"); McpServer.Stdio.run(McpServer.StdioRouter, app: :mcp_server)"
        )

      [_, pid] = Regex.run(~r/pid=(\d+)/, errors(peer))
      {"", 0} = System.cmd("kill", ["-TERM", pid])
      # The pipe in front notices with the next byte.
      Process.sleep(1_500)
      write_raw(peer, "\n\n")
      assert exit_status(peer) == 0
      refute errors(peer) =~ "crash"
    end

    test "S4: whoever started it is killed: it ends, and nothing of it stays", context do
      file = Path.join(context.tmp_dir, "pids")
      # The client is the only one that holds the other end of stdin.
      input = "sh -c 'echo $$ >#{file}; echo #{quoted(call(1, "pid")) |> String.replace("'", "'\\''")}; exec sleep 600'"
      peer = start(vm(), input: input, tmp_dir: context.tmp_dir)
      server = text(message(peer))
      assert File.dir?("/proc/#{server}")
      {"", 0} = System.cmd("kill", ["-KILL", String.trim(File.read!(file))])
      assert exit_status(peer) == 0
      refute File.dir?("/proc/#{server}")
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
end
