defmodule Mix.Tasks.Mcp.Bridge do
  @shortdoc "Forwards stdin and stdout to a server over HTTP"

  @moduledoc """
  Forwards stdin and stdout to a server over HTTP, for clients that only start commands, such as Claude Desktop.

      mix mcp.bridge http://127.0.0.1:4040/mcp
      mix mcp.bridge https://example.com/mcp --header "Authorization: Bearer TOKEN"

  The bridge forwards messages of all revisions, with batches, streams, questions to the client and cancellation. If the
  server has lost a session after a restart, the bridge opens a new one. If the server does not listen, the bridge
  retries for 20 seconds.

  In a client's configuration, put the secret of a header into the environment, which `--header-env` reads:

      mix mcp.bridge https://example.com/mcp --header-env "Authorization=MY_TOKEN"

  ## Options

    * `--header "NAME: VALUE"` – a header of each request; may be repeated; other users of the machine can see it
    * `--header-env "NAME=VARIABLE"` – a header whose value is in an environment variable; may be repeated
  """

  use Mix.Task

  @usage "usage: mix mcp.bridge URL [--header \"NAME: VALUE\"] [--header-env NAME=VARIABLE], " <>
           "for example mix mcp.bridge http://127.0.0.1:4040/mcp"

  @impl true
  def run(arguments) do
    {options, urls} = Mix.McpServer.options!(arguments, [header: :keep, header_env: :keep], @usage)
    [url] = if length(urls) == 1, do: urls, else: Mix.raise(@usage)
    url = Mix.McpServer.Remote.url!(url, "the URL", @usage)
    headers = Mix.McpServer.Remote.headers!(options, @usage)
    McpServer.Stdio.take_over!()
    {:ok, _started} = Application.ensure_all_started(:mcp_server)
    McpServer.Bridge.run(url: url, headers: headers)
  end
end
