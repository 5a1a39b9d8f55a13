defmodule McpServer.DualResponse.Access do
  @moduledoc false
  # Looks up resources for an identity. A foreign resource gets the same response as a missing one. Neither case runs
  # user code, so the response time does not reveal which ids exist.

  alias McpServer.DualResponse.{Errand, Error, Events, Options, Resource, Storage}

  @not_found "Resource not found or expired"
  # A deadline that no resource lives to see: a hundred years in milliseconds.
  @hundred_years 3_155_760_000_000

  @type identity :: McpServer.DualResponse.identity() | :any

  @doc "The resource, if it exists, has not expired and belongs to this identity."
  @spec lookup(Options.t(), String.t(), identity) :: {:ok, Resource.t()} | {:error, Error.t()}
  def lookup(options, id, identity) when is_binary(id) do
    case Storage.get(options, {tenant(identity), id}) do
      {:ok, resource} -> judge(options, resource, identity)
      :not_found -> not_found()
      {:error, error} -> {:error, error}
    end
  end

  def lookup(_options, _id, _identity), do: not_found()

  defp judge(options, resource, identity) do
    cond do
      not permitted?(resource, identity) ->
        Events.emit(options, :denied, %{count: 1}, %{})
        not_found()

      Resource.expired?(resource, Options.now(options)) ->
        {:error, Error.new(:resource_expired, @not_found)}

      resource.status == :deleted ->
        {:error, Error.new(:resource_gone, "Resource was deleted")}

      true ->
        {:ok, resource}
    end
  end

  @doc "The error for a missing resource."
  @spec not_found() :: {:error, Error.t()}
  def not_found, do: {:error, Error.new(:resource_not_found, @not_found)}

  # Every client that has the id may read an unbound resource.
  defp permitted?(_resource, :any), do: true

  defp permitted?(resource, identity),
    do: same?(resource.tenant, identity[:tenant]) and same?(resource.subject, identity[:subject])

  defp same?(nil, _claimed), do: true
  defp same?(bound, claimed), do: bound === claimed

  defp tenant(:any), do: nil
  defp tenant(identity), do: identity[:tenant]

  @doc "The identity that a query gets."
  @spec context(Resource.t(), identity) :: McpServer.DualResponse.identity()
  def context(resource, :any), do: %{tenant: resource.tenant, subject: resource.subject}
  def context(_resource, identity), do: %{tenant: identity[:tenant], subject: identity[:subject]}

  @doc """
  Pins a resource: it no longer expires. A store that is full may still delete it if it is only `:kept`, as what belongs
  to nobody is: a pinned resource is in the share of its owner.
  """
  @spec pin(Options.t(), String.t(), identity, :pinned | :kept) :: :ok | {:error, Error.t()}
  def pin(options, id, identity, how \\ :pinned) do
    deadline = if how == :kept, do: Options.now(options) + @hundred_years

    with {:ok, resource} <- lookup(options, id, identity),
         :ok <- found(Storage.update(options, Resource.key(resource), %{expires_at: nil, deadline: deadline})) do
      Events.emit(options, :pinned, %{count: 1}, %{})
    end
  end

  @doc "Deletes a resource. Of several concurrent callers only one gets `:ok`."
  @spec delete(Options.t(), String.t(), identity) :: :ok | {:error, Error.t()}
  def delete(options, id, identity) do
    with {:ok, resource} <- lookup(options, id, identity),
         :ok <- found(Storage.delete(options, Resource.key(resource))) do
      bury(options, resource)
      Events.emit(options, :deleted, %{count: 1}, %{reason: :requested})
    end
  end

  # The tombstone lets the server tell the resource's owner that it was deleted.
  defp bury(%{tombstones: false}, _resource), do: :ok

  defp bury(%{tombstones: time} = options, resource) do
    stone = %{
      resource
      | status: :deleted,
        query: nil,
        persist: :query,
        columns: [],
        sample_data: [],
        metadata: %{},
        bytes: 0,
        expires_at: expires_at(DateTime.utc_now(), time),
        deadline: deadline(options, time)
    }

    # The deletion succeeds even if the tombstone cannot be saved.
    _kept = Errand.run(options, [], fn -> Storage.save(options, stone, nil) end)
    :ok
  end

  @doc """
  The stored rows of a resource from an offset on. Their number never shrinks: no rows mean that the resource was deleted.
  """
  @spec stored({:ok, [map]} | :not_found | {:error, Error.t()}, Resource.t(), non_neg_integer) ::
          {:ok, [map]} | {:error, Error.t()}
  def stored({:ok, []}, %{total_count: total}, offset) when offset < total, do: not_found()
  # The resource was deleted or has expired since the lookup.
  def stored(:not_found, _resource, _offset), do: not_found()
  def stored(other, _resource, _offset), do: other

  @doc "Turns `:not_found` into an error."
  @spec found(:ok | :not_found | {:error, Error.t()}) :: :ok | {:error, Error.t()}
  def found(:not_found), do: not_found()
  def found(other), do: other

  @doc "The expiry time for people, `time` after `now`."
  @spec expires_at(DateTime.t(), pos_integer | :infinity) :: DateTime.t() | nil
  def expires_at(_now, :infinity), do: nil
  def expires_at(now, time), do: now |> DateTime.add(time, :millisecond) |> DateTime.truncate(:second)

  @doc "The expiry time on the store's clock."
  @spec deadline(Options.t(), pos_integer | :infinity) :: integer | nil
  def deadline(_options, :infinity), do: nil
  def deadline(options, time), do: Options.now(options) + time
end
