defmodule Mix.Tasks.Mcp.Playground do
  @shortdoc "Serves a page on which to try a router"

  @moduledoc """
  Serves a page on which to try a router, on this machine only.

      mix mcp.playground MyApp.MCP

  Compiles and starts the application, prints one line with the page's address to stderr, and serves until it gets
  SIGTERM. Ctrl-C is Erlang's own: press it twice. What stands behind the `#` of the address is a token, new at each
  start; without it the page can do nothing.

  The page has forms for tools, prompts and resources, draws what comes back, and shows every message. The guide
  `guides/playground.md` says more. In a Phoenix application the same page is the plug `McpServer.Playground`.

  ## Options

    * `--port PORT` – where to listen (4041); 0 takes a free port
    * `--as PRINCIPAL` – who the router's handlers and `authorize:` find in `conn.principal` (a string)
    * `--auth` – asks for access tokens, which the page makes with a test issuer: for routers with `scopes:`
    * `--timeout MS` – how long a call may run, in milliseconds (60000); a tool's own `timeout:` comes first
    * `--no-compile` – serve what is compiled
    * `--no-start` – do not start the application, only what it is built on
  """

  use Mix.Task

  alias McpServer.Auth.Scopes
  alias McpServer.{Catalog, Playground}
  alias McpServer.Test.Issuer

  @port 4041
  @usage "usage: mix mcp.playground ROUTER [--port PORT] [--as PRINCIPAL | --auth] [--timeout MS] [--no-compile] " <>
           "[--no-start], for example mix mcp.playground MyApp.MCP"

  # Whom the test issuer's tokens are for.
  @audience "http://127.0.0.1/playground"

  @impl true
  def run(arguments) do
    {name, options} = Mix.McpServer.parse!(arguments, [port: :integer, as: :string, auth: :boolean], @usage)
    if options[:as] && options[:auth], do: Mix.McpServer.refuse!("with --auth the token says who asks: no --as", @usage)
    :ok = Mix.McpServer.start_application(options)
    router = Mix.McpServer.router!(name)
    if options[:auth] != true and Scopes.asked?(Catalog.fetch(router)), do: Mix.raise(scopes(name))
    token = Playground.new_token()

    served =
      Playground.server_options(router, token, if(options[:auth], do: &mint/1)) ++
        identity(options) ++ [port: Keyword.get(options, :port, @port)] ++ Keyword.take(options, [:timeout])

    Mix.McpServer.Serving.run(served, &"The playground is at #{Playground.url(&1, token)}")
  end

  defp scopes(name), do: "#{name} has `scopes:`, which only a token grants: add --auth, and make tokens on the page"

  defp identity(options) do
    case {options[:as], options[:auth]} do
      {nil, true} ->
        {:ok, _issuer} = Issuer.start_link(name: Issuer)
        [auth: [resource: @audience, issuer: Issuer.url(Issuer)]]

      {nil, _nobody} ->
        []

      {principal, _asked} ->
        [identify: fn _head -> {:ok, principal} end]
    end
  end

  defp mint(%{subject: subject, scopes: scopes}),
    do: Issuer.token(Issuer, subject: subject, scopes: scopes, audience: @audience, expires_in: 3_600)
end
