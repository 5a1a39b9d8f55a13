defmodule McpServer.Protocol.HandlerFaultsTest do
  # Faulty handlers, over both transports: the response, the log, no remaining processes or memory in the VM, and the
  # response to the next call.
  use ExUnit.Case, async: true

  @moduletag slow: "each test starts a VM"

  import McpServer.HttpCase, only: [eventually: 1]

  alias McpServer.{FaultServer, HttpClient, HttpPeer, HttpRequests, HttpSession, StdioPeer}

  @moduletag :tmp_dir
  @moduletag timeout: 300_000

  @failed ~r/\ATool execution failed \(error id ([0-9a-f]{16})\)(?:: (?:it did not finish|its result is larger) .*)?\z/
  @most_logged 8_192

  # Starts a VM with a server, and asserts that `fun` leaves nothing behind. A first run loads code and fills caches.
  defp kept(transport, context, options \\ [], fun) do
    {first, options} = Keyword.pop(options, :first, fun)
    server = FaultServer.start(transport, context.tmp_dir, options)
    first.(server)
    FaultServer.assert_kept(server, fn -> fun.(server) end)
    assert echoes?(server)
    refute Enum.any?(FaultServer.log(server), &(&1 =~ "nif_panicked"))
    assert FaultServer.stop(server) == 0
  end

  defp echoes?(server),
    do: FaultServer.text(FaultServer.call(server, "echo", %{"text" => "next"})) == ~s({"text":"next"})

  # Waits until the process that starts the calls has been replaced. During its restart HTTP requests are refused, and
  # over stdio the messages already read are lost.
  defp assert_restarted(server, before, left \\ 1_500) do
    assert left > 0, "nobody has taken the place of #{before}"
    id = System.unique_integer([:positive])
    server = FaultServer.begin(server, id, "parent")

    case answer_or_nothing(server, id) do
      %{"result" => %{"content" => [%{"text" => parent}]}} when parent != before ->
        :ok

      _not_yet ->
        Process.sleep(20)
        assert_restarted(server, before, left - 1)
    end
  end

  defp answer_or_nothing(server, id) do
    FaultServer.await(server, id, 500)
  rescue
    _nothing in RuntimeError -> nil
  end

  defp logged(server, text), do: Enum.count(FaultServer.log(server), &String.contains?(&1, text))

  # A tool's failure is a result with an id. The log has one entry with that id, of bounded size.
  defp assert_failed(server, answer) do
    assert %{"result" => %{"isError" => true, "content" => [%{"text" => text}]}} = answer
    assert [_, id] = Regex.run(@failed, text)
    refute inspect(answer) =~ "secret"
    assert [entry] = eventually_logged(server, id, 1_500)
    assert byte_size(entry) <= @most_logged
    entry
  end

  defp eventually_logged(server, id, left) do
    case Enum.filter(FaultServer.log(server), &(&1 =~ "error id #{id}")) do
      [] when left > 0 ->
        Process.sleep(20)
        eventually_logged(server, id, left - 1)

      entries ->
        entries
    end
  end

  for transport <- FaultServer.transports() do
    describe "#{transport}:" do
      @transport transport

      @tag req: "T1"
      test "raise, throw, exit, an error of 10 MB", context do
        kept(@transport, context, fn server ->
          for how <- ["raise", "throw", "exit", "error of 10 MB"] do
            assert assert_failed(server, FaultServer.call(server, "fail", %{"how" => how})) =~
                     "tools/call \"fail\" failed"
          end
        end)
      end

      @tag req: "T2"
      test "it kills itself and what it is linked to, while another request goes on", context do
        kept(@transport, context, fn server ->
          server = FaultServer.begin(server, 1_000_001, "sleep", %{"ms" => 1_500})

          for how <- ["kill", "shutdown", "kill a linked process", "kill what it is linked to"] do
            assert_failed(server, FaultServer.call(server, "fail", %{"how" => how}))
          end

          assert FaultServer.text(FaultServer.await(server, 1_000_001)) == "slept"
        end)
      end

      @tag req: "T2"
      test "it kills the process that started it: the session is lost, the server is not", context do
        kept(@transport, context, fn server ->
          parent = FaultServer.text(FaultServer.call(server, "parent"))
          server = FaultServer.begin(server, 1, "fail", %{"how" => "kill its parent"})
          # Over HTTP this is the process with the client's socket.
          if @transport == :http, do: assert_raise(RuntimeError, ~r/has closed/, fn -> FaultServer.await(server, 1) end)
          assert_restarted(server, parent)
          assert echoes?(server)
        end)
      end

      @tag req: "T2"
      test "1,000 times of 10,000: no supervisor gives up", context do
        kill = fn server, times ->
          for _ <- 1..times do
            assert %{"result" => %{"isError" => true}} = FaultServer.call(server, "fail", %{"how" => "kill"})
          end
        end

        kept(@transport, context, [first: &kill.(&1, 10)], &kill.(&1, scaled(1_000)))
      end

      @tag req: "T3"
      test "it hangs or works for ever: ended at its time, and its place is free", context do
        kept(@transport, context, [limits: [max_calls: 1]], fn server ->
          for tool <- ["hang", "spin", "hang", "spin"] do
            assert assert_failed(server, FaultServer.call(server, tool)) =~ "timed out after 100 ms"
          end

          assert echoes?(server)
        end)
      end

      @tag req: "T4"
      test "it returns garbage", context do
        kept(@transport, context, fn server ->
          for how <- [
                "nil",
                "pid",
                "improper list",
                "not UTF-8",
                "not UTF-8, structured",
                "not a number",
                "struct",
                "{:ok}",
                "five elements",
                "a function",
                "1,000,000 deep",
                "maps 1,000,000 deep"
              ] do
            entry = assert_failed(server, FaultServer.call(server, "garbage", %{"how" => how}))
            assert {how, entry =~ "invalid handler result"} == {how, true}
          end
        end)
      end

      @tag req: "T5"
      test "100 MB: over the limit of a result; a heap over its limit ends that call alone", context do
        kept(@transport, context, [limits: [max_heap_bytes: 64_000_000]], fn server ->
          assert assert_failed(server, FaultServer.call(server, "large", %{"bytes" => 100_000_000})) =~
                   "the result is larger than"

          assert_failed(server, FaultServer.call(server, "greedy"))
          text = FaultServer.text(FaultServer.call(server, "large", %{"bytes" => 10_000_000}))
          assert byte_size(text) == 10_000_000
        end)
      end

      @tag req: "T6"
      test "progress without end (20,000 of 1,000,000), from another process, and after the result", context do
        report = fn server, count ->
          meta = [meta: %{"progressToken" => "p"}]

          for from <- ["itself", "another process"] do
            answer = FaultServer.call(server, "progress", %{"from" => from, "count" => count}, meta)
            assert FaultServer.text(answer) == "#{count}"
          end

          answer = FaultServer.call(server, "progress", %{"from" => "the past", "count" => 1_000}, meta)
          assert FaultServer.text(answer) == "0"
        end

        kept(@transport, context, [first: &report.(&1, 100)], &report.(&1, scaled(20_000)))
      end

      @tag req: "T6"
      test "progress after its cancellation is not sent, and harms nobody", context do
        kept(@transport, context, fn server ->
          id = System.unique_integer([:positive])
          arguments = %{"from" => "a cancelled call", "count" => 1_000}
          # Over HTTP no process is left to receive them.
          told = if @transport == :stdio, do: "reported 999 times: [:ok]", else: "reported 999 times: [error: :closed]"
          reported = logged(server, told)
          server = FaultServer.begin(server, id, "progress", arguments, meta: %{"progressToken" => "p"})
          # Over stdio the code below would read any message of this call.
          if @transport == :stdio, do: assert(%{"params" => %{"progress" => 1}} = StdioPeer.message(server.peer))
          assert eventually(fn -> logged(server, "the call reports") == reported + 1 end)
          FaultServer.cancel(server, id)
          assert eventually(fn -> logged(server, told) == reported + 1 end)
          assert logged(server, "the call has ended: :killed") == reported + 1

          server = FaultServer.begin(server, id + 1, "echo", %{"text" => "after"})

          if @transport == :stdio,
            do: assert(FaultServer.text(StdioPeer.message(server.peer)) == ~s({"text":"after"})),
            else: assert(FaultServer.text(FaultServer.await(server, id + 1)) == ~s({"text":"after"}))
        end)
      end

      @tag req: "T8"
      test "it floods its connection's mailbox", context do
        kept(@transport, context, fn server ->
          assert FaultServer.text(FaultServer.call(server, "flood", %{"count" => 100_000})) == "flooded"
        end)
      end

      @tag req: "T9"
      test "it traps exits and leaves 10,000 processes: they are its own, and nobody is harmed", context do
        kept(@transport, context, fn server ->
          before = FaultServer.figures(server)["processes"]
          assert FaultServer.text(FaultServer.call(server, "spawn", %{"count" => 10_000})) == "10000"
          assert FaultServer.figures(server)["processes"] >= before + 10_000
          assert echoes?(server)
          # None of these processes ended with the call.
          assert FaultServer.text(FaultServer.call(server, "reap")) == "10000"
        end)
      end

      @tag req: "T10"
      test "what it prints is no part of an answer", context do
        server = FaultServer.start(@transport, context.tmp_dir)
        assert FaultServer.text(FaultServer.call(server, "puts")) == "printed"
        assert echoes?(server)

        if @transport == :stdio do
          for what <- ~w(puts binwrite format display),
              do: assert(eventually(fn -> logged(server, "stray: #{what}") > 0 end))

          assert FaultServer.stop(server) == 0
        end
      end

      @tag req: "T11"
      test "its flags, group leader and name are its own", context do
        kept(@transport, context, fn server ->
          for _ <- 1..3, do: assert(FaultServer.text(FaultServer.call(server, "twist")) == "twisted")
        end)
      end

      @tag req: "T11"
      test "halt ends the VM with the status it names (documented)", context do
        server = FaultServer.start(@transport, context.tmp_dir)
        assert FaultServer.text(FaultServer.call(server, "twist")) == "twisted"
        FaultServer.begin(server, 1, "halt")
        # Over stdio this is the status of the pipe, whose last command is the VM.
        assert FaultServer.ended(server) == 3
      end
    end
  end

  describe "it asks a client that goes away instead of answering" do
    @describetag req: "T7"
    @elicits %{"elicitation" => %{"form" => %{}}}

    test "stdio: it is told so, and the VM ends", context do
      server = FaultServer.start(:stdio, context.tmp_dir)
      StdioPeer.write(server.peer, StdioPeer.initialize(1, "2025-11-25", @elicits))
      assert %{"id" => 1} = StdioPeer.read(server.peer, 60_000)
      StdioPeer.write(server.peer, StdioPeer.request(2, "tools/call", %{"name" => "ask", "arguments" => %{}}))
      assert %{"method" => "elicitation/create"} = StdioPeer.read(server.peer)
      StdioPeer.eof(server.peer)
      assert %{"id" => 2, "result" => %{"isError" => true}} = answer = StdioPeer.message(server.peer)
      assert FaultServer.text(answer) == "The client is gone"
      assert StdioPeer.exit_status(server.peer, 30_000) == 0
    end

    test "http: nothing is left of the session, nor of its call", context do
      kept(:http, context, fn server ->
        for _ <- 1..20 do
          session = HttpSession.open(server.http, "2025-11-25", capabilities: @elicits)
          {peer, %{body: :stream}} = HttpSession.open_stream(session, HttpRequests.legacy_call("ask"))
          assert %{"method" => "elicitation/create"} = HttpClient.message(peer)
          HttpPeer.cut(peer)
          assert HttpSession.delete(session).status == 204
        end
      end)
    end
  end

  defp scaled(figure), do: figure * String.to_integer(System.get_env("MCP_SCALE", "1"))
end
