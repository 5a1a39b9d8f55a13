defmodule McpServer.HttpIdentityTest do
  # Identification: the identify hook, 401 and 403, the metadata document of RFC 9728, principals.
  use McpServer.HttpCase, async: true

  import McpServer.HttpRequests
  import McpServer.TestLog, only: [capture_log: 1]

  @resource "https://mcp.example.com/mcp"
  @metadata %{
    "resource" => @resource,
    "authorization_servers" => ["https://auth.example.com"],
    "scopes_supported" => ["read", "write"]
  }
  @metadata_url "https://mcp.example.com/.well-known/oauth-protected-resource/mcp"
  @options [identify: &__MODULE__.who/1, resource_metadata: @metadata]

  # A token consists of a name and scopes: `ada read write`.
  @doc false
  def who(request) do
    case List.keyfind(request.req_headers, "authorization", 0) do
      {_name, "Bearer expired"} -> {:error, :unauthorized}
      {_name, "Bearer weak"} -> {:error, {:insufficient_scope, ["read"]}}
      {_name, "Bearer crash"} -> raise "secret of the hook"
      {_name, "Bearer garbage"} -> :garbage
      {_name, "Bearer twice"} -> {:error, :invalid_request}
      {_name, "Bearer later"} -> {:error, {:unavailable, 5}}
      {_name, "Bearer grant " <> token} -> {:ok, grant(String.split(token))}
      {_name, "Negotiate " <> _scopes} -> {:error, {:unauthorized, ["read", "write"]}}
      {_name, "Bearer " <> token} -> {:ok, principal(String.split(token))}
      _nobody -> {:error, :unauthorized}
    end
  end

  defp principal([name | scopes]), do: %{name: name, scopes: scopes}

  # `ada +60 read write` expires in a minute.
  defp grant([name, seconds | scopes]) do
    expires_at = System.system_time(:second) + String.to_integer(seconds)
    %McpServer.Auth{principal: %{name: name}, subject: name, scopes: scopes, expires_at: expires_at}
  end

  defp status(server, request) do
    {response, _messages} = HttpClient.exchange(server, request)
    response.status
  end

  defp everywhere do
    [
      modern_call("whoami"),
      modern("tools/list"),
      modern("server/discover"),
      initialize(),
      legacy("ping") |> of_session("none"),
      get_stream() |> of_session("none"),
      delete() |> of_session("none"),
      post("{"),
      post("[]")
    ]
  end

  describe "the identify hook" do
    @tag req: "H9"
    both "without a token: 401 on every route, before the body is read", @options, %{server: server} do
      for request <- everywhere() do
        {response, [message]} = HttpClient.exchange(server, request)
        assert response.status == 401
        assert HttpResponse.header(response, "www-authenticate") == ~s(Bearer resource_metadata="#{@metadata_url}")
        assert %{"error" => %{"code" => -32600}} = message
        refute is_map_key(message, "id")
      end
    end

    @tag req: "H9"
    both "with a token that is refused: 401, and the error's name", @options, %{server: server} do
      for request <- everywhere() do
        {response, [_message]} = HttpClient.exchange(server, as(request, "expired"))
        assert response.status == 401

        assert HttpResponse.header(response, "www-authenticate") ==
                 ~s(Bearer error="invalid_token", resource_metadata="#{@metadata_url}")
      end
    end

    @tag req: "H9"
    both "with too small a scope: 403, and the scopes that are enough", @options, %{server: server} do
      for request <- everywhere() do
        {response, [_message]} = HttpClient.exchange(server, as(request, "weak"))
        assert response.status == 403

        assert HttpResponse.header(response, "www-authenticate") ==
                 ~s(Bearer error="insufficient_scope", scope="read", resource_metadata="#{@metadata_url}")
      end
    end

    both "without metadata names no document", [identify: &__MODULE__.who/1], %{server: server} do
      {response, [_message]} = HttpClient.exchange(server, modern_call("whoami"))
      assert response.status == 401
      assert HttpResponse.header(response, "www-authenticate") == "Bearer"
    end

    @tag req: "H1"
    both "comes after Host and Origin", @options, %{server: server} do
      for headers <- [[{"origin", "https://evil.example"}], [{"host", "evil.example"}]] do
        {response, [_message]} = HttpClient.exchange(server, post("{", headers))
        assert {response.status, HttpResponse.header(response, "www-authenticate")} == {403, nil}
      end
    end

    # RFC 6750 section 3: the challenge comes first, whatever else is wrong. Clients probe with a GET.
    both "comes before method, content type, Accept, size, version and session", @options, %{server: server} do
      challenge = ~s(Bearer resource_metadata="#{@metadata_url}")

      for {request, status} <- [
            {request("PUT"), 405},
            {request("GET"), 400},
            {request("GET", [{"accept", "text/html"}]), 406},
            {request("GET", [{"accept", "text/event-stream"}]), 400},
            {request("DELETE"), 400},
            {delete([{"mcp-protocol-version", "1999-01-01"}]) |> of_session("none"), 400},
            {post("{", [{"content-type", "text/plain"}]), 415},
            {post("{", [{"content-encoding", "gzip"}]), 415},
            {post("{", [{"accept", "text/html"}]), 406},
            {post("{", [{"content-length", "9999999"}]), 413}
          ] do
        {response, [_message]} = HttpClient.exchange(server, request)
        assert {response.status, HttpResponse.header(response, "www-authenticate")} == {401, challenge}
        {response, [_message]} = HttpClient.exchange(server, as(request, "ada"))
        assert {response.status, HttpResponse.header(response, "www-authenticate")} == {status, nil}
      end
    end

    both "comes before the method of a HEAD, whose answers have no body", @options, %{server: server} do
      for {request, status} <- [{request("HEAD"), 401}, {as(request("HEAD"), "ada"), 405}] do
        peer = HttpPeer.connect(server.port)
        assert %{status: ^status, body: ""} = HttpPeer.request(peer, request)
      end
    end

    both "a refusal closes no connection of a probing client", @options, %{server: server} do
      peer = HttpPeer.connect(server.port)
      for _ <- 1..2, do: assert(%{status: 401} = HttpPeer.request(peer, request("GET")))
    end

    both "its principal reaches the handler in both eras", @options, %{server: server} do
      answer = HttpClient.answer(server, as(modern_call("whoami"), "ada read"))
      assert HttpClient.text(answer) =~ ~s(name: "ada")
      session = HttpSession.open(server, "2025-11-25", headers: [{"authorization", "Bearer bob read"}])
      assert HttpClient.text(HttpSession.call(session, "whoami")) =~ ~s(name: "bob")
    end

    @tag :capture_log
    both "that fails lets nobody in, and nothing out", @options, %{server: server} do
      log =
        capture_log(fn ->
          for token <- ["crash", "garbage"], request <- everywhere() do
            {response, [message]} = HttpClient.exchange(server, as(request, token))
            assert response.status == 500
            assert %{"error" => %{"code" => -32603}} = message
            refute response.body =~ "secret"
          end
        end)

      assert log =~
               "MCP identify: &McpServer.HttpIdentityTest.who/1 returned :garbage. It returns {:ok, principal}, " <>
                 ~S'{:ok, %McpServer.Auth{}}, {:error, :unauthorized}, {:error, {:unauthorized, ["scope"]}}, ' <>
                 ~S'{:error, {:insufficient_scope, ["scope"]}}, {:error, :invalid_request} or {:error, {:unavailable, seconds}}.'

      assert HttpClient.text(HttpClient.answer(server, as(modern_call("whoami"), "ada"))) =~ "ada"
    end
  end

  describe "other answers of the identify hook" do
    @tag req: ["G1", "R3", "T1"]
    both "401 with the scopes to ask for, and no error for a scheme that is not Bearer", @options, %{server: server} do
      for request <- everywhere(), scheme <- ["Negotiate x", "Basic YTpi", "Bearer", "Bearertoken x"] do
        {response, [_message]} = HttpClient.exchange(server, with_headers(request, [{"authorization", scheme}]))
        scope = if scheme == "Negotiate x", do: ~s(scope="read write", )

        assert {response.status, HttpResponse.header(response, "www-authenticate")} ==
                 {401, ~s(Bearer #{scope}resource_metadata="#{@metadata_url}")}
      end
    end

    @tag req: ["G6", "R10"]
    both "a malformed request: 400, and the error's name", @options, %{server: server} do
      for request <- everywhere() do
        {response, [message]} = HttpClient.exchange(server, as(request, "twice"))

        assert {response.status, HttpResponse.header(response, "www-authenticate")} ==
                 {400, ~s(Bearer error="invalid_request", resource_metadata="#{@metadata_url}")}

        assert message["error"] == %{"code" => -32600, "message" => "The request breaks the rules for sending a token"}
      end
    end

    @tag req: ["G6", "T36"]
    both "nobody can check the token now: 503 without a challenge", @options, %{server: server} do
      for request <- everywhere() do
        {response, [message]} = HttpClient.exchange(server, as(request, "later"))
        assert response.status == 503
        assert HttpResponse.header(response, "retry-after") == "5"
        assert HttpResponse.header(response, "www-authenticate") == nil
        assert message["error"] == %{"code" => -32603, "message" => "The token cannot be checked now"}
      end
    end
  end

  describe "what a token grants" do
    @tag req: "G5"
    both "reaches the handler apart from the principal, in both eras", @options, %{server: server} do
      for answer <- [
            fn -> HttpClient.exchange(server, as(modern_call("granted"), "grant ada +60 read")) end,
            fn ->
              headers = [{"authorization", "Bearer grant ada +60 read"}]
              HttpSession.exchange(HttpSession.open(server, "2025-11-25", headers: headers), legacy_call("granted"))
            end
          ] do
        {_response, [message]} = answer.()
        assert HttpClient.text(message) == ~s({%{name: "ada"}, "ada", ["read"]})
      end
    end

    @tag req: "G5"
    both "may change within a session", @options, %{server: server} do
      session = HttpSession.open(server, "2025-11-25", headers: [{"authorization", "Bearer grant ada +60 read"}])
      request = "granted" |> legacy_call() |> of_session(session.id)
      {response, [message]} = HttpClient.exchange(server, as(request, "grant ada +90 read write"))
      assert {response.status, HttpClient.text(message)} == {200, ~s({%{name: "ada"}, "ada", ["read", "write"]})}
      {response, _messages} = HttpClient.exchange(server, as(request, "grant bob +60 read"))
      assert response.status == 404
    end

    @tag req: ["G10", "T38"]
    both "a stream for news ends with it, a call does not", @options, %{server: server} do
      session = HttpSession.open(server, "2025-11-25", headers: [{"authorization", "Bearer grant ada -60"}])
      stream = HttpSession.get(session)
      assert %{data: ""} = HttpPeer.event(stream)
      assert HttpPeer.event(stream) == :end
      # The session still exists, and its stream can be opened again.
      stream = HttpSession.get(session)
      assert %{data: ""} = HttpPeer.event(stream)
      assert HttpPeer.event(stream) == :end
      {_response, [message]} = HttpSession.exchange(session, legacy_call("sleep", %{"ms" => 50}))
      assert HttpClient.text(message) == "slept"

      listen = modern("subscriptions/listen", %{"notifications" => %{"toolsListChanged" => true}})
      {response, messages} = HttpClient.exchange(server, as(listen, "grant ada -60"))
      assert response.status == 200
      assert [acknowledged, cancelled, answered] = messages
      assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
      assert cancelled["method"] == "notifications/cancelled"
      assert answered["id"] == 1
    end

    test "is not shown where it is printed" do
      auth = %McpServer.Auth{
        principal: "secret",
        subject: "secret",
        scopes: ["secret"],
        claims: %{"secret" => "secret"}
      }

      assert inspect(auth) == "#McpServer.Auth<issuer?: false, subject?: true, claims?: true>"
    end
  end

  describe "a principal of init:" do
    @doc false
    def as_ada(_request), do: %McpServer.Conn{principal: "ada", assigns: %{from: "init"}}

    @doc false
    def with_grant(_request), do: %McpServer.Conn{auth: %McpServer.Auth{principal: "ada"}}

    # Sessions were found without it, so any client with the id of a session could use it.
    both "does not exist", [init: &__MODULE__.as_ada/1], %{server: server} do
      refused(server)
    end

    both "does not exist, nor does a grant", [init: &__MODULE__.with_grant/1], %{server: server} do
      refused(server)
    end

    defp refused(server) do
      {response, [_opened]} = HttpClient.exchange(server, initialize())
      id = HttpResponse.header(response, "mcp-session-id")

      log =
        capture_log(fn ->
          assert status(server, modern_call("whoami")) == 500
          assert status(server, legacy_call("whoami") |> of_session(id)) == 500
        end)

      assert log =~ "returned a conn with a principal or auth. Only identify: or auth: names the client"
      # The core answers it alone.
      assert status(server, legacy("ping", %{}, id: 2) |> of_session(id)) == 200
    end

    both "may be the one of identify:",
         [identify: &McpServer.HttpRequests.who/1, init: &__MODULE__.as_ada/1],
         %{server: server} do
      assert HttpClient.text(HttpClient.answer(server, as(modern_call("whoami"), "ada"))) =~ ~s({"ada",)
      assert capture_log(fn -> assert status(server, as(modern_call("whoami"), "eve")) == 500 end) =~ "init:"
    end
  end

  describe "a session and its principal" do
    @tag req: "SEC-04"
    both "another principal finds no session, on any route", @options, %{server: server} do
      session = HttpSession.open(server, "2025-11-25", headers: [{"authorization", "Bearer ada"}])
      stream = HttpSession.get(session)
      %{data: ""} = HttpPeer.event(stream)

      for request <- [
            legacy_call("whoami"),
            legacy("notifications/cancelled", %{"requestId" => 1}, id: nil),
            get_stream(),
            delete()
          ] do
        {response, [message]} = HttpClient.exchange(server, request |> of_session(session.id) |> as("bob"))
        assert response.status == 404
        assert message["error"]["message"] == "Session not found"

        # Without a token the response is only the challenge.
        {response, _messages} = HttpClient.exchange(server, of_session(request, session.id))
        assert response.status == 401
      end

      # Nothing came before the session's own news.
      McpServer.Changes.tools_changed(McpServer.HttpRouter, to: [session: session.id])
      assert HttpClient.message(stream)["method"] == "notifications/tools/list_changed"
      assert HttpClient.text(HttpSession.call(session, "whoami")) =~ "ada"
    end

    @tag req: ["M25", "SEC-06"]
    both "nobody else cancels its calls", @options, %{server: server} do
      [ada, bob] =
        for name <- ["ada", "bob"],
            do: HttpSession.open(server, "2025-11-25", headers: [{"authorization", "Bearer #{name}"}])

      peer = HttpSession.start(ada, legacy_call("perform", HttpScript.arguments(), id: 7))
      {call, _conn} = HttpScript.performing()
      cancel = legacy("notifications/cancelled", %{"requestId" => 7}, id: nil)
      assert HttpSession.status(bob, cancel) == 202
      assert HttpSession.status(%{bob | id: ada.id}, cancel) == 404
      HttpScript.tell(call, {:answer, "unharmed"})
      assert [answer] = HttpClient.messages(peer, HttpPeer.response(peer))
      assert HttpClient.text(answer) == "unharmed"
    end
  end

  describe "a tool's own authorize" do
    @tag req: "H9"
    both "a scope that is missing: 403 that says which", @options, %{server: server} do
      session = HttpSession.open(server, "2025-11-25", headers: [{"authorization", "Bearer ada read"}])

      for {response, [message]} <- [
            HttpClient.exchange(server, as(modern_call("guarded"), "ada read")),
            HttpSession.exchange(session, legacy_call("guarded"))
          ] do
        assert response.status == 403

        assert HttpResponse.header(response, "www-authenticate") ==
                 ~s(Bearer error="insufficient_scope", scope="write read", resource_metadata="#{@metadata_url}")

        assert %{"id" => 1, "error" => %{"code" => -32600, "data" => %{"requiredScopes" => ["write", "read"]}}} =
                 message
      end

      answer = HttpClient.answer(server, as(modern_call("guarded"), "ada read write"))
      assert HttpClient.text(answer) =~ "ada"
    end

    both "a tool for nobody: 403", @options, %{server: server} do
      {response, [message]} = HttpClient.exchange(server, as(modern_call("forbidden"), "ada read write"))
      assert response.status == 403
      assert %{"id" => 1, "error" => %{"code" => -32600}} = message
    end
  end

  describe "protected resource metadata" do
    defp document(server, target, method \\ "GET", headers \\ []) do
      peer = HttpPeer.connect(server.port)
      HttpPeer.request(peer, %{method: method, target: target, headers: headers, body: nil})
    end

    test "is served to anybody, at both of its places" do
      server = HttpServers.start(:listener, @options)

      for target <- ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"] do
        response = document(server, target)
        assert response.status == 200
        assert HttpResponse.header(response, "content-type") == "application/json"
        assert HttpResponse.json(response) == @metadata
      end

      head = document(server, "/.well-known/oauth-protected-resource/mcp", "HEAD")
      assert {head.status, head.body} == {200, ""}
      assert document(server, "/.well-known/oauth-protected-resource/other").status == 404
      assert document(server, "/.well-known/oauth-protected-resource", "POST").status == 405
    end

    @tag req: "G3"
    test "behind a proxy that strips a prefix: where clients look for it" do
      metadata = %{@metadata | "resource" => "https://mcp.example.com/api/mcp"}
      server = HttpServers.start(:listener, resource_metadata: metadata, identify: &__MODULE__.who/1)
      well_known = "/.well-known/oauth-protected-resource"
      assert document(server, well_known <> "/api/mcp").status == 200
      assert document(server, well_known).status == 200
      assert document(server, well_known <> "/mcp").status == 404
      {response, _messages} = HttpClient.exchange(server, modern("tools/list"))

      assert HttpResponse.header(response, "www-authenticate") ==
               ~s(Bearer resource_metadata="https://mcp.example.com#{well_known}/api/mcp")
    end

    on_both "of a resource with a slash at its end: a warning", %{kind: kind} do
      logged = fn resource ->
        options = [resource_metadata: %{@metadata | "resource" => resource}, identify: &__MODULE__.who/1]
        # The plug checks its options at the first request.
        capture_log(fn -> assert status(HttpServers.start(kind, options), modern("ping")) == 401 end)
      end

      assert logged.(@resource <> "/") =~ "the resource of McpServer.HttpRouter ends with a slash."
      refute logged.(@resource) =~ "ends with a slash"
    end

    @tag req: ["G2", "R1"]
    test "has to name an authorization server" do
      for servers <- [nil, [], ["auth.example.com"], "https://auth.example.com"] do
        metadata = %{@metadata | "authorization_servers" => servers}

        assert_raise ArgumentError, ~r/authorization_servers are a list of one or more/, fn ->
          McpServer.HttpServer.start_link(router: McpServer.HttpRouter, port: 0, resource_metadata: metadata)
        end
      end
    end

    @tag req: "SEC-01"
    test "not to a page that has its name resolved to this machine" do
      server = HttpServers.start(:listener, @options)
      target = "/.well-known/oauth-protected-resource"
      assert document(server, target, "GET", [{"host", "evil.example"}]).status == 403
      # The document is public. A page needs it before it has a token.
      response = document(server, target, "GET", [{"origin", "https://evil.example"}])
      assert {response.status, HttpResponse.header(response, "access-control-allow-origin")} == {200, "*"}
    end

    test "is not there without being given" do
      server = HttpServers.start(:listener)
      assert document(server, "/.well-known/oauth-protected-resource").status == 404
    end
  end

  describe "hosts and origins" do
    @allowed [
      allowed_hosts: ["mcp.example.com", "ports.example.com:8443"],
      allowed_origins: ["https://app.example.com"]
    ]

    @tag req: "SEC-01"
    both "those that are allowed, and no others", @allowed, %{server: server} do
      for {headers, status} <- [
            {[{"host", "mcp.example.com"}], 200},
            {[{"host", "MCP.example.com:9999"}], 200},
            {[{"host", "ports.example.com:8443"}], 200},
            {[{"host", "ports.example.com:8444"}], 403},
            {[{"host", "ports.example.com"}], 403},
            {[{"host", "sub.mcp.example.com"}], 403},
            {[{"host", "mcp.example.com.evil.example"}], 403},
            {[{"host", "localhost"}], 200},
            {[{"origin", "https://app.example.com"}], 200},
            {[{"origin", "https://app.example.com:443"}], 200},
            {[{"origin", "http://app.example.com"}], 403},
            {[{"origin", "https://app.example.com:8443"}], 403},
            {[{"origin", "https://evil.app.example.com"}], 403},
            {[{"host", "mcp.example.com"}, {"origin", "https://mcp.example.com"}], 200},
            {[{"host", "mcp.example.com"}, {"origin", "https://ports.example.com"}], 403}
          ] do
        {response, _messages} = HttpClient.exchange(server, modern_call("echo", %{"text" => "x"}, headers: headers))
        assert {headers, response.status} == {headers, status}
      end
    end
  end

  describe "assigns" do
    both "reach every handler", [assigns: %{tenant: 7}], %{server: server} do
      assert HttpClient.text(HttpClient.call(server, "whoami")) =~ "tenant: 7"
      assert HttpClient.text(HttpSession.call(HttpSession.open(server), "whoami")) =~ "tenant: 7"
    end
  end
end
