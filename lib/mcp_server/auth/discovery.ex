defmodule McpServer.Auth.Discovery do
  @moduledoc false
  # Fetches an issuer's metadata (RFC 8414, OpenID Connect Discovery) and keys. Only URLs from the configuration and
  # from the issuer's metadata are fetched. Redirects are not followed.

  alias McpServer.{Fetch, JSON}
  alias McpServer.Auth.{Secret, Signature}
  alias McpServer.Fetch.Address
  alias McpServer.Protocol.Auth

  @typedoc "`:jwks_uri` is `nil` if the metadata has it. `:timeout` is the total of all requests, in milliseconds."
  @type source :: %{
          required(:issuer) => String.t(),
          required(:jwks_uri) => String.t() | nil,
          required(:fetch_hosts) => [String.t()],
          required(:timeout) => pos_integer(),
          required(:max_bytes) => pos_integer(),
          required(:tls) => Secret.t(),
          optional(atom()) => term()
        }

  @typedoc "`:digest` identifies the text of the key set."
  @type found :: %{
          keys: Auth.keys(),
          digest: binary(),
          usable: non_neg_integer(),
          skipped: non_neg_integer(),
          max_age: pos_integer() | nil
        }

  @json [max_depth: 8, max_values: 8_192]

  @doc "Fetches the keys of an issuer, and for how many seconds they may be stored."
  @spec keys(source()) :: {:ok, found()} | {:error, String.t()}
  def keys(source) do
    deadline = System.monotonic_time(:millisecond) + source.timeout

    with {:ok, uri} <- jwks_uri(source, deadline),
         {:ok, json, max_age} <- get(source, uri, deadline),
         {:ok, keys} <- read(json) do
      {:ok, Map.put(keys, :max_age, max_age)}
    end
  end

  @doc "Reads a key set, without the keys that OTP cannot use."
  @spec read(binary()) :: {:ok, map()} | {:error, String.t()}
  def read(json) do
    with {:ok, keys, materials, skipped} <- Auth.keys(json) do
      sound = Enum.map(materials, &Signature.usable?/1)
      usable = Enum.count(sound, & &1)
      keys = if usable == length(sound), do: keys, else: Auth.retain(keys, sound)
      digest = :crypto.hash(:sha256, json)
      {:ok, %{keys: keys, digest: digest, usable: usable, skipped: skipped + length(sound) - usable}}
    end
  end

  defp jwks_uri(%{jwks_uri: uri}, _deadline) when is_binary(uri), do: {:ok, uri}
  defp jwks_uri(source, deadline), do: endpoint(source, "jwks_uri", deadline)

  @doc "The URL under a name of an issuer's metadata. `deadline` is monotonic, in milliseconds."
  @spec endpoint(source(), String.t(), deadline :: integer()) :: {:ok, String.t()} | {:error, String.t()}
  def endpoint(source, name, deadline) do
    source.issuer
    |> metadata_urls()
    |> Enum.reduce_while({:error, "the issuer has no metadata"}, fn url, _error ->
      case metadata(source, url, name, deadline) do
        {:ok, uri} -> {:halt, {:ok, uri}}
        {:error, reason} -> {:cont, {:error, reason}}
      end
    end)
  end

  @doc """
  The possible URLs of an issuer's metadata, in the order of the MCP specification.

      iex> McpServer.Auth.Discovery.metadata_urls("https://auth.example/tenant")
      ["https://auth.example/.well-known/oauth-authorization-server/tenant",
       "https://auth.example/.well-known/openid-configuration/tenant",
       "https://auth.example/tenant/.well-known/openid-configuration"]
      iex> McpServer.Auth.Discovery.metadata_urls("https://auth.example")
      ["https://auth.example/.well-known/oauth-authorization-server",
       "https://auth.example/.well-known/openid-configuration"]
  """
  @spec metadata_urls(String.t()) :: [String.t()]
  def metadata_urls(issuer) do
    %URI{path: path} = uri = URI.parse(issuer)
    path = String.trim_trailing(path || "", "/")
    at = fn path -> URI.to_string(%{uri | path: path}) end

    inserted =
      for name <- ["oauth-authorization-server", "openid-configuration"], do: at.("/.well-known/#{name}#{path}")

    if path == "", do: inserted, else: inserted ++ [at.(path <> "/.well-known/openid-configuration")]
  end

  defp metadata(%{issuer: issuer} = source, url, name, deadline) do
    with {:ok, json, _max_age} <- get(source, url, deadline) do
      case JSON.decode(json, @json) do
        {:ok, %{"issuer" => ^issuer, ^name => uri}} when is_binary(uri) -> {:ok, uri}
        {:ok, %{"issuer" => ^issuer}} -> {:error, "the issuer's metadata has no #{name}"}
        {:ok, %{"issuer" => _another}} -> {:error, "the issuer's metadata names another issuer"}
        _no_metadata -> {:error, "the issuer's metadata is no JSON object with an issuer"}
      end
    end
  end

  defp get(source, url, deadline) do
    case send_request(source, %{method: :get, url: url, headers: [], body: nil}, deadline) do
      {:ok, response} -> {:ok, response.body, max_age(response.headers)}
      {:error, _reason, text} -> {:error, text}
    end
  end

  @doc "Posts a form, and returns the body of the answer. An error has its reason, and a text for the log."
  @spec post(source(), String.t(), [{String.t(), String.t()}], body :: String.t(), deadline :: integer()) ::
          {:ok, binary()} | {:error, reason :: term(), String.t()}
  def post(source, url, headers, body, deadline) do
    headers = [{"content-type", "application/x-www-form-urlencoded"} | headers]

    with {:ok, response} <- send_request(source, %{method: :post, url: url, headers: headers, body: body}, deadline),
         do: {:ok, response.body}
  end

  defp send_request(source, %{url: url} = request, deadline) do
    with {:ok, scope} <- allowed(source, url),
         {:ok, %{status: 200} = response} <- request(source, request, scope, deadline) do
      {:ok, response}
    else
      {:ok, %{status: status}} -> {:error, {:status, status}, "#{host(url)} answered #{status}"}
      {:error, text} when is_binary(text) -> {:error, :url, text}
      {:error, reason} -> {:error, reason, "#{host(url)} cannot be reached: #{McpServer.Outline.of(reason)}"}
    end
  end

  defp host(url), do: URI.parse(url).host

  # The operator configured the issuer, which may be in a private network. Other hosts in its metadata must be public.
  defp allowed(source, url) do
    %URI{scheme: scheme, host: host} = uri = URI.parse(url)

    own? =
      origin(uri) == origin(URI.parse(source.issuer)) or url == source.jwks_uri or url == source[:endpoint] or
        host in source.fetch_hosts

    cond do
      host in [nil, ""] or uri.userinfo != nil or not Fetch.visible?(url) -> {:error, "the issuer names what is no URL"}
      scheme == "https" -> {:ok, if(own?, do: :any, else: :public)}
      scheme == "http" and Address.loopback_host?(host) and own? -> {:ok, :loopback}
      true -> {:error, "the issuer names a URL without https"}
    end
  end

  defp origin(uri), do: {uri.scheme, uri.host, uri.port}

  defp request(source, request, scope, deadline) do
    case deadline - System.monotonic_time(:millisecond) do
      left when left > 0 ->
        common = [{"accept", "application/json"}, {"accept-encoding", "identity"}, {"user-agent", "mcp_server"}]
        bounds = %{timeout: left, max_body_bytes: source.max_bytes, stream: false, addresses: scope}
        Fetch.fetch(request |> Map.merge(bounds) |> Map.update!(:headers, &(common ++ &1)), source.tls.value)

      _passed ->
        {:error, :timeout}
    end
  end

  defp max_age(headers) do
    with {_name, value} <- List.keyfind(headers, "cache-control", 0),
         [_all, seconds] <- Regex.run(~r/(?:\A|[ ,])max-age=(\d{1,9})(?:[ ,]|\z)/i, value) do
      String.to_integer(seconds)
    else
      _none -> nil
    end
  end
end
