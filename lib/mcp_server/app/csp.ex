defmodule McpServer.App.CSP do
  @moduledoc """
  The `Content-Security-Policy` for a host that frames a `ui://` resource.

  Without a declared `csp` the view may use only inline scripts, styles and images, and no other origin.

  | declared | extends |
  |---|---|
  | `connect_domains` | `connect-src` |
  | `resource_domains` | `script-src`, `style-src`, `img-src`, `media-src`, `font-src` |
  | `frame_domains` | `frame-src` (omitted if not given) |
  | `base_uri_domains` | `base-uri` (omitted if not given) |

      iex> McpServer.App.CSP.generate(%{connect_domains: ["api.example.com"]}) |> String.split("; ") |> List.last()
      "connect-src 'self' api.example.com"

  ## Domains

  An entry is one origin, `[scheme://]host[:port]`, with the scheme `https`, `http`, `wss` or `ws`. The host is an ASCII
  domain name or an IPv4 address. A domain name with two or more labels may have the prefix `*.`. All other entries are
  refused: a path, a keyword such as `'unsafe-eval'`, a scheme alone such as `data:`, and every character that could end
  the directive or begin another, such as a space, a quote, a comma or a semicolon. A list has at most 100 entries of at
  most 300 bytes.

  A router checks its `csp` statements when it is compiled. Check domains that your code adds to `_meta` at run time
  with `validate/1`.
  """

  alias McpServer.App.UIResourceMeta
  alias McpServer.Protocol

  @doc """
  The value of the header for a resource's metadata, for its `csp` alone, or for `nil` (the strictest policy).

  | option | meaning | default |
  |---|---|---|
  | `sandbox:` | adds the directives that are omitted above: `frame-src 'none'` and `base-uri 'self'` if not declared, and `object-src 'none'` | `false` |

  A host that serves the document of a sandbox sets `sandbox: true`, as the specification of MCP Apps requires. Without
  `base-uri` a view may set any base; the other two fall back to `default-src 'none'`.

      iex> McpServer.App.CSP.generate(nil, sandbox: true) |> String.split("; ") |> Enum.take(-3)
      ["frame-src 'none'", "base-uri 'self'", "object-src 'none'"]

  Raises `ArgumentError` for an invalid origin.
  """
  @spec generate(UIResourceMeta.t() | UIResourceMeta.csp() | nil, sandbox: boolean) :: String.t()
  def generate(csp, options \\ []) do
    [sandbox: sandbox?] = Keyword.validate!(options, sandbox: false)

    case Protocol.content_security_policy(declared(csp), sandbox?) do
      {:ok, policy} -> policy
      {:error, message} -> raise ArgumentError, "no Content-Security-Policy can be made: #{message}"
    end
  end

  @doc """
  Whether all declared domains are valid. The error text has the position of the invalid entry, not its value.

      iex> McpServer.App.CSP.validate(%{connect_domains: ["https://api.example.com"]})
      :ok
      iex> McpServer.App.CSP.validate(%{frame_domains: ["a.com", "b.com; script-src *"]})
      {:error, "frameDomains[1] has a character at byte 5 that no origin has"}
  """
  @spec validate(UIResourceMeta.t() | UIResourceMeta.csp() | nil) :: :ok | {:error, String.t()}
  def validate(csp) do
    with {:ok, _policy} <- Protocol.content_security_policy(declared(csp), false), do: :ok
  end

  defp declared(%UIResourceMeta{csp: csp}), do: csp
  defp declared(csp) when is_map(csp) or is_nil(csp), do: csp
end
