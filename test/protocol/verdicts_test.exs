defmodule McpServer.Protocol.VerdictsTest do
  # The results of a declaration's `authorize:` function, and the log for invalid results. Not async: reads the whole log.
  defmodule Hooks do
    def verdict(conn), do: conn.assigns.verdict
    def verdict(conn, _arguments), do: conn.assigns.verdict
    def run(_conn, _arguments), do: {:ok, []}
    def complete(_conn, _name, _prefix), do: []

    # As a context's function does for the text of a URI that no row has.
    def owned(_conn, %{"id" => "x"}),
      do: :erlang.error(%{__struct__: Ecto.Query.CastError, __exception__: true, message: "SELECT secret"})

    def owned(_conn, %{"id" => "y"}), do: raise("no database")
    def owned(conn, _arguments), do: conn.assigns.verdict
  end

  defmodule Router do
    use McpServer.Router

    tool "guarded", "Only for some", Hooks, :run, authorize: &Hooks.verdict/1, listed: :always
    tool "argued", "Only for some", Hooks, :run, authorize: &Hooks.verdict/2
    tool "seen", "Seen by some", Hooks, :run, visible: &Hooks.verdict/1

    tool "own", "Seen by owners", Hooks, :run, visible: {Hooks, :owned} do
      input id: {:string, "Whose"}
    end

    resource "own", "own://{id}", visible: {Hooks, :owned} do
      read Hooks, :run
    end

    resource "keyed", "keyed://{id}", visible: &Hooks.verdict/2, arguments: :atoms do
      read Hooks, :run
      complete Hooks, :complete
    end
  end

  use ExUnit.Case, async: false
  use McpServer.Test, router: Router

  import McpServer.TestLog

  @forbidden %{"code" => -32600, "message" => "Forbidden"}

  defp asked(tool \\ "guarded", verdict), do: with_log(fn -> call_tool(tool, %{}, assigns: %{verdict: verdict}) end)

  test "what allows is not logged" do
    for verdict <- [true, :ok, {:ok, "ada"}] do
      assert {{:ok, %{"isError" => false}}, ""} = asked(verdict)
    end
  end

  test "what refuses is not logged" do
    for verdict <- [false, nil, :forbidden, {:error, :forbidden}], tool <- ["guarded", "argued"] do
      assert {{:error, @forbidden}, ""} = asked(tool, verdict)
    end

    assert {{:error, %{"data" => %{"requiredScopes" => ["more"]}}}, ""} =
             asked({:error, {:insufficient_scope, ["more"]}})
  end

  test "a text refuses with that text, which the model reads" do
    assert {{:ok, %{"isError" => true, "content" => [%{"text" => "Not before noon"}]}}, ""} =
             asked({:error, "Not before noon"})
  end

  for {returned, form} <- [
        {quote(do: "yes"), "#String<3 bytes>"},
        {quote(do: {:error, :text}), "{:error, :text}"},
        {quote(do: {:error, {:insufficient_scope, "more"}}), "{:error, {:insufficient_scope, #String<4 bytes>}}"}
      ] do
    test "#{Macro.to_string(returned)} fails the call, and is an error in the log" do
      for {tool, arity} <- [{"guarded", 1}, {"argued", 2}] do
        assert {{:ok, %{"isError" => true, "content" => [%{"text" => "Tool execution failed" <> _id}]}}, log} =
                 asked(tool, unquote(returned))

        assert log =~
                 "McpServer.Protocol.VerdictsTest.Hooks.verdict/#{arity} returned #{unquote(form)}. " <>
                   "A function of `authorize:` or `visible:` returns true, :ok or {:ok, term} to allow; " <>
                   ~S'false, nil, :forbidden, {:error, "text"} or {:error, {:insufficient_scope, ["scope"]}} to refuse.'
      end
    end
  end

  # An error response would reveal that the tool exists.
  test "a function of visible: that raises or returns no verdict hides its tool, and is an error in the log" do
    for assigns <- [%{}, %{verdict: "yes"}] do
      {answer, log} = with_log(fn -> call_tool("seen", %{}, assigns: assigns) end)
      {{:error, unknown}, _log} = with_log(fn -> call_tool("none", %{}, assigns: assigns) end)
      assert answer == {:error, %{unknown | "message" => String.replace(unknown["message"], "none", "seen")}}
      assert log =~ "McpServer.Protocol.VerdictsTest.Hooks.verdict/1, which decides whether an entry is visible, failed"
      {{:ok, tools}, _log} = with_log(fn -> list_tools(assigns: assigns) end)
      refute "seen" in Enum.map(tools, & &1["name"])
    end
  end

  test "the same holds for one that gets the arguments" do
    for {id, assigns, logged} <- [
          {"y", %{},
           "[error] MCP McpServer.Protocol.VerdictsTest.Hooks.owned/2, which decides whether an entry is visible, failed"},
          {"z", %{verdict: "yes"}, "[error] MCP McpServer.Protocol.VerdictsTest.Hooks.owned/2, which decides"},
          # A mistake of the client is no error in the log.
          {"x", %{},
           "[info] MCP McpServer.Protocol.VerdictsTest.Hooks.owned/2, which decides whether an entry is visible, raised"}
        ],
        revision <- ["2025-11-25", "2026-07-28"] do
      options = [assigns: assigns, revision: revision]
      {answer, log} = with_log(fn -> read_resource("own://#{id}", options) end)
      assert {:error, %{"message" => "Resource not found", "data" => %{"uri" => "own://" <> ^id}}} = answer
      assert log =~ logged
      refute log =~ "secret"

      {answer, _log} = with_log(fn -> call_tool("own", %{"id" => id}, options) end)
      {{:error, unknown}, _log} = with_log(fn -> call_tool("none", %{"id" => id}, options) end)
      assert answer == {:error, %{unknown | "message" => String.replace(unknown["message"], "none", "own")}}
    end
  end

  # Earlier, it raised, because the core had refused it without a name.
  test "the completion of an unknown variable is invalid, also with atoms as keys" do
    for revision <- ["2025-11-25", "2026-07-28"] do
      options = [assigns: %{verdict: true}, revision: revision]
      assert {:ok, %{"values" => []}} = complete_resource("keyed://{id}", "id", "", options)

      assert {{:error, %{"code" => -32602}}, ""} =
               with_log(fn -> complete_resource("keyed://{id}", "x", "", options) end)
    end
  end
end
