for file <- ~w(request wrk), do: Code.require_file("http/#{file}.exs", __DIR__)

defmodule Bench.Rest do
  @moduledoc """
  A page of 100 rows from the ETS store, compared with sending the same bytes: from a route that has them as a binary,
  and from the listener's memory. A page of stored rows is encoded once and cached; `sorted` and `of a function` are
  encoded each time.

  wrk runs on the same machine and uses a part of the processors. `BENCH_ROUNDS` and `BENCH_SECONDS` set the number and
  the length of the measurements. With Bandit in `ERL_LIBS` the plug is compared with a plug that sends the bytes.
  """

  @compile {:no_warn_undefined, [Bandit, Plug.Conn, ThousandIsland]}

  alias Bench.Http.Wrk
  alias Bench.Measure
  alias McpServer.DualResponse
  alias McpServer.HttpServer
  alias McpServer.JSON

  defmodule Router do
    use McpServer.Router
  end

  defmodule Static do
    @compile {:no_warn_undefined, Plug.Conn}
    @moduledoc "Answers every request with the same bytes, as a route of the library's server or as a plug."
    @behaviour McpServer.Http.Route

    alias McpServer.Http.Sink

    @headers [
      {"content-type", "application/json"},
      {"cache-control", "private, no-store"},
      {"content-disposition", "attachment"},
      {"x-content-type-options", "nosniff"}
    ]

    def start(body) do
      {:ok, server} =
        HttpServer.start_link(router: Bench.Rest.Router, port: 0, routes: [{"/resources", {__MODULE__, body}}])

      HttpServer.port(server)
    end

    @impl true
    def init(body, _site), do: {:route, body}

    @impl true
    def child_spec(_state), do: %{id: __MODULE__, start: {Agent, :start_link, [fn -> nil end]}}

    # As a plug.
    def init(body), do: body

    @impl true
    def call(sink, {:route, body}) do
      {:ok, _read, sink} = Sink.read_body(sink, 64 * 1024)
      Sink.reply(sink, 200, @headers, body)
    end

    def call(conn, body) do
      {:ok, _read, conn} = Plug.Conn.read_body(conn)
      conn |> Plug.Conn.merge_resp_headers(@headers) |> Plug.Conn.send_resp(200, body)
    end
  end

  @rows 10_000
  @page 100
  @connections 64
  # The least requests a second, as a part of those of a route that only sends.
  @target 0.5

  def run do
    {:ok, _started} = Application.ensure_all_started(:inets)
    {:ok, server} = DualResponse.start_link(name: __MODULE__.Results, base_url: "http://localhost/resources")
    kept = create(:rows)
    asked = create(:query)
    contenders = listener(kept, asked) ++ plug(kept)
    for {_name, port, path} <- contenders, path =~ "/resources", do: :ok = check!(port, path)

    medians =
      for(_round <- 1..setting("BENCH_ROUNDS", 5), {name, port, path} <- contenders, do: {name, measure(port, path)})
      |> Enum.group_by(&elem(&1, 0), &elem(&1, 1))
      |> Map.new(fn {name, runs} -> {name, Enum.at(Enum.sort_by(runs, & &1.per_second), div(length(runs), 2))} end)

    print(contenders, medians)
    GenServer.stop(server)
    targets(medians)
  end

  defp create(persist) do
    {:ok, response} =
      DualResponse.create_response(__MODULE__.Results,
        name: "Customers",
        columns: for(name <- ~w(id name email balance active), do: %{name: name, type: "string"}),
        persist: persist,
        execute: {__MODULE__, :query, []},
        count: {__MODULE__, :count, []}
      )

    response.resource_id
  end

  @doc false
  def query(%{offset: offset, limit: limit}), do: for(i <- (offset + 1)..min(offset + limit, @rows)//1, do: row(i))

  @doc false
  def count(_options), do: @rows

  defp row(i) do
    %{
      "id" => i,
      "name" => "customer #{i}",
      "email" => "customer#{i}@example.com",
      "balance" => i * 1.25,
      "active" => rem(i, 2) == 0
    }
  end

  defp page do
    {:ok, page} = McpServer.DualResponse.Rest.Endpoint.page(for(i <- 1..@page, do: row(i)), 0, @rows)
    page
  end

  defp listener(kept, asked) do
    # A metadata document of the page's size, which the listener serves itself.
    metadata = %{resource: "http://localhost/mcp", authorization_servers: ["http://localhost"], page: ""}
    rest = byte_size(page()) - byte_size(JSON.encode!(metadata))

    {:ok, server} =
      HttpServer.start_link(
        router: Router,
        port: 0,
        routes: [{"/resources", {McpServer.DualResponse.Rest, server: __MODULE__.Results}}],
        resource_metadata: %{metadata | page: String.duplicate("x", rest)}
      )

    port = HttpServer.port(server)

    [
      {"listener, rows kept in ETS", port, "/resources/" <> kept},
      {"listener, rows of a function", port, "/resources/" <> asked},
      {"listener, bytes of a route", Static.start(page()), "/resources/static"},
      {"listener, bytes of its own", port, "/.well-known/oauth-protected-resource"}
    ]
  end

  defp plug(kept) do
    if Code.ensure_loaded?(Bandit) and Code.ensure_loaded?(Plug.Conn) do
      {:ok, _started} = Application.ensure_all_started(:bandit)

      [
        {"plug, rows kept in ETS", bandit({DualResponse.Plug, server: __MODULE__.Results}), "/" <> kept},
        {"plug, bytes of a plug", bandit({Static, page()}), "/static"}
      ]
    else
      []
    end
  end

  defp bandit(plug) do
    {:ok, server} = Bandit.start_link(plug: plug, ip: {127, 0, 0, 1}, port: 0, startup_log: false)
    {:ok, {_address, port}} = ThousandIsland.listener_info(server)
    port
  end

  defp check!(port, path) do
    {:ok, {{_version, 200, _reason}, _headers, body}} =
      :httpc.request(:post, {~c"http://127.0.0.1:#{port}#{path}", [], ~c"application/json", "{}"}, [],
        body_format: :binary
      )

    ^body = page()
    :ok
  end

  defp measure(port, path) do
    request =
      if path =~ "well-known",
        do: %{method: "GET", headers: [], body: ""},
        else: %{headers: [{"Content-Type", "application/json"}], body: "{}"}

    Wrk.run("http://127.0.0.1:#{port}#{path}", request, [], @connections, setting("BENCH_SECONDS", 3))
  end

  defp print(contenders, medians) do
    rows =
      for {name, _port, _path} <- contenders do
        figures = medians[name]

        [
          name,
          "#{round(figures.per_second)}",
          "#{Float.round(figures.p50 / 1000, 2)}",
          "#{Float.round(figures.p99 / 1000, 2)}"
        ]
      end

    title = "A page of #{@page} rows, #{byte_size(page())} bytes, #{@connections} connections"
    Measure.table(title, ["", "req/s", "p50 ms", "p99 ms"], rows)
  end

  defp targets(medians) do
    for {what, yardstick} <- [
          {"listener, rows kept in ETS", "listener, bytes of a route"},
          {"listener, rows kept in ETS", "listener, bytes of its own"},
          {"plug, rows kept in ETS", "plug, bytes of a plug"}
        ],
        %{^what => ours, ^yardstick => static} <- [medians] do
      ratio = ours.per_second / static.per_second
      {"#{what}: #{Float.round(ratio, 2)}× #{yardstick}, at least #{@target}×", ratio >= @target}
    end
  end

  defp setting(name, default), do: String.to_integer(System.get_env(name, "#{default}"))
end
