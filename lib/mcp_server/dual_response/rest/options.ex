defmodule McpServer.DualResponse.Rest.Options do
  @moduledoc false
  # The checked options of an endpoint, and the values computed from them. `McpServer.DualResponse.Rest` documents them.

  require Logger

  alias McpServer.{DualResponse, JSON}
  alias McpServer.Protocol.HTTP
  alias McpServer.DualResponse.Rest.Endpoint

  @compile {:no_warn_undefined, Mix}

  @kibi 1024
  @mebi 1024 * @kibi

  # The core reads these options.
  @endpoint [:prefix, :allowed_hosts, :allowed_origins, :max_body_bytes, :default_limit, :max_limit]
  @too_many "503 and `Retry-After`"

  @doc "The schema of the options. Options for internal use have no documentation."
  @spec table() :: McpServer.Options.table()
  def table do
    [
      server: [:name, required: true, doc: "the name of a `McpServer.DualResponse`"],
      identify: [
        {:or, [nil], {:hook, 1}},
        shown: "nobody",
        doc:
          "`request → {:ok, principal}` or what else the `identify:` of an MCP endpoint returns, or `%{tenant: …, subject: …}`"
      ],
      authorize: [
        {:or, [nil], {:hook, 3}},
        shown: "everybody",
        doc: "`request, resource, action → :ok` or `{:error, :unauthorized \\| :forbidden \\| :not_found}`"
      ],
      auth: [
        {:in, [:required, :optional]},
        shown: "`:required`, where Mix runs in another environment than `:prod` `:optional`",
        doc: "whether to warn if neither hook is given"
      ],
      allowed_hosts: [:strings, default: [], doc: "as `McpServer.HttpServer` has them"],
      allowed_origins: [:strings, default: [], doc: "as `McpServer.HttpServer` has them"],
      resource_metadata: [{:or, [nil], :map}, doc: "the document of RFC 9728 that a 401 points to"],
      default_limit: [:count, default: 100, doc: "rows of a page"],
      max_limit: [:count, default: 1_000, doc: "largest number of rows of a page", beyond: "the page is shorter"],
      max_body_bytes: [:bytes, default: 64 * @kibi, doc: "a request's body", beyond: "413"],
      stream_batch: [
        {:count, 100_000},
        default: 500,
        doc: "rows per read of a stream",
        beyond: "they are read in turn"
      ],
      stream_min_rate: [
        :bytes,
        default: 8 * @kibi,
        doc: "slowest rate of a client that reads a stream, in bytes per second, while the stream waits for it",
        beyond: "the stream is cut"
      ],
      stream_grace: [
        :milliseconds,
        default: 30_000,
        doc: "how long the stream may wait beyond that",
        beyond: "the stream is cut"
      ],
      max_page_bytes: [
        :bytes,
        default: 16 * @mebi,
        doc: "pages of stored rows (`persist: :rows`) that are cached",
        beyond: "all cached pages go"
      ],
      timeout: [
        :milliseconds,
        default: 30_000,
        doc: "how long a query may take",
        beyond: "504; a stream ends with an error"
      ],
      max_requests: [:count, default: 256, doc: "requests at once", beyond: @too_many],
      max_share: [
        :percent,
        default: 25,
        doc: "percent of `max_requests` for one client, and of `max_page_bytes` for one owner of results",
        beyond: @too_many <> "; the owner's cached pages go"
      ],
      max_heap_bytes: [
        {:bytes, 32 * 1024 * @mebi},
        default: 64 * @mebi,
        misnamed: [:max_heap_words],
        doc: "memory of a request",
        beyond: "500"
      ]
    ]
  end

  # The path of the endpoint in a server, and the URL of that server's resource metadata.
  @internal [prefix: [:string, default: ""], metadata_url: [{:or, [nil], :string}]]

  @doc "The fields of an endpoint."
  @spec new!(keyword()) :: %{atom() => term()}
  def new!(options) do
    options = McpServer.Options.check!("McpServer.DualResponse.Rest", table() ++ @internal, options)

    case options |> Map.take(@endpoint) |> Endpoint.new() do
      {:ok, endpoint} ->
        options
        |> Map.drop([:resource_metadata | @endpoint -- [:max_body_bytes]])
        |> Map.merge(%{
          endpoint: endpoint,
          auth: options.auth || auth(),
          metadata_url: options.metadata_url || metadata_url(options.resource_metadata)
        })

      {:error, text} ->
        raise ArgumentError, text
    end
  end

  defp metadata_url(nil), do: nil

  defp metadata_url(metadata) do
    case HTTP.policy(%{resource_metadata: JSON.encode!(metadata)}) do
      {:ok, policy} -> HTTP.metadata_url(policy)
      {:error, text} -> raise ArgumentError, text
    end
  end

  defp auth, do: if(DualResponse.Options.production?(), do: :required, else: :optional)

  @doc "Logs a warning if an id alone gives access."
  @spec warn_open(McpServer.DualResponse.Rest.t()) :: :ok
  def warn_open(%{auth: :required, identify: nil, authorize: nil, server: server}) do
    case DualResponse.Options.fetch(server) do
      %{signed_urls: settings} when settings != nil ->
        :ok

      _unsigned ->
        Logger.warning(
          "The results of #{inspect(server)} are served without authorize:, identify: or signed URLs: " <>
            "whoever learns an id may fetch, pin and delete. auth: :optional says that this is meant."
        )
    end
  end

  def warn_open(_rest), do: :ok
end
