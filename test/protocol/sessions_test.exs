defmodule McpServer.Protocol.SessionsTest do
  # The state of a transport: the handshake, both eras on one transport, batches.
  use ExUnit.Case, async: true
  use McpServer.Test, router: McpServer.RuntimeRouter

  import McpServer.Wire, except: [text: 1]

  alias McpServer.Tool.Content

  @info %{"name" => "c", "version" => "1"}

  defp initialize(version), do: %{"protocolVersion" => version, "capabilities" => %{}, "clientInfo" => @info}
  defp answering(text), do: fn _, _ -> {:ok, [Content.text(text)]} end

  describe "initialize" do
    test "agrees on any revision of the session era, and on the newest of them otherwise" do
      for {asked, agreed} <- [
            {"2024-11-05", "2024-11-05"},
            {"2025-03-26", "2025-03-26"},
            {"2025-06-18", "2025-06-18"},
            {"2025-11-25", "2025-11-25"},
            {"2026-07-28", "2025-11-25"},
            {"1999-01-01", "2025-11-25"}
          ] do
        client = open(answering("x"), initialize: false, revision: "2025-11-25")
        ask(client, 1, "initialize", initialize(asked))
        assert %{"id" => 1, "result" => %{"protocolVersion" => ^agreed, "serverInfo" => info}} = next(client)
        assert %{"name" => "runtime", "version" => "1.2.3"} = info
      end
    end

    @tag req: "M18"
    test "before it only ping is served" do
      client = open(answering("x"), initialize: false, revision: "2025-11-25")
      ask(client, 1, "ping")
      assert %{"id" => 1, "result" => %{}} = next(client)

      for {method, id} <- Enum.with_index(~w(tools/list tools/call resources/subscribe logging/setLevel), 2) do
        ask(client, id, method)
        assert %{"id" => ^id, "error" => %{"code" => -32600}} = next(client)
      end
    end

    @tag req: "M19"
    test "a second one is refused and changes nothing" do
      test = self()

      run = fn conn, _ ->
        send(test, {:client, conn.client_info, conn.protocol_version})
        {:ok, []}
      end

      client = open(run, revision: "2025-06-18")
      ask(client, 1, "initialize", initialize("2025-03-26"))
      assert %{"id" => 1, "error" => %{"code" => -32600}} = next(client)
      tool(client, 2)
      assert %{"id" => 2} = next(client)
      assert_received {:client, %{"name" => "mcp_server_test"}, "2025-06-18"}
    end

    test "initialized before initialize opens nothing" do
      client = open(answering("x"), initialize: false, revision: "2025-11-25")
      tell(client, "notifications/initialized")
      ask(client, 1, "tools/list")
      assert %{"id" => 1, "error" => %{"code" => -32600}} = next(client)
    end
  end

  test "both eras share a transport, message by message" do
    client = open(answering("x"), revision: "2025-06-18")
    modern = %{client | revision: "2026-07-28"}

    tool(client, 1)
    assert %{"result" => legacy} = next(client)
    refute is_map_key(legacy, "resultType")

    tool(modern, 2)
    assert %{"result" => %{"resultType" => "complete"}} = next(client)

    ask(modern, 3, "server/discover")
    assert %{"result" => %{"supportedVersions" => ["2026-07-28" | _]}} = next(client)

    ask(modern, 4, "ping")
    assert %{"error" => %{"code" => -32601}} = next(client)
    ask(client, 5, "ping")
    assert %{"result" => %{}} = next(client)
  end

  test "a stateless request takes nothing from the session" do
    test = self()

    run = fn conn, _ ->
      send(test, {:conn, conn})
      {:ok, []}
    end

    client = open(run, revision: "2025-06-18")
    tool(%{client | revision: "2026-07-28", capabilities: %{}, info: %{"name" => "other", "version" => "2"}}, 1)
    next(client)
    assert_received {:conn, %{client_capabilities: capabilities, client_info: %{"name" => "other"}, session_id: nil}}
    assert capabilities == %{}
  end

  describe "messages that are none" do
    @tag req: "M1"
    test "not JSON is answered, without an id, and the transport lives on" do
      client = open(answering("x"))

      for line <- ["{", "nope", "{}{}", <<255, 254>>, "[1", "\uFEFF{}", ~s({"a":1e400})] do
        lines(client, [line])
        assert %{"error" => %{"code" => -32700}} = error = next(client)
        refute is_map_key(error, "id")
      end

      tool(client, 1)
      assert %{"id" => 1} = next(client)
    end

    @tag req: "M1"
    test "before 2025-11-25 the missing id is null" do
      client = open(answering("x"), revision: "2025-06-18")
      lines(client, ["{"])
      assert %{"error" => %{"code" => -32700}, "id" => nil} = next(client)
    end

    @tag req: "S2"
    test "a line that was too long is answered once" do
      client = open(answering("x"))
      send(client.connection, {:mcp_client_in, client.reference, :too_long})
      assert %{"error" => %{"code" => -32700}} = error = next(client)
      refute is_map_key(error, "id")
      assert silent?(client)
    end

    @tag req: "M11"
    test "unknown notifications are ignored" do
      client = open(answering("x"))
      tell(client, "notifications/nothing")
      assert silent?(client)
    end
  end

  describe "batches (2025-03-26)" do
    defp line(messages), do: McpServer.JSON.encode!(messages)

    defp call(id, name \\ "run"),
      do: %{"jsonrpc" => "2.0", "id" => id, "method" => "tools/call", "params" => %{"name" => name}}

    defp note(method, params \\ %{}), do: %{"jsonrpc" => "2.0", "method" => method, "params" => params}

    @tag req: "M9"
    test "are answered by one array, when the last answer is there" do
      client = open(answering("x"), revision: "2025-03-26")
      lines(client, [line([call(1), note("notifications/nothing"), call("2"), call(3, "none"), %{"id" => 4}])])
      answers = next(client)
      assert Enum.sort(Enum.map(answers, & &1["id"])) == [1, 3, 4, "2"]
      assert Enum.count(answers, &is_map_key(&1, "error")) == 2
      assert silent?(client)
    end

    @tag req: "M9"
    test "of notifications only are not answered" do
      client = open(answering("x"), revision: "2025-03-26")
      lines(client, [line([note("notifications/nothing"), note("notifications/cancelled", %{"requestId" => 9})])])
      assert silent?(client)
    end

    @tag req: "M9"
    test "a call of a batch that is cancelled leaves the rest to be answered" do
      test = self()

      run = fn _, arguments ->
        send(test, {:entered, arguments["n"], self()})
        receive do: (:go -> {:ok, []})
      end

      client = open(run, revision: "2025-03-26")
      numbered = for n <- 1..2, do: put_in(call(n), ["params", "arguments"], %{"n" => n})
      lines(client, [line(numbered)])
      assert_receive {:entered, 1, _first}
      assert_receive {:entered, 2, second}
      tell(client, "notifications/cancelled", %{"requestId" => 1})
      send(second, :go)
      assert [%{"id" => 2}] = next(client)
    end

    @tag req: "M9"
    test "are refused elsewhere, empty and too large" do
      for revision <- ["2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28"] do
        client = open(answering("x"), revision: revision)
        lines(client, [line([call(1)])])
        assert %{"error" => %{"code" => -32600}} = next(client)
      end

      client = open(answering("x"), revision: "2025-03-26")

      for messages <- [[], for(id <- 1..51, do: call(id))] do
        lines(client, [line(messages)])
        assert %{"error" => %{"code" => -32600}} = next(client)
      end
    end
  end
end
