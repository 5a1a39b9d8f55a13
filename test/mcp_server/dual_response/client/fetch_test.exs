defmodule McpServer.DualResponse.Client.FetchTest do
  # The client's requests and what it makes of the answers, over real sockets.
  use ExUnit.Case, async: true

  import McpServer.Fixtures
  import McpServer.ScriptedServer

  alias McpServer.DualResponse.{Client, Error}
  alias McpServer.DualResponse.Client.{FetchResult, Metadata, Parsed}
  alias McpServer.JSON

  @columns [%{"name" => "id", "type" => "number"}]
  @hour 3600

  defp parsed(server, options \\ [], metadata \\ %{}) do
    client = Client.new([base_url: server.url <> "/resources"] ++ options)

    Client.parse_structured(client, %{
      "results" => [],
      "resource" => %{"uri" => "resource://abc123"},
      "metadata" => Map.merge(%{"total_count" => 847, "columns" => @columns}, metadata)
    })
  end

  defp row(n), do: %{"id" => n}

  defp page(ids, offset, total, next \\ nil) do
    rows = Enum.map(ids, &row/1)

    %{
      "data" => rows,
      "total_count" => total,
      "returned_count" => length(rows),
      "offset" => offset,
      "has_next" => next != nil,
      "next_offset" => next
    }
  end

  # A server that keeps to the document: rows 1 to `total`.
  defp resource(total) do
    start(fn request ->
      %{"offset" => offset, "limit" => limit} = JSON.decode!(request.body)
      ids = Enum.slice(1..total//1, offset, limit)
      next = offset + length(ids)
      json(page(ids, offset, total, if(next < total, do: next)))
    end)
  end

  defp ids(rows), do: Enum.map(rows, & &1["id"])
  defp header(request, name), do: for({^name, value} <- request.headers, do: value)

  describe "S1-65: a page" do
    test "S1-65: the document's question and answer" do
      server = start_with([json(page(1..100, 0, 847, 100))])
      sort = %{field: "enrollment", order: :desc}

      assert {:ok, %FetchResult{} = result} = Parsed.fetch(parsed(server), offset: 0, limit: 100, sort: sort)
      assert ids(result.data) == Enum.to_list(1..100)

      assert %{result | data: []} == %FetchResult{
               data: [],
               total_count: 847,
               returned_count: 100,
               offset: 0,
               has_next: true,
               has_previous: false,
               next_offset: 100
             }

      request = requested(server)
      assert {request.method, request.target} == {"POST", "/resources/abc123"}
      assert header(request, "content-type") == ["application/json"]
      assert header(request, "accept") == ["application/json"]
      assert header(request, "accept-encoding") == ["identity"]

      with {:ok, text} <- read("s1-07-rest-post-request.json"),
           do: assert(JSON.decode!(request.body) == JSON.decode!(text))
    end

    test "S1-65: has_previous is computed, on the last page too" do
      server = start_with([json(page([847], 846, 847))])

      assert {:ok, %FetchResult{has_previous: true, has_next: false, next_offset: nil, offset: 846}} =
               Parsed.fetch(parsed(server), offset: 846)
    end

    test "S1-65: by default the first hundred, unsorted; several sort keys go as they are" do
      server = start(fn _request -> json(page([1], 0, 1)) end)
      parsed = parsed(server)
      assert {:ok, _page} = Parsed.fetch(parsed)
      assert JSON.decode!(requested(server).body) == %{"offset" => 0, "limit" => 100, "sort" => nil}

      assert {:ok, _page} = Parsed.fetch(parsed, sort: [%{field: "state"}, %{field: "name", order: :desc}])

      assert JSON.decode!(requested(server).body)["sort"] == [
               %{"field" => "state", "order" => "asc"},
               %{"field" => "name", "order" => "desc"}
             ]
    end

    test "S1-65: options that are none raise before anything is sent" do
      server = start_with([])

      for options <- [
            [offset: -1],
            [limit: 0],
            [limit: "1"],
            [timeout: 0],
            [sort: "name"],
            [sort: []],
            [sort: %{field: :name}],
            [sort: %{field: "name", order: :up}],
            [page: 1]
          ] do
        assert_raise ArgumentError, fn -> Parsed.fetch(parsed(server), options) end
      end

      assert all_requested(server) == []
    end

    test "S1-65: rows come back as they were sent" do
      rows = [%{"n" => 123_456_789_012_345_678_901, "nil" => nil, "nested" => %{"é" => [1.5, true]}}]
      server = start_with([json(%{page([1], 0, 1) | "data" => rows})])
      assert {:ok, %{data: ^rows}} = Parsed.fetch(parsed(server))
    end
  end

  describe "S1-66: all rows" do
    test "S1-66: in order, in batches of 500, with progress after each, the last of which is the total" do
      server = resource(1_250)
      me = self()
      progress = fn fetched, total -> send(me, {:progress, fetched, total}) end

      assert {:ok, rows} = Parsed.fetch_all(parsed(server), on_progress: progress)
      assert ids(rows) == Enum.to_list(1..1_250)
      for fetched <- [500, 1_000, 1_250], do: assert_received({:progress, ^fetched, 1_250})
      refute_received {:progress, _fetched, _total}
      assert for(request <- all_requested(server), do: JSON.decode!(request.body)["offset"]) == [0, 500, 1_000]
    end

    test "S1-66: every boundary: the pages concatenate to the whole" do
      for total <- [0, 1, 2, 3, 4, 6, 7], size <- [1, 2, 3, 10] do
        server = resource(total)
        assert {:ok, rows} = Parsed.fetch_all(parsed(server), batch_size: size)
        assert ids(rows) == Enum.to_list(1..total//1)
        assert length(all_requested(server)) == max(1, ceil(total / size))
      end
    end

    test "S1-66: a server that sends fewer rows than asked for is asked again" do
      server = start_with([json(page([1, 2], 0, 3, 2)), json(page([3], 2, 3))])
      assert {:ok, rows} = Parsed.fetch_all(parsed(server), batch_size: 5_000)
      assert ids(rows) == [1, 2, 3]
    end

    test "S1-66: max_rows is a bound, and known to be passed after the first page" do
      assert {:ok, rows} = Parsed.fetch_all(parsed(resource(10)), batch_size: 5, max_rows: 10)
      assert length(rows) == 10

      server = resource(11)

      assert {:error, %Error{code: :fetch_error, message: message}} =
               Parsed.fetch_all(parsed(server), batch_size: 5, max_rows: 10)

      assert message =~ "max_rows"
      assert length(all_requested(server)) == 1
    end

    test "S1-66: a page that fails ends it with that error" do
      server = start_with([json(page([1], 0, 2, 1)), json(500, %{"error" => "query_failed"})])
      assert {:error, %Error{code: :fetch_error, status: 500}} = Parsed.fetch_all(parsed(server), batch_size: 1)
    end
  end

  describe "S1-67: a stream" do
    test "S1-67: taking one batch is exactly one request, and none is made before" do
      server = resource(1_000)
      stream = Parsed.fetch_stream(parsed(server), batch_size: 100)
      assert all_requested(server) == []
      assert [batch] = Enum.take(stream, 1)
      assert ids(batch) == Enum.to_list(1..100)
      assert length(all_requested(server)) == 1
    end

    test "S1-67: batches are lists of rows, and an empty resource has none" do
      assert Enum.map(Parsed.fetch_stream(parsed(resource(5)), batch_size: 2), &ids/1) == [[1, 2], [3, 4], [5]]
      assert Enum.to_list(Parsed.fetch_stream(parsed(resource(0)))) == []
    end

    test "S1-67: what goes wrong is raised where it happens" do
      server = start_with([json(page([1], 0, 2, 1)), json(404, %{"error" => "not_found"})])
      stream = Parsed.fetch_stream(parsed(server), batch_size: 1)
      assert [[%{"id" => 1}]] = Enum.take(stream, 1)

      server = start_with([json(page([1], 0, 2, 1)), json(404, %{"error" => "not_found"})])
      stream = Parsed.fetch_stream(parsed(server), batch_size: 1)
      assert %Error{code: :resource_not_found} = catch_error(Enum.to_list(stream))
    end

    test "RES-21: an empty page ends it, whatever the total says" do
      server = start_with([json(page([1, 2], 0, 6, 2)), json(page([], 2, 6, 4))])
      assert {:ok, rows} = Parsed.fetch_all(parsed(server), batch_size: 2)
      assert ids(rows) == [1, 2]
      assert length(all_requested(server)) == 2
    end

    test "RES-21: a next_offset that does not increase ends it" do
      for back <- [0, 1, 2] do
        server = start_with([json(page([1, 2], 0, 6, 2)), json(page([3, 4], 2, 6, back))])
        assert {:ok, rows} = Parsed.fetch_all(parsed(server), batch_size: 2)
        assert ids(rows) == [1, 2, 3, 4]
      end
    end

    test "RES-21: a total that shrinks on the way is no loop, and one that grows is followed" do
      shrinking = [json(page([1, 2], 0, 6, 2)), json(page([3], 2, 3))]
      assert {:ok, rows} = Parsed.fetch_all(parsed(start_with(shrinking)), batch_size: 2)
      assert ids(rows) == [1, 2, 3]

      growing = [json(page([1, 2], 0, 3, 2)), json(page([3, 4], 2, 5, 4)), json(page([5], 4, 5))]
      assert {:ok, rows} = Parsed.fetch_all(parsed(start_with(growing)), batch_size: 2)
      assert ids(rows) == [1, 2, 3, 4, 5]
    end
  end

  describe "S1-67, Q4: mode: :ndjson" do
    @ndjson [{"content-type", "application/x-ndjson; charset=utf-8"}, {"x-total-count", "5"}]

    defp lines(ids, last), do: [for(id <- ids, do: [JSON.encode!(row(id)), "\n"]), last]
    defp the_end(count), do: ~s({"$end":true,"returned_count":#{count}}\n)
    defp ndjson(body), do: response(200, @ndjson, body)
    defp chunk(bytes), do: [Integer.to_string(IO.iodata_length(bytes), 16), "\r\n", bytes, "\r\n"]

    test "Q4: one request for all rows, in batches, with the total" do
      server = start_with([ndjson(lines(1..5, the_end(5)))])
      me = self()
      progress = fn fetched, total -> send(me, {:progress, fetched, total}) end
      options = [mode: :ndjson, batch_size: 2, sort: %{field: "id"}, on_progress: progress]
      assert {:ok, rows} = Parsed.fetch_all(parsed(server), options)
      assert ids(rows) == [1, 2, 3, 4, 5]
      for fetched <- [2, 4, 5], do: assert_received({:progress, ^fetched, 5})

      assert [request] = all_requested(server)
      assert header(request, "accept") == ["application/x-ndjson"]
      assert JSON.decode!(request.body) == %{"offset" => 0, "sort" => %{"field" => "id", "order" => "asc"}}
    end

    test "Q4: where the lines are cut does not matter, nor how the body is framed" do
      body = IO.iodata_to_binary(lines(1..3, the_end(3)))

      for size <- [1, 2, 7, 100] do
        pieces = for <<piece::binary-size(size) <- body>>, do: piece
        rest = binary_part(body, size * length(pieces), rem(byte_size(body), size))
        pieces = Enum.reject(pieces ++ [rest], &(&1 == ""))
        chunked = [head(200, [{"transfer-encoding", "chunked"} | @ndjson]), Enum.map(pieces, &chunk/1), "0\r\n\r\n"]
        assert {:ok, rows} = Parsed.fetch_all(parsed(start_with([chunked])), mode: :ndjson)
        assert ids(rows) == [1, 2, 3]
      end

      # The last line needs no line end, and an empty line is nothing.
      body = [head(200, @ndjson), "\n", String.trim_trailing(body)]
      assert {:ok, rows} = Parsed.fetch_all(parsed(start_with([body])), mode: :ndjson)
      assert ids(rows) == [1, 2, 3]
    end

    test "Q4: it is read as it is used: what is not taken is not downloaded" do
      line = JSON.encode!(%{"text" => String.duplicate("x", 1_000)}) <> "\n"

      server =
        start_with([
          fn connection ->
            push(connection, head(200, @ndjson))
            flood(connection, String.duplicate(line, 50))
          end
        ])

      assert [[_row, _row2]] = parsed(server) |> Parsed.fetch_stream(mode: :ndjson, batch_size: 2) |> Enum.take(1)
      # What lies in the kernel's buffers on both sides, and no more.
      assert flooded(server) < 8_000_000
      assert length(all_requested(server)) == 1
    end

    test "Q4: a response that was cut is an error, not the end" do
      whole = IO.iodata_to_binary(lines(1..3, the_end(3)))

      for kept <- [0, 5, byte_size(whole) - 30] do
        cut = [head(200, @ndjson), binary_part(whole, 0, kept)]
        assert {:error, %Error{code: code}} = Parsed.fetch_all(parsed(start_with([cut])), mode: :ndjson)
        assert code in [:fetch_error, :parse_error]
      end

      cut = [head(200, @ndjson), lines(1..3, "")]
      assert {:error, %Error{code: :fetch_error} = error} = Parsed.fetch_all(parsed(start_with([cut])), mode: :ndjson)
      assert error.message =~ "cut"

      # Cut inside the framing.
      cut = [head(200, [{"content-length", "1000"} | @ndjson]), lines(1..3, "")]
      assert {:error, %Error{code: :fetch_error}} = Parsed.fetch_all(parsed(start_with([cut])), mode: :ndjson)
    end

    test "Q4: $error, a wrong count and what is no row are errors" do
      for {body, code} <- [
            {lines(1..2, ~s({"$error":{"code":"query_failed"}}\n)), :fetch_error},
            {lines(1..2, the_end(3)), :parse_error},
            {lines(1..2, "[1]\n"), :parse_error},
            {lines(1..2, "{\n"), :parse_error}
          ] do
        server = start_with([ndjson(body)])
        assert {:error, %Error{code: ^code}} = Parsed.fetch_all(parsed(server), mode: :ndjson)
      end

      server = start_with([ndjson(lines(1..2, ~s({"$error":{"code":"query_failed"}}\n)))])

      assert {:error, %Error{cause: %{"code" => "query_failed"}}} = Parsed.fetch_all(parsed(server), mode: :ndjson)
    end

    test "Q4: a server that does not stream, and one that refuses" do
      server = start_with([json(page([1], 0, 1))])
      assert {:error, %Error{code: :fetch_error, message: message}} = Parsed.fetch_all(parsed(server), mode: :ndjson)
      assert message =~ "application/x-ndjson"

      server = start_with([json(404, %{"error" => "not_found"})])
      assert {:error, %Error{code: :resource_not_found}} = Parsed.fetch_all(parsed(server), mode: :ndjson)
    end

    test "Q4: a fetch function may return the body in one piece or as an enumerable" do
      body = IO.iodata_to_binary(lines(1..3, the_end(3)))

      for body <- [body, [body], Stream.map([body], & &1)] do
        fetch = fn request ->
          assert request.stream
          {:ok, %{status: 200, headers: %{"content-type" => ["application/x-ndjson"]}, body: body}}
        end

        client = Client.new(base_url: "https://api.example.com", fetch: fetch)
        parsed = %{parsed(%{url: "https://api.example.com"}) | client: client}
        assert {:ok, [_one, _two, _three]} = Parsed.fetch_all(parsed, mode: :ndjson)
      end
    end
  end

  describe "S1-68, S1-69: metadata, pin, delete" do
    test "S1-68: what the server says of the resource" do
      answer = %{
        "status" => "ready",
        "total_count" => 847,
        "columns" => @columns,
        "created_at" => "2025-01-15T10:30:00Z",
        "expires_at" => "2025-01-15T10:45:00Z",
        "access_count" => 3
      }

      server = start_with([json(answer), json(%{answer | "expires_at" => nil})])
      parsed = parsed(server)

      assert Parsed.metadata(parsed) ==
               {:ok,
                %Metadata{
                  status: "ready",
                  total_count: 847,
                  columns: @columns,
                  created_at: ~U[2025-01-15 10:30:00Z],
                  expires_at: ~U[2025-01-15 10:45:00Z],
                  access_count: 3
                }}

      request = requested(server)
      assert {request.method, request.target, request.body} == {"GET", "/resources/abc123", ""}
      assert {:ok, %Metadata{expires_at: nil}} = Parsed.metadata(parsed)
    end

    test "S1-68: metadata of another shape is a parse error" do
      for answer <- [[], %{}, %{"status" => "ready"}] do
        assert {:error, %Error{code: :parse_error}} = Parsed.metadata(parsed(start_with([json(answer)])))
      end
    end

    test "S1-69: pin is a PUT, delete a DELETE; what is gone is false, what fails is an error" do
      for {call, method} <- [{&Parsed.pin/1, "PUT"}, {&Parsed.delete/1, "DELETE"}] do
        server =
          start_with([
            json(%{"status" => "pinned", "expires_at" => nil}),
            head(204, []),
            json(404, %{"error" => "not_found"}),
            json(410, %{}),
            json(403, %{"error" => "forbidden"})
          ])

        parsed = parsed(server)
        assert call.(parsed) == {:ok, true}
        request = requested(server)
        assert {request.method, request.target, request.body} == {method, "/resources/abc123", ""}
        assert call.(parsed) == {:ok, true}
        assert call.(parsed) == {:ok, false}
        assert call.(parsed) == {:ok, false}
        assert {:error, %Error{code: :fetch_error, status: 403}} = call.(parsed)
      end
    end
  end

  describe "S1-71: headers" do
    test "S1-71: they are sent with every request, and replace the client's own" do
      server =
        start(fn
          %{method: "GET"} -> json(%{})
          %{method: "DELETE"} -> head(204, [])
          _request -> json(page([1], 0, 1))
        end)

      headers = %{"Authorization" => "Bearer one", "Accept" => "application/vnd.example+json", "x-trace" => "7"}
      parsed = parsed(server, headers: headers)
      Parsed.fetch(parsed)
      Parsed.metadata(parsed)
      Parsed.pin(parsed)
      Parsed.delete(parsed)
      Parsed.fetch_all(parsed)

      requests = all_requested(server)
      assert Enum.map(requests, & &1.method) == ["POST", "GET", "PUT", "DELETE", "POST"]

      for request <- requests do
        assert header(request, "authorization") == ["Bearer one"]
        assert header(request, "accept") == ["application/vnd.example+json"]
        assert header(request, "x-trace") == ["7"]
      end
    end

    test "S1-71, Q1: a function gives them anew for every request, and sees it" do
      server = resource(2)
      {:ok, counter} = Agent.start_link(fn -> 0 end)

      token = fn %{method: :post, url: url} ->
        assert url == server.url <> "/resources/abc123"
        [{"authorization", "Bearer #{Agent.get_and_update(counter, &{&1, &1 + 1})}"}]
      end

      assert {:ok, [_one, _two]} = Parsed.fetch_all(parsed(server, headers: token), batch_size: 1)
      assert Enum.map(all_requested(server), &header(&1, "authorization")) == [["Bearer 0"], ["Bearer 1"]]
    end
  end

  describe "S1-81: errors" do
    test "S1-81: 404 is RESOURCE_NOT_FOUND" do
      server = start_with([json(404, %{"error" => "not_found", "message" => "Resource not found or expired"})])
      assert {:error, %Error{code: :resource_not_found, status: 404} = error} = Parsed.fetch(parsed(server))
      assert Error.code(error) == "RESOURCE_NOT_FOUND"
    end

    test "S1-81, RES-16: 410, and 404 after the resource's own time, are RESOURCE_EXPIRED" do
      now = DateTime.utc_now()

      for {status, seconds, code} <- [
            {404, -1, :resource_expired},
            {404, @hour, :resource_not_found},
            {410, @hour, :resource_expired},
            {410, -1, :resource_expired}
          ] do
        expires_at = now |> DateTime.add(seconds, :second) |> DateTime.to_iso8601()
        parsed = parsed(start_with([json(status, %{})]), [], %{"expires_at" => expires_at})
        assert {:error, %Error{code: ^code, status: ^status}} = Parsed.fetch(parsed)
      end
    end

    test "S1-81: any other status is FETCH_ERROR with it, and with what the server says as its cause" do
      for status <- [400, 401, 403, 405, 429, 500, 502, 503, 304] do
        server = start_with([json(status, %{"error" => "why"})])
        assert {:error, %Error{code: :fetch_error, status: ^status} = error} = Parsed.fetch(parsed(server))
        assert error.message == "The server answered with status #{status}"
        assert Error.code(error) == "FETCH_ERROR"
        if status != 304, do: assert(error.cause == %{"error" => "why"})
      end
    end

    test "S1-81: a connection that is refused is FETCH_ERROR without a status" do
      {:ok, listener} = :gen_tcp.listen(0, ip: {127, 0, 0, 1})
      {:ok, port} = :inet.port(listener)
      :gen_tcp.close(listener)

      assert {:error, %Error{code: :fetch_error, status: nil, cause: :econnrefused}} =
               Parsed.fetch(parsed(%{url: "http://127.0.0.1:#{port}"}))
    end

    test "S1-81: no answer in time is TIMEOUT" do
      server = start_with([&wait/1])
      assert {:error, %Error{code: :timeout} = error} = Parsed.fetch(parsed(server, timeout: 100))
      assert Error.code(error) == "TIMEOUT"
      assert {:error, %Error{code: :timeout}} = Parsed.fetch(parsed(start_with([&wait/1])), timeout: 100)
    end

    test "S1-81: a body that is not JSON, or not a page, is PARSE_ERROR" do
      good = page([1], 0, 1)

      bodies =
        ["", "<html>", "[1,", "null", "[]", "{}"] ++
          for(
            change <- [
              %{"data" => nil},
              %{"data" => [1]},
              %{"total_count" => -1},
              %{"total_count" => "1"},
              %{"returned_count" => 2},
              %{"has_next" => nil},
              %{"has_next" => true},
              %{"has_next" => true, "next_offset" => "1"},
              %{"next_offset" => 1},
              %{"offset" => nil}
            ],
            do: JSON.encode!(Map.merge(good, change))
          )

      for body <- bodies do
        server = start_with([response(200, [], body)])
        assert {:error, %Error{code: :parse_error} = error} = Parsed.fetch(parsed(server)), body
        assert Error.code(error) == "PARSE_ERROR"
      end
    end

    test "S1-81: what a fetch function of the user's returns becomes the same errors" do
      for {returned, code} <- [
            {{:error, :timeout}, :timeout},
            {{:error, %{reason: :timeout}}, :timeout},
            {{:error, :econnrefused}, :fetch_error},
            {{:error, %RuntimeError{message: "no"}}, :fetch_error},
            {{:error, Error.new(:timeout, "x")}, :timeout},
            {:nonsense, :fetch_error},
            {{:ok, %{status: 200}}, :fetch_error},
            {{:ok, %{status: 200, headers: %{}, body: :no}}, :fetch_error},
            {{:ok, %{status: 404, headers: [], body: nil}}, :resource_not_found},
            {{:ok, %{status: 200, headers: [], body: "{"}}, :parse_error}
          ] do
        parsed = parsed(%{url: "https://api.example.com"}, fetch: fn _request -> returned end)
        assert {:error, %Error{code: ^code}} = Parsed.fetch(parsed)
      end
    end
  end
end
