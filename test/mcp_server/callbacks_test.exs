defmodule McpServer.CallbacksTest do
  # Rules for all functions that a router names.
  use ExUnit.Case, async: true

  alias McpServer.Prompt.Message
  alias McpServer.Test

  defmodule Refusing do
    def run(_conn, _arguments), do: {:error, "Not today"}
    def get(_conn, _arguments), do: {:error, "Not today"}
    def complete(_conn, _argument, _prefix), do: {:error, "Not today"}
    def read(_conn, _parameters), do: {:error, "Not today"}
  end

  defmodule Refusals do
    use McpServer.Router

    tool "t", "Refuses", Refusing, :run

    prompt "p", "Refuses" do
      argument "a", "Anything"
      get Refusing, :get
      complete Refusing, :complete
    end

    resource "r", "refusals://{id}" do
      read Refusing, :read
      complete Refusing, :complete
    end

    resource "s", "refusals://static" do
      read Refusing, :read
    end

    def list_tools(_conn), do: {:error, "Not today"}
  end

  defmodule Plain do
    # An old controller without structs: only maps, with keys of both kinds.
    def run(_conn, _arguments), do: {:ok, [%{"type" => "text", "text" => "one"}, %{type: "text", text: "two"}]}
    def get(_conn, _arguments), do: [%{role: "user", content: %{"type" => "text", "text" => "Hi"}}]
    def read(_conn, _parameters), do: {:ok, []}
    def one(_conn, _parameters), do: %{name: "n", uri: "plain://one", mime_type: "text/plain", text: "1"}
  end

  defmodule Maps do
    use McpServer.Router

    tool "t", "Returns maps", Plain, :run

    prompt "p", "Returns maps" do
      get Plain, :get
    end

    resource "none", "plain://none" do
      read Plain, :read
    end

    resource "one", "plain://one" do
      read Plain, :one
    end
  end

  describe "every callback may return {:error, text}" do
    @describetag req: "S4-51"
    test "over the wire: a tool's is a result that the model reads, the others' are errors" do
      for revision <- ~w(2024-11-05 2025-11-25 2026-07-28) do
        assert {:ok, %{"isError" => true, "content" => [%{"type" => "text", "text" => "Not today"}]}} =
                 Test.call_tool(Refusals, "t", %{}, revision: revision)

        for answer <- [
              Test.get_prompt(Refusals, "p", %{}, revision: revision),
              Test.read_resource(Refusals, "refusals://1", revision: revision),
              Test.read_resource(Refusals, "refusals://static", revision: revision),
              Test.complete_prompt(Refusals, "p", "a", "", revision: revision),
              Test.complete_resource(Refusals, "refusals://{id}", "id", "", revision: revision),
              Test.list_tools(Refusals, revision: revision)
            ] do
          assert {:error, %{"code" => -32603, "message" => "Not today"}} = answer
        end
      end
    end

    test "as the behaviour's callbacks" do
      conn = %McpServer.Conn{}
      refused = {:error, "Not today"}
      assert Refusals.call_tool(conn, "t", %{}) == refused
      assert Refusals.get_prompt(conn, "p", %{}) == refused
      assert Refusals.complete_prompt(conn, "p", "a", "") == refused
      assert Refusals.complete_prompt(conn, "p", %{"name" => "a", "value" => ""}) == refused
      assert Refusals.read_resource(conn, "r", %{"id" => "1"}) == refused
      assert Refusals.complete_resource(conn, "r", "id", "") == refused
      assert Refusals.list_tools(conn) == refused
    end
  end

  describe "maps are taken wherever structs are" do
    @describetag req: "S4-64"
    @tag req: "S4-64"
    test "from a tool" do
      assert {:ok, %{"content" => [%{"type" => "text", "text" => "one"}, %{"type" => "text", "text" => "two"}]}} =
               Test.call_tool(Maps, "t")
    end

    @tag req: "S4-64"
    test "from a prompt" do
      assert {:ok, %{"messages" => [%{"role" => "user", "content" => %{"type" => "text", "text" => "Hi"}}]}} =
               Test.get_prompt(Maps, "p")

      assert %Message{role: "user"} = Message.new(role: "user", content: %{"type" => "text", "text" => "Hi"})
    end

    @tag req: "S4-64"
    test "from a resource, keys in either spelling" do
      assert {:ok, %{"contents" => []}} = Test.read_resource(Maps, "plain://none")

      assert {:ok, %{"contents" => [%{"uri" => "plain://one", "mimeType" => "text/plain", "text" => "1"}]}} =
               Test.read_resource(Maps, "plain://one")
    end
  end

  @tag req: "S4-83"
  test "every telemetry event is under :mcp_server" do
    assert [_ | _] = McpServer.Telemetry.events()
    assert Enum.all?(McpServer.Telemetry.events(), &match?([:mcp_server | _], &1))
  end
end
