defmodule McpServer.HttpDisconnectTest do
  # Users who have lost access are disconnected: tokens, sessions and streams, on both servers. Not async: to disconnect a
  # user drops what other tests are verifying.
  use McpServer.HttpCase, async: false

  alias McpServer.HttpRouter
  alias McpServer.Test.Issuer

  @resource "http://localhost/mcp"
  @listen {"subscriptions/listen", %{"notifications" => %{"toolsListChanged" => true}}}

  setup %{kind: kind} do
    issuer = start_supervised!(Issuer)
    {:ok, banned} = Agent.start_link(fn -> [] end)

    principal = fn auth ->
      if auth.subject in Agent.get(banned, & &1), do: {:error, :forbidden}, else: {:ok, {auth.issuer, auth.subject}}
    end

    auth = [resource: @resource, issuer: Issuer.url(issuer), scopes: ["mcp:use"], principal: principal]
    server = HttpServers.start(kind, router: HttpRouter, auth: auth)
    ban = fn subjects -> Agent.update(banned, fn _before -> subjects end) end
    {:ok, issuer: issuer, server: server, ban: ban}
  end

  defp client(%{issuer: issuer, server: server}, subject) do
    token = Issuer.token(issuer, audience: @resource, scopes: ["mcp:use"], subject: subject)
    headers = [{"authorization", "Bearer " <> token}]
    session = HttpSession.open(server, "2025-11-25", headers: headers)
    stream = HttpSession.get(session)
    assert %{data: ""} = HttpPeer.event(stream)
    {method, params} = @listen
    {listening, %{status: 200}} = HttpClient.open(server, with_headers(modern(method, params), headers))
    assert %{"method" => "notifications/subscriptions/acknowledged"} = HttpClient.message(listening)
    %{headers: headers, session: session, stream: stream, listening: listening}
  end

  defp ask(%{server: server}, request, headers) do
    {response, messages} = HttpClient.exchange(server, with_headers(request, headers))
    {response.status, HttpResponse.header(response, "www-authenticate"), List.last(messages)}
  end

  # Nothing has come before, and the stream is open.
  defp next_is_news(peers, to) do
    McpServer.Changes.tools_changed(HttpRouter, to: to)
    for peer <- peers, do: assert(HttpClient.message(peer)["method"] == "notifications/tools/list_changed")
  end

  defp error(text), do: %{"jsonrpc" => "2.0", "error" => %{"code" => -32600, "message" => text}}

  @tag req: ["T38", "T39", "R17"]
  on_both "the principal's tokens are judged anew, its sessions and streams end, and no one else's do", context do
    [ada, bob] = for subject <- ["ada", "bob"], do: client(context, subject)
    call = modern_call("granted")
    context.ban.(["ada"])
    # Verified tokens stay valid until the principal is disconnected.
    assert {200, nil, _message} = ask(context, call, ada.headers)

    assert McpServer.disconnect({HttpRouter, principal: {Issuer.url(context.issuer), "ada"}}) == :ok
    assert %{"method" => "notifications/cancelled"} = HttpClient.message(ada.listening)
    assert %{"result" => %{"resultType" => "complete"}} = HttpClient.message(ada.listening)
    assert HttpClient.message(ada.listening) == :end
    assert HttpClient.message(ada.stream) == :end

    in_session = of_session(legacy_call("granted"), ada.session.id)

    challenge = ~s(Bearer resource_metadata="http://localhost/.well-known/oauth-protected-resource/mcp")

    for request <- [call, in_session, initialize()],
        do: assert(ask(context, request, ada.headers) == {403, challenge, error("Forbidden")})

    # A user who gets access again starts with a new session.
    context.ban.([])
    assert {200, nil, _message} = ask(context, call, ada.headers)
    assert ask(context, in_session, ada.headers) == {404, nil, error("Session not found")}

    assert {200, nil, _message} = ask(context, call, bob.headers)
    assert HttpClient.text(HttpSession.call(bob.session, "granted")) =~ ~s("bob")
    next_is_news([bob.stream, bob.listening], principal: {Issuer.url(context.issuer), "bob"})
  end

  @tag req: "T39"
  on_both "a token that is being verified meanwhile is not remembered", %{kind: kind, issuer: issuer} do
    {:ok, answers} = Agent.start_link(fn -> [:ok, :forbidden] end)

    principal = fn auth ->
      principal = {auth.issuer, auth.subject}
      :ok = McpServer.disconnect({HttpRouter, principal: principal})

      case Agent.get_and_update(answers, fn [answer | left] -> {answer, left} end) do
        :ok -> {:ok, principal}
        :forbidden -> {:error, :forbidden}
      end
    end

    auth = [resource: @resource, issuer: Issuer.url(issuer), principal: principal]
    server = HttpServers.start(kind, router: HttpRouter, auth: auth)
    headers = [{"authorization", "Bearer " <> Issuer.token(issuer, audience: @resource)}]
    statuses = for _ <- 1..2, do: %{server: server} |> ask(modern_call("granted"), headers) |> elem(0)
    assert statuses == [200, 403]
  end

  on_both "one session ends, and the principal's others go on", context do
    ada = client(context, "ada")
    other = HttpSession.open(context.server, "2025-11-25", headers: ada.headers)
    assert McpServer.disconnect({HttpRouter, session: ada.session.id}) == :ok
    assert HttpClient.message(ada.stream) == :end
    gone = fn -> ask(context, of_session(legacy("ping"), ada.session.id), ada.headers) end
    eventually(fn -> gone.() == {404, nil, error("Session not found")} end)
    assert HttpClient.text(HttpSession.call(other, "granted")) =~ ~s("ada")
    next_is_news([ada.listening], principal: {Issuer.url(context.issuer), "ada"})
  end

  @tag kind: :listener
  test "nobody is no one to be let go" do
    assert McpServer.disconnect({HttpRouter, principal: nil}) ==
             {:error, "a principal is not nil: clients without one are nobody's"}

    assert {:error, "a scope is a router" <> _text} = McpServer.disconnect("ada")
  end
end
