defmodule McpServer.Router.IncludeTest do
  # The statement `include`: another router's declarations with their names, access options and plugs.
  use McpServer.RouterCase, async: true

  alias McpServer.Test

  defmodule Note do
    def call(conn, next, word), do: next.(McpServer.Conn.assign(conn, :path, [word | conn.assigns[:path] || []]))
  end

  defmodule Answers do
    use McpServer.Controller

    def path(conn, _arguments), do: conn.assigns[:path] |> List.wrap() |> Enum.reverse() |> Enum.join(" ")
    def age(_conn, %{age: age}), do: "#{age}"
    def prompt(_conn, _arguments), do: "A prompt"
    def read(_conn, variables), do: content("r", "inner://#{variables[:id] || "one"}", text: "read")
    def complete(_conn, :id, prefix), do: ["#{prefix}1"]

    def role?(conn, role), do: role in conn.principal
    def young?(_conn, %{age: age}), do: age < 100
  end

  defmodule Inner do
    use McpServer.Router, arguments: :atoms

    plug Note, "inner"

    tool "path", "Says which plugs there were", Answers, :path

    tool "age", "Says the age", Answers, :age,
      authorize: &Answers.young?/2,
      visible: {Answers, :role?, ["inner"]} do
      input age: {:integer, "The age", required: true, minimum: 1}
    end

    prompt "ask", "Asks" do
      get Answers, :prompt
    end

    resource "one", "inner://one" do
      read Answers, :read
    end

    resource "each", "inner://{id}" do
      read Answers, :read
      complete Answers, :complete
    end
  end

  defmodule Middle do
    use McpServer.Router
    include Inner, prefix: "in_", authorize: {Answers, :role?, ["middle"]}
  end

  defmodule Outer do
    use McpServer.Router

    plug Note, "outer"
    tool "path", "Says which plugs there were", Answers, :path

    scope do
      plug Note, "scope"
      include Middle, prefix: "mid/", authorize: fn conn -> Answers.role?(conn, "outer") end
    end
  end

  @all ["inner", "middle", "outer"]
  @eras ["2025-11-25", "2026-07-28"]

  defp names({:ok, list}), do: Enum.map(list, & &1["name"])
  defp text({:ok, %{"content" => [%{"text" => text}]}}), do: text

  for revision <- @eras do
    @revision revision

    test "#{revision}: everything is there under its new name, and is called" do
      as = [principal: @all, revision: @revision]
      assert names(Test.list_tools(Outer, as)) == ["path", "mid/in_path", "mid/in_age"]
      assert names(Test.list_prompts(Outer, as)) == ["mid/in_ask"]
      assert names(Test.list_resources(Outer, as)) == ["mid/in_one"]
      assert names(Test.list_resource_templates(Outer, as)) == ["mid/in_each"]

      assert text(Test.call_tool(Outer, "mid/in_age", %{"age" => 7}, as)) == "7"
      assert {:ok, %{"isError" => true}} = Test.call_tool(Outer, "mid/in_age", %{"age" => 0}, as)
      assert {:ok, %{"messages" => [_one]}} = Test.get_prompt(Outer, "mid/in_ask", %{}, as)
      assert {:ok, %{"contents" => [%{"text" => "read"}]}} = Test.read_resource(Outer, "inner://one", as)
      assert {:ok, %{"contents" => [%{"uri" => "inner://7"}]}} = Test.read_resource(Outer, "inner://7", as)
      assert {:ok, %{"values" => ["71"]}} = Test.complete_resource(Outer, "inner://{id}", "id", "7", as)
    end

    test "#{revision}: plugs come from outside to inside" do
      as = [principal: @all, revision: @revision]
      assert text(Test.call_tool(Outer, "path", %{}, as)) == "outer"
      assert text(Test.call_tool(Outer, "mid/in_path", %{}, as)) == "outer scope inner"
    end

    test "#{revision}: each of the routers decides for whom it is" do
      for {principal, tools} <- [
            {@all, ["path", "mid/in_path", "mid/in_age"]},
            {["middle", "outer"], ["path", "mid/in_path"]},
            {["inner", "outer"], ["path"]},
            {["inner", "middle"], ["path"]}
          ] do
        as = [principal: principal, revision: @revision]
        assert names(Test.list_tools(Outer, as)) == tools
        refused = Test.call_tool(Outer, "mid/in_age", %{"age" => 7}, as)

        if "mid/in_age" in tools,
          do: assert(text(refused) == "7"),
          else: assert({:error, %{"message" => "Tool 'mid/in_age' not found"}} = refused)
      end

      as = [principal: @all, revision: @revision]
      assert {:error, %{"message" => "Forbidden"}} = Test.call_tool(Outer, "mid/in_age", %{"age" => 100}, as)
    end
  end

  test "mistakes are told at their line" do
    inner = inspect(Inner)

    assert_refused(3, ~s(`include` takes a router, got: "x". Write: include MyApp.AdminMCP), ~s(include "x"))

    assert_refused(3, "include Missing: there is no such module", "include Missing")

    assert_refused(3, "include Enum: the module is no router. It needs `use McpServer.Router`", "include Enum")
    assert_refused(3, ~r/\Ainclude #{inner} has no option prefx, did you mean prefix\?/, "include #{inner}, prefx: 1")
    assert_refused(4, ~r/Tool "path"/, "include #{inner}\ninclude #{inner}")

    assert_refused(
      4,
      ~s(the URI of resource "b_one" is already that of resource "one". Change or remove one),
      "include #{inner}\ninclude #{inner}, prefix: \"b_\""
    )

    assert_refused(3, ~r/\Aa tool's name is 1 to 128 characters/, "include #{inner}, prefix: \"a b\"")

    assert_refused(
      3,
      ~r/\Aauthorize of include #{inner} must be \{module, function\}/,
      "include #{inner}, authorize: true"
    )
  end
end
