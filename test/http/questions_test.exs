defmodule McpServer.HttpQuestionsTest do
  # Requests and notifications that a server sends to a session's client.
  use McpServer.HttpCase, async: true

  import McpServer.HttpRequests

  describe "input from the client" do
    @answer %{"action" => "accept", "content" => %{"name" => "Ada"}}

    both "is asked on the call's stream and answered by a POST", %{server: server} do
      session = HttpSession.open(server, "2025-11-25", capabilities: %{"elicitation" => %{}})
      {peer, %{body: :stream}} = HttpSession.open_stream(session, legacy_call("ask"))
      assert %{"method" => "elicitation/create", "id" => asked} = HttpClient.message(peer)
      reply = McpServer.JSON.encode!(%{"jsonrpc" => "2.0", "id" => asked, "result" => @answer})
      assert {%{status: 202, body: ""}, []} = HttpSession.exchange(session, in_session(reply))
      assert HttpClient.text(HttpClient.message(peer)) == "Hello, Ada! :asked"
      assert HttpClient.message(peer) == :end
    end

    both "is asked on the session's stream where the call has none", %{server: server} do
      session = HttpSession.open(server, "2025-11-25", capabilities: %{"elicitation" => %{}})
      stream = HttpSession.get(session)
      call = HttpSession.start(session, legacy_call("ask", %{}, headers: [{"accept", "application/json"}]))
      assert %{"method" => "elicitation/create", "id" => asked} = HttpClient.message(stream)
      reply = McpServer.JSON.encode!(%{"jsonrpc" => "2.0", "id" => asked, "result" => @answer})
      assert {%{status: 202, body: ""}, []} = HttpSession.exchange(session, in_session(reply))
      response = HttpPeer.response(call)
      assert HttpResponse.header(response, "content-type") == "application/json"
      assert [answer] = HttpClient.messages(call, response)
      assert HttpClient.text(answer) == "Hello, Ada! :asked"
    end

    both "is not asked again of a client that answers with an error", %{server: server} do
      session = HttpSession.open(server, "2025-11-25", capabilities: %{"elicitation" => %{}})
      {peer, %{body: :stream}} = HttpSession.open_stream(session, legacy_call("ask"))
      assert %{"method" => "elicitation/create", "id" => asked} = HttpClient.message(peer)
      error = %{"code" => -1, "message" => "User rejected the request"}
      reply = McpServer.JSON.encode!(%{"jsonrpc" => "2.0", "id" => asked, "error" => error})
      assert {%{status: 202, body: ""}, []} = HttpSession.exchange(session, in_session(reply))
      assert HttpClient.text(HttpClient.message(peer)) == "No name, no greeting"
      assert HttpClient.message(peer) == :end
    end

    both "is not asked of a client whose capability is no object", %{server: server} do
      for no <- [nil, true, "yes"] do
        session = HttpSession.open(server, "2025-11-25", capabilities: %{"elicitation" => no})
        {%{status: 200}, [answer]} = HttpSession.exchange(session, legacy_call("ask"))
        assert answer["result"]["isError"]
        assert HttpClient.text(answer) == "The client does not support elicitation, which this call needs"
      end
    end

    both "is not asked in a revision without it", %{server: server} do
      for revision <- ["2024-11-05", "2025-03-26"] do
        session = HttpSession.open(server, revision, capabilities: %{"elicitation" => %{}})
        {%{status: 200}, [answer]} = HttpSession.exchange(session, legacy_call("ask"))
        assert answer["result"]["isError"]
        assert HttpClient.text(answer) == "The client does not support elicitation, which this call needs"
      end
    end

    @tag req: "SEC-06"
    both "is not answered by another session", %{server: server} do
      [mine, other] = for _ <- 1..2, do: HttpSession.open(server, "2025-11-25", capabilities: %{"elicitation" => %{}})

      {peer, _response} = HttpSession.open_stream(mine, legacy_call("ask"))
      %{"id" => asked} = HttpClient.message(peer)

      reply =
        &McpServer.JSON.encode!(%{
          "jsonrpc" => "2.0",
          "id" => asked,
          "result" => put_in(@answer, ["content", "name"], &1)
        })

      assert {%{status: 202}, []} = HttpSession.exchange(other, in_session(reply.("Eve")))
      assert {%{status: 202}, []} = HttpSession.exchange(mine, in_session(reply.("Ada")))
      assert HttpClient.text(HttpClient.message(peer)) == "Hello, Ada! :asked"
    end

    both "that does not come in time ends the call", [limits: [input_timeout: 200]], %{server: server} do
      session = HttpSession.open(server, "2025-11-25", capabilities: %{"elicitation" => %{}})
      {peer, response} = HttpSession.open_stream(session, legacy_call("ask"))
      messages = HttpClient.messages(peer, response)
      assert %{"id" => 1, "result" => %{"isError" => true}} = List.last(messages)
    end
  end

  describe "changes" do
    both "reach the session's stream", %{server: server} do
      session = HttpSession.open(server)
      stream = HttpSession.get(session)
      assert HttpSession.status(session, legacy("resources/subscribe", %{"uri" => "http-test://fixed"})) == 200
      McpServer.Changes.resource_updated(McpServer.HttpRouter, "http-test://fixed")

      # Other tests of this router may publish at the same time: their messages are skipped.
      eventually(fn -> match?(%{"method" => "notifications/resources/updated"}, HttpClient.message(stream)) end)
    end
  end
end
