[
  import_deps: [:ecto, :ecto_sql, :phoenix, :plug, :mcp_server],
  inputs: ["{mix,.formatter}.exs", "{config,lib,priv,test}/**/*.{ex,exs}"],
  line_length: 120
]
