defmodule BookshopWeb.Endpoint do
  @moduledoc false
  use Phoenix.Endpoint, otp_app: :bookshop

  if code_reloading?, do: plug(Phoenix.CodeReloader)

  # In tests: a request over a real connection works in the database of the test that its user agent names.
  if Application.compile_env(:bookshop, :sql_sandbox), do: plug(Phoenix.Ecto.SQL.Sandbox)

  plug Plug.RequestId
  plug Plug.Telemetry, event_prefix: [:phoenix, :endpoint]

  # Leaves the bodies of MCP requests to MCP, and those for stored results to their plug.
  plug Plug.Parsers,
    parsers: [:urlencoded, :multipart, :json],
    pass: ["*/*"],
    body_reader: {McpServer.HttpPlug.BodyReader, :read_body, [["/mcp", "/resources"]]},
    json_decoder: Phoenix.json_library()

  plug Plug.MethodOverride
  plug Plug.Head
  plug BookshopWeb.Router
end
