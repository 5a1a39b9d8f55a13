defmodule McpServer.HttpAuthGuardTest do
  # The listener's guard checks tokens while a request is read. It responds like the path through hooks, and forgets
  # tokens that this path would refuse.
  use McpServer.HttpCase, async: true

  alias McpServer.Http.Mount
  alias McpServer.HttpRouter
  alias McpServer.Protocol.HTTP
  alias McpServer.Test.Issuer

  @resource "http://localhost/mcp"
  @page "https://page.example"
  @fixed String.duplicate("fixed", 8)
  @poor String.duplicate("poor", 8)
  # Heads of this size are read at once with their body. The connection's further use depends on the body's arrival.
  @max_token_bytes 2_048

  setup do
    issuer = start_supervised!(Issuer)
    {:ok, issuer: issuer, url: Issuer.url(issuer)}
  end

  defp serve(%{url: url}, auth \\ [], options \\ []) do
    auth = Keyword.merge([resource: @resource, issuer: url, scopes: ["mcp:use"]], auth)
    HttpServers.start(:listener, [router: HttpRouter, auth: auth] ++ options)
  end

  defp token(%{issuer: issuer}, options \\ []),
    do: Issuer.token(issuer, Keyword.merge([audience: @resource, scopes: ["mcp:use"]], options))

  defp bearer(token), do: [{"authorization", "Bearer " <> token}]

  defp ask(server, headers) do
    {response, [message]} = HttpClient.exchange(server, with_headers(modern_call("granted"), headers))
    {response.status, message}
  end

  # The verdict on a call's bytes, before any process receives the request.
  defp judged(server, headers), do: server |> service() |> HTTP.next(bytes(modern_call("granted"), headers), 0)
  defp service(server), do: mount(server).service
  defp mount(server), do: :sys.get_state(server.pid).mount

  defp known?(server, token), do: match?({:known, _digest, _ends, _request}, judged(server, bearer(token)))

  defp bytes(%{method: method, target: target} = request, headers) do
    body = request.body || ""
    own = [{"host", "localhost"}, {"content-length", byte_size(body)} | request.headers]
    lines = for {name, value} <- own ++ headers, value != nil, do: "#{name}: #{value}\r\n"
    "#{method} #{target} HTTP/1.1\r\n#{lines}\r\n#{body}"
  end

  # All response bytes. A second request, sent behind the first, shows whether the connection stays open.
  defp raw(server, bytes) do
    {:ok, socket} = :gen_tcp.connect({127, 0, 0, 1}, server.port, [:binary, active: false])
    last = "GET /nowhere HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
    :ok = :gen_tcp.send(socket, bytes <> last)
    answer = receive_all(socket, "")
    Regex.replace(~r/(date|mcp-session-id): [^\r]*/, answer, "\\1: …")
  end

  defp receive_all(socket, before) do
    case :gen_tcp.recv(socket, 0, 30_000) do
      {:ok, bytes} -> receive_all(socket, before <> bytes)
      {:error, :closed} -> before
    end
  end

  # From now on every request takes the path of a server with hooks.
  defp unguard(server) do
    %{auth: plan} = mount = mount(server)
    Mount.publish(%{Mount.serving(%{mount | auth: nil}, mount.catalog) | auth: plan})
  end

  defp credentials(context) do
    good = token(context)
    signature = byte_size(good) - 10

    [
      [],
      bearer(good),
      [{"authorization", "bEARER   " <> good}],
      bearer(good) ++ [{"origin", @page}],
      [{"origin", @page}],
      bearer(String.upcase(good)),
      bearer(good <> "="),
      bearer("\t" <> good),
      bearer(good <> " x"),
      bearer(binary_part(good, 0, signature)),
      bearer(""),
      [{"authorization", "Bearer"}],
      [{"authorization", "Basic YTpi"}],
      bearer(good) ++ bearer(good),
      bearer("opaque"),
      bearer("a.b.c"),
      bearer(String.duplicate("a", @max_token_bytes + 1)),
      bearer(token(context, expires_in: -300)),
      bearer(token(context, claims: %{"iss" => "https://other.example"})),
      bearer(token(context, audience: "http://localhost/other")),
      bearer(token(context, header: %{"alg" => "none"})),
      bearer(token(context, scopes: ["other"])),
      bearer(@fixed),
      bearer(@poor)
    ]
  end

  defp requests do
    call = modern_call("granted")

    [
      call,
      modern("tools/list"),
      modern("ping"),
      initialize(),
      %{call | target: "/mcp?access_token=x"},
      %{call | target: "/nowhere"},
      %{call | body: "{"},
      %{call | headers: [{"content-type", "text/plain"}]},
      %{call | method: "GET", body: nil},
      %{call | method: "DELETE", body: nil, headers: [{"mcp-session-id", "x"}, {"mcp-protocol-version", "2025-11-25"}]},
      of_session(legacy_call("granted"), "x"),
      %{call | method: "OPTIONS", body: nil, headers: [{"access-control-request-method", "POST"}]}
    ]
  end

  # Variants of a request: a refusal precedes the body, so its framing decides whether the connection stays open.
  defp sent(%{target: "/mcp", headers: [{"content-type", "application/json"} | _more]} = request, headers) do
    whole = bytes(request, headers)
    [head, body] = String.split(whole, "\r\n\r\n", parts: 2)
    [before, behind] = Regex.split(~r/content-length: \d+/, head)
    chunk = "#{Integer.to_string(byte_size(body), 16)}\r\n#{body}\r\n0\r\n\r\n"

    [
      whole,
      String.replace(whole, "HTTP/1.1", "HTTP/1.0", global: false),
      bytes(request, [{"connection", "close"} | headers]),
      bytes(request, [{"expect", "100-continue"} | headers]),
      "#{before}transfer-encoding: chunked#{behind}\r\n\r\n#{chunk}",
      "#{before}content-length: 9999999999#{behind}\r\n\r\n#{body}"
    ] ++ if(headers == bearer("a.b.c"), do: ["#{before}content-length: 9999#{behind}\r\n\r\n#{body}"], else: [])
  end

  defp sent(request, headers), do: [bytes(request, headers)]

  for {name, auth} <- [
        {"of an issuer", []},
        {"without a token", [anonymous: :discovery]},
        {"of tenants", [issuers: quote(do: fn _issuer -> :error end)]},
        {"of an issuer that is asked", [introspection: [client_id: "mcp", client_secret: "secret"]]},
        {"that are not kept", [cache: false]}
      ] do
    @tag req: ["T1", "T2", "T3", "T27"]
    @tag slow: "thousands of requests, three times"
    test "requests #{name} are answered byte for byte as hooks answer them", context do
      fixed = %{@fixed => [subject: "machine", scopes: ["mcp:use"]], @poor => [subject: "other"]}
      own = [tokens: fixed, max_token_bytes: @max_token_bytes]
      server = serve(context, own ++ unquote(auth), allowed_origins: [@page])
      all = for request <- requests(), headers <- credentials(context), sent <- sent(request, headers), do: sent
      first = Enum.map(all, &raw(server, &1))
      again = Enum.map(all, &raw(server, &1))
      unguard(server)
      hooked = Enum.map(all, &raw(server, &1))

      for {bytes, guarded, known, hooked} <- Enum.zip([all, first, again, hooked]) do
        assert {bytes, guarded} == {bytes, hooked}
        assert {bytes, known} == {bytes, hooked}
      end
    end
  end

  @tag req: ["T22", "T39"]
  test "a known token is its own holder's, in any spelling of the scheme and in no other of its own", context do
    server = serve(context)
    [ada, bob] = [token(context), token(context, subject: "bob")]

    for _cold_and_warm <- 1..2, {token, subject} <- [{ada, "ada"}, {bob, "bob"}] do
      assert {200, message} = ask(server, bearer(token))
      assert HttpClient.text(message) == inspect({{context.url, subject, "client"}, subject, ["mcp:use"]})
    end

    assert {:known, digest, _ends, _request} = judged(server, [{"Authorization", "bearer   " <> ada}])
    assert digest == :crypto.hash(:sha256, ada)
    assert {:denied, :malformed, _reply} = judged(server, bearer(String.upcase(ada)))
    assert {:denied, :malformed, _reply} = judged(server, bearer(ada <> "="))
  end

  @tag req: "T39"
  test "who gets many tokens pushes out its own, and what they grant with them", context do
    server = serve(context, cache: 16)
    ada = token(context)
    assert {200, _message} = ask(server, bearer(ada))
    tokens = for n <- 1..20, do: token(context, subject: "eve", claims: %{"jti" => "#{n}"})
    for token <- tokens, do: assert({200, _message} = ask(server, bearer(token)))
    assert Enum.map([ada | tokens], &known?(server, &1)) == [true] ++ List.duplicate(false, 18) ++ [true, true]
    plan = mount(server).auth
    rows = :ets.match(McpServer.Auth.Cache, {{plan.id, :"$1"}, :_})
    kept = [ada | Enum.take(tokens, -2)]
    assert Enum.sort(rows) == Enum.sort(for token <- kept, do: [:crypto.hash(:sha256, token)])
  end

  @tag req: "T39"
  test "a tenant's tokens do not count any more than the word of the function", context do
    {:ok, words} = Agent.start_link(fn -> {:ok, []} end)
    tenants = fn _issuer -> Agent.get(words, & &1) end
    auth = [issuer: "https://own.example", issuers: tenants]
    server = serve(context, auth)
    token = token(context)
    assert {200, _message} = ask(server, bearer(token))
    assert known?(server, token)
    # As if other tenants had taken this tenant's place in the cache.
    McpServer.Auth.Tenants.clear(mount(server).auth)
    Agent.update(words, fn _known -> :error end)
    refute known?(server, token)
    assert {401, _message} = ask(server, bearer(token))
  end

  test "a token is not known while its issuer is asked about each", context do
    server = serve(context, introspection: [client_id: "mcp", client_secret: "secret", cache: 0])
    token = Issuer.opaque_token(context.issuer, audience: @resource, scopes: ["mcp:use"])
    assert {200, _message} = ask(server, bearer(token))
    refute known?(server, token)
    Issuer.revoke(context.issuer, token)
    assert {401, _message} = ask(server, bearer(token))
  end

  test "a fixed token is known, unless a function says who it is", context do
    tokens = [tokens: %{@fixed => [subject: "machine", scopes: ["mcp:use"]]}]
    server = serve(context, tokens)
    assert {200, _message} = ask(server, bearer(@fixed))
    assert known?(server, @fixed)
    {:ok, words} = Agent.start_link(fn -> {:ok, "machine"} end)
    server = serve(context, [principal: fn _auth -> Agent.get(words, & &1) end] ++ tokens)
    assert {200, _message} = ask(server, bearer(@fixed))
    Agent.update(words, fn _known -> {:error, :forbidden} end)
    assert {403, _message} = ask(server, bearer(@fixed))
  end
end
