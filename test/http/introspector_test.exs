defmodule McpServer.HttpIntrospectorTest do
  # When an issuer is asked about opaque tokens, on both servers: once for concurrent requests, not after failures, and
  # about a limited number of tokens at once. Not async: to disconnect a user drops what other tests are verifying.
  use McpServer.HttpCase, async: false

  import McpServer.TestLog

  alias McpServer.{FromAddress, HttpRouter, ScriptedServer}
  alias McpServer.Test.Issuer

  @resource "http://localhost/mcp"
  @client [client_id: "mcp", client_secret: "secret"]

  setup do
    issuer = start_supervised!(Issuer)
    {:ok, issuer: issuer, url: Issuer.url(issuer)}
  end

  defp serve(%{kind: kind, url: url}, introspection \\ [], auth \\ []) do
    auth =
      [resource: @resource, issuer: url, scopes: ["mcp:use"], introspection: Keyword.merge(@client, introspection)] ++
        auth

    HttpServers.start(kind, router: HttpRouter, auth: HttpServers.secret_auth(kind, auth))
  end

  # An endpoint that answers when the test says so, and the claims of its tokens.
  defp held_endpoint do
    test = self()

    ScriptedServer.start(fn _request ->
      send(test, {:held, self()})
      receive(do: ({:answer, claims} -> ScriptedServer.json(claims)))
    end)
  end

  defp held do
    assert_receive {:held, script}
    script
  end

  defp answer(script, claims), do: send(script, {:answer, claims})

  defp active(url), do: %{"active" => true, "aud" => @resource, "sub" => "ada", "iss" => url, "scope" => "mcp:use"}

  defp start(server, token),
    do: HttpClient.start(server, with_headers(modern_call("granted"), [{"authorization", "Bearer " <> token}]))

  defp status(peer), do: HttpPeer.response(peer).status
  defp ask(server, token), do: server |> start(token) |> status()

  # The process that asks the test's issuer.
  defp introspector(%{url: url}) do
    name = {McpServer.Auth.Introspector, url, :_}
    Registry.select(McpServer.Http.Registry, [{{name, :"$1", :_}, [], [:"$1"]}])
  end

  # The number of checks that wait for each request.
  defp waiting(context) do
    for pid <- introspector(context), {_key, request} <- :sys.get_state(pid).requests, do: length(request.waiting)
  end

  defp change(context, changes),
    do: for(pid <- introspector(context), do: :sys.replace_state(pid, &Map.merge(&1, changes)))

  defp lines(log, url), do: length(String.split(log, "#{url} cannot be asked about tokens")) - 1

  @tag req: "T36"
  on_both "concurrent requests with one token cost one introspection, whichever of them leaves", context do
    endpoint = held_endpoint()
    server = serve(context, endpoint: endpoint.url, cache: 0)
    [leader | others] = for _ <- 1..10, do: start(server, "held-token")
    eventually(fn -> waiting(context) == [10] end)
    HttpPeer.close(leader)
    [pid] = introspector(context)
    shown = inspect(:sys.get_status(pid), limit: :infinity, printable_limit: :infinity)
    for secret <- ["held-token", "secret"], do: refute(shown =~ secret)
    answer(held(), active(context.url))
    assert Enum.map(others, &status/1) == List.duplicate(200, 9)
    assert length(ScriptedServer.all_requested(endpoint)) == 1
  end

  @tag req: "T36"
  on_both "503 for all that wait, if the request or its process is killed", context do
    server = serve(context, endpoint: held_endpoint().url)

    for {said, victim} <- [{1, &monitored/1}, {0, & &1}] do
      peers = for _ <- 1..3, do: start(server, "held-token")
      eventually(fn -> waiting(context) == [3] end)
      script = held()
      [pid] = introspector(context)

      log =
        capture_log(fn ->
          kill(victim.(pid))
          assert Enum.map(peers, &status/1) == [503, 503, 503]
        end)

      assert lines(log, context.url) == said
      answer(script, active(context.url))
    end

    peer = start(server, "held-token")
    answer(held(), active(context.url))
    assert status(peer) == 200
  end

  defp monitored(pid) do
    {:monitors, [process: request]} = Process.info(pid, :monitors)
    request
  end

  defp kill(pid) do
    monitor = Process.monitor(pid)
    Process.exit(pid, :kill)
    assert_receive {:DOWN, ^monitor, :process, ^pid, :killed}
  end

  @tag req: ["T36", "T39"]
  on_both "after a user was disconnected, an earlier introspection does not count", context do
    server = serve(context, endpoint: held_endpoint().url)
    before = start(server, "held-token")
    first = held()
    assert waiting(context) == [1]
    :ok = McpServer.disconnect({HttpRouter, principal: {context.url, "ada", nil}})
    later = start(server, "held-token")
    eventually(fn -> waiting(context) == [1, 1] end)
    answer(first, active(context.url))
    assert status(before) == 200
    answer(held(), %{"active" => false})
    assert status(later) == 401
  end

  @tag req: "T36"
  on_both "an issuer that failed is left alone for a while, with one line in the log", context do
    server = serve(context)
    good = Issuer.opaque_token(context.issuer, audience: @resource, scopes: ["mcp:use"])
    Issuer.fail(context.issuer)
    assert lines(capture_log(fn -> assert ask(server, good) == 503 end), context.url) == 1
    # The next pause is the longest one, so that it does not end during the test.
    change(context, %{failures: 6, retry_at: nil})

    log =
      capture_log(fn ->
        for n <- 1..10, do: assert(ask(server, "garbage-#{n}") == 503)
        Issuer.recover(context.issuer)
        response = server |> start(good) |> HttpPeer.response()
        assert {response.status, HttpResponse.header(response, "retry-after")} == {503, "5"}
      end)

    assert lines(log, context.url) == 1
    assert Issuer.introspections(context.issuer) == 0
    change(context, %{retry_at: nil})
    assert ask(server, good) == 200
    assert [%{failures: 0}] = Enum.map(introspector(context), &:sys.get_state/1)
  end

  @tag req: "T36"
  on_both "an answer that may depend on its token stops no requests for others", context do
    script = fn %{body: form} ->
      if form =~ "poison", do: ScriptedServer.response(500, [], ""), else: ScriptedServer.json(active(context.url))
    end

    server = serve(context, endpoint: ScriptedServer.start(script).url)
    assert lines(capture_log(fn -> assert ask(server, "poison") == 503 end), context.url) == 1
    change(context, %{log_at: System.monotonic_time(:millisecond) + 600_000})
    assert lines(capture_log(fn -> assert ask(server, "poison") == 503 end), context.url) == 0
    assert ask(server, "good") == 200
  end

  @tag req: "T36"
  on_both "an issuer gets at most 64 introspections at once: 503 beyond", context do
    server = serve(context, [endpoint: context.url <> "/introspect"], timeout: 60_000)
    Issuer.stall(context.issuer)
    peers = for n <- 1..64, do: start(server, "garbage-#{n}")
    eventually(fn -> waiting(context) == List.duplicate(1, 64) end)
    assert ask(server, "one-more") == 503
    # A check that needs no further request is not refused.
    joined = start(server, "garbage-1")
    eventually(fn -> context |> waiting() |> Enum.sum() == 65 end)
    # The failure of all is one failure.
    log =
      capture_log(fn ->
        stop_supervised!(Issuer)
        for peer <- [joined | peers], do: assert(status(peer) == 503)
      end)

    assert lines(log, context.url) == 1
  end

  # Earlier, one client could use all requests to an issuer: with tokens that it made up, on connections that it closed.
  @tag req: "T36"
  test "an address has half of them, also after its clients have left", %{url: url} do
    introspection = [endpoint: held_endpoint().url] ++ @client
    auth = [resource: @resource, issuer: url, timeout: 60_000, introspection: introspection]
    server = FromAddress.start(router: HttpRouter, auth: HttpServers.secret_auth(:plug, auth))

    ask = fn address, token ->
      headers = [{"authorization", "Bearer " <> token}, {"x-from", address}]
      HttpClient.start(server, with_headers(modern_call("granted"), headers))
    end

    peers = for n <- 1..32, do: ask.("192.0.2.7", "garbage-#{n}")
    eventually(fn -> waiting(%{url: url}) == List.duplicate(1, 32) end)
    Enum.each(peers, &HttpPeer.close/1)
    assert status(ask.("192.0.2.7", "one-more")) == 503
    ada = ask.("198.51.100.3", "garbage")
    eventually(fn -> waiting(%{url: url}) == List.duplicate(1, 33) end)
    for _ <- 1..33, do: answer(held(), %{"active" => false})
    assert status(ada) == 401
    eventually(fn -> waiting(%{url: url}) == [] end)
    again = ask.("192.0.2.7", "one-more")
    answer(held(), %{"active" => false})
    assert status(again) == 401
  end
end
