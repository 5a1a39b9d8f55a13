defmodule McpServer.DualResponse.Room do
  @moduledoc false
  # Keeps a store within its bounds. What has expired goes first, then what was not used for longest; what is
  # pinned stays.
  #
  # A resource is saved before room is made for it, so that of two that come at a time both count. For that
  # moment a store holds one more for each process that is creating.

  alias McpServer.DualResponse.{Error, Events, Options, Resource, Storage}

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
      if within?(options, size), do: :ok, else: free(options, resource)
    end
  end

  defp within?(options, size), do: size.resources <= options.max_resources and size.bytes <= options.max_bytes

  defp free(options, resource) do
    case Storage.delete_expired(options, @batch) do
      {:ok, 0} -> evict(options, resource)
      {:ok, count} -> expired(options, count, resource)
      {:error, error} -> {:error, error}
    end
  end

  defp expired(options, count, resource) do
    Events.emit(options, :expired, %{count: count}, %{})
    fit(options, resource)
  end

  # Two, for the resource itself may be the first of several that were used last at the same moment.
  defp evict(options, resource) do
    with {:ok, keys} <- Storage.least_used(options, 2) do
      case Enum.find(keys, fn {_tenant, id} -> id != resource.id end) do
        nil -> {:error, Error.new(:storage_error, "The store is full")}
        key -> evict(options, key, resource)
      end
    end
  end

  defp evict(options, key, resource) do
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
