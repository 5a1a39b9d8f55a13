defmodule McpServer.HttpStatelessTest do
  # 2026-07-28 over HTTP: streams of calls, subscriptions, cancellation by disconnection, state held by the client.
  use McpServer.HttpCase, async: true

  import McpServer.HttpRequests

  alias McpServer.{Changes, HttpChangesRouter, JSON}

  @subscription "io.modelcontextprotocol/subscriptionId"

  defp performing(server, options \\ []) do
    tag = make_ref() |> inspect()
    peer = HttpClient.start(server, modern_call("perform", HttpScript.arguments(tag), options))
    {call, conn} = HttpScript.performing(tag)
    {peer, call, conn}
  end

  describe "a call" do
    both "takes all it knows from its own request", %{server: server} do
      {peer, call, conn} = performing(server, capabilities: %{"sampling" => %{}})
      assert %{session_id: nil, protocol_version: "2026-07-28", client_info: %{"name" => "peer"}, principal: nil} = conn
      assert conn.client_capabilities == %{"sampling" => %{}}
      HttpScript.tell(call, {:answer, "done"})
      assert [%{"result" => %{"resultType" => "complete"}}] = HttpClient.messages(peer, HttpPeer.response(peer))
    end

    both "tells of its progress on its own stream", %{server: server} do
      {peer, call, _conn} = performing(server, meta: %{"progressToken" => 7})
      for n <- 1..3, do: HttpScript.tell(call, {:progress, n})
      HttpScript.tell(call, {:answer, "done"})
      response = HttpPeer.response(peer)
      assert HttpResponse.header(response, "content-type") == "text/event-stream"
      assert HttpResponse.header(response, "x-accel-buffering") == "no"
      events = HttpPeer.events(peer)
      # These streams cannot be resumed, so events have no ids.
      assert Enum.all?(events, &(&1.id == nil and &1.retry == nil))
      assert [%{"method" => "notifications/progress"}, _, _, %{"id" => 1, "result" => _}] = decoded(events)
    end

    both "logs only what its request asked for", %{server: server} do
      for {level, expected} <- [{nil, []}, {"error", ["error"]}, {"debug", ["info", "error"]}] do
        meta = if level, do: %{"io.modelcontextprotocol/logLevel" => level}, else: %{}
        {peer, call, _conn} = performing(server, meta: meta)
        for level <- ["info", "error"], do: HttpScript.tell(call, {:log, level, level})
        HttpScript.tell(call, {:answer, "done"})
        messages = HttpClient.messages(peer, HttpPeer.response(peer))
        assert for(%{"params" => %{"level" => level}} <- messages, do: level) == expected
      end
    end

    both "of a client that accepts no stream is answered with JSON, whatever it tells meanwhile", %{server: server} do
      headers = [{"accept", "application/json"}]
      {peer, call, _conn} = performing(server, headers: headers, meta: %{"progressToken" => 7})
      HttpScript.tell(call, {:progress, 1})
      HttpScript.tell(call, {:answer, "done"})
      response = HttpPeer.response(peer)
      assert HttpResponse.header(response, "content-type") == "application/json"
      assert HttpClient.text(HttpResponse.json(response)) == "done"
    end

    both "that fails with an error of MCP has the error's status", %{server: server} do
      for {code, expected} <- [
            {-32_020, {400, -32_020}},
            {-32_021, {400, -32_021}},
            {-32_022, {400, -32_022}},
            {-32_002, {200, -32_602}},
            {-32_042, {200, -32_603}},
            {-32_050, {200, -32_603}},
            {-32_601, {200, -32_601}}
          ] do
        data = %{"requiredCapabilities" => %{}, "supported" => ["2026-07-28"], "requested" => "2026-07-28"}
        {peer, call, _conn} = performing(server)
        HttpScript.tell(call, {:fail, McpServer.JsonRpc.Error.new(code: code, message: "no", data: data)})
        response = HttpPeer.response(peer)
        assert %{"id" => 1, "error" => %{"message" => "no", "data" => ^data} = error} = HttpResponse.json(response)
        assert {code, {response.status, error["code"]}} == {code, expected}
      end
    end

    both "that takes its time becomes a stream", [http: [stream_after: 100]], %{server: server} do
      {peer, call, _conn} = performing(server)
      response = HttpPeer.response(peer)
      assert HttpResponse.header(response, "content-type") == "text/event-stream"
      HttpScript.tell(call, {:answer, "done"})
      assert [answer] = HttpClient.messages(peer, response)
      assert HttpClient.text(answer) == "done"
    end

    @tag req: "H13"
    both "is cancelled when its client hangs up", [http: [stream_after: 50, keep_alive: 50]], %{server: server} do
      for streaming? <- [false, true] do
        {peer, call, _conn} = performing(server)
        if streaming?, do: %{body: :stream} = HttpPeer.response(peer)
        HttpPeer.cut(peer)
        HttpScript.gone(call)
      end
    end

    @tag req: "H13"
    both "is cancelled when its client closes", [http: [stream_after: 50, keep_alive: 50]], %{server: server} do
      {peer, call, _conn} = performing(server)
      HttpPeer.close(peer)
      HttpScript.gone(call)
    end

    both "that is too slow is ended", [timeout: 3_000], %{server: server} do
      {peer, call, _conn} = performing(server)
      assert [%{"result" => %{"isError" => true}}] = HttpClient.messages(peer, HttpPeer.response(peer))
      HttpScript.gone(call)
    end

    @tag req: ["SEC-07", "M8"]
    both "keeps its answer to itself, whatever ids others use", %{server: server} do
      texts =
        in_parallel(1..200, fn n ->
          answer = HttpClient.call(server, "echo", %{"text" => "client #{n}"})
          {n, answer["id"], HttpClient.text(answer)}
        end)

      assert texts == for(n <- 1..200, do: {n, 1, "client #{n}"})
    end

    defp decoded(events),
      do: for(%{data: data} when data != nil <- events, {:ok, message} = JSON.decode(data), do: message)
  end

  describe "subscriptions/listen" do
    defp listen(server, id, filter) do
      {peer, response} = HttpClient.open(server, modern("subscriptions/listen", %{"notifications" => filter}, id: id))
      assert %{status: 200, body: :stream} = response
      assert HttpResponse.header(response, "x-accel-buffering") == "no"

      assert %{"method" => "notifications/subscriptions/acknowledged", "params" => params} = HttpClient.message(peer)
      assert params == %{"_meta" => %{@subscription => id}, "notifications" => filter}
      peer
    end

    both "tells what was asked for, under its own id", [router: HttpChangesRouter], %{server: server} do
      one = listen(server, "one", %{"toolsListChanged" => true})
      two = listen(server, 2, %{"resourceSubscriptions" => ["http-test://fixed"]})
      Changes.resource_updated(HttpChangesRouter, "http-test://rows/1")
      Changes.resource_updated(HttpChangesRouter, "http-test://fixed")
      Changes.tools_changed(HttpChangesRouter)

      assert %{"method" => "notifications/tools/list_changed", "params" => %{"_meta" => %{@subscription => "one"}}} =
               HttpClient.message(one)

      assert %{
               "method" => "notifications/resources/updated",
               "params" => %{"uri" => "http-test://fixed", "_meta" => %{@subscription => 2}}
             } = HttpClient.message(two)
    end

    both "is kept open by comments", [http: [keep_alive: 50]], %{server: server} do
      peer = listen(server, 1, %{})
      for _ <- 1..3, do: assert(%{comments: [_], data: nil, id: nil} = HttpPeer.event(peer))
    end

    test "ends with an answer when the server stops" do
      server = HttpServers.start(:listener)
      peer = listen(server, 1, %{"toolsListChanged" => true})
      HttpServers.stop(server)
      messages = HttpClient.messages(peer, %{body: :stream})

      assert %{"id" => 1, "result" => %{"resultType" => "complete", "_meta" => %{@subscription => 1}}} =
               List.last(messages)
    end

    test "ends when its client goes" do
      server = HttpServers.start(:listener)
      peers = for id <- 1..20, do: listen(server, id, %{"toolsListChanged" => true})
      assert %{streams: 20} = McpServer.HttpServer.stats(server.pid)
      for peer <- peers, do: HttpPeer.cut(peer)
      eventually(fn -> match?(%{streams: 0, exchanges: 0}, McpServer.HttpServer.stats(server.pid)) end)
    end
  end

  describe "input from the client" do
    @capabilities [capabilities: %{"elicitation" => %{}}]
    @responses %{"name" => %{"action" => "accept", "content" => %{"name" => "Ada"}}}

    defp retry(state, params \\ %{}) do
      given = %{"name" => "ask", "arguments" => %{}, "inputResponses" => @responses, "requestState" => state}
      modern("tools/call", Map.merge(given, params), [id: 2] ++ @capabilities)
    end

    both "is asked by the answer, and brought with the next request", %{server: server} do
      assert %{"result" => %{"resultType" => "input_required", "requestState" => state} = result} =
               HttpClient.call(server, "ask", %{}, @capabilities)

      assert %{"name" => %{"method" => "elicitation/create"}} = result["inputRequests"]
      assert %{"id" => 2, "result" => %{"resultType" => "complete"}} = answer = HttpClient.answer(server, retry(state))
      assert HttpClient.text(answer) == "Hello, Ada! :asked"
    end

    both "an answer of an invalid form counts only where it was asked for", %{server: server} do
      %{"result" => %{"requestState" => state}} = HttpClient.call(server, "ask", %{}, @capabilities)

      for invalid <- [%{}, 1, nil, %{"action" => "maybe"}] do
        responses = Map.put(@responses, "other", invalid)
        answer = HttpClient.answer(server, retry(state, %{"inputResponses" => responses}))
        assert {invalid, HttpClient.text(answer)} == {invalid, "Hello, Ada! :asked"}

        request = retry(state, %{"inputResponses" => %{"name" => invalid}})
        assert {response, [%{"id" => 2, "error" => error}]} = HttpClient.exchange(server, request)
        assert {invalid, response.status, error["code"]} == {invalid, 400, -32602}

        assert error["message"] ==
                 ~s(Invalid params: inputResponses: the answer to "name" must be a result of elicitation/create)
      end
    end

    both "a state that was changed, cut or made up is refused", %{server: server} do
      %{"result" => %{"requestState" => state}} = HttpClient.call(server, "ask", %{}, @capabilities)
      half = binary_part(state, 0, div(byte_size(state), 2))

      for spoiled <- [state <> "x", half, "", Base.url_encode64(:erlang.term_to_binary(:asked))],
          do: assert(%{"error" => %{"code" => -32602}} = HttpClient.answer(server, retry(spoiled)))

      for params <- [%{"arguments" => %{"other" => 1}}],
          do: assert(%{"error" => %{"code" => -32602}} = HttpClient.answer(server, retry(state, params)))
    end

    @tag req: "SEC-06"
    both "a state belongs to its principal", [identify: &who/1], %{server: server} do
      ask = modern_call("ask", %{}, @capabilities)
      %{"result" => %{"requestState" => state}} = HttpClient.answer(server, as(ask, "ada"))
      assert %{"error" => %{"code" => -32602}} = HttpClient.answer(server, as(retry(state), "bob"))
      assert %{"result" => %{"resultType" => "complete"}} = HttpClient.answer(server, as(retry(state), "ada"))
    end

    both "what the client did not declare is not asked", %{server: server} do
      {response, [message]} = HttpClient.exchange(server, modern_call("ask"))
      assert response.status == 400
      assert %{"error" => %{"code" => -32021, "data" => data}} = message
      assert data == %{"requiredCapabilities" => %{"elicitation" => %{}}}
    end
  end
end
