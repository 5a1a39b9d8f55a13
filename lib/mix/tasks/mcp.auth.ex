defmodule Mix.Tasks.Mcp.Auth do
  @shortdoc "Checks the authorization of a server and shows why a token is refused"

  @moduledoc """
  Checks the authorization of a server: the information for clients, the authorization server, and the reason why a
  token is refused.

      mix mcp.auth --resource https://mcp.example.com/mcp --issuer https://auth.example.com

  It prints the URL and the document of the protected resource metadata (RFC 9728), the challenge of a request without a
  token, and the keys that the issuer publishes. It needs no router and starts no application; it sends requests to the
  issuer.

      pbpaste | mix mcp.auth --resource https://mcp.example.com/mcp --issuer https://auth.example.com --token -

  reads a token from stdin and prints its grants, or why it is refused. A token is never an argument, because other
  users of the machine can see arguments. The exit status is 1 if there are no keys, or the token is refused.

  ## Options

    * `--resource URL` – the URL that clients connect to: `resource:` of `auth:`
    * `--issuer URL` – the authorization server: `issuer:`
    * `--scope SCOPE` – a scope that every request needs, one of `scopes:`; may be repeated
    * `--audience TEXT` – the audience of tokens, if it is not the resource; may be repeated
    * `--token -` – reads a token from stdin
  """

  use Mix.Task

  alias McpServer.Auth.{Discovery, Plan, Refusal, Verification}
  alias McpServer.Console.Text
  alias McpServer.{HttpRequest, JSON}
  alias McpServer.Protocol.HTTP

  @usage "usage: mix mcp.auth --resource URL --issuer URL [--scope SCOPE] [--audience TEXT] [--token -]"
  @switches [resource: :string, issuer: :string, scope: [:string, :keep], audience: [:string, :keep], token: :string]

  @impl true
  def run(arguments) do
    {options, names} = Mix.McpServer.options!(arguments, @switches, @usage)
    if names != [] or options[:token] not in [nil, "-"], do: Mix.raise(@usage)
    {:ok, _started} = Application.ensure_all_started(:mcp_server)
    {:ok, _started} = Application.ensure_all_started(:ssl)
    plan = plan!(options)
    metadata(plan)
    keys? = Enum.all?(plan.issuers, &issuer/1)
    good? = options[:token] == nil or token(plan)
    unless keys? and good?, do: exit({:shutdown, 1})
  end

  defp plan!(options) do
    auth = Keyword.take(options, [:resource, :issuer]) ++ [scopes: Keyword.get_values(options, :scope)]
    audience = Keyword.get_values(options, :audience)
    Plan.new!("mix mcp.auth", if(audience == [], do: auth, else: [audience: audience] ++ auth))
  rescue
    error in ArgumentError -> Mix.McpServer.refuse!(error.message, @usage)
  end

  defp metadata(plan) do
    document = JSON.encode!(Plan.document(plan))
    {:ok, policy} = HTTP.policy(%{resource_metadata: document})
    url = HTTP.metadata_url(policy)
    say("Metadata", url)
    say("Document", document)
    say("Challenge", HTTP.challenge(%{scope: plan.scopes, resource_metadata: url}))
  end

  defp issuer({url, {_policy, {:fetched, source}}}) do
    case Discovery.keys(source) do
      {:ok, %{usable: usable, skipped: skipped}} ->
        say("Issuer", "#{url}: #{usable} keys can verify tokens, #{skipped} cannot")
        usable > 0

      {:error, text} ->
        say("Issuer", "#{url}: #{text}")
        false
    end
  end

  defp token(plan) do
    token = :stdio |> IO.read(:line) |> to_string() |> String.trim()
    request = %HttpRequest{method: "POST", request_path: "/", req_headers: [{"authorization", "Bearer " <> token}]}

    case Verification.identify(plan, request) do
      {:ok, auth} ->
        say(
          "Token",
          "is good. Subject: #{inspect(auth.subject)}, client: #{inspect(auth.client_id)}, scopes: #{Enum.join(auth.scopes, " ")}"
        )

        true

      {:error, %Refusal{error: "insufficient_scope"}} ->
        say("Token", "is refused: it lacks one of the scopes")
        false

      {:error, %Refusal{description: text}} ->
        say("Token", "is refused: #{text}")
        false

      {:error, {:unavailable, _seconds}} ->
        say("Token", "cannot be checked: there are no keys")
        false
    end
  end

  # A text may quote a token or an issuer.
  defp say(name, text), do: Mix.shell().info([String.pad_trailing(name, 11), Text.safe(text)])
end
