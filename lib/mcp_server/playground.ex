defmodule McpServer.Playground do
  @moduledoc """
  A web page to try a router: forms for its tools, prompts and resources, the results, and all messages.

      mix mcp.playground MyApp.MCP

  serves the page alone. In Phoenix it is a plug for development:

      # lib/my_app_web/router.ex
      if Application.compile_env(:my_app, :dev_routes) do
        forward "/dev/mcp", McpServer.Playground, router: MyApp.MCP
      end

  The first request logs the page's path with its token. The [guide](playground.html) shows the page.

  ## Who may use it

  A user of the page can call every tool, as clients of the router do. So the page has four locks:

    * It accepts only requests from this machine, and not through a proxy. `remote: true` allows other requests, and
      `allowed_hosts:` lists their hosts.
    * `Host` and `Origin` must satisfy `McpServer.HttpPlug`, so pages of other sites have no access.
    * All requests except the empty page need the token. It follows the `#` in the page's address, so the browser sends
      it neither in the request for the page nor in a `Referer`. The page uses it in the path of its requests.
    * The page cannot load resources of other sites, and no site can frame it. Views of MCP Apps run in a sandbox with a
      separate origin and the policy of `McpServer.App.CSP`.

  Never mount it in production.

  ## Options

  Options of `McpServer.HttpPlug` except `path:` and `routes:`, such as `identify:`, `auth:` and `init:`, and:

  | option | default | |
  |---|---|---|
  | `:token` | random, one for each start | the end of the page's address: 16 characters or more of `A-Z a-z 0-9 - _` |
  | `:remote` | `false` | whether requests from other machines and through proxies are answered |
  """

  @compile {:no_warn_undefined, Plug.Conn}

  require Logger

  alias McpServer.{Catalog, DualResponse, HttpPlug}
  alias McpServer.Playground.Page

  @page "playground"
  @own [:token, :remote]

  @typedoc "An option of the table above, or of `McpServer.HttpPlug`."
  @type option :: {:router, module()} | {atom(), term()}

  @doc """
  Checks the options.

  Raises `ArgumentError` with the given and the allowed value.
  """
  @spec init([option()]) :: keyword()
  def init(options) do
    {own, plug} = Keyword.split(options, @own)
    for name <- [:path, :routes], plug[name], do: raise(ArgumentError, "#{inspect(__MODULE__)} has no option :#{name}")
    token!(own[:token])
    own[:remote] in [nil, true, false] || raise ArgumentError, "expected :remote to be true or false"
    _checked = HttpPlug.init(plug)
    options
  end

  defp token!(nil), do: :ok

  # The token is a secret, so no message contains it.
  defp token!(token) do
    (is_binary(token) and token =~ ~r/\A[A-Za-z0-9_-]{16,256}\z/) ||
      raise ArgumentError, "expected :token to be a string of 16 to 256 characters of A-Z a-z 0-9 - _"
  end

  @doc "Serves one request, and returns once its response is complete."
  @spec call(conn, keyword()) :: conn when conn: Plug.Conn.t()
  def call(conn, options) do
    if options[:remote] == true or local?(conn),
      do: conn |> Plug.Conn.halt() |> serve(conn.path_info, served(options, conn)),
      else: refuse(conn, 403, "the playground answers requests from this machine only; remote: true lets others in")
  end

  # A proxy on this machine forwards requests of other machines.
  defp local?(conn) do
    forwarded? = Enum.any?(["forwarded", "x-forwarded-for"], &(Plug.Conn.get_req_header(conn, &1) != []))
    loopback?(conn.remote_ip) and not forwarded?
  end

  defp loopback?({127, _b, _c, _d}), do: true
  defp loopback?({0, 0, 0, 0, 0, 0, 0, 1}), do: true
  defp loopback?({0, 0, 0, 0, 0, 0xFFFF, ab, _cd}), do: div(ab, 256) == 127
  defp loopback?(_other), do: false

  defp serve(conn, [], _served) do
    conn |> Plug.Conn.put_resp_header("location", "#{path(conn)}/#{@page}") |> refuse(308, "")
  end

  defp serve(conn, [@page | _rest], {_token, _routes, plug}), do: HttpPlug.call(conn, plug)
  defp serve(conn, [token, "mcp"], {token, _routes, plug}), do: HttpPlug.call(conn, plug)
  defp serve(conn, [token, "rows" | _id], {token, [_page, _rows], plug}), do: HttpPlug.call(conn, plug)
  defp serve(conn, _unknown, _served), do: refuse(conn, 404, "")

  defp path(%{script_name: segments}), do: Enum.map_join(segments, &"/#{&1}")

  defp refuse(conn, status, text) do
    conn
    |> Plug.Conn.put_resp_header("content-type", "text/plain")
    |> Plug.Conn.send_resp(status, text)
    |> Plug.Conn.halt()
  end

  # The token, the routes and the options of the inner plug. The first request creates them. If the compiler runs
  # `init/1`, its result and so the token would be in compiled code.
  defp served(options, conn) do
    key = {__MODULE__, options}

    with nil <- :persistent_term.get(key, nil),
         do: :global.trans({key, self()}, fn -> first(key, options, conn) end, [node()])
  end

  defp first(key, options, conn) do
    with nil <- :persistent_term.get(key, nil) do
      token = options[:token] || new_token()
      routes = routes(options[:router], token)
      served = {token, routes, options |> Keyword.drop(@own) |> Keyword.put(:routes, routes)}
      :persistent_term.put(key, served)
      # A configured token is known and not logged. The host comes from the client and may be forged, so it is not
      # logged.
      fragment = if options[:token], do: "", else: "##{token}"

      Logger.info(
        "The playground of #{inspect(options[:router])} is at #{path(conn)}/#{@page}#{fragment} of this server"
      )

      served
    end
  end

  @doc false
  @spec new_token() :: String.t()
  def new_token, do: Base.url_encode64(:crypto.strong_rand_bytes(24), padding: false)

  @doc false
  # The page's address with the token.
  @spec url(:inet.port_number(), String.t()) :: String.t()
  def url(port, token), do: "http://127.0.0.1:#{port}/#{@page}##{token}"

  @doc false
  # The options for a server that serves only the playground: its path for messages, and the routes.
  @spec server_options(module(), String.t(), (map() -> String.t()) | nil) :: keyword()
  def server_options(router, token, mint \\ nil),
    do: [router: router, path: "/#{token}/mcp", mount_name: "playground", routes: routes(router, token, mint)]

  # Stored results have a separate path, if the router has them.
  defp routes(router, token, mint \\ nil) do
    results = with {_spill, server} <- router.__mcp__(:overflow), do: server
    page = {"/#{@page}", {Page, router: router, token: token, mint: mint, rows: results != nil}}
    rows = {"/#{token}/rows", {DualResponse.Rest, server: results}}
    # Errors of the router are raised before anything is served.
    _catalog = Catalog.fetch(router)
    if results, do: [page, rows], else: [page]
  end
end
