import Config

# A port that is free; tests ask which.
config :bookshop, BookshopWeb.Endpoint, http: [ip: {127, 0, 0, 1}, port: 0], server: true

config :logger, level: :warning
