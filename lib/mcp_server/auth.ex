defmodule McpServer.Auth do
  @moduledoc """
  The authorization of an HTTP request: `conn.auth` of a handler.

  `conn.principal` identifies the client and is the same in all its requests; sessions, tasks and sealed state belong to
  it. `conn.auth` has the scopes and claims of this request's token, and changes when the client gets another token.

  | field | meaning |
  |---|---|
  | `principal` | any term that identifies the client, the same for all its tokens; it becomes `conn.principal` |
  | `issuer` | the URL of the authorization server |
  | `subject` | the user or the client at that server |
  | `client_id` | the application that acts for the user |
  | `scopes` | scopes that the token grants, strings |
  | `expires_at` | when the token expires, in seconds since 1970, or `nil`; subscription streams end `leeway:` later, 30 s later for a token of `identify:` |
  | `claims` | further claims, string keys |

  ## Tokens of an authorization server

  A server becomes a resource server of OAuth 2.1 with two URLs, of the server and of the authorization server:

      {McpServer.HttpServer,
       router: MyApp.MCP,
       allowed_hosts: ["mcp.example.com"],
       auth: [resource: "https://mcp.example.com/mcp", issuer: "https://auth.example.com", scopes: ["mcp:use"]]}

  The server derives the document of RFC 9728, the challenges, the keys and the audience from these URLs. Its errors:

    * a missing token: 401
    * an invalid token: 401 with the reason
    * a missing scope: 403 with all scopes of the endpoint
    * two tokens, or a token in the query: 400
    * no answer from the issuer: 503, so that the client keeps its token

  `McpServer.HttpPlug` takes the same option. The guide [Authorization](authorization.html) covers details and common
  identity providers.

  The principal is `{issuer, subject, client_id}`: another application of the same user has no access to its sessions. If
  introspection tells a `username` and no `sub`, the subject in it is `{:username, username}`.

  ## Options of `auth:`

  `auth: {module, function}` names a function that returns these options. A plug requires this form if an option is a
  secret.

  #{McpServer.Options.document(McpServer.Auth.Options.table())}
  ## Tokens of your own

  A hook `identify:` that verifies tokens returns the struct:

      def identify(request) do
        with ["Bearer " <> token] <- McpServer.HttpRequest.get_req_header(request, "authorization"),
             {:ok, user} <- MyApp.Accounts.fetch_user_by_api_token(token) do
          {:ok, %McpServer.Auth{principal: user.id, scopes: ["notes:read"]}}
        else
          _ -> {:error, :unauthorized}
        end
      end

  The struct never holds the token. `inspect/1` shows whether issuer, subject and claims are set, but no values, because
  inspected terms end in logs.
  """

  @enforce_keys [:principal]
  defstruct [:principal, :issuer, :subject, :client_id, :expires_at, scopes: [], claims: %{}]

  @type t :: %__MODULE__{
          principal: term(),
          issuer: String.t() | nil,
          subject: String.t() | nil,
          client_id: String.t() | nil,
          expires_at: non_neg_integer() | nil,
          scopes: [String.t()],
          claims: %{optional(String.t()) => term()}
        }

  # The leeway for tokens of `identify:`, in seconds: their streams end this much later, because clocks differ.
  @leeway 30

  @doc """
  Whether the token of a handler's request grants a scope.

      iex> auth = %McpServer.Auth{principal: "ada", scopes: ["files:read"]}
      iex> McpServer.Auth.scope?(%McpServer.Conn{auth: auth}, "files:read")
      true
      iex> McpServer.Auth.scope?(%McpServer.Conn{auth: auth}, "files:write")
      false
      iex> McpServer.Auth.scope?(%McpServer.Conn{}, "files:read")
      false
  """
  @spec scope?(McpServer.Conn.t(), String.t()) :: boolean()
  def scope?(%McpServer.Conn{auth: nil}, _scope), do: false
  def scope?(%McpServer.Conn{auth: %__MODULE__{scopes: scopes}}, scope), do: scope in scopes

  @doc false
  # The user of a token at its issuer. An answer to introspection need not have a subject, and names the user then
  # (RFC 7662 section 2.2). Without the name all users of a client would be one.
  @spec user(t()) :: String.t() | {:username, String.t()} | nil
  def user(%__MODULE__{subject: nil, claims: %{"username" => name}}) when is_binary(name) and name != "",
    do: {:username, name}

  def user(%__MODULE__{subject: subject}), do: subject

  @doc false
  # Whose share a token takes: that of its user, in whatever application, or of an application without a user.
  @spec holder(t()) :: term()
  def holder(%__MODULE__{issuer: issuer, client_id: client_id} = auth), do: {issuer, user(auth) || client_id}

  @doc false
  @spec stream_ms(t() | nil, McpServer.Auth.Plan.t() | nil) :: non_neg_integer() | :infinity
  def stream_ms(%__MODULE__{expires_at: at}, plan) when is_number(at) do
    leeway = if plan, do: plan.leeway, else: @leeway
    max(trunc((at + leeway) * 1000) - System.system_time(:millisecond), 0)
  end

  def stream_ms(_no_end, _plan), do: :infinity
end

defimpl Inspect, for: McpServer.Auth do
  # Shows no values of the token.
  def inspect(auth, _options) do
    shown = [issuer?: auth.issuer != nil, subject?: auth.subject != nil, claims?: auth.claims != %{}]
    "#McpServer.Auth<#{Enum.map_join(shown, ", ", fn {name, value} -> "#{name}: #{value}" end)}>"
  end
end
