defmodule McpServer.DualResponse.RestTest do
  # The REST endpoints without a server; test/http/rest_*.exs has the tests from the client's side.
  use ExUnit.Case, async: true

  import McpServer.DualResponses

  alias McpServer.DualResponse
  alias McpServer.DualResponse.{Resource, Rest}
  alias McpServer.DualResponse.Rest.Pages
  alias McpServer.DualResponses.FailingStore
  alias McpServer.{Fixtures, JSON}

  @moduletag :capture_log

  @not_found ~s({"error":"not_found","message":"Resource not found or expired"})

  defp serve(rest, method, id, options \\ []) do
    Rest.serve(rest, %{
      method: method,
      target: "/" <> id,
      headers: [{"host", "localhost"} | Keyword.get(options, :headers, [])],
      body: Keyword.get(options, :body, "")
    })
  end

  # The document's resource, saved without the clock.
  defp documented(server, fields \\ []) do
    {:ok, %{store: store, ref: ref}} = DualResponse.settings(server)

    resource =
      struct!(
        %Resource{
          id: "abc123",
          name: "Institution Search Results",
          columns: [%{"name" => "id", "type" => "number"}],
          total_count: 847,
          sample_data: [],
          persist: :rows,
          sort_mode: :memory,
          created_at: ~U[2025-01-15 10:30:00Z],
          expires_at: ~U[2025-01-15 10:45:00Z],
          deadline: System.monotonic_time(:millisecond) + 60_000,
          access_count: 3
        },
        fields
      )

    {:ok, "abc123"} = store.save(ref, resource, for(id <- 1..847, do: %{"id" => id, "enrollment" => id}))
    :ok
  end

  # The text of a fixture as it is sent: keys in the same order, no white space between them.
  defp golden(name, change \\ & &1) do
    Fixtures.read(name) |> String.replace(~r/\n\s*/, "") |> String.replace(~s(": ), ~s(":)) |> change.()
  end

  describe "the documents' examples" do
    @tag req: "S1-50"
    test "s1-05, what GET answers" do
      server = server()
      documented(server)
      columns = &String.replace(&1, ~s([{"$elided":true}]), ~s([{"name":"id","type":"number"}]))
      assert {200, headers, body} = serve(Rest.new(server: server), "GET", "abc123")
      assert {"content-type", "application/json"} in headers
      assert body == golden("s1-05-rest-get-200.json", columns)
    end

    @tag req: ["RES-17", "RES-18"]
    test "derived-s1-rest-get-pinned, what GET answers of a pinned one" do
      server = server()
      documented(server, expires_at: nil, deadline: nil)
      assert {200, _headers, body} = serve(Rest.new(server: server), "GET", "abc123")
      assert body == golden("derived-s1-rest-get-pinned.json")
    end

    @tag req: "RES-17"
    test "after PUT the status stays ready" do
      server = server()
      documented(server)
      rest = Rest.new(server: server)
      assert {200, _headers, _pinned} = serve(rest, "PUT", "abc123")
      assert {200, _headers, body} = serve(rest, "GET", "abc123")
      assert body == golden("derived-s1-rest-get-pinned.json")
    end

    @tag req: "S1-51"
    test "s1-06, what is answered of what is not there" do
      rest = Rest.new(server: server())

      for method <- ["GET", "POST", "PUT", "DELETE"] do
        assert {404, _headers, body} = serve(rest, method, "abc123")
        assert body == golden("s1-06-rest-get-404.json")
      end
    end

    @tag req: "S1-52"
    test "s1-07 asks for what s1-08 answers" do
      server = server()

      documented(server,
        columns: [%{"name" => "id", "type" => "number"}, %{"name" => "enrollment", "type" => "number"}]
      )

      request = Fixtures.read("s1-07-rest-post-request.json")
      assert {200, _headers, body} = serve(Rest.new(server: server), "POST", "abc123", body: request)
      assert [%{"id" => 847} | _] = data = JSON.decode!(body)["data"]
      assert length(data) == 100
      rows = JSON.encode!(data)
      assert body == golden("s1-08-rest-post-200.json", &String.replace(&1, ~s([{"$elided":true}]), rows))
    end

    @tag req: "S1-53"
    test "derived-s1-rest-post-last-page" do
      server = server()
      documented(server)
      assert {200, _headers, body} = serve(Rest.new(server: server), "POST", "abc123", body: ~s({"offset":800}))
      data = JSON.decode!(body)["data"]
      assert for(%{"id" => id} <- data, do: id) == Enum.to_list(801..847)
      rows = JSON.encode!(data)
      assert body == golden("derived-s1-rest-post-last-page.json", &String.replace(&1, ~s([{"id":801}]), rows))
    end

    @tag req: "S1-54"
    test "s1-09, what PUT answers" do
      server = server()
      documented(server)
      assert {200, _headers, body} = serve(Rest.new(server: server), "PUT", "abc123")
      assert body == golden("s1-09-rest-put-200.json")
    end

    @tag req: "S1-55"
    test "DELETE answers with nothing, once" do
      server = server()
      documented(server)
      rest = Rest.new(server: server)
      assert {204, _headers, ""} = serve(rest, "DELETE", "abc123")
      assert {404, _headers, @not_found} = serve(rest, "DELETE", "abc123")
    end

    @tag req: "S1-34"
    test "times are in UTC, in whole seconds, with a Z" do
      server = server()
      rest = Rest.new(server: server)
      {200, _headers, body} = serve(rest, "GET", create!(server, 1).resource_id)
      %{"created_at" => created_at, "expires_at" => expires_at} = JSON.decode!(body)
      for time <- [created_at, expires_at], do: assert(time =~ ~r/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\z/)
    end
  end

  describe "paging" do
    @tag req: ["RES-21", "S1-53"]
    test "pages concatenate to the whole, whatever their size" do
      server = server()
      rest = Rest.new(server: server)

      for total <- [0, 1, 2, 7, 30], persist <- [:rows, :query], limit <- 1..8 do
        created = create!(server, total, persist: persist)

        assert {total, limit, pages(rest, created.resource_id, limit)} ==
                 {total, limit, Enum.to_list(0..(total - 1)//1)}
      end
    end

    defp pages(rest, id, limit, offset \\ 0) do
      {200, _headers, body} = serve(rest, "POST", id, body: JSON.encode!(%{offset: offset, limit: limit}))
      page = JSON.decode!(body)
      assert page["returned_count"] == length(page["data"])
      assert page["has_next"] == (page["next_offset"] != nil)
      rest_of = if page["has_next"], do: pages(rest, id, limit, page["next_offset"]), else: []
      for(%{"n" => n} <- page["data"], do: n) ++ rest_of
    end

    @tag req: "RES-14"
    test "the keys and values of rows stay as they are" do
      server = server()
      rest = Rest.new(server: server)

      row = %{
        :is_open => true,
        "createdAt" => ~U[2025-01-15 10:30:00Z],
        "näme_x" => nil,
        "n" => 12_345_678_901_234_567_890
      }

      created = create!(server, 1, execute: fn _ -> [row] end)
      {200, _headers, body} = serve(rest, "POST", created.resource_id)

      assert body =~
               ~s({"data":[{"createdAt":"2025-01-15T10:30:00Z","is_open":true,"n":12345678901234567890,"näme_x":null}],)
    end

    @tag req: ["S1-58", "RES-20"]
    test "a sort runs the query again" do
      server = server()
      test = self()

      execute = fn options ->
        send(test, {:executed, Map.take(options, [:offset, :limit, :sort])})
        []
      end

      created = create!(server, 9, execute: execute)
      assert_received {:executed, %{offset: 0, limit: 15, sort: nil}}
      body = ~s({"offset":3,"limit":2,"sort":{"field":"text","order":"Desc"}})
      {200, _headers, _body} = serve(Rest.new(server: server), "POST", created.resource_id, body: body)
      assert_received {:executed, %{offset: 3, limit: 2, sort: %{field: "text", order: :desc}}}
      body = ~s({"sort":[{"field":"text"},{"field":"n","order":"desc"}]})
      {200, _headers, _body} = serve(Rest.new(server: server), "POST", created.resource_id, body: body)
      keys = [%{field: "text", order: :asc}, %{field: "n", order: :desc}]
      assert_received {:executed, %{offset: 0, limit: 100, sort: ^keys}}
    end

    test "a page of kept rows is held ready, counts, and is forgotten with its resource" do
      server = server()
      rest = %{Rest.new(server: server) | pages: Pages.new(1_000_000, 25)}
      created = create!(server, 3, persist: :rows)
      {200, _headers, first} = serve(rest, "POST", created.resource_id)
      assert {:ok, ^first, 3} = Pages.fetch(rest.pages, {created.resource_id, 0, 100})
      assert {200, _headers, ^first} = serve(rest, "POST", created.resource_id)
      assert DualResponse.get_resource(server, created.resource_id).access_count == 2
      # Another limit gives another page.
      {200, _headers, other} = serve(rest, "POST", created.resource_id, body: ~s({"limit":2}))
      assert length(JSON.decode!(other)["data"]) == 2
      {204, _headers, ""} = serve(rest, "DELETE", created.resource_id)
      assert {404, _headers, @not_found} = serve(rest, "POST", created.resource_id)
    end

    # 512 bytes more are counted for each page.
    test "pages that are held ready have a bound" do
      pages = Pages.new(16_000, 100)
      body = String.duplicate("x", 488)
      for n <- 1..16, do: Pages.put(pages, n, {nil, n}, body, 1)
      assert for(n <- 1..16, do: Pages.fetch(pages, n)) == List.duplicate({:ok, body, 1}, 16)
      Pages.put(pages, 17, {nil, 17}, body, 1)
      assert {:ok, ^body, 1} = Pages.fetch(pages, 17)
      assert Pages.fetch(pages, 1) == :error
      Pages.put(pages, :long, {nil, :long}, body <> "x", 1)
      assert Pages.fetch(pages, :long) == :error
      Pages.put(pages, :empty, {nil, :empty}, "{}", 0)
      assert Pages.fetch(pages, :empty) == :error
      assert Pages.fetch(nil, 1) == :error
    end

    test "pages of one owner displace only its own" do
      pages = Pages.new(64_000, 25)
      body = String.duplicate("x", 488)
      for n <- 1..4, do: Pages.put(pages, {:ada, n}, {nil, "ada"}, body, 1)
      for n <- 1..16, do: Pages.put(pages, {:eve, n}, {nil, "eve"}, body, 1)
      assert Enum.all?(1..16, &match?({:ok, _body, 1}, Pages.fetch(pages, {:eve, &1})))
      for n <- 17..100, do: Pages.put(pages, {:eve, n}, {nil, "eve"}, body, 1)
      assert Enum.all?(1..4, &match?({:ok, _body, 1}, Pages.fetch(pages, {:ada, &1})))
      assert Enum.count(1..100, &match?({:ok, _body, 1}, Pages.fetch(pages, {:eve, &1}))) in 1..16
    end
  end

  describe "streams" do
    @describetag req: "Q4"
    @ndjson [headers: [{"accept", "application/x-ndjson"}]]

    test "one page is read for each part that is taken" do
      server = server()
      asked = :counters.new(1, [])

      execute = fn %{offset: offset, limit: limit} ->
        :counters.add(asked, 1, 1)
        for n <- 1..limit, do: %{"n" => offset + n}
      end

      created = create!(server, 100, execute: execute)
      :counters.put(asked, 1, 0)
      rest = Rest.new(server: server, stream_batch: 10)

      for taken <- [1, 2, 5] do
        {:stream, 200, headers, parts} = serve(rest, "POST", created.resource_id, @ndjson)
        assert {"x-total-count", "100"} in headers
        assert length(Enum.take(parts, taken)) == taken
        assert :counters.get(asked, 1) == taken
        :counters.put(asked, 1, 0)
      end

      {:stream, 200, _headers, parts} = serve(rest, "POST", created.resource_id, @ndjson)
      assert List.last(Enum.to_list(parts)) == ~s({"$end":true,"returned_count":100}\n)
      assert :counters.get(asked, 1) == 10
    end

    test "500 rows are read at once, unless it is said otherwise" do
      server = server()
      test = self()

      execute = fn %{limit: limit, offset: offset} ->
        send(test, {:limit, limit})
        for n <- 1..limit, do: %{n: offset + n}
      end

      created = create!(server, 600, execute: execute, sample_size: 1)
      {:stream, 200, _headers, _parts} = serve(Rest.new(server: server), "POST", created.resource_id, @ndjson)
      assert_received {:limit, 500}
    end
  end

  describe "a store that fails" do
    defp failing do
      server = server(store: FailingStore)
      {server, create!(server, 5, persist: :rows).resource_id, Rest.new(server: server)}
    end

    @tag req: "S1-44"
    test "is 503, and says nothing of why" do
      for {callback, method, answer} <- [
            {:get, "GET", {:error, "secret"}},
            {:get, "PUT", {:error, "secret"}},
            {:get, "DELETE", {:error, "secret"}},
            {:rows, "POST", {:error, "secret"}},
            {:update, "PUT", {:error, "secret"}},
            {:delete, "DELETE", {:error, "secret"}}
          ] do
        {server, id, rest} = failing()
        FailingStore.fail(server, callback, fn -> answer end)
        assert {503, headers, body} = serve(rest, method, id)
        assert {"retry-after", "1"} in headers
        assert body == ~s({"error":"storage_unavailable","message":"The resource store is unavailable"})
        FailingStore.heal(server, callback)
      end
    end

    test "to count the access does not keep the rows from whoever asks" do
      {server, id, rest} = failing()
      FailingStore.fail(server, :touch, fn -> {:error, "secret"} end)
      # The second response is sent from the cached pages.
      for rest <- [rest, %{rest | pages: Pages.new(1024 * 1024, 25)}], _ <- 1..2 do
        assert {200, _headers, body} = serve(rest, "POST", id)
        assert %{"data" => [%{"n" => 0} | _], "returned_count" => 5} = JSON.decode!(IO.iodata_to_binary(body))
      end

      FailingStore.heal(server, :touch)
    end

    test "a server that never ran is 503 too" do
      assert {503, _headers, _body} = serve(Rest.new(server: :nobody), "GET", "abc123")
    end
  end

  describe "expiry" do
    @describetag req: "R2"
    test "a resource is there until its time, and then not found, on every method" do
      for method <- ["GET", "POST", "PUT", "DELETE"] do
        {clock, advance} = clock()
        server = server(clock: clock)
        rest = Rest.new(server: server)
        id = create!(server, 5, expiration: 1_000).resource_id
        advance.(999)
        assert {status, _headers, _body} = serve(rest, method, id)
        assert status in [200, 204]
        id = create!(server, 5, expiration: 1_000).resource_id
        advance.(1_000)
        assert {404, _headers, @not_found} = serve(rest, method, id)
      end
    end

    test "a pinned resource outlives its time" do
      {clock, advance} = clock()
      server = server(clock: clock)
      rest = Rest.new(server: server)
      id = create!(server, 5, expiration: 1_000).resource_id
      assert {200, _headers, _body} = serve(rest, "PUT", id)
      advance.(1_000_000)
      assert {200, _headers, _body} = serve(rest, "PUT", id)
      assert {200, _headers, _body} = serve(rest, "POST", id)
    end

    # Nobody's share counts them. Earlier, one client could pin results of anonymous calls until the store was full.
    test "what belongs to nobody outlives its time, and leaves a full store, where clients have names" do
      {clock, advance} = clock()
      server = server(clock: clock, max_resources: 4)
      named = Rest.new(server: server, identify: fn _request -> {:ok, "eve"} end)
      open = Rest.new(server: server)
      [first | _others] = ids = for _ <- 1..4, do: create!(server, 5, expiration: 1_000).resource_id

      for id <- ids do
        assert {200, _headers, ~s({"status":"pinned","expires_at":null})} = serve(named, "PUT", id)
        # Times of last use have a resolution of a millisecond.
        Process.sleep(2)
      end

      advance.(1_000_000_000)
      for id <- ids, do: assert({200, _headers, _body} = serve(named, "GET", id))
      create!(server, 5, subject: "ada")
      assert {404, _headers, @not_found} = serve(named, "GET", first)

      # Where nobody has a name, all are one client.
      for id <- tl(ids), do: assert({200, _headers, _body} = serve(open, "PUT", id))
      create!(server, 5)
      for id <- tl(ids), do: assert({200, _headers, _body} = serve(open, "GET", id))
    end
  end

  @tag req: ["RES-16", "RES-40"]
  test "what was deleted on purpose is answered like what never was" do
    server = server(tombstones: 60_000)
    rest = Rest.new(server: server)
    id = create!(server, 5).resource_id
    assert {204, _headers, ""} = serve(rest, "DELETE", id)
    assert {404, _headers, @not_found} = serve(rest, "GET", id)
  end

  # Earlier, a tombstone without rows gave an empty page, or a stream with a regular end.
  @tag req: "R5"
  test "what is deleted meanwhile leaves no page without its rows" do
    for persisted <- [[persist: :rows], [persist: :rows, sort_mode: :memory]] do
      server = server(tombstones: 60_000)
      id = create!(server, 1_000, persisted).resource_id
      {:ok, resource} = DualResponse.lookup(server, id)
      {:ok, 1_000, pages} = DualResponse.stream(server, resource, %{batch: 100})
      assert DualResponse.delete_resource(server, id)

      query = %{offset: 0, limit: 10, sort: nil}
      assert {:error, %{code: :resource_not_found}} = DualResponse.fetch(server, resource, query)
      assert_raise DualResponse.Error, fn -> Enum.to_list(pages) end
    end
  end

  @tag req: "Q4"
  test "a row whose only cell is empty is a row" do
    server = server()
    values = [1, nil, "", 2]
    options = [columns: [%{name: "n"}], count: fn -> 4 end, execute: fn _ -> for(n <- values, do: %{"n" => n}) end]
    id = create!(server, 4, options).resource_id
    {:stream, 200, _headers, lines} = serve(Rest.new(server: server), "POST", id, headers: [{"accept", "text/csv"}])
    assert IO.iodata_to_binary(Enum.to_list(lines)) == ~s(n\r\n1\r\n""\r\n""\r\n2\r\n)
  end

  @tag req: "R7"
  test "rows that hold a web page are data all the same" do
    server = server()
    page = "<html><script>alert(1)</script></html>"
    id = create!(server, 1, execute: fn _options -> [%{"text/html" => page}] end).resource_id

    for headers <- [[], [{"accept", "text/html, */*;q=0.1"}], [{"range", "bytes=0-"}, {"if-none-match", "x"}]] do
      assert {200, answered, body} = serve(Rest.new(server: server), "POST", id, headers: headers)
      assert [%{"text/html" => ^page}] = JSON.decode!(body)["data"]
      assert {"content-type", "application/json"} in answered
      assert {"x-content-type-options", "nosniff"} in answered
      assert {"content-disposition", "attachment"} in answered
    end
  end

  @tag req: "RES-15"
  test "the link of a tool's result is where the endpoint has it" do
    server = server()
    created = create!(server, 1)
    "https://api.example.com/resources/" <> id = created.resource_url
    assert {200, _headers, _body} = serve(Rest.new(server: server), "GET", id)
  end

  test "hooks are given what stands under :caller, else the request" do
    server = server()
    test = self()

    rest =
      Rest.new(
        server: server,
        authorize: fn request, _resource, _action ->
          send(test, {:request, request})
          :ok
        end
      )

    id = create!(server, 1).resource_id
    request = %{method: "GET", target: "/" <> id, headers: [{"host", "localhost"}], body: ""}
    assert {200, _headers, _body} = Rest.serve(rest, request)
    assert_received {:request, ^request}
    assert {200, _headers, _body} = Rest.serve(rest, Map.put(request, :caller, :me))
    assert_received {:request, :me}
  end

  test "options that are wrong are named" do
    for {options, text} <- [
          {[], "server:"},
          {[server: "results"], ":server"},
          {[server: R, timeout: 0], ":timeout"},
          {[server: R, max_body_bytes: -1], ":max_body_bytes"},
          {[server: R, default_limit: 1_001], "default_limit"},
          {[server: R, identify: fn -> %{} end], ":identify"},
          {[server: R, authorize: "yes"], ":authorize"},
          {[server: R, resource_metadata: "https://api.example.com"], ":resource_metadata"},
          {[server: R, resource_metadata: %{}], "resource_metadata"},
          {[server: R, allowed_hosts: ["a b"]], "a b"},
          {[server: R, allowed_hosts: "a"], "allowed_hosts"},
          {[server: R, auth: true], ":auth"},
          {[server: R, sever: 1], "sever"},
          {:server, "keyword list"}
        ] do
      error = assert_raise ArgumentError, fn -> Rest.new(options) end
      assert {options, Exception.message(error) =~ text} == {options, true}
    end
  end
end
