# Servers that ask for tokens, each on a free port of loopback. A line of stdin is the JSON of one of them:
#
#     {"path": "/mcp", "allowed_origins": [], "auth": {"resource": "http://…", "issuer": "http://…"}}
#
# and is answered with {"port": 4040}. Everything ends with stdin.

defmodule Guarded.MCP do
  use McpServer.Router, name: "guarded"

  tool "whoami", "Says what the token grants" do
    run fn %{auth: auth, session_id: session}, _arguments ->
      {:ok, %{issuer: auth.issuer, subject: auth.subject, scopes: Enum.sort(auth.scopes), session: session}}
    end
  end

  tool "write", "Needs more than the others", scopes: ["files:write"] do
    run fn _conn, _arguments -> {:ok, "written"} end
  end
end

serve = fn line ->
  %{"path" => path, "allowed_origins" => origins, "auth" => auth} = McpServer.JSON.decode!(line)

  options =
    for {name, value} <- auth do
      case name do
        "dpop" -> {:dpop, String.to_atom(value)}
        "introspection" -> {:introspection, for({name, value} <- value, do: {String.to_atom(name), value})}
        name -> {String.to_atom(name), value}
      end
    end

  {:ok, server} =
    McpServer.HttpServer.start_link(
      router: Guarded.MCP,
      port: 0,
      path: path,
      name: String.to_atom(auth["resource"]),
      allowed_origins: origins,
      # All issuers are in one process, which takes its time on a busy machine.
      auth: [scopes: ["mcp:use"], leeway: 0, min_refresh: 1, timeout: 30_000] ++ options
    )

  IO.puts(McpServer.JSON.encode!(%{port: McpServer.HttpServer.port(server)}))
end

Enum.each(IO.stream(:line), serve)
