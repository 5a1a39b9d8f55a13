# Generous, because a loaded machine is no failure. In milliseconds: what looks at every module of the library has
# been seen to take a minute beside other programs.
ExUnit.start(assert_receive_timeout: 1_000, timeout: 300_000)

McpServer.WireSchema.watch()
