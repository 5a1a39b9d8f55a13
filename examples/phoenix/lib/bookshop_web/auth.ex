defmodule BookshopWeb.Auth do
  @moduledoc """
  Who sends a request: the customer whose API token it carries.

  The MCP endpoint and the stored results ask before they read the body. What a customer's client has opened, sessions,
  streams and results, is found with a token of that customer only.
  """

  # A stream of news is asked once who it belongs to. After five minutes it ends, and its client opens it again with a token
  # that is looked up again.
  @stream_seconds Application.compile_env(:bookshop, :stream_seconds, 300)

  @doc "The `identify:` hook of the MCP endpoint and of the stored results, whose owner is the principal that called the tool."
  def identify(conn) do
    with {:ok, customer} <- customer(conn),
         do: {:ok, %McpServer.Auth{principal: customer.id, expires_at: System.system_time(:second) + @stream_seconds}}
  end

  # The scheme is written in any case: Bearer, bearer.
  defp customer(conn) do
    with [<<scheme::binary-size(6), " ", token::binary>>] <- Plug.Conn.get_req_header(conn, "authorization"),
         "bearer" <- String.downcase(scheme),
         {:ok, customer} <- Bookshop.Accounts.fetch_user_by_api_token(token) do
      {:ok, customer}
    else
      _nobody -> {:error, :unauthorized}
    end
  end
end
