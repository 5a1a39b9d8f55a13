defmodule McpServer.HttpRoutesTest do
  # What `routes:` serves beside the messages, on both servers.
  use McpServer.HttpCase, async: true

  import McpServer.DualResponses, only: [create!: 2, server: 0]

  alias McpServer.DualResponse.Rest
  alias McpServer.Http.Sink
  alias McpServer.RestServers

  defmodule Echo do
    # A route that needs no process to bound it but has to name one.
    @behaviour McpServer.Http.Route

    @impl true
    def init(word, site), do: {word, site.path}

    @impl true
    def child_spec(_state), do: %{id: :echo, start: {Agent, :start_link, [fn -> nil end]}}

    @impl true
    def call(sink, {word, path}) do
      head = Sink.head(sink)
      Sink.reply(sink, 200, [{"content-type", "text/plain"}], "#{word} #{path} #{head.method} #{head.target}")
    end
  end

  @routes [{"/echo", {Echo, "a"}}, {"/echo2", {Echo, "b"}}]

  both "each path has its module, and the rest is MCP's", [routes: @routes], %{server: server} do
    assert %{status: 200, body: "a /echo GET /echo/x?y=1"} = RestServers.ask(server, "GET", "/echo/x?y=1")
    assert %{status: 200, body: "b /echo2 POST /echo2"} = RestServers.ask(server, "POST", "/echo2", body: "x")
    assert RestServers.ask(server, "GET", "/echoes").status != 200
    assert HttpClient.text(HttpClient.call(server, "echo", %{"text" => "x"})) == "x"
  end

  test "stored results below a plug" do
    results = server()
    created = create!(results, 5)
    server = HttpServers.start(:plug, routes: [{"/results", {Rest, server: results}}])
    assert RestServers.ask(server, "POST", "/results/" <> created.resource_id).status == 200
    assert RestServers.ask(server, "GET", "/results/none").status == 404
  end
end
