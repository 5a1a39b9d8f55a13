defmodule McpServer.Http.PermissionTest do
  # `authorize:` of resources and prompts over HTTP. Not async: changes reach every client of a router.
  use McpServer.HttpCase, async: false

  import McpServer.TestLog, only: [capture_log: 1]

  alias McpServer.{Changes, PermissionRouter}

  defmodule Undecided do
    @moduledoc false
    use McpServer.Router, name: "undecided"
    alias McpServer.PermissionRouter.Handlers

    resource "own", "undecided://{id}", authorize: {Handlers, :undecided} do
      read Handlers, :read
    end
  end

  @options [router: PermissionRouter, identify: &who/1]
  @uris "resourceSubscriptions"

  defp read(uri), do: modern("resources/read", %{"uri" => uri})

  defp updated?(message, uri),
    do: message["method"] == "notifications/resources/updated" and message["params"]["uri"] == uri

  both "a resource or prompt that the principal may not use: 403, in both eras", @options, %{server: server} do
    session = HttpSession.open(server, "2025-11-25", headers: [{"authorization", "Bearer ada"}])

    for {method, params} <- [
          {"resources/read", %{"uri" => "perm://staff"}},
          {"resources/read", %{"uri" => "perm://users/bob/x"}},
          {"prompts/get", %{"name" => "greet", "arguments" => %{"name" => "x"}}}
        ],
        {response, [message]} <- [
          HttpClient.exchange(server, as(modern(method, params), "ada")),
          HttpSession.exchange(session, legacy(method, params))
        ] do
      assert {response.status, message["error"]} == {403, %{"code" => -32600, "message" => "Forbidden"}}
    end

    {response, [message]} = HttpClient.exchange(server, as(read("perm://scoped"), "ada"))
    assert {response.status, message["error"]["data"]} == {403, %{"requiredScopes" => ["more"]}}
    assert HttpResponse.header(response, "www-authenticate") == ~s(Bearer error="insufficient_scope", scope="more")

    assert %{"result" => %{"contents" => [_]}} = HttpClient.answer(server, as(read("perm://users/ada/x"), "ada"))
    assert %{"result" => %{"contents" => [_]}} = HttpClient.answer(server, as(read("perm://staff"), "staff"))
  end

  both "in a session: subscribed to what the principal may read, and to nothing else", @options, %{server: server} do
    session = HttpSession.open(server, "2025-11-25", headers: [{"authorization", "Bearer ada"}])
    subscribe = &HttpSession.answer(session, legacy("resources/subscribe", %{"uri" => &1}))
    assert %{"result" => result} = subscribe.("perm://users/ada/x")
    assert result == %{}

    for uri <- ["perm://users/bob/x", "perm://staff", "perm://none"] do
      assert subscribe.(uri)["error"] == %{
               "code" => -32002,
               "message" => "Resource not found",
               "data" => %{"uri" => uri}
             }
    end

    stream = HttpSession.get(session)
    for uri <- ["perm://users/bob/x", "perm://staff"], do: Changes.resource_updated(PermissionRouter, uri)
    Changes.resource_updated(PermissionRouter, "perm://users/ada/x")
    assert updated?(HttpClient.message(stream), "perm://users/ada/x")
  end

  both "without a session: each stream hears of what its principal may read", @options, %{server: server} do
    uris = ["perm://staff", "perm://users/ada/x", "perm://users/staff/x"]

    streams =
      for {user, allowed} <- [{"ada", ["perm://users/ada/x"]}, {"staff", ["perm://staff", "perm://users/staff/x"]}] do
        request = modern("subscriptions/listen", %{"notifications" => %{@uris => uris}})
        {peer, %{status: 200, body: :stream}} = HttpClient.open(server, as(request, user))
        assert HttpClient.message(peer)["params"]["notifications"] == %{@uris => allowed}
        {peer, allowed}
      end

    for uri <- uris, do: Changes.resource_updated(PermissionRouter, uri)

    for {peer, allowed} <- streams do
      heard = for _ <- allowed, do: HttpClient.message(peer)["params"]["uri"]
      assert Enum.sort(heard) == allowed
    end
  end

  both "a stream of nothing but what may not be read is opened, and stays quiet", @options, %{server: server} do
    request =
      modern("subscriptions/listen", %{"notifications" => %{@uris => ["perm://staff"], "toolsListChanged" => true}})

    {peer, %{status: 200, body: :stream}} = HttpClient.open(server, as(request, "ada"))
    assert HttpClient.message(peer)["params"]["notifications"] == %{"toolsListChanged" => true}
    Changes.resource_updated(PermissionRouter, "perm://staff")
    Changes.tools_changed(PermissionRouter)
    assert HttpClient.message(peer)["method"] == "notifications/tools/list_changed"
  end

  # Earlier, the line had the URI, which is data of the client.
  both "a check that returns no verdict is logged without the client's URI", [router: Undecided], %{server: server} do
    request = modern("subscriptions/listen", %{"notifications" => %{@uris => ["undecided://secret-of-ada"]}})

    log =
      capture_log(fn ->
        {peer, %{status: 200, body: :stream}} = HttpClient.open(server, request)
        assert HttpClient.message(peer)["params"]["notifications"] == %{}
      end)

    assert log =~ "the permission to hear of a resource's changes failed"
    refute log =~ "secret-of-ada"
  end
end
