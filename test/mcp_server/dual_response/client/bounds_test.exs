defmodule McpServer.DualResponse.Client.BoundsTest do
  # The bytes that the server could send before the client closed are an upper bound for the client's memory.
  use ExUnit.Case, async: true

  import McpServer.ScriptedResource
  import McpServer.ScriptedServer

  alias McpServer.DualResponse.Client.Parsed
  alias McpServer.DualResponse.Error
  alias McpServer.JSON

  # The size of the kernel's buffers on both sides, which a server can fill without a reader.
  @kernel_bytes 8_000_000

  defp answer(offset \\ 0), do: page([offset], offset, 99, offset + 1)

  defp refused(server, options \\ []) do
    assert {:error, %Error{code: :fetch_error} = error} = Parsed.fetch(parsed(server, options))
    error.message
  end

  defp flooding(head, bytes), do: start_with([fn connection -> push(connection, head) && flood(connection, bytes) end])

  describe "more than a client can take" do
    @describetag req: "Y11"
    @tag req: "Y11"
    test "a body of 100 MB that says so is not read at all" do
      server = flooding(head(200, [{"content-length", "100000000"}]), String.duplicate("x", 64 * 1024))
      assert refused(server) =~ "max_body_bytes"
      assert flooded(server) < @kernel_bytes
    end

    @tag req: "Y11"
    test "a body of 100 MB that does not say so is left after max_body_bytes" do
      chunk = "10000\r\n" <> String.duplicate("x", 64 * 1024) <> "\r\n"

      for {head, bytes} <- [
            {head(200, [{"transfer-encoding", "chunked"}]), chunk},
            {head(200, []), String.duplicate("x", 64 * 1024)}
          ] do
        server = flooding(head, bytes)
        assert refused(server) =~ "max_body_bytes"
        assert flooded(server) < 16 * 1024 * 1024 + @kernel_bytes

        server = flooding(head, bytes)
        assert refused(server, max_body_bytes: 100_000) =~ "max_body_bytes"
        assert flooded(server) < @kernel_bytes
      end
    end

    @tag req: "Y11"
    test "max_body_bytes is exact" do
      body = JSON.encode!(answer())
      server = start(fn _request -> response(200, [], body) end)
      assert {:ok, _page} = Parsed.fetch(parsed(server, max_body_bytes: byte_size(body)))
      assert refused(server, max_body_bytes: byte_size(body) - 1) =~ "max_body_bytes"
    end

    @tag req: "Y11"
    test "a body that comes byte by byte costs its bytes, not a term for each" do
      # Each chunk contains one byte of white space behind the page.
      body = JSON.encode!(answer())
      chunks = [head(200, [{"transfer-encoding", "chunked"}]), chunk(body), List.duplicate(chunk(" "), 300_000)]
      server = start_with([[chunks, chunk("")]])
      me = self()

      {pid, monitor} =
        spawn_monitor(fn ->
          Process.flag(:max_heap_size, %{size: 500_000, kill: true, error_logger: false})
          send(me, {:fetched, Parsed.fetch(parsed(server))})
        end)

      assert_receive {:DOWN, ^monitor, :process, ^pid, :normal}, 30_000
      assert_received {:fetched, {:ok, %{data: [%{"id" => 0}]}}}
    end

    @tag req: "Y11"
    test "endless headers, of any kind, are left after 64 KiB" do
      for {start, more} <- [
            {"HTTP/1.1 200 OK\r\n", "x-header: #{String.duplicate("x", 1_000)}\r\n"},
            {"HTTP/1.1 200 OK\r\nx: ", String.duplicate("x", 4_000)},
            {"HTTP/1.1 200 ", String.duplicate("x", 4_000)},
            {"", String.duplicate("x", 4_000)},
            {"", "HTTP/1.1 100 Continue\r\n\r\n"}
          ] do
        server = flooding(start, more)
        assert refused(server) =~ "64 KiB of headers"
        assert flooded(server) < @kernel_bytes
      end
    end

    @tag req: "Y11"
    test "headers of 64 KiB are read, of a byte more not" do
      for {size, read?} <- [{64 * 1024, true}, {64 * 1024 + 1, false}] do
        body = JSON.encode!(answer())
        rest = IO.iodata_length(response(200, [{"x", ""}], ""))
        # The "0" of the empty body becomes the length of this body.
        rest = rest + byte_size("#{byte_size(body)}") - 1
        server = start_with([response(200, [{"x", String.duplicate("x", size - rest)}], body)])
        assert match?({:ok, _page}, Parsed.fetch(parsed(server))) == read?
      end
    end

    @tag req: "Y11"
    test "endless chunk extensions and endless tiny chunks end, too" do
      server = flooding([head(200, [{"transfer-encoding", "chunked"}]), "5;x="], String.duplicate("x", 4_000))
      assert refused(server) =~ "not HTTP"
      assert flooded(server) < @kernel_bytes

      server = flooding(head(200, [{"transfer-encoding", "chunked"}]), String.duplicate("1\r\nx\r\n", 1_000))
      assert refused(server, max_body_bytes: 10_000) =~ "max_body_bytes"
      assert flooded(server) < @kernel_bytes
    end

    @tag req: "Y11"
    test "a line of 100 MB in a stream is left after max_body_bytes, and a stream after max_download_bytes" do
      head = head(200, [{"content-type", "application/x-ndjson"}])
      server = flooding([head, ~s({"x":")], String.duplicate("x", 64 * 1024))
      options = [mode: :ndjson]
      assert {:error, %Error{code: :fetch_error} = error} = Parsed.fetch_all(parsed(server), options)
      assert error.message =~ "max_body_bytes"
      assert flooded(server) < 16 * 1024 * 1024 + @kernel_bytes

      for {line, bound} <- [{~s({"x":1}\n), :max_download_bytes}, {"\n", :max_download_bytes}, {"{}\n", :max_rows}] do
        server = flooding(head, String.duplicate(line, 10_000))
        parsed = parsed(server, max_download_bytes: 1_000_000, max_rows: 200_000)
        assert {:error, %Error{code: :fetch_error} = error} = Parsed.fetch_all(parsed, options)
        assert error.message =~ to_string(bound)
        assert flooded(server) < @kernel_bytes
      end
    end

    @tag req: "Y11"
    test "a slow drip ends with the deadline, which is one for head and body" do
      for {start, more} <- [
            {"HTTP/1.1 200 OK\r\n", "x"},
            {head(200, [{"content-length", "100000"}]), " "},
            {head(200, [{"transfer-encoding", "chunked"}]), "1\r\n \r\n"}
          ] do
        server = start_with([fn connection -> push(connection, start) && drip(connection, more) end])
        assert {:error, %Error{code: :timeout}} = Parsed.fetch(parsed(server, timeout: 200))
      end
    end

    @tag req: "Y11"
    test "a server that reads nothing and one that never shakes hands end with the deadline" do
      {:ok, listener} = :gen_tcp.listen(0, ip: {127, 0, 0, 1})
      {:ok, port} = :inet.port(listener)

      for scheme <- ["http", "https"] do
        parsed = parsed(%{url: "#{scheme}://127.0.0.1:#{port}"}, timeout: 100)
        assert {:error, %Error{code: :timeout}} = Parsed.fetch(parsed)
      end
    end

    @tag req: "Y11"
    test "an endless resource, every page of it honest, is left after max_rows" do
      server = start(fn request -> json(%{answer(JSON.decode!(request.body)["offset"]) | "total_count" => 9}) end)
      assert {:error, %Error{} = error} = Parsed.fetch_all(parsed(server, max_rows: 20), batch_size: 1)
      assert error.message =~ "max_rows"
      assert length(all_requested(server)) == 21
    end

    @tag req: "Y11"
    test "rows that are large and few come to max_download_bytes" do
      row = %{"x" => String.duplicate("x", 10_000)}
      server = start(fn request -> json(%{answer(JSON.decode!(request.body)["offset"]) | "data" => [row]}) end)
      parsed = parsed(server, max_download_bytes: 100_000)
      assert {:error, %Error{} = error} = Parsed.fetch_all(parsed, batch_size: 1)
      assert error.message =~ "max_download_bytes"
      assert length(all_requested(server)) == 10
    end

    @tag req: "Y11"
    test "a gzip bomb is not unpacked, whatever it would become" do
      bomb = :zlib.gzip(String.duplicate(" ", 10_000_000))

      for encoding <- ["gzip", "deflate", "br", "identity, gzip"] do
        server = start_with([response(200, [{"content-encoding", encoding}], bomb)])
        assert refused(server) =~ "encoding"
      end

      server = start_with([response(200, [{"content-encoding", "identity"}], JSON.encode!(answer()))])
      assert {:ok, _page} = Parsed.fetch(parsed(server))

      server = start_with([[head(200, [{"transfer-encoding", "gzip, chunked"}]), chunk(bomb), chunk("")]])
      assert refused(server) =~ "not HTTP"
    end

    @tag req: "Y11"
    test "JSON that is deeper or has more values than the reader takes" do
      for body <- [
            String.duplicate("[", 100_000),
            ~s({"data":#{String.duplicate("[", 200)}#{String.duplicate("]", 200)}}),
            "[" <> String.duplicate("0,", 300_000) <> "0]"
          ] do
        server = start_with([response(200, [], body)])
        assert {:error, %Error{code: :parse_error}} = Parsed.fetch(parsed(server))
      end
    end
  end

  defp chunk(bytes), do: [Integer.to_string(IO.iodata_length(bytes), 16), "\r\n", bytes, "\r\n"]

  defp drip(connection, bytes) do
    Process.sleep(20)
    if push(connection, bytes) == :ok, do: drip(connection, bytes)
  end
end
