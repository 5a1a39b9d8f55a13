defmodule McpServer.Client.HostileServerTest do
  # What a server sends makes no header of a later request, and a server that loses every session gets no flood.
  use ExUnit.Case, async: true

  alias McpServer.Client.{Error, Http, Link}
  alias McpServer.{Client, Fetch, JSON, ScriptedServer}

  @version "io.modelcontextprotocol/protocolVersion"
  @injected "1\r\nX-Injected: yes\r\n\r\nDELETE /victim HTTP/1.1"

  defp link(server) do
    reference = make_ref()
    link = start_supervised!({Http, url: server.url, owner: self(), reference: reference})
    %{link: link, reference: reference}
  end

  defp send_message(%{link: link, reference: reference}, message) do
    text = message |> Map.put("jsonrpc", "2.0") |> JSON.encode!()
    send(link, {:mcp_client_in, reference, {:lines, [text]}})
  end

  # The next message that is not a notification.
  defp answer(%{reference: reference} = link) do
    receive do
      {:mcp_client, ^reference, answer} ->
        answer

      {:mcp_client, ^reference, message, receipt} ->
        :ok = Link.taken(receipt)
        if notification?(message), do: answer(link), else: message
    after
      30_000 -> flunk("the link sends nothing")
    end
  end

  defp notification?(message), do: match?(%{"method" => _method}, message) and not is_map_key(message, "id")

  defp result(request, result, headers \\ []) do
    answer = %{"jsonrpc" => "2.0", "id" => JSON.decode!(request.body)["id"], "result" => result}
    ScriptedServer.response(200, [{"content-type", "application/json"} | headers], JSON.encode!(answer))
  end

  defp initialize(id),
    do: %{"id" => id, "method" => "initialize", "params" => %{"protocolVersion" => "2025-11-25", "capabilities" => %{}}}

  # Earlier, the text became a header's name, line ends included.
  test "a mark that cannot be the name of a header is ignored" do
    properties = %{
      "a" => %{"type" => "string", "x-mcp-header" => "A: " <> @injected},
      "b" => %{"type" => "string", "x-mcp-header" => "Fine"},
      "c" => %{"type" => "string", "x-mcp-header" => ""}
    }

    tool = %{"name" => "x", "inputSchema" => %{"type" => "object", "properties" => properties}}

    server =
      ScriptedServer.start(fn request ->
        result(request, if(request.body =~ "tools/list", do: %{"tools" => [tool]}, else: %{"content" => []}))
      end)

    link = link(server)
    arguments = %{"a" => "1", "b" => "2", "c" => "3"}
    meta = %{@version => "2026-07-28"}

    send_message(link, %{
      "id" => 1,
      "method" => "tools/call",
      "params" => %{"name" => "x", "arguments" => arguments, "_meta" => meta}
    })

    assert %{"id" => 1, "result" => %{"content" => []}} = answer(link)
    ScriptedServer.requested(server)
    called = ScriptedServer.requested(server)
    mirrored = for {name, value} <- called.headers, String.starts_with?(String.downcase(name), "mcp-param"), do: value
    assert mirrored == ["2"]
    refute List.keymember?(called.headers, "x-injected", 0)
  end

  # Earlier, every later request repeated them.
  test "a session whose id or revision is no header's value is not opened" do
    for {id, revision, expected} <- [
          {"s", @injected, :protocol},
          # This head is no HTTP.
          {"s\rX-Injected: yes", "2025-11-25", :unreachable},
          {"s\r\n\tfolded", "2025-11-25", :protocol},
          {"s", 1, :protocol}
        ] do
      opened = &result(&1, %{"protocolVersion" => revision}, [{"mcp-session-id", id}])
      link = opened |> ScriptedServer.start() |> link()
      send_message(link, initialize(1))
      assert {:failed, 1, %Error{kind: kind}} = answer(link)
      assert {id, revision, kind} == {id, revision, expected}
      stop_supervised!(Http)
    end
  end

  test "a header that HTTP does not allow is not sent" do
    request = %{
      method: :get,
      url: "http://127.0.0.1:1/",
      body: nil,
      timeout: 1_000,
      max_body_bytes: 1,
      stream: false,
      addresses: :any
    }

    for header <- [{"a b", "1"}, {"a:", "1"}, {"", "1"}, {"a", "1\r\nb: 2"}, {"a", "1\r"}, {"a", <<0>>}],
        do:
          assert(
            {header, Fetch.fetch(Map.put(request, :headers, [header]), [])} == {header, {:error, :malformed_header}}
          )

    assert Fetch.fetch(Map.put(request, :headers, [{"x-a_b", "1\t é"}]), []) == {:error, :econnrefused}
  end

  # Earlier, the link opened sessions and repeated the request without end.
  test "a request whose session is lost twice fails" do
    server =
      ScriptedServer.start(fn request ->
        if request.body =~ ~s("initialize"),
          do: result(request, %{"protocolVersion" => "2025-11-25"}, [{"mcp-session-id", "s"}]),
          else: ScriptedServer.response(404, [], "")
      end)

    link = link(server)
    send_message(link, initialize(1))
    assert %{"id" => 1, "result" => _opened} = answer(link)
    send_message(link, %{"id" => 2, "method" => "tools/list"})
    assert {:failed, 2, %Error{kind: :no_answer, status: 404}} = answer(link)

    methods =
      for _ <- 1..5, do: server |> ScriptedServer.requested() |> Map.get(:body) |> JSON.decode!() |> Map.get("method")

    assert methods == ["initialize", "tools/list", "initialize", "notifications/initialized", "tools/list"]
  end

  # Earlier, the link opened a session for it, and reported the status of the second attempt.
  test "a message of the stateless era loses no session" do
    server =
      ScriptedServer.start(fn request ->
        cond do
          request.body =~ ~s("initialize") ->
            result(request, %{"protocolVersion" => "2025-11-25"}, [{"mcp-session-id", "s"}])

          request.method == "DELETE" ->
            ScriptedServer.response(202, [], "")

          true ->
            error = %{"code" => -32_601, "message" => "Method not found"}
            ScriptedServer.json(404, %{"jsonrpc" => "2.0", "id" => 2, "error" => error})
        end
      end)

    link = link(server)
    send_message(link, initialize(1))
    assert %{"id" => 1, "result" => _opened} = answer(link)
    send_message(link, %{"id" => 2, "method" => "own/method", "params" => %{"_meta" => %{@version => "2026-07-28"}}})
    assert %{"id" => 2, "error" => %{"code" => -32_601}} = answer(link)

    methods =
      for _ <- 1..2, do: server |> ScriptedServer.requested() |> Map.get(:body) |> JSON.decode!() |> Map.get("method")

    assert methods == ["initialize", "own/method"]
  end

  # Earlier, its sender waited without end.
  test "a body that is no answer to the request fails it" do
    for {body, expected} <- [
          {"5", :failed},
          {"{}", :failed},
          {"[]", :failed},
          {~s({"jsonrpc":"2.0","id":9,"result":{}}), :failed},
          {~s({"jsonrpc":"2.0","method":"notifications/message","params":{}}), :failed},
          {~s({"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}), :refused},
          {~s({"jsonrpc":"2.0","id":1,"result":{}}), :answered}
        ] do
      link =
        link(
          ScriptedServer.start(fn _request ->
            ScriptedServer.response(200, [{"content-type", "application/json"}], body)
          end)
        )

      send_message(link, %{"id" => 1, "method" => "ping", "params" => %{"_meta" => %{@version => "2026-07-28"}}})

      outcome =
        case answer(link) do
          {:failed, 1, %Error{kind: :no_answer, message: message}} ->
            assert message =~ "sends something else than the answer to the request"
            :failed

          %{"id" => 1, "error" => %{"code" => -32_600}} ->
            :refused

          %{"id" => 1, "result" => %{}} ->
            :answered
        end

      assert {body, outcome} == {body, expected}
      stop_supervised!(Http)
    end
  end

  test "a request stays open after an event without its answer, and fails at the end of its stream" do
    for {event, expected} <- [
          {"[]", :failed},
          {~s([{"jsonrpc":"2.0","id":9,"result":{}}]), :failed},
          {~s({"jsonrpc":"2.0","id":1,"result":{}}), :answered}
        ] do
      stream = [{"content-type", "text/event-stream"}]
      link = link(ScriptedServer.start(fn _request -> ScriptedServer.response(200, stream, "data: #{event}\n\n") end))
      send_message(link, %{"id" => 1, "method" => "ping", "params" => %{"_meta" => %{@version => "2026-07-28"}}})
      assert {event, ended(link)} == {event, expected}
      stop_supervised!(Http)
    end
  end

  defp ended(link) do
    case answer(link) do
      {:failed, 1, %Error{kind: :closed, message: "the server ended the stream before its answer"}} -> :failed
      %{"id" => 1, "result" => %{}} -> :answered
      _no_answer -> ended(link)
    end
  end

  # Earlier, the answer to initialize was kept until the end of its stream, and all that came with it.
  test "a stream that opens a session is read up to its answer, and no further than 64 MiB" do
    opened = ~s({"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}})
    stream = ScriptedServer.head(200, [{"content-type", "text/event-stream"}])

    answered = fn connection ->
      ScriptedServer.push(connection, [stream, "data: ", opened, "\n\n"])
      ScriptedServer.wait(connection)
    end

    link = link(ScriptedServer.start(fn _request -> answered end))
    send_message(link, initialize(1))
    assert %{"id" => 1, "result" => %{"protocolVersion" => "2025-11-25"}} = answer(link)
    stop_supervised!(Http)

    noise =
      ~s(data: {"jsonrpc":"2.0","method":"notifications/x","params":{"a":"#{String.duplicate("x", 1_000_000)}"}}\n\n)

    endless = fn connection ->
      ScriptedServer.push(connection, stream)
      ScriptedServer.flood(connection, noise)
    end

    server = ScriptedServer.start(fn _request -> endless end)
    link = link(server)
    send_message(link, initialize(1))
    text = "the server sends too much before its answer"
    assert {:failed, 1, %Error{kind: :protocol, message: ^text}} = answer(link)
    assert ScriptedServer.flooded(server) < 80_000_000
  end

  # Earlier, its senders waited without end.
  test "each request of a batch gets its answer or an error" do
    missing = %{"code" => -32_603, "message" => "does not answer this request of the batch"}
    other = %{"code" => -32_603, "message" => "sends something else than the answer to the request"}

    for {body, expected} <- [
          {"{}", [{1, other}, {2, other}]},
          {"[]", [{1, other}, {2, other}]},
          {~s([{"jsonrpc":"2.0","id":2,"result":{}}]), [{1, missing}, {2, %{}}]},
          {~s([{"jsonrpc":"2.0","id":2,"result":{}},{"jsonrpc":"2.0","id":1,"result":{}}]), [{1, %{}}, {2, %{}}]},
          {~s({"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}), :refused}
        ] do
      server =
        ScriptedServer.start(fn _request ->
          ScriptedServer.response(200, [{"content-type", "application/json"}], body)
        end)

      %{link: pid, reference: reference} = link = link(server)
      batch = for id <- 1..2, do: %{"jsonrpc" => "2.0", "id" => id, "method" => "ping"}
      send(pid, {:mcp_client_in, reference, {:lines, [JSON.encode!(batch)]}})

      answers =
        case answer(link) do
          %{"id" => nil, "error" => %{"code" => -32_600}} -> :refused
          answers -> Enum.sort(for %{"id" => id} = answer <- answers, do: {id, answer["result"] || without_url(answer)})
        end

      assert {body, answers} == {body, expected}
      stop_supervised!(Http)
    end
  end

  defp without_url(%{"error" => error}), do: Map.update!(error, "message", &String.replace(&1, ~r/\Ahttp\S+ /, ""))

  # Earlier, the link read nothing meanwhile.
  test "a server that takes its time to open a session again blocks nothing" do
    test = self()

    server =
      ScriptedServer.start(fn request ->
        session = [{"mcp-session-id", if(request.body =~ "reopen", do: "second", else: "first")}]

        cond do
          request.body =~ "reopen" ->
            send(test, {:reopening, self()})
            receive do: (:go_on -> result(request, %{"protocolVersion" => "2025-11-25"}, session))

          request.body =~ ~s("initialize") ->
            result(request, %{"protocolVersion" => "2025-11-25"}, session)

          request.body =~ "notifications/" or request.method == "DELETE" ->
            ScriptedServer.response(202, [], "")

          List.keyfind(request.headers, "mcp-session-id", 0) == {"mcp-session-id", "second"} ->
            result(request, %{})

          true ->
            ScriptedServer.response(404, [], "")
        end
      end)

    link = link(server)
    send_message(link, initialize(1))
    assert %{"id" => 1} = answer(link)
    for id <- 2..4, do: send_message(link, %{"id" => id, "method" => "ping"})
    assert_receive {:reopening, opener}, 30_000
    send(link.link, {:mcp_client_in, link.reference, {:lines, ["no JSON"]}})
    assert %{"id" => nil, "error" => %{"code" => -32700}} = answer(link)
    send(opener, :go_on)
    assert Enum.sort(for _ <- 1..3, do: answer(link)["id"]) == [2, 3, 4]
    send_message(link, %{"id" => 5, "method" => "ping"})
    assert %{"id" => 5} = answer(link)
    refute_received {:reopening, _again}
  end

  # Earlier, these ended a developer's command with a stack trace.
  test "answers of no known form are refused in words" do
    neither = "the server's answer has neither a result nor an error"
    no_list = "the server's answer to tools/list has no list of objects"

    for {answer, expected} <- [
          {%{}, neither},
          {%{"result" => %{"tools" => %{"a" => 1}}}, no_list},
          {%{"result" => %{"tools" => 5}}, no_list},
          {%{"result" => %{"tools" => ["a"]}}, no_list},
          {%{"method" => "sampling/createMessage", "id" => "q", "params" => 5}, nil},
          {%{"method" => 5, "id" => "q"}, nil}
        ] do
      options = [revision: "2025-11-25", receive_timeout: 30_000, answers: fn _method, %{} -> {:error, %{}} end]
      client = Client.open({:url, answering(answer).url}, options)
      list = fn -> Client.list(client, "tools/list", "tools") end
      if expected, do: assert_raise(Error, expected, list), else: assert({:ok, []} = list.())
    end
  end

  # Earlier, the pause raised.
  test "a task may ask for any pause" do
    tool = %{"name" => "slow", "inputSchema" => %{"type" => "object"}}
    task = %{"taskId" => "1", "status" => "working"}

    server =
      ScriptedServer.start(fn request ->
        cond do
          request.body =~ "tools/list" ->
            result(request, %{"tools" => [tool], "resultType" => "complete"})

          request.body =~ "tools/call" ->
            result(request, Map.merge(task, %{"resultType" => "task", "pollIntervalMs" => -1}))

          true ->
            done = %{"content" => [%{"type" => "text", "text" => "done"}]}
            result(request, %{"taskId" => "1", "status" => "completed", "result" => done})
        end
      end)

    client = Client.open({:url, server.url}, revision: "2026-07-28")
    options = %{json: false, say: fn _line -> :ok end}
    assert {0, shown} = McpServer.Console.call(client, "slow", [], options)
    assert IO.iodata_to_binary(shown) =~ "done"
  end

  # A server that answers `tools/list` with this. A request of its own comes before an empty list.
  defp answering(answer) do
    ScriptedServer.start(fn request ->
      cond do
        request.body =~ ~s("initialize") ->
          result(request, %{"protocolVersion" => "2025-11-25", "capabilities" => %{"tools" => %{}}})

        not (request.body =~ "tools/list") ->
          ScriptedServer.response(202, [], "")

        is_map_key(answer, "method") ->
          id = JSON.decode!(request.body)["id"]
          events = for message <- [answer, %{"id" => id, "result" => %{"tools" => []}}], do: event(message)
          ScriptedServer.response(200, [{"content-type", "text/event-stream"}], Enum.join(events))

        true ->
          answer = Map.merge(answer, %{"jsonrpc" => "2.0", "id" => JSON.decode!(request.body)["id"]})
          ScriptedServer.response(200, [{"content-type", "application/json"}], JSON.encode!(answer))
      end
    end)
  end

  defp event(message), do: "data: " <> JSON.encode!(Map.put(message, "jsonrpc", "2.0")) <> "\n\n"
end
