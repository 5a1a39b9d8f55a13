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
  def url(%{signed_urls: nil} = options, resource), do: options.base_url <> "/" <> resource.id

  def url(%{signed_urls: settings} = options, resource) do
    query = Signature.query(resource, settings, System.system_time(:second))
    options.base_url <> "/" <> resource.id <> "?" <> query
  end

  @doc "Whether a text is a valid address of an endpoint."
  @spec base_url?(String.t()) :: boolean
  def base_url?(text) do
    case URI.new(text) do
      {:ok, %URI{scheme: scheme, host: host, query: nil, fragment: nil, userinfo: nil}} ->
        scheme in ["http", "https"] and is_binary(host) and host != ""

      _other ->
        false
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
