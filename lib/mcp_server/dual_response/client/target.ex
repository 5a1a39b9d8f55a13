defmodule McpServer.DualResponse.Client.Target do
  @moduledoc false
  # Decides where a request may go, and whether it may have credentials. A URL in a tool result is untrusted: it gets
  # neither the user's headers nor access to private addresses, unless the user has named its origin.

  alias McpServer.Fetch.Address
  alias McpServer.DualResponse.Error

  @enforce_keys [:url, :uri, :origin, :trusted?, :addresses]
  defstruct [:url, :uri, :origin, :trusted?, :addresses]

  @type origin :: {scheme :: String.t(), host :: String.t(), :inet.port_number()}
  @type t :: %__MODULE__{
          url: String.t(),
          uri: URI.t(),
          origin: origin(),
          trusted?: boolean(),
          addresses: Address.scope()
        }
  @typedoc "The rules: the origins that the user has named, and whether plain http may leave the machine."
  @type rules :: %{required(:trusted) => [origin()], required(:allow_insecure) => boolean(), optional(atom()) => term()}

  @max_url_bytes 8 * 1024

  @doc "Checks a URL."
  @spec judge(rules(), String.t()) :: {:ok, t()} | {:error, Error.t()}
  def judge(rules, url) do
    with {:ok, uri, origin} <- parse(url),
         trusted? = origin in rules.trusted,
         {:ok, addresses} <- addresses(uri, trusted?, rules.allow_insecure) do
      uri = %{uri | fragment: nil}
      {:ok, %__MODULE__{url: URI.to_string(uri), uri: uri, origin: origin, trusted?: trusted?, addresses: addresses}}
    else
      {:error, why} -> {:error, Error.new(:fetch_error, "The request was not sent: " <> why)}
    end
  end

  defp addresses(%{scheme: scheme, host: host}, trusted?, insecure?) do
    cond do
      not trusted? and not Address.host_within?(host, :public) ->
        {:error, "a private address, whose origin is neither base_url's nor among allowed_origins"}

      scheme == "https" or insecure? ->
        {:ok, if(trusted?, do: :any, else: :public)}

      # Plain http is only for this machine. A host name must resolve to a loopback address too.
      Address.loopback_host?(host) ->
        {:ok, :loopback}

      true ->
        {:error, "http:// goes to loopback only, unless allow_insecure is set"}
    end
  end

  @doc "The URL of a redirect."
  @spec redirect(t(), location :: String.t()) :: {:ok, String.t()} | {:error, Error.t()}
  def redirect(target, location) do
    with true <- byte_size(location) <= @max_url_bytes and String.valid?(location),
         resolved when is_binary(resolved) <- :uri_string.resolve(location, target.url) do
      {:ok, resolved}
    else
      _no_url -> {:error, Error.new(:fetch_error, "The server redirects to what is no URL")}
    end
  end

  @doc "The parts of an absolute http URL, and its origin."
  @spec parse(String.t()) :: {:ok, URI.t(), origin()} | {:error, String.t()}
  def parse(url) when is_binary(url) and byte_size(url) <= @max_url_bytes do
    # OTP's parser raises for invalid UTF-8.
    case String.valid?(url) && URI.new(url) do
      {:ok, %URI{scheme: scheme, host: host, userinfo: nil} = uri}
      when scheme in ["http", "https"] and is_binary(host) and host != "" ->
        uri = %{uri | host: String.downcase(host)}
        if uri.port in 1..65_535, do: {:ok, uri, {scheme, uri.host, uri.port}}, else: {:error, "a URL without a port"}

      {:ok, %URI{userinfo: userinfo}} when userinfo != nil ->
        {:error, "a URL with credentials in it"}

      _other ->
        {:error, "not an http URL"}
    end
  end

  def parse(_url), do: {:error, "not an http URL"}
end
