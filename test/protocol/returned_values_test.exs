defmodule McpServer.Protocol.ReturnedValuesTest do
  # The valid results of handlers, as sent to clients in both eras, and as returned by the router's callbacks.
  use ExUnit.Case, async: true
  use McpServer.Test, router: McpServer.RuntimeRouter

  alias McpServer.{Conn, RuntimeRouter}
  alias McpServer.Content.Text
  alias McpServer.Controller
  alias McpServer.Prompt.GetResult
  alias McpServer.Tool.CallResult

  @hello [%{"type" => "text", "text" => "hello"}]

  for revision <- ["2025-11-25", "2026-07-28"] do
    describe "in #{revision}" do
      test "a tool's text and content are content" do
        for value <- ["hello", Controller.text("hello"), [Controller.text("hello")]],
            returned <- [value, {:ok, value}] do
          assert {:ok, %{"content" => @hello} = result} = call_tool("run", %{}, returning(unquote(revision), returned))
          refute result["isError"]
          refute Map.has_key?(result, "structuredContent")
        end
      end

      test "a tool's map is structured content" do
        for returned <- [%{sum: 3}, {:ok, %{sum: 3}}] do
          assert {:ok, %{"structuredContent" => %{"sum" => 3}, "content" => [%{"text" => ~S({"sum":3})}]}} =
                   call_tool("run", %{}, returning(unquote(revision), returned))
        end
      end

      test "the message of an exception is an error of the tool" do
        assert {:ok, %{"isError" => true, "content" => @hello}} =
                 call_tool("run", %{}, returning(unquote(revision), {:error, %RuntimeError{message: "hello"}}))
      end

      test "the message of an exception is the error of a prompt and of a resource" do
        returned = returning(unquote(revision), {:error, %ArgumentError{message: "hello"}})
        assert {:error, %{"code" => -32603, "message" => "hello"}} = get_prompt("run", %{}, returned)
        assert {:error, %{"code" => -32603, "message" => "hello"}} = read_resource("run://fixed", returned)
      end

      test "a prompt's text is a message of the user, and one message is all of them" do
        for value <- ["hello", Controller.message("user", "hello")], returned <- [value, {:ok, value}] do
          assert {:ok, %{"messages" => [%{"role" => "user", "content" => %{"type" => "text", "text" => "hello"}}]}} =
                   get_prompt("run", %{}, returning(unquote(revision), returned))
        end
      end

      test "a list of a completion is its values, of which 100 are sent" do
        for returned <- [["a", "b"], {:ok, ["a", "b"]}] do
          assert {:ok, %{"values" => ["a", "b"]}} =
                   complete_prompt("run", "name", "", returning(unquote(revision), returned))
        end

        values = for n <- 1..101, do: "#{n}"

        assert {:ok, %{"values" => sent, "total" => 101, "hasMore" => true}} =
                 complete_resource("run://rows/{id}", "id", "", returning(unquote(revision), values))

        assert sent == Enum.take(values, 100)
      end
    end
  end

  defp returning(revision, returned),
    do: [revision: revision, assigns: %{run: fn _conn, _arguments -> returned end}]

  test "the callbacks of the router give the same" do
    conn = fn returned -> %Conn{assigns: %{run: fn _conn, _arguments -> returned end}} end
    hello = %Text{text: "hello"}

    for value <- ["hello", hello], returned <- [value, {:ok, value}] do
      assert RuntimeRouter.call_tool(conn.(returned), "run", %{}) == {:ok, [hello]}
    end

    assert {:ok, %CallResult{structured_content: %{sum: 3}}} = RuntimeRouter.call_tool(conn.(%{sum: 3}), "run", %{})
    assert RuntimeRouter.call_tool(conn.({:error, %RuntimeError{message: "no"}}), "run", %{}) == {:error, "no"}

    assert {:ok, %GetResult{messages: [%{role: "user", content: %{text: "hello"}}]}} =
             RuntimeRouter.get_prompt(conn.("hello"), "run", %{})
  end
end
