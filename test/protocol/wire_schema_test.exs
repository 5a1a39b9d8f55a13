defmodule McpServer.Protocol.WireSchemaTest do
  # All other tests rely on this check, so it must detect errors itself.
  use ExUnit.Case, async: true

  alias McpServer.{WireSchema, WireStructure}
  alias McpServer.WireSchema.Violation

  @call ~s({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})
  @initialize ~s({"jsonrpc":"2.0","id":0,"method":"initialize"})

  defp session(revision) do
    result = ~s({"protocolVersion":"#{revision}","capabilities":{},"serverInfo":{"name":"s","version":"1"}})

    WireSchema.new()
    |> WireSchema.see({:in, @initialize})
    |> WireSchema.see({:out, ~s({"jsonrpc":"2.0","id":0,"result":#{result}})})
  end

  defp stateless, do: WireSchema.see(WireSchema.new(), {:in, @call})
  defp refused(transport, line), do: assert_raise(Violation, fn -> WireSchema.see(transport, {:out, line}) end)

  test "good messages pass" do
    assert WireSchema.see(
             stateless(),
             {:out, ~s({"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[]}})}
           )

    assert WireSchema.see(
             session("2025-03-26"),
             {:out, ~s({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})}
           )
  end

  test "a result that is not its method's" do
    refused(stateless(), ~s({"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}))
    refused(stateless(), ~s({"jsonrpc":"2.0","id":1,"result":{"content":[]}}))
  end

  test "an answer to nothing, or twice" do
    line = ~s({"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[]}})
    refused(WireSchema.new(), line)
    refused(WireSchema.see(stateless(), {:out, line}), line)
  end

  test "notifications that do not exist, lack something, or belong to another revision" do
    refused(stateless(), ~s({"jsonrpc":"2.0","method":"notifications/nothing"}))
    refused(stateless(), ~s({"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}))

    refused(
      session("2025-06-18"),
      ~s({"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"1"}})
    )
  end

  test "requests of the stateless era" do
    refused(stateless(), ~s({"jsonrpc":"2.0","id":1,"method":"roots/list"}))
    assert WireSchema.see(session("2025-06-18"), {:out, ~s({"jsonrpc":"2.0","id":1,"method":"roots/list"})})
  end

  test "batches outside 2025-03-26, line ends, and what is not JSON" do
    refused(session("2025-06-18"), "[]")
    refused(stateless(), ~s({"jsonrpc":"2.0",\n"id":1,"error":{"code":1,"message":"m"}}))
    refused(stateless(), ~s({"jsonrpc":"2.0"))
  end

  describe "the structure of the official schemas" do
    @official Path.expand("../../../shared/mcp-schema", __DIR__)

    for revision <- WireStructure.revisions() do
      @tag skip: not File.dir?(@official) && "the official schemas are not there"
      test "of #{revision} is what is made of the official file" do
        official = File.read!(Path.join([@official, unquote(revision), "schema.json"]))
        assert File.read!(WireStructure.file(unquote(revision))) == WireStructure.reduce(official)
      end
    end

    test "has no prose, and keeps members that are named like it" do
      official = ~s({"$schema":"s","$defs":{"B":{"$ref":"#/$defs/A"},"A":{"description":"An A.","title":"A",
        "properties":{"title":{"type":"string","description":"Its title.","examples":["x"]}},
        "anyOf":[{"required":["title"],"$comment":"or not"}]}}})

      assert WireStructure.reduce(official) == """
             {"$schema":"s","$defs":{
             "A":{"anyOf":[{"required":["title"]}],"properties":{"title":{"type":"string"}}},
             "B":{"$ref":"#/$defs/A"}
             }}
             """
    end
  end
end
