# One node of the example server, in the folder of the example, on a free port of loopback:
#
#     SURVIVAL_SECRET=… mix run --no-halt ../../conformance/survival/node.exs
#
# A bearer token is its principal; without one nobody asks. SURVIVAL_STORE is a folder that nodes share.
defmodule Survival do
  def identify(request) do
    case McpServer.HttpRequest.get_req_header(request, "authorization") do
      ["Bearer " <> principal] -> {:ok, principal}
      [] -> {:ok, nil}
    end
  end
end

defmodule Survival.Store do
  @behaviour McpServer.SessionStore

  def get([folder: folder], key), do: with({:error, :enoent} <- File.read(Path.join(folder, key)), do: :none)
  def put([folder: folder], key, value, _ttl, _holder), do: File.write(Path.join(folder, key), value)
  def delete([folder: folder], key), do: with({:error, :enoent} <- File.rm(Path.join(folder, key)), do: :ok)
end

folder = System.get_env("SURVIVAL_STORE", "")
if folder != "", do: Application.put_env(:mcp_server, :session_store, {Survival.Store, folder: folder})
Application.put_env(:mcp_server, :secret, System.fetch_env!("SURVIVAL_SECRET"))
port = String.to_integer(System.get_env("SURVIVAL_PORT", "0"))
server = {McpServer.HttpServer, router: Everything.MCP, port: port, identify: &Survival.identify/1}
# In a tree that an application owns, as a release has it.
{:ok, pid} = Supervisor.start_child(McpServer.Supervisor, server)
IO.puts(:stderr, "Listening on http://127.0.0.1:#{McpServer.HttpServer.port(pid)}/mcp")
