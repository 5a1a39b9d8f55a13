defmodule McpServer.Auth.Introspection do
  @moduledoc false
  # Asks an issuer for the grants of its opaque tokens (RFC 7662). The core checks the answer.

  alias McpServer.Auth.{Cache, Discovery, Secret}
  alias McpServer.Protocol.Auth

  require Logger

  @retry_after 5
  # Seconds until a discovered endpoint is looked up again.
  @endpoint_age 3_600

  @enforce_keys [:policy, :source, :client]
  defstruct [:policy, :source, :client, :endpoint, always: false, cache: 30]

  @typedoc """
  * `:client` – this server's id and secret at the issuer, and how the request carries them
  * `:endpoint` – `nil` if the issuer's metadata has it
  * `:always` – whether signed tokens are introspected too
  * `:cache` – seconds
  """
  @type t :: %__MODULE__{
          policy: Auth.policy(),
          source: Discovery.source(),
          client: Secret.t(),
          endpoint: String.t() | nil,
          always: boolean(),
          cache: non_neg_integer()
        }

  @doc "The grants of a token."
  @spec grant(t(), String.t(), now :: integer()) ::
          {:ok, Auth.grant()} | Auth.refusal() | {:error, {:unavailable, pos_integer()}}
  def grant(introspection, token, now) do
    deadline = System.monotonic_time(:millisecond) + introspection.source.timeout

    with {:ok, endpoint} <- endpoint(introspection, now, deadline),
         {:ok, json} <- ask(introspection, endpoint, token, deadline) do
      case Auth.introspected(json, introspection.policy, now) do
        {:error, :malformed, _text} -> unavailable(introspection, "the answer about a token is none")
        judged -> judged
      end
    else
      {:error, text} -> unavailable(introspection, text)
    end
  end

  defp unavailable(%{source: %{issuer: issuer}}, text) do
    Logger.error("#{issuer} cannot be asked about tokens: #{text}")
    {:error, {:unavailable, @retry_after}}
  end

  defp endpoint(%{endpoint: endpoint}, _now, _deadline) when is_binary(endpoint), do: {:ok, endpoint}

  defp endpoint(%{source: source}, now, deadline) do
    with :error <- Cache.fetch_endpoint(source, now),
         {:ok, endpoint} <- Discovery.endpoint(source, "introspection_endpoint", deadline) do
      Cache.put_endpoint(source, endpoint, now + @endpoint_age)
      {:ok, endpoint}
    end
  end

  defp ask(%{source: source, client: %Secret{value: client}}, endpoint, token, deadline) do
    form = [{"token", token}, {"token_type_hint", "access_token"}]
    {headers, form} = authenticate(client, form)
    Discovery.post(source, endpoint, headers, URI.encode_query(form), deadline)
  end

  # Both parts are form-encoded first (RFC 6749, section 2.3.1).
  defp authenticate({:basic, id, secret}, form) do
    pair = URI.encode_www_form(id) <> ":" <> URI.encode_www_form(secret)
    {[{"authorization", "Basic " <> Base.encode64(pair)}], form}
  end

  defp authenticate({:post, id, secret}, form), do: {[], form ++ [{"client_id", id}, {"client_secret", secret}]}
end
