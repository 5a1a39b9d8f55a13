# Elixir's JSON, since 1.18: this library's structs with `JSON.encode!`, and structs that implement `JSON.Encoder`.
if Code.ensure_loaded?(JSON.Encoder) do
  defmodule McpServer.JSON.ElixirTest do
    use ExUnit.Case, async: true
    use McpServer.Test, router: McpServer.RuntimeRouter

    alias McpServer.{Conn, Content, Envelope, Prompt, Schema, Tool}
    alias McpServer.JSON, as: Ours

    defmodule Derived do
      @derive {JSON.Encoder, only: [:id, :since]}
      defstruct [:id, :since, :password_hash]
    end

    defmodule Written do
      defstruct [:id]

      defimpl JSON.Encoder do
        def encode(%{id: :raise}, _encoder), do: raise(ArgumentError, "s3cr3t")
        def encode(%{id: :broken}, _encoder), do: "{\n"
        def encode(%{id: id}, encoder), do: encoder.(["id", id], encoder)
      end
    end

    defmodule Both do
      @derive {McpServer.JSON.Encoder, only: [:id]}
      @derive {JSON.Encoder, only: [:id, :name]}
      defstruct [:id, :name]
    end

    defp tool, do: %Tool{name: "t", inputSchema: %{"type" => "object"}, annotations: %Tool.Annotations{title: "T"}}

    test "JSON.encode! gives what the client is sent" do
      assert JSON.encode!(%Tool{name: "t", inputSchema: %{"type" => "object"}}) ==
               ~s({"name":"t","inputSchema":{"type":"object"}})

      for struct <- [
            tool(),
            %Content.Text{text: "a"},
            %Prompt{name: "p"},
            %Schema{type: "string"},
            Envelope.success(%{a: 1})
          ],
          do: assert(JSON.encode!(struct) == Ours.encode!(struct))
    end

    test "nested in plain maps and lists" do
      assert JSON.encode!(%{"tools" => [tool(), nil]}) == ~s({"tools":[#{Ours.encode!(tool())},null]})
    end

    test "JSON.encode_to_iodata!" do
      assert IO.iodata_to_binary(JSON.encode_to_iodata!(tool())) == Ours.encode!(tool())
    end

    test "every struct that Jason.Encoder would write has an implementation of JSON.Encoder" do
      for name <- ~w(Tool Tool.Annotations Tool.CallResult Schema Prompt Prompt.Argument Prompt.Message
                     Prompt.MessageContent Prompt.GetResult Completion Envelope Resource ResourceTemplate
                     Resource.Content Resource.ReadResult App.Meta App.UI App.UIResourceMeta JsonRpc.Request
                     JsonRpc.Response JsonRpc.Error Content.Text Content.Image Content.Audio
                     Content.EmbeddedResource Content.ResourceLink Annotations Icon) do
        module = Module.concat(McpServer, name)
        assert JSON.Encoder.impl_for(struct(module)) == Module.concat(JSON.Encoder, module)
      end
    end

    test "a connection cannot be encoded" do
      assert_raise Protocol.UndefinedError, fn -> JSON.encode!(%Conn{}) end
    end

    test "structs of others are written by their JSON.Encoder, derived or written" do
      derived = %Derived{id: 1, since: ~D[2026-07-28], password_hash: "s3cr3t"}
      assert Ours.encode!([derived, %Written{id: 2}]) == ~s([{"id":1,"since":"2026-07-28"},["id",2]])
      assert Ours.encode!(%Both{id: 1, name: "n"}) == ~s({"id":1})
    end

    test "a handler may return them" do
      result = {:ok, %{"user" => %Derived{id: 1, since: ~D[2026-07-28], password_hash: "s3cr3t"}, "sum" => 3}}
      assert {:ok, %{"isError" => false} = answer} = call_tool("sum", %{}, assigns: %{run: fn _, _ -> result end})
      assert answer["structuredContent"] == %{"user" => %{"id" => 1, "since" => "2026-07-28"}, "sum" => 3}
    end

    test "whose encoder fails are errors that hold nothing of them" do
      for {id, text} <- [raise: "raised ArgumentError", broken: "raised McpServer.JSON.DecodeError"] do
        assert {:error, error} = Ours.encode(%{"u" => %Written{id: id}})
        name = "%McpServer.JSON.ElixirTest.Written{}"
        assert Exception.message(error) == "the JSON.Encoder of #{name} #{text}, at /u"
      end
    end
  end
end
