defmodule McpServer.DualResponse.Client.LinesTest do
  use ExUnit.Case, async: true

  import McpServer.ScriptedResource
  import McpServer.ScriptedServer

  alias McpServer.DualResponse.{Client, Error}
  alias McpServer.DualResponse.Client.Parsed
  alias McpServer.JSON

  describe "mode: :ndjson" do
    @describetag req: ["S1-67", "Q4"]
    @ndjson [{"content-type", "application/x-ndjson; charset=utf-8"}, {"x-total-count", "5"}]

    defp lines(ids, last), do: [for(id <- ids, do: [JSON.encode!(row(id)), "\n"]), last]
    defp the_end(count), do: ~s({"$end":true,"returned_count":#{count}}\n)
    defp ndjson(body), do: response(200, @ndjson, body)
    defp chunk(bytes), do: [Integer.to_string(IO.iodata_length(bytes), 16), "\r\n", bytes, "\r\n"]

    @tag req: "Q4"
    test "one request for all rows, in batches, with the total" do
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

    @tag req: "Q4"
    test "where the lines are cut does not matter, nor how the body is framed" do
      body = IO.iodata_to_binary(lines(1..3, the_end(3)))

      for size <- [1, 2, 7, 100] do
        places = 0..(byte_size(body) - 1)//size
        pieces = for at <- places, do: binary_part(body, at, min(size, byte_size(body) - at))
        chunked = [head(200, [{"transfer-encoding", "chunked"} | @ndjson]), Enum.map(pieces, &chunk/1), "0\r\n\r\n"]
        assert {:ok, rows} = Parsed.fetch_all(parsed(start_with([chunked])), mode: :ndjson)
        assert ids(rows) == [1, 2, 3]
      end

      # The last line needs no line end, and empty lines are ignored.
      body = [head(200, @ndjson), "\n", String.trim_trailing(body)]
      assert {:ok, rows} = Parsed.fetch_all(parsed(start_with([body])), mode: :ndjson)
      assert ids(rows) == [1, 2, 3]
    end

    @tag req: "Q4"
    test "it is read as it is used: what is not taken is not downloaded" do
      line = JSON.encode!(%{"text" => String.duplicate("x", 1_000)}) <> "\n"

      server =
        start_with([
          fn connection ->
            push(connection, head(200, @ndjson))
            flood(connection, String.duplicate(line, 50))
          end
        ])

      assert [[_row, _row2]] = parsed(server) |> Parsed.fetch_stream(mode: :ndjson, batch_size: 2) |> Enum.take(1)
      # At most the kernel's buffers of both sides.
      assert flooded(server) < 8_000_000
      assert length(all_requested(server)) == 1
    end

    @tag req: "Q4"
    test "a response that was cut is an error, not the end" do
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

    @tag req: "Q4"
    test "$error, a wrong count and what is no row are errors" do
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

    @tag req: "Q4"
    test "a server that does not stream, and one that refuses" do
      server = start_with([json(page([1], 0, 1))])
      assert {:error, %Error{code: :fetch_error, message: message}} = Parsed.fetch_all(parsed(server), mode: :ndjson)
      assert message =~ "application/x-ndjson"

      server = start_with([json(404, %{"error" => "not_found"}), json(400, %{"error" => "invalid_sort"})])
      assert {:error, %Error{code: :resource_not_found}} = Parsed.fetch_all(parsed(server), mode: :ndjson)

      assert {:error, %Error{status: 400, cause: %{"error" => "invalid_sort"}}} =
               Parsed.fetch_all(parsed(server), mode: :ndjson)

      server = start_with([&(push(&1, head(500, [])) && flood(&1, String.duplicate("x", 4_096)))])
      assert {:error, %Error{status: 500, cause: nil}} = Parsed.fetch_all(parsed(server), mode: :ndjson)
      assert flooded(server) < 8_000_000
    end

    @tag req: "Q4"
    test "a fetch function may return the body in one piece or as an enumerable" do
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
end
