[import_deps: [:mcp_server], inputs: ["{mix,.formatter}.exs", "lib/**/*.ex"], line_length: 120]
