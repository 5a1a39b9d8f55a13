defmodule McpServer.DualResponse.Location do
  @moduledoc false
  # The address of a resource: its URI for MCP, and its URL for the REST endpoint.

  alias McpServer.DualResponse.{Options, Resource, Signature}

  # Hosts handle these schemes themselves: they read files, run code, or show views.
  @reserved_schemes ~w(data file javascript ui)

  @sample_id String.duplicate("0", 32)

  @doc "A random id of 128 bits. It is in lower case, because some hosts convert a URI's authority to lower case."
  @spec random_id() :: String.t()
  def random_id, do: Base.encode16(:crypto.strong_rand_bytes(16), case: :lower)

  @doc "The URI of a resource."
  @spec uri(Options.t(), String.t()) :: String.t()
  def uri(%{uri_builder: nil, uri_scheme: scheme}, id), do: scheme <> "://" <> id
  def uri(%{uri_builder: builder}, id), do: builder.(id)

  @doc "The URL of a resource, with a signature if the server signs URLs."
  @spec url(Options.t(), Resource.t()) :: String.t()
  def url(%{signed_urls: nil} = options, resource), do: base_url(options) <> "/" <> resource.id

  def url(%{signed_urls: settings} = options, resource) do
    query = Signature.query(resource, settings, System.system_time(:second))
    base_url(options) <> "/" <> resource.id <> "?" <> query
  end

  @doc "The URL of the REST endpoint. A Phoenix endpoint may start after the server, so it is asked with each use."
  @spec base_url(Options.t()) :: String.t()
  def base_url(%{base_url: {endpoint, path}}), do: endpoint.url() <> endpoint.path(path)
  def base_url(%{base_url: url}), do: url

  @doc "Whether a value is a valid `base_url:`."
  @spec base_url?(term) :: boolean
  def base_url?({endpoint, "/" <> _path}), do: is_atom(endpoint) and endpoint not in [nil, true, false]
  def base_url?(text) when is_binary(text), do: address(text) != nil
  def base_url?(_other), do: false

  defp address(text) do
    case URI.new(text) do
      {:ok, %URI{scheme: scheme, host: host, query: nil, fragment: nil, userinfo: nil} = uri}
      when scheme in ["http", "https"] and host not in [nil, ""] ->
        uri

      _other ->
        nil
    end
  end

  @doc "Whether only this machine can reach the `base_url:`. A Phoenix endpoint's URL is not known at the start."
  @spec local?(Options.t()) :: boolean
  def local?(%{base_url: {_endpoint, _path}}), do: false
  def local?(%{base_url: url}), do: loopback?(address(url).host)

  defp loopback?("localhost"), do: true

  defp loopback?(host) do
    case :inet.parse_address(String.to_charlist(host)) do
      {:ok, {127, _, _, _}} -> true
      {:ok, address} -> address in [{0, 0, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 1}]
      {:error, :einval} -> String.ends_with?(host, ".localhost")
    end
  end

  @doc "Checks that the server's URIs are valid and do not use a reserved scheme."
  @spec check(Options.t()) :: :ok | {:error, String.t()}
  def check(%{uri_builder: nil, uri_scheme: scheme}), do: check_scheme(scheme, ":uri_scheme")

  def check(%{uri_builder: builder}) do
    with uri when is_binary(uri) <- builder.(@sample_id),
         [scheme, _rest] <- String.split(uri, ":", parts: 2),
         {:ok, _uri} <- URI.new(uri) do
      check_scheme(scheme, "the scheme of what :uri_builder makes")
    else
      other -> {:error, "expected :uri_builder to make a URI of an id, got: #{inspect(other)}"}
    end
  end

  # RFC 3986, section 3.1.
  defp check_scheme(scheme, what) do
    cond do
      not is_binary(scheme) or not (scheme =~ ~r/\A[A-Za-z][A-Za-z0-9+.-]*\z/) ->
        {:error, "expected #{what} to be a URI scheme, got: #{inspect(scheme)}"}

      String.downcase(scheme) in @reserved_schemes ->
        {:error, "#{what} is #{scheme}, which means something else to hosts"}

      true ->
        :ok
    end
  end
end
