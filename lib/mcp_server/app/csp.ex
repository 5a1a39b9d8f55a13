defmodule McpServer.App.CSP do
  @moduledoc """
  The `Content-Security-Policy` a host should frame a `ui://` resource with.

  Without a declared `csp` the view may run its own inline scripts and styles, show its own images and
  reach nothing.

  | declared | extends |
  |---|---|
  | `connect_domains` | `connect-src` |
  | `resource_domains` | `script-src`, `style-src`, `img-src`, `media-src`, `font-src` |
  | `frame_domains` | `frame-src` (left out when not given) |
  | `base_uri_domains` | `base-uri` (left out when not given) |

      iex> McpServer.App.CSP.generate(%{connect_domains: ["api.example.com"]}) |> String.split("; ") |> List.last()
      "connect-src 'self' api.example.com"
  """

  alias McpServer.App.UIResourceMeta

  @doc """
  The header's value for a resource's metadata, for its `csp` alone, or for `nil` (the strictest).

  Raises `ArgumentError` for a domain that would not be one source of the policy (it holds a space, a
  semicolon or the like).
  """
  @spec generate(UIResourceMeta.t() | UIResourceMeta.csp() | nil) :: String.t()
  def generate(%UIResourceMeta{csp: csp}), do: generate(csp)

  def generate(csp) when is_map(csp) or is_nil(csp) do
    case McpServer.Protocol.content_security_policy(csp) do
      {:ok, policy} -> policy
      {:error, message} -> raise ArgumentError, "no Content-Security-Policy can be made: #{message}"
    end
  end
end
