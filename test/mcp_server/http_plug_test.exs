defmodule McpServer.HttpPlugTest do
  # Features of the plug alone. The rules that it shares with the listener are in test/http.
  use ExUnit.Case, async: true

  @moduletag :capture_log

  import McpServer.TestLog
  import McpServer.HttpRequests

  alias McpServer.{Conn, HttpClient, HttpPeer, HttpPlug, HttpResponse, HttpRouter, HttpScript, HttpServers, JSON}
  alias McpServer.HttpPlug.{BodyReader, Head, ResourceMetadata}
  alias McpServer.Test.PlugServer

  defmodule Before do
    # The application's plugs before `McpServer.HttpPlug`.
    def init({before, options}), do: {before, HttpPlug.init(options)}

    def call(conn, {before, options}) do
      case before.(conn) do
        %{halted: true} = conn -> conn
        conn -> HttpPlug.call(conn, options)
      end
    end
  end

  defp server(options \\ []),
    do: %HttpServers{kind: :plug, port: PlugServer.start(HttpRouter, HttpServers.patient(options))}

  defp behind(before, options \\ []) do
    port = PlugServer.start_plug({Before, {before, [router: HttpRouter] ++ HttpServers.patient(options)}})
    %HttpServers{kind: :plug, port: port}
  end

  # Plugs with the same options share a mount, which logs each of these mistakes once.
  defp mount_of_its_own, do: [limits: [max_message_bytes: 1_000_000 + System.unique_integer([:positive])]]

  defp response(server, request) do
    {response, _messages} = HttpClient.exchange(server, request)
    response
  end

  defp text(server, request) do
    assert %{"result" => %{"content" => [%{"text" => text}]}} = HttpClient.answer(server, request)
    text
  end

  # Reads a body to its end, like a parser.
  defp read_all(conn, reader \\ &Plug.Conn.read_body/2) do
    case reader.(conn, []) do
      {:ok, body, conn} -> {body, conn}
      {:more, start, conn} -> with {rest, conn} <- read_all(conn, reader), do: {start <> rest, conn}
    end
  end

  # The conn after `Plug.Parsers` has parsed a JSON body.
  defp parse(conn) do
    {body, conn} = read_all(conn)
    parsed = JSON.decode!(body)
    %{conn | body_params: if(is_map(parsed), do: parsed, else: %{"_json" => parsed})}
  end

  describe "options" do
    test "are plain data that a compiler can keep" do
      options = HttpPlug.init(router: HttpRouter, identify: &__MODULE__.anybody/1, allowed_hosts: ["a.example"])
      assert {^options, _bindings} = options |> Macro.escape() |> Code.eval_quoted()
    end

    for {wrong, message} <- [
          {[], "McpServer.HttpPlug needs router: the name of a module or process"},
          {[router: "text"], "expected :router to be the name of a module or process, got: \"text\""},
          {[router: HttpRouter, limits: [max_message_bytes: 0]],
           "expected :max_message_bytes to be an integer from 1 to 1_073_741_824 (bytes), got: 0"},
          {[router: HttpRouter, http: [keep_alive: :never]],
           "expected :keep_alive to be an integer from 1 to 4_294_967_295 (milliseconds), got: :never"},
          {[router: HttpRouter, allowed_hosts: "a.example"],
           "expected :allowed_hosts to be a list of strings, got: \"a.example\""},
          {[router: HttpRouter, allowed_hosts: ["http://a.example"]],
           "allowed_hosts: \"http://a.example\" must be a host name or address, with or without a port"},
          {[router: HttpRouter, allowed_origins: ["a.example"]],
           "allowed_origins: \"a.example\" must be an origin such as https://app.example.com"},
          {[router: HttpRouter, identify: :anybody],
           "expected :identify to be nil or a function of one argument or {module, function}, got: :anybody"}
        ] do
      test "#{inspect(wrong)} are refused" do
        assert_raise ArgumentError, unquote(message), fn -> HttpPlug.init(unquote(wrong)) end
      end
    end

    test "unknown ones are refused, and the known ones listed" do
      error = assert_raise ArgumentError, fn -> HttpPlug.init(router: HttpRouter, port: 4040) end
      assert error.message =~ ~r/\AMcpServer.HttpPlug has no option :port\. Its options are: path, router, /
      for name <- ~w(identify init limits http timeout), do: assert(error.message =~ name)
    end
  end

  describe "bodies" do
    test "that a parser has read are admitted as what it made of them" do
      assert text(behind(&parse/1), modern_call("echo", %{"text" => "Grüße"})) == "Grüße"
    end

    test "that are no objects are told apart from those that are" do
      response = response(behind(&parse/1), post("[1]"))
      assert {400, -32_600} == {response.status, HttpResponse.json(response)["error"]["code"]}
    end

    test "may be as long after a parser as before it" do
      request = modern_call("echo", %{"text" => "x"})
      length = IO.iodata_length(request.body)
      chunked = %{request | headers: request.headers ++ [{"transfer-encoding", "chunked"}]}
      chunked = %{chunked | body: [Integer.to_string(length, 16), "\r\n", request.body, "\r\n0\r\n\r\n"]}

      for start <- [&server/1, &behind(fn conn -> parse(conn) end, &1)], request <- [request, chunked] do
        assert %{status: 200} = HttpPeer.request(connect(start.(limits: [max_message_bytes: length])), request)
        assert %{status: 413} = HttpPeer.request(connect(start.(limits: [max_message_bytes: length - 1])), request)
      end
    end

    test "that are empty or `{}` are no messages, whoever has read them" do
      for start <- [&server/0, fn -> behind(&parse_or_empty/1) end], {body, code} <- [{"", -32_700}, {"{}", -32_600}] do
        response = HttpPeer.request(connect(start.()), post(body))
        assert {response.status, HttpResponse.json(response)["error"]["code"]} == {400, code}
      end
    end

    test "that somebody else has read are missed, which the log explains once" do
      server = behind(fn conn -> %{elem(read_all(conn), 1) | body_params: %{}} end, mount_of_its_own())

      log =
        capture_log(fn ->
          for _ <- 1..2 do
            response = response(server, modern("tools/list"))
            assert {500, -32_603} == {response.status, HttpResponse.json(response)["error"]["code"]}
          end
        end)

      assert [_before, _after] = String.split(log, "body_reader: {McpServer.HttpPlug.BodyReader, :read_body, []}")
    end

    test "that a parser has read although there is a reader are explained once, with the path" do
      server = behind(&parse/1, mount_of_its_own())
      log = capture_log(fn -> for _ <- 1..2, do: text(server, modern_call("echo", %{"text" => "x"})) end)

      assert [_before, _after] =
               String.split(log, ~s(body_reader: {McpServer.HttpPlug.BodyReader, :read_body, [["/mcp"]]}))

      left = fn conn -> %{elem(BodyReader.read_body(conn, []), 2) | body_params: %{}} end
      server = behind(left, mount_of_its_own())
      # Other tests log meanwhile.
      refute capture_log(fn -> text(server, modern_call("echo", %{"text" => "x"})) end) =~ "body_reader:"
    end

    test "are left alone by the body reader at the paths of MCP only" do
      parse = fn conn ->
        {body, conn} = read_all(conn, &BodyReader.read_body(&1, &2, ["/mcp", "/deep/er/"]))
        Plug.Conn.assign(%{conn | body_params: %{}}, :seen, body)
      end

      server = behind(parse)
      request = modern_call("whoami")

      for target <- ["/mcp", "/mcp/", "/mcp/more?a=b", "/deep/er"],
          do: assert(text(server, %{request | target: target}) =~ ~s(seen: ""))

      capture_log(fn ->
        for target <- ["/mcpx", "/", "/deep"],
            do: assert(%{status: 500} = response(server, %{request | target: target}))
      end)
    end

    test "are judged as they were sent where the body reader has left them" do
      server = behind(fn conn -> %{elem(read_all(conn, &BodyReader.read_body/2), 1) | body_params: %{}} end)
      twice = ~s({"jsonrpc":"2.0","id":1,"id":1,"method":"ping"})

      for {body, code} <- [{twice, -32_600}, {"{", -32_700}] do
        response = HttpPeer.request(connect(server), post(body))
        assert {response.status, HttpResponse.json(response)["error"]["code"]} == {400, code}
      end
    end

    test "of refused requests are not waited for: a long one costs the connection" do
      peer = connect(server())
      foreign = with_headers(post(nil), [{"host", "evil.example"}, {"content-length", "65537"}])
      response = HttpPeer.request(peer, foreign)
      assert {403, "close"} == {response.status, HttpResponse.header(response, "connection")}
      assert HttpPeer.closed?(peer)
    end

    # More than the sockets buffer: a client that sends first succeeds only if the server reads.
    @long 12 * 1024 * 1024
    @piece String.duplicate("x", 64 * 1024)

    defp send_long(peer, bytes), do: Enum.find_value(1..div(bytes, 64 * 1024), :ok, fn _n -> send_piece(peer) end)
    defp send_piece(peer), do: with(:ok <- HttpPeer.write(peer, @piece), do: nil)

    defp announce(peer, request, headers) do
      :ok = HttpPeer.send_request(peer, with_headers(%{request | body: nil}, headers))
    end

    for {name, options, headers, status} <- [
          {"too long", [limits: [max_message_bytes: 1_000_000]], [], 413},
          {"from nobody known", [identify: &__MODULE__.nobody/1], [], 401},
          {"from a foreign host", [], [{"host", "evil.example"}], 403},
          {"of an unknown session", [], [{"mcp-session-id", "unknown"}], 404},
          {"of another type", [], [{"content-type", "text/plain"}], 415}
        ] do
      test "that are refused are read behind the answer: #{name}" do
        peer = connect(server(Keyword.merge([limits: [max_message_bytes: @long]], unquote(Macro.escape(options)))))
        headers = unquote(Macro.escape(headers)) ++ [{"content-length", "#{@long}"}]
        announce(peer, post(nil), headers)
        assert :ok == send_long(peer, @long)
        response = HttpPeer.response(peer)
        assert {unquote(status), "close"} == {response.status, HttpResponse.header(response, "connection")}
        assert HttpPeer.closed?(peer)
      end
    end

    test "that are refused on the way are read to their end, too" do
      peer = connect(server(limits: [max_message_bytes: 100_000]))
      announce(peer, post(nil), [{"transfer-encoding", "chunked"}])
      :ok = HttpPeer.write(peer, [Integer.to_string(@long, 16), "\r\n"])
      assert :ok == send_long(peer, @long)
      :ok = HttpPeer.write(peer, "\r\n0\r\n\r\n")
      response = HttpPeer.response(peer)
      assert {413, "close"} == {response.status, HttpResponse.header(response, "connection")}
    end

    test "that are refused and never end are not read for ever" do
      peer = connect(server())
      announce(peer, post(nil), [{"content-length", "1000000000"}])
      assert %{status: 413} = HttpPeer.response(peer)
      assert {:error, _closed} = send_long(peer, 500_000_000)
    end

    test "that are refused before they were asked for are not asked for" do
      peer = connect(server())
      announce(peer, post(nil), [{"content-length", "#{@long}"}, {"expect", "100-continue"}])
      response = HttpPeer.response(peer)
      assert {413, "close"} == {response.status, HttpResponse.header(response, "connection")}
      assert HttpPeer.closed?(peer)
    end

    test "of refused requests that are short leave the connection as it is" do
      peer = connect(server())
      response = HttpPeer.request(peer, with_headers(post("{}"), [{"host", "evil.example"}]))
      assert {403, nil} == {response.status, HttpResponse.header(response, "connection")}
      assert %{status: 200} = HttpPeer.request(peer, modern("tools/list"))
    end
  end

  defp connect(server), do: HttpPeer.connect(server.port)

  defp parse_or_empty(conn) do
    {body, conn} = read_all(conn)
    %{conn | body_params: if(body == "", do: %{}, else: JSON.decode!(body))}
  end

  describe "handlers" do
    test "find the assigns of the plugs before, over those of the options" do
      server = behind(&Plug.Conn.assign(&1, :user, "ada"), assigns: %{user: "nobody", place: "here"})
      assert text(server, modern_call("whoami")) =~ inspect(%{place: "here", user: "ada"})
    end

    test "start from what init: makes of the request" do
      init = fn conn -> %Conn{assigns: %{path: conn.request_path}} end
      assert text(server(init: init), %{modern_call("whoami") | target: "/a/b?c"}) =~ ~s(%{path: "/a/b"})
    end

    test "of a user whom only the plugs know: a warning, once" do
      before = &Plug.Conn.assign(&1, :current_scope, %{user: %{id: 1}})
      open = fn server -> assert %{status: 200} = response(server, initialize()) end

      log =
        capture_log(fn ->
          server = behind(before, assigns: %{of: "the warning"})
          open.(server)
          open.(server)
        end)

      text =
        "is served without identify:, though the request has conn.assigns.current_scope. Its sessions belong to nobody"

      assert [_before, _after] = String.split(log, text)

      for options <- [[identify: fn conn -> {:ok, conn.assigns.current_scope.user.id} end], []] do
        unnamed = if options == [], do: & &1, else: before
        refute capture_log(fn -> open.(behind(unnamed, options)) end) =~ text
      end
    end

    test "know the principal that identify: names" do
      identify = fn conn ->
        case Plug.Conn.get_req_header(conn, "authorization") do
          ["Bearer " <> name] -> {:ok, name}
          [] -> {:error, :unauthorized}
        end
      end

      server = server(identify: identify)
      assert text(server, as(modern_call("whoami"), "ada")) =~ ~s({"ada", nil,)

      response = response(server, modern_call("whoami"))
      assert {401, "Bearer"} == {response.status, HttpResponse.header(response, "www-authenticate")}
    end
  end

  describe "requests" do
    test "HEAD is no GET, whatever a plug has made of it" do
      server = behind(&%{&1 | method: "GET"})
      assert %{status: 405, body: ""} = response(server, request("HEAD", [{"accept", "text/event-stream"}]))
    end

    test "messages of others stay in the mailbox" do
      test = self()

      before = fn conn ->
        for n <- 1..3, do: send(self(), {:mine, n})
        Plug.Conn.put_private(conn, :test, test)
      end

      # A plug after `McpServer.HttpPlug` reports the remaining messages.
      plug = {__MODULE__.Mailbox, {before, [router: HttpRouter]}}
      server = %HttpServers{kind: :plug, port: PlugServer.start_plug(plug)}
      assert text(server, modern_call("echo", %{"text" => "a"})) == "a"
      assert_receive {:halted, true, [mine: 1, mine: 2, mine: 3]}
    end

    test "a client that goes away from its stream cancels the call" do
      server = server(http: [stream_after: 1, keep_alive: 10])
      {peer, %{status: 200}} = HttpClient.open(server, modern_call("perform", HttpScript.arguments()))
      {handler, _conn} = HttpScript.performing()
      HttpPeer.cut(peer)
      HttpScript.gone(handler)
    end
  end

  defmodule Mailbox do
    # Sends the mailbox to the test after `McpServer.HttpPlug` has returned.
    def init({before, options}), do: {before, HttpPlug.init(options)}

    def call(conn, {before, options}) do
      conn = conn |> before.() |> HttpPlug.call(options)
      send(conn.private.test, {:halted, conn.halted, take_mine()})
      conn
    end

    defp take_mine do
      receive do
        {:mine, n} -> [{:mine, n} | take_mine()]
      after
        0 -> []
      end
    end
  end

  describe "the head" do
    @conn %{
      adapter: {:any, %{}},
      method: "POST",
      host: "mcp.example",
      port: 443,
      request_path: "/mcp",
      query_string: "",
      req_headers: []
    }

    for {name, changes, expected} <- [
          {"HTTP/2 has its authority in the host", %{}, %{authority: "mcp.example:443"}},
          {"an address of IPv6 stands in brackets", %{host: "::1", port: 80}, %{authority: "[::1]:80"}},
          {"the host header names the host already", %{req_headers: [{"host", "MCP.example"}]}, %{authority: nil}},
          {"with its port, too", %{req_headers: [{"host", "mcp.example:443"}]}, %{authority: nil}},
          {"another host than the header's is screened as well", %{req_headers: [{"host", "mcp.example.org"}]},
           %{authority: "mcp.example:443"}},
          {"no host is none", %{host: ""}, %{authority: nil}},
          {"the target has the query", %{query_string: "a=b"}, %{target: "/mcp?a=b"}},
          {"the method is that of the client", %{adapter: {:any, %{method: "HEAD"}}, method: "GET"}, %{method: "HEAD"}}
        ] do
      test name do
        head = Head.of(Map.merge(@conn, unquote(Macro.escape(changes))))
        expected = unquote(Macro.escape(expected))
        assert Map.take(head, Map.keys(expected)) == expected
      end
    end
  end

  describe "resource metadata" do
    @document %{resource: "https://mcp.example/mcp", authorization_servers: ["https://login.example"]}

    defp with_metadata do
      metadata = ResourceMetadata.init(resource_metadata: @document)

      behind(&ResourceMetadata.call(&1, metadata),
        resource_metadata: @document,
        identify: fn _conn -> {:error, :unauthorized} end
      )
    end

    test "is served beside the endpoint, whose challenge leads there" do
      server = with_metadata()
      refused = response(server, modern("tools/list"))
      url = "https://mcp.example/.well-known/oauth-protected-resource/mcp"

      assert {401, ~s(Bearer resource_metadata="#{url}")} ==
               {refused.status, HttpResponse.header(refused, "www-authenticate")}

      served =
        HttpPeer.request(connect(server), %{request("GET") | target: "/.well-known/oauth-protected-resource/mcp"})

      assert {200, "application/json"} == {served.status, HttpResponse.header(served, "content-type")}

      assert HttpResponse.json(served) == %{
               "resource" => "https://mcp.example/mcp",
               "authorization_servers" => ["https://login.example"]
             }
    end

    @tag req: ["R1", "R2", "R5"]
    test "follows from auth:, at the path of the resource and at the root" do
      auth = [resource: "https://mcp.example/mcp", issuer: "https://login.example", scopes: ["mcp:use"]]
      metadata = ResourceMetadata.init(auth: auth)
      server = behind(&ResourceMetadata.call(&1, metadata), auth: auth)
      well_known = "/.well-known/oauth-protected-resource"

      assert HttpResponse.header(response(server, modern("tools/list")), "www-authenticate") ==
               ~s(Bearer scope="mcp:use", resource_metadata="https://mcp.example#{well_known}/mcp")

      for path <- ["/mcp", ""], method <- ["GET", "HEAD"] do
        served = HttpPeer.request(connect(server), %{request(method) | target: well_known <> path})
        assert {200, "application/json"} == {served.status, HttpResponse.header(served, "content-type")}
        assert HttpResponse.header(served, "cache-control") == "public, max-age=3600"

        if method == "GET" do
          assert HttpResponse.json(served) == %{
                   "resource" => "https://mcp.example/mcp",
                   "authorization_servers" => ["https://login.example"],
                   "scopes_supported" => ["mcp:use"],
                   "bearer_methods_supported" => ["header"]
                 }
        end
      end
    end

    @tag req: "G4"
    test "of two endpoints: each has its document, the root one of them, and other paths pass" do
      documents = for path <- ["mcp", "admin"], do: %{@document | resource: "https://mcp.example/#{path}"}

      [first, second] =
        for {document, root?} <- Enum.zip(documents, [false, true]),
            do: ResourceMetadata.init(resource_metadata: document, root: root?)

      server = behind(&(&1 |> ResourceMetadata.call(first) |> pass(second)), [])
      well_known = "/.well-known/oauth-protected-resource"
      ask = &HttpPeer.request(connect(server), %{request("GET") | target: well_known <> &1})

      assert for(path <- ["/mcp", "/admin", ""], do: HttpResponse.json(ask.(path))["resource"]) ==
               ["https://mcp.example/mcp", "https://mcp.example/admin", "https://mcp.example/admin"]

      # The endpoint after the plugs has responded.
      assert ask.("/other").status == 400
    end

    defp pass(%{halted: true} = conn, _metadata), do: conn
    defp pass(conn, metadata), do: ResourceMetadata.call(conn, metadata)

    test "is not served to foreign hosts, nor changed" do
      at = %{request("GET") | target: "/.well-known/oauth-protected-resource"}
      assert %{status: 403} = response(with_metadata(), with_headers(at, [{"host", "evil.example"}]))
      assert %{status: 405} = response(with_metadata(), %{at | method: "PUT"})
    end

    test "has to name the resource" do
      assert_raise ArgumentError, ~r/\Aresource_metadata: is the document to serve, a map/, fn ->
        ResourceMetadata.init([])
      end

      assert_raise ArgumentError, fn -> ResourceMetadata.init(resource_metadata: %{resource: "mcp.example"}) end

      assert_raise ArgumentError, ~r/authorization_servers/, fn ->
        ResourceMetadata.init(resource_metadata: %{resource: "https://mcp.example"})
      end

      assert_raise ArgumentError, "root: is true or false, got: nil", fn ->
        ResourceMetadata.init(resource_metadata: @document, root: nil)
      end
    end
  end

  def anybody(_conn), do: {:ok, :anybody}
  def nobody(_conn), do: {:error, :unauthorized}
end
