defmodule McpServer.Auth.Verifier do
  @moduledoc """
  Verifies tokens that are not signed by an issuer of `auth:`, such as tokens in your own database.

      defmodule MyApp.Tokens do
        @behaviour McpServer.Auth.Verifier

        @impl true
        def verify(token, _request, _options) do
          case MyApp.Accounts.fetch_user_by_api_token(token) do
            {:ok, user} -> {:ok, %McpServer.Auth{principal: user.id, scopes: ["notes:read"]}}
            :error -> {:error, :invalid_token}
          end
        end
      end

      auth: [resource: "https://mcp.example.com/mcp", verifier: MyApp.Tokens]
  """

  @typedoc "The head of the request: a `McpServer.HttpRequest`, or with `McpServer.HttpPlug` a `Plug.Conn`."
  @type request :: McpServer.HttpRequest.t() | map()

  @doc """
  Returns the grants of a token. `options` are those of `verifier: {module, options}`.

  | return value | the client gets |
  |---|---|
  | `{:ok, %McpServer.Auth{}}` | its answer |
  | `{:error, :invalid_token}` | 401 |
  | `{:error, {:unavailable, seconds}}` | 503 with `Retry-After`: the client keeps its token |
  """
  @callback verify(token :: String.t(), request(), options :: term()) ::
              {:ok, McpServer.Auth.t()} | {:error, :invalid_token | {:unavailable, seconds :: pos_integer()}}
end
