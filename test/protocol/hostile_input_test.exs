defmodule McpServer.Protocol.HostileInputTest do
  # Input that would crash a careless native library, over both transports: the VM survives, the response is the
  # documented one, the next call is answered, and no memory is retained.
  use ExUnit.Case, async: true

  @moduletag slow: "megabytes of hostile input, to VMs of their own"

  alias McpServer.FaultServer

  @moduletag :tmp_dir
  @moduletag timeout: 300_000

  @parse_error -32700

  defp kept(transport, context, fun) do
    server = FaultServer.start(transport, context.tmp_dir)
    fun.(server)
    FaultServer.assert_kept(server, fn -> fun.(server) end)
    assert FaultServer.text(FaultServer.call(server, "echo", %{"a" => 1})) == ~s({"a":1})
    assert FaultServer.log(server) == []
    assert FaultServer.stop(server) == 0
  end

  # A call whose arguments are JSON text that no encoder would produce.
  defp with_arguments(text, tool) do
    meta =
      ~s("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})

    [~s({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{#{meta},"name":"#{tool}","arguments":), text, "}}"]
  end

  defp call_with(server, text, tool \\ "echo") do
    headers = [{"mcp-protocol-version", "2026-07-28"}, {"mcp-method", "tools/call"}, {"mcp-name", tool}]
    FaultServer.send_bytes(server, with_arguments(text, tool), headers)
  end

  # The model gets a short reason without its values.
  defp assert_refused(answer, expected) do
    assert %{"result" => %{"isError" => true, "content" => [%{"text" => text}]}} = answer
    assert byte_size(text) <= 1_024
    assert text == expected
  end

  for transport <- FaultServer.transports() do
    describe "#{transport}:" do
      @transport transport

      @tag req: "M2"
      test "100,000 levels, as the message and as arguments", context do
        kept(@transport, context, fn server ->
          for levels <- [129, 5_000, 100_000], {open, close} <- [{"[", "]"}, {~s({"a":), "}"}] do
            nested = [String.duplicate(open, levels), "0", String.duplicate(close, levels)]
            assert_unread(FaultServer.send_bytes(server, nested))
            assert_unread(call_with(server, [~s({"a":), nested, "}"]))
          end
        end)
      end

      @tag req: "M2"
      test "10,000,000 brackets", context do
        kept(@transport, context, fn server ->
          assert_too_much(@transport, FaultServer.send_bytes(server, String.duplicate("[", 10_000_000)))

          assert %{"error" => %{"code" => @parse_error}} =
                   FaultServer.send_bytes(server, String.duplicate("[", 4_000_000))
        end)
      end

      @tag req: "M16"
      test "an instance of 199,000 wrong items: one short answer; one of 1,000,000: too many values", context do
        items = fn item, count -> [~s({"items":[), List.duplicate(item <> ",", count - 1), item, "]}"] end
        problem = "Invalid arguments for tool 'texts':\n- /items/0: must be a string (type)"

        # The log of `kept/3` stays empty: the handler, which would log, is not called.
        kept(@transport, context, fn server ->
          assert_refused(call_with(server, items.("727272", 199_000), "texts"), problem)
          assert_unread(call_with(server, items.("0", 1_000_000), "texts"))
        end)
      end

      @tag req: "M16"
      test "a call that fits is told of in the log", context do
        server = FaultServer.start(@transport, context.tmp_dir)
        assert FaultServer.text(FaultServer.call(server, "texts", %{"items" => ["fits"]})) == ~s({"items":["fits"]})
        assert FaultServer.stop(server) == 0
        assert [_entry] = Enum.filter(FaultServer.log(server), &(&1 =~ "[error] the handler was called\n"))
      end

      @tag req: "Y3"
      test "a $ref lattice and an instance that makes it walk every way", context do
        kept(@transport, context, fn server ->
          for value <- ["hostile", %{"a" => "hostile"}, [["hostile"]]] do
            problem =
              "Invalid arguments for tool 'lattice':\n- (root): must be a value that satisfies the schema (schema)"

            assert_refused(FaultServer.call(server, "lattice", %{"value" => value}), problem)
          end

          assert FaultServer.text(FaultServer.call(server, "lattice", %{"value" => 1})) == ~s({"value":1})
        end)
      end

      @tag req: "Y3"
      test "patterns that make others backtrack", context do
        kept(@transport, context, fn server ->
          for {name, pattern} <- McpServer.FaultRouter.Schemas.expressions(), length <- [50, 100_000] do
            problem = "- /#{name}: must be a string that matches the pattern #{pattern} (pattern)"
            text = String.duplicate("a", length) <> "!"

            assert_refused(
              FaultServer.call(server, "patterns", %{name => text}),
              "Invalid arguments for tool 'patterns':\n" <> problem
            )
          end

          for name <- ~w(nested alternatives) do
            assert %{"result" => %{"isError" => false}} = FaultServer.call(server, "patterns", %{name => "aaa"})
          end
        end)
      end

      @tag req: "Y3"
      test "60,000 different objects", context do
        items = Enum.map_intersperse(1..60_000, ",", &~s({"n":#{&1}}))

        kept(@transport, context, fn server ->
          answer = call_with(server, [~s({"items":[), items, "]}"], "unique")
          assert %{"id" => 1, "result" => %{"isError" => false}} = answer
        end)
      end
    end
  end

  defp assert_unread(answer), do: assert(%{"error" => %{"code" => @parse_error}} = answer)

  # An HTTP body may have 4 MiB, a line 10 MiB.
  defp assert_too_much(:http, answer),
    do: assert(%{"error" => %{"message" => "The body is longer than 4194304 bytes"}} = answer)

  defp assert_too_much(:stdio, answer), do: assert_unread(answer)
end
