# Serves the playground of a router below /dev/mcp of another web server, as Phoenix's `forward` does:
#
#     mix run conformance/playground/mounted.exs

Code.require_file("../../test/support/plug_server.exs", __DIR__)

defmodule Mounted.MCP do
  use McpServer.Router, name: "mounted"

  tool "echo", "Gives the text back", Mounted.Handlers, :echo, hints: [:read_only] do
    input_field "text", "The text", :string, required: true
  end
end

defmodule Mounted.Handlers do
  def echo(_conn, %{"text" => text}), do: {:ok, text}
end

defmodule Mounted.Forward do
  def init(options), do: McpServer.Playground.init(options)

  def call(%{path_info: ["dev", "mcp" | rest]} = conn, options),
    do: McpServer.Playground.call(%{conn | path_info: rest, script_name: ["dev", "mcp"]}, options)
end

token = "the-token-of-the-mounted-page"
port = McpServer.Test.PlugServer.start_plug({Mounted.Forward, router: Mounted.MCP, token: token})
IO.puts(:stderr, "The playground is at http://127.0.0.1:#{port}/dev/mcp##{token}")
Process.sleep(:infinity)
