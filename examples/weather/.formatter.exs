[import_deps: [:mcp_server], inputs: ["{mix,.formatter}.exs", "view/*.exs", "lib/**/*.ex"], line_length: 120]
