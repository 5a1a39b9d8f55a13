defmodule McpServer.DualResponse.Plug do
  @moduledoc """
  Serves stored results as a plug: in Phoenix, in a `Plug.Router`, or under Bandit or Cowboy alone.

      # lib/my_app_web/router.ex
      forward "/mcp", McpServer.HttpPlug, router: MyApp.MCP
      forward "/resources", McpServer.DualResponse.Plug, server: MyApp.Results

  The `base_url:` of the `McpServer.DualResponse` is the URL for clients, here `https://api.example.com/resources`.
  `McpServer.DualResponse.Rest` documents the requests, responses and options. `routes:` of `McpServer.HttpServer` does
  the same without Plug.

  ## Bodies

  In a Phoenix endpoint `Plug.Parsers` runs before the router. Add the path to `McpServer.HttpPlug.BodyReader`, so that
  this plug reads the bodies, with its limit and its error texts:

      body_reader: {McpServer.HttpPlug.BodyReader, :read_body, [["/mcp", "/resources"]]}

  Without the reader, this plug uses the parsed JSON body, and refuses a body that was parsed as a form.

  ## Authentication

      forward "/resources", McpServer.DualResponse.Plug,
        server: MyApp.Results,
        allowed_hosts: ["api.example.com"],
        identify: &MyAppWeb.Auth.identity/1,
        authorize: &MyAppWeb.Auth.result/3

  Both hooks get the `Plug.Conn` after the application's pipeline. A Phoenix router stores the options at compile time,
  so write hooks as `&Module.function/1` or `{Module, :function}`.
  """

  @compile {:no_warn_undefined, Plug.Conn}

  alias McpServer.DualResponse.Rest
  alias McpServer.DualResponse.Rest.Service
  alias McpServer.Http.Usage
  alias McpServer.HttpPlug.Sink

  @doc """
  Checks the options.

  Raises `ArgumentError` with the given and the allowed value.
  """
  @spec init(keyword()) :: keyword()
  def init(options) do
    # This may run in the compiler or before each request, so the result is not kept.
    _checked = Rest.new(options)
    options
  end

  @doc "Serves one request, and returns once its response is complete."
  @spec call(conn, keyword()) :: conn when conn: Plug.Conn.t()
  def call(conn, options) do
    {rest, usage} = mounted(options)
    %Sink{conn: conn} = conn |> Sink.routed(%{usage: usage}) |> Service.call(rest)
    Plug.Conn.halt(conn)
  end

  # A usage without limits, because the dispatcher counts requests itself.
  defp mounted(options) do
    id = {__MODULE__, options}

    with nil <- :persistent_term.get(id, nil) do
      mounted = {%{Rest.new(options) | id: id}, Usage.new(%{})}
      :persistent_term.put(id, mounted)
      mounted
    end
  end
end
