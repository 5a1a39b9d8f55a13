defmodule McpServer.DualResponse.Client.Reference do
  @moduledoc false
  # Converts a resource's URI to the URL of its rows.

  # Schemes that have another meaning everywhere.
  @reserved ["file", "data", "javascript", "ui"]
  @max_bytes 8 * 1024

  @doc "Whether a text is a valid URI of a resource: `scheme:rest`, as in RFC 3986."
  @spec uri?(term()) :: boolean()
  def uri?(uri) when is_binary(uri) and byte_size(uri) <= @max_bytes do
    # OTP's parser raises for invalid UTF-8.
    with true <- String.valid?(uri),
         {:ok, %URI{scheme: scheme}} when is_binary(scheme) <- URI.new(uri) do
      scheme not in @reserved
    else
      _no_uri -> false
    end
  end

  def uri?(_term), do: false

  @doc "The URL: below `base_url` if it is given, else the one in the tool result, else the URI if it is an http URL."
  @spec url(base_url :: String.t() | nil, uri :: String.t(), url :: String.t() | nil) :: String.t() | nil
  def url(nil, _uri, url) when is_binary(url), do: url
  def url(nil, uri, nil), do: if(uri =~ ~r/\Ahttps?:/i, do: uri)

  def url(base_url, uri, _url) do
    with id when id != nil <- id(uri), do: base_url <> "/" <> URI.encode(id, &URI.char_unreserved?/1)
  end

  # The last nonempty segment of the path, else the host. `URI` would convert the host to lower case.
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

  # Dots would lead out of the folder of `base_url`.
  defp usable(id) when id in ["", ".", ".."], do: nil
  defp usable(id), do: if(String.valid?(id), do: id)
end
