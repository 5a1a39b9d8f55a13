defmodule McpServer.Protocol.RetentionTest do
  # Data of clients that a connection retains, as terms and as bytes. Earlier, a running call retained the client's
  # data, a stream its whole request, and a session its client's data as terms of ten times their size.
  use ExUnit.Case, async: true

  import McpServer.Controller, only: [elicit: 2, input_required: 1]
  import McpServer.Wire

  alias McpServer.JSON
  alias McpServer.Test.Client
  alias McpServer.Tool.Content

  @most 16 * 1024

  # Exactly this many bytes of JSON, which takes many words as a term.
  defp filled(object, bytes) do
    room = bytes - byte_size(JSON.encode!(Map.put(object, "x", [])))
    count = div(room, 3)
    padding = String.duplicate("p", rem(room, 3) + 3 - 2)
    filled = Map.put(object, "x", List.duplicate([], count - 1) ++ [padding])
    extra = bytes - byte_size(JSON.encode!(filled))
    Map.put(object, "x", List.duplicate([], count - 1) ++ [padding <> String.duplicate("p", extra)])
  end

  defp waiting(test) do
    fn conn, _arguments ->
      send(test, {:entered, self(), conn})
      receive do: (:go -> {:ok, [Content.text("done")]})
    end
  end

  defp modern(members, bytes) do
    meta = %{
      "io.modelcontextprotocol/protocolVersion" => "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities" => %{"roots" => %{}},
      "io.modelcontextprotocol/clientInfo" => %{"name" => "c", "version" => "1"}
    }

    Map.put(members, "_meta", filled(meta, bytes))
  end

  test "the filling is as long as it says" do
    for bytes <- [200, 201, 202, @most], do: assert(byte_size(JSON.encode!(filled(%{"a" => 1}, bytes))) == bytes)
  end

  for revision <- ["2025-11-25", "2026-07-28"] do
    test "#{revision}: a running call keeps the id of its request, and nothing that grows with it" do
      revision = unquote(revision)
      data = %{"name" => "c", "version" => "1"}
      client = open(waiting(self()), revision: revision, client_info: filled(data, 10_000))
      tool(client, "call-1", "run", %{"text" => String.duplicate("x", 100_000), "list" => Enum.to_list(1..10_000)})
      assert_receive {:entered, handler, %{client_info: %{"x" => [_ | _]}}}
      assert [{^handler, call}] = Map.to_list(settled(client).calls)
      assert %{request: %{id: "call-1", kind: :tool, method: "tools/call", revision: ^revision}} = call
      assert :erlang.external_size(call) < 1_500
      send(handler, :go)
      assert said(next(client)) == "done"
    end
  end

  test "a stream keeps its id and what it wants to hear of" do
    client = open(fn _conn, _arguments -> {:ok, []} end)
    filter = %{"toolsListChanged" => true, "resourceSubscriptions" => ["run://fixed", "run://fixed", "none://x"]}
    ask(client, 1, "subscriptions/listen", modern(%{"notifications" => filter, "x" => Enum.to_list(1..10_000)}, @most))
    assert_receive {:mcp_notification, "notifications/subscriptions/acknowledged", params}
    assert params["notifications"] == %{"toolsListChanged" => true, "resourceSubscriptions" => ["run://fixed"]}
    listens = settled(client).session.listens
    assert [{1, %{id: 1, revision: "2026-07-28", stream: :session}}] = Map.to_list(listens)
    assert :erlang.external_size(listens) < 600
  end

  test "a session keeps what its client says of itself as text, and calls get it as a term" do
    info = filled(%{"name" => "c", "version" => "1"}, @most)
    capabilities = filled(%{"roots" => %{}}, @most)
    options = [revision: "2025-11-25", client_info: info, client_capabilities: capabilities]
    client = open(waiting(self()), options)
    tool(client, 1)
    assert_receive {:entered, handler, %{client_info: ^info, client_capabilities: ^capabilities}}
    send(handler, :go)
    assert said(next(client)) == "done"

    session = settled(client).session
    assert :erlang.external_size(session) < 2 * @most + 1_000
    # In words, without the binaries.
    assert :erts_debug.flat_size(session) < 300
    :erlang.garbage_collect(client.connection)
    # A test's transport does not hibernate; an idle connection does.
    assert {:total_heap_size, words} = Process.info(client.connection, :total_heap_size)
    assert words < 6_000
  end

  test "an answer of the client goes to the call that asked, and is not kept until the others have come" do
    test = self()
    form = %{"type" => "object", "properties" => %{"text" => %{"type" => "string"}}}

    run = fn
      %{input_responses: answers}, _arguments when answers == %{} ->
        input_required(first: elicit("One?", form), second: elicit("Two?", form), third: elicit("Three?", form))

      conn, _arguments ->
        send(test, {:answers, conn.input_responses, conn.input_errors})
        {:ok, [Content.text("done")]}
    end

    client = open(run, revision: "2025-11-25")
    tool(client, 1)
    questions = for _ <- 1..3, do: next(client)
    by_text = Map.new(questions, fn %{"id" => id, "params" => %{"message" => text}} -> {text, id} end)
    large = String.duplicate("x", 100_000)
    answer = &Client.push(client, %{"jsonrpc" => "2.0", "id" => by_text[&1], "result" => &2})
    accepted = &%{"action" => "accept", "content" => %{"text" => &1}}

    answer.("Two?", accepted.(large))
    assert [%{awaiting: %{open: 2}} = call] = Map.values(settled(client).calls)
    assert :erlang.external_size(call) < 2_000
    error = %{"code" => -1, "message" => large}
    Client.push(client, %{"jsonrpc" => "2.0", "id" => by_text["One?"], "error" => error})
    assert [%{awaiting: %{open: 1}} = call] = Map.values(settled(client).calls)
    assert :erlang.external_size(call) < 2_000
    answer.("Three?", accepted.("small"))
    assert said(next(client)) == "done"
    assert_received {:answers, answers, errors}
    assert answers == %{"second" => accepted.(large), "third" => accepted.("small")}
    assert errors == %{"first" => error}
  end

  test "client data above the limit is refused, in both eras, and the session does not open" do
    client = open(fn _conn, _arguments -> {:ok, []} end, initialize: false, revision: "2025-11-25")
    info = %{"name" => "c", "version" => "1"}
    params = %{"protocolVersion" => "2025-11-25", "capabilities" => %{}, "clientInfo" => info}

    for {member, value} <- [{"clientInfo", info}, {"capabilities", %{}}, {"_meta", %{}}] do
      ask(client, 1, "initialize", Map.put(params, member, filled(value, @most + 1)))
      message = "Invalid params: #{member} is longer than 16384 bytes"
      assert %{"id" => 1, "error" => %{"code" => -32602, "message" => ^message}} = next(client)
      assert settled(client).session.revision == nil
    end

    for {method, members} <- [{"tools/call", %{"name" => "run"}}, {"subscriptions/listen", %{"notifications" => %{}}}] do
      ask(client, 2, method, modern(members, @most + 1))
      message = "Invalid params: _meta is longer than 16384 bytes"
      assert %{"id" => 2, "error" => %{"code" => -32602, "message" => ^message}} = next(client)
    end

    ask(client, 3, "initialize", params)
    assert %{"id" => 3, "result" => %{"protocolVersion" => "2025-11-25"}} = next(client)
  end
end
