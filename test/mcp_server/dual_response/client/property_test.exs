if McpServer.Installed.here?(:proper) do
  defmodule McpServer.DualResponse.Client.PropertyTest do
    # Properties checked with the optional PropEr (Debian's `erlang-proper`).
    use ExUnit.Case, async: true
    use McpServer.Properties

    import McpServer.ScriptedResource, only: [page: 4, parsed: 1]
    import McpServer.ScriptedServer

    alias McpServer.DualResponse.{Client, Error}
    alias McpServer.DualResponse.Client.Parsed
    alias McpServer.JSON

    @moduletag McpServer.Installed.tags(:proper)

    # The server sends the property's latest response.
    defp with_server(check) do
      {:ok, answer} = Agent.start_link(fn -> "" end)
      server = start(fn _request -> Agent.get(answer, & &1) end)

      check.(parsed(server), fn bytes ->
        flush()
        Agent.update(answer, fn _before -> bytes end)
      end)
    end

    defp flush do
      receive do
        {:requested, _id, _request} -> flush()
      after
        0 -> :ok
      end
    end

    defp rows do
      :proper_types.list(:proper_types.bind(:proper_unicode.utf8(12), &%{"text" => &1, "n" => byte_size(&1)}, false))
    end

    defp cuts, do: :proper_types.non_empty(:proper_types.list(:proper_types.range(1, 40)))

    # Splits a binary into pieces of these sizes, repeatedly.
    defp pieces("", _sizes), do: []

    defp pieces(bytes, sizes) do
      {pieces, rest} =
        Enum.map_reduce(sizes, bytes, fn size, bytes ->
          size = min(size, byte_size(bytes))
          {piece, rest} = :erlang.split_binary(bytes, size)
          {piece, rest}
        end)

      Enum.reject(pieces, &(&1 == "")) ++ pieces(rest, sizes)
    end

    defp chunk(bytes), do: [Integer.to_string(IO.iodata_length(bytes), 16), "\r\n", bytes, "\r\n"]

    defp stream(rows) do
      lines = for row <- rows, do: [JSON.encode!(row), "\n"]
      IO.iodata_to_binary([lines, ~s({"$end":true,"returned_count":#{length(rows)}}\n)])
    end

    @ndjson [{"content-type", "application/x-ndjson"}]

    @tag req: "S1-61"
    test "whatever stands anywhere in a result, it is a dual response or none" do
      client = Client.new()

      result = %{
        "isError" => false,
        "structuredContent" => %{
          "results" => [%{"id" => 1}],
          "resource" => %{"uri" => "resource://abc123", "url" => "https://api.example.com/abc123", "name" => "x"},
          "metadata" => %{
            "total_count" => 1,
            "columns" => [%{"name" => "id"}],
            "executed_at" => "2025-01-15T10:30:00Z",
            "expires_at" => nil
          }
        }
      }

      paths =
        [[], ["isError"], ["structuredContent"]] ++
          for(
            {part, members} <- result["structuredContent"],
            path <- [[part] | below(part, members)],
            do: ["structuredContent" | path]
          )

      anything = :proper_types.oneof([:proper_types.any(), :proper_unicode.utf8(), {"uri", :proper_types.binary()}])

      holds(
        forall({:proper_types.oneof(paths), anything}, fn {path, term} ->
          changed = if path == [], do: term, else: put_in(result, path, term)
          parsed = Client.parse(client, changed)
          parsed == nil or (is_struct(parsed, Parsed) and is_boolean(Parsed.expired?(parsed)))
        end),
        1_000
      )

      assert %Parsed{} = Client.parse(client, result)
    end

    defp below(part, members) when is_map(members), do: for({name, _member} <- members, do: [part, name])
    defp below(_part, _members), do: []

    @tag req: "Q4"
    test "rows do not depend on where the lines, the chunks and the packets are cut" do
      with_server(fn parsed, answer ->
        holds(
          forall({rows(), cuts(), :proper_types.range(1, 9)}, fn {rows, sizes, batch} ->
            chunks = rows |> stream() |> pieces(sizes) |> Enum.map(&chunk/1)
            answer.([head(200, [{"transfer-encoding", "chunked"} | @ndjson]), chunks, "0\r\n\r\n"])
            batches = parsed |> Parsed.fetch_stream(mode: :ndjson, batch_size: batch) |> Enum.to_list()
            Enum.concat(batches) == rows and Enum.all?(Enum.drop(batches, -1), &(length(&1) == batch))
          end),
          200
        )
      end)
    end

    @tag req: "S1-66"
    test "pages of any size, of any total, concatenate to the whole" do
      {:ok, rows} = Agent.start_link(fn -> {0, 1} end)

      server =
        start(fn request ->
          %{"offset" => offset, "limit" => limit} = JSON.decode!(request.body)
          {total, most} = Agent.get(rows, & &1)
          ids = Enum.slice(1..total//1, offset, min(limit, most))
          next = offset + length(ids)

          json(page(ids, offset, total, if(next < total, do: next)))
        end)

      range = :proper_types.range(1, 20)

      holds(
        forall({:proper_types.range(0, 40), range, range}, fn {total, size, most} ->
          Agent.update(rows, fn _before -> {total, most} end)
          {:ok, rows} = Parsed.fetch_all(parsed(server), batch_size: size)

          length(all_requested(server)) == max(1, ceil(total / min(size, most))) and
            Enum.map(rows, & &1["id"]) == Enum.to_list(1..total//1)
        end),
        100
      )
    end

    @tag req: "Y11"
    test "a response with any bytes changed, added or missing is a page or a typed error" do
      page = %{"data" => [%{"a" => 1}], "total_count" => 1, "returned_count" => 1, "offset" => 0, "has_next" => false}
      body = JSON.encode!(page)
      whole = IO.iodata_to_binary(response(200, [{"content-type", "application/json"}], body))
      chunked = IO.iodata_to_binary([head(200, [{"transfer-encoding", "chunked"}]), chunk(body), "0\r\n\r\n"])

      with_server(fn parsed, answer ->
        bytes = :proper_types.binary()

        holds(
          forall({:proper_types.oneof([whole, chunked]), :proper_types.float(0.0, 1.0), bytes, bytes}, fn
            {good, place, new, gone} ->
              at = trunc(place * byte_size(good))
              removed = min(byte_size(gone), byte_size(good) - at)
              {before, from} = :erlang.split_binary(good, at)
              {_gone, rest} = :erlang.split_binary(from, removed)
              answer.([before, new, rest])

              case Parsed.fetch(parsed) do
                {:ok, page} -> is_list(page.data)
                {:error, error} -> is_struct(error, Error) and is_binary(error.message)
              end
          end),
          500
        )
      end)
    end
  end
end
