import Config

config :phoenix, :json_library, Jason

config :bookshop, BookshopWeb.Endpoint,
  adapter: Bandit.PhoenixAdapter,
  url: [host: "localhost"],
  http: [ip: {127, 0, 0, 1}, port: 4000],
  render_errors: [formats: [html: BookshopWeb.ErrorHTML, json: BookshopWeb.ErrorJSON], layout: false],
  # Development only: a deployment takes it from its environment, in config/runtime.exs.
  secret_key_base: String.duplicate("bookshop", 8)

# Where clients find the application: results link to it.
config :bookshop, :url, "http://localhost:4000"

# Who may order, by the token that their client sends.
config :bookshop, :tokens, %{"secret-of-ada" => "ada"}

if config_env() == :test, do: import_config("test.exs")
