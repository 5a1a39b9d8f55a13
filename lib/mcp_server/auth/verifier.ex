defmodule McpServer.Auth.Verifier do
  @moduledoc """
  Checks tokens that are not signed by an issuer of `auth:`, such as those of your own database.

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

  @typedoc "The head of the request: `McpServer.HttpServer` gives the first, `McpServer.HttpPlug` a `Plug.Conn`."
  @type request :: McpServer.HttpRequest.t() | map()

  @doc """
  What a token grants. `options` are those of `verifier: {module, options}`.

  | it returns | the client gets |
  |---|---|
  | `{:ok, %McpServer.Auth{}}` | its answer |
  | `{:error, :invalid_token}` | 401 |
  | `{:error, {:unavailable, seconds}}` | 503 with `Retry-After`: it keeps its token |
  """
  @callback verify(token :: String.t(), request(), options :: term()) ::
              {:ok, McpServer.Auth.t()} | {:error, :invalid_token | {:unavailable, seconds :: pos_integer()}}
end
