defmodule McpServer.CatalogTest do
  use ExUnit.Case, async: true

  alias McpServer.{Catalog, Protocol}

  defmodule Handlers do
    import McpServer.Controller

    def run(_conn, _arguments), do: {:ok, [text("done")]}
    def never?(_conn), do: false
    def read(_conn, _parameters), do: content("c", "file:///c", text: "c")
  end

  defmodule Tasks do
    use McpServer.Router, name: "tasks", title: "Tasks", version: "2.0.0", page_size: 1

    tool "first", "Runs", Handlers, :run, execution: %{"taskSupport" => "optional"}
    tool "second", "Runs too", Handlers, :run
  end

  defmodule Personal do
    use McpServer.Router

    tool "everyone", "For all", Handlers, :run

    def list_tools(conn) do
      {:ok, Enum.filter(__mcp__(:tools), fn _tool -> conn.session_id != "stranger" end)}
    end
  end

  defmodule Shared do
    use McpServer.Router, ttl: 60_000, cache_scope: :public

    def list_tools(_conn), do: {:ok, []}
  end

  defp ask(router, revision, method, params \\ %{}) do
    params =
      if revision == "2026-07-28",
        do:
          Map.put(params, "_meta", %{
            "io.modelcontextprotocol/protocolVersion" => revision,
            "io.modelcontextprotocol/clientCapabilities" => %{}
          }),
        else: params

    session = if revision != "2026-07-28", do: revision
    line = McpServer.JSON.encode!(%{jsonrpc: "2.0", id: 1, method: method, params: params})

    case Protocol.admit(Catalog.fetch(router), %{revision: session}, line) do
      {:reply, reply} -> McpServer.JSON.decode!(IO.iodata_to_binary(reply))
      other -> other
    end
  end

  test "a catalogue is compiled once and then shared" do
    assert Catalog.fetch(Tasks).ref == Catalog.fetch(Tasks).ref
    assert Catalog.fetch(Tasks) === :persistent_term.get({Catalog, Tasks}) |> elem(1)
  end

  test "what is no router is named" do
    assert_raise ArgumentError, "String is not a router: it does not `use McpServer.Router`", fn ->
      Catalog.fetch(String)
    end

    assert_raise ArgumentError, "No.Such.Module is not a router: there is no such module", fn ->
      Catalog.fetch(No.Such.Module)
    end
  end

  test "a field that only an older revision knows reaches that revision" do
    [tool] = ask(Tasks, "2025-11-25", "tools/list")["result"]["tools"]
    assert tool["execution"] == %{"taskSupport" => "optional"}

    for revision <- ["2025-06-18", "2026-07-28"] do
      [tool] = ask(Tasks, revision, "tools/list")["result"]["tools"]
      refute Map.has_key?(tool, "execution")
    end
  end

  test "pages follow each other by opaque cursors" do
    first = ask(Tasks, "2025-11-25", "tools/list")["result"]
    assert [%{"name" => "first"}] = first["tools"]
    second = ask(Tasks, "2025-11-25", "tools/list", %{"cursor" => first["nextCursor"]})["result"]
    assert [%{"name" => "second"}] = second["tools"]
    refute Map.has_key?(second, "nextCursor")

    assert ask(Tasks, "2025-11-25", "tools/list", %{"cursor" => "garbage"})["error"]["code"] == -32602
  end

  test "a list that the router computes is a request, answered with what it returns" do
    assert {:request, %{kind: :list_tools} = request} = ask(Personal, "2025-11-25", "tools/list")
    catalog = Catalog.fetch(Personal)
    {:ok, tools} = Personal.list_tools(%McpServer.Conn{session_id: "friend"})

    assert {:ok, reply} = Protocol.result(catalog, request, tools)
    assert %{"result" => %{"tools" => [%{"name" => "everyone"}]}} = McpServer.JSON.decode!(IO.iodata_to_binary(reply))
  end

  # Earlier, the `cache_scope:` of a router held for them too.
  test "a list that the router computes is shared by nobody" do
    assert {:request, %{kind: :list_tools} = request} = ask(Shared, "2026-07-28", "tools/list")
    {:ok, reply} = Protocol.result(Catalog.fetch(Shared), request, [])

    assert %{"ttlMs" => 60_000, "cacheScope" => "private"} =
             McpServer.JSON.decode!(IO.iodata_to_binary(reply))["result"]
  end

  test "lists of the newest revision say how long they may be kept" do
    result = ask(Tasks, "2026-07-28", "tools/list")["result"]
    assert result["ttlMs"] == 0
    assert result["cacheScope"] == "private"
    assert result["resultType"] == "complete"
  end

  describe "the hidden tool that stands in for an unknown name" do
    defmodule Hidden do
      use McpServer.Router

      for name <- ~w(a b c d), do: tool(name, "For nobody", Handlers, :run, visible: {Handlers, :never?})
    end

    defp stand_ins(catalog) do
      for number <- 1..64 do
        call = %{"jsonrpc" => "2.0", "id" => 1, "method" => "tools/call", "params" => %{"name" => "unknown #{number}"}}
        {:request, request} = Protocol.admit(catalog, %{revision: "2025-11-25"}, McpServer.JSON.encode!(call))
        request.stand_in
      end
    end

    # Earlier everybody could compute it, and find hidden names by their time.
    test "is chosen with the node's secret" do
      [without, other] = for key <- [nil, <<1::256>>], {:ok, catalog} <- [Catalog.build(Hidden, key)], do: catalog
      {:ok, same} = Catalog.build(Hidden, McpServer.Secret.stand_in_key())
      served = stand_ins(Catalog.fetch(Hidden))
      assert served == stand_ins(same)
      assert served != stand_ins(without)
      assert served != stand_ins(other)
    end
  end
end
