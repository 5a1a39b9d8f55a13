defmodule McpServer.HttpSessionsTest do
  # Sessions of the session era over HTTP: their start, their owners, their end.
  use McpServer.HttpCase, async: true

  import McpServer.HttpRequests

  alias McpServer.Http.Sessions

  describe "a session" do
    both "is opened by initialize, under an id that nobody guesses", %{server: server} do
      ids =
        for _ <- 1..20 do
          {response, [message]} = HttpClient.exchange(server, initialize())
          assert %{"id" => 1, "result" => %{"serverInfo" => %{"name" => "http"}}} = message
          HttpResponse.header(response, "mcp-session-id")
        end

      assert length(Enum.uniq(ids)) == 20
      # 128 random bits in base64, visible ASCII only.
      for id <- ids, do: assert(id =~ ~r/\A[!-~]{22,}\z/)
    end

    both "names itself in the handler's conn", %{server: server} do
      session = HttpSession.open(server, "2025-06-18")
      assert HttpClient.text(HttpSession.call(session, "whoami")) =~ inspect(session.id)
      refute HttpClient.text(HttpClient.call(server, "whoami")) =~ inspect(session.id)
    end

    # An exception in a plug is handled by its web server.
    @tag :capture_log
    test "listener: answers a request whose init: hook raises, or ends its process" do
      session = HttpSession.open(HttpServers.start(:listener, init: &__MODULE__.broken/1))

      for how <- ["raise", "kill"] do
        request = legacy_call("echo", %{"text" => "x"}, headers: [{"x-how", how}])
        assert {how, HttpSession.status(session, request)} == {how, 500}
      end
    end

    both "goes on over any number of connections, or one", %{server: server} do
      session = HttpSession.open(server)
      for _ <- 1..3, do: assert(HttpClient.text(HttpSession.call(session, "echo", %{"text" => "x"})) == "x")

      peer = HttpPeer.connect(server.port)

      for id <- 1..50 do
        request = HttpSession.of(session, legacy_call("echo", %{"text" => "#{id}"}, id: id))
        response = HttpPeer.request(peer, request)
        assert %{"id" => ^id} = answer = HttpResponse.json(response)
        assert HttpClient.text(answer) == "#{id}"
      end
    end

    @tag req: "H15"
    both "ends with DELETE, and is unknown from then on", %{server: server} do
      session = HttpSession.open(server)
      response = HttpSession.delete(session)
      assert response.status in [200, 204]
      assert response.body == ""

      for request <- [legacy("ping"), legacy("notifications/initialized", %{}, id: nil), get_stream(), delete()],
          do: assert(HttpSession.status(session, request) == 404)

      # The client starts a new session, as the specification requires.
      assert HttpClient.text(HttpSession.call(HttpSession.open(server), "echo", %{"text" => "x"})) == "x"
    end

    @tag req: "H10"
    @tag req: "M20"
    both "does not end with a DELETE of an unknown version, and opens no stream for it", %{server: server} do
      session = HttpSession.open(server)
      version = [{"mcp-protocol-version", "1999-01-01"}]
      data = %{"supported" => revisions(), "requested" => "1999-01-01"}
      error = %{"code" => -32022, "message" => "Unsupported protocol version", "data" => data}

      for request <- [get_stream(version), delete(version)] do
        {response, messages} = HttpSession.exchange(session, request)
        assert {response.status, messages} == {400, [%{"jsonrpc" => "2.0", "error" => error}]}
      end

      assert HttpSession.status(session, legacy("ping")) == 200
      assert HttpSession.delete(session).status == 204
    end

    # Earlier, the client of such a version was told that _meta must be an object.
    both "names the versions of the server to a client of a future one", %{server: server} do
      session = HttpSession.open(server)
      data = %{"supported" => revisions(), "requested" => "2099-01-01"}
      error = %{"code" => -32022, "message" => "Unsupported protocol version", "data" => data}

      for request <- [legacy("ping", %{}, id: 7), legacy_call("echo", %{"text" => "x"}, id: 7)] do
        {response, [message]} =
          HttpSession.exchange(session, with_headers(request, [{"mcp-protocol-version", "2099-01-01"}]))

        assert {response.status, message} == {400, %{"jsonrpc" => "2.0", "id" => 7, "error" => error}}
      end
    end

    both "one that has ended, never was or is somebody else's: one answer",
         [identify: &who/1],
         context do
      ada = HttpSession.open(context.server, "2025-11-25", headers: bearer("ada"))
      bob = HttpSession.open(context.server, "2025-11-25", headers: bearer("bob"))
      ended = HttpSession.open(context.server, "2025-11-25", headers: bearer("ada"))
      HttpSession.delete(ended)

      for request <- [legacy("ping"), get_stream(), delete()] do
        answers =
          for id <- [bob.id, ended.id, "AAAAAAAAAAAAAAAAAAAAAA", "x", ""] do
            {response, _messages} = HttpClient.exchange(context.server, request |> of_session(id) |> as("ada"))
            {response.status, response.headers |> List.keydelete("date", 0), response.body}
          end

        assert [{404, _headers, _body}] = Enum.uniq(answers)
      end

      assert HttpSession.status(bob, legacy("ping")) == 200
      assert HttpSession.status(ada, legacy("ping")) == 200
    end

    @idle_timeout 600_000

    both "ends when nobody has used it for its idle time", [http: [idle_timeout: @idle_timeout]], %{server: server} do
      session = HttpSession.open(server)

      # A session in use stays: the time begins anew with each request.
      for _ <- 1..3 do
        assert HttpSession.unused_for(session.id, @idle_timeout - 1) == :stays
        assert HttpSession.status(session, legacy("ping")) == 200
      end

      assert HttpSession.unused_for(session.id, @idle_timeout) == :ends
      assert HttpSession.status(session, legacy("ping")) == 404
    end

    # A plug notices a closed stream at its next keep-alive.
    both "does not end while a stream is open or a call runs",
         [http: [idle_timeout: @idle_timeout, keep_alive: 50]],
         %{server: server} do
      session = HttpSession.open(server)
      stream = HttpSession.get(session)
      assert HttpSession.unused_for(session.id, 10 * @idle_timeout) == :stays
      HttpPeer.close(stream)
      assert HttpSession.status(session, legacy("ping")) == 200

      peer = HttpSession.start(session, legacy_call("perform", HttpScript.arguments()))
      {call, _conn} = HttpScript.performing()
      assert HttpSession.unused_for(session.id, 10 * @idle_timeout) == :stays
      HttpScript.tell(call, {:answer, "late"})
      assert [%{"id" => 1} = answer] = HttpClient.messages(peer, HttpPeer.response(peer))
      assert HttpClient.text(answer) == "late"

      eventually(fn -> HttpSession.unused_for(session.id, @idle_timeout) == :ends end)
      assert HttpSession.status(session, legacy("ping")) == 404
    end

    both "ends after its lifetime, used or not", %{server: server} do
      session = HttpSession.open(server)
      stream = HttpSession.get(session)
      assert HttpSession.status(session, legacy("ping")) == 200
      assert HttpSession.outlived(session.id) == :ends
      assert HttpSession.status(session, legacy("ping")) == 404
      assert HttpClient.message(stream) == :end
    end

    # The only test that waits for the timers. Its requests come too late on a slow machine, so their status is open.
    on_both "ends by itself, and not before its time", %{kind: kind} do
      for {option, renewed?} <- [idle_timeout: true, session_lifetime: false] do
        server = HttpServers.start(kind, http: [{option, 100}])
        opened = System.monotonic_time(:millisecond)
        {%{status: 200} = response, _messages} = HttpClient.exchange(server, initialize())
        ping = of_session(legacy("ping"), HttpResponse.header(response, "mcp-session-id"))
        used = System.monotonic_time(:millisecond)
        {%{status: status}, _messages} = HttpClient.exchange(server, ping)
        eventually(fn -> :ets.lookup(Sessions, HttpResponse.header(response, "mcp-session-id")) == [] end)

        since = if renewed? and status == 200, do: used, else: opened
        assert System.monotonic_time(:millisecond) - since >= 100
        assert {%{status: 404}, _messages} = HttpClient.exchange(server, ping)
      end
    end
  end

  @doc false
  def broken(request) do
    case List.keyfind(request.req_headers, "x-how", 0) do
      {_name, "raise"} -> raise "broken"
      {_name, "kill"} -> Process.exit(self(), :kill)
      nil -> %McpServer.Conn{}
    end
  end

  defp bearer(name), do: [{"authorization", "Bearer #{name}"}]

  describe "bounds" do
    both "no more requests in flight than a session may have", [limits: [max_calls: 2]], %{server: server} do
      session = HttpSession.open(server)

      running = for id <- 1..2, do: HttpSession.start(session, legacy_call("perform", HttpScript.arguments(id), id: id))

      calls = for id <- 1..2, {call, _conn} = HttpScript.performing(id), do: call
      {response, [message]} = HttpSession.exchange(session, legacy_call("echo", %{"text" => "x"}, id: 3))
      assert response.status == 429
      assert %{"id" => 3, "error" => %{"code" => -32603}} = message

      # Requests that need no place are served.
      assert HttpSession.status(session, legacy("ping", %{}, id: 4)) == 200
      for call <- calls, do: HttpScript.tell(call, {:answer, "done"})

      for peer <- running,
          do: assert([%{"result" => _}] = HttpClient.messages(peer, HttpPeer.response(peer)))

      assert HttpClient.text(HttpSession.call(session, "echo", %{"text" => "x"})) == "x"
    end
  end

  describe "a batch (2025-03-26)" do
    @tag req: "M9"
    both "is answered whole, when its slowest call is done", [http: [stream_after: 100]], %{server: server} do
      session = HttpSession.open(server, "2025-03-26")
      call = fn id, name, arguments -> message("tools/call", %{"name" => name, "arguments" => arguments}, id: id) end

      for slow <- [0, 300] do
        batch = [call.(1, "echo", %{"text" => "x"}), call.(2, "sleep", %{"ms" => slow}), message("ping", %{}, id: 3)]
        {response, messages} = HttpSession.exchange(session, in_session(McpServer.JSON.encode!(batch)))
        assert response.status == 200
        answers = List.flatten(messages)
        assert Enum.sort(for(%{"id" => id, "result" => _} <- answers, do: id)) == [1, 2, 3]
      end
    end

    both "is accepted only if it has no request: a cancelled one gets an empty stream", %{server: server} do
      session = HttpSession.open(server, "2025-03-26")
      send_batch = fn messages -> HttpSession.exchange(session, in_session(McpServer.JSON.encode!(messages))) end
      cancel = message("notifications/cancelled", %{"requestId" => 1}, id: nil)
      sleep = message("tools/call", %{"name" => "sleep", "arguments" => %{"ms" => 60_000}}, id: 1)
      assert {%{status: 202}, []} = send_batch.([cancel, cancel])
      assert {%{status: 200} = response, []} = send_batch.([sleep, cancel])
      assert HttpResponse.header(response, "content-type") == "text/event-stream"
    end
  end

  describe "requests of a session" do
    @tag req: ["SEC-07", "M7"]
    both "an id in flight is not used twice; the first request is left alone", %{server: server} do
      session = HttpSession.open(server)
      peer = HttpSession.start(session, legacy_call("perform", HttpScript.arguments(), id: "a"))
      {call, _conn} = HttpScript.performing()

      {response, [message]} = HttpSession.exchange(session, legacy_call("echo", %{"text" => "x"}, id: "a"))
      assert response.status == 400
      assert %{"id" => "a", "error" => %{"code" => -32600}} = message

      # Another id, and the same id in another session, are free.
      assert %{"id" => 1} = HttpSession.call(session, "echo", %{"text" => "x"})

      assert %{"id" => "a", "result" => _} =
               HttpSession.call(HttpSession.open(server), "echo", %{"text" => "x"}, id: "a")

      HttpScript.tell(call, {:answer, "first"})
      assert [%{"id" => "a"} = answer] = HttpClient.messages(peer, HttpPeer.response(peer))
      assert HttpClient.text(answer) == "first"
      assert %{"id" => "a", "result" => _} = HttpSession.call(session, "echo", %{"text" => "x"}, id: "a")
    end

    @tag req: ["SEC-07", "M7"]
    both "an id in flight is not used by a request without a call either", %{server: server} do
      session = HttpSession.open(server)
      peer = HttpSession.start(session, legacy_call("perform", HttpScript.arguments(), id: "a\","))
      {call, _conn} = HttpScript.performing()

      for {method, params} <- requests_without_call() do
        {response, [message]} = HttpSession.exchange(session, legacy(method, params, id: "a\","))
        assert {method, response.status, message["id"], message["error"]["code"]} == {method, 400, "a\",", -32600}
        assert message["error"]["message"] == "Invalid request: a request with this id is still in flight"
        assert {200, _message} = answered(session, legacy(method, params, id: "b"))
      end

      HttpScript.tell(call, {:answer, "first"})
      assert [%{"id" => "a\","} = answer] = HttpClient.messages(peer, HttpPeer.response(peer))
      assert HttpClient.text(answer) == "first"

      for {method, params} <- requests_without_call(),
          do: assert({200, _} = answered(session, legacy(method, params, id: "a\",")))
    end

    defp answered(session, request) do
      {response, [message]} = HttpSession.exchange(session, request)
      {response.status, message}
    end

    defp requests_without_call do
      [
        {"ping", %{}},
        {"prompts/list", %{}},
        {"logging/setLevel", %{"level" => "info"}},
        {"resources/subscribe", %{"uri" => "http-test://fixed"}},
        {"resources/unsubscribe", %{"uri" => "http-test://fixed"}},
        {"no/such", %{}}
      ]
    end

    @tag req: ["SEC-07", "M7"]
    both "an id in flight is not used inside a batch either", %{server: server} do
      session = HttpSession.open(server, "2025-03-26")
      peer = HttpSession.start(session, legacy_call("perform", HttpScript.arguments(), id: 7))
      {call, _conn} = HttpScript.performing()
      batch = [message("ping", %{}, id: 7), message("ping", %{}, id: 8)]
      {%{status: 200}, messages} = HttpSession.exchange(session, in_session(McpServer.JSON.encode!(batch)))

      assert [{7, -32600}, {8, nil}] =
               for(%{"id" => id} = answer <- List.flatten(messages), do: {id, answer["error"]["code"]})

      HttpScript.tell(call, {:answer, "first"})
      assert [%{"id" => 7, "result" => _}] = HttpClient.messages(peer, HttpPeer.response(peer))
    end

    @tag req: ["SEC-07", "M7"]
    both "an id stays in flight while its call waits for the client", %{server: server} do
      session = HttpSession.open(server, "2025-11-25", capabilities: %{"elicitation" => %{}})
      peer = HttpSession.start(session, legacy_call("ask", %{}, id: 7))
      %{body: :stream} = HttpPeer.response(peer)
      assert %{"method" => "elicitation/create"} = HttpClient.message(peer)
      assert {400, %{"id" => 7, "error" => %{"code" => -32600}}} = answered(session, legacy("ping", %{}, id: 7))
      assert {200, %{"id" => 8, "result" => %{}}} = answered(session, legacy("ping", %{}, id: 8))
    end

    @tag req: "M25"
    both "are cancelled by a notification", %{server: server} do
      session = HttpSession.open(server)
      peer = HttpSession.start(session, legacy_call("perform", HttpScript.arguments(), id: 7))
      {call, _conn} = HttpScript.performing()
      cancel = legacy("notifications/cancelled", %{"requestId" => 7}, id: nil)
      assert HttpSession.status(session, cancel) == 202
      HttpScript.gone(call)
      # The client gets no response, and its request ends.
      assert HttpClient.messages(peer, HttpPeer.response(peer)) == []
    end

    both "are not cancelled by the connection that goes", [http: [keep_alive: 50, stream_after: 50]], %{server: server} do
      session = HttpSession.open(server)
      peer = HttpSession.start(session, legacy_call("perform", HttpScript.arguments(), id: 7))
      {call, _conn} = HttpScript.performing()
      HttpPeer.cut(peer)
      # The id stays in use while the call runs.
      Process.sleep(100)
      assert HttpSession.status(session, legacy_call("echo", %{"text" => "x"}, id: 7)) == 400
      HttpScript.tell(call, {:answer, "done"})
      HttpScript.gone(call)
      eventually(fn -> HttpSession.status(session, legacy_call("echo", %{"text" => "x"}, id: 7)) == 200 end)
    end

    both "of a quick call are answered without a stream", %{server: server} do
      {response, [_answer]} = HttpSession.exchange(HttpSession.open(server), legacy_call("echo", %{"text" => "x"}))
      assert HttpResponse.header(response, "content-type") == "application/json"
    end

    both "of a slow call become a stream, if they accept one", [http: [stream_after: 20]], %{server: server} do
      session = HttpSession.open(server)
      only_json = [headers: [{"accept", "application/json"}]]
      patient = HttpSession.start(session, legacy_call("perform", HttpScript.arguments(1), [id: 1] ++ only_json))
      {patient_call, _conn} = HttpScript.performing(1)
      {slow, response} = HttpSession.open_stream(session, legacy_call("perform", HttpScript.arguments(2), id: 2))
      {slow_call, _conn} = HttpScript.performing(2)
      assert HttpResponse.header(response, "content-type") == "text/event-stream"

      # The other call has taken longer by now.
      for call <- [patient_call, slow_call], do: HttpScript.tell(call, {:answer, "done"})
      assert [%{"id" => 2} = answer] = HttpClient.messages(slow, response)
      assert HttpClient.text(answer) == "done"
      response = HttpPeer.response(patient)
      assert HttpResponse.header(response, "content-type") == "application/json"
      assert [%{"id" => 1} = answer] = HttpClient.messages(patient, response)
      assert HttpClient.text(answer) == "done"
    end

    @tag req: "SEC-14"
    both "a second initialize changes nothing", %{server: server} do
      session = HttpSession.open(server, "2025-06-18", info: %{"name" => "ada", "version" => "1"})
      before = HttpClient.text(HttpSession.call(session, "whoami"))

      params = %{
        "protocolVersion" => "2025-03-26",
        "capabilities" => %{},
        "clientInfo" => %{"name" => "b", "version" => "2"}
      }

      assert HttpSession.status(session, legacy("initialize", params)) == 400
      assert HttpClient.text(HttpSession.call(session, "whoami")) == before
    end

    both "the log level holds for the session", %{server: server} do
      session = HttpSession.open(server)

      {%{status: 200}, [%{"result" => %{}}]} =
        HttpSession.exchange(session, legacy("logging/setLevel", %{"level" => "error"}))

      peer = HttpSession.start(session, legacy_call("perform", HttpScript.arguments()))
      {call, _conn} = HttpScript.performing()
      for level <- ["info", "error"], do: HttpScript.tell(call, {:log, level, level})
      HttpScript.tell(call, {:answer, "done"})

      assert [%{"method" => "notifications/message", "params" => %{"level" => "error"}}, %{"id" => 1}] =
               HttpClient.messages(peer, HttpPeer.response(peer))
    end

    both "progress travels on the request's own stream", %{server: server} do
      session = HttpSession.open(server)
      stream = HttpSession.get(session)
      %{data: ""} = HttpPeer.event(stream)
      params = %{"name" => "perform", "arguments" => HttpScript.arguments(), "_meta" => %{"progressToken" => "p"}}
      peer = HttpSession.start(session, legacy("tools/call", params))
      {call, _conn} = HttpScript.performing()
      for n <- 1..3, do: HttpScript.tell(call, {:progress, n})
      HttpScript.tell(call, {:answer, "done"})

      assert [1, 2, 3, "done"] =
               for(
                 message <- HttpClient.messages(peer, HttpPeer.response(peer)),
                 do: message["params"]["progress"] || HttpClient.text(message)
               )

      assert HttpPeer.silent?(stream)
    end
  end
end
