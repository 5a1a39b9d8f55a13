import Config

config :phoenix, :json_library, Jason

config :bookshop, BookshopWeb.Endpoint,
  adapter: Bandit.PhoenixAdapter,
  url: [host: "localhost"],
  http: [ip: :loopback, port: 4000],
  render_errors: [formats: [html: BookshopWeb.ErrorHTML, json: BookshopWeb.ErrorJSON], layout: false]

# Where clients find the application: results link to it.
config :bookshop, :url, "http://localhost:4000"

# The hosts that MCP requests may name, beside this machine.
config :bookshop, :hosts, []

# The API tokens that there are when the application starts, and whose they are.
config :bookshop, :tokens, %{"secret-of-ada" => "ada"}

if config_env() in [:dev, :test], do: import_config("#{config_env()}.exs")
