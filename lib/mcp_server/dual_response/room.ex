defmodule McpServer.DualResponse.Room do
  @moduledoc false
  # Keeps a store within its bounds. What has expired goes first, then what whoever has most did not use for
  # longest; what is pinned stays. Nobody has more than a share, where the store can tell whose what is.
  #
  # A resource is saved before room is made for it, so that of two that come at a time both count. For that
  # moment a store holds one more for each process that is creating.

  alias McpServer.DualResponse.{Error, Events, Options, Resource, Storage}
  alias McpServer.Share

  @batch 100

  @doc "Whether a resource could be kept at all."
  @spec check(Options.t(), Resource.t()) :: :ok | {:error, Error.t()}
  def check(%{max_bytes: max_bytes}, %{bytes: bytes}) when bytes > max_bytes,
    do: {:error, Error.new(:storage_error, "The result is too large to be kept")}

  def check(_options, _resource), do: :ok

  @doc "Makes room for a resource that was saved; where there is none, it is deleted again."
  @spec make(Options.t(), Resource.t()) :: :ok | {:error, Error.t()}
  def make(options, resource) do
    with {:error, error} <- fit(options, resource) do
      _deleted = Storage.delete(options, Resource.key(resource))
      {:error, error}
    end
  end

  defp fit(options, resource) do
    with {:ok, size} <- Storage.size(options) do
      cond do
        not within?(size, options.max_resources, options.max_bytes) -> free(options, resource)
        Resource.holder(resource) == {nil, nil} or within_share?(options, size) -> :ok
        true -> fit_share(options, resource)
      end
    end
  end

  defp within?(size, max_resources, max_bytes), do: size.resources <= max_resources and size.bytes <= max_bytes

  # One resource is nobody's too large share.
  defp within_share?(_options, %{resources: 1}), do: true

  defp within_share?(%{max_share: percent} = options, size),
    do: within?(size, Share.of({options.max_resources, percent}), Share.of({options.max_bytes, percent}))

  # Who has more than its share makes room itself, while there is room for others.
  defp fit_share(options, resource) do
    holder = Resource.holder(resource)

    with {:ok, holders} <- Storage.holders(options),
         {^holder, size} <- List.keyfind(holders, holder, 0),
         false <- within_share?(options, size) do
      evict(options, resource, Storage.least_used_of(options, holder, 2))
    else
      {:error, error} -> {:error, error}
      _within -> :ok
    end
  end

  defp free(options, resource) do
    case Storage.delete_expired(options, @batch) do
      {:ok, 0} -> evict(options, resource, candidates(options, resource))
      {:ok, count} -> expired(options, count, resource)
      {:error, error} -> {:error, error}
    end
  end

  defp expired(options, count, resource) do
    Events.emit(options, :expired, %{count: count}, %{})
    fit(options, resource)
  end

  # Of whoever has most, and of anybody where that is pinned. Two, for the resource itself may be the first of
  # several that were used last at the same moment.
  defp candidates(options, resource) do
    with {:ok, [_ | _] = holders} <- Storage.holders(options),
         {holder, _size} = Enum.max_by(holders, fn {_holder, size} -> part(options, size) end),
         {:ok, keys} <- Storage.least_used_of(options, holder, 2),
         [_ | _] <- others(keys, resource) do
      {:ok, keys}
    else
      {:error, error} -> {:error, error}
      _pinned_or_unknown -> Storage.least_used(options, 2)
    end
  end

  # How much of what is to be had.
  defp part(options, size), do: max(size.resources / options.max_resources, size.bytes / options.max_bytes)

  defp others(keys, resource), do: Enum.reject(keys, fn {_tenant, id} -> id == resource.id end)

  defp evict(_options, _resource, {:error, error}), do: {:error, error}

  defp evict(options, resource, {:ok, keys}) do
    case others(keys, resource) do
      [] -> {:error, Error.new(:storage_error, "The store is full")}
      [key | _rest] -> evict_one(options, key, resource)
    end
  end

  defp evict_one(options, key, resource) do
    case Storage.delete(options, key) do
      {:error, error} ->
        {:error, error}

      # Somebody else has made room with it.
      :not_found ->
        fit(options, resource)

      :ok ->
        Events.emit(options, :deleted, %{count: 1}, %{reason: :evicted})
        fit(options, resource)
    end
  end
end
