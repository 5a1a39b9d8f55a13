defmodule McpServer.Http.SubscriptionBudgetTest do
  # The total size of the URIs that all clients of a server are subscribed to. A stream may have 1,000 URIs of 8 KiB,
  # and a server 20,000 streams for each scheduler. Earlier, their total was unbounded.
  use McpServer.HttpCase, async: true

  alias McpServer.Http.Sessions

  @uris "resourceSubscriptions"
  @refused %{"code" => -32600, "message" => "Invalid request: too many subscriptions"}

  # This number of URIs, each of which counts as 600 bytes.
  defp uris(count, tag), do: for(n <- 1..count, do: String.pad_trailing("http-test://rows/#{tag}-#{n}-", 88, "x"))

  defp listen(server, uris, principal \\ nil) do
    request = modern("subscriptions/listen", %{"notifications" => %{@uris => uris}})
    request = if principal, do: as(request, principal), else: request

    case HttpClient.open(server, request) do
      {peer, %{status: 200, body: :stream}} ->
        assert HttpClient.message(peer)["params"]["notifications"] == %{@uris => uris}
        {:ok, peer}

      {peer, %{status: 429} = response} ->
        [%{"error" => error}] = HttpClient.messages(peer, response)
        HttpPeer.close(peer)
        {:refused, error}
    end
  end

  defp subscribe(session, uri), do: HttpSession.exchange(session, legacy("resources/subscribe", %{"uri" => uri}))
  defp found({:ok, peer}), do: peer
  defp found({:refused, _error}), do: nil

  # A plug notices at its next keep-alive that its client is gone.
  both "streams share it, up to the last byte, and give it back",
       [limits: [max_subscription_bytes: 3_000], http: [keep_alive: 100]],
       %{server: server} do
    {:ok, first} = listen(server, uris(3, "a"))
    assert listen(server, uris(3, "b")) == {:refused, @refused}
    {:ok, second} = listen(server, uris(2, "c"))
    assert listen(server, uris(1, "d")) == {:refused, @refused}
    {:ok, _lists} = listen_to_lists(server)
    HttpPeer.cut(first)
    third = eventually(fn -> found(listen(server, uris(3, "e"))) end)
    assert listen(server, uris(1, "f")) == {:refused, @refused}
    for peer <- [second, third], do: HttpPeer.cut(peer)
    assert eventually(fn -> found(listen(server, uris(5, "g"))) end)
  end

  defp listen_to_lists(server) do
    request = modern("subscriptions/listen", %{"notifications" => %{"toolsListChanged" => true}})
    {peer, %{status: 200, body: :stream}} = HttpClient.open(server, request)
    {:ok, peer}
  end

  both "sessions have their part of it", [limits: [max_subscription_bytes: 3_001]], %{server: server} do
    session = HttpSession.open(server)
    [one, two, three | _] = uris(4, "s")
    for uri <- [one, two, two, one], do: assert({%{status: 200}, [%{"result" => _}]} = subscribe(session, uri))
    {:ok, stream} = listen(server, uris(3, "t"))
    assert {%{status: 429}, [%{"error" => @refused}]} = subscribe(session, three)
    assert {%{status: 200}, [%{"result" => _}]} = subscribe(session, one)

    assert {%{status: 200}, _} = HttpSession.exchange(session, legacy("resources/unsubscribe", %{"uri" => one}))
    assert {%{status: 200}, _} = HttpSession.exchange(session, legacy("resources/unsubscribe", %{"uri" => one}))
    assert {%{status: 200}, [%{"result" => _}]} = subscribe(session, three)
    assert {%{status: 429}, _} = subscribe(session, one)

    pid = :ets.lookup_element(Sessions, session.id, 2)
    Process.exit(pid, :kill)
    assert eventually(fn -> found(listen(server, uris(2, "u"))) end)
    assert listen(server, uris(1, "v")) == {:refused, @refused}
    HttpPeer.close(stream)
  end

  both "one principal has a quarter of it at most",
       [limits: [max_subscription_bytes: 12_000], identify: &who/1],
       %{server: server} do
    session = HttpSession.open(server, "2025-11-25", headers: [{"authorization", "Bearer ada"}])
    assert {%{status: 200}, [%{"result" => _}]} = subscribe(session, hd(uris(1, "s")))
    {:ok, _ada} = listen(server, uris(4, "a"), "ada")
    assert {%{status: 429}, [%{"error" => @refused}]} = subscribe(session, hd(uris(1, "t")))
    assert listen(server, uris(1, "b"), "ada") == {:refused, @refused}
    assert {:ok, _bob} = listen(server, uris(5, "c"), "bob")
  end

  both "URIs are counted before they are read", [limits: [max_subscriptions: 3]], %{server: server} do
    # The fourth URI is not a string. URIs are counted before their types are checked.
    request = modern("subscriptions/listen", %{"notifications" => %{@uris => uris(3, "a") ++ [4]}})
    {response, [%{"error" => error}]} = HttpClient.exchange(server, request)
    assert {response.status, error} == {429, @refused}
    assert {:ok, _peer} = listen(server, uris(3, "a"))
  end
end
