# The example server for those who have a token: prints {"port": 4040, "token": "…"} when it listens, and ends with stdin.
alias McpServer.Test.Issuer

resource = "http://localhost/mcp"
{:ok, issuer} = Issuer.start_link()
auth = [resource: resource, issuer: Issuer.url(issuer), scopes: ["mcp:use"]]
{:ok, server} = McpServer.HttpServer.start_link(router: Everything.MCP, port: 0, auth: auth)

token = Issuer.token(issuer, audience: resource, scopes: ["mcp:use"], expires_in: 3_600)
IO.puts(McpServer.JSON.encode!(%{port: McpServer.HttpServer.port(server), token: token}))
Enum.each(IO.stream(:line), fn _line -> :ok end)
