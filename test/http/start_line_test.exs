defmodule McpServer.Http.StartLineTest do
  # The log message at a server's start. Log levels of modules are global, so this test is not async.
  use ExUnit.Case, async: false

  import McpServer.TestLog

  alias McpServer.HttpServer

  setup do
    Logger.delete_module_level(HttpServer)
    on_exit(fn -> Logger.put_module_level(HttpServer, :warning) end)
  end

  test "starting says one line with the address" do
    for {options, url} <- [
          {[], "http://127.0.0.1:PORT/mcp"},
          {[ip: "::1", path: "/api/mcp"], "http://[::1]:PORT/api/mcp"}
        ] do
      {port, log} =
        with_log(fn ->
          HttpServer.port(start_supervised!({HttpServer, [router: McpServer.MetaRouter, port: 0] ++ options}))
        end)

      lines = for line <- String.split(log, "\n"), line =~ "McpServer.MetaRouter", do: line
      assert [line] = lines
      assert line =~ "[info] McpServer.MetaRouter is served on #{String.replace(url, "PORT", "#{port}")}"
      stop_supervised!({HttpServer, 0})
    end
  end

  test "where HTTP is not to be served, nothing listens and nothing is said" do
    Application.put_env(:mcp_server, :serve_http, false)
    on_exit(fn -> Application.delete_env(:mcp_server, :serve_http) end)
    {:ok, listener} = :gen_tcp.listen(0, ip: {127, 0, 0, 1})
    {:ok, taken} = :inet.port(listener)
    assert {:ignore, ""} = with_log(fn -> HttpServer.start_link(router: McpServer.MetaRouter, port: taken) end)
  end
end
