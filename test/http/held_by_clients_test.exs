defmodule McpServer.HttpHeldByClientsTest do
  # A client that holds as much as it can of everything: whatever grows in the server's VM has a kind in the table of the
  # quota, or hangs on something that has one. A new table, process or queue that no kind counts fails here.
  use McpServer.HttpCase, async: true

  import McpServer.HttpRequests

  alias McpServer.{Census, HttpVm, JSON, RestServers}
  alias McpServer.Census.Servers
  alias McpServer.Quota.Kinds
  alias McpServer.Test.{Issuer, Proof}

  @moduletag :capture_log
  @clients 12
  @secret String.duplicate("census secret ", 3)

  # What grows, and the kinds that count it. Some things belong to a process or a row that has the kind.
  @counted %{
    {:table, McpServer.Quota} => Keyword.keys(Kinds.all()),
    {:table, McpServer.Quota.Keeper} => [:connections, :sessions],
    {:table, McpServer.Http.Sessions} => [:sessions],
    {:table, McpServer.Connection.InFlight} => [:calls, :sessions],
    {:table, McpServer.Dispatch.ToolPlaces} => [:tool_calls],
    {:table, McpServer.Dispatch.ToolPlaces.Holders} => [:calls],
    {:table, McpServer.SessionStore.ETS} => [:session_value_bytes],
    {:table, McpServer.SessionStore.ETS.Order} => [:session_value_bytes],
    {:table, McpServer.Http.Session.Tombstones} => [:ended_sessions],
    {:table, McpServer.Http.Session.Tombstones.Open} => [:sessions],
    {:table, McpServer.Quota.Ledger} => [:ended_sessions],
    {:table, McpServer.Tasks.Server} => [:tasks],
    {:table, McpServer.RateLimit} => [:rate_limit_buckets],
    {:table, McpServer.RateLimit.Answers} => [:rate_limit_marks],
    {:table, McpServer.DualResponse.Store.ETS} => [:results, :result_bytes],
    {:table, McpServer.DualResponse.Rest.Pages} => [:page_bytes],
    {:table, McpServer.Auth.Cache} => [:tokens],
    {:table, McpServer.Auth.Tenants} => [:tenants],
    {:table, McpServer.Changes.Streams} => [:sessions, :streams, :subscription_bytes],
    {:table, McpServer.Changes.Wanted} => [:sessions, :streams, :subscription_bytes],
    {:table, McpServer.Once} => [:proofs, :consents],
    {:process, McpServer.HttpServer.Acceptor} => [:connections],
    {:process, McpServer.Connection} => [:sessions],
    {:process, McpServer.Call} => [:calls],
    {:process, McpServer.Tasks.Runner} => [:tasks],
    {:process, McpServer.Http.Hook} => [:hooks],
    {:process, McpServer.DualResponse.Rest.Stream} => [:requests],
    {:process, McpServer.Auth.Introspector} => [:introspections],
    {:state, McpServer.Auth.Introspector} => [:introspections],
    {:state, McpServer.Auth.Tenants.Places} => [:tenants],
    {:state, McpServer.HttpServer} => [:connections],
    {:state, McpServer.Http.Sessions} => [:sessions],
    {:state, McpServer.Tasks.Server} => [:tasks],
    {:state, McpServer.DualResponse.Rest.Dispatcher} => [:requests],
    {:port, "tcp_inet"} => [:connections]
  }

  test "everything that grows with them is counted by a kind" do
    issuer = start_supervised!(Issuer)
    vm = HttpVm.start(secret: @secret)
    {open, protected} = HttpVm.call(vm, Servers, :start, [Issuer.url(issuer)])
    [server, protected] = for port <- [open, protected], do: %HttpServers{kind: :listener, port: port}

    # Afterwards all code is loaded, and each table has the rows that it always has.
    hold(server, protected, issuer, 0)
    assert HttpPeer.response(introspected(protected, issuer, 0)).status == 200
    before = census(vm)

    for n <- 1..@clients, do: hold(server, protected, issuer, n)
    Issuer.stall(issuer)
    for n <- 1..@clients, do: introspected(protected, issuer, n)

    # The bytes of the last clients are on their way.
    expected = MapSet.new(Map.keys(@counted))
    grown = fn -> before |> Census.grown(census(vm), div(@clients, 2)) |> MapSet.new(&elem(&1, 0)) end
    eventually(fn -> MapSet.subset?(expected, grown.()) end)
    assert MapSet.to_list(MapSet.difference(grown.(), expected)) == []
  end

  test "the kinds are in the table" do
    for {_what, kinds} <- @counted, kind <- kinds, do: assert(Keyword.has_key?(Kinds.all(), kind))
  end

  test "a table, a process, a queue and a state that grow are seen" do
    vm = HttpVm.start()
    before = census(vm)
    HttpVm.call(vm, Census, :grow, [@clients])
    seen = for {what, _more} <- Census.grown(before, census(vm), @clients), do: what
    assert {:table, Census} in seen
    assert {:process, Census} in seen
    assert {:unread, Census} in seen
    assert {:state, Census.Hoard} in seen
  end

  defp census(vm), do: HttpVm.call(vm, Census, :take, [])

  defp hold(server, protected, issuer, n) do
    name = "client #{n}"
    with_session(server, name)
    without_session(server, name)
    stored(server, name)
    before_identity(server)
    with_token(protected, issuer, name)
    naming(protected, n)
  end

  defp bearer(name), do: [{"authorization", "Bearer #{name}"}]

  defp with_session(server, name) do
    capabilities = %{"elicitation" => %{}}
    open = fn -> HttpSession.open(server, "2025-11-25", headers: bearer(name), capabilities: capabilities) end
    session = open.()
    _stream = HttpSession.get(session)
    assert %{"result" => _} = HttpSession.answer(session, legacy("resources/subscribe", %{"uri" => "census://rows/1"}))
    assert HttpClient.text(HttpSession.call(session, "remember")) == ":ok"

    assert %{"result" => %{"task" => _}} =
             HttpSession.answer(session, legacy("tools/call", %{"name" => "wait", "arguments" => %{}, "task" => %{}}))

    _waits = HttpSession.start(session, legacy_call("wait", %{}, id: "waits"))
    params = %{"name" => "tell", "arguments" => %{}, "_meta" => %{"progressToken" => 1}}

    for request <- [legacy("tools/call", params, id: "tells"), legacy_call("ask", %{}, id: "asks")] do
      {peer, %{status: 200, body: :stream}} = HttpSession.open_stream(session, request)
      assert %{"method" => _method} = HttpClient.message(peer)
    end

    assert HttpSession.delete(open.()).status == 204
  end

  defp without_session(server, name) do
    listen = modern("subscriptions/listen", %{"notifications" => %{"resourceSubscriptions" => ["census://rows/1"]}})
    {_peer, %{status: 200}} = HttpClient.open(server, as(listen, name))
    {_peer, %{status: 200, body: :stream}} = HttpClient.open(server, as(modern_call("wait"), name))
    capable = [capabilities: %{"elicitation" => %{}}]
    asks = as(modern_call("confirm", %{}, capable), name)
    # One question is answered, and one stays open.
    [state, _open] = for _n <- 1..2, do: HttpClient.answer(server, asks)["result"]["requestState"]
    agrees = %{"requestState" => state, "inputResponses" => %{"confirm" => %{"action" => "accept", "content" => %{}}}}
    params = Map.merge(%{"name" => "confirm", "arguments" => %{}}, agrees)
    assert HttpClient.text(HttpClient.answer(server, as(modern("tools/call", params, capable), name))) == "done"
  end

  defp stored(server, name) do
    id = HttpClient.text(HttpClient.answer(server, as(modern_call("find"), name)))
    assert RestServers.ask(server, "POST", "/resources/" <> id, headers: bearer(name)).status == 200
    peer = HttpPeer.connect(server.port, recbuf: 4_096)

    request =
      RestServers.request("POST", "/resources/" <> id, headers: [{"accept", "application/x-ndjson"} | bearer(name)])

    HttpPeer.send_request(peer, request)
  end

  defp before_identity(server) do
    _idle = HttpPeer.connect(server.port)
    _hook = HttpClient.start(server, as(modern("tools/list"), "waits"))
    sends = HttpPeer.connect(server.port)
    HttpPeer.write(sends, ["POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"])
    HttpPeer.write(sends, "accept: application/json, text/event-stream\r\ncontent-length: 100000\r\n\r\n")
    HttpPeer.write(sends, String.duplicate(" ", 50_000))
  end

  defp with_token(server, issuer, name) do
    key = Proof.key()
    token = Issuer.token(issuer, subject: name, audience: Servers.resource(), key: key)
    headers = [{"authorization", "DPoP " <> token}, {"dpop", Proof.new(key, "POST", Servers.resource(), token)}]
    assert {%{status: 200}, _list} = HttpClient.exchange(server, with_headers(modern("tools/list"), headers))
  end

  # A token without a signature names a tenant.
  defp naming(server, n) do
    parts = [JSON.encode!(%{"alg" => "ES256"}), JSON.encode!(%{"iss" => "http://localhost:9/#{n}"}), <<0::512>>]
    token = Enum.map_join(parts, ".", &Base.url_encode64(&1, padding: false))
    assert {%{status: 401}, _list} = HttpClient.exchange(server, as(modern("tools/list"), token))
  end

  defp introspected(server, issuer, n) do
    token = Issuer.opaque_token(issuer, subject: "client #{n}", audience: Servers.resource())
    HttpClient.start(server, as(modern("tools/list"), token))
  end
end
