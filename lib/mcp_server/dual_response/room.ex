defmodule McpServer.DualResponse.Room do
  @moduledoc false
  # Keeps a store within its limits. Expired resources are deleted first, then the least recently used ones of the
  # largest holder. Pinned resources stay. If the store can name the holders, no holder gets more than its share.
  #
  # A resource is saved before room is made for it, so that concurrent creations count each other. For a moment the
  # store may therefore hold one extra resource per creating process.

  alias McpServer.DualResponse.{Error, Events, Options, Resource, Storage}
  alias McpServer.Share

  @batch 100

  @doc "Whether a resource can fit into the store at all."
  @spec check(Options.t(), Resource.t()) :: :ok | {:error, Error.t()}
  def check(%{max_bytes: max_bytes}, %{bytes: bytes}) when bytes > max_bytes,
    do: {:error, Error.new(:storage_error, "The result is too large to be kept")}

  def check(_options, _resource), do: :ok

  @doc "Makes room for a saved resource. If there is none, deletes the resource again."
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

  # A single resource never exceeds the share.
  defp within_share?(_options, %{resources: 1}), do: true

  defp within_share?(%{max_share: percent} = options, size),
    do: within?(size, Share.of({options.max_resources, percent}), Share.of({options.max_bytes, percent}))

  # A holder above its share loses its own resources, even if the store has room.
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

  # Candidates of the largest holder, or of all holders if its resources are pinned. Two keys are read, because the new
  # resource may be the first of several with the same time of use.
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

  # The used fraction of the limits.
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

      # Another process has deleted it, which also made room.
      :not_found ->
        fit(options, resource)

      :ok ->
        Events.emit(options, :deleted, %{count: 1}, %{reason: :evicted})
        fit(options, resource)
    end
  end
end
