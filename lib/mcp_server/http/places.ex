defmodule McpServer.Http.Places do
  @moduledoc false
  # The places of a mount for calls and streams, and the share of one client.

  alias McpServer.Http.{Mount, Sink, Usage}
  alias McpServer.Share
  alias McpServer.Share.Pool

  @type kind :: :calls | :streams

  @doc "Takes a place for the calling process. Returns `:full` if all places or the holder's share are used up."
  @spec take(Mount.t(), Sink.t(), kind(), Share.holder()) :: :ok | :full
  def take(mount, sink, kind, holder) do
    with :ok <- Usage.take(sink.account, kind, 1, Map.fetch!(mount.places, kind)),
         :full <- share(mount, kind, holder) do
      Usage.give(sink.account, kind, 1)
      :full
    end
  end

  defp share(_mount, _kind, nil), do: :ok

  defp share(mount, kind, holder),
    do: Share.take(mount.id, kind, holder, {Map.fetch!(mount.places, kind), mount.max_share})

  @doc "The same places for a session of a holder."
  @spec pool(Mount.t(), kind(), Share.holder()) :: Pool.t()
  def pool(mount, kind, holder) do
    {counter, index} = Usage.counter(mount.usage, kind)
    bounds = {Map.fetch!(mount.places, kind), mount.max_share}
    %Pool{counter: counter, index: index, bounds: bounds, place: {mount.id, kind, holder}}
  end

  @doc "Gives the place back."
  @spec give(Mount.t(), Sink.t(), kind(), Share.holder()) :: :ok
  def give(mount, sink, kind, holder) do
    if holder, do: Share.give(mount.id, kind, holder)
    Usage.give(sink.account, kind, 1)
  end
end
