defmodule McpServer.DualResponse.Location do
  @moduledoc false
  # Where a resource is found: its URI for MCP, its URL for the REST endpoint.

  alias McpServer.DualResponse.{Options, Resource, Signature}

  # Hosts act on these by themselves: they read files, run code, show views.
  @reserved_schemes ~w(data file javascript ui)

  @sample_id String.duplicate("0", 32)

  @doc "An id nobody guesses: 128 random bits. In lower case, for there are hosts that lower a URI's authority."
  @spec random_id() :: String.t()
  def random_id, do: Base.encode16(:crypto.strong_rand_bytes(16), case: :lower)

  @doc "The URI of a resource."
  @spec uri(Options.t(), String.t()) :: String.t()
  def uri(%{uri_builder: nil, uri_scheme: scheme}, id), do: scheme <> "://" <> id
  def uri(%{uri_builder: builder}, id), do: builder.(id)

  @doc "The URL of a resource, signed where the server signs."
  @spec url(Options.t(), Resource.t()) :: String.t()
  def url(%{signed_urls: nil} = options, resource), do: options.base_url <> "/" <> resource.id

  def url(%{signed_urls: settings} = options, resource) do
    query = Signature.query(resource, settings, System.system_time(:second))
    options.base_url <> "/" <> resource.id <> "?" <> query
  end

  @doc "Whether a text can be the address of an endpoint."
  @spec base_url?(String.t()) :: boolean
  def base_url?(text) do
    case URI.new(text) do
      {:ok, %URI{scheme: scheme, host: host, query: nil, fragment: nil, userinfo: nil}} ->
        scheme in ["http", "https"] and is_binary(host) and host != ""

      _other ->
        false
    end
  end

  @doc "Whether the URIs that a server makes are such, under a scheme that is free."
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
