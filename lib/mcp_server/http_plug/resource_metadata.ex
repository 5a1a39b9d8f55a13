defmodule McpServer.HttpPlug.ResourceMetadata do
  @moduledoc """
  Serves the protected resource metadata (RFC 9728) of an MCP endpoint. Clients that got a 401 learn from it where to
  get a token.

  The URL of the document is `/.well-known/oauth-protected-resource` followed by the path of the MCP endpoint. So put
  this plug into the Phoenix endpoint, before the router. It ignores all other requests.

      # lib/my_app_web/endpoint.ex
      plug McpServer.HttpPlug.ResourceMetadata,
        allowed_hosts: ["mcp.example.com"],
        resource_metadata: %{
          resource: "https://mcp.example.com/mcp",
          authorization_servers: ["https://login.example.com"],
          scopes_supported: ["books:read", "books:order"]
        }

  Give `McpServer.HttpPlug` the same `resource_metadata:`, so that its 401 and 403 point to the document.

  | option | |
  |---|---|
  | `:resource_metadata` | the document; `resource` is the URL that clients use |
  | `:auth` | in place of the document: the `auth:` of `McpServer.HttpPlug` |
  | `:root` | whether the document is also served without the path of the resource (`true`) |
  | `:allowed_hosts`, `:allowed_origins` | as in `McpServer.HttpPlug` |

  An application with several MCP endpoints needs a plug for each. Each plug serves the path of its `resource`. At most
  one of them serves the root: set `root: false` for the others.
  """

  @compile {:no_warn_undefined, Plug.Conn}

  alias McpServer.Auth.Plan
  alias McpServer.HttpPlug.{Answer, Head}
  alias McpServer.JSON
  alias McpServer.Protocol.HTTP

  @well_known [".well-known", "oauth-protected-resource"]
  @options [:resource_metadata, :auth, :allowed_hosts, :allowed_origins, root: true]

  @doc "Checks the options. Raises `ArgumentError` that names the invalid option."
  @spec init(keyword()) :: keyword()
  def init(options) do
    options = Keyword.validate!(options, @options)
    documented!(options[:resource_metadata], options[:auth])
    is_boolean(options[:root]) || raise ArgumentError, "root: is true or false, got: #{inspect(options[:root])}"
    unless match?({_module, _function}, options[:auth]), do: plain!(options)
    options
  end

  defp plain!(options) do
    policy!(options)
    if options[:auth], do: Plan.without_secret!(__MODULE__, options[:auth])
  end

  defp documented!(document, nil) when is_map(document), do: :ok
  defp documented!(nil, auth) when auth != nil, do: :ok

  defp documented!(_document, _auth),
    do:
      raise(
        ArgumentError,
        "resource_metadata: is the document to serve, a map; or auth: the options that it follows from"
      )

  @doc "Answers requests for the document, and ignores all others."
  @spec call(conn, keyword()) :: conn when conn: Plug.Conn.t()
  def call(%{path_info: @well_known ++ _resource} = conn, options) do
    policy = policy!(options)
    if HTTP.metadata_path?(policy, conn.request_path), do: serve(conn, policy), else: conn
  end

  def call(conn, _options), do: conn

  # A few microseconds, for a document that a client asks for once.
  defp policy!(options) do
    options =
      options
      |> Keyword.take([:allowed_hosts, :allowed_origins])
      |> Map.new()
      |> Map.merge(%{path: nil, metadata_at_root: options[:root], resource_metadata: document(options)})

    case HTTP.policy(options) do
      {:ok, policy} -> policy
      {:error, text} -> raise ArgumentError, text
    end
  end

  defp document(options) do
    document = options[:resource_metadata] || Plan.document(Plan.new!(inspect(__MODULE__), options[:auth]))
    document || raise ArgumentError, "auth: has no issuer:, so there is no document to serve"
    JSON.encode!(document)
  end

  # At the place of the document every request is finished by its head.
  defp serve(conn, policy) do
    case HTTP.check_head(policy, Head.of(conn)) do
      {:answer, status, headers, body} -> conn |> Answer.send_whole(status, headers, body) |> Plug.Conn.halt()
      {:ok, _screened, _facts} -> conn
    end
  end
end
