defmodule McpServer.Quota.Client do
  @moduledoc false
  # Who has a share: a principal, or without one the address of the peer.

  # Longer principals and other terms are replaced by their digest, so that row keys stay small.
  @max_plain_bytes 64

  @typedoc "`nil` is a client without a share. What it has counts only towards the limit."
  @type t ::
          {:principal, binary() | {:digest, binary()}}
          | {:peer, :inet.ip_address()}
          | {:session, term()}
          | nil

  @doc """
  The client of a request.

  It is the authenticated principal, from any address. Without a principal it is the peer's address. An IPv6 address
  counts as its 64-bit network, because one subscriber has all of it. The loopback interface is no client: a single user,
  or a proxy for all users, would get only a part of an idle server.

      iex> McpServer.Quota.Client.new("ada", {127, 0, 0, 1})
      {:principal, "ada"}
      iex> McpServer.Quota.Client.new(nil, {192, 0, 2, 7})
      {:peer, {192, 0, 2, 7}}
      iex> McpServer.Quota.Client.new(nil, {0x2001, 0xDB8, 0, 1, 2, 3, 4, 5})
      {:peer, {0x2001, 0xDB8, 0, 1, 0, 0, 0, 0}}
      iex> McpServer.Quota.Client.new(nil, {127, 0, 0, 1})
      nil
  """
  @spec new(principal :: term(), peer :: term()) :: t()
  def new(nil, peer), do: of_peer(peer)

  def new(principal, _peer) when is_binary(principal) and byte_size(principal) <= @max_plain_bytes,
    do: {:principal, principal}

  def new(principal, _peer),
    do: {:principal, {:digest, :crypto.hash(:sha256, :erlang.term_to_binary(principal, [:deterministic]))}}

  @doc "The client at an address, whoever it is."
  @spec of_peer(peer :: term()) :: t()
  def of_peer({127, _, _, _}), do: nil
  def of_peer({0, 0, 0, 0, 0, 0, 0, 1}), do: nil
  # An IPv4 address on a dual-stack socket.
  def of_peer({0, 0, 0, 0, 0, 0xFFFF, high, low}),
    do: of_peer({div(high, 256), rem(high, 256), div(low, 256), rem(low, 256)})

  def of_peer({a, b, c, d, _, _, _, _}), do: {:peer, {a, b, c, d, 0, 0, 0, 0}}
  def of_peer({_, _, _, _} = address), do: {:peer, address}
  # A local socket, or a transport without addresses.
  def of_peer(_unknown), do: nil
end
