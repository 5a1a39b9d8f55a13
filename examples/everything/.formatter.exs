[import_deps: [:mcp_server], inputs: ["mix.exs", "lib/**/*.ex"]]
