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

  ## What a domain is

  An entry is one origin, `[scheme://]host[:port]`, of the scheme `https`, `http`, `wss` or `ws`. The host is a
  domain name in ASCII or an IPv4 address, and may begin with `*.` before two labels or more. Anything else
  is refused: a path, a keyword such as `'unsafe-eval'`, a scheme alone such as `data:`, and every
  character that could end the directive or begin another, such as a space, a quote, a comma or a semicolon. A list has at
  most 100 entries of at most 300 bytes.

  A router checks what its `csp` statements declare while it compiles. Check domains that your code
  puts into `_meta` at run time with `validate/1`.
  """

  alias McpServer.App.UIResourceMeta
  alias McpServer.Protocol

  @doc """
  The header's value for a resource's metadata, for its `csp` alone, or for `nil` (the strictest).

  | option | meaning | default |
  |---|---|---|
  | `sandbox:` | also say what is left out above: `frame-src 'none'` and `base-uri 'self'` where not declared, and `object-src 'none'` | `false` |

  A host that serves the document of a sandbox wants `sandbox: true`, as the specification of MCP Apps
  asks for it. Without a `base-uri` a view may give itself any base; for the other two
  `default-src 'none'` stands in.

      iex> McpServer.App.CSP.generate(nil, sandbox: true) |> String.split("; ") |> Enum.take(-3)
      ["frame-src 'none'", "base-uri 'self'", "object-src 'none'"]

  Raises `ArgumentError` for a domain that is no origin.
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
  Whether a policy can be made of what is declared. The text names the entry at fault, and does not
  show it.

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
