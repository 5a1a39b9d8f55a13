defmodule McpServer.JSON.EncodersTest do
  # `Jason.encode!(tool)`. If Jason is not installed, a stand-in with the same protocol replaces it, which tests only
  # this library's side. Not async: protocols are global.
  use ExUnit.Case, async: false

  alias McpServer.{Conn, Content, JSON, Prompt, Tool}

  @stand_in Path.expand("../support/jason_stand_in.exs", __DIR__)
  @encoders Path.expand("../../lib/mcp_server/json/encoders.ex", __DIR__)
  @compile {:no_warn_undefined, [Jason, Jason.Encoder]}

  setup_all do
    unless Code.ensure_loaded?(Jason) do
      IO.puts(:stderr, "#{inspect(__MODULE__)}: Jason is not installed, a stand-in takes its place")
      Code.require_file(@stand_in)
      # The file defines the implementations of Elixir's JSON protocol again, unchanged.
      Code.put_compiler_option(:ignore_module_conflict, true)
      Code.compile_file(@encoders)
      Code.put_compiler_option(:ignore_module_conflict, false)
    end

    :ok
  end

  defp tool, do: %Tool{name: "t", inputSchema: %{"type" => "object"}, annotations: %Tool.Annotations{title: "T"}}

  @tag req: "S4-60"
  test "Jason.encode! gives what the client is sent" do
    assert Jason.encode!(tool()) == JSON.encode!(tool())
  end

  @tag req: "S4-60"
  test "Jason.encode_to_iodata!" do
    assert IO.iodata_to_binary(Jason.encode_to_iodata!(tool())) == JSON.encode!(tool())
  end

  @tag req: "S4-60"
  test "nested in plain maps and lists" do
    assert Jason.encode!(%{"tools" => [tool(), nil]}) == ~s({"tools":[#{JSON.encode!(tool())},null]})
  end

  @tag req: "S4-60"
  test "pretty: true" do
    assert Jason.encode!([%Content.Text{text: "a"}], pretty: true) == """
           [
             {
               "type": "text",
               "text": "a"
             }
           ]\
           """
  end

  @tag req: "S4-60"
  test "every structure of document 004" do
    for name <- ~w(Tool Tool.Annotations Tool.CallResult Schema Prompt Prompt.Argument Prompt.Message
                   Prompt.MessageContent Prompt.GetResult Completion Resource ResourceTemplate Resource.Content
                   Resource.ReadResult App.Meta App.UI App.UIResourceMeta JsonRpc.Request JsonRpc.Response
                   JsonRpc.Error Content.Text Content.Image Content.Audio Content.EmbeddedResource
                   Content.ResourceLink Annotations Icon) do
      module = Module.concat(McpServer, name)
      assert Jason.Encoder.impl_for(struct(module)) == Module.concat(Jason.Encoder, module)
    end
  end

  @tag req: "S2-01"
  test "an envelope" do
    envelope = McpServer.Envelope.success(%{a: 1}, warnings: ["w"])
    assert Jason.encode!(envelope) == JSON.encode!(envelope)
  end

  @tag req: "S4-50"
  test "a connection cannot be encoded" do
    assert_raise Protocol.UndefinedError, fn -> Jason.encode!(%Conn{}) end
  end

  test "an invalid struct raises the error of McpServer.JSON" do
    assert_raise JSON.EncodeError, ~r/at \/role/, fn -> Jason.encode!(%Prompt.Message{role: "robot", content: %{}}) end
  end

  # Structs of other modules, with encoders for one library or another.
  defmodule User do
    defstruct [:id, :name, :password_hash]
  end

  defmodule Both do
    @derive {McpServer.JSON.Encoder, only: [:id]}
    defstruct [:id, :name]
  end

  defmodule Bare do
    defstruct [:id]
  end

  # Equals `@derive {Jason.Encoder, only: [...]}`.
  defp implement_jason(module, body) do
    unless Module.concat(Jason.Encoder, module) |> Code.ensure_loaded?() do
      Code.eval_string("defimpl Jason.Encoder, for: #{inspect(module)} do def encode(value, opts), do: #{body} end")
    end
  end

  defp account, do: %User{id: 7, name: "Ada", password_hash: "s3cr3t"}

  describe "structs of others" do
    setup do
      implement_jason(User, """
      (case value.id do
        :raise -> raise Protocol.UndefinedError, protocol: Enumerable, value: value
        :broken -> "{\\n"
        _id -> Jason.Encoder.encode(Map.take(value, [:id, :name]), opts)
      end)
      """)

      implement_jason(Both, "Jason.Encoder.encode(Map.take(value, [:id, :name]), opts)")
      :ok
    end

    test "are written by their own Jason.Encoder" do
      assert JSON.encode!([account()]) == ~s([{"id":7,"name":"Ada"}])
      result = %Tool.CallResult{content: [], structured_content: %{users: [account(), account()]}}

      assert JSON.decode!(JSON.encode!(result))["structuredContent"]["users"] |> Enum.map(&Map.keys/1) == [
               ~w(id name),
               ~w(id name)
             ]

      assert McpServer.DualResponse.Rest.Endpoint.lines([account()], ["id", "password_hash", "name"]) ==
               {:ok, "7,,Ada\r\n"}

      refute inspect(McpServer.DualResponse.Rest.Endpoint.page([account()], 0, 1)) =~ "s3cr3t"
    end

    test "are written by the encoder of this library, if they have it too" do
      assert JSON.encode!(%Both{id: 1, name: "n"}) == ~s({"id":1})
    end

    test "are not written by an implementation for any term" do
      assert Jason.Encoder.impl_for(%Bare{}) == Jason.Encoder.Any
      assert {:error, %{kind: :unknown_struct, path: [0]}} = JSON.encode([%Bare{id: 1}])
    end

    test "whose encoder fails are errors that hold nothing of them" do
      assert {:error, error} = JSON.encode(%{"u" => %{account() | id: :raise}})
      assert {error.kind, error.path} == {:encoder_failed, ["u"]}

      assert Exception.message(error) ==
               "the Jason.Encoder of %McpServer.JSON.EncodersTest.User{} raised Protocol.UndefinedError, at /u"

      # Invalid JSON and text with line breaks never get into a message.
      assert {:error, error} = JSON.encode(%{"u" => %{account() | id: :broken}})
      assert Exception.message(error) =~ "raised McpServer.JSON.DecodeError, at /u"
    end

    if Code.ensure_loaded?(Elixir.JSON.Encoder) do
      defmodule Derived do
        @derive {Elixir.JSON.Encoder, only: [:id]}
        defstruct [:id, :name]
      end

      test "are written by their own JSON.Encoder" do
        assert JSON.encode!([%Derived{id: 1, name: "n"}]) == ~s([{"id":1}])
      end
    end
  end
end
