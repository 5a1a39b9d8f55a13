ExUnit.start()

McpServer.WireSchema.watch()
