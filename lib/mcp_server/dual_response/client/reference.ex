defmodule McpServer.DualResponse.Client.Reference do
  @moduledoc false
  # From a resource's URI to the URL that its rows are fetched from.

  # Schemes that mean something else wherever they are seen.
  @reserved ["file", "data", "javascript", "ui"]
  @max_bytes 8 * 1024

  @doc "Whether a text can be a resource's URI: `scheme:rest`, as RFC 3986 spells it."
  @spec uri?(term()) :: boolean()
  def uri?(uri) when is_binary(uri) and byte_size(uri) <= @max_bytes do
    # What is no UTF-8 makes the parser of OTP raise.
    with true <- String.valid?(uri),
         {:ok, %URI{scheme: scheme}} when is_binary(scheme) <- URI.new(uri) do
      scheme not in @reserved
    else
      _no_uri -> false
    end
  end

  def uri?(_term), do: false

  @doc "The URL: below `base_url` where there is one, else what the tool result says, else the URI if it is one."
  @spec url(base_url :: String.t() | nil, uri :: String.t(), url :: String.t() | nil) :: String.t() | nil
  def url(nil, _uri, url) when is_binary(url), do: url
  def url(nil, uri, nil), do: if(uri =~ ~r/\Ahttps?:/i, do: uri)

  def url(base_url, uri, _url) do
    with id when id != nil <- id(uri), do: base_url <> "/" <> URI.encode(id, &URI.char_unreserved?/1)
  end

  # The last segment of the path that is not empty, else the host. `URI` would make the host's letters small.
  defp id(uri) do
    [_scheme, rest] = String.split(uri, ":", parts: 2)
    [path | _query] = String.split(rest, ["?", "#"], parts: 2)

    case path |> String.split("/", trim: true) |> List.last() do
      nil -> nil
      segment -> segment |> decode() |> usable()
    end
  end

  defp decode(segment) do
    URI.decode(segment)
  rescue
    ArgumentError -> segment
  end

  # Dots would lead out of base_url's folder.
  defp usable(id) when id in ["", ".", ".."], do: nil
  defp usable(id), do: if(String.valid?(id), do: id)
end
