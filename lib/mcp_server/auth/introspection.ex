defmodule McpServer.Auth.Introspection do
  @moduledoc false
  # The requests for the grants of an opaque token (RFC 7662). `Introspector` decides when they are sent. The core
  # checks the answer.

  alias McpServer.Auth.{Discovery, Secret}
  alias McpServer.Protocol.Auth

  # Answers of an issuer that sends them for any token: this server's client or its endpoint is wrong, or the issuer has
  # too much to do. Other answers may depend on the token: one client's token must not stop the requests for others.
  @for_any_token [401, 404, 429, 502, 503, 504]

  @enforce_keys [:policy, :source]
  defstruct [:policy, :source, always: false, cache: 30]

  @typedoc """
  The source of keys, and:

  * `:client` – this server's id and secret at the issuer, and how the request carries them
  * `:endpoint` – `nil` if the issuer's metadata has it
  """
  @type source :: %{
          required(:issuer) => String.t(),
          required(:jwks_uri) => String.t() | nil,
          required(:fetch_hosts) => [String.t()],
          required(:timeout) => pos_integer(),
          required(:max_bytes) => pos_integer(),
          required(:tls) => Secret.t(),
          required(:client) => Secret.t(),
          required(:endpoint) => String.t() | nil,
          optional(atom()) => term()
        }

  @typedoc """
  * `:always` – whether signed tokens are introspected too
  * `:cache` – seconds
  """
  @type t :: %__MODULE__{policy: Auth.policy(), source: source(), always: boolean(), cache: non_neg_integer()}

  @typedoc "Whether another token would fail too, and the text for the log."
  @type failure :: {:error, :issuer | :answer, String.t()}

  @doc "The endpoint from the issuer's metadata. `deadline` is monotonic, in milliseconds."
  @spec endpoint(source(), deadline :: integer()) :: {:ok, String.t()} | failure()
  def endpoint(source, deadline) do
    with {:error, text} <- Discovery.endpoint(source, "introspection_endpoint", deadline), do: {:error, :issuer, text}
  end

  @doc "The issuer's verdict about a token, by the rules of a mount."
  @spec ask(source(), endpoint :: String.t(), String.t(), Auth.policy(), deadline :: integer()) ::
          {:ok, {:ok, Auth.grant()} | Auth.refusal()} | failure()
  def ask(source, endpoint, token, policy, deadline) do
    {headers, form} = authenticate(source.client.value, [{"token", token}, {"token_type_hint", "access_token"}])

    case Discovery.post(source, endpoint, headers, URI.encode_query(form), deadline) do
      {:ok, json} -> judge(json, policy)
      {:error, reason, text} -> {:error, scope(reason), text}
    end
  end

  defp judge(json, policy) do
    case Auth.introspected(json, policy, System.system_time(:second)) do
      {:error, :malformed, _text} -> {:error, :answer, "the answer about a token is none"}
      verdict -> {:ok, verdict}
    end
  end

  defp scope({:status, status}) when status not in @for_any_token, do: :answer
  defp scope(:body_too_large), do: :answer
  defp scope(_reason), do: :issuer

  # Both parts are form-encoded first (RFC 6749, section 2.3.1).
  defp authenticate({:basic, id, secret}, form) do
    pair = URI.encode_www_form(id) <> ":" <> URI.encode_www_form(secret)
    {[{"authorization", "Basic " <> Base.encode64(pair)}], form}
  end

  defp authenticate({:post, id, secret}, form), do: {[], form ++ [{"client_id", id}, {"client_secret", secret}]}
end
