# Generous, because a loaded machine is no failure.
ExUnit.start(assert_receive_timeout: 1_000)

McpServer.WireSchema.watch()
