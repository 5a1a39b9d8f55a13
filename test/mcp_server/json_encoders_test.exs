defmodule McpServer.JSON.EncodersTest do
  # `Jason.encode!(tool)`. Where Jason is not installed a stand-in takes its place: it has the protocol's
  # shape, and proves ours, not Jason's side. `async: false`: protocols are global.
  use ExUnit.Case, async: false

  alias McpServer.{Conn, Content, JSON, Prompt, Tool}

  @stand_in Path.expand("../support/jason_stand_in.exs", __DIR__)
  @encoders Path.expand("../../lib/mcp_server/json/encoders.ex", __DIR__)
  @compile {:no_warn_undefined, [Jason, Jason.Encoder]}

  setup_all do
    unless Code.ensure_loaded?(Jason) do
      IO.puts(:stderr, "#{inspect(__MODULE__)}: Jason is not installed, a stand-in takes its place")
      Code.require_file(@stand_in)
      Code.compile_file(@encoders)
    end

    :ok
  end

  defp tool, do: %Tool{name: "t", inputSchema: %{"type" => "object"}, annotations: %Tool.Annotations{title: "T"}}

  test "S4-60: Jason.encode! gives what the client is sent" do
    assert Jason.encode!(tool()) == JSON.encode!(tool())
  end

  test "S4-60: Jason.encode_to_iodata!" do
    assert IO.iodata_to_binary(Jason.encode_to_iodata!(tool())) == JSON.encode!(tool())
  end

  test "S4-60: nested in plain maps and lists" do
    assert Jason.encode!(%{"tools" => [tool(), nil]}) == ~s({"tools":[#{JSON.encode!(tool())},null]})
  end

  test "S4-60: pretty: true" do
    assert Jason.encode!([%Content.Text{text: "a"}], pretty: true) == """
           [
             {
               "type": "text",
               "text": "a"
             }
           ]\
           """
  end

  test "S4-60: every structure of document 004" do
    for name <- ~w(Tool Tool.Annotations Tool.CallResult Schema Prompt Prompt.Argument Prompt.Message
                   Prompt.MessageContent Prompt.GetResult Completion Resource ResourceTemplate Resource.Content
                   Resource.ReadResult App.Meta App.UI App.UIResourceMeta JsonRpc.Request JsonRpc.Response
                   JsonRpc.Error Content.Text Content.Image Content.Audio Content.EmbeddedResource
                   Content.ResourceLink Annotations Icon) do
      module = Module.concat(McpServer, name)
      assert Jason.Encoder.impl_for(struct(module)) == Module.concat(Jason.Encoder, module)
    end
  end

  test "S2-01: an envelope" do
    envelope = McpServer.Envelope.success(%{a: 1}, warnings: ["w"])
    assert Jason.encode!(envelope) == JSON.encode!(envelope)
  end

  test "S4-50: a connection cannot be encoded" do
    assert_raise Protocol.UndefinedError, fn -> Jason.encode!(%Conn{}) end
  end

  test "an invalid struct raises the error of McpServer.JSON" do
    assert_raise JSON.EncodeError, ~r/at \/role/, fn -> Jason.encode!(%Prompt.Message{role: "robot", content: %{}}) end
  end
end
