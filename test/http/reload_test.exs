defmodule McpServer.Http.ReloadTest do
  # A served router is recompiled.
  use McpServer.HttpCase, async: true

  alias McpServer.{Catalog, Changes, ReloadedRouter}

  @echo """
  prompt "greet", "Greets" do
    get McpServer.Handlers, :greet
  end

  tool "echo", "Echoes", McpServer.Handlers, :echo do
    input_field "message", "The text", :string
  """

  @again ~s(tool "again", "Echoes", McpServer.Handlers, :echo)

  # Each test has its own router.
  defp router(name) do
    ReloadedRouter.compile(Module.concat(__MODULE__, name),
      before: ~s(use McpServer.Router, name: "shop"\n#{@echo}end),
      renamed: ~s(use McpServer.Router, name: "other", version: "2.0.0"\n#{@echo}end),
      more: ~s(use McpServer.Router, name: "shop"\n#{@echo}end\n#{@again})
    )
    |> ReloadedRouter.load(:before)
  end

  defp serve(kind, router), do: HttpServers.start(kind, router: router.module)

  defp listen(server) do
    filter = %{"toolsListChanged" => true, "promptsListChanged" => true, "resourcesListChanged" => true}
    {peer, %{status: 200}} = HttpClient.open(server, modern("subscriptions/listen", %{"notifications" => filter}))
    %{"method" => "notifications/subscriptions/acknowledged"} = HttpClient.message(peer)
    peer
  end

  defp tools(server) do
    %{"result" => %{"tools" => tools}} = HttpClient.answer(server, modern("tools/list"))
    for tool <- tools, do: tool["name"]
  end

  for kind <- [:listener, :plug] do
    test "#{kind}: announces a list that is another one, and then serves it" do
      router = router("Announced#{unquote(kind)}")
      server = serve(unquote(kind), router)
      assert tools(server) == ["echo"]
      session = HttpSession.open(server)
      streams = [listen(server), HttpSession.get(session)]

      ReloadedRouter.load(router, :more)
      for stream <- streams, do: assert(HttpClient.message(stream)["method"] == "notifications/tools/list_changed")
      assert tools(server) == ["echo", "again"]
      %{"result" => %{"tools" => [_echo, %{"name" => "again"}]}} = HttpSession.answer(session, legacy("tools/list"))

      # No other notification was sent.
      Changes.prompts_changed(router.module)
      for stream <- streams, do: assert(HttpClient.message(stream)["method"] == "notifications/prompts/list_changed")
    end

    test "#{kind}: announces nothing if the lists are the same" do
      router = router("Unchanged#{unquote(kind)}")
      server = serve(unquote(kind), router)
      streams = [listen(server), HttpSession.get(HttpSession.open(server))]

      for version <- [:before, :renamed, :before] do
        ReloadedRouter.load(router, version)
        # The first fetch announces the changes.
        assert %Catalog{} = Catalog.fetch(router.module)
      end

      Changes.prompts_changed(router.module)
      for stream <- streams, do: assert(HttpClient.message(stream)["method"] == "notifications/prompts/list_changed")
    end

    test "#{kind}: serves a router as it was while there is no such module" do
      router = router("Missing#{unquote(kind)}")
      server = serve(unquote(kind), router)
      stream = listen(server)
      ReloadedRouter.remove(router)
      # The server checks for a new version every second.
      Process.sleep(1_500)
      assert tools(server) == ["echo"]
      assert HttpClient.text(HttpClient.call(server, "echo", %{"message" => "x"})) == "x"

      ReloadedRouter.load(router, :more)
      assert HttpClient.message(stream)["method"] == "notifications/tools/list_changed"
      assert tools(server) == ["echo", "again"]
    end
  end
end
