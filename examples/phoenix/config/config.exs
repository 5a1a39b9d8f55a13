import Config

config :phoenix, :json_library, Jason

config :bookshop, ecto_repos: [Bookshop.Repo]

config :bookshop, BookshopWeb.Endpoint,
  adapter: Bandit.PhoenixAdapter,
  url: [host: "localhost"],
  http: [ip: :loopback, port: 4000],
  render_errors: [formats: [html: BookshopWeb.ErrorHTML, json: BookshopWeb.ErrorJSON], layout: false]

# The hosts that MCP requests may name, beside this machine.
config :bookshop, :hosts, []

if config_env() in [:dev, :test], do: import_config("#{config_env()}.exs")
