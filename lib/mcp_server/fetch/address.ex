defmodule McpServer.Fetch.Address do
  @moduledoc false
  # Classifies IP addresses: the internet, this machine, or a private network.

  import Bitwise

  @typedoc "The allowed addresses of a connection."
  @type scope :: :any | :public | :loopback

  # Networks outside the internet: IANA's special-purpose registries, for IPv4 addresses and those embedded in IPv6.
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

  # Only 2000::/3 is allocated. These networks in it are special.
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

  @doc "Whether an address belongs to the public internet."
  @spec public?(:inet.ip_address()) :: boolean()
  def public?({_, _, _, _} = ip), do: not Enum.any?(@special_ipv4, &in_network?(ip, &1))

  def public?({first, _, _, _, _, _, _, _} = ip) do
    case embedded(ip) do
      {:ok, ipv4} -> public?(ipv4)
      :none -> (first &&& 0xE000) == 0x2000 and not Enum.any?(@special_ipv6, &in_network?(ip, &1))
    end
  end

  @doc "Whether an address is a loopback address."
  @spec loopback?(:inet.ip_address()) :: boolean()
  def loopback?({127, _, _, _}), do: true
  def loopback?({0, 0, 0, 0, 0, 0, 0, 1}), do: true
  def loopback?({0, 0, 0, 0, 0, 0xFFFF, high, low}), do: loopback?(ipv4(high, low))
  def loopback?(_ip), do: false

  # IPv4-mapped and NAT64 addresses reach their embedded IPv4 address.
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
  The address of a host that is not a name. All forms that the resolver accepts as addresses count: `127.1`, `0x7f.1`,
  `2130706433`.
  """
  @spec literal(String.t()) :: {:ok, :inet.ip_address()} | :name
  def literal(host) do
    case host |> to_charlist() |> :inet.parse_address() do
      {:ok, ip} -> {:ok, ip}
      {:error, :einval} -> :name
    end
  end

  @doc """
  The addresses of a host that need no resolver: literal addresses and `localhost`, which is always this machine (RFC
  6761, section 6.3). A resolver that asks other servers for it may take seconds.
  """
  @spec known(String.t()) :: {:ok, [:inet.ip_address()]} | :name
  def known(host) do
    case literal(host) do
      {:ok, ip} -> {:ok, [ip]}
      :name -> if(local_name?(host), do: {:ok, [{127, 0, 0, 1}, {0, 0, 0, 0, 0, 0, 0, 1}]}, else: :name)
    end
  end

  @doc "Whether a host is within a scope, judged by its text. A name may still resolve to any address."
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
