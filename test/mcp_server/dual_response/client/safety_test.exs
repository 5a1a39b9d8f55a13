defmodule McpServer.DualResponse.Client.SafetyTest do
  # What a hostile server, or a hostile tool result, can make the client do. Memory is judged by what the server could
  # send before the client closed: nothing else has ever been in the client.
  use ExUnit.Case, async: true

  import McpServer.ScriptedServer

  alias McpServer.DualResponse.{Client, Error}
  alias McpServer.DualResponse.Client.Parsed
  alias McpServer.JSON

  # What the kernel takes off a server that nobody reads from any more: the buffers of both sides.
  @kernel_bytes 8_000_000
  @secrets %{"authorization" => "Bearer hush", "cookie" => "hush", "x-api-key" => "hush"}

  defp parsed(server, options \\ []), do: parsed_of(Client.new([base_url: server.url] ++ options))

  defp parsed_of(client, resource \\ %{"uri" => "resource://abc123"}) do
    Client.parse_structured(client, %{
      "results" => [],
      "resource" => resource,
      "metadata" => %{"total_count" => 1, "columns" => []}
    })
  end

  defp page(offset \\ 0) do
    %{
      "data" => [%{"id" => offset}],
      "total_count" => 99,
      "returned_count" => 1,
      "offset" => offset,
      "has_next" => true,
      "next_offset" => offset + 1
    }
  end

  defp flooding(head, bytes), do: start_with([fn connection -> push(connection, head) && flood(connection, bytes) end])
  defp redirect(status \\ 307, location), do: response(status, [{"location", location}], "")
  defp secrets(request), do: for({name, "" <> value} <- request.headers, value =~ "hush", do: name)

  defp refused(server, options \\ []) do
    assert {:error, %Error{code: :fetch_error} = error} = Parsed.fetch(parsed(server, options))
    error.message
  end

  describe "Y11: more than a client can take" do
    test "Y11: a body of 100 MB that says so is not read at all" do
      server = flooding(head(200, [{"content-length", "100000000"}]), String.duplicate("x", 64 * 1024))
      assert refused(server) =~ "max_body_bytes"
      assert flooded(server) < @kernel_bytes
    end

    test "Y11: a body of 100 MB that does not say so is left after max_body_bytes" do
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

    test "Y11: max_body_bytes is exact" do
      body = JSON.encode!(page())
      server = start(fn _request -> response(200, [], body) end)
      assert {:ok, _page} = Parsed.fetch(parsed(server, max_body_bytes: byte_size(body)))
      assert refused(server, max_body_bytes: byte_size(body) - 1) =~ "max_body_bytes"
    end

    test "Y11: a body that comes byte by byte costs its bytes, not a term for each" do
      # Each chunk is one byte of white space behind the page.
      body = JSON.encode!(page())
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

    test "Y11: endless headers, of any kind, are left after 64 KiB" do
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

    test "Y11: headers of 64 KiB are read, of a byte more not" do
      for {size, read?} <- [{64 * 1024, true}, {64 * 1024 + 1, false}] do
        body = JSON.encode!(page())
        rest = IO.iodata_length(response(200, [{"x", ""}], ""))
        # "0" became the length of the body.
        rest = rest + byte_size("#{byte_size(body)}") - 1
        server = start_with([response(200, [{"x", String.duplicate("x", size - rest)}], body)])
        assert match?({:ok, _page}, Parsed.fetch(parsed(server))) == read?
      end
    end

    test "Y11: endless chunk extensions and endless tiny chunks end, too" do
      server = flooding([head(200, [{"transfer-encoding", "chunked"}]), "5;x="], String.duplicate("x", 4_000))
      assert refused(server) =~ "not HTTP"
      assert flooded(server) < @kernel_bytes

      server = flooding(head(200, [{"transfer-encoding", "chunked"}]), String.duplicate("1\r\nx\r\n", 1_000))
      assert refused(server, max_body_bytes: 10_000) =~ "max_body_bytes"
      assert flooded(server) < @kernel_bytes
    end

    test "Y11: a line of 100 MB in a stream is left after max_body_bytes, and a stream after max_download_bytes" do
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

    test "Y11: a slow drip ends with the deadline, which is one for head and body" do
      for {start, more} <- [
            {"HTTP/1.1 200 OK\r\n", "x"},
            {head(200, [{"content-length", "100000"}]), " "},
            {head(200, [{"transfer-encoding", "chunked"}]), "1\r\n \r\n"}
          ] do
        server = start_with([fn connection -> push(connection, start) && drip(connection, more) end])
        assert {:error, %Error{code: :timeout}} = Parsed.fetch(parsed(server, timeout: 200))
      end
    end

    test "Y11: a server that reads nothing and one that never shakes hands end with the deadline" do
      {:ok, listener} = :gen_tcp.listen(0, ip: {127, 0, 0, 1})
      {:ok, port} = :inet.port(listener)

      for scheme <- ["http", "https"] do
        parsed = parsed(%{url: "#{scheme}://127.0.0.1:#{port}"}, timeout: 100)
        assert {:error, %Error{code: :timeout}} = Parsed.fetch(parsed)
      end
    end

    test "Y11: an endless resource, every page of it honest, is left after max_rows" do
      server = start(fn request -> json(%{page(JSON.decode!(request.body)["offset"]) | "total_count" => 9}) end)
      assert {:error, %Error{} = error} = Parsed.fetch_all(parsed(server, max_rows: 20), batch_size: 1)
      assert error.message =~ "max_rows"
      assert length(all_requested(server)) == 21
    end

    test "Y11: rows that are large and few come to max_download_bytes" do
      row = %{"x" => String.duplicate("x", 10_000)}
      server = start(fn request -> json(%{page(JSON.decode!(request.body)["offset"]) | "data" => [row]}) end)
      parsed = parsed(server, max_download_bytes: 100_000)
      assert {:error, %Error{} = error} = Parsed.fetch_all(parsed, batch_size: 1)
      assert error.message =~ "max_download_bytes"
      assert length(all_requested(server)) == 10
    end

    test "Y11: a gzip bomb is not unpacked, whatever it would become" do
      bomb = :zlib.gzip(String.duplicate(" ", 10_000_000))

      for encoding <- ["gzip", "deflate", "br", "identity, gzip"] do
        server = start_with([response(200, [{"content-encoding", encoding}], bomb)])
        assert refused(server) =~ "encoding"
      end

      server = start_with([response(200, [{"content-encoding", "identity"}], JSON.encode!(page()))])
      assert {:ok, _page} = Parsed.fetch(parsed(server))

      server = start_with([[head(200, [{"transfer-encoding", "gzip, chunked"}]), chunk(bomb), chunk("")]])
      assert refused(server) =~ "not HTTP"
    end

    test "Y11: JSON that is deeper or has more values than the reader takes" do
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

  describe "Y11: answers that are none" do
    test "Y11: what is no HTTP, or HTTP that can be understood in two ways" do
      body = JSON.encode!(page())
      length = {"content-length", "#{byte_size(body)}"}

      for answer <- [
            "hello\r\n\r\n",
            ["HTTP/2 200\r\n\r\n", body],
            "HTTP/1.1 abc OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nno header\r\n\r\n",
            "HTTP/1.1 101 Switching\r\n\r\nwhatever",
            [head(200, [length, {"transfer-encoding", "chunked"}]), body],
            [head(200, [length, {"content-length", "1"}]), body],
            [head(200, [{"content-length", "-1"}]), body],
            [head(200, [{"content-length", "1e3"}]), body],
            [head(200, [{"content-length", String.duplicate("9", 30)}]), body],
            [head(200, [{"transfer-encoding", "chunked"}, {"transfer-encoding", "chunked"}]), chunk(body), chunk("")],
            [head(200, [{"transfer-encoding", "chunked"}]), "xyz\r\n"],
            [head(200, [{"transfer-encoding", "chunked"}]), "-5\r\n"],
            [head(200, [{"transfer-encoding", "chunked"}]), "1\r\nxx\r\n"]
          ] do
        assert refused(start_with([answer])) =~ "not HTTP", inspect(answer)
      end
    end

    test "Y11: a response that ends too early" do
      body = JSON.encode!(page())

      for answer <- [
            "",
            "HTTP/1.1 200 OK\r\n",
            [head(200, [{"content-length", "#{byte_size(body) + 1}"}]), body],
            [head(200, [{"transfer-encoding", "chunked"}]), chunk(body)]
          ] do
        assert refused(start_with([answer])) =~ "complete"
      end
    end

    test "Y11: a wrong answer: another page than was asked for, or more of it" do
      for answer <- [
            %{page() | "offset" => 1},
            %{page() | "data" => [%{}, %{}], "returned_count" => 2},
            %{page() | "returned_count" => 0}
          ] do
        assert {:error, %Error{code: :parse_error}} = Parsed.fetch(parsed(start_with([json(answer)])), limit: 1)
      end
    end

    test "Y11: duplicate answers: the second on a connection is nobody's, the same page again ends the rows" do
      server = start_with([[json(page()), json(%{page() | "data" => [%{"id" => "second"}]})]])
      assert {:ok, %{data: [%{"id" => 0}]}} = Parsed.fetch(parsed(server))

      server = start(fn _request -> json(page()) end)
      assert {:error, %Error{code: :parse_error}} = Parsed.fetch_all(parsed(server), batch_size: 1)
      assert length(all_requested(server)) == 2
    end

    test "Y11: interim responses come before the answer, and are not it" do
      server = start_with([["HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Early\r\nlink: x\r\n\r\n", json(page())]])
      assert {:ok, %{data: [%{"id" => 0}]}} = Parsed.fetch(parsed(server))
    end

    test "Y11: nothing stays behind in the caller: no message and no socket" do
      server = start(fn request -> if(request.method == "GET", do: "rubbish", else: [json(page()), "more"]) end)

      parsed = parsed(server)
      Parsed.fetch(parsed)
      Parsed.metadata(parsed)
      all_requested(server)
      {:links, links} = Process.info(self(), :links)
      for _round <- 1..20, do: {Parsed.fetch(parsed), Parsed.metadata(parsed)}
      all_requested(server)
      assert Process.info(self(), :messages) == {:messages, []}
      assert Process.info(self(), :links) == {:links, links}
    end
  end

  describe "Y11, Q1: redirects" do
    test "Q1: up to three are followed, each method as it is, and the answer counts" do
      for status <- [301, 302, 307, 308] do
        server =
          start(fn
            %{target: "/a/abc123"} -> redirect(status, "/b/abc123")
            %{target: "/b/abc123"} -> redirect(status, "../c/abc123?x=1#y")
            %{target: "/c/abc123?x=1"} -> redirect(status, "?x=2")
            %{target: "/c/abc123?x=2"} -> json(page())
          end)

        assert {:ok, %{data: [%{"id" => 0}]}} = Parsed.fetch(parsed(%{url: server.url <> "/a"}))
        requests = all_requested(server)
        assert length(requests) == 4
        request = List.last(requests)
        assert request.method == "POST"
        assert JSON.decode!(request.body)["limit"] == 100
      end
    end

    test "Y11: a loop ends after max_redirects" do
      for {options, requests} <- [{[], 4}, {[max_redirects: 1], 2}, {[max_redirects: 0], 1}] do
        server = start(fn _request -> redirect("/loop") end)
        assert refused(server, options) =~ "redirects"
        assert length(all_requested(server)) == requests
      end
    end

    test "Q1: 303, which would turn a question into another, is followed for metadata only" do
      server =
        start(fn
          %{method: "GET", target: "/there"} -> json(404, %{})
          _request -> redirect(303, "/there")
        end)

      assert {:error, %Error{code: :resource_not_found}} = Parsed.metadata(parsed(server))
      assert {:error, %Error{code: :fetch_error, status: 303}} = Parsed.fetch(parsed(server))
      assert {:error, %Error{code: :fetch_error, status: 303}} = Parsed.delete(parsed(server))
    end

    test "Y11: to 169.254.169.254 and its kind: nothing is sent there" do
      other = start(fn _request -> json(page()) end)

      for location <- [
            "http://169.254.169.254/latest/meta-data/",
            "https://169.254.169.254/",
            "https://10.0.0.1/",
            "https://192.168.0.1/",
            "https://[::1]/",
            "https://[::ffff:169.254.169.254]/",
            "https://2852039166/",
            "https://0xa9fea9fe/",
            "https://localhost/",
            other.url <> "/",
            String.replace(other.url, "127.0.0.1", "localhost"),
            String.replace(other.url, "127.0.0.1", "127.1"),
            String.replace(other.url, "127.0.0.1", "[::ffff:127.0.0.1]")
          ] do
        server = start_with([redirect(location)])
        assert refused(server) =~ "private address", location
      end

      assert all_requested(other) == []
    end

    test "Q1: to a private address whose very origin is allowed" do
      other = start(fn _request -> json(page()) end)
      server = start_with([redirect(other.url <> "/x")])
      assert {:ok, _page} = Parsed.fetch(parsed(server, allowed_origins: [other.url]))

      # The same host at another port is another origin.
      stranger = start(fn _request -> json(page()) end)
      server = start_with([redirect(stranger.url <> "/x")])
      assert refused(server, allowed_origins: [other.url]) =~ "private address"
      assert all_requested(stranger) == []
    end

    test "Y11: to another scheme, to credentials, to no URL" do
      for location <-
            ["file:///etc/passwd", "ftp://example.com/", "https://a:b@example.com/", "http://example.com/"] ++
              ["http://[", "https://", "\xFF", String.duplicate("a", 10_000)] do
        server = start_with([redirect(location)])
        assert {:error, %Error{code: :fetch_error}} = Parsed.fetch(parsed(server)), location
      end
    end

    test "Q1: redirects count within the request's one deadline" do
      server = start(fn _request -> fn connection -> Process.sleep(60) && push(connection, redirect("/loop")) end end)
      options = [timeout: 150, max_redirects: 1_000]
      assert {:error, %Error{code: :timeout}} = Parsed.fetch(parsed(server, options))
    end
  end

  describe "SEC-16, Q1: credentials" do
    # A fetch function that tells the test what it was asked, and answers by the URL.
    defp spy(answers) do
      me = self()

      fn request ->
        send(me, {:asked, request})
        {:ok, Map.get(answers, request.url, %{status: 404, headers: [], body: ""})}
      end
    end

    defp moved(location), do: %{status: 307, headers: [{"location", location}], body: ""}
    defp asked, do: receive(do: ({:asked, request} -> request), after: (0 -> nil))

    test "SEC-16: they go to base_url's origin, and not across a redirect to another one" do
      fetch =
        spy(%{
          "https://api.example.com/r/abc123" => moved("https://api.example.com/moved"),
          "https://api.example.com/moved" => moved("https://cdn.example.net/abc123"),
          "https://cdn.example.net/abc123" => moved("https://api.example.com/back")
        })

      client = Client.new(base_url: "https://api.example.com/r", headers: @secrets, fetch: fetch)
      assert {:error, %Error{code: :resource_not_found}} = Parsed.fetch(parsed_of(client))

      assert Enum.sort(secrets(asked())) == ["authorization", "cookie", "x-api-key"]
      assert Enum.sort(secrets(asked())) == ["authorization", "cookie", "x-api-key"]
      stranger = asked()
      assert stranger.url == "https://cdn.example.net/abc123"
      assert secrets(stranger) == []
      assert stranger.addresses == :public
      # Back at the origin that may have them.
      assert Enum.sort(secrets(asked())) == ["authorization", "cookie", "x-api-key"]
    end

    test "SEC-16: the same with real servers, where the other one is not even connected to" do
      other = start(fn _request -> json(page()) end)
      server = start_with([redirect(other.url <> "/x")])
      assert refused(server, headers: @secrets) =~ "private address"
      assert Enum.sort(secrets(requested(server))) == ["authorization", "cookie", "x-api-key"]
      assert all_requested(other) == []
    end

    test "SEC-16: another port, scheme or subdomain is another origin" do
      for url <- [
            "https://api.example.com:8443/a",
            "https://x.api.example.com/a",
            "https://example.com/a",
            "https://api.example.com.evil.example/a"
          ] do
        fetch = spy(%{"https://api.example.com/r/abc123" => moved(url)})
        client = Client.new(base_url: "https://api.example.com/r", headers: @secrets, fetch: fetch)
        Parsed.fetch(parsed_of(client))
        assert secrets(asked()) != []
        assert %{url: ^url} = stranger = asked()
        assert secrets(stranger) == []
      end

      fetch = spy(%{"https://api.example.com/r/abc123" => moved("http://api.example.com/a")})
      client = Client.new(base_url: "https://api.example.com/r", headers: @secrets, fetch: fetch)
      assert {:error, %Error{code: :fetch_error}} = Parsed.fetch(parsed_of(client))
      assert asked() && asked() == nil
    end

    test "Q1: the URL in a tool result gets none of them, unless its origin is named" do
      url = "https://evil.example/resources/abc123"
      resource = %{"uri" => "resource://abc123", "url" => url}

      for {options, secret?} <- [
            {[], false},
            {[allowed_origins: ["https://api.example.com"]], false},
            {[allowed_origins: ["https://EVIL.example:443/"]], true}
          ] do
        client = Client.new([headers: fn _request -> @secrets end, fetch: spy(%{})] ++ options)
        Parsed.fetch(parsed_of(client, resource))
        request = asked()
        assert request.url == url
        assert secrets(request) != [] == secret?
        assert request.addresses == if(secret?, do: :any, else: :public)
      end
    end

    test "Q1: the URL in a tool result cannot point into the network" do
      client = Client.new(headers: @secrets, fetch: spy(%{}))
      server = start(fn _request -> json(page()) end)

      for url <- [server.url <> "/abc123", "https://10.0.0.1/abc123", "http://169.254.169.254/", "http://example.com/"],
          call <- [&Parsed.fetch/1, &Parsed.metadata/1, &Parsed.pin/1, &Parsed.delete/1] do
        for client <- [client, %{client | fetch: nil}] do
          parsed = parsed_of(client, %{"uri" => "resource://abc123", "url" => url})
          assert {:error, %Error{code: :fetch_error}} = call.(parsed)
        end
      end

      assert asked() == nil
      assert all_requested(server) == []
    end

    test "Q1: a name that resolves to a private address is refused after it was looked up" do
      # A name of this machine which its text does not give away, so that only the lookup can.
      {:ok, name} = :inet.gethostname()
      name = to_string(name)

      case :inet.getaddr(to_charlist(name), :inet) do
        {:ok, _private} ->
          client = Client.new(timeout: 5_000)
          parsed = parsed_of(client, %{"uri" => "resource://abc123", "url" => "https://#{name}/abc123"})
          assert {:error, %Error{code: :fetch_error, cause: {:address, :public}}} = Parsed.fetch(parsed)

        {:error, _unknown} ->
          IO.puts(:stderr, "skipped: this machine's own name does not resolve")
      end
    end
  end

  defp chunk(bytes), do: [Integer.to_string(IO.iodata_length(bytes), 16), "\r\n", bytes, "\r\n"]

  defp drip(connection, bytes) do
    Process.sleep(20)
    if push(connection, bytes) == :ok, do: drip(connection, bytes)
  end
end
