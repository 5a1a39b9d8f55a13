defmodule McpServer.HttpPlacesTest do
  # The places of a server for calls: those of sessions and those without one are counted together, for each client too.
  use McpServer.HttpCase, async: true

  import McpServer.HttpRequests

  alias McpServer.Http.Sessions
  alias McpServer.Quota

  @asking %{"elicitation" => %{}}

  defmodule Long do
    @moduledoc false
    use McpServer.Router, name: "long", lint: false
    tool "long", String.duplicate("d", 16_000_000), McpServer.Handlers, :echo
  end

  defmodule Medium do
    @moduledoc false
    use McpServer.Router, name: "medium", lint: false
    tool "medium", String.duplicate("d", 400_000), McpServer.Handlers, :echo
  end

  # `http: [max_calls: 1]` is one place for each scheduler.
  @most System.schedulers_online()

  # Starts a call that runs until the script ends it.
  defp start(server, name, session, id, options \\ []) do
    request = in_era(session, "perform", HttpScript.arguments(id), id) |> as(name)
    peer = HttpClient.start(server, request, options)
    {call, _conn} = HttpScript.performing(id)
    {peer, call}
  end

  defp echo(server, name, session, id) do
    {response, _messages} = HttpClient.exchange(server, in_era(session, "echo", %{"text" => "x"}, id) |> as(name))
    response
  end

  defp in_era(nil, tool, arguments, id), do: modern_call(tool, arguments, id: id)
  defp in_era(session, tool, arguments, id), do: HttpSession.of(session, legacy_call(tool, arguments, id: id))

  defp session(server, name), do: HttpSession.open(server, "2025-11-25", headers: [{"authorization", "Bearer #{name}"}])

  defp finish({peer, call}) do
    HttpScript.tell(call, {:answer, "done"})
    HttpClient.messages(peer, HttpPeer.response(peer))
  end

  # A place is free some time after its answer has arrived.
  defp running(server, count), do: eventually(fn -> HttpServers.stats(server).calls == count end)

  both "with and without a session are counted together", [http: [max_calls: 1]], %{server: server} do
    sessions = for _ <- 1..@most, do: session(server, "nobody")
    calls = for {session, id} <- Enum.with_index(sessions), do: start(server, "nobody", session, id)
    another = session(server, "nobody")

    assert %{status: 503} = response = echo(server, "nobody", nil, 99)
    assert String.to_integer(HttpResponse.header(response, "retry-after")) > 0
    assert %{status: 429} = response = echo(server, "nobody", another, 99)
    assert String.to_integer(HttpResponse.header(response, "retry-after")) > 0

    finish(hd(calls))
    running(server, @most - 1)
    alone = start(server, "nobody", nil, "alone")
    assert echo(server, "nobody", another, 99).status == 429
    Enum.each([alone | tl(calls)], &finish/1)
    running(server, 0)
    assert echo(server, "nobody", another, 99).status == 200
  end

  both "are given back when a session with calls is killed, and when its client ends it", [http: [max_calls: 1]], %{
    server: server
  } do
    for end_session <- [
          &Process.exit(:ets.lookup_element(Sessions, &1.id, 2), :kill),
          &assert(HttpSession.delete(&1).status == 204)
        ] do
      session = session(server, "nobody")
      calls = for id <- 1..@most, do: start(server, "nobody", session, id)
      assert echo(server, "nobody", nil, 99).status == 503
      end_session.(session)
      for {_peer, call} <- calls, do: HttpScript.gone(call)
      running(server, 0)
      more = for id <- 1..@most, do: start(server, "nobody", nil, id)
      assert echo(server, "nobody", nil, 99).status == 503
      Enum.each(more, &finish/1)
      running(server, 0)
    end
  end

  # The session keeps the call and its answer for a client that comes back.
  both "are kept by a call whose client has disconnected", [http: [max_calls: 1, stream_after: 50]], %{server: server} do
    session = session(server, "nobody")
    calls = for id <- 1..@most, do: start(server, "nobody", session, id)
    for {peer, _call} <- calls, do: assert(%{status: 200, body: :stream} = HttpPeer.response(peer))
    for {peer, _call} <- calls, do: HttpPeer.close(peer)
    assert echo(server, "nobody", nil, 99).status == 503
    for {_peer, call} <- calls, do: HttpScript.tell(call, {:answer, "done"})
    running(server, 0)
    assert echo(server, "nobody", nil, 99).status == 200
  end

  both "one client has a share of, in all its sessions",
       [
         identify: &who/1,
         http: [max_calls: 4, max_share: 25]
       ],
       %{server: server} do
    [one, other] = for _ <- 1..2, do: session(server, "eve")
    calls = for id <- 1..@most, do: start(server, "eve", if(id == 1, do: other, else: one), id)
    assert echo(server, "eve", other, 99).status == 429
    assert echo(server, "eve", nil, 99).status == 503
    assert echo(server, "ada", nil, 99).status == 200
    assert echo(server, "ada", session(server, "ada"), 99).status == 200
    Enum.each(calls, &finish/1)

    for session <- [one, other, nil] do
      running(server, 0)
      assert echo(server, "eve", session, 99).status == 200
    end
  end

  # More than the buffers of both sockets hold.
  @long String.duplicate("l", 16 * 1024 * 1024)
  @slow [recbuf: 4_096]
  @unread "Too many long answers of earlier requests are unread"

  # Each of these clients may leave 24 MiB unread. Some web servers take an answer at once.
  defp reading_slowly(more \\ []) do
    HttpServers.start(:listener, identify: &who/1, http: [max_answer_bytes: 96 * 1024 * 1024, max_share: 25] ++ more)
  end

  # Earlier, 150 answers of 4 MB waited, with four places for calls.
  test "no client has that leaves too much of its answers unread" do
    server = reading_slowly()

    for session <- [nil, session(server, "eve")] do
      first = unread(server, session, 1)
      eventually(fn -> HttpServers.stats(server).answer_bytes > 16_000_000 end)
      assert echo(server, "eve", session, 99).status == 200
      second = unread(server, session, 2)
      eventually(fn -> HttpServers.stats(server).answer_bytes > 32_000_000 end)
      refused = echo(server, "eve", session, 99)
      assert refused.status == if(session, do: 429, else: 503)
      assert String.to_integer(HttpResponse.header(refused, "retry-after")) > 0
      # A client that has left nothing unread is served, whatever others have.
      assert echo(server, "ada", nil, 99).status == 200
      for peer <- [first, second], do: assert(%{status: 200} = HttpPeer.response(peer))
      eventually(fn -> HttpServers.stats(server).answer_bytes == 0 end)
      assert echo(server, "eve", session, 99).status == 200
    end
  end

  # A long answer that nobody reads.
  defp unread(server, session, id) do
    {peer, call} = start(server, "eve", session, id, @slow)
    HttpScript.tell(call, {:answer, @long})
    HttpScript.gone(call)
    peer
  end

  test "no client has that leaves too much of its streams unread" do
    server = reading_slowly(stream_after: 50)
    session = session(server, "eve")
    unread = for id <- 1..2, do: start(server, "eve", session, id, @slow)
    for {peer, _call} <- unread, do: assert(%{status: 200, body: :stream} = HttpPeer.response(peer))
    for {_peer, call} <- unread, do: HttpScript.tell(call, {:answer, @long})
    eventually(fn -> HttpServers.stats(server).answer_bytes > 32_000_000 end)
    assert echo(server, "eve", session, 99).status == 429
    # Nor may it ask for events again.
    get = get_stream([{"authorization", "Bearer eve"}]) |> of_session(session.id)
    {peer, refused} = HttpClient.open(server, get)
    assert refused.status == 503
    HttpPeer.close(peer)
    for {peer, _call} <- unread, do: assert(String.length(long_event(peer)) > 16_000_000)
    eventually(fn -> HttpServers.stats(server).answer_bytes == 0 end)
    assert echo(server, "eve", session, 99).status == 200
  end

  # Earlier, what they had sent counted for nobody as soon as they left.
  test "are kept by clients that leave before their session has taken what they sent" do
    server = HttpServers.start(:listener, identify: &who/1)
    session = session(server, "eve")
    {pid, _in_flight} = HttpSession.process(session.id)
    :sys.suspend(pid)
    notification = legacy("notifications/progress", %{"progressToken" => String.duplicate("x", 100_000)}, id: nil)

    waiting = fn -> pid |> Process.info(:message_queue_len) |> elem(1) end

    # The request of each, and that its client has left: a request whose client leaves before it is read is dropped.
    for n <- 1..10 do
      peer = HttpClient.start(server, HttpSession.of(session, notification) |> as("eve"))
      eventually(fn -> waiting.() >= 2 * n - 1 end)
      HttpPeer.close(peer)
      eventually(fn -> waiting.() >= 2 * n end)
    end

    eventually(fn -> HttpServers.stats(server).connections == 10 end)
    assert HttpServers.stats(server).body_bytes > 1_000_000
    :sys.resume(pid)
    eventually(fn -> match?(%{connections: 0, body_bytes: 0}, HttpServers.stats(server)) end)
  end

  # Earlier, each of them was sent: what had been asked for before had not counted yet.
  test "no client has that asks for the same missed events many times at once" do
    http = [max_answer_bytes: 8 * 1024 * 1024, max_share: 25, stream_after: 50]
    server = HttpServers.start(:listener, identify: &who/1, http: http)
    session = session(server, "eve")
    {peer, call} = start(server, "eve", session, 1)
    assert %{status: 200, body: :stream} = HttpPeer.response(peer)
    %{id: first} = HttpPeer.event(peer)
    HttpScript.tell(call, {:answer, String.duplicate("l", 900_000)})
    HttpScript.gone(call)
    assert String.length(long_event(peer)) > 900_000

    {pid, _in_flight} = HttpSession.process(session.id)
    :erlang.suspend_process(pid)
    get = [{"authorization", "Bearer eve"}, {"last-event-id", first}] |> get_stream() |> of_session(session.id)
    peers = for _ <- 1..40, do: HttpClient.start(server, get, HttpPeer.small_window(2_048))
    eventually(fn -> Process.info(pid, :message_queue_len) |> elem(1) >= 40 end)
    :erlang.resume_process(pid)

    # Two and a bit fit into the share of 2 MiB, and each scheduler may let in one more.
    statuses = for peer <- peers, do: HttpPeer.response(peer).status
    assert Enum.count(statuses, &(&1 == 200)) in 3..(3 + @most)
    assert Enum.uniq(Enum.sort(statuses)) == [200, 503]
    Enum.each(peers, &HttpPeer.close/1)
    eventually(fn -> HttpServers.stats(server).answer_bytes == 0 end)
  end

  # Earlier, an answer behind bytes that nobody read counted nowhere: its own write had not begun.
  test "no client has that leaves an answer behind other messages unread" do
    server = reading_slowly()
    session = session(server, "eve")
    {peer, call} = start(server, "eve", session, 1, HttpPeer.small_window(2_048))
    # Less than 64 KiB, which the process of the request writes at once, and waits.
    for _ <- 1..2, do: HttpScript.tell(call, {:log, :warning, String.duplicate("x", 40_000)})
    HttpScript.tell(call, {:answer, @long})
    HttpScript.gone(call)
    eventually(fn -> HttpServers.stats(server).answer_bytes > 16_000_000 end)
    HttpPeer.close(peer)
    eventually(fn -> HttpServers.stats(server).answer_bytes == 0 end)
  end

  # Earlier, the last 256 KiB of an answer were counted until the driver of the socket had them.
  # Earlier, one client had 480 answers of 5 MB: all calls were admitted before an answer counted.
  test "no client has that leaves the answers of calls unread that began together" do
    server = reading_slowly(stream_after: 30_000)
    session = session(server, "eve")

    calls =
      for {session, id} <- [{nil, 1}, {nil, 2}, {nil, 3}, {session, 4}], do: start(server, "eve", session, id, @slow)

    [{_first, first}, {_second, second} | others] = calls
    {_ada, of_ada} = ada = start(server, "ada", nil, 5)

    for {call, most} <- [{first, 16_000_000}, {second, 32_000_000}] do
      HttpScript.tell(call, {:answer, @long})
      eventually(fn -> HttpServers.stats(server).answer_bytes > most end)
    end

    for {{peer, call}, status} <- Enum.zip(others, [503, 429]) do
      HttpScript.tell(call, {:answer, @long})
      response = HttpPeer.response(peer)
      assert {response.status, error(response)} == {status, @unread}
      assert String.to_integer(HttpResponse.header(response, "retry-after")) > 0
    end

    HttpScript.tell(of_ada, {:answer, @long})
    assert %{status: 200} = HttpPeer.response(elem(ada, 0))
    for {peer, _call} <- Enum.take(calls, 2), do: assert(%{status: 200} = HttpPeer.response(peer))
    eventually(fn -> HttpServers.stats(server).answer_bytes == 0 end)
  end

  test "no client has that leaves the answers of streams and of batches unread that began together" do
    server = reading_slowly(stream_after: 50)
    session = session(server, "eve")

    [{first, of_first}, {second, of_second}, {third, of_third}] =
      calls = for id <- 1..3, do: start(server, "eve", session, id, @slow)

    for {peer, _call} <- calls, do: assert(%{status: 200, body: :stream} = HttpPeer.response(peer))
    batch = message("tools/call", %{"name" => "perform", "arguments" => HttpScript.arguments(4)}, id: 4)
    fourth = HttpSession.start(batch_session(server, "eve"), in_session(McpServer.JSON.encode!([batch])))
    {of_fourth, _conn} = HttpScript.performing(4)
    assert %{status: 200, body: :stream} = HttpPeer.response(fourth)

    for {call, most} <- [{of_first, 16_000_000}, {of_second, 32_000_000}] do
      HttpScript.tell(call, {:answer, @long})
      eventually(fn -> HttpServers.stats(server).answer_bytes > most end)
    end

    for call <- [of_third, of_fourth], do: HttpScript.tell(call, {:answer, @long})
    assert %{"id" => 3, "error" => %{"message" => @unread}} = McpServer.JSON.decode!(long_event(third))
    assert [%{"id" => 4, "error" => %{"message" => @unread}}] = McpServer.JSON.decode!(long_event(fourth))
    for peer <- [first, second], do: assert(String.length(long_event(peer)) > 16_000_000)
    eventually(fn -> HttpServers.stats(server).answer_bytes == 0 end)
  end

  defp error(response), do: HttpResponse.json(response)["error"]["message"]

  test "no client has that leaves many answers unread" do
    server = reading_slowly()
    {peer, call} = start(server, "eve", nil, 1, HttpPeer.small_window(4_096))
    HttpScript.tell(call, {:answer, String.duplicate("l", 250_000)})
    HttpScript.gone(call)
    eventually(fn -> HttpServers.stats(server).answer_bytes > 250_000 end)
    assert HttpServers.stats(server).answer_bytes > 250_000
    assert %{status: 200} = HttpPeer.response(peer)
    eventually(fn -> HttpServers.stats(server).answer_bytes == 0 end)
  end

  # Earlier, lists of any size waited unread.
  test "no client has that leaves too much of its lists unread" do
    server =
      HttpServers.start(:listener, router: Long, identify: &who/1, http: [max_answer_bytes: 48_000_000, max_share: 25])

    session = session(server, "eve")
    lists = [as(modern("tools/list"), "eve"), of_session(as(legacy("tools/list"), "eve"), session.id)]
    ask = fn list -> HttpPeer.request(HttpPeer.connect(server.port), list).status end

    for list <- lists do
      unread = HttpClient.start(server, list, @slow)
      eventually(fn -> HttpServers.stats(server).answer_bytes > 16_000_000 end)
      assert for(list <- lists, do: ask.(list)) == [503, 503]
      assert ask.(as(modern("tools/list"), "ada")) == 200
      # A short answer needs no room.
      assert ask.(as(modern("server/discover"), "eve")) == 200
      HttpPeer.close(unread)
      eventually(fn -> HttpServers.stats(server).answer_bytes == 0 end)
    end
  end

  # Longer than a message that the official schema is asked about.
  defp long_event(peer) do
    case HttpPeer.event(peer) do
      %{data: empty} when empty in [nil, ""] -> long_event(peer)
      %{data: data} -> data
    end
  end

  both "are kept by the ended calls of a batch until it is answered",
       [identify: &who/1, http: [max_calls: 8, max_share: 25, max_tool_share: 100]],
       %{server: server} do
    session = HttpSession.open(server, "2025-03-26", headers: [{"authorization", "Bearer eve"}])
    call = &message("tools/call", %{"name" => "perform", "arguments" => HttpScript.arguments(&1)}, id: &1)
    batch = in_session(McpServer.JSON.encode!(Enum.map(1..(2 * @most), call)))
    peer = HttpSession.start(session, batch)
    [first | others] = for id <- 1..(2 * @most), do: id |> HttpScript.performing() |> elem(0)
    HttpScript.tell(first, {:answer, "done"})
    HttpScript.gone(first)
    assert HttpServers.stats(server).calls == 2 * @most
    assert echo(server, "eve", nil, 99).status == 503
    for call <- others, do: HttpScript.tell(call, {:answer, "done"})
    assert [answers] = HttpClient.messages(peer, HttpPeer.response(peer))
    assert length(answers) == 2 * @most
    running(server, 0)
  end

  # A batch of a call and 49 pings, and that call.
  defp mixed_batch(id, more) do
    call = message("tools/call", %{"name" => "perform", "arguments" => HttpScript.arguments(id)}, id: id)
    pings = for n <- 1..49, do: message("ping", %{}, id: "ping #{id} #{n}")
    in_session(McpServer.JSON.encode!([call | pings])) |> padded(more)
  end

  defp batch_session(server, name),
    do: HttpSession.open(server, "2025-03-26", headers: [{"authorization", "Bearer " <> name}])

  # Earlier, the pings had most of the bytes, and were answered at once: a call had a fiftieth.
  both "and the bytes of a batch are kept until it is answered",
       [identify: &who/1, http: [max_argument_bytes: 4 * 1024 * 1024]],
       %{server: server} do
    session = batch_session(server, "eve")
    peer = HttpSession.start(session, mixed_batch(1, megabytes(3)))
    {call, _conn} = HttpScript.performing(1)
    assert HttpServers.stats(server).argument_bytes > 3_000_000
    if server.kind == :listener, do: eventually(fn -> HttpServers.stats(server).body_bytes == 0 end)
    refused = HttpPeer.response(HttpSession.start(session, mixed_batch(2, megabytes(2))))
    assert refused.status == 429
    assert String.to_integer(HttpResponse.header(refused, "retry-after")) > 0
    assert padded_echo(server, "eve", nil, megabytes(2)).status == 503
    HttpScript.tell(call, {:answer, "done"})
    assert [answers] = HttpClient.messages(peer, HttpPeer.response(peer))
    assert length(answers) == 50
    eventually(fn -> HttpServers.stats(server).argument_bytes == 0 end)
  end

  # Earlier, 8 batches held 1.4 GB, and counted for nothing.
  both "and so are the answers of a batch that waits for its last call",
       [identify: &who/1, http: [max_answer_bytes: 4 * 1024 * 1024, max_share: 25]],
       %{server: server} do
    session = batch_session(server, "eve")
    call = &message("tools/call", %{"name" => "perform", "arguments" => HttpScript.arguments(&1)}, id: &1)
    peer = HttpSession.start(session, in_session(McpServer.JSON.encode!(Enum.map(1..2, call))))
    [first, last] = for id <- 1..2, do: id |> HttpScript.performing() |> elem(0)
    HttpScript.tell(first, {:answer, String.duplicate("l", megabytes(2))})
    eventually(fn -> HttpServers.stats(server).answer_bytes > megabytes(2) end)
    assert echo(server, "eve", nil, 99).status == 503
    assert echo(server, "ada", nil, 99).status == 200
    # No message of this batch needs a place.
    pings = in_session(McpServer.JSON.encode!(for id <- 1..2, do: message("ping", %{}, id: id)))
    assert HttpPeer.response(HttpSession.start(session, pings)).status == 429
    HttpScript.tell(last, {:answer, "done"})
    assert [answers] = HttpClient.messages(peer, HttpPeer.response(peer))
    assert length(answers) == 2
    eventually(fn -> HttpServers.stats(server).answer_bytes == 0 end)
    assert HttpPeer.response(HttpSession.start(session, pings)).status == 200
  end

  # Earlier, each of its 50 lists was kept, for each session of the client.
  both "and no answer of a batch is kept beyond the client's share",
       [router: Medium, identify: &who/1, http: [max_answer_bytes: 2 * 1024 * 1024, max_share: 25]],
       %{server: server} do
    session = batch_session(server, "eve")
    lists = in_session(McpServer.JSON.encode!(for id <- 1..5, do: message("tools/list", %{}, id: id)))
    {%{status: 200}, [answers]} = HttpSession.exchange(session, lists)
    {listed, refused} = Enum.split_with(answers, &is_map_key(&1, "result"))
    assert Enum.map(listed, & &1["id"]) == [1, 2]

    assert for(%{"id" => id, "error" => error} <- refused, do: {id, error["code"], error["message"]}) ==
             for(id <- 3..5, do: {id, -32603, "Too many requests are in progress"})

    # What was read is forgotten.
    eventually(fn -> HttpServers.stats(server).answer_bytes == 0 end)
    {%{status: 200}, [[answer | _others]]} = HttpSession.exchange(session, lists)
    assert %{"id" => 1, "result" => _tools} = answer
  end

  # Earlier, 80 sessions of a client had all their answers made before the first of them counted.
  test "and an answer of a session never ceases to count before the process of its request counts it" do
    server = HttpServers.start(:listener, identify: &who/1, http: [stream_after: 600_000])
    session = batch_session(server, "eve")
    call = &message("tools/call", %{"name" => "perform", "arguments" => HttpScript.arguments(&1)}, id: &1)
    peer = HttpSession.start(session, in_session(McpServer.JSON.encode!(Enum.map(1..2, call))))
    [first, last] = for id <- 1..2, do: id |> HttpScript.performing() |> elem(0)
    eventually(fn -> HttpServers.stats(server).connections == 1 end)
    {owner, connection} = {session.id |> HttpSession.process() |> elem(0), connection(server)}
    for function <- [:take_anyway, :give], do: :erlang.trace_pattern({Quota, function, 4}, true, [])
    1 = :erlang.trace(owner, true, [:call])

    HttpScript.tell(first, {:answer, String.duplicate("l", megabytes(2))})
    HttpScript.gone(first)
    eventually(fn -> HttpServers.stats(server).answer_bytes > megabytes(2) end)
    true = :erlang.suspend_process(connection)
    HttpScript.tell(last, {:answer, "done"})
    eventually(fn -> Process.info(connection, :message_queue_len) == {:message_queue_len, 1} end)
    assert HttpServers.stats(server).answer_bytes > megabytes(2)
    true = :erlang.resume_process(connection)
    assert [[_first, _last]] = HttpClient.messages(peer, HttpPeer.response(peer))
    eventually(fn -> HttpServers.stats(server).answer_bytes == 0 end)

    :sys.get_state(owner)
    {own, 0} = Enum.map_reduce(counted(owner), 0, &{&1 + &2, &1 + &2})
    assert Enum.all?(Enum.drop(own, -1), &(&1 > megabytes(2)))
  end

  # What the process took of answer bytes, and gave back.
  defp counted(pid) do
    receive do
      {:trace, ^pid, :call, {Quota, :take_anyway, [_quota, :answer_bytes, _client, bytes]}} -> [bytes | counted(pid)]
      {:trace, ^pid, :call, {Quota, :give, [_quota, :answer_bytes, _client, bytes]}} -> [-bytes | counted(pid)]
      {:trace, ^pid, :call, _other_kind} -> counted(pid)
    after
      0 -> []
    end
  end

  # White space that the message does not need.
  defp padded(request, bytes), do: %{request | body: request.body <> String.duplicate(" ", bytes)}
  defp megabytes(count), do: count * 1024 * 1024

  defp padded_echo(server, name, session, bytes) do
    request = in_era(session, "echo", %{"text" => "x"}, 99) |> as(name) |> padded(bytes)
    HttpClient.exchange(server, request) |> elem(0)
  end

  # Earlier, only the connection counted for them, and a call in a session outlives it. An address had the share.
  both "and the bytes of long requests are kept while their calls run, or wait for their client",
       [identify: &who/1, http: [max_argument_bytes: 4 * 1024 * 1024]],
       %{server: server} do
    bearer = [{"authorization", "Bearer eve"}]
    session = HttpSession.open(server, "2025-11-25", capabilities: @asking, headers: bearer)

    for hold <- [:runs, :asks] do
      {tool, arguments} = if hold == :runs, do: {"perform", HttpScript.arguments(1)}, else: {"ask", %{}}
      peer = HttpSession.start(session, legacy_call(tool, arguments, id: 1) |> padded(megabytes(3)))
      end_call = await(hold, server, peer, session)
      refused = padded_echo(server, "eve", session, megabytes(2))
      assert %{status: 429} = refused
      assert String.to_integer(HttpResponse.header(refused, "retry-after")) > 0
      assert padded_echo(server, "eve", nil, megabytes(2)).status == 503
      # A short one counts for its place.
      assert padded_echo(server, "eve", session, 60_000).status == 200
      end_call.()
      eventually(fn -> padded_echo(server, "eve", session, megabytes(2)).status == 200 end)
      eventually(fn -> padded_echo(server, "eve", nil, megabytes(2)).status == 200 end)
      eventually(fn -> HttpServers.stats(server).argument_bytes == 0 end)
    end
  end

  # Earlier, nobody counted what a call keeps of its client's answers.
  both "and the bytes of long answers to questions are kept while their calls run",
       [identify: &who/1, http: [max_argument_bytes: 4 * 1024 * 1024]],
       %{server: server} do
    bearer = [{"authorization", "Bearer eve"}]
    session = HttpSession.open(server, "2025-11-25", capabilities: @asking, headers: bearer)
    held = HttpSession.start(session, legacy_call("perform", HttpScript.arguments(1), id: 1) |> padded(megabytes(3)))
    {call, _conn} = HttpScript.performing(1)

    said = fn id ->
      {peer, %{body: :stream}} = HttpSession.open_stream(session, legacy_call("ask", %{}, id: id))
      assert %{"method" => "elicitation/create", "id" => asked} = HttpClient.message(peer)
      assert {%{status: 202}, []} = HttpSession.exchange(session, answering(asked) |> padded(megabytes(2)))
      HttpClient.text(HttpClient.message(peer))
    end

    # Without room the handler gets an error for the answer.
    assert said.(2) == "No name, no greeting"
    HttpScript.tell(call, {:answer, "done"})
    assert %{status: 200} = HttpPeer.response(held)
    eventually(fn -> HttpServers.stats(server).argument_bytes == 0 end)
    assert said.(3) == "Hello, Ada! :asked"
    eventually(fn -> HttpServers.stats(server).argument_bytes == 0 end)
  end

  # Waits until the call runs without its connection, or has asked. Returns what ends it.
  defp await(:runs, _server, peer, _session) do
    {call, _conn} = HttpScript.performing(1)
    HttpPeer.close(peer)
    fn -> HttpScript.tell(call, {:answer, "done"}) end
  end

  defp await(:asks, _server, peer, session) do
    assert %{status: 200, body: :stream} = HttpPeer.response(peer)
    assert %{"method" => "elicitation/create", "id" => asked} = HttpClient.message(peer)
    fn -> greeted(session, peer, asked) end
  end

  defp asking(server, name) do
    bearer = [{"authorization", "Bearer #{name}"}]
    session = HttpSession.open(server, "2025-11-25", capabilities: @asking, headers: bearer)
    {peer, response} = HttpSession.open_stream(session, legacy_call("ask"))
    # A refused call has no stream.
    message = if response.body == :stream, do: HttpClient.message(peer), else: hd(HttpClient.messages(peer, response))
    {session, peer, message}
  end

  defp answering(asked) do
    result = %{"action" => "accept", "content" => %{"name" => "Ada"}}
    in_session(McpServer.JSON.encode!(%{"jsonrpc" => "2.0", "id" => asked, "result" => result}))
  end

  # Answers the question of `ask`, and reads its result.
  defp greeted(session, peer, asked) do
    assert {%{status: 202}, []} = HttpSession.exchange(session, answering(asked))
    assert HttpClient.text(HttpClient.message(peer)) == "Hello, Ada! :asked"
  end

  # Earlier, a client had as many of them as sessions had room for. All that it answered at once ran, whatever the limit.
  both "one client has a share of the calls that wait for it",
       [identify: &who/1, http: [max_calls: 4, max_share: 25]],
       %{server: server} do
    waiting = for _ <- 1..@most, do: asking(server, "eve")
    for {_session, _peer, message} <- waiting, do: assert(%{"method" => "elicitation/create"} = message)
    {_session, _peer, refused} = asking(server, "eve")
    assert HttpClient.text(refused) == "Too many calls wait for the client's input"
    {_session, _peer, adas} = asking(server, "ada")
    assert %{"method" => "elicitation/create"} = adas

    # One is answered, and the session of another ends.
    [{session, peer, %{"id" => asked}}, {ended, _peer, _message} | _others] = waiting
    greeted(session, peer, asked)
    assert HttpSession.delete(ended).status in [200, 204]

    for _ <- 1..2 do
      eventually(fn -> match?({_session, _peer, %{"method" => "elicitation/create"}}, asking(server, "eve")) end)
    end
  end

  test "all are free after calls that ask their client, and those that are cancelled" do
    server = HttpServers.start(:listener, http: [max_calls: 1])
    session = HttpSession.open(server, "2025-11-25", capabilities: @asking)

    for id <- 1..(@most + 1) do
      {peer, %{body: :stream}} = HttpSession.open_stream(session, legacy_call("ask", %{}, id: "asks #{id}"))
      assert %{"method" => "elicitation/create", "id" => asked} = HttpClient.message(peer)
      # Its place is free while it waits.
      assert HttpServers.stats(server).calls == 0
      greeted(session, peer, asked)
    end

    calls = for id <- 1..@most, do: start(server, "nobody", session, id)
    assert HttpServers.stats(server).calls == @most

    for id <- 1..@most,
        do: HttpSession.status(session, legacy("notifications/cancelled", %{"requestId" => id}, id: nil))

    for {_peer, call} <- calls, do: HttpScript.gone(call)
    running(server, 0)
  end
end
