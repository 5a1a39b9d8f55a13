import Config

config :bookshop, Bookshop.Repo,
  username: "postgres",
  password: "postgres",
  hostname: "localhost",
  database: "bookshop_dev"

# A file that has changed is compiled when the next request comes, and MCP clients are told of lists that have changed.
config :bookshop, BookshopWeb.Endpoint,
  code_reloader: true,
  debug_errors: true,
  secret_key_base: String.duplicate("bookshop", 8)

# The router of the web does not depend on the options of its plugs: without this line, a change of `Bookshop.MCP`
# replaces the router and the endpoint too, and the second such change cuts all open streams.
config :phoenix, :plug_init_mode, :runtime
