defmodule McpServer.Share.Pool do
  @moduledoc false
  # The places of one server for one holder, as a session uses them: a call of a session takes a place when it starts,
  # and the session gives it back when the call ends, whichever processes have ended meanwhile. So no process owns a
  # place.
  #
  # A pool is a small value, because each request of a session reads it from a table.

  alias McpServer.Share

  @enforce_keys [:counter, :index, :bounds, :place]
  defstruct [:counter, :index, :bounds, :place]

  @typedoc "The counter of the server's places with this one's index, the bounds, and the holder's counter."
  @type t :: %__MODULE__{
          counter: :atomics.atomics_ref(),
          index: pos_integer(),
          bounds: Share.bounds(),
          place: {Share.server(), Share.kind(), Share.holder()}
        }

  @doc "Takes a place, if the server has one and the holder's share is not used up."
  @spec take(t()) :: :ok | :full
  def take(%__MODULE__{counter: counter, index: index, bounds: {limit, _percent} = bounds, place: place} = pool) do
    if :atomics.add_get(counter, index, 1) > limit,
      do: full(pool),
      else: with(:full <- hold(place, bounds), do: full(pool))
  end

  defp full(%{counter: counter, index: index}) do
    :atomics.sub(counter, index, 1)
    :full
  end

  defp hold({_server, _kind, nil}, _bounds), do: :ok
  defp hold(place, bounds), do: Share.hold(place, bounds, 1)

  @doc "Takes a place for a call that continues, even if none is free."
  @spec take_anyway(t()) :: :ok
  def take_anyway(%__MODULE__{counter: counter, index: index, place: {_server, _kind, holder} = place}) do
    :atomics.add(counter, index, 1)
    if holder, do: Share.hold_anyway(place, 1), else: :ok
  end

  @doc "Gives places back."
  @spec give(t(), non_neg_integer()) :: :ok
  def give(%__MODULE__{counter: counter, index: index, place: {_server, _kind, holder} = place}, places) do
    :atomics.sub(counter, index, places)
    if holder != nil and places > 0, do: Share.return(place, places), else: :ok
  end
end
