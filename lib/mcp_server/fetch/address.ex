defmodule McpServer.Fetch.Address do
  @moduledoc false
  # What an IP address leads to: the internet, this machine, or a network that is nobody else's business.

  import Bitwise

  @typedoc "Which addresses may be connected to."
  @type scope :: :any | :public | :loopback

  # Networks that are not the internet: the special-purpose registries of IANA, for IPv4 and for what IPv6 embeds.
  @special_ipv4 [
    {{0, 0, 0, 0}, 8},
    {{10, 0, 0, 0}, 8},
    {{100, 64, 0, 0}, 10},
    {{127, 0, 0, 0}, 8},
    {{168, 63, 129, 16}, 32},
    {{169, 254, 0, 0}, 16},
    {{172, 16, 0, 0}, 12},
    {{192, 0, 0, 0}, 24},
    {{192, 0, 2, 0}, 24},
    {{192, 88, 99, 0}, 24},
    {{192, 168, 0, 0}, 16},
    {{198, 18, 0, 0}, 15},
    {{198, 51, 100, 0}, 24},
    {{203, 0, 113, 0}, 24},
    {{224, 0, 0, 0}, 3}
  ]

  # Only 2000::/3 is given out, and of it these are special.
  @special_ipv6 [
    {{0x2001, 0, 0, 0, 0, 0, 0, 0}, 23},
    {{0x2001, 0x0DB8, 0, 0, 0, 0, 0, 0}, 32},
    {{0x2002, 0, 0, 0, 0, 0, 0, 0}, 16},
    {{0x3FFF, 0, 0, 0, 0, 0, 0, 0}, 20}
  ]

  @doc "Whether an address is within a scope."
  @spec within?(:inet.ip_address(), scope()) :: boolean()
  def within?(_ip, :any), do: true
  def within?(ip, :public), do: public?(ip)
  def within?(ip, :loopback), do: loopback?(ip)

  @doc "Whether an address is one of the internet's."
  @spec public?(:inet.ip_address()) :: boolean()
  def public?({_, _, _, _} = ip), do: not Enum.any?(@special_ipv4, &in_network?(ip, &1))

  def public?({first, _, _, _, _, _, _, _} = ip) do
    case embedded(ip) do
      {:ok, ipv4} -> public?(ipv4)
      :none -> (first &&& 0xE000) == 0x2000 and not Enum.any?(@special_ipv6, &in_network?(ip, &1))
    end
  end

  @doc "Whether an address is this machine's own."
  @spec loopback?(:inet.ip_address()) :: boolean()
  def loopback?({127, _, _, _}), do: true
  def loopback?({0, 0, 0, 0, 0, 0, 0, 1}), do: true
  def loopback?({0, 0, 0, 0, 0, 0xFFFF, high, low}), do: loopback?(ipv4(high, low))
  def loopback?(_ip), do: false

  # An IPv4-mapped address, and what NAT64 translates, reach the IPv4 address that they hold.
  defp embedded({0, 0, 0, 0, 0, 0xFFFF, high, low}), do: {:ok, ipv4(high, low)}
  defp embedded({0x64, 0xFF9B, 0, 0, 0, 0, high, low}), do: {:ok, ipv4(high, low)}
  defp embedded(_ip), do: :none

  defp ipv4(high, low), do: {high >>> 8, high &&& 0xFF, low >>> 8, low &&& 0xFF}

  defp in_network?(ip, {network, bits}) do
    {value, width} = number(ip)
    {prefix, ^width} = number(network)
    value >>> (width - bits) == prefix >>> (width - bits)
  end

  defp number({a, b, c, d}), do: {:binary.decode_unsigned(<<a, b, c, d>>), 32}

  defp number({a, b, c, d, e, f, g, h}),
    do: {:binary.decode_unsigned(<<a::16, b::16, c::16, d::16, e::16, f::16, g::16, h::16>>), 128}

  @doc """
  The address that a host is, where it is no name. Every form that the resolver would take for one counts: `127.1`,
  `0x7f.1`, `2130706433`.
  """
  @spec literal(String.t()) :: {:ok, :inet.ip_address()} | :name
  def literal(host) do
    case host |> to_charlist() |> :inet.parse_address() do
      {:ok, ip} -> {:ok, ip}
      {:error, :einval} -> :name
    end
  end

  @doc """
  The addresses of a host that are known without the resolver: what `literal/1` knows, and this machine's. Its name
  means nothing else (RFC 6761, section 6.3), and a resolver that asks others for it may take seconds.
  """
  @spec known(String.t()) :: {:ok, [:inet.ip_address()]} | :name
  def known(host) do
    case literal(host) do
      {:ok, ip} -> {:ok, [ip]}
      :name -> if(local_name?(host), do: {:ok, [{127, 0, 0, 1}, {0, 0, 0, 0, 0, 0, 0, 1}]}, else: :name)
    end
  end

  @doc "Whether a host is within a scope as far as its text tells; a name may still resolve to anything."
  @spec host_within?(String.t(), scope()) :: boolean()
  def host_within?(_host, :any), do: true

  def host_within?(host, scope) do
    case literal(host) do
      {:ok, ip} -> within?(ip, scope)
      :name -> if(local_name?(host), do: scope == :loopback, else: scope == :public)
    end
  end

  @doc "Whether a host is this machine by name (RFC 6761) or address."
  @spec loopback_host?(String.t()) :: boolean()
  def loopback_host?(host), do: host_within?(host, :loopback)

  defp local_name?(host) do
    host = String.trim_trailing(host, ".")
    host == "localhost" or String.ends_with?(host, ".localhost")
  end
end
