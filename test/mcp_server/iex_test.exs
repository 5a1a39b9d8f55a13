defmodule McpServer.IExTest do
  use ExUnit.Case, async: true

  import ExUnit.CaptureIO

  alias McpServer.{ClientServer, HttpServer}

  @shown :"do not show this result in output"

  test "list, call and read print what the commands print, and IEx shows no value" do
    assert capture_io(fn -> assert McpServer.IEx.list(ClientServer) == @shown end) == """
           client-test 1.0.0 (MCP 2026-07-28)

           Tools
             greet
               Asks for a name and greets
             region place=object region=string
               Repeats what headers repeat
           """

    arguments = [region: "r", place: %{zone: 1}]

    assert capture_io(fn -> McpServer.IEx.call(ClientServer, "region", arguments, as: "ada") end) ==
             "r/1 for \"ada\"\n"

    assert capture_io(fn -> McpServer.IEx.read(ClientServer, "none://here") end) ==
             "error -32601: Method not found\n"
  end

  test "a question is asked in the shell" do
    assert capture_io([input: "Ada\n"], fn -> McpServer.IEx.call(ClientServer, "greet") end) == """
           progress 1/2 asking
           warning: about to ask
           The server asks: Who?
           (!decline or !cancel as an answer refuses)
             name (string, required): progress 1/2 asking
           warning: about to ask
           Hello, Ada!
           """
  end

  test "a server at a URL" do
    server = start_supervised!({HttpServer, router: ClientServer, port: 0})
    url = "http://127.0.0.1:#{HttpServer.port(server)}/mcp"

    assert capture_io(fn -> McpServer.IEx.list(url, revision: "2025-11-25") end) =~
             "client-test 1.0.0 (MCP 2025-11-25)\n"
  end

  test "wrong options" do
    assert_raise ArgumentError, fn -> McpServer.IEx.list(ClientServer, revison: "x") end
  end
end
