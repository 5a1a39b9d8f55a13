import Config

# A port that is free; tests ask which.
config :bookshop, BookshopWeb.Endpoint,
  http: [ip: :loopback, port: 0],
  server: true,
  secret_key_base: String.duplicate("bookshop", 8)

config :logger, level: :warning

# The library lets a stream live 30 seconds longer, for clocks differ: here it ends after one.
config :bookshop, :stream_seconds, -29
