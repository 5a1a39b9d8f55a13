# Serves a router to the pages of the origins that are given, open and behind a token:
#
#     mix run conformance/browser/server.exs ORIGIN...
#
# Prints the URLs of both, and ends with its stdin.

defmodule Browser.Handlers do
  def echo(_conn, %{"text" => text}), do: {:ok, text}
end

defmodule Browser.MCP do
  use McpServer.Router, name: "browser"

  tool "echo", "Gives the text back", Browser.Handlers, :echo do
    input_field "text", "The text", :string, required: true
  end
end

defmodule Browser.Guard do
  def who(request) do
    case List.keyfind(request.req_headers, "authorization", 0) do
      {_name, "Bearer secret"} -> {:ok, "ada"}
      _nobody -> {:error, :unauthorized}
    end
  end
end

served = [router: Browser.MCP, port: 0, allowed_origins: System.argv()]

metadata = %{
  "resource" => "http://127.0.0.1/mcp",
  "authorization_servers" => ["https://login.example.com"]
}

guarded = [identify: {Browser.Guard, :who}, resource_metadata: metadata, name: Browser.Guarded]

for options <- [served, guarded ++ served] do
  {:ok, server} = McpServer.HttpServer.start_link(options)
  IO.puts("http://127.0.0.1:#{McpServer.HttpServer.port(server)}/mcp")
end

IO.read(:line)
