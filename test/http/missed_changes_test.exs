defmodule McpServer.HttpMissedChangesTest.Router do
  @moduledoc false
  use McpServer.Router, name: "missed"

  tool "echo", "Gives the text back", McpServer.Handlers, :echo

  resource "row", "rows://{id}" do
    read McpServer.Handlers, :echo
  end
end

defmodule McpServer.HttpMissedChangesTest do
  # A client that does not read holds up the process of its stream. The changes that wait there are bounded, and none is
  # lost: the client is told of everything that it has subscribed to.
  use McpServer.HttpCase, async: false

  alias McpServer.Changes
  alias McpServer.HttpMissedChangesTest.Router

  @many 3_000

  # As a write does that its client does not read.
  defp held_up(fun) do
    [pid] = Changes.listeners_here(Router)
    true = :erlang.suspend_process(pid)
    fun.(pid)
    true = :erlang.resume_process(pid)
  end

  # The changes that wait.
  defp changes(pid), do: for({:mcp_change, change} <- waiting(pid), do: change)

  defp waiting(pid), do: pid |> Process.info(:messages) |> elem(1)

  # A thousand messages may wait, and one for all further changes. Those of its socket and its timers count, too.
  defp assert_bounded(pid) do
    changes = changes(pid)
    assert Enum.count(changes, &(&1 == :all)) == 1
    assert length(changes) <= 1_001
    assert length(waiting(pid)) >= 1_001
  end

  defp uris(messages), do: for(%{"params" => %{"uri" => uri}} <- messages, do: uri)

  # Earlier, each of them was sent, until the stream was cut.
  defmodule Unheard do
    @moduledoc false
    use McpServer.Router, name: "unheard"
    tool "echo", "Gives the text back", McpServer.Handlers, :echo
  end

  # Earlier, the session ended, and its client got 404.
  test "a session opens while the process that tells other nodes is late" do
    :sys.suspend(Changes.Hub)
    on_exit(fn -> :sys.resume(Changes.Hub) end)
    session = HttpSession.open(HttpServers.start(:listener, router: Unheard))
    own = HttpSession.get(session)
    assert %{data: ""} = HttpPeer.event(own)
    :ok = Changes.tools_changed(Unheard)
    assert %{"method" => "notifications/tools/list_changed"} = HttpClient.message(own)
  end

  test "in a session whose client does not read: one notification tells of all" do
    server = HttpServers.start(:listener, router: Router)
    session = HttpSession.open(server)
    uri = "rows://" <> String.duplicate("1", 2_000)
    for uri <- [uri, "rows://last"], do: HttpSession.answer(session, legacy("resources/subscribe", %{"uri" => uri}))
    get = of_session(get_stream(), session.id)
    {peer, %{status: 200}} = HttpClient.open(server, get, HttpPeer.small_window(2_048))
    {pid, _in_flight} = HttpSession.process(session.id)

    for _ <- 1..@many do
      Changes.resource_updated(Router, uri)
      :sys.get_state(pid)
    end

    Changes.resource_updated(Router, "rows://last")
    told = Stream.repeatedly(fn -> HttpClient.message(peer) end) |> Enum.take_while(&(uris([&1]) != ["rows://last"]))
    assert length(told) in 1..div(@many, 3)
  end

  test "on a stream without a session" do
    server = HttpServers.start(:listener, router: Router)
    wanted = %{"toolsListChanged" => true, "resourceSubscriptions" => ["rows://1", "rows://2"]}
    {peer, %{status: 200}} = HttpClient.open(server, modern("subscriptions/listen", %{"notifications" => wanted}))
    assert %{"method" => "notifications/subscriptions/acknowledged"} = HttpClient.message(peer)

    held_up(fn pid ->
      for n <- 1..@many, do: Changes.resource_updated(Router, "rows://#{n}")
      for _ <- 1..@many, do: Changes.resource_updated(Router, "rows://2")
      assert_bounded(pid)
    end)

    told = for _ <- 1..3, do: HttpClient.message(peer)
    assert hd(told)["method"] == "notifications/tools/list_changed"
    assert uris(told) == ["rows://1", "rows://2"]
    # What changes later is told as ever.
    Changes.resource_updated(Router, "rows://1")
    assert uris([HttpClient.message(peer)]) == ["rows://1"]
    assert :ets.tab2list(Changes.Missed) == []
  end

  test "in a session" do
    server = HttpServers.start(:listener, router: Router)
    session = HttpSession.open(server)
    stream = HttpSession.get(session)

    for id <- 1..2,
        do: HttpSession.status(session, legacy("resources/subscribe", %{"uri" => "rows://#{id}"}, id: "s#{id}"))

    held_up(fn pid ->
      for n <- 1..@many, do: Changes.resource_updated(Router, "rows://#{1 + rem(n, 2)}")
      assert_bounded(pid)
    end)

    # A session hears of all lists.
    told = for _ <- 1..5, do: HttpClient.message(stream)

    assert for(list <- ~w(prompts resources tools), do: "notifications/#{list}/list_changed") ==
             Enum.map(Enum.take(told, 3), & &1["method"])

    assert uris(told) == ["rows://1", "rows://2"]
    Changes.resource_updated(Router, "rows://2")
    assert uris([HttpClient.message(stream)]) == ["rows://2"]
  end

  # Earlier, each change woke all sessions of the router: 48 ms of a processor with 10,000 of them.
  test "a session is not woken by resources that it has not subscribed to, nor by what is for another" do
    server = HttpServers.start(:listener, router: Router)
    session = HttpSession.open(server)
    subscribe = fn verb, id -> legacy("resources/" <> verb, %{"uri" => "rows://1"}, id: id) end
    assert HttpSession.status(session, subscribe.("subscribe", "s1")) == 200

    held_up(fn pid ->
      for n <- 2..9, do: Changes.resource_updated(Router, "rows://#{n}")
      Changes.tools_changed(Router, to: [session: "another"])
      Changes.tools_changed(Router, to: [principal: "another"])
      assert changes(pid) == []
      Changes.tools_changed(Router, to: [session: session.id])
      Changes.resource_updated(Router, "rows://1")
      assert changes(pid) == [{:resource, "rows://1"}]
      assert for({:mcp_change, change, _recipient} <- waiting(pid), do: change) == [:tools]
    end)

    assert HttpSession.status(session, subscribe.("unsubscribe", "u1")) == 200

    held_up(fn pid ->
      Changes.resource_updated(Router, "rows://1")
      assert changes(pid) == []
    end)

    HttpSession.delete(session)
    eventually(fn -> streams() == {[], []} end)
  end

  # Earlier, each change woke all listeners of the router.
  test "a stream is not woken by what it does not want" do
    server = HttpServers.start(:listener, router: Router)
    wanted = %{"resourceSubscriptions" => ["rows://1"]}
    {peer, %{status: 200}} = HttpClient.open(server, modern("subscriptions/listen", %{"notifications" => wanted}))
    HttpClient.message(peer)

    held_up(fn pid ->
      for n <- 2..9, do: Changes.resource_updated(Router, "rows://#{n}")
      Changes.tools_changed(Router)
      assert changes(pid) == []
      Changes.resource_updated(Router, "rows://1")
      assert changes(pid) == [{:resource, "rows://1"}]
    end)

    assert uris([HttpClient.message(peer)]) == ["rows://1"]
    HttpPeer.close(peer)
    eventually(fn -> Changes.listeners_here(Router) == [] end)
    assert streams() == {[], []}
  end

  defp streams do
    of_router = :ets.match(Changes.Streams, {{{Router, :"$1"}, :_}})
    {of_router, :ets.match(Changes.Wanted, {{:_, {Router, :"$1"}}})}
  end

  # Earlier, the next stream of the same connection was told of nothing that came while it was busy.
  test "a stream that ends takes along that it has missed changes" do
    test = self()
    row = {:resource, "rows://1"}

    pid =
      spawn_link(fn ->
        :ok = Changes.listen(Router, [row])
        send(test, :listens)
        receive do: (:unlisten -> Changes.unlisten())
        send(test, {:left, :ets.member(Changes.Missed, self())})
      end)

    assert_receive :listens
    true = :erlang.suspend_process(pid)
    for _ <- 1..@many, do: Changes.resource_updated(Router, "rows://1")
    assert :ets.member(Changes.Missed, pid)
    true = :erlang.resume_process(pid)
    send(pid, :unlisten)
    assert_receive {:left, false}
  end

  test "an ended process is forgotten" do
    server = HttpServers.start(:listener, router: Router)
    wanted = %{"resourceSubscriptions" => ["rows://1"]}

    for _ <- 1..2 do
      {peer, %{status: 200}} = HttpClient.open(server, modern("subscriptions/listen", %{"notifications" => wanted}))
      HttpClient.message(peer)

      [pid] = Changes.listeners_here(Router)
      true = :erlang.suspend_process(pid)
      for _ <- 1..@many, do: Changes.resource_updated(Router, "rows://1")
      Process.exit(pid, :kill)
      eventually(fn -> Changes.listeners_here(Router) == [] end)
      assert [{^pid}] = :ets.tab2list(Changes.Missed)
      eventually(fn -> streams() == {[], []} end)
    end
  end
end
