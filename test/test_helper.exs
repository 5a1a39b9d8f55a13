# Generous, because a loaded machine is no failure. In milliseconds: what looks at every module of the library has
# been seen to take a minute beside other programs, and `MCP_SCALE` makes other tests longer.
#
# Slow tests, whose tag says why, run with `mix test --include slow`.
ExUnit.start(
  assert_receive_timeout: 30_000,
  timeout: 300_000 * McpServer.Properties.scale(),
  exclude: [:slow]
)

# Most routers of the tests are compiled in Mix's environment :test. What they say is as in production.
Application.put_env(:mcp_server, :debug_errors, false)

# Each of hundreds of servers says where it listens.
Logger.put_module_level(McpServer.HttpServer, :warning)

# Here, because two tests that ask for it at once would both load it.
Code.require_file("support/plug_server.exs", __DIR__)
McpServer.Installed.report()
McpServer.WireSchema.watch()
McpServer.TestLog.start()
McpServer.TokenWatch.start()
McpServer.Properties.choose_seed()
