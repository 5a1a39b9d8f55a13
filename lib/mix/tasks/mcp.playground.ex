defmodule Mix.Tasks.Mcp.Playground do
  @shortdoc "Serves a web page to try a router"

  @moduledoc """
  Serves a web page to try a router, on this machine only.

      mix mcp.playground MyApp.MCP

  The task compiles and starts the application, prints one line with the page's address to stderr, and serves until
  SIGTERM. Press Ctrl-C twice to stop it. The part of the address after `#` is a token, new at each start; the page does
  not work without it.

  The page has forms for tools, prompts and resources, and shows the results and all messages. The guide
  `guides/playground.md` has more. In a Phoenix application use the plug `McpServer.Playground`.

  ## Options

    * `--port PORT` – the port to listen on (4041); 0 takes a free port
  #{Mix.McpServer.Principal.option_doc()}\
    * `--auth` – requires access tokens, which the page gets from a test issuer: for routers with `scopes:`
    * `--timeout MS` – how long a call may run, in milliseconds (60000); a tool's `timeout:` takes precedence
    * `--no-compile` – serve the compiled router, without compiling first
    * `--no-start` – do not start the application, only its dependencies
  """

  use Mix.Task

  alias McpServer.Auth.Scopes
  alias McpServer.{Catalog, Playground}
  alias McpServer.Test.Issuer
  alias Mix.McpServer.Principal

  @port 4041
  @usage "usage: mix mcp.playground ROUTER [--port PORT] [--as PRINCIPAL | --auth] [--timeout MS] [--no-compile] " <>
           "[--no-start], for example mix mcp.playground MyApp.MCP"

  # The audience of the test issuer's tokens.
  @audience "http://127.0.0.1/playground"

  @impl true
  def run(arguments) do
    switches = [port: :integer, auth: :boolean] ++ Principal.switch()
    {name, options} = Mix.McpServer.parse!(arguments, switches, @usage)
    options = Principal.parse!(options, @usage)
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
