defmodule McpServer.HttpPlug do
  @moduledoc """
  Serves a router over Streamable HTTP as a plug: in Phoenix, or with Bandit or Cowboy alone.

      # lib/my_app_web/router.ex
      forward "/mcp", McpServer.HttpPlug, router: MyApp.MCP

      # or, without Phoenix, in a supervision tree
      {Bandit, plug: {McpServer.HttpPlug, router: MyApp.MCP}, ip: :loopback, port: 4000}

  The plug follows the same rules as `McpServer.HttpServer` and shares its code. The [Phoenix guide](phoenix.html) shows
  a complete setup.

  ## Bodies

  In a Phoenix endpoint `Plug.Parsers` runs before the router. With `McpServer.HttpPlug.BodyReader` it does not read
  bodies of MCP requests. Without it, the plug uses the parsed body.

  ## Hosts

  Requests to a `Host` other than loopback are refused. Requests from pages of other sites are refused, because a web
  page must not reach a server on its visitor's machine. A deployed server lists its hosts in `allowed_hosts:`.

  ## Authentication

  `identify:` is called with the `Plug.Conn` of every request, before the body is read. It returns `{:ok, principal}`,
  `{:ok, %McpServer.Auth{}}`, `{:error, :unauthorized}` or `{:error, {:insufficient_scope, ["scope"]}}`;
  `McpServer.HttpServer` lists all return values. A session belongs to the principal that opened it; for other
  principals it does not exist. Handlers get the principal as `conn.principal`, and the assigns of the `Plug.Conn` in
  `conn.assigns`.

      forward "/mcp", McpServer.HttpPlug, router: MyApp.MCP, identify: {MyAppWeb.MCPAuth, :identify}

  `init:` builds the `McpServer.Conn` that handlers get:

      def mcp_conn(conn) do
        %McpServer.Conn{assigns: %{user: conn.assigns.current_scope.user}, private: %{my_app_locale: "en"}}
      end

  A Phoenix router stores the options at compile time, so write both as `&Module.function/1` or `{Module, :function}`.
  `McpServer.HttpPlug.ResourceMetadata` publishes how clients get authorized.

  ## Options

  Times are milliseconds, sizes bytes. No value can be infinite. [Limits](limits.html) has the largest value of each
  option and the answer beyond it.

  #{McpServer.Options.document(McpServer.ServerOptions.http_plug())}
  ## Web servers

  A request may be refused before its body has arrived. Over HTTP/1.1 the plug then reads and discards up to 32 MiB of
  the rest, for at most two seconds, and closes the connection. Without this, clients that send the whole request first
  would get a reset and no response.

  Streams stay open as long as their clients. Bandit needs no settings for this over HTTP/1.1. Bandit over HTTP/2, and
  Cowboy always, close a connection if the client sends nothing for a minute. Change their settings:

      {Bandit, plug: {McpServer.HttpPlug, router: MyApp.MCP},
       thousand_island_options: [read_timeout: :timer.hours(1)]}

      {Plug.Cowboy, scheme: :http, plug: {McpServer.HttpPlug, router: MyApp.MCP},
       options: [port: 4000, protocol_options: [reset_idle_timeout_on_send: true]]}
  """

  @compile {:no_warn_undefined, Plug.Conn}

  alias McpServer.Auth.Plan
  alias McpServer.Http.{Mount, Pipeline, Route}
  alias McpServer.HttpPlug.{Head, Sink}
  alias McpServer.{Options, ServerOptions}

  @typedoc "An option of the table above, or of `McpServer.HttpServer`."
  @type option :: {:router, module()} | {atom(), term()}

  @doc """
  Checks the options.

  Raises `ArgumentError` with the given and the allowed value.
  """
  @spec init([option()]) :: keyword()
  def init(options) do
    # Only checks the options and keeps no state: it may run in the compiler, or, in a Phoenix router, before each
    # request.
    checked = options |> checked() |> without_function()
    _checked = Mount.new(:unserved, checked)
    if checked.auth, do: Plan.without_secret!(__MODULE__, checked.auth)
    options
  end

  # The function is called at the first request: there may be no configuration while the compiler runs this.
  defp without_function(%{auth: {_module, _function}} = checked), do: %{checked | auth: nil}

  defp without_function(checked), do: checked

  defp checked(options), do: Options.check!(inspect(__MODULE__), ServerOptions.http_plug(), options)

  @doc "Serves one request, and returns once its response is complete."
  @spec call(conn, keyword()) :: conn when conn: Plug.Conn.t()
  def call(conn, options) do
    mount = Mount.ensure({:plug, options}, fn -> checked(options) end)
    %Sink{conn: conn} = serve(mount, conn, route(mount, conn))
    Plug.Conn.halt(conn)
  end

  defp route(%{routes: []}, _conn), do: nil
  defp route(%{routes: routes}, conn), do: Route.find(routes, Head.path(conn))

  defp serve(mount, conn, nil), do: Pipeline.serve(mount, Sink.new(conn, mount))
  defp serve(mount, conn, route), do: Route.call(route, Sink.routed(conn, mount))
end
