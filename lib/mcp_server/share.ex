defmodule McpServer.Share do
  @moduledoc false
  # Places that many clients share, such as calls or streams, and the share of one client.
  #
  # A limit is global: `limit` places of one kind on one server. A holder is one client: a principal, or the address of
  # an unauthenticated peer. No holder has more than `percent` of the limit, so one client cannot take all places.
  #
  # The process that took a place gives it back. `McpServer.Share.Keeper` monitors these processes, and gives back the
  # places of a process that died. A process may be killed between counting a place and recording its owner. Then the
  # count stays one too high, never too low. The places of a session's calls belong to no process: see
  # `McpServer.Share.Pool`.
  #
  # Counters are rows of a public table: taking a place costs four table operations and no message.

  alias McpServer.Share.Keeper

  @table __MODULE__
  # Longer principals and other terms are replaced by their digest, so that row keys stay small.
  @max_plain_bytes 64

  @typedoc "`nil` is a client without a share. Its places count only towards the limit."
  @type holder :: {:principal, binary() | {:digest, binary()}} | {:peer, :inet.ip_address()} | nil

  @typedoc "The owner of the limit: the id of a mount or of a server."
  @type server :: term()

  @typedoc "The kind of places, such as `:calls` or `:streams`."
  @type kind :: atom()

  @typedoc "The places of one holder."
  @type place :: {server(), kind(), holder()}

  @typedoc "The number of places, and the share of one holder in percent."
  @type bounds :: {limit :: pos_integer(), percent :: 1..100}

  @doc "Makes the table of the counters. The calling process owns it."
  @spec create_table() :: :ok
  def create_table do
    :ets.new(@table, [:named_table, :public, read_concurrency: true, write_concurrency: true])
    Keeper.create_table()
  end

  @doc """
  The holder of a request's places.

  The holder is the authenticated principal, from any address. Without a principal it is the peer's address. An IPv6
  address counts as its 64-bit network, because one subscriber has all of it. The loopback interface is no holder:
  a single user, or a proxy for all users, would get only a part of an idle server.

      iex> McpServer.Share.holder("ada", {127, 0, 0, 1})
      {:principal, "ada"}
      iex> McpServer.Share.holder(nil, {192, 0, 2, 7})
      {:peer, {192, 0, 2, 7}}
      iex> McpServer.Share.holder(nil, {0x2001, 0xDB8, 0, 1, 2, 3, 4, 5})
      {:peer, {0x2001, 0xDB8, 0, 1, 0, 0, 0, 0}}
      iex> McpServer.Share.holder(nil, {127, 0, 0, 1})
      nil
  """
  @spec holder(principal :: term(), peer :: term()) :: holder()
  def holder(nil, peer), do: peer(peer)

  def holder(principal, _peer) when is_binary(principal) and byte_size(principal) <= @max_plain_bytes,
    do: {:principal, principal}

  def holder(principal, _peer),
    do: {:principal, {:digest, :crypto.hash(:sha256, :erlang.term_to_binary(principal, [:deterministic]))}}

  defp peer({127, _, _, _}), do: nil
  defp peer({0, 0, 0, 0, 0, 0, 0, 1}), do: nil
  # An IPv4 address on a dual-stack socket.
  defp peer({0, 0, 0, 0, 0, 0xFFFF, high, low}),
    do: peer({div(high, 256), rem(high, 256), div(low, 256), rem(low, 256)})

  defp peer({a, b, c, d, _, _, _, _}), do: {:peer, {a, b, c, d, 0, 0, 0, 0}}
  defp peer({_, _, _, _} = address), do: {:peer, address}
  # A local socket, or a transport without addresses.
  defp peer(_unknown), do: nil

  @doc """
  The share of one holder: at least one place.

      iex> McpServer.Share.of({1_000, 25})
      250
      iex> McpServer.Share.of({3, 25})
      1
  """
  @spec of(bounds()) :: pos_integer()
  def of({limit, percent}), do: max(1, div(limit * percent, 100))

  @doc """
  Takes places for the calling process: all of them, or `:full` and none.

  `:full` means that the limit or the holder's share is used up. The client gets the same answer for both.
  """
  @spec take(server(), kind(), holder(), bounds(), amount :: pos_integer()) :: :ok | :full
  def take(server, kind, holder, bounds, amount \\ 1) do
    place = {server, kind, holder}
    with :ok <- hold(place, bounds, amount), do: Keeper.put(place, amount)
  end

  @doc "Takes places that no process owns. Its caller gives them back with `return/2`."
  @spec hold(place(), bounds(), amount :: pos_integer()) :: :ok | :full
  def hold({server, kind, _holder} = place, {limit, _percent} = bounds, amount) do
    with :ok <- add({server, kind}, amount, limit), do: hold_share(place, bounds, amount)
  end

  defp hold_share({_server, _kind, nil}, _bounds, _amount), do: :ok

  defp hold_share({server, kind, _holder} = place, bounds, amount) do
    with :full <- add(place, amount, of(bounds)) do
      subtract({server, kind}, amount)
      :full
    end
  end

  @doc "Takes places like `hold/3`, even if none is free."
  @spec hold_anyway(place(), amount :: pos_integer()) :: :ok
  def hold_anyway({server, kind, holder} = place, amount) do
    :ok = add({server, kind}, amount, :infinity)
    if holder, do: add(place, amount, :infinity), else: :ok
  end

  @doc "Gives back places that the calling process has taken."
  @spec give(server(), kind(), holder(), amount :: pos_integer()) :: :ok
  def give(server, kind, holder, amount \\ 1) do
    place = {server, kind, holder}
    :ok = Keeper.put(place, -amount)
    return(place, amount)
  end

  @doc false
  @spec return(place(), amount :: pos_integer()) :: :ok
  def return({server, kind, nil}, amount), do: subtract({server, kind}, amount)

  def return({server, kind, _holder} = place, amount) do
    subtract(place, amount)
    subtract({server, kind}, amount)
  end

  @doc "How many places are taken by all holders."
  @spec taken(server(), kind()) :: non_neg_integer()
  def taken(server, kind), do: count({server, kind})

  @doc "How many places a holder has."
  @spec taken(server(), kind(), holder()) :: non_neg_integer()
  def taken(server, kind, holder), do: count({server, kind, holder})

  # Two simultaneous requests for the last place may both be refused, but never both succeed. Every integer is less than
  # an atom.
  defp add(key, amount, most) do
    if :ets.update_counter(@table, key, {2, amount}, {key, 0}) <= most do
      :ok
    else
      subtract(key, amount)
      :full
    end
  end

  # Deletes a zero row, unless another process has changed it meanwhile.
  defp subtract(key, amount) do
    if :ets.update_counter(@table, key, {2, -amount}) == 0, do: :ets.delete_object(@table, {key, 0})
    :ok
  end

  defp count(key) do
    case :ets.lookup(@table, key) do
      [{^key, count}] -> count
      [] -> 0
    end
  end
end
