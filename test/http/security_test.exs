defmodule McpServer.HttpSecurityTest do
  # Vulnerabilities that servers of this protocol had: one test for each without a row in `McpServer.HttpTable` and
  # without a better place.
  use McpServer.HttpCase, async: true

  import McpServer.TestLog
  import McpServer.HttpRequests

  @moduletag :capture_log

  describe "URIs" do
    @describetag req: "SEC-09"
    both "made to be slow to match are refused, or found missing, like any other", %{server: server} do
      for text <- [",", "/", "%2C", "{", "*", "a,"], length <- [100, 8_000, 65_536] do
        uri = "http-test://rows/" <> String.duplicate(text, div(length, byte_size(text)))
        read = modern("resources/read", %{"uri" => uri})
        head = with_headers(read, [{"mcp-name", "=?base64?#{Base.encode64(uri)}?="}])
        # The header contains the whole URI, and heads have their own size limit.
        {response, _messages} = HttpClient.exchange(server, head)
        assert response.status in [200, 400, 431]
      end

      session = HttpSession.open(server)
      long = String.duplicate(",", 65_536)

      {response, [message]} =
        HttpSession.exchange(session, legacy("resources/read", %{"uri" => "http-test://rows/" <> long}))

      assert {response.status, message["error"]["code"]} == {400, -32602}
    end

    both "with steps up, NUL or bytes that are no text are no rows", %{server: server} do
      for id <- ["..", "%2e%2e", "%00", "%ff", "a%2F..%2Fb"] do
        uri = "http-test://rows/" <> id
        {response, [message]} = HttpClient.exchange(server, modern("resources/read", %{"uri" => uri}))
        assert response.status == 200
        assert %{"error" => %{"code" => -32602}} = message
      end
    end
  end

  describe "nothing ends the server" do
    @describetag req: "SEC-10"
    both "whatever a handler does", %{server: server} do
      session = HttpSession.open(server)

      for name <- ["fail", "nothing"], _ <- 1..3 do
        assert %{"result" => %{"isError" => true, "content" => [%{"text" => text}]}} = HttpClient.call(server, name)
        refute text =~ "secret"
        assert %{"result" => %{"isError" => true}} = HttpSession.call(session, name)
      end

      assert HttpClient.text(HttpSession.call(session, "echo", %{"text" => "x"})) == "x"
      assert HttpClient.text(HttpClient.call(server, "echo", %{"text" => "x"})) == "x"
    end

    both "a client that breaks off at any point of its handshake", %{server: server} do
      bytes = server |> request_bytes(initialize()) |> IO.iodata_to_binary()

      for cut <- 0..byte_size(bytes)//7 do
        peer = HttpPeer.connect(server.port)
        HttpPeer.write(peer, binary_part(bytes, 0, cut))
        if rem(cut, 2) == 0, do: HttpPeer.cut(peer), else: HttpPeer.close(peer)
      end

      session = HttpSession.open(server)
      assert HttpClient.text(HttpSession.call(session, "echo", %{"text" => "x"})) == "x"
    end

    both "random bytes flipped in good requests", %{server: server} do
      McpServer.Properties.seed_random()
      bytes = server |> request_bytes(modern_call("echo", %{"text" => "x"})) |> IO.iodata_to_binary()

      for _ <- 1..200 do
        peer = HttpPeer.connect(server.port)
        HttpPeer.write(peer, flipped(bytes))
        HttpPeer.half_close(peer)
        answer = HttpPeer.until_closed(peer)
        assert answer == "" or answer =~ ~r/\AHTTP\/1\.[01] [245]\d\d /
        HttpPeer.close(peer)
      end

      assert HttpClient.text(HttpClient.call(server, "echo", %{"text" => "x"})) == "x"
    end

    defp flipped(bytes) do
      place = :rand.uniform(byte_size(bytes)) - 1
      {before, <<byte, rest::binary>>} = :erlang.split_binary(bytes, place)
      <<before::binary, Bitwise.bxor(byte, :rand.uniform(255)), rest::binary>>
    end

    defp request_bytes(server, request), do: HttpPeer.bytes(%HttpPeer{socket: nil, port: server.port}, request)
  end

  describe "the limit of a body" do
    @describetag req: "SEC-12"
    both "is the one that was set, on every route", [limits: [max_message_bytes: 1_000]], %{server: server} do
      session = HttpSession.open(server)
      call = &modern_call("echo", %{"text" => String.duplicate("x", &1)})
      room = 1_000 - IO.iodata_length(call.(0).body)
      assert {%{status: 200}, _messages} = HttpClient.exchange(server, call.(room))
      assert {%{status: 413}, [%{"error" => _}]} = HttpClient.exchange(server, call.(room + 1))
      assert {%{status: 413}, _} = HttpSession.exchange(session, in_session(String.duplicate(" ", 1_001)))
      assert {%{status: 413}, _} = HttpClient.exchange(server, post(String.duplicate(" ", 1_001)))

      for request <- [get_stream(), delete()] do
        large = %{HttpSession.of(session, request) | body: String.duplicate(" ", 1_001)}
        assert {%{status: 413}, _} = HttpClient.exchange(server, large)
      end

      assert HttpSession.status(session, legacy("ping")) == 200
    end
  end

  describe "a peer that is gone" do
    @describetag req: "SEC-15"
    both "may be written to", [http: [keep_alive: 50]], %{server: server} do
      session = HttpSession.open(server)
      params = %{"name" => "perform", "arguments" => HttpScript.arguments(), "_meta" => %{"progressToken" => "p"}}
      peer = HttpSession.start(session, legacy("tools/call", params))
      {call, _conn} = HttpScript.performing()
      HttpScript.tell(call, {:progress, 1})
      %{body: :stream} = HttpPeer.response(peer)
      HttpPeer.cut(peer)
      for n <- 2..200, do: HttpScript.tell(call, {:progress, n})
      HttpScript.tell(call, {:answer, "done"})
      HttpScript.gone(call)
      assert HttpSession.status(session, legacy("ping", %{}, id: 2)) == 200
    end
  end

  describe "secrets" do
    both "session ids and tokens are in no log and in no answer's body", [identify: &who/1], context do
      log =
        capture_log(fn ->
          session =
            HttpSession.open(context.server, "2025-11-25", headers: [{"authorization", "Bearer tokentokentoken"}])

          send(self(), {:id, session.id})

          for request <- [
                legacy_call("fail"),
                legacy("no/such"),
                in_session("{"),
                get_stream([{"last-event-id", "9-9"}])
              ] do
            {response, _messages} = HttpSession.exchange(session, request)
            refute response.body =~ session.id
            refute response.body =~ "tokentokentoken"
          end
        end)

      assert_received {:id, id}
      refute log =~ id
      refute log =~ "tokentokentoken"
    end
  end
end
