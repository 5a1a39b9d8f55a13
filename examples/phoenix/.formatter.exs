[
  import_deps: [:phoenix, :plug, :mcp_server],
  inputs: ["{mix,.formatter}.exs", "{config,lib,test}/**/*.{ex,exs}"],
  line_length: 120
]
