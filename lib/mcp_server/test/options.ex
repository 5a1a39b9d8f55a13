defmodule McpServer.Test.Options do
  @moduledoc false
  # The options of `McpServer.Test`: those of the client, and those of the transport.

  alias McpServer.{Options, ServerOptions}
  alias McpServer.Protocol.Revision

  # Tests may send what no client should, so most values are not checked.
  @client [
    revision: [{:in, Revision.all()}, default: Revision.newest(), doc: "the protocol revision the client speaks"],
    answers: [
      :any,
      doc:
        "the client's answers: a map from method to answer, or a function of method and params; `{:error, error}` declines"
    ],
    client_capabilities: [:any, shown: "sampling, elicitation, roots", doc: "the client's capabilities"],
    client_info: [:any, shown: "`mcp_server_test`", doc: "the client's name and version"],
    progress_token: [:any, doc: "asks for progress"],
    log_level: [
      :any,
      doc: "asks for log messages of this level and above; revisions with sessions send `\"info\"` and above by default"
    ],
    meta: [:map, default: %{}, doc: "further members of `_meta`: `conn.meta`"],
    assigns: [:map, default: %{}, doc: "the handler's `conn.assigns`"],
    receive_timeout: [:any, default: 30_000, doc: "how long the client waits for an answer, in milliseconds"],
    initialize: [{:in, [true, false]}, default: true, doc: "`false` skips the handshake of revisions with sessions"],
    principal: [
      :any,
      doc: "`conn.principal` of the handlers and of `authorize:`; fixed for the transport, like `:assigns`"
    ],
    auth: [
      :any,
      doc:
        "fields of `McpServer.Auth`: `[scopes: [\"files:read\"], subject: \"ada\"]`; with it, `scopes:` of the router are checked"
    ],
    url: [
      :string,
      doc:
        "the URL of a server to connect to, in place of the router: `identify:` and `init:` of that server decide what its handlers get"
    ],
    headers: [
      :any,
      default: [],
      shown: "`[]`",
      doc: "with `url:`, headers of the requests, as a list of `{name, value}`"
    ],
    on: [
      :any,
      doc:
        "a client of `connect/2`, beside which only options of a request are allowed; without it each call opens a new transport"
    ]
  ]

  # What each request may change.
  @of_requests [:answers, :client_capabilities, :client_info, :progress_token, :log_level, :meta, :receive_timeout]

  @doc "The options of the client."
  @spec client() :: Options.table()
  def client, do: @client

  @doc "Raises `ArgumentError` for an option that does not exist, and for an invalid value."
  @spec check!(keyword()) :: :ok
  def check!(options) do
    transport = Keyword.drop(ServerOptions.stdio(), [:router | Keyword.keys(@client)])
    _checked = Options.check!("McpServer.Test", @client ++ transport, options)
    if options[:on], do: check_beside_client!(options)
    if options[:url], do: check_remote!(options, Keyword.keys(transport)), else: :ok
  end

  # What is fixed when a transport is opened.
  defp check_beside_client!(options) do
    if option = Enum.find(Keyword.keys(options), &(&1 not in [:on | @of_requests])) do
      raise ArgumentError, "#{inspect(option)} is fixed when a transport is opened: give it to connect, not beside :on"
    end
  end

  # What the transport to a router in this VM is given.
  defp check_remote!(options, transport) do
    if option = Enum.find(Keyword.keys(options), &(&1 in [:principal, :auth, :assigns | transport])),
      do: raise(ArgumentError, "with :url, the server at the URL decides on #{inspect(option)}: leave it out"),
      else: :ok
  end
end
