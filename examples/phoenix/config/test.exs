import Config

config :bookshop, Bookshop.Repo,
  username: "postgres",
  password: "postgres",
  hostname: "localhost",
  database: "bookshop_test",
  pool: Ecto.Adapters.SQL.Sandbox,
  pool_size: System.schedulers_online() * 2

config :bookshop, :sql_sandbox, true

# A port that is free; tests ask which.
config :bookshop, BookshopWeb.Endpoint,
  http: [ip: :loopback, port: 0],
  server: true,
  secret_key_base: String.duplicate("bookshop", 8)

config :logger, level: :warning

# The library lets a stream live 30 seconds longer, for clocks differ: here it ends after one.
config :bookshop, :stream_seconds, -29
