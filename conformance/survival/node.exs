# One node of the example server, in the folder of the example, on a free port of loopback:
#
#     SURVIVAL_SECRET=… mix run --no-halt ../../conformance/survival/node.exs
#
# A bearer token is its principal; without one nobody asks.
defmodule Survival do
  def identify(request) do
    case McpServer.HttpRequest.get_req_header(request, "authorization") do
      ["Bearer " <> principal] -> {:ok, principal}
      [] -> {:ok, nil}
    end
  end
end

Application.put_env(:mcp_server, :secret, System.fetch_env!("SURVIVAL_SECRET"))
port = String.to_integer(System.get_env("SURVIVAL_PORT", "0"))
server = {McpServer.HttpServer, router: Everything.MCP, port: port, identify: &Survival.identify/1}
# In a tree that an application owns, as a release has it.
{:ok, pid} = Supervisor.start_child(McpServer.Supervisor, server)
IO.puts(:stderr, "Listening on http://127.0.0.1:#{McpServer.HttpServer.port(pid)}/mcp")
