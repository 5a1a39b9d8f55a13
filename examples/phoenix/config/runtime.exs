import Config

# What a deployment says when it starts. DATABASE_URL is like "ecto://user:password@host/bookshop"; SECRET_KEY_BASE and
# MCP_SECRET are made by `mix phx.gen.secret`.
if config_env() == :prod do
  host = System.fetch_env!("HOST")

  config :bookshop, BookshopWeb.Endpoint,
    server: true,
    url: [host: host, port: 443, scheme: "https"],
    http: [ip: :any, port: String.to_integer(System.get_env("PORT", "4000"))],
    secret_key_base: System.fetch_env!("SECRET_KEY_BASE")

  config :bookshop, Bookshop.Repo, url: System.fetch_env!("DATABASE_URL")
  config :bookshop, :hosts, [host]
  config :mcp_server, secret: System.fetch_env!("MCP_SECRET")
end
