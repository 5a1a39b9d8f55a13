defmodule McpServer.HttpStreamsTest do
  # Streams of the session era: their events, stored events, and resumption.
  use McpServer.HttpCase, async: true

  import McpServer.HttpRequests

  # A call that has reported these steps; its stream, and its process.
  defp performing(session, steps, options \\ []) do
    tag = make_ref() |> inspect()
    params = %{"name" => "perform", "arguments" => HttpScript.arguments(tag), "_meta" => %{"progressToken" => "p"}}
    peer = HttpSession.start(session, legacy("tools/call", params, options))
    {call, _conn} = HttpScript.performing(tag)
    for n <- steps, do: HttpScript.tell(call, {:progress, n})
    {peer, call}
  end

  defp step(%{"params" => %{"progress" => step}}), do: step
  defp step(%{"result" => _} = answer), do: HttpClient.text(answer)

  # All messages until the end of the stream, with the ids of their events.
  defp rest(peer) do
    case HttpClient.message_event(peer) do
      :end -> []
      {id, message} -> [{id, step(message)} | rest(peer)]
    end
  end

  defp take(peer, count),
    do: for(_ <- 1..count, {id, message} = HttpClient.message_event(peer), do: {id, step(message)})

  describe "a stream" do
    both "begins with an event that has an id and no data", %{server: server} do
      session = HttpSession.open(server)
      {peer, call} = performing(session, [1])
      assert %{status: 200} = response = HttpPeer.response(peer)
      assert HttpResponse.header(response, "cache-control") =~ "no-cache"
      assert %{id: id, data: ""} = HttpPeer.event(peer)
      assert is_binary(id)
      assert [{first, 1}] = take(peer, 1)
      HttpScript.tell(call, {:answer, "done"})
      assert [{last, "done"}] = rest(peer)
      assert length(Enum.uniq([id, first, last])) == 3
    end

    both "has no such event in older revisions, whose clients read data only", %{server: server} do
      for revision <- ["2025-03-26", "2025-06-18"] do
        session = HttpSession.open(server, revision)
        {peer, call} = performing(session, [1])
        assert %{body: :stream} = HttpPeer.response(peer)
        HttpScript.tell(call, {:answer, "done"})
        events = HttpPeer.events(peer)
        # The server may send comments as keep-alives.
        assert [%{id: _}, %{id: _}] = told = Enum.reject(events, &(&1.comments != [] and &1.data == nil))
        assert Enum.all?(told, &(&1.data != ""))
      end
    end

    both "ends with the answer", %{server: server} do
      {peer, call} = performing(HttpSession.open(server), [1, 2])
      HttpScript.tell(call, {:answer, "done"})
      %{body: :stream} = HttpPeer.response(peer)
      assert [1, 2, "done"] = for({_id, step} <- rest(peer), do: step)
    end

    both "has ids that no other stream of the session has", %{server: server} do
      session = HttpSession.open(server)

      ids =
        for id <- 1..5 do
          {peer, call} = performing(session, [1, 2], id: id)
          HttpScript.tell(call, {:answer, "done"})
          %{body: :stream} = HttpPeer.response(peer)
          for event <- HttpPeer.events(peer), event.id, do: event.id
        end

      assert length(List.flatten(ids)) == length(Enum.uniq(List.flatten(ids)))
    end

    both "is kept open by comments", [http: [keep_alive: 50]], %{server: server} do
      stream = HttpSession.get(HttpSession.open(server))

      comments =
        Stream.repeatedly(fn -> HttpPeer.event(stream) end) |> Stream.filter(&(&1.data in [nil] and &1.id == nil))

      assert [%{comments: [_]}, %{comments: [_]}, %{comments: [_]}] = Enum.take(comments, 3)
    end
  end

  describe "resumption" do
    @tag req: "H13"
    both "delivers each event exactly once, in order, from wherever the client stopped", [http: [keep_alive: 50]], %{
      server: server
    } do
      session = HttpSession.open(server)

      for stop <- 0..4 do
        {peer, call} = performing(session, [1, 2, 3], id: stop)
        %{body: :stream} = HttpPeer.response(peer)
        %{id: primed, data: ""} = HttpPeer.event(peer)
        seen = if stop == 0, do: [], else: take(peer, min(stop, 3))
        HttpPeer.cut(peer)
        HttpScript.tell(call, {:progress, 4})
        HttpScript.tell(call, {:answer, "done"})
        {last, _step} = List.last(seen) || {primed, nil}
        assert [1, 2, 3, 4, "done"] == for({_id, step} <- seen ++ rest(HttpSession.get(session, last)), do: step)
      end
    end

    both "goes on live where the call still runs", [http: [keep_alive: 50]], %{server: server} do
      session = HttpSession.open(server)
      {peer, call} = performing(session, [1])
      %{body: :stream} = HttpPeer.response(peer)
      [{last, 1}] = take(peer, 1)
      HttpPeer.cut(peer)
      resumed = HttpSession.get(session, last)
      HttpScript.tell(call, {:progress, 2})
      assert [{_id, 2}] = take(resumed, 1)
      HttpScript.tell(call, {:answer, "done"})
      assert [{_id, "done"}] = rest(resumed)
    end

    both "can be repeated", %{server: server} do
      session = HttpSession.open(server)
      {peer, call} = performing(session, [1, 2])
      %{body: :stream} = HttpPeer.response(peer)
      %{id: primed} = HttpPeer.event(peer)
      HttpScript.tell(call, {:answer, "done"})
      whole = rest(peer)

      for {last, left} <- [{primed, 3}, {elem(Enum.at(whole, 0), 0), 2}, {elem(Enum.at(whole, 1), 0), 1}, {primed, 3}],
          do: assert(replayed(session, last) == Enum.take(whole, -left))
    end

    # The messages were checked when they arrived first.
    defp replayed(session, last) do
      peer = HttpPeer.connect(session.server.port)
      %{status: 200} = HttpPeer.request(peer, HttpSession.of(session, get_stream([{"last-event-id", last}])))

      for %{data: data, id: id} when data not in [nil, ""] <- HttpPeer.events(peer),
          {:ok, message} = McpServer.JSON.decode(data),
          do: {id, step(message)}
    end

    both "waits until the connection before is gone", [http: [keep_alive: 50]], %{server: server} do
      session = HttpSession.open(server)
      {old, call} = performing(session, [1])
      %{body: :stream} = HttpPeer.response(old)
      [{last, 1}] = take(old, 1)
      assert HttpSession.status(session, get_stream([{"last-event-id", last}])) == 409
      HttpPeer.cut(old)
      new = HttpSession.get(session, last)
      HttpScript.tell(call, {:progress, 2})
      HttpScript.tell(call, {:answer, "done"})
      assert [2, "done"] = for({_id, step} <- rest(new), do: step)
    end

    both "of a call that lets its client hang up", %{server: server} do
      session = HttpSession.open(server)
      {peer, call} = performing(session, [1])
      HttpScript.tell(call, {:close_stream, 250})
      %{body: :stream} = HttpPeer.response(peer)
      events = HttpPeer.events(peer)

      assert [{first, nil}, {second, nil}, {third, 250}] =
               for(%{id: id} = event when id != nil <- events, do: {id, event.retry})

      [number, "0"] = String.split(first, "-")
      assert [second, third] == ["#{number}-1", "#{number}-2"]
      HttpScript.tell(call, {:answer, "done"})

      assert [{_id, "done"}] = rest(HttpSession.get(session, third))

      for {last, missed} <- [{second, ["done"]}, {first, [1, "done"]}],
          do: assert(missed == for({_id, step} <- replayed(session, last), do: step))
    end

    both "of the session's own stream", [http: [keep_alive: 50]], %{server: server} do
      session = HttpSession.open(server)
      stream = HttpSession.get(session)
      %{id: primed, data: ""} = HttpPeer.event(stream)
      HttpPeer.cut(stream)
      subscribe = legacy("resources/subscribe", %{"uri" => "http-test://fixed"})
      assert HttpSession.status(session, subscribe) == 200
      McpServer.Changes.resource_updated(McpServer.HttpRouter, "http-test://fixed")
      resumed = HttpSession.get(session, primed)
      eventually(fn -> match?(%{"method" => "notifications/resources/updated"}, HttpClient.message(resumed)) end)
    end

    @tag req: ["SEC-08", "H12"]
    both "shows nobody else's events", [identify: &who/1], %{server: server} do
      [ada, other, bob] =
        for name <- ["ada", "ada", "bob"],
            do: HttpSession.open(server, "2025-11-25", headers: [{"authorization", "Bearer #{name}"}])

      {peer, call} = performing(ada, [1, 2])
      HttpScript.tell(call, {:answer, "secret"})
      %{body: :stream} = HttpPeer.response(peer)
      ids = for %{id: id} when id != nil <- HttpPeer.events(peer), do: id

      for id <- ids, session <- [other, bob] do
        {response, [message]} = HttpSession.exchange(session, get_stream([{"last-event-id", id}]))
        assert response.status == 400
        refute response.body =~ "secret"
        assert %{"error" => %{"code" => -32600}} = message
      end

      # Another principal gets the same response as for an unknown session.
      request = get_stream([{"last-event-id", hd(ids)}]) |> of_session(ada.id) |> as("bob")
      assert {%{status: 404}, _message} = HttpClient.exchange(server, request)
    end

    @tag req: "H12"
    both "says so when the events are no longer kept", [http: [max_events: 4]], %{server: server} do
      session = HttpSession.open(server)
      {peer, call} = performing(session, 1..10)
      HttpScript.tell(call, {:answer, "done"})
      %{body: :stream} = HttpPeer.response(peer)
      %{id: primed} = HttpPeer.event(peer)
      whole = rest(peer)
      assert length(whole) == 11

      for id <- [primed, elem(Enum.at(whole, 0), 0), elem(Enum.at(whole, 5), 0)],
          do: assert(HttpSession.status(session, get_stream([{"last-event-id", id}])) == 400)

      {last_but_one, _step} = Enum.at(whole, -2)
      assert replayed(session, last_but_one) == Enum.take(whole, -1)
    end

    @tag req: "H12"
    both "keeps no more bytes of a stream than it may", [http: [max_event_bytes: 10_000]], %{server: server} do
      session = HttpSession.open(server)
      {peer, call} = performing(session, [1])
      HttpScript.tell(call, {:log, "error", String.duplicate("x", 9_000)})
      HttpScript.tell(call, {:log, "error", String.duplicate("y", 9_000)})
      HttpScript.tell(call, {:answer, "done"})
      %{body: :stream} = HttpPeer.response(peer)
      [primed | ids] = for %{id: id} when id != nil <- HttpPeer.events(peer), do: id
      assert HttpSession.status(session, get_stream([{"last-event-id", primed}])) == 400
      assert [{_id, "done"}] = replayed(session, Enum.at(ids, -2))
    end

    @tag req: "H12"
    both "ends with the session", %{server: server} do
      session = HttpSession.open(server)
      {peer, call} = performing(session, [1])
      %{body: :stream} = HttpPeer.response(peer)
      [{last, 1}] = take(peer, 1)
      HttpSession.delete(session)
      HttpScript.gone(call)
      assert %{"id" => _id, "error" => %{"message" => "Session not found"}} = HttpClient.message(peer)
      assert HttpClient.message(peer) == :end
      assert HttpSession.status(session, get_stream([{"last-event-id", last}])) == 404
    end
  end

  describe "the session's own stream" do
    @tag req: ["SEC-05", "H11"]
    both "is there once; the first one keeps its events", [http: [keep_alive: 50]], %{server: server} do
      session = HttpSession.open(server)
      first = HttpSession.get(session)
      {response, [message]} = HttpSession.exchange(session, get_stream())
      assert response.status == 409
      assert %{"error" => %{"code" => -32600}} = message
      subscribe = legacy("resources/subscribe", %{"uri" => "http-test://fixed"})
      assert HttpSession.status(session, subscribe) == 200
      McpServer.Changes.resource_updated(McpServer.HttpRouter, "http-test://fixed")
      eventually(fn -> match?(%{"method" => "notifications/resources/updated"}, HttpClient.message(first)) end)

      # After the client has left a stream, it can open it again.
      HttpPeer.cut(first)
      eventually(fn -> HttpSession.status(session, get_stream()) == 200 end)
    end

    both "opened anew does not hand out ids that it had before", [http: [keep_alive: 50]], %{server: server} do
      session = HttpSession.open(server)
      subscribe = legacy("resources/subscribe", %{"uri" => "http-test://fixed"})
      assert HttpSession.status(session, subscribe) == 200
      first = HttpSession.get(session)
      %{id: primed, data: ""} = HttpPeer.event(first)
      McpServer.Changes.resource_updated(McpServer.HttpRouter, "http-test://fixed")
      {told, %{"method" => "notifications/" <> _}} = HttpClient.message_event(first)
      HttpPeer.cut(first)

      # Without resumption, earlier events are not repeated.
      second = HttpSession.get(session)
      %{id: again, data: ""} = HttpPeer.event(second)
      refute again in [primed, told]
      HttpPeer.cut(second)

      # A resumed stream has neither gaps nor repetitions.
      third = HttpSession.get(session, again)
      McpServer.Changes.resource_updated(McpServer.HttpRouter, "http-test://fixed")
      {next, %{"method" => "notifications/" <> _}} = HttpClient.message_event(third)
      refute next in [primed, told, again]
    end

    @tag req: "H15"
    both "ends with DELETE, and so do running calls", %{server: server} do
      session = HttpSession.open(server)
      stream = HttpSession.get(session)
      {peer, call} = performing(session, [1])
      %{body: :stream} = HttpPeer.response(peer)
      [{_id, 1}] = take(peer, 1)
      assert HttpSession.delete(session).status in [200, 204]
      HttpScript.gone(call)
      assert %{"id" => _id, "error" => %{"message" => "Session not found"}} = HttpClient.message(peer)
      for peer <- [stream, peer], do: assert(HttpClient.message(peer) == :end)
    end
  end
end
