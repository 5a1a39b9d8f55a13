defmodule McpServer.HttpRestTest do
  # Stored results over both servers: tests with several requests. `McpServer.RestTable` has the others.
  use McpServer.HttpCase, async: true

  import McpServer.TestLog
  import McpServer.DualResponses, only: [create!: 2, create!: 3, rows: 1, server: 0, server: 1]
  import McpServer.RestServers, only: [rest: 3]

  alias McpServer.{DualResponse, HttpRouter, HttpServer, JSON, RestServers}
  alias McpServer.DualResponse.Error
  alias McpServer.DualResponses.FailingStore

  @moduletag :capture_log

  @not_found ~s({"error":"not_found","message":"Resource not found or expired"})
  @ndjson [headers: [{"accept", "application/x-ndjson"}]]
  @csv [headers: [{"accept", "text/csv"}]]

  defp path(response), do: "/resources/" <> response.resource_id

  defp bearer(token), do: [{"authorization", "Bearer " <> token}]

  defp token(request) do
    headers = Map.fetch!(request, :req_headers)
    with {"authorization", "Bearer " <> token} <- List.keyfind(headers, "authorization", 0), do: token
  end

  # A query that is empty for the sample, and for a page once the test sends `:go`.
  defp waiting(test) do
    fn
      %{limit: 15} ->
        []

      _page ->
        send(test, {:waiting, self()})
        receive do: (:go -> [])
    end
  end

  @doc false
  def subject(request), do: %{subject: token(request)}

  @doc false
  def late_subject(request) do
    with "waits-" <> test <- token(request) do
      send(test |> String.to_charlist() |> :erlang.list_to_pid(), {:identifying, self()})
      receive(do: (:go -> %{subject: "eve"}))
    else
      name -> %{subject: name}
    end
  end

  # The parts of a response that must not differ between clients. The date may differ by a second.
  defp told(response), do: {response.status, List.keydelete(response.headers, "date", 0), response.body}

  describe "NDJSON" do
    @describetag req: "Q4"
    rest "all rows, a line each, then the end", %{kind: kind} do
      results = server()
      http = RestServers.start(kind, results, stream_batch: 7)

      for count <- [0, 1, 6, 7, 8, 14, 50] do
        response = RestServers.ask(http, "POST", path(create!(results, count)), @ndjson)
        assert {count, response.status} == {count, 200}
        assert HttpResponse.header(response, "content-type") == "application/x-ndjson"
        assert HttpResponse.header(response, "x-total-count") == "#{count}"
        assert HttpResponse.header(response, "x-content-type-options") == "nosniff"
        rows = for n <- 0..(count - 1)//1, do: %{"n" => n, "text" => "row #{n}"}
        assert RestServers.lines(response.body) == rows ++ [%{"$end" => true, "returned_count" => count}]
        assert String.ends_with?(response.body, ~s({"$end":true,"returned_count":#{count}}\n))
      end
    end

    rest "from an offset, up to a limit, in an order", %{kind: kind} do
      results = server()
      http = RestServers.start(kind, results, stream_batch: 4)
      created = create!(results, 20, persist: :rows, sort_mode: :memory, sample_size: 2)
      ask = &RestServers.lines(RestServers.ask(http, "POST", path(created), [body: &1] ++ @ndjson).body)
      numbers = fn lines -> for %{"n" => n} <- lines, do: n end

      assert numbers.(ask.(%{offset: 17})) == [17, 18, 19]
      assert numbers.(ask.(%{offset: 20})) == []
      assert numbers.(ask.(%{limit: 4})) == [0, 1, 2, 3]
      assert numbers.(ask.(%{limit: 5, offset: 2})) == [2, 3, 4, 5, 6]
      assert List.last(ask.(%{limit: 5})) == %{"$end" => true, "returned_count" => 5}
      assert numbers.(ask.(%{limit: 3, sort: %{field: "n", order: "desc"}})) == [19, 18, 17]
      # S1-43: a stream is one access, however many pages it has.
      assert DualResponse.get_resource(results, created.resource_id).access_count == 6
    end

    rest "what fails first has a status, what fails later a line", %{kind: kind} do
      results = server()
      http = RestServers.start(kind, results, stream_batch: 5)

      for {fails_at, failing} <- [
            {0, fn -> raise "secret" end},
            {10, fn -> exit(:secret) end},
            {10, fn -> [:no_map] end}
          ] do
        execute = fn %{offset: offset, limit: limit} ->
          if offset >= fails_at and limit == 5, do: failing.(), else: for(n <- 1..limit, do: %{"n" => offset + n})
        end

        response = RestServers.ask(http, "POST", path(create!(results, 20, execute: execute)), @ndjson)
        refute response.body =~ "secret"

        if fails_at == 0 do
          assert response.status == 500
          assert %{"error" => "query_failed"} = JSON.decode!(response.body)
        else
          assert response.status == 200
          lines = RestServers.lines(response.body)
          assert length(lines) == 11
          assert List.last(lines) == %{"$error" => %{"code" => "QUERY_EXECUTION_FAILED"}}
        end
      end
    end

    rest "rows that are no JSON are an error too", %{kind: kind} do
      results = server()
      http = RestServers.start(kind, results, stream_batch: 5)

      execute = fn
        %{offset: 0, limit: limit} -> for(n <- 1..limit, do: %{"n" => n})
        %{limit: limit} -> for(_ <- 1..limit, do: %{"n" => self()})
      end

      created = create!(results, 20, execute: execute)
      lines = RestServers.lines(RestServers.ask(http, "POST", path(created), @ndjson).body)
      assert List.last(lines) == %{"$error" => %{"code" => "QUERY_EXECUTION_FAILED"}}

      assert %{status: 500} = response = RestServers.ask(http, "POST", path(created), body: %{offset: 5})
      assert %{"error" => "query_failed", "message" => message} = JSON.decode!(response.body)
      refute message =~ "#PID"
    end

    rest "is read as fast as the client takes it, and no longer than the client is there", %{kind: kind} do
      results = server()
      http = RestServers.start(kind, results, stream_batch: 10)
      asked = :counters.new(1, [])
      wide = String.duplicate("x", 10_000)

      execute = fn %{offset: offset, limit: limit} ->
        :counters.add(asked, 1, 1)
        for n <- 1..limit, do: %{"n" => offset + n, "text" => wide}
      end

      # 10,000 rows of 10 KB. The client reads only the first bytes.
      created = create!(results, 10_000, execute: execute)
      peer = HttpPeer.connect(http.port, recbuf: 4_096)
      :ok = HttpPeer.send_request(peer, RestServers.request("POST", path(created), @ndjson))
      assert HttpPeer.head(peer).status == 200

      # The server writes until the socket buffers are full, and then fetches no more pages.
      still = fn ->
        with(before = :counters.get(asked, 1), :ok <- Process.sleep(300), do: :counters.get(asked, 1) == before)
      end

      eventually(still)
      assert :counters.get(asked, 1) < 300

      HttpPeer.cut(peer)
      eventually(still)
      assert :counters.get(asked, 1) < 400
    end
  end

  describe "CSV" do
    @describetag req: "Q4"
    rest "a line of names, then the rows, without formulas", %{kind: kind} do
      results = server()
      http = RestServers.start(kind, results)
      columns = for name <- [:id, "name", "when", "tags"], do: %{name: name, type: "string"}

      rows = [
        %{:id => 1, "name" => "plain", "when" => ~D[2025-01-15], "tags" => ["a", "b"]},
        %{"id" => -2, "name" => "=HYPERLINK(\"http://evil\")", "when" => nil},
        %{"id" => 3.5, "name" => "a,b\r\nc", "tags" => true, "more" => 1},
        %{id: nil, name: "@x"},
        %{"id" => 5, "name" => "x;=1+1", "when" => "y\t=1+1", "tags" => ["z|@1"]},
        %{"id" => 6, "name" => "＝1+1"}
      ]

      created = create!(results, 6, columns: columns, execute: fn %{offset: o, limit: l} -> Enum.slice(rows, o, l) end)
      response = RestServers.ask(http, "POST", path(created), @csv)
      assert HttpResponse.header(response, "content-type") == "text/csv; charset=utf-8; header=present"
      assert HttpResponse.header(response, "x-total-count") == "6"

      assert response.body ==
               "id,name,when,tags\r\n" <>
                 ~s(1,plain,2025-01-15,"[""a"",""b""]"\r\n) <>
                 ~s(-2,"'=HYPERLINK\(""http://evil""\)",,\r\n) <>
                 ~s(3.5,"a,b\r\nc",,true\r\n) <>
                 ~s(,"'@x",,\r\n) <>
                 ~s(5,"x;'=1+1","y\t'=1+1","[""z|\\u00401""]"\r\n) <>
                 ~s(6,"'＝1+1",,\r\n)
    end

    rest "that fails half-way, or takes too long, breaks off", %{kind: kind} do
      results = server()
      http = RestServers.start(kind, results, stream_batch: 5, timeout: 1_000)

      for failing <- [fn -> raise "no more" end, fn -> Process.sleep(:infinity) end] do
        execute = fn
          %{offset: 0, limit: limit} -> for(n <- 1..limit, do: %{"n" => n})
          _later -> failing.()
        end

        created = create!(results, 20, execute: execute)
        peer = HttpPeer.connect(http.port)
        :ok = HttpPeer.send_request(peer, RestServers.request("POST", path(created), @csv))
        # A complete body would end with an empty chunk.
        refute String.ends_with?(HttpPeer.until_closed(peer), "0\r\n\r\n")
      end
    end
  end

  describe "bounds" do
    rest "one request more than there may be at once is 503, and the next one is served", %{kind: kind} do
      results = server()
      http = RestServers.start(kind, results, max_requests: 2)
      execute = waiting(self())
      created = create!(results, 20, execute: execute)
      request = RestServers.request("POST", path(created))

      peers =
        for _ <- 1..2 do
          peer = HttpPeer.connect(http.port)
          :ok = HttpPeer.send_request(peer, request)
          peer
        end

      waiting =
        for _ <- 1..2 do
          assert_receive {:waiting, pid}
          pid
        end

      refused = RestServers.ask(http, "GET", path(created))
      assert {refused.status, HttpResponse.header(refused, "retry-after")} == {503, "1"}
      assert JSON.decode!(refused.body)["error"] == "overloaded"
      for pid <- waiting, do: send(pid, :go)
      for peer <- peers, do: assert(HttpPeer.response(peer).status == 200)
      eventually(fn -> RestServers.ask(http, "GET", path(created)).status == 200 end)
    end

    # One client that reads slowly could take all places.
    rest "one client has a share of them, and others have the rest", %{kind: kind} do
      results = server()
      options = [max_requests: 4, max_share: 50, identify: &__MODULE__.subject/1]
      http = RestServers.start(kind, results, options)
      execute = waiting(self())
      [eves, adas] = for name <- ["eve", "ada"], do: create!(results, 20, execute: execute, subject: name)
      as = fn name -> [headers: bearer(name)] end

      start = fn name, created ->
        peer = HttpPeer.connect(http.port)
        :ok = HttpPeer.send_request(peer, RestServers.request("POST", path(created), as.(name)))
        assert_receive {:waiting, pid}
        {peer, pid}
      end

      held = for _ <- 1..2, do: start.("eve", eves)
      assert RestServers.ask(http, "GET", path(eves), as.("eve")).status == 503
      assert RestServers.ask(http, "GET", path(adas), as.("ada")).status == 200
      held = [start.("ada", adas) | held]
      for {_peer, pid} <- held, do: send(pid, :go)
      for {peer, _pid} <- held, do: assert(HttpPeer.response(peer).status == 200)
      eventually(fn -> RestServers.ask(http, "GET", path(eves), as.("eve")).status == 200 end)
    end

    # Earlier, one client could sort 64 times 100,000 rows at once, for a row each.
    rest "few sorts of many rows run at once, and fewer of one client", %{kind: kind} do
      results = server(store: FailingStore)
      http = RestServers.start(kind, results, identify: &__MODULE__.subject/1)
      names = for n <- 1..4, do: "sorts #{n}"
      created = for name <- names, into: %{}, do: {name, create!(results, 5_001, persist: :rows, subject: name)}
      sorted = ~s({"limit":1,"sort":{"field":"n","order":"desc"}})
      test = self()

      ask = fn name, body ->
        [headers: [{"content-type", "application/json"} | bearer(name)], body: body]
        |> then(&RestServers.ask(http, "POST", path(created[name]), &1))
      end

      assert JSON.decode!(ask.("sorts 1", sorted).body)["data"] == [%{"n" => 5_000, "text" => "row 5000"}]

      FailingStore.fail(results, :rows, fn ->
        send(test, {:sorting, self()})
        receive do: (:go -> {:ok, [%{"n" => 0, "text" => "row 0"}]})
      end)

      start = fn name ->
        options = [headers: [{"content-type", "application/json"} | bearer(name)], body: sorted]
        peer = HttpPeer.connect(http.port)
        :ok = HttpPeer.send_request(peer, RestServers.request("POST", path(created[name]), options))
        assert_receive {:sorting, pid}, 30_000
        {peer, pid}
      end

      held = for name <- tl(names), _ <- 1..2, do: start.(name)
      assert ask.("sorts 2", sorted).status == 503
      held = [start.("sorts 1"), start.("sorts 1") | held]
      stranger = create!(results, 5_001, persist: :rows, subject: "sorts 5")
      assert RestServers.ask(http, "GET", path(stranger), headers: bearer("sorts 5")).status == 200

      refused =
        RestServers.ask(http, "POST", path(stranger),
          headers: [{"content-type", "application/json"} | bearer("sorts 5")],
          body: sorted
        )

      assert {refused.status, HttpResponse.header(refused, "retry-after") != nil} == {503, true}
      FailingStore.heal(results, :rows)
      for {_peer, pid} <- held, do: send(pid, :go)
      for {peer, _pid} <- held, do: assert(HttpPeer.response(peer).status == 200)
      eventually(fn -> ask.("sorts 2", sorted).status == 200 end)
    end

    # Earlier, a stream gave its place back before its first part, and 64 streams of one client read all rows again and
    # again.
    rest "a sorted stream keeps its place until its last read, or until its client leaves", %{kind: kind} do
      results = server(store: FailingStore)
      http = RestServers.start(kind, results, identify: &__MODULE__.subject/1)
      created = create!(results, 10_001, persist: :rows, subject: "streams")
      stored = rows(10_001)
      test = self()

      # Three reads for the order, then one for each 5,000 rows.
      FailingStore.fail(results, :rows, fn ->
        number = Process.get(:reads, 0)
        Process.put(:reads, number + 1)
        send(test, {:read, number, self()})
        receive do: (:go -> {:ok, Enum.slice(stored, rem(number, 3) * 5_000, 5_000)})
      end)

      options = [
        headers: [{"accept", "application/x-ndjson"}, {"content-type", "application/json"} | bearer("streams")],
        body: ~s({"sort":{"field":"n"}})
      ]

      ask = fn -> RestServers.ask(http, "POST", path(created), options) end

      # A stream whose first part was sent, and which reads the second 5,000 rows.
      start = fn ->
        client = Task.async(ask)

        for number <- 0..3 do
          assert_receive {:read, ^number, pid}, 30_000
          send(pid, :go)
        end

        assert_receive {:read, 4, pid}, 30_000
        {client, pid}
      end

      {first, pid} = start.()
      {second, second_pid} = start.()
      assert ask.().status == 503

      send(pid, :go)
      assert_receive {:read, 5, ^pid}, 30_000
      assert ask.().status == 503
      send(pid, :go)
      lines = first |> Task.await(30_000) |> Map.fetch!(:body) |> String.split("\n", trim: true)
      assert {length(lines), List.last(lines)} == {10_002, ~s({"$end":true,"returned_count":10001})}

      # The first place is free again, and both are when their clients have left.
      {third, third_pid} = start.()
      FailingStore.heal(results, :rows)
      assert ask.().status == 503
      for client <- [second, third], do: Task.shutdown(client, :brutal_kill)
      # A plug notices it when it writes.
      if kind == :plug, do: for(pid <- [second_pid, third_pid], do: send(pid, :go))
      eventually(fn -> ask.().status == 200 end)
    end

    # Earlier, requests that were not identified yet could take all places.
    test "one address has a share of them until its requests are identified" do
      results = server()
      http = RestServers.start(:plug, results, max_requests: 4, max_share: 50, identify: {__MODULE__, :late_subject})
      created = create!(results, 20, subject: "ada")
      from = fn address, name -> [headers: [{"x-from", address} | bearer(name)]] end
      waits = from.("192.0.2.7", "waits-#{:erlang.pid_to_list(self())}")

      held =
        for _ <- 1..2 do
          peer = HttpPeer.connect(http.port)
          :ok = HttpPeer.send_request(peer, RestServers.request("POST", path(created), waits))
          assert_receive {:identifying, pid}, 30_000
          {peer, pid}
        end

      assert RestServers.ask(http, "GET", path(created), from.("192.0.2.7", "ada")).status == 503
      assert RestServers.ask(http, "GET", path(created), from.("198.51.100.3", "ada")).status == 200
      for {_peer, pid} <- held, do: send(pid, :go)
      for {peer, _pid} <- held, do: assert(HttpPeer.response(peer).status == 404)
      eventually(fn -> RestServers.ask(http, "GET", path(created), from.("192.0.2.7", "ada")).status == 200 end)
    end

    rest "a query that takes too long is 504, and is ended", %{kind: kind} do
      results = server()
      http = RestServers.start(kind, results, timeout: 1_000)
      test = self()

      execute = fn
        %{limit: 15} ->
          []

        _page ->
          send(test, {:running, self()})
          Process.sleep(:infinity)
      end

      created = create!(results, 20, execute: execute)
      response = RestServers.ask(http, "POST", path(created))
      assert response.status == 504
      assert response.body == ~s({"error":"timeout","message":"The query took too long"})
      assert_receive {:running, pid}
      eventually(fn -> not Process.alive?(pid) end)
      assert RestServers.ask(http, "GET", path(created)).status == 200
    end

    rest "a stream whose next page takes too long ends with a line", %{kind: kind} do
      results = server()
      http = RestServers.start(kind, results, timeout: 1_000, stream_batch: 5)

      execute = fn
        %{offset: 0, limit: limit} -> for(n <- 1..limit, do: %{"n" => n})
        _later -> Process.sleep(:infinity)
      end

      created = create!(results, 20, execute: execute)
      lines = RestServers.lines(RestServers.ask(http, "POST", path(created), @ndjson).body)
      assert length(lines) == 6
      assert List.last(lines) == %{"$error" => %{"code" => "TIMEOUT"}}
    end

    rest "a query that eats memory is 500, and takes nobody with it", %{kind: kind} do
      results = server()
      http = RestServers.start(kind, results, max_heap_bytes: 1_600_000)

      execute = fn
        %{limit: 15} -> []
        _page -> Enum.map(1..10_000_000, &%{"n" => &1})
      end

      created = create!(results, 20, execute: execute)
      response = RestServers.ask(http, "POST", path(created))
      assert {response.status, response.body} == {500, ~s({"error":"internal_error","message":"Internal error"})}
      assert RestServers.ask(http, "GET", path(created)).status == 200
    end

    rest "a client that leaves takes its query with it", %{kind: kind} do
      if kind == :listener do
        results = server()
        http = RestServers.start(kind, results)
        test = self()

        execute = fn
          %{limit: 15} ->
            []

          _page ->
            send(test, {:running, self()})
            Process.sleep(:infinity)
        end

        peer = HttpPeer.connect(http.port)
        created = create!(results, 20, execute: execute)
        :ok = HttpPeer.send_request(peer, RestServers.request("POST", path(created)))
        assert_receive {:running, pid}
        HttpPeer.cut(peer)
        eventually(fn -> not Process.alive?(pid) end)
      end
    end

    @tag req: "R6"
    rest "an id of 10 KiB is not found, where the web server lets it pass at all", %{kind: kind} do
      http = RestServers.start(kind, server())
      target = "/resources/" <> String.duplicate("a", 10 * 1024)
      assert RestServers.ask(http, "GET", target).status in [404, 414]
    end

    @tag req: "R5"
    rest "readers of a resource that is pinned and deleted get all rows or 404", %{kind: kind} do
      results = server()
      http = RestServers.start(kind, results)
      created = create!(results, 50, persist: :rows)
      target = path(created)

      answers =
        in_parallel(1..scaled(200), fn n ->
          case n do
            50 -> RestServers.ask(http, "PUT", target).status
            100 -> RestServers.ask(http, "DELETE", target).status
            _n -> RestServers.ask(http, "POST", target)
          end
        end)

      for %{} = answer <- answers do
        case answer.status do
          200 -> assert length(JSON.decode!(answer.body)["data"]) == 50
          404 -> assert answer.body == @not_found
        end
      end

      # Prefetched rows are not sent any more.
      assert RestServers.ask(http, "POST", target).body == @not_found
    end
  end

  describe "errors" do
    @tag req: "S1-56"
    rest "a query that fails is 500, in words that tell nothing", %{kind: kind} do
      results = server()
      http = RestServers.start(kind, results)

      for failing <- [
            fn -> raise "SELECT secret" end,
            fn -> throw(:secret) end,
            fn -> exit(:secret) end,
            fn -> :secret end
          ] do
        execute = fn options -> if options.limit == 15, do: [], else: failing.() end
        response = RestServers.ask(http, "POST", path(create!(results, 20, execute: execute)))
        assert response.status == 500
        assert %{"error" => "query_failed", "message" => message} = JSON.decode!(response.body)
        refute message =~ "secret"
      end
    end

    rest "a store that is down is 503", %{kind: kind} do
      results = server()
      http = RestServers.start(kind, results)
      created = create!(results, 5)
      DualResponse.shutdown(results)

      for method <- ["GET", "POST", "PUT", "DELETE"] do
        response = RestServers.ask(http, method, path(created))
        assert {response.status, HttpResponse.header(response, "retry-after")} == {503, "1"}
        assert JSON.decode!(response.body)["error"] == "storage_unavailable"
      end
    end

    @tag req: "RES-16"
    rest "what has expired is not found", %{kind: kind} do
      results = server()
      http = RestServers.start(kind, results)
      created = create!(results, 5, expiration: 1)
      eventually(fn -> DualResponse.get_resource(results, created.resource_id) == nil end)

      for method <- ["GET", "POST", "PUT", "DELETE"] do
        assert {method, RestServers.ask(http, method, path(created)).body} == {method, @not_found}
      end
    end
  end

  describe "whose results they are" do
    @describetag req: ["R1", "SEC-06", "Q5"]
    rest "another's is answered as what is not there, on every method", %{kind: kind} do
      results = server()
      identify = fn request -> %{tenant: token(request)} end
      http = RestServers.start(kind, results, identify: identify)
      created = create!(results, 5, tenant: "acme", subject: nil)
      unknown = "/resources/" <> String.duplicate("0", 32)

      for method <- ["GET", "POST", "PUT", "DELETE"], headers <- [[], bearer("globex"), bearer("ACME")] do
        theirs = RestServers.ask(http, method, path(created), headers: headers)
        assert told(theirs) == told(RestServers.ask(http, method, unknown, headers: headers))
        assert {theirs.status, theirs.body} == {404, @not_found}
      end

      for method <- ["GET", "POST", "PUT"] do
        assert RestServers.ask(http, method, path(created), headers: bearer("acme")).status == 200
      end

      assert RestServers.ask(http, "DELETE", path(created), headers: bearer("acme")).status == 204
    end

    def verdict(request), do: request |> token() |> Base.decode64!() |> :erlang.binary_to_term()

    rest "identify: returns what that of an MCP endpoint returns, or an owner", %{kind: kind} do
      results = server()
      http = RestServers.start(kind, results, identify: {__MODULE__, :verdict})
      ann = create!(results, 5, subject: "ann")
      acme = create!(results, 5, tenant: "acme", subject: "ann")
      user = create!(results, 5, subject: %{id: 1})

      ask = fn created, verdict ->
        RestServers.ask(http, "GET", path(created), headers: bearer(Base.encode64(:erlang.term_to_binary(verdict))))
      end

      for {verdict, statuses} <- [
            {{:ok, "ann"}, [200, 404, 404]},
            {{:ok, %McpServer.Auth{principal: "ann", scopes: []}}, [200, 404, 404]},
            {%{subject: "ann"}, [200, 404, 404]},
            {{:ok, %{subject: "ann"}}, [200, 404, 404]},
            {{:ok, %{tenant: "acme", subject: "ann"}}, [200, 200, 404]},
            {{:ok, %{id: 1}}, [404, 404, 200]},
            {{:ok, "bob"}, [404, 404, 404]},
            {%{}, [404, 404, 404]},
            {{:error, :unauthorized}, [401, 401, 401]},
            {{:error, {:unauthorized, ["rows"]}}, [401, 401, 401]},
            {{:error, {:insufficient_scope, ["rows"]}}, [403, 403, 403]},
            {{:error, :invalid_request}, [400, 400, 400]},
            {{:error, {:unavailable, 7}}, [503, 503, 503]}
          ] do
        assert {verdict, for(created <- [ann, acme, user], do: ask.(created, verdict).status)} == {verdict, statuses}
      end

      for verdict <- ["ann", nil, :ok, %{id: 1}, {:error, :no_such_reason}, {:error, {:unavailable, 0}}] do
        {status, log} = with_log(fn -> ask.(ann, verdict).status end)
        assert {verdict, status} == {verdict, 500}
        assert log =~ "MCP identify: of stored results returned "
        assert log =~ "It returns {:ok, principal}, an owner %{tenant: tenant, subject: subject}, "
      end
    end

    rest "authorize: that returns anything else is logged", %{kind: kind} do
      results = server()
      http = RestServers.start(kind, results, authorize: fn _request, _resource, _action -> true end)
      created = create!(results, 5)
      {status, log} = with_log(fn -> RestServers.ask(http, "GET", path(created)).status end)
      assert status == 500
      assert log =~ "MCP authorize: of stored results returned true. It returns :ok, or {:error, :unauthorized | "
    end

    rest "the query is told who asks", %{kind: kind} do
      results = server()
      http = RestServers.start(kind, results, identify: fn request -> %{tenant: "acme", subject: token(request)} end)
      execute = fn %{context: context} -> [%{"tenant" => context.tenant, "subject" => context.subject}] end
      created = create!(results, 1, tenant: "acme", subject: "ann", execute: execute)
      response = RestServers.ask(http, "POST", path(created), headers: bearer("ann"))
      assert JSON.decode!(response.body)["data"] == [%{"tenant" => "acme", "subject" => "ann"}]
    end

    rest "nobody knows who asks: 401 that says where to go, whatever the id", %{kind: kind} do
      results = server()
      metadata = %{resource: "https://api.example.com/resources", authorization_servers: ["https://as.example"]}

      identify = fn request ->
        with(nil <- token(request), do: {:error, :unauthorized}, else: (who -> %{tenant: who}))
      end

      http = RestServers.start(kind, results, identify: identify, resource_metadata: metadata)
      created = create!(results, 5, tenant: "acme")

      for method <- ["GET", "POST", "PUT", "DELETE"], target <- [path(created), "/resources/unknown"] do
        response = RestServers.ask(http, method, target)
        assert response.status == 401

        assert HttpResponse.header(response, "www-authenticate") ==
                 ~s(Bearer resource_metadata="https://api.example.com/.well-known/oauth-protected-resource/resources")
      end

      assert RestServers.ask(http, "GET", path(created), headers: bearer("acme")).status == 200
    end
  end

  describe "authorize" do
    @describetag req: "Q1"
    rest "is asked about each action", %{kind: kind} do
      results = server()
      test = self()

      authorize = fn request, resource, action ->
        send(test, {:asked, resource && resource.name, action})

        case token(request) do
          nil -> {:error, :unauthorized}
          "reader" when action in [:metadata, :fetch] -> :ok
          "reader" -> {:error, :forbidden}
          "hidden" -> {:error, :not_found}
          "broken" -> raise "secret"
          "wrong" -> true
        end
      end

      http = RestServers.start(kind, results, authorize: authorize)
      created = create!(results, 5)

      ask = fn method, token ->
        RestServers.ask(http, method, path(created), headers: (token && bearer(token)) || [])
      end

      for {method, action} <- [{"GET", :metadata}, {"POST", :fetch}] do
        assert ask.(method, "reader").status == 200
        assert_receive {:asked, "Numbers", ^action}
      end

      for {method, action} <- [{"PUT", :pin}, {"DELETE", :delete}] do
        response = ask.(method, "reader")
        assert {response.status, JSON.decode!(response.body)["error"]} == {403, "forbidden"}
        assert_receive {:asked, "Numbers", ^action}
      end

      assert ask.("GET", nil).status == 401
      assert ask.("GET", "hidden").body == @not_found
      # If the hook raises, access is denied, and its reason is not sent.
      assert {ask.("GET", "broken").status, ask.("GET", "wrong").status} == {500, 500}
      refute ask.("GET", "broken").body =~ "secret"
    end

    @tag req: "R1"
    rest "its 401 tells nobody which ids there are", %{kind: kind} do
      results = server()

      authorize = fn request, %DualResponse.Resource{}, _action ->
        if token(request), do: :ok, else: {:error, :unauthorized}
      end

      careful = fn request, _resource, _action -> if token(request), do: :ok, else: {:error, :unauthorized} end
      created = create!(results, 5)
      http = RestServers.start(kind, results, authorize: careful)

      for method <- ["GET", "POST", "PUT", "DELETE"] do
        assert told(RestServers.ask(http, method, path(created))) ==
                 told(RestServers.ask(http, method, "/resources/unknown"))

        assert RestServers.ask(http, method, "/resources/unknown", headers: bearer("x")).status == 404
      end

      # A hook that only knows resources is called for an unknown one too, which logs nothing. The log is shared by all
      # tests, so the assertion looks for this test's name.
      log =
        capture_log(fn ->
          http = RestServers.start(kind, results, authorize: authorize)
          assert RestServers.ask(http, "GET", "/resources/unknown").status == 404
        end)

      refute log =~ "R1: its 401 tells nobody"
    end

    rest "hooks may be given as {module, function}", %{kind: kind} do
      results = server()
      hooks = [identify: {__MODULE__, :identify}, authorize: {__MODULE__, :authorize}]
      http = RestServers.start(kind, results, hooks)
      created = create!(results, 5, tenant: "acme")
      assert RestServers.ask(http, "GET", path(created)).status == 200
      assert RestServers.ask(http, "DELETE", path(created)).status == 403
    end
  end

  def identify(_request), do: %{tenant: "acme"}
  def authorize(_request, %{tenant: "acme"}, action), do: if(action == :delete, do: {:error, :forbidden}, else: :ok)

  describe "signed URLs" do
    @describetag req: "Q1"
    @secret String.duplicate("s", 32)

    defp signed(options \\ []), do: server(signed_urls: [secret: @secret] ++ options)

    defp signed_path(response),
      do: "/resources" <> String.replace_prefix(response.resource_url, "https://api.example.com/resources", "")

    rest "let in who has one, to what it permits", %{kind: kind} do
      results = signed()
      http = RestServers.start(kind, results)
      created = create!(results, 5, tenant: "acme", subject: "ann")
      target = signed_path(created)
      assert target =~ ~r"\A/resources/[0-9a-f]{32}\?exp=\d+&sig=[A-Za-z0-9_-]{43}\z"
      assert RestServers.ask(http, "GET", target).status == 200
      assert length(JSON.decode!(RestServers.ask(http, "POST", target).body)["data"]) == 5
      for method <- ["PUT", "DELETE"], do: assert(RestServers.ask(http, method, target).body == @not_found)
      # Without a token, an id gives no access.
      assert RestServers.ask(http, "GET", path(created)).status == 401
      assert RestServers.ask(http, "GET", "/resources/unknown").status == 401
    end

    rest "that are forged, changed or another's are not found", %{kind: kind} do
      results = signed()
      http = RestServers.start(kind, results)
      [one, two] = for _ <- 1..2, do: create!(results, 5)
      [_, exp, sig] = Regex.run(~r/exp=(\d+)&sig=(.+)\z/, signed_path(one))
      later = String.to_integer(exp) + 1
      <<first, rest::binary>> = sig

      for query <- [
            "exp=#{later}&sig=#{sig}",
            "exp=#{exp}&sig=#{<<if(first == ?A, do: ?B, else: ?A)>> <> rest}",
            "exp=#{exp}&sig=#{String.slice(sig, 0, 42)}",
            "exp=#{exp}&sig=#{sig}A",
            "exp=#{exp}",
            "sig=#{sig}",
            "exp=#{exp}&sig=",
            "exp=#{exp}&sig=#{sig}&sig=#{sig}"
          ] do
        response = RestServers.ask(http, "GET", path(one) <> "?" <> query)
        assert {query, response.status, response.body} == {query, 404, @not_found}
      end

      assert RestServers.ask(http, "GET", path(two) <> "?exp=#{exp}&sig=#{sig}").body == @not_found
      assert RestServers.ask(http, "GET", "/resources/unknown?exp=#{exp}&sig=#{sig}").body == @not_found
    end

    rest "may permit more, and hooks are for those who have none", %{kind: kind} do
      results = signed(actions: [:pin, :delete])

      identify = fn request ->
        with(nil <- token(request), do: {:error, :unauthorized}, else: (who -> %{subject: who}))
      end

      http = RestServers.start(kind, results, identify: identify)
      created = create!(results, 5, subject: "ann")
      assert RestServers.ask(http, "GET", signed_path(created)).status == 404
      assert RestServers.ask(http, "PUT", signed_path(created)).status == 200
      assert RestServers.ask(http, "GET", path(created)).status == 401
      assert RestServers.ask(http, "GET", path(created), headers: bearer("ann")).status == 200
      assert RestServers.ask(http, "DELETE", signed_path(created)).status == 204
    end
  end

  describe "where it is served" do
    @describetag req: "S1-24"
    test "the listener serves messages and results beside each other" do
      results = server()
      http = HttpServers.start(:listener, routes: [{"/api/results", {DualResponse.Rest, server: results}}])
      created = create!(results, 5)
      assert RestServers.ask(http, "GET", "/api/results/" <> created.resource_id).status == 200
      assert HttpClient.text(HttpClient.call(http, "echo", %{"text" => "x"})) == "x"
      # Other paths are not found.
      assert RestServers.ask(http, "GET", path(created)).status == 404
    end

    test "a listener's identify: asks for results too, and its principal is the subject" do
      results = server()
      identify = fn request -> with(nil <- token(request), do: {:error, :unauthorized}, else: (who -> {:ok, who})) end

      http =
        HttpServers.start(:listener, routes: [{"/resources", {DualResponse.Rest, server: results}}], identify: identify)

      created = create!(results, 5, subject: "ann")
      ask = &RestServers.ask(http, "GET", path(created), headers: &1).status
      assert {ask.([]), ask.(bearer("bob")), ask.(bearer("ann"))} == {401, 404, 200}
    end

    test "the dispatcher of a listener is replaced, and clients hear little of it" do
      results = server()
      http = HttpServers.start(:listener, routes: [{"/resources", {DualResponse.Rest, server: results}}])
      created = create!(results, 5)
      %{mount: %{routes: [%{state: rest}]}} = :sys.get_state(http.pid)
      dispatcher = DualResponse.Rest.Dispatcher.find(rest)
      Process.exit(dispatcher, :kill)
      eventually(fn -> RestServers.ask(http, "GET", path(created)).status == 200 end)
      refute DualResponse.Rest.Dispatcher.find(rest) == dispatcher
    end

    test "wrong options are mistakes of the caller" do
      for {routes, text} <- [
            {"/resources", "a list of"},
            {[{"/r", {R, server: R}}], "is no module"},
            {[{"/mcp", {DualResponse.Rest, server: R}}], "a path of its own"},
            {[{"/mcp/resources", {DualResponse.Rest, server: R}}], "a path of its own"},
            {[{"/a", {DualResponse.Rest, server: R}}, {"/a/b", {DualResponse.Rest, server: R}}], "a path of its own"},
            {[{"", {DualResponse.Rest, server: R}}], "a list of"},
            {[{"resources", {DualResponse.Rest, server: R}}], "a list of"},
            {[{"/resources/", {DualResponse.Rest, server: R}}], "a list of"},
            {[{"/resources", DualResponse.Rest}], "server"},
            {[{"/r", {DualResponse.Rest, server: R, max_limit: 0}}], "max_limit"},
            {[{"/r", {DualResponse.Rest, server: R, default_limit: 2_000}}], "default_limit"},
            {[{"/r", {DualResponse.Rest, server: R, authorize: fn _ -> :ok end}}], "authorize"},
            {[{"/r", {DualResponse.Rest, server: R, auth: :maybe}}], "auth"},
            {[{"/r", {DualResponse.Rest, server: R, no_such_option: 1}}], "no_such_option"}
          ] do
        error = assert_raise ArgumentError, fn -> HttpServer.start_link(router: HttpRouter, port: 0, routes: routes) end

        assert {routes, Exception.message(error) =~ text} == {routes, true}
      end
    end

    @tag req: "Q1"
    test "auth: :required without a hook is warned of, and with one is not" do
      warned = fn results, options ->
        log = capture_log(fn -> RestServers.start(:listener, results, options) end)
        log =~ "The results of #{inspect(results)} are served without authorize:"
      end

      assert warned.(server(), auth: :required)
      refute warned.(server(), auth: :optional)
      refute warned.(server(), [])
      refute warned.(server(), auth: :required, identify: fn _ -> %{} end)
      refute warned.(server(), auth: :required, authorize: fn _, _, _ -> :ok end)
      refute warned.(signed(), auth: :required)
    end
  end

  test "every error of the library has a status" do
    for {code, status} <- [
          query_execution_failed: 500,
          storage_error: 503,
          resource_not_found: 404,
          resource_expired: 404,
          resource_gone: 404,
          invalid_sort: 400,
          count_execution_failed: 500
        ] do
      assert {^status, _headers, body} = DualResponse.Rest.refuse(Error.new(code, "Text"))
      assert %{"error" => _, "message" => _} = JSON.decode!(body)
    end
  end
end
