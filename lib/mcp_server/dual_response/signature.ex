defmodule McpServer.DualResponse.Signature do
  @moduledoc false
  # URLs that carry their own permission, for hosts that cannot send headers. The signature is an HMAC-SHA256 over the
  # resource's id, the permitted actions, the tenant and the expiry time.

  alias McpServer.DualResponse.Resource
  alias McpServer.DualResponse.Rest.Endpoint

  @typedoc "`:ttl` is in milliseconds. The secret is a function, so that no printed term contains it."
  @type settings :: %{secret: (() -> binary()), ttl: pos_integer(), actions: [Endpoint.action()]}

  @actions [:metadata, :fetch, :pin, :delete]
  @defaults %{secret: nil, ttl: 900_000, actions: [:metadata, :fetch]}
  @min_secret_bytes 32

  @doc """
  The checked settings of `signed_urls:`.

  Raises `ArgumentError` for wrong settings. The message never contains the secret.
  """
  @spec options!(keyword() | settings()) :: settings()
  def options!(%{secret: secret} = settings) when is_function(secret, 0), do: settings

  def options!(options) do
    Keyword.keyword?(options) || raise ArgumentError, "signed_urls: takes secret:, ttl: and actions:"

    # The message contains only the keys.
    with [_ | _] = unknown <- Keyword.keys(options) -- Map.keys(@defaults),
         do: raise(ArgumentError, "signed_urls: there are secret:, ttl: and actions:, no #{inspect(unknown)}")

    %{secret: secret} = settings = Map.merge(@defaults, Map.new(options))

    (is_binary(secret) and byte_size(secret) >= @min_secret_bytes) ||
      raise ArgumentError, "signed_urls: needs a secret: of at least #{@min_secret_bytes} bytes"

    # The URL contains whole seconds.
    (is_integer(settings.ttl) and settings.ttl >= 1_000) ||
      raise ArgumentError, "signed_urls: expected ttl: to be at least 1000 milliseconds, got: #{inspect(settings.ttl)}"

    (is_list(settings.actions) and settings.actions != [] and settings.actions -- @actions == []) ||
      raise ArgumentError,
            "signed_urls: expected actions: to be some of #{inspect(@actions)}, got: #{inspect(settings.actions)}"

    %{settings | secret: fn -> secret end}
  end

  @doc "The query string for the URL of a resource. It is valid for `ttl:`, at most until the resource expires."
  @spec query(Resource.t(), settings(), now :: integer()) :: String.t()
  def query(resource, settings, now) do
    expires_at = earlier(now + div(settings.ttl, 1_000), resource.expires_at)
    "exp=#{expires_at}&sig=#{sign(resource, settings, expires_at)}"
  end

  defp earlier(time, nil), do: time
  defp earlier(time, %DateTime{} = expires_at), do: min(time, DateTime.to_unix(expires_at))

  @doc "Whether a signature permits the action on the resource at `now`, in seconds since 1970."
  @spec valid?(Resource.t(), settings(), Endpoint.action(), {non_neg_integer(), String.t()}, integer()) :: boolean()
  def valid?(resource, settings, action, {expires_at, signature}, now) do
    # The signature is compared even if another check fails, so that the response time reveals nothing.
    genuine? = :crypto.hash_equals(digest(sign(resource, settings, expires_at)), digest(signature))
    genuine? and now < expires_at and action in settings.actions
  end

  # `hash_equals` needs texts of the same length.
  defp digest(text), do: :crypto.hash(:sha256, text)

  defp sign(resource, settings, expires_at) do
    text = text(resource.id, settings.actions, tenant(resource.tenant), expires_at)
    Base.url_encode64(:crypto.mac(:hmac, :sha256, settings.secret.(), text), padding: false)
  end

  # The length in front of each text from outside makes the signed text unambiguous.
  defp text(id, actions, tenant, expires_at) do
    actions = for action <- @actions, action in actions, do: Atom.to_string(action)
    "mcp-dual-response\n#{sized(id)}\n#{Enum.join(actions, " ")}\n#{tenant}\n#{expires_at}"
  end

  defp sized(text), do: "#{byte_size(text)}:#{text}"

  defp tenant(nil), do: "-"
  defp tenant(tenant) when is_binary(tenant), do: sized("text " <> tenant)
  defp tenant(tenant), do: sized("term " <> :erlang.term_to_binary(tenant, [:deterministic, minor_version: 2]))
end
