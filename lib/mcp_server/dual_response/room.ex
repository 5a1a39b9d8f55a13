defmodule McpServer.DualResponse.Room do
  @moduledoc false
  # Keeps a store within its limits. Expired resources are deleted first, then the least recently used ones of the
  # largest holder. Pinned resources stay. If the store can name the holders, no holder gets more than its share.
  #
  # Only a full store compares all holders. It then deletes up to a hundredth of its resources, so that this is rare.
  #
  # A resource is saved before room is made for it, so that concurrent creations count each other. For a moment the
  # store may therefore hold one extra resource per creating process. Room is also made if that process is killed.

  alias McpServer.DualResponse.{Errand, Error, Events, Options, Resource, Storage}
  alias McpServer.Quota
  alias McpServer.Quota.Client

  @batch 100
  # How many of the largest holders are asked for resources that are not pinned, before the store looks for any.
  @tries 8

  @doc "Whether a resource can fit into the store at all."
  @spec check(Options.t(), Resource.t()) :: :ok | {:error, Error.t()}
  def check(%{max_bytes: max_bytes}, %{bytes: bytes}) when bytes > max_bytes,
    do: {:error, Error.new(:storage_error, "The result is too large to be kept")}

  def check(_options, _resource), do: :ok

  @doc """
  Saves a resource with `save`, and makes room for it, even if the calling process is killed meanwhile. If there is no
  room, deletes the resource again. `client` is who has a place for it if the calling process works for none.
  """
  @spec keep(Options.t(), Resource.t(), Client.t(), save :: (() -> :ok | {:error, Error.t()})) ::
          :ok | {:error, Error.t()}
  def keep(options, resource, client, save) do
    work = fn -> with :ok <- save.(), do: make(options, resource) end

    # The rows are not copied for a store in the node's memory, whose changes end with the caller.
    if Errand.ends_with_caller?(options),
      do: guarded(options, resource, work),
      else: Errand.run(options, [client: client, settle: fn -> make(options, resource) end], work)
  end

  # The guard makes room if the calling process is killed between the two steps. It gets only the key and the owner of
  # the resource, so it costs some microseconds.
  defp guarded(options, resource, work) do
    caller = self()
    saved = %{resource | columns: [], sample_data: [], metadata: %{}, query: nil}
    guard = spawn(fn -> guard(caller, options, saved) end)

    try do
      work.()
    after
      send(guard, :done)
    end
  end

  defp guard(caller, options, resource) do
    monitor = Process.monitor(caller)

    receive do
      :done -> :ok
      {:DOWN, ^monitor, :process, ^caller, _reason} -> make(options, resource)
    end
  end

  defp make(options, resource) do
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
    do: within?(size, Quota.share(options.max_resources, percent), Quota.share(options.max_bytes, percent))

  # A holder above its share loses its own resources, even if the store has room.
  defp fit_share(options, resource) do
    holder = Resource.holder(resource)

    with {:ok, size} <- Storage.size_of(options, holder),
         false <- within_share?(options, size) do
      evict(options, resource, without(resource, 1, &Storage.least_used_of(options, holder, &1)))
    else
      {:error, error} -> {:error, error}
      _within_or_unknown -> :ok
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

  # Of the largest holder that has some which are not pinned, or of all holders if the store cannot name them.
  defp candidates(options, resource) do
    case Storage.holders(options) do
      {:ok, holders} ->
        holders = Enum.sort_by(holders, fn {_holder, size} -> part(options, size) end, :desc)
        of_largest(options, resource, holders)

      {:error, error} ->
        {:error, error}

      _unknown ->
        without(resource, 1, &Storage.least_used(options, &1))
    end
  end

  defp of_largest(options, resource, holders, tries \\ @tries)

  # Each try may be a query, so not every holder with pinned resources alone is asked about. Whoever creates then loses
  # its own before anybody else does: otherwise those who pin could let one of them displace all others.
  defp of_largest(options, resource, holders, tries) when holders == [] or tries == 0 do
    with {:ok, []} <- without(resource, 1, &Storage.least_used_of(options, Resource.holder(resource), &1)),
         do: without(resource, 1, &Storage.least_used(options, &1))
  end

  defp of_largest(options, resource, [{holder, _size} | others] = holders, tries) do
    case without(resource, surplus(options, holders), &Storage.least_used_of(options, holder, &1)) do
      {:ok, []} -> of_largest(options, resource, others, tries - 1)
      keys_or_error -> keys_or_error
    end
  end

  # One more key is read than wanted, because the new resource may be the first of several with the same time of use.
  defp without(resource, count, read) do
    with {:ok, keys} <- read.(count + 1),
         do: {:ok, keys |> Enum.reject(fn {_tenant, id} -> id == resource.id end) |> Enum.take(count)}
  end

  # How many resources of the first holder to delete: at most a hundredth of the store, and about as many as it has more
  # than the next holder.
  defp surplus(options, [{_holder, size} | others]) do
    next = for {_holder, size} <- Enum.take(others, 1), reduce: 0, do: (0 -> size.resources)
    hundredth = floor(size.resources / part(options, size) / 100)
    (size.resources - next) |> min(hundredth) |> max(1)
  end

  # The used fraction of the limits.
  defp part(options, size), do: max(size.resources / options.max_resources, size.bytes / options.max_bytes)

  defp evict(_options, _resource, {:error, error}), do: {:error, error}
  defp evict(_options, _resource, {:ok, []}), do: {:error, Error.new(:storage_error, "The store is full")}
  defp evict(options, resource, {:ok, keys}), do: with(:ok <- delete(options, keys), do: fit(options, resource))

  # One that is not found was deleted by another process, which also made room.
  defp delete(options, keys) do
    Enum.reduce_while(keys, :ok, fn key, :ok ->
      case Storage.delete(options, key) do
        {:error, error} ->
          {:halt, {:error, error}}

        :not_found ->
          {:cont, :ok}

        :ok ->
          Events.emit(options, :deleted, %{count: 1}, %{reason: :evicted})
          {:cont, :ok}
      end
    end)
  end
end
