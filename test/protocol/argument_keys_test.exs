defmodule McpServer.Protocol.ArgumentKeysTest.Handlers do
  @moduledoc false
  use McpServer.Controller

  alias McpServer.Conn

  def tool(_conn, arguments), do: {:ok, inspect(arguments)}
  def get(_conn, arguments), do: inspect(arguments)

  def read(_conn, variables), do: content("note", "keys://any", text: inspect(variables))
  def complete(conn, name, prefix), do: [inspect({name, prefix, Conn.get_private(conn, :completion_context)})]
  # For a resource the conn has the same variables.
  def known?(conn, arguments),
    do: Enum.all?(Map.keys(arguments) ++ Map.keys(Conn.get_private(conn, :variables) || %{}), &is_atom/1)
end

defmodule McpServer.Protocol.ArgumentKeysTest.Router do
  @moduledoc false
  use McpServer.Router, name: "keys", arguments: :atoms

  alias McpServer.Protocol.ArgumentKeysTest.Handlers

  tool "tool", "Shows its arguments", Handlers, :tool do
    input name: {:string, "A name"}
  end

  prompt "atoms", "Shows its arguments", authorize: &Handlers.known?/2 do
    argument "name", "A name"
    argument "tone", "A tone"
    get Handlers, :get
    complete Handlers, :complete
  end

  prompt "strings", "Shows its arguments", arguments: :strings do
    argument "name", "A name"
    get Handlers, :get
    complete Handlers, :complete
  end

  resource "atoms", "keys://atoms/{name}/{tone}", authorize: &Handlers.known?/2 do
    read Handlers, :read
    complete Handlers, :complete
  end

  resource "strings", "keys://strings/{name}", arguments: :strings do
    read Handlers, :read
    complete Handlers, :complete
  end
end

defmodule McpServer.Protocol.ArgumentKeysTest do
  # `arguments: :atoms` reaches every function that gets what a client has sent by name.
  use McpServer.RouterCase, async: true
  use McpServer.Test, router: McpServer.Protocol.ArgumentKeysTest.Router

  alias McpServer.Protocol.ArgumentKeysTest.Router

  defp text({:ok, %{"content" => [%{"text" => text}]}}), do: text
  defp text({:ok, %{"messages" => [%{"content" => %{"text" => text}}]}}), do: text
  defp text({:ok, %{"contents" => [%{"text" => text}]}}), do: text

  defp completed(reference, context, options) do
    params = %{
      "ref" => reference,
      "argument" => %{"name" => "name", "value" => "a"},
      "context" => %{"arguments" => context}
    }

    answer = request(%{"id" => 1, "method" => "completion/complete", "params" => params}, options)
    assert %{"result" => %{"completion" => %{"values" => [value]}}} = answer
    value
  end

  for revision <- ["2025-11-25", "2026-07-28"] do
    @options [revision: revision]

    test "#{revision}: tools, prompts, variables and completions get atoms" do
      assert text(call_tool("tool", %{"name" => "a"}, @options)) == ~s(%{name: "a"})
      assert text(get_prompt("atoms", %{"name" => "a", "tone" => "b"}, @options)) == ~s(%{name: "a", tone: "b"})

      assert text(read_resource("keys://atoms/a/b", @options)) == ~s(%{name: "a", tone: "b"})

      for reference <- [
            %{"type" => "ref/prompt", "name" => "atoms"},
            %{"type" => "ref/resource", "uri" => "keys://atoms/{name}/{tone}"}
          ] do
        assert completed(reference, %{"tone" => "b"}, @options) == ~s({:name, "a", %{tone: "b"}})
      end
    end

    test "#{revision}: the option of a prompt or a resource takes precedence" do
      assert text(get_prompt("strings", %{"name" => "a"}, @options)) == ~s(%{"name" => "a"})
      assert text(read_resource("keys://strings/a", @options)) == ~s(%{"name" => "a"})
      assert completed(%{"type" => "ref/prompt", "name" => "strings"}, %{}, @options) == ~s({"name", "a", %{}})
    end
  end

  test "a router's callbacks give atoms, too" do
    conn = %McpServer.Conn{}

    assert {:ok, %{messages: [%{content: %{text: ~s(%{name: "a"})}}]}} =
             Router.get_prompt(conn, "atoms", %{"name" => "a"})

    assert {:ok, %{values: [~s({:name, "a", %{}})]}} = Router.complete_prompt(conn, "atoms", "name", "a")
    assert {:ok, %{values: [~s({:tone, "b", %{}})]}} = Router.complete_resource(conn, "atoms", "tone", "b")
  end

  test "a name that is too long for an atom is refused" do
    name = String.duplicate("a", 256)

    assert_refused(
      3,
      "resource \"long\" has an argument whose name is too long for an atom: #{name}",
      """
      resource "long", "keys://long/{#{name}}", arguments: :atoms do
        read McpServer.Protocol.ArgumentKeysTest.Handlers, :read
      end
      """
    )
  end

  test "a name that is not declared stays a text, and makes no atom" do
    options = [revision: "2025-11-25"]
    reference = %{"type" => "ref/prompt", "name" => "atoms"}
    assert {:error, %{"code" => -32602}} = complete_prompt("atoms", "no such argument of ours", "a", options)
    assert {:error, %{"message" => "Forbidden"}} = get_prompt("atoms", %{"no such name of ours" => "a"}, options)
    assert_raise ArgumentError, fn -> String.to_existing_atom("no such " <> "name of ours") end
    assert completed(reference, %{}, options) == ~s({:name, "a", %{}})
  end
end
